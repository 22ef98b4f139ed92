// SPDX-License-Identifier: Apache-2.0

//go:build !nri_before_0_10

package main

import (
	"context"

	"github.com/containerd/nri/pkg/api"
)

func (p *plugin) ValidateContainerAdjustment(_ context.Context, request *api.ValidateContainerAdjustmentRequest) error {
	names := []string{}
	for _, one := range request.GetPlugins() {
		names = append(names, one.GetIndex()+"-"+one.GetName())
	}
	p.tell("ValidateContainerAdjustment", record{"pod": request.GetPod().GetName(),
		"container": request.GetContainer().GetName(), "plugins": names})
	return nil
}
