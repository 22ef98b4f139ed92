// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	nri "github.com/containerd/nri/pkg/adaptation"
	nrilog "github.com/containerd/nri/pkg/log"
)

const module = "github.com/containerd/nri"

// moduleVersion is the version of the Go NRI module that this program was built with.
func moduleVersion() string {
	info, _ := debug.ReadBuildInfo()
	for _, dependency := range info.Deps {
		if dependency.Path == module {
			return dependency.Version
		}
	}
	return "unknown"
}

// runtime is a container runtime without containers: the Go module's runtime side and what it needs from its host.
type runtime struct {
	nri       *nri.Adaptation
	socket    string
	connected chan struct{} // gets one element for each plugin that events reach from then on
	log       *logger

	mutex      sync.Mutex
	pods       []*nri.PodSandbox
	containers []*nri.Container
	updates    []*nri.ContainerUpdate // the unsolicited ones that came
	failed     []*nri.ContainerUpdate // those that a call is to report as failed
	refusal    error                  // what an unsolicited update is answered with
}

// runtime starts one that calls itself as given.
func (t *test) runtime(name, version string) *runtime {
	r := &runtime{socket: filepath.Join(t.dir, "nri.sock"), connected: make(chan struct{}, 16)}
	r.log = &logger{verbose: t.verbose, connected: r.connected}
	nrilog.Set(r.log)
	nri.SetPluginRequestTimeout(patience)
	t.must("a plugin directory", os.MkdirAll(filepath.Join(t.dir, "plugins"), 0o700))
	var err error
	r.nri, err = nri.New(name, version, r.synchronize, r.update, nri.WithSocketPath(r.socket),
		nri.WithPluginPath(filepath.Join(t.dir, "plugins")), nri.WithPluginConfigPath(filepath.Join(t.dir, "conf.d")))
	t.must("the Go runtime side", err)
	t.must("the Go runtime side starts", r.nri.Start())
	t.cleanup = append(t.cleanup, r.nri.Stop)
	return r
}

// containerd starts a runtime that calls itself as the containerd that has this version of the module.
func (t *test) containerd() *runtime {
	return t.runtime("containerd", containerdVersion)
}

// synchronize tells a new plugin what there is.
func (r *runtime) synchronize(ctx context.Context, tell nri.SyncCB) error {
	r.mutex.Lock()
	pods, containers := r.pods, r.containers
	r.mutex.Unlock()
	_, err := tell(ctx, pods, containers)
	return err
}

// update takes an unsolicited update.
func (r *runtime) update(_ context.Context, updates []*nri.ContainerUpdate) ([]*nri.ContainerUpdate, error) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.updates = append(r.updates, updates...)
	return r.failed, r.refusal
}

// taken returns the unsolicited updates so far.
func (r *runtime) taken() []*nri.ContainerUpdate {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.updates
}

func newPod(name string) *nri.PodSandbox {
	return &nri.PodSandbox{
		Id:          "id-of-" + name,
		Name:        name,
		Uid:         "uid-of-" + name,
		Namespace:   "default",
		Labels:      map[string]string{"made-by": "interop"},
		Annotations: map[string]string{},
		Linux:       &nri.LinuxPodSandbox{CgroupParent: "/interop/" + name},
	}
}

func newContainer(pod *nri.PodSandbox, name string) *nri.Container {
	return &nri.Container{
		Id:           "id-of-" + name,
		PodSandboxId: pod.Id,
		Name:         name,
		State:        nri.ContainerState_CONTAINER_RUNNING,
		Args:         []string{"sh", "-c", "true"},
		Env:          []string{"PATH=/bin", "EMPTY="},
		Annotations:  map[string]string{},
		Linux:        &nri.LinuxContainer{CgroupsPath: "/interop/" + pod.Name + "/" + name},
	}
}

func shares(value uint64) *nri.LinuxResources {
	return &nri.LinuxResources{Cpu: &nri.LinuxCPU{Shares: nri.UInt64(value)}}
}

func withTimeout() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 2*patience)
}

// waitConnected returns when one more plugin is part of the runtime. Its Synchronize is not enough: the module adds a
// plugin after it has the reply.
func (r *runtime) waitConnected() {
	select {
	case <-r.connected:
	case <-time.After(patience):
		panic(unmet{"the Go runtime side does not take the plugin"})
	}
}

// logger takes the Go module's log: it shows it when asked to, and finds the lines that a plugin is connected, and that an
// event went through StateChange because the plugin does not know the event's own call.
type logger struct {
	verbose    bool
	connected  chan struct{}
	deprecated atomic.Int32
}

func (l *logger) put(level, format string, arguments ...interface{}) {
	if l.verbose {
		fmt.Printf("    %s %s: %s\n", time.Now().Format("05.000"), level, short(fmt.Sprintf(format, arguments...)))
	}
	if strings.HasPrefix(format, "plugin %q connected") {
		l.connected <- struct{}{}
	}
	if strings.Contains(format, "deprecated StateChange") {
		l.deprecated.Add(1)
	}
}

func (l *logger) Debugf(_ context.Context, format string, arguments ...interface{}) {
	l.put("debug", format, arguments...)
}

func (l *logger) Infof(_ context.Context, format string, arguments ...interface{}) {
	l.put("info", format, arguments...)
}

func (l *logger) Warnf(_ context.Context, format string, arguments ...interface{}) {
	l.put("warn", format, arguments...)
}

func (l *logger) Errorf(_ context.Context, format string, arguments ...interface{}) {
	l.put("error", format, arguments...)
}
