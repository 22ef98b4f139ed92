// SPDX-License-Identifier: Apache-2.0

// Command chainhost measures what a CreateContainer costs the Go NRI module's own runtime side: chainhost REQUEST COUNT
// DIRECTORY launches the plugins of DIRECTORY, plays the CreateContainerRequest of a file COUNT times for warmth and then in
// 20 batches of COUNT, and prints "ns" and what one takes in the best batch, as bench_chain does.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	nri "github.com/containerd/nri/pkg/adaptation"
	nrilog "github.com/containerd/nri/pkg/log"
	"google.golang.org/protobuf/proto"
)

// quiet drops the module's log.
type quiet struct{}

func (quiet) Debugf(context.Context, string, ...interface{}) {}
func (quiet) Infof(context.Context, string, ...interface{})  {}
func (quiet) Warnf(context.Context, string, ...interface{})  {}
func (quiet) Errorf(context.Context, string, ...interface{}) {}

func must(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	bytes, err := os.ReadFile(os.Args[1])
	must(err)
	count, err := strconv.Atoi(os.Args[2])
	must(err)
	request := &nri.CreateContainerRequest{}
	must(proto.Unmarshal(bytes, request))
	plugins, err := filepath.Glob(filepath.Join(os.Args[3], "*"))
	must(err)
	nrilog.Set(quiet{})
	synchronize := func(ctx context.Context, tell nri.SyncCB) error {
		_, err := tell(ctx, nil, nil)
		return err
	}
	update := func(context.Context, []*nri.ContainerUpdate) ([]*nri.ContainerUpdate, error) { return nil, nil }
	runtime, err := nri.New("chainhost", "1", synchronize, update, nri.WithPluginPath(os.Args[3]),
		nri.WithPluginConfigPath(os.Args[3]+".conf"), nri.WithDisabledExternalConnections())
	must(err)
	must(runtime.Start())
	best := time.Duration(0)
	for batch := 0; batch <= 20; batch++ {
		began := time.Now()
		for i := 0; i < count; i++ {
			response, err := runtime.CreateContainer(context.Background(), request)
			must(err)
			if len(response.GetAdjust().GetEnv()) != len(plugins) {
				panic("not every plugin was asked")
			}
		}
		if took := time.Since(began); batch > 0 && (best == 0 || took < best) {
			best = took
		}
	}
	fmt.Println("ns", best.Nanoseconds()/int64(count))
	runtime.Stop()
}
