// SPDX-License-Identifier: Apache-2.0

// Command adaptation merges replies of plugins as the Go NRI module does: it reads scenarios from a file, runs each
// through pkg/adaptation with builtin plugins that give the prepared replies, and writes what came of it.
//
//	adaptation SCENARIOS RESULTS [REPEAT INDEX...]
//
// With REPEAT only the scenarios at those indexes are run, so often, and each different outcome is written: maps are
// walked in an order that changes from run to run.
//
// Both files are made of blocks: a length of four bytes, little-endian, and as many bytes. A scenario is a block with one
// byte, the event, the request, and three replies. A result is an index, a number of outcomes, and for each outcome the
// error text, the response, the owners, and what each of the three plugins saw, empty where it was not called.
package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/adaptation/builtin"
	"github.com/containerd/nri/pkg/api"
	"github.com/sirupsen/logrus"
	"google.golang.org/protobuf/proto"
)

const plugins = 3

type scenario struct {
	event   byte
	request []byte
	replies [plugins][]byte
}

type outcome struct {
	err      string
	response []byte
	owners   []byte
	seen     [plugins][]byte
}

// The scenario that is run, and what its plugins and validator note.
var (
	current scenario
	noted   outcome
)

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "adaptation:", err)
		os.Exit(1)
	}
}

func encode(message proto.Message) []byte {
	bytes, err := proto.MarshalOptions{Deterministic: true}.Marshal(message)
	must(err)
	return bytes
}

func decode(bytes []byte, message proto.Message) {
	must(proto.Unmarshal(bytes, message))
}

func prepared(i int) *builtin.BuiltinPlugin {
	return &builtin.BuiltinPlugin{
		Base:  string(rune('a' + i)),
		Index: fmt.Sprintf("%d0", i+1),
		Handlers: builtin.BuiltinHandlers{
			CreateContainer: func(_ context.Context, req *api.CreateContainerRequest) (*api.CreateContainerResponse, error) {
				reply := &api.CreateContainerResponse{}
				noted.seen[i] = encode(req.Container)
				decode(current.replies[i], reply)
				return reply, nil
			},
			UpdateContainer: func(_ context.Context, req *api.UpdateContainerRequest) (*api.UpdateContainerResponse, error) {
				reply := &api.UpdateContainerResponse{}
				noted.seen[i] = encode(req.LinuxResources)
				decode(current.replies[i], reply)
				return reply, nil
			},
			StopContainer: func(_ context.Context, req *api.StopContainerRequest) (*api.StopContainerResponse, error) {
				reply := &api.StopContainerResponse{}
				noted.seen[i] = encode(req.Container)
				decode(current.replies[i], reply)
				return reply, nil
			},
		},
	}
}

func validator() *builtin.BuiltinPlugin {
	return &builtin.BuiltinPlugin{
		Base:  "v",
		Index: "90",
		Handlers: builtin.BuiltinHandlers{
			ValidateContainerAdjustment: func(_ context.Context, req *api.ValidateContainerAdjustmentRequest) error {
				noted.owners = encode(req.Owners)
				return nil
			},
		},
	}
}

// withoutNil leaves out the entry of a requested container that no plugin touched, which is nil and cannot be encoded.
func withoutNil(updates []*api.ContainerUpdate) []*api.ContainerUpdate {
	kept := []*api.ContainerUpdate{}
	for _, update := range updates {
		if update != nil {
			kept = append(kept, update)
		}
	}
	return kept
}

