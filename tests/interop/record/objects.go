// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	nri "github.com/containerd/nri/pkg/adaptation"
	"github.com/containerd/nri/pkg/api"
	"github.com/containerd/nri/pkg/stub"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// fill sets every field of a message, and of those in it, to something that is not its default; lists and maps get two
// elements.
func fill(message protoreflect.Message) {
	fields := message.Descriptor().Fields()
	for i := 0; i < fields.Len(); i++ {
		field := fields.Get(i)
		switch {
		case field.IsMap():
			entries := message.Mutable(field).Map()
			for n := 0; n < 2; n++ {
				key := scalar(field.MapKey(), n).MapKey()
				if field.MapValue().Kind() == protoreflect.MessageKind {
					fill(entries.Mutable(key).Message())
				} else {
					entries.Set(key, scalar(field.MapValue(), n+2))
				}
			}
		case field.IsList() && field.Kind() == protoreflect.MessageKind:
			list := message.Mutable(field).List()
			for n := 0; n < 2; n++ {
				fill(list.AppendMutable().Message())
			}
		case field.IsList():
			list := message.Mutable(field).List()
			list.Append(scalar(field, 0))
			list.Append(scalar(field, 1))
		case field.Kind() == protoreflect.MessageKind:
			fill(message.Mutable(field).Message())
		default:
			message.Set(field, scalar(field, 0))
		}
	}
}

// scalar is a value for a field; different ones for different n.
func scalar(field protoreflect.FieldDescriptor, n int) protoreflect.Value {
	number := int64(field.Number())*1000 + int64(n) + 1
	switch field.Kind() {
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.EnumKind:
		values := field.Enum().Values()
		return protoreflect.ValueOfEnum(values.Get(values.Len() - 1 - n%values.Len()).Number())
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(fmt.Sprintf("%s-%d", field.Name(), n))
	case protoreflect.Int32Kind:
		return protoreflect.ValueOfInt32(int32(-number))
	case protoreflect.Uint32Kind:
		return protoreflect.ValueOfUint32(uint32(number))
	case protoreflect.Int64Kind:
		return protoreflect.ValueOfInt64(-number << 33)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(number) << 33)
	}
	panic("no value for " + field.Kind().String())
}

// objects is what a session is about.
type objects struct {
	rich      bool
	pod       *api.PodSandbox
	container *api.Container
	resources *api.LinuxResources
}

func newObjects(rich bool) *objects {
	o := &objects{rich: rich, pod: &api.PodSandbox{}, container: &api.Container{}, resources: &api.LinuxResources{}}
	if rich {
		for _, message := range []proto.Message{o.pod, o.container, o.resources} {
			fill(message.ProtoReflect())
		}
	}
	o.pod.Id, o.container.Id, o.container.PodSandboxId = "pod-1", "container-1", "pod-1"
	o.container.Linux = orEmpty(o.container.Linux)
	return o
}

func orEmpty(linux *api.LinuxContainer) *api.LinuxContainer {
	if linux == nil {
		return &api.LinuxContainer{}
	}
	return linux
}

// adjustment has every field, or one.
func (o *objects) adjustment() *api.ContainerAdjustment {
	adjustment := &api.ContainerAdjustment{}
	if o.rich {
		fill(adjustment.ProtoReflect())
		// Lists must not set the same thing twice.
		for i, one := range adjustment.Env {
			one.Key = fmt.Sprint("VARIABLE_", i)
		}
		for i, one := range adjustment.Mounts {
			one.Destination = fmt.Sprint("/mount/", i)
		}
		for i, one := range adjustment.Rlimits {
			one.Type = []string{"RLIMIT_NOFILE", "RLIMIT_CORE"}[i]
		}
		for i, one := range adjustment.CDIDevices {
			one.Name = fmt.Sprint("vendor.com/class=", i)
		}
		for i, one := range adjustment.Linux.Devices {
			one.Path = fmt.Sprint("/dev/made-up-", i)
		}
		for i, one := range adjustment.Linux.Namespaces {
			one.Type = []string{"network", "ipc"}[i]
		}
		for i, one := range adjustment.Linux.Resources.HugepageLimits {
			one.PageSize = []string{"2MB", "1GB"}[i]
		}
		adjustment.Linux.Rdt.Remove = false
		adjustment.RemoveMount("/gone")
		adjustment.RemoveEnv("GONE")
		return adjustment
	}
	adjustment.AddEnv("A", "")
	return adjustment
}

func (o *objects) updates() []*api.ContainerUpdate {
	list := []*api.ContainerUpdate{}
	for n := 0; n < 2; n++ {
		update := &api.ContainerUpdate{}
		if o.rich {
			fill(update.ProtoReflect())
		}
		update.ContainerId = fmt.Sprint("other-", n)
		list = append(list, update)
	}
	return list
}

