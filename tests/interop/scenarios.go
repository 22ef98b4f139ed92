// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"time"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/ttrpc"
)

// The largest ttRPC message, and a text that leaves room for what stands around it in one.
const (
	messageMax = 4194304
	textMax    = messageMax - 2048
)

var scenarios = []scenario{
	{"events", "every event of this NRI version reaches the plugin, in order", events},
	{"unknown", "a runtime of unknown name and version is asked for no event that it may not know", unknown},
	{"adjustment", "the runtime gets the adjustment and nothing else", adjustment},
	{"update", "the runtime gets the plugin's reply to UpdateContainer", update},
	{"unsolicited", "unsolicited updates, failed ones and refused ones", unsolicited},
	{"refusal", "the runtime gets the plugin's words", refusal},
	{"veto", "a refused ValidateContainerAdjustment vetoes the container", veto},
	{"later", "a reply from another thread, after the handler has returned", later},
	{"large", "messages of nearly 4 MiB both ways", large},
	{"too_large", "messages over 4 MiB are refused and the connection lives on", tooLarge},
	{"synchronize", "12 MB of containers at the start", synchronize},
	{"slow", "a plugin that would miss its deadline is answered for, and stays", slow},
	{"many", "a thousand pods one after the other", many},
}

// live plays a pod with one container from its beginning to its end, with every event that there is.
func (r *runtime) live(t *test, pod *nri.PodSandbox, container *nri.Container) {
	ctx, cancel := withTimeout()
	defer cancel()
	ctx = ttrpc.WithMetadata(ctx, ttrpc.MD{"interop-test": []string{"yes"}})
	t.must("RunPodSandbox", r.runPod(ctx, pod))
	if hasPodUpdates {
		t.must("UpdatePodSandbox", r.updatePod(ctx, pod, shares(2), shares(4)))
		t.must("PostUpdatePodSandbox", r.postUpdatePod(ctx, pod))
	}
	_, err := r.nri.CreateContainer(ctx, &nri.CreateContainerRequest{Pod: pod, Container: container})
	t.must("CreateContainer", err)
	t.must("PostCreateContainer", r.postCreate(ctx, pod, container))
	t.must("StartContainer", r.start(ctx, pod, container))
	t.must("PostStartContainer", r.postStart(ctx, pod, container))
	_, err = r.nri.UpdateContainer(ctx, &nri.UpdateContainerRequest{Pod: pod, Container: container, LinuxResources: shares(256)})
	t.must("UpdateContainer", err)
	t.must("PostUpdateContainer", r.postUpdate(ctx, pod, container))
	_, err = r.nri.StopContainer(ctx, &nri.StopContainerRequest{Pod: pod, Container: container})
	t.must("StopContainer", err)
	t.must("RemoveContainer", r.remove(ctx, pod, container))
	t.must("StopPodSandbox", r.stopPod(ctx, pod))
	t.must("RemovePodSandbox", r.removePod(ctx, pod))
}

// lifeEvents are the events of live(), in order.
func lifeEvents() []string {
	all := []string{"RunPodSandbox"}
	if hasPodUpdates {
		all = append(all, "UpdatePodSandbox", "PostUpdatePodSandbox")
	}
	all = append(all, "CreateContainer")
	if hasPodUpdates {
		all = append(all, "ValidateContainerAdjustment")
	}
	return append(all, "PostCreateContainer", "StartContainer", "PostStartContainer", "UpdateContainer",
		"PostUpdateContainer", "StopContainer", "RemoveContainer", "StopPodSandbox", "RemovePodSandbox")
}

