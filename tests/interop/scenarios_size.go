// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	nri "github.com/containerd/nri/pkg/adaptation"
)

func large(t *test) {
	r := t.containerd()
	p := t.plugin(r, "--fat-annotation", fmt.Sprint(textMax), "--fat-update", fmt.Sprint(textMax), "--update-cpu-shares", "444")
	pod := newPod("p0")
	container := newContainer(pod, "c0")
	container.Annotations["fat"] = strings.Repeat("r", textMax)
	ctx, cancel := withTimeout()
	defer cancel()
	reply, err := r.nri.CreateContainer(ctx, &nri.CreateContainerRequest{Pod: pod, Container: container})
	t.must("CreateContainer", err)
	t.equal("length of the adjusted annotation", len(reply.GetAdjust().GetAnnotations()["fat"]), textMax)
	t.check("its contents", strings.Trim(reply.GetAdjust().GetAnnotations()["fat"], "f") == "", "other bytes")
	for round := 0; round < 20; round++ {
		_, err = r.nri.CreateContainer(ctx, &nri.CreateContainerRequest{Pod: pod, Container: newContainer(pod, "c1")})
		t.must("CreateContainer again", err)
	}
	p.waitFor("CreateContainer", 21)

	p.signal(syscall.SIGUSR1)
	t.equal("error of the large update", p.wait("UpdateContainers").text("error"), "")
	taken := r.taken()
	t.equal("updates", len(taken), 1)
	if len(taken) == 1 {
		t.equal("length of the container id", len(taken[0].GetContainerId()), textMax)
		t.equal("ignore_failure", taken[0].GetIgnoreFailure(), true)
	}
	p.stopsQuietly(t)
}

func tooLarge(t *test) {
	r := t.containerd()
	size := fmt.Sprint(messageMax + 1)
	p := t.plugin(r, "--fat-annotation", size, "--fat-update", size, "--update-cpu-shares", "444")
	pod := newPod("p0")
	ctx, cancel := withTimeout()
	defer cancel()
	_, err := r.nri.CreateContainer(ctx, &nri.CreateContainerRequest{Pod: pod, Container: newContainer(pod, "c0")})
	t.check("the creation fails and the error has the limit", err != nil && strings.Contains(err.Error(), fmt.Sprint(messageMax)), err)
	p.signal(syscall.SIGUSR1)
	t.equal("error of the too large update", p.wait("UpdateContainers").text("error"), "NRI_E_LIMIT")
	t.equal("updates that came", len(r.taken()), 0)
	t.must("RunPodSandbox", r.runPod(ctx, pod))
	t.equal("the next event", p.wait("RunPodSandbox").text("pod"), "p0")
}

func synchronize(t *test) {
	const count = 60
	r := t.containerd()
	for i := 0; i < count; i++ {
		pod := newPod(fmt.Sprint("p", i))
		container := newContainer(pod, fmt.Sprint("c", i))
		container.Annotations["fat"] = strings.Repeat("s", 200<<10)
		r.pods = append(r.pods, pod)
		r.containers = append(r.containers, container)
	}
	p := t.plugin(r)
	whole := p.wait("Synchronize")
	t.equal("pods", whole.number("pods"), count)
	t.equal("containers", whole.number("containers"), count)

	q := t.plugin(r, "--name", "parts", "--sync-parts")
	parts := q.waitParts()
	pods, containers := 0, 0
	for _, part := range parts {
		pods += part.number("pods")
		containers += part.number("containers")
	}
	fmt.Printf("  note it came in %d part(s)\n", len(parts))
	t.check("it is split if this version can", (len(parts) > 1) == splitsSync, len(parts))
	t.equal("pods of all parts", pods, count)
	t.equal("containers of all parts", containers, count)

	ctx, cancel := withTimeout()
	defer cancel()
	t.must("RunPodSandbox", r.runPod(ctx, newPod("after")))
	t.equal("the next event", p.wait("RunPodSandbox").text("pod"), "after")
	t.equal("the next event of the other", q.wait("RunPodSandbox").text("pod"), "after")
	p.stopsQuietly(t)
	q.stopsQuietly(t)
}

func slow(t *test) {
	r := t.containerd()
	p := t.plugin(r, "--later", "CreateContainer=1500", "--add-env", "A=1")
	nri.SetPluginRequestTimeout(300 * time.Millisecond)
	defer nri.SetPluginRequestTimeout(patience)
	pod := newPod("p0")
	ctx, cancel := withTimeout()
	defer cancel()
	reply, err := r.nri.CreateContainer(ctx, &nri.CreateContainerRequest{Pod: pod, Container: newContainer(pod, "c0")})
	t.must("CreateContainer goes on without the plugin's change", err)
	t.equal("variables", len(reply.GetAdjust().GetEnv()), 0)
	completed := p.wait("Completed").text("error")
	t.equal("the late completion is told so", completed, "NRI_E_LATE")
	nri.SetPluginRequestTimeout(patience)
	t.must("RunPodSandbox", r.runPod(ctx, newPod("after")))
	t.equal("the next event", p.wait("RunPodSandbox").text("pod"), "after")
	t.equal("disconnections told", len(p.all("Disconnected")), 0)
}

func many(t *test) {
	r := t.containerd()
	p := t.plugin(r, "--add-env", "A=1")
	const count = 1000
	for i := 0; i < count; i++ {
		pod := newPod(fmt.Sprint("p", i))
		r.live(t, pod, newContainer(pod, fmt.Sprint("c", i)))
	}
	p.waitFor("RemovePodSandbox", count)
	t.equal("creations", len(p.all("CreateContainer")), count)
	p.stopsQuietly(t)
}
