// SPDX-License-Identifier: Apache-2.0

// Command interop holds the Go NRI module's own runtime side (pkg/adaptation) against a libnri plugin in a process of
// its own. It is built once for each version of the module in versions/.
package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	plugin := flag.String("plugin", "", "the test plugin, tests/e2e/e2e-plugin of the build directory")
	verbose := flag.Bool("verbose", false, "show what the Go module logs")
	flag.Parse()
	if *plugin == "" {
		fmt.Fprintln(os.Stderr, "interop: --plugin is missing")
		os.Exit(2)
	}

	work, err := os.MkdirTemp("", "nri-interop-")
	if err != nil {
		fmt.Fprintln(os.Stderr, "interop:", err)
		os.Exit(1)
	}
	report := &report{}
	fmt.Println("Go NRI", moduleVersion())
	for _, one := range scenarios {
		if flag.NArg() == 0 || contains(flag.Args(), one.name) {
			one.play(report, *plugin, work, *verbose)
		}
	}
	os.RemoveAll(work)
	os.Exit(report.end())
}

func contains(list []string, wanted string) bool {
	for _, item := range list {
		if item == wanted {
			return true
		}
	}
	return false
}
