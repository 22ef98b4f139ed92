// SPDX-License-Identifier: Apache-2.0

// Command plugin is a plugin made with the Go NRI module's own stub, to be set beside one made with libnri: each second
// CreateContainer can be made slow, each creation gets an annotation, and what happens is told as JSON lines.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct {
	sleep   time.Duration
	creates int
}

func (p *plugin) Synchronize(_ context.Context, pods []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	fmt.Printf("{\"event\": \"Synchronize\", \"pods\": %d, \"containers\": %d}\n", len(pods), len(containers))
	return nil, nil
}

func (p *plugin) CreateContainer(_ context.Context, _ *api.PodSandbox, container *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	p.creates++
	if p.creates%2 == 0 {
		time.Sleep(p.sleep)
	}
	fmt.Printf("{\"event\": \"CreateContainer\", \"container\": %q}\n", container.GetName())
	adjustment := &api.ContainerAdjustment{}
	adjustment.AddAnnotation("by", "go")
	return adjustment, nil, nil
}

func main() {
	name := flag.String("name", "go", "plugin name")
	idx := flag.String("idx", "20", "plugin index")
	socket := flag.String("socket", "", "the runtime's socket; else NRI_PLUGIN_SOCKET")
	sleep := flag.Duration("sleep", 0, "how long each second creation blocks")
	flag.Parse()
	options := []stub.Option{stub.WithPluginName(*name), stub.WithPluginIdx(*idx),
		stub.WithOnClose(func() { fmt.Println("{\"event\": \"Closed\"}") })}
	if *socket != "" {
		options = append(options, stub.WithSocketPath(*socket))
	}
	made, err := stub.New(&plugin{sleep: *sleep}, options...)
	if err == nil {
		err = made.Run(context.Background())
	}
	fmt.Println("{\"event\": \"End\"}")
	if err != nil {
		fmt.Fprintln(os.Stderr, "plugin:", err)
		os.Exit(1)
	}
}
