// SPDX-License-Identifier: Apache-2.0

// Command chain is the plugin of tests/bench/bench_chain_plugin.c made with the Go stub: each creation gets a variable and
// an annotation that are called after the plugin.
package main

import (
	"context"
	"os"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct{ name string }

func (p *plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	adjustment := &api.ContainerAdjustment{}
	adjustment.AddEnv(p.name, pod.GetName())
	adjustment.AddAnnotation(p.name, container.GetName())
	return adjustment, nil, nil
}

func main() {
	made, err := stub.New(&plugin{name: os.Getenv("NRI_PLUGIN_NAME")})
	if err != nil {
		panic(err)
	}
	_ = made.Run(context.Background())
}
