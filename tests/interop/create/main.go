// SPDX-License-Identifier: Apache-2.0

// Command create is a runtime on the Go NRI module that creates one container: create SOCKET COUNT listens on SOCKET, says
// so, waits until COUNT plugins are connected, creates the container, and prints the variables that plugins gave it.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	nri "github.com/containerd/nri/pkg/adaptation"
	nrilog "github.com/containerd/nri/pkg/log"
)

func must(err error) {
	if err != nil {
		panic(err)
	}
}

// logger finds the line that says from when on events reach a plugin; nothing else does.
type logger struct{ connected chan struct{} }

func (l logger) Infof(_ context.Context, format string, _ ...interface{}) {
	if strings.HasPrefix(format, "plugin %q connected") {
		l.connected <- struct{}{}
	}
}
func (logger) Debugf(context.Context, string, ...interface{}) {}
func (logger) Warnf(context.Context, string, ...interface{})  {}
func (logger) Errorf(context.Context, string, ...interface{}) {}

func main() {
	count, err := strconv.Atoi(os.Args[2])
	must(err)
	connected := make(chan struct{}, count)
	nrilog.Set(logger{connected})
	synchronize := func(ctx context.Context, tell nri.SyncCB) error {
		_, err := tell(ctx, nil, nil)
		return err
	}
	update := func(context.Context, []*nri.ContainerUpdate) ([]*nri.ContainerUpdate, error) { return nil, nil }
	directory := filepath.Dir(os.Args[1])
	runtime, err := nri.New("create", "1", synchronize, update, nri.WithSocketPath(os.Args[1]),
		nri.WithPluginPath(filepath.Join(directory, "plugins")), nri.WithPluginConfigPath(filepath.Join(directory, "conf.d")))
	must(err)
	must(runtime.Start())
	fmt.Println("listening")
	for i := 0; i < count; i++ {
		<-connected
	}
	response, err := runtime.CreateContainer(context.Background(), &nri.CreateContainerRequest{
		Pod:       &nri.PodSandbox{Id: "pod0", Name: "web", Namespace: "default"},
		Container: &nri.Container{Id: "ctr0", PodSandboxId: "pod0", Name: "app", Env: []string{"PATH=/bin"}},
	})
	must(err)
	for _, variable := range response.GetAdjust().GetEnv() {
		fmt.Println(variable.GetKey() + "=" + variable.GetValue())
	}
	runtime.Stop()
}
