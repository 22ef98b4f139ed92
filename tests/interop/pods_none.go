// SPDX-License-Identifier: Apache-2.0

//go:build nri_before_0_10

package main

import (
	"context"

	nri "github.com/containerd/nri/pkg/adaptation"
)

// Before NRI 0.10 there are 11 events: these calls cannot be made and are not.

func (r *runtime) updatePod(context.Context, *nri.PodSandbox, *nri.LinuxResources, *nri.LinuxResources) error {
	panic("no UpdatePodSandbox before NRI 0.10")
}

func (r *runtime) postUpdatePod(context.Context, *nri.PodSandbox) error {
	panic("no PostUpdatePodSandbox before NRI 0.10")
}

func adjustedArgs(*nri.ContainerAdjustment) []string {
	return nil
}
