// SPDX-License-Identifier: Apache-2.0

// Command events is a plugin made with the Go NRI module's own stub that tells all that comes as JSON lines, adjusts each
// container by a variable and an annotation of its own, and is made to be slow, to conflict with others, and to update
// containers on its own account.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
)

type plugin struct {
	name   string
	clash  bool
	sleep  time.Duration
	update string
	stub   stub.Stub
	lock   sync.Mutex
}

type record map[string]interface{}

func (p *plugin) tell(event string, with record) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if with == nil {
		with = record{}
	}
	with["event"] = event
	line, err := json.Marshal(with)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

func (p *plugin) pod(event string, pod *api.PodSandbox) error {
	p.tell(event, record{"pod": pod.GetName()})
	return nil
}

func (p *plugin) container(event string, pod *api.PodSandbox, container *api.Container) error {
	p.tell(event, record{"pod": pod.GetName(), "container": container.GetName(), "env": container.GetEnv(),
		"annotations": container.GetAnnotations()})
	return nil
}

func (p *plugin) Synchronize(_ context.Context, pods []*api.PodSandbox, containers []*api.Container) ([]*api.ContainerUpdate, error) {
	p.tell("Synchronize", record{"pods": len(pods), "containers": len(containers)})
	return nil, nil
}

func (p *plugin) RunPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.pod("RunPodSandbox", pod)
}

// Stubs before 0.10 do not know the next two.

func (p *plugin) UpdatePodSandbox(_ context.Context, pod *api.PodSandbox, _, _ *api.LinuxResources) error {
	return p.pod("UpdatePodSandbox", pod)
}

func (p *plugin) PostUpdatePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.pod("PostUpdatePodSandbox", pod)
}

func (p *plugin) StopPodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.pod("StopPodSandbox", pod)
}

func (p *plugin) RemovePodSandbox(_ context.Context, pod *api.PodSandbox) error {
	return p.pod("RemovePodSandbox", pod)
}

func (p *plugin) CreateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) (*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	p.container("CreateContainer", pod, container)
	if p.sleep != 0 && strings.HasPrefix(container.GetName(), "slow") {
		time.Sleep(p.sleep)
	}
	adjustment := &api.ContainerAdjustment{}
	adjustment.AddEnv("BY_"+strings.ToUpper(p.name), "yes")
	adjustment.AddAnnotation("by/"+p.name, "yes")
	if p.clash && strings.HasPrefix(container.GetName(), "clash") {
		adjustment.AddEnv("CLASH", p.name)
	}
	return adjustment, nil, nil
}

func (p *plugin) PostCreateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) error {
	return p.container("PostCreateContainer", pod, container)
}

func (p *plugin) StartContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) error {
	return p.container("StartContainer", pod, container)
}

func (p *plugin) PostStartContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) error {
	return p.container("PostStartContainer", pod, container)
}

func (p *plugin) UpdateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container, _ *api.LinuxResources) ([]*api.ContainerUpdate, error) {
	return nil, p.container("UpdateContainer", pod, container)
}

func (p *plugin) PostUpdateContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) error {
	return p.container("PostUpdateContainer", pod, container)
}

func (p *plugin) StopContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) ([]*api.ContainerUpdate, error) {
	return nil, p.container("StopContainer", pod, container)
}

func (p *plugin) RemoveContainer(_ context.Context, pod *api.PodSandbox, container *api.Container) error {
	return p.container("RemoveContainer", pod, container)
}

// updates sends an unsolicited update at each SIGUSR1.
func (p *plugin) updates() {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	go func() {
		for range signals {
			list := []*api.ContainerUpdate{}
			for _, id := range strings.Split(p.update, ",") {
				update := &api.ContainerUpdate{ContainerId: id}
				update.SetLinuxCPUShares(123)
				list = append(list, update)
			}
			failed, err := p.stub.UpdateContainers(list)
			ids := []string{}
			for _, one := range failed {
				ids = append(ids, one.GetContainerId())
			}
			text := ""
			if err != nil {
				text = err.Error()
			}
			p.tell("UpdateContainers", record{"failed": ids, "error": text})
		}
	}()
}

func main() {
	p := &plugin{}
	flag.StringVar(&p.name, "name", "", "plugin name; else the one it was launched by")
	idx := flag.String("idx", "", "plugin index; else the one it was launched by")
	socket := flag.String("socket", "", "the runtime's socket; else NRI_PLUGIN_SOCKET")
	output := flag.String("output", "", "where to write to; else the standard output")
	flag.BoolVar(&p.clash, "clash", false, "set CLASH in containers that are called so")
	flag.DurationVar(&p.sleep, "sleep", 0, "how long the creation of slow containers takes")
	flag.StringVar(&p.update, "update", "", "ids to update at SIGUSR1")
	flag.Parse()
	options := []stub.Option{stub.WithOnClose(func() { p.tell("Closed", nil) })}
	if p.name != "" {
		options = append(options, stub.WithPluginName(p.name), stub.WithPluginIdx(*idx))
	} else {
		p.name = os.Getenv("NRI_PLUGIN_NAME")
	}
	if *socket != "" {
		options = append(options, stub.WithSocketPath(*socket))
	}
	if *output != "" {
		file, err := os.Create(*output)
		if err != nil {
			panic(err)
		}
		os.Stdout = file
	}
	var err error
	p.stub, err = stub.New(p, options...)
	if err == nil {
		p.updates()
		err = p.stub.Run(context.Background())
	}
	text := ""
	if err != nil {
		text = err.Error()
	}
	p.tell("End", record{"error": text})
}