// live plays all events.
func live(runtime *nri.Adaptation, o *objects) error {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	pod, container := o.pod, o.container
	steps := []func() error{
		func() error { return runtime.RunPodSandbox(ctx, &api.RunPodSandboxRequest{Pod: pod}) },
		func() error {
			_, err := runtime.UpdatePodSandbox(ctx, &api.UpdatePodSandboxRequest{
				Pod: pod, OverheadLinuxResources: o.resources, LinuxResources: o.resources})
			return err
		},
		func() error { return runtime.PostUpdatePodSandbox(ctx, &api.PostUpdatePodSandboxRequest{Pod: pod}) },
		func() error {
			_, err := runtime.CreateContainer(ctx, &api.CreateContainerRequest{Pod: pod, Container: container})
			return err
		},
		func() error {
			return runtime.PostCreateContainer(ctx, &api.PostCreateContainerRequest{Pod: pod, Container: container})
		},
		func() error {
			return runtime.StartContainer(ctx, &api.StartContainerRequest{Pod: pod, Container: container})
		},
		func() error {
			return runtime.PostStartContainer(ctx, &api.PostStartContainerRequest{Pod: pod, Container: container})
		},
		func() error {
			_, err := runtime.UpdateContainer(ctx, &api.UpdateContainerRequest{
				Pod: pod, Container: container, LinuxResources: o.resources})
			return err
		},
		func() error {
			return runtime.PostUpdateContainer(ctx, &api.PostUpdateContainerRequest{Pod: pod, Container: container})
		},
		func() error {
			_, err := runtime.StopContainer(ctx, &api.StopContainerRequest{Pod: pod, Container: container})
			return err
		},
		func() error {
			return runtime.RemoveContainer(ctx, &api.RemoveContainerRequest{Pod: pod, Container: container})
		},
		func() error { return runtime.StopPodSandbox(ctx, &api.StopPodSandboxRequest{Pod: pod}) },
		func() error { return runtime.RemovePodSandbox(ctx, &api.RemovePodSandboxRequest{Pod: pod}) },
	}
	for n, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("step %d: %w", n, err)
		}
	}
	return nil
}

// plugin answers with all that a plugin can say.
type plugin struct {
	what *objects
	stub stub.Stub
}

func (p *plugin) Configure(context.Context, string, string, string) (stub.EventMask, error) {
	return 0, nil // all that there are handlers for
}

func (p *plugin) Synchronize(context.Context, []*api.PodSandbox, []*api.Container) ([]*api.ContainerUpdate, error) {
	return p.what.updates(), nil
}

func (p *plugin) RunPodSandbox(context.Context, *api.PodSandbox) error { return nil }

func (p *plugin) UpdatePodSandbox(context.Context, *api.PodSandbox, *api.LinuxResources, *api.LinuxResources) error {
	return nil
}

func (p *plugin) PostUpdatePodSandbox(context.Context, *api.PodSandbox) error { return nil }
func (p *plugin) StopPodSandbox(context.Context, *api.PodSandbox) error       { return nil }
func (p *plugin) RemovePodSandbox(context.Context, *api.PodSandbox) error     { return nil }

func (p *plugin) CreateContainer(context.Context, *api.PodSandbox, *api.Container) (
	*api.ContainerAdjustment, []*api.ContainerUpdate, error) {
	return p.what.adjustment(), p.what.updates(), nil
}

func (p *plugin) PostCreateContainer(context.Context, *api.PodSandbox, *api.Container) error {
	return nil
}
func (p *plugin) StartContainer(context.Context, *api.PodSandbox, *api.Container) error { return nil }
func (p *plugin) PostStartContainer(context.Context, *api.PodSandbox, *api.Container) error {
	return nil
}
func (p *plugin) PostUpdateContainer(context.Context, *api.PodSandbox, *api.Container) error {
	return nil
}
func (p *plugin) RemoveContainer(context.Context, *api.PodSandbox, *api.Container) error { return nil }

func (p *plugin) UpdateContainer(context.Context, *api.PodSandbox, *api.Container, *api.LinuxResources) (
	[]*api.ContainerUpdate, error) {
	return p.what.updates(), nil
}

func (p *plugin) StopContainer(context.Context, *api.PodSandbox, *api.Container) ([]*api.ContainerUpdate, error) {
	return p.what.updates(), nil
}

func (p *plugin) ValidateContainerAdjustment(context.Context, *api.ValidateContainerAdjustmentRequest) error {
	return nil
}