func run(runtime *adaptation.Adaptation, one scenario) outcome {
	var err error
	current, noted = one, outcome{}
	switch api.Event(one.event) {
	case api.Event_CREATE_CONTAINER:
		var response *api.CreateContainerResponse
		request := &api.CreateContainerRequest{}
		decode(one.request, request)
		if response, err = runtime.CreateContainer(context.Background(), request); err == nil {
			noted.response = encode(response)
		}
	case api.Event_UPDATE_CONTAINER:
		var response *api.UpdateContainerResponse
		request := &api.UpdateContainerRequest{}
		decode(one.request, request)
		if response, err = runtime.UpdateContainer(context.Background(), request); err == nil {
			response.Update = withoutNil(response.Update)
			noted.response = encode(response)
		}
	case api.Event_STOP_CONTAINER:
		var response *api.StopContainerResponse
		request := &api.StopContainerRequest{}
		decode(one.request, request)
		if response, err = runtime.StopContainer(context.Background(), request); err == nil {
			noted.response = encode(response)
		}
	default:
		must(fmt.Errorf("no event %d", one.event))
	}
	if err != nil {
		noted.err = err.Error()
	}
	return noted
}

func readBlock(from io.Reader) ([]byte, error) {
	var length uint32
	if err := binary.Read(from, binary.LittleEndian, &length); err != nil {
		return nil, err
	}
	block := make([]byte, length)
	_, err := io.ReadFull(from, block)
	return block, err
}

func readScenarios(path string) []scenario {
	file, err := os.Open(path)
	must(err)
	defer file.Close()
	from, all := bufio.NewReader(file), []scenario{}
	for {
		event, err := readBlock(from)
		if err == io.EOF {
			return all
		}
		must(err)
		one := scenario{event: event[0]}
		one.request, err = readBlock(from)
		must(err)
		for i := range one.replies {
			one.replies[i], err = readBlock(from)
			must(err)
		}
		all = append(all, one)
	}
}

func writeNumber(to io.Writer, number int) {
	must(binary.Write(to, binary.LittleEndian, uint32(number)))
}

func writeBlock(to io.Writer, block []byte) {
	writeNumber(to, len(block))
	_, err := to.Write(block)
	must(err)
}

func writeOutcomes(to io.Writer, index int, outcomes []outcome) {
	writeNumber(to, index)
	writeNumber(to, len(outcomes))
	for _, one := range outcomes {
		writeBlock(to, []byte(one.err))
		writeBlock(to, one.response)
		writeBlock(to, one.owners)
		for _, seen := range one.seen {
			writeBlock(to, seen)
		}
	}
}

func start(directory string) *adaptation.Adaptation {
	logrus.SetLevel(logrus.ErrorLevel)
	sync := func(ctx context.Context, cb adaptation.SyncCB) error {
		_, err := cb(ctx, nil, nil)
		return err
	}
	update := func(context.Context, []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
		return nil, nil
	}
	runtime, err := adaptation.New("merge", "1", sync, update,
		adaptation.WithPluginPath(directory), adaptation.WithPluginConfigPath(directory),
		adaptation.WithSocketPath(directory+"/nri.sock"), adaptation.WithDisabledExternalConnections(),
		adaptation.WithBuiltinPlugins(prepared(0), prepared(1), prepared(2), validator()))
	must(err)
	must(runtime.Start())
	return runtime
}

func main() {
	if len(os.Args) < 3 {
		must(fmt.Errorf("usage: adaptation SCENARIOS RESULTS [REPEAT INDEX...]"))
	}
	scenarios := readScenarios(os.Args[1])
	directory, err := os.MkdirTemp("", "nri-merge-")
	must(err)
	defer os.RemoveAll(directory)
	runtime := start(directory)
	defer runtime.Stop()
	file, err := os.Create(os.Args[2])
	must(err)
	to := bufio.NewWriter(file)
	if len(os.Args) > 3 {
		repeat, err := strconv.Atoi(os.Args[3])
		must(err)
		for _, text := range os.Args[4:] {
			index, err := strconv.Atoi(text)
			must(err)
			outcomes, known := []outcome{}, map[string]bool{}
			for i := 0; i < repeat; i++ {
				one := run(runtime, scenarios[index])
				if key := fmt.Sprintf("%q", one); !known[key] {
					known[key] = true
					outcomes = append(outcomes, one)
				}
			}
			writeOutcomes(to, index, outcomes)
		}
	} else {
		for index, one := range scenarios {
			writeOutcomes(to, index, []outcome{run(runtime, one)})
		}
	}
	must(to.Flush())
	must(file.Close())
}