func events(t *test) {
	r := t.containerd()
	p := t.plugin(r, "--events", "all", "--add-env", "FROM_PLUGIN=1")
	configured := p.wait("Configure")
	t.equal("the runtime's name", configured.text("runtime"), "containerd")
	t.equal("the runtime's version", configured.text("version"), containerdVersion)
	told := strings.TrimPrefix(configured.text("nri_version"), "v")
	own := strings.TrimPrefix(moduleVersion(), "v")
	t.equal("the NRI version is inferred", configured["inferred"], !tellsVersion)
	if tellsVersion {
		t.equal("the NRI version", told, own)
	} else {
		minor := own[:strings.LastIndex(own, ".")]
		t.check("the NRI version is a "+minor, strings.HasPrefix(told, minor+"."), told)
	}

	pod := newPod("p0")
	r.live(t, pod, newContainer(pod, "c0"))
	p.wait("RemovePodSandbox")
	seen := []string{}
	bare := 0
	for _, one := range p.all(lifeEvents()...) {
		seen = append(seen, one.text("event"))
		metadata, _ := one["metadata"].(map[string]interface{})
		if one.text("pod") != "p0" || metadata["interop-test"] != "yes" {
			bare++
		}
	}
	t.equal("the events", seen, lifeEvents())
	t.equal("events without their pod or the call's metadata", bare, 0)
	t.equal("events that fell back to StateChange", r.log.deprecated.Load(), int32(0))
	t.equal("shares of UpdateContainer", p.wait("UpdateContainer").number("cpu_shares"), 256)
	if hasPodUpdates {
		t.equal("shares of UpdatePodSandbox", p.wait("UpdatePodSandbox").number("cpu_shares"), 4)
		t.equal("plugins told to the validator", p.wait("ValidateContainerAdjustment")["plugins"],
			interface{}([]interface{}{"libnri"}))
	}
	left := p.wait("CreateContainer").number("time_left_ms")
	t.check("the deadline is the runtime's", left > 0 && left <= int(patience.Milliseconds()), left)
	if hasPodUpdates {
		p.stopsQuietly(t)
	} else {
		p.stops(t)
		t.check("the one warning names the events that will not come", strings.Count(p.log.String(), "\n") == 1 &&
			strings.Contains(p.log.String(), "UpdatePodSandbox,PostUpdatePodSandbox,ValidateContainerAdjustment"), p.log.String())
	}
}

func unknown(t *test) {
	r := t.runtime("home-grown", "1.0")
	p := t.plugin(r, "--events", "all")
	pod := newPod("p0")
	r.live(t, pod, newContainer(pod, "c0"))
	last := p.wait("RemovePodSandbox")
	t.equal("the pod", last.text("pod"), "p0")
	asked := len(p.all("UpdatePodSandbox", "PostUpdatePodSandbox", "ValidateContainerAdjustment"))
	if tellsVersion {
		t.equal("of the events since NRI 0.10 (the version was told)", asked, 3)
	} else {
		t.equal("of the events since NRI 0.10", asked, 0)
	}
}

func adjustment(t *test) {
	r := t.containerd()
	t.plugin(r, "--add-env", "A=1", "--add-env", "B=", "--remove-env", "PATH", "--add-annotation", "note=here",
		"--add-mount", "/src:/dst", "--cpu-shares", "333", "--cpu-quota", "30000", "--memory-limit", "1048576",
		"--arg", "sh", "--arg", "-c", "--arg", "exit 3")
	pod := newPod("p0")
	ctx, cancel := withTimeout()
	defer cancel()
	reply, err := r.nri.CreateContainer(ctx, &nri.CreateContainerRequest{Pod: pod, Container: newContainer(pod, "c0")})
	t.must("CreateContainer", err)
	adjust := reply.GetAdjust()
	env := map[string]string{}
	for _, one := range adjust.GetEnv() {
		env[one.GetKey()] = one.GetValue()
	}
	t.equal("env", env, map[string]string{"A": "1", "B": ""})
	t.equal("annotations", adjust.GetAnnotations(), map[string]string{"note": "here"})
	t.equal("number of mounts", len(adjust.GetMounts()), 1)
	if len(adjust.GetMounts()) == 1 {
		mount := adjust.GetMounts()[0]
		t.equal("mount", []string{mount.GetSource(), mount.GetDestination(), mount.GetType(), strings.Join(mount.GetOptions(), ",")},
			[]string{"/src", "/dst", "bind", "rbind,ro"})
	}
	if hasPodUpdates {
		t.equal("arguments", adjustedArgs(adjust), []string{"sh", "-c", "exit 3"})
	}
	resources := adjust.GetLinux().GetResources()
	t.equal("CPU shares", resources.GetCpu().GetShares().GetValue(), uint64(333))
	t.equal("CPU quota", resources.GetCpu().GetQuota().GetValue(), int64(30000))
	t.check("no CPU period", resources.GetCpu().GetPeriod() == nil, resources.GetCpu())
	t.equal("memory limit", resources.GetMemory().GetLimit().GetValue(), int64(1048576))
	t.check("no memory swap", resources.GetMemory().GetSwap() == nil, resources.GetMemory())
	t.equal("updates of others", len(reply.GetUpdate()), 0)
}

func update(t *test) {
	r := t.containerd()
	t.plugin(r, "--update-cpu-shares", "777")
	pod := newPod("p0")
	ctx, cancel := withTimeout()
	defer cancel()
	reply, err := r.nri.UpdateContainer(ctx, &nri.UpdateContainerRequest{
		Pod: pod, Container: newContainer(pod, "c0"), LinuxResources: shares(256)})
	t.must("UpdateContainer", err)
	t.equal("number of updates", len(reply.GetUpdate()), 1)
	for _, one := range reply.GetUpdate() {
		t.equal("container", one.GetContainerId(), "id-of-c0")
		t.equal("CPU shares", one.GetLinux().GetResources().GetCpu().GetShares().GetValue(), uint64(777))
	}
}

