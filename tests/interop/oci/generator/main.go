// SPDX-License-Identifier: Apache-2.0

// generator compares what the NRI module's own generator makes of a document with what libnri made of it. Each line
// of its input is "DOCUMENT<tab>ADJUSTMENT<tab>RESULT": JSON, protobuf in hexadecimal, and JSON or, behind a "!", an
// error. Where one refuses the other must too.
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/runtime-tools/generate"
	rspec "github.com/opencontainers/runtime-spec/specs-go"
	"google.golang.org/protobuf/proto"
)

func namespaceType(name string) (rspec.LinuxNamespaceType, error) {
	for _, kind := range []rspec.LinuxNamespaceType{rspec.PIDNamespace, rspec.NetworkNamespace, rspec.MountNamespace,
		rspec.IPCNamespace, rspec.UTSNamespace, rspec.UserNamespace, rspec.CgroupNamespace, rspec.TimeNamespace} {
		if string(kind) == name {
			return kind, nil
		}
	}
	return "", fmt.Errorf("no namespace %q", name)
}

// bare drops what is empty, which Go makes on the way and leaves out of JSON where it can.
func bare(value any) any {
	switch value := value.(type) {
	case map[string]any:
		for key, member := range value {
			if value[key] = bare(member); value[key] == nil {
				delete(value, key)
			}
		}
		if len(value) == 0 {
			return nil
		}
	case []any:
		if len(value) == 0 {
			return nil
		}
	}
	return value
}

// seen is a specification as a runtime in Go sees it.
func seen(spec *rspec.Spec) (any, string) {
	var value any
	text, err := json.Marshal(spec)
	if err == nil {
		err = json.Unmarshal(text, &value)
	}
	if err != nil {
		return nil, err.Error()
	}
	value = bare(value)
	text, _ = json.Marshal(value)
	return value, string(text)
}

func adjust(document, adjustment string) (*rspec.Spec, error) {
	spec, change := &rspec.Spec{}, &api.ContainerAdjustment{}
	bytes, err := hex.DecodeString(adjustment)
	if err == nil {
		err = proto.Unmarshal(bytes, change)
	}
	if err == nil {
		err = json.Unmarshal([]byte(document), spec)
	}
	if err != nil {
		fmt.Println("the input:", err)
		os.Exit(2)
	}
	return spec, generate.SpecGenerator(newBase(spec)).Adjust(change)
}

// compare returns what is different, or "".
func compare(document, adjustment, result string) string {
	spec, err := adjust(document, adjustment)
	if refused := strings.HasPrefix(result, "!"); refused || err != nil {
		if refused && err != nil {
			return ""
		}
		return fmt.Sprintf("Go: %v\nlibnri: %s", err, result)
	}
	own := &rspec.Spec{}
	if err := json.Unmarshal([]byte(result), own); err != nil {
		return fmt.Sprintf("libnri's is no specification: %v\n%s", err, result)
	}
	_ = newBase(own) // what is there on one side is there on the other
	ours, ourText := seen(own)
	theirs, theirText := seen(spec)
	if reflect.DeepEqual(ours, theirs) {
		return ""
	}
	return "Go:     " + theirText + "\nlibnri: " + ourText
}

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	count, different, refused := 0, 0, 0
	for lines.Scan() {
		part := strings.Split(lines.Text(), "\t")
		count++
		if strings.HasPrefix(part[2], "!") {
			refused++
		}
		if unlike := compare(part[0], part[1], part[2]); unlike != "" {
			if different++; different <= 5 {
				fmt.Printf("%d: %s\n%s\n\n", count, part[0], unlike)
			}
		}
	}
	fmt.Printf("%d adjusted, %d refused by both, %d differ\n", count-refused, refused, different)
	if lines.Err() != nil || count == 0 || different > 0 {
		os.Exit(1)
	}
}
