// SPDX-License-Identifier: Apache-2.0

//go:build !nri_before_0_10

package main

import (
	"context"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// From NRI 0.10 on there are 14 events, and arguments can be adjusted.

func (r *runtime) updatePod(ctx context.Context, pod *nri.PodSandbox, overhead, resources *nri.LinuxResources) error {
	_, err := r.nri.UpdatePodSandbox(ctx, &nri.UpdatePodSandboxRequest{
		Pod: pod, OverheadLinuxResources: overhead, LinuxResources: resources})
	return err
}

func adjustedArgs(adjustment *nri.ContainerAdjustment) []string {
	return adjustment.GetArgs()
}
