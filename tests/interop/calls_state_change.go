// SPDX-License-Identifier: Apache-2.0

//go:build nri_before_0_12

package main

import (
	"context"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// Before NRI 0.12 most events are one call, StateChange.

func (r *runtime) runPod(ctx context.Context, pod *nri.PodSandbox) error {
	return r.nri.RunPodSandbox(ctx, &nri.StateChangeEvent{Pod: pod})
}

func (r *runtime) stopPod(ctx context.Context, pod *nri.PodSandbox) error {
	return r.nri.StopPodSandbox(ctx, &nri.StateChangeEvent{Pod: pod})
}

func (r *runtime) removePod(ctx context.Context, pod *nri.PodSandbox) error {
	return r.nri.RemovePodSandbox(ctx, &nri.StateChangeEvent{Pod: pod})
}

func (r *runtime) postCreate(ctx context.Context, pod *nri.PodSandbox, container *nri.Container) error {
	return r.nri.PostCreateContainer(ctx, &nri.StateChangeEvent{Pod: pod, Container: container})
}

func (r *runtime) start(ctx context.Context, pod *nri.PodSandbox, container *nri.Container) error {
	return r.nri.StartContainer(ctx, &nri.StateChangeEvent{Pod: pod, Container: container})
}

func (r *runtime) postStart(ctx context.Context, pod *nri.PodSandbox, container *nri.Container) error {
	return r.nri.PostStartContainer(ctx, &nri.StateChangeEvent{Pod: pod, Container: container})
}

func (r *runtime) postUpdate(ctx context.Context, pod *nri.PodSandbox, container *nri.Container) error {
	return r.nri.PostUpdateContainer(ctx, &nri.StateChangeEvent{Pod: pod, Container: container})
}

func (r *runtime) remove(ctx context.Context, pod *nri.PodSandbox, container *nri.Container) error {
	return r.nri.RemoveContainer(ctx, &nri.StateChangeEvent{Pod: pod, Container: container})
}
