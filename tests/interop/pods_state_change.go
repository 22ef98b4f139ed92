// SPDX-License-Identifier: Apache-2.0

//go:build nri_before_0_12 && !nri_before_0_10

package main

import (
	"context"

	nri "github.com/containerd/nri/pkg/adaptation"
)

func (r *runtime) postUpdatePod(ctx context.Context, pod *nri.PodSandbox) error {
	return r.nri.PostUpdatePodSandbox(ctx, &nri.StateChangeEvent{Pod: pod})
}
