// SPDX-License-Identifier: Apache-2.0

//go:build !nri_before_0_12

package main

import (
	"context"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// From NRI 0.12 on each event has a call of its own.

func (r *runtime) runPod(ctx context.Context, pod *nri.PodSandbox) error {
	return r.nri.RunPodSandbox(ctx, &nri.RunPodSandboxRequest{Pod: pod})
}

func (r *runtime) postUpdatePod(ctx context.Context, pod *nri.PodSandbox) error {
	return r.nri.PostUpdatePodSandbox(ctx, &nri.PostUpdatePodSandboxRequest{Pod: pod})
}

func (r *runtime) stopPod(ctx context.Context, pod *nri.PodSandbox) error {
	return r.nri.StopPodSandbox(ctx, &nri.StopPodSandboxRequest{Pod: pod})
}

func (r *runtime) removePod(ctx context.Context, pod *nri.PodSandbox) error {
	return r.nri.RemovePodSandbox(ctx, &nri.RemovePodSandboxRequest{Pod: pod})
}

func (r *runtime) postCreate(ctx context.Context, pod *nri.PodSandbox, container *nri.Container) error {
	return r.nri.PostCreateContainer(ctx, &nri.PostCreateContainerRequest{Pod: pod, Container: container})
}

func (r *runtime) start(ctx context.Context, pod *nri.PodSandbox, container *nri.Container) error {
	return r.nri.StartContainer(ctx, &nri.StartContainerRequest{Pod: pod, Container: container})
}

func (r *runtime) postStart(ctx context.Context, pod *nri.PodSandbox, container *nri.Container) error {
	return r.nri.PostStartContainer(ctx, &nri.PostStartContainerRequest{Pod: pod, Container: container})
}

func (r *runtime) postUpdate(ctx context.Context, pod *nri.PodSandbox, container *nri.Container) error {
	return r.nri.PostUpdateContainer(ctx, &nri.PostUpdateContainerRequest{Pod: pod, Container: container})
}

func (r *runtime) remove(ctx context.Context, pod *nri.PodSandbox, container *nri.Container) error {
	return r.nri.RemoveContainer(ctx, &nri.RemoveContainerRequest{Pod: pod, Container: container})
}