func unsolicited(t *test) {
	r := t.containerd()
	pod := newPod("p0")
	r.pods = []*nri.PodSandbox{pod}
	r.containers = []*nri.Container{newContainer(pod, "c0"), newContainer(pod, "c1")}
	p := t.plugin(r, "--update-cpu-shares", "444")

	p.signal(syscall.SIGUSR1)
	t.equal("error of the call", p.wait("UpdateContainers").text("error"), "")
	ids := []string{}
	for _, one := range r.taken() {
		ids = append(ids, fmt.Sprint(one.GetContainerId(), " ", one.GetLinux().GetResources().GetCpu().GetShares().GetValue()))
	}
	t.equal("updates", ids, []string{"id-of-c0 444", "id-of-c1 444"})

	r.mutex.Lock()
	r.failed = r.updates[:1]
	r.mutex.Unlock()
	p.signal(syscall.SIGUSR1)
	t.equal("failed updates", p.waitFor("UpdateContainers", 2).number("failed"), 1)

	r.mutex.Lock()
	r.refusal = errors.New("no updates today")
	r.mutex.Unlock()
	p.signal(syscall.SIGUSR1)
	refused := p.waitFor("UpdateContainers", 3)
	t.equal("error of a refused call", refused.text("error"), "NRI_E_REJECTED")
	t.check("with the runtime's text", strings.Contains(refused.text("text"), "no updates today"), refused)
}

func refusal(t *test) {
	r := t.containerd()
	p := t.plugin(r, "--refuse", "RunPodSandbox=no pod", "--refuse", "CreateContainer=no container",
		"--refuse", "UpdateContainer=no update", "--refuse", "StopContainer=no stop",
		"--refuse", "PostStartContainer=no post-start")
	pod := newPod("p0")
	container := newContainer(pod, "c0")
	ctx, cancel := withTimeout()
	defer cancel()
	says := func(what string, err error, words string) {
		t.check(what+" fails with the plugin's words", err != nil && strings.Contains(err.Error(), words), err)
	}
	says("RunPodSandbox", r.runPod(ctx, pod), "no pod")
	_, err := r.nri.CreateContainer(ctx, &nri.CreateContainerRequest{Pod: pod, Container: container})
	says("CreateContainer", err, "no container")
	says("PostStartContainer", r.postStart(ctx, pod, container), "no post-start")
	_, err = r.nri.UpdateContainer(ctx, &nri.UpdateContainerRequest{Pod: pod, Container: container})
	says("UpdateContainer", err, "no update")
	_, err = r.nri.StopContainer(ctx, &nri.StopContainerRequest{Pod: pod, Container: container})
	says("StopContainer", err, "no stop")
	t.must("RemovePodSandbox", r.removePod(ctx, pod))
	t.equal("the event after them", p.wait("RemovePodSandbox").text("pod"), "p0")
	t.equal("times that the refused RunPodSandbox was sent", len(p.all("RunPodSandbox")), 1)
}

func veto(t *test) {
	if !hasPodUpdates {
		fmt.Println("  note no validation before NRI 0.10")
		return
	}
	r := t.containerd()
	p := t.plugin(r, "--events", "all", "--refuse", "ValidateContainerAdjustment=against the rules")
	pod := newPod("p0")
	ctx, cancel := withTimeout()
	defer cancel()
	_, err := r.nri.CreateContainer(ctx, &nri.CreateContainerRequest{Pod: pod, Container: newContainer(pod, "c0")})
	t.check("CreateContainer fails with the plugin's words", err != nil && strings.Contains(err.Error(), "against the rules"), err)
	t.must("RunPodSandbox", r.runPod(ctx, pod))
	t.check("the plugin is still there", p.alive(), "")
}

func later(t *test) {
	r := t.containerd()
	p := t.plugin(r, "--later", "CreateContainer=200", "--add-env", "A=late", "--later", "RunPodSandbox=50",
		"--refuse", "RunPodSandbox=after some thought")
	pod := newPod("p0")
	ctx, cancel := withTimeout()
	defer cancel()
	err := r.runPod(ctx, pod)
	t.check("a late refusal", err != nil && strings.Contains(err.Error(), "after some thought"), err)
	began := time.Now()
	reply, err := r.nri.CreateContainer(ctx, &nri.CreateContainerRequest{Pod: pod, Container: newContainer(pod, "c0")})
	t.must("CreateContainer", err)
	t.check("the runtime waited", time.Since(began) >= 200*time.Millisecond, time.Since(began))
	t.equal("number of variables", len(reply.GetAdjust().GetEnv()), 1)
	t.equal("completion", p.waitFor("Completed", 2).text("error"), "NRI_OK")
}
