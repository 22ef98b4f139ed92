// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"
	"strings"

	rspec "github.com/opencontainers/runtime-spec/specs-go"
)

// base has what the module's generator wants beneath it, on a specification that is made whole first, so that
// nothing of it is nil. The module has one of its own, which only the module can use.
type base struct{ spec *rspec.Spec }

func newBase(spec *rspec.Spec) *base {
	if spec.Process == nil {
		spec.Process = &rspec.Process{}
	}
	if spec.Linux == nil {
		spec.Linux = &rspec.Linux{}
	}
	if spec.Hooks == nil {
		spec.Hooks = &rspec.Hooks{}
	}
	if spec.Linux.Resources == nil {
		spec.Linux.Resources = &rspec.LinuxResources{}
	}
	return &base{spec}
}

func (b *base) resources() *rspec.LinuxResources { return b.spec.Linux.Resources }

func (b *base) cpu() *rspec.LinuxCPU {
	if b.resources().CPU == nil {
		b.resources().CPU = &rspec.LinuxCPU{}
	}
	return b.resources().CPU
}

func (b *base) memory() *rspec.LinuxMemory {
	if b.resources().Memory == nil {
		b.resources().Memory = &rspec.LinuxMemory{}
	}
	return b.resources().Memory
}

func set(to *map[string]string, key, value string) {
	if *to == nil {
		*to = map[string]string{}
	}
	(*to)[key] = value
}

// removeFirst drops the first element that is meant, as removal from a specification does.
func removeFirst[T any](list []T, meant func(T) bool) []T {
	if i := slices.IndexFunc(list, meant); i >= 0 {
		return slices.Delete(list, i, i+1)
	}
	return list
}

// put replaces the first element that is meant, or appends.
func put[T any](list []T, value T, meant func(T) bool) []T {
	if i := slices.IndexFunc(list, meant); i >= 0 {
		list[i] = value
		return list
	}
	return append(list, value)
}

func (b *base) Spec() *rspec.Spec               { return b.spec }
func (b *base) AddAnnotation(key, value string) { set(&b.spec.Annotations, key, value) }
func (b *base) RemoveAnnotation(key string)     { delete(b.spec.Annotations, key) }
func (b *base) AddLinuxSysctl(key, value string) {
	set(&b.spec.Linux.Sysctl, key, value)
}
func (b *base) RemoveLinuxSysctl(key string)    { delete(b.spec.Linux.Sysctl, key) }
func (b *base) ClearMounts()                    { b.spec.Mounts = nil }
func (b *base) Mounts() []rspec.Mount           { return b.spec.Mounts }
func (b *base) AddMount(mount rspec.Mount)      { b.spec.Mounts = append(b.spec.Mounts, mount) }
func (b *base) ClearProcessEnv()                { b.spec.Process.Env = nil }
func (b *base) SetProcessArgs(args []string)    { b.spec.Process.Args = args }
func (b *base) SetProcessOOMScoreAdj(adj int)   { b.spec.Process.OOMScoreAdj = &adj }
func (b *base) SetLinuxCgroupsPath(path string) { b.spec.Linux.CgroupsPath = path }

func (b *base) SetLinuxRootPropagation(propagation string) error {
	b.spec.Linux.RootfsPropagation = propagation
	return nil
}

func (b *base) RemoveMount(destination string) {
	b.spec.Mounts = removeFirst(b.spec.Mounts, func(m rspec.Mount) bool { return m.Destination == destination })
}

func (b *base) AddDevice(device rspec.LinuxDevice) {
	b.spec.Linux.Devices = put(b.spec.Linux.Devices, device, func(d rspec.LinuxDevice) bool { return d.Path == device.Path })
}

func (b *base) RemoveDevice(path string) {
	b.spec.Linux.Devices = removeFirst(b.spec.Linux.Devices, func(d rspec.LinuxDevice) bool { return d.Path == path })
}

func (b *base) AddProcessEnv(name, value string) {
	if name != "" {
		text := name + "=" + value
		b.spec.Process.Env = put(b.spec.Process.Env, text, func(e string) bool { return strings.HasPrefix(e, name+"=") })
	}
}

func (b *base) AddOrReplaceLinuxNamespace(name, path string) error {
	kind, err := namespaceType(name)
	if err == nil {
		b.spec.Linux.Namespaces = put(b.spec.Linux.Namespaces, rspec.LinuxNamespace{Type: kind, Path: path},
			func(n rspec.LinuxNamespace) bool { return n.Type == kind })
	}
	return err
}

func (b *base) RemoveLinuxNamespace(name string) error {
	kind, err := namespaceType(name)
	if err == nil {
		b.spec.Linux.Namespaces = removeFirst(b.spec.Linux.Namespaces,
			func(n rspec.LinuxNamespace) bool { return n.Type == kind })
	}
	return err
}

func (b *base) AddPreStartHook(hook rspec.Hook) {
	b.spec.Hooks.Prestart = append(b.spec.Hooks.Prestart, hook) //nolint:staticcheck // NRI still has it
}
func (b *base) AddPostStartHook(hook rspec.Hook) {
	b.spec.Hooks.Poststart = append(b.spec.Hooks.Poststart, hook)
}
func (b *base) AddPostStopHook(hook rspec.Hook) {
	b.spec.Hooks.Poststop = append(b.spec.Hooks.Poststop, hook)
}

func (b *base) AddLinuxResourcesDevice(allow bool, kind string, major, minor *int64, access string) {
	b.resources().Devices = append(b.resources().Devices,
		rspec.LinuxDeviceCgroup{Allow: allow, Type: kind, Major: major, Minor: minor, Access: access})
}

func (b *base) AddLinuxResourcesHugepageLimit(size string, limit uint64) {
	b.resources().HugepageLimits = put(b.resources().HugepageLimits, rspec.LinuxHugepageLimit{Pagesize: size, Limit: limit},
		func(l rspec.LinuxHugepageLimit) bool { return l.Pagesize == size })
}

func (b *base) AddLinuxResourcesUnified(key, value string)        { set(&b.resources().Unified, key, value) }
func (b *base) SetLinuxResourcesCPUCpus(cpus string)              { b.cpu().Cpus = cpus }
func (b *base) SetLinuxResourcesCPUMems(mems string)              { b.cpu().Mems = mems }
func (b *base) SetLinuxResourcesCPUPeriod(period uint64)          { b.cpu().Period = &period }
func (b *base) SetLinuxResourcesCPUQuota(quota int64)             { b.cpu().Quota = &quota }
func (b *base) SetLinuxResourcesCPURealtimePeriod(period uint64)  { b.cpu().RealtimePeriod = &period }
func (b *base) SetLinuxResourcesCPURealtimeRuntime(runtime int64) { b.cpu().RealtimeRuntime = &runtime }
func (b *base) SetLinuxResourcesCPUShares(shares uint64)          { b.cpu().Shares = &shares }
func (b *base) SetLinuxResourcesMemoryLimit(limit int64)          { b.memory().Limit = &limit }
func (b *base) SetLinuxResourcesMemorySwap(swap int64)            { b.memory().Swap = &swap }
