// SPDX-License-Identifier: Apache-2.0

// Command record writes down sessions between the Go NRI module's own runtime side and its own plugin side: the bytes of
// both ways, as tests/data/captures keeps them. Every field that this version of the module has is filled, by reflection.
//
//	go run -modfile=versions/0.12.5.mod -tags nri_no_wasm ./record DIRECTORY
package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	nrilog "github.com/containerd/nri/pkg/log"
	"github.com/containerd/nri/pkg/stub"
)

const patience = 20 * time.Second

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: record DIRECTORY")
		os.Exit(2)
	}
	for _, rich := range []bool{true, false} {
		name := map[bool]string{true: "full", false: "plain"}[rich]
		if err := record(filepath.Join(os.Args[1], name), rich); err != nil {
			fmt.Fprintln(os.Stderr, "record:", err)
			os.Exit(1)
		}
	}
}

// quiet drops the module's log, but for the line that says that events reach a plugin from now on.
type quiet struct{ connected chan struct{} }

func (q quiet) Debugf(context.Context, string, ...interface{}) {}
func (q quiet) Warnf(context.Context, string, ...interface{})  {}
func (q quiet) Errorf(context.Context, string, ...interface{}) {}
func (q quiet) Infof(_ context.Context, format string, _ ...interface{}) {
	if len(format) > 19 && format[:19] == "plugin %q connected" {
		q.connected <- struct{}{}
	}
}

// tee listens, connects once to the runtime, and writes what passes to two files.
func tee(listen, runtime, path string) (*sync.WaitGroup, error) {
	listener, err := net.Listen("unix", listen)
	if err != nil {
		return nil, err
	}
	done := &sync.WaitGroup{}
	done.Add(2)
	go func() {
		plugin, err := listener.Accept()
		if err != nil {
			panic(err)
		}
		other, err := net.Dial("unix", runtime)
		if err != nil {
			panic(err)
		}
		pass := func(to, from net.Conn, name string) {
			file, err := os.Create(name)
			if err != nil {
				panic(err)
			}
			io.Copy(io.MultiWriter(file, to), from)
			file.Close()
			to.Close()
			done.Done()
		}
		go pass(other, plugin, path+".p2r.bin")
		go pass(plugin, other, path+".r2p.bin")
	}()
	return done, nil
}

// record plays one session.
func record(path string, rich bool) error {
	dir, err := os.MkdirTemp("", "nri-record-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	socket, front := filepath.Join(dir, "nri.sock"), filepath.Join(dir, "front.sock")
	log := quiet{connected: make(chan struct{}, 4)}
	nrilog.Set(log)
	nri.SetPluginRequestTimeout(patience)
	what := newObjects(rich)
	synchronize := func(ctx context.Context, tell nri.SyncCB) error {
		_, err := tell(ctx, []*api.PodSandbox{what.pod}, []*api.Container{what.container})
		return err
	}
	failed := func(_ context.Context, updates []*api.ContainerUpdate) ([]*api.ContainerUpdate, error) {
		return updates[:1], nil
	}
	runtime, err := nri.New("containerd", "2.4.0", synchronize, failed, nri.WithSocketPath(socket),
		nri.WithPluginPath(filepath.Join(dir, "plugins")), nri.WithPluginConfigPath(filepath.Join(dir, "conf.d")))
	if err != nil {
		return err
	}
	if err := os.Mkdir(filepath.Join(dir, "plugins"), 0o700); err != nil {
		return err
	}
	if err := runtime.Start(); err != nil {
		return err
	}
	defer runtime.Stop()
	done, err := tee(front, socket, path)
	if err != nil {
		return err
	}
	plugin := &plugin{what: what}
	options := []stub.Option{stub.WithSocketPath(front), stub.WithPluginName("recorder"), stub.WithPluginIdx("10")}
	if rich { // which libnri's own nri.proto does not have: an unknown field
		options = append(options, stub.WithFailurePolicy(&api.FailurePolicy{FailRequest: true}))
	}
	plugin.stub, err = stub.New(plugin, options...)
	if err != nil {
		return err
	}
	if err := plugin.stub.Start(context.Background()); err != nil {
		return err
	}
	select {
	case <-log.connected:
	case <-time.After(patience):
		return fmt.Errorf("the plugin is not taken")
	}
	if err := live(runtime, what); err != nil {
		return err
	}
	if _, err := plugin.stub.UpdateContainers(what.updates()); err != nil {
		return err
	}
	plugin.stub.Stop()
	done.Wait()
	return nil
}
