// SPDX-License-Identifier: Apache-2.0

//go:build nri_before_0_7

package main

const (
	containerdVersion = "1.7.24" // a containerd that has this version of the module inside
	tellsVersion      = false    // both sides tell their NRI version
	hasPodUpdates     = false    // 14 events instead of 11
	splitsSync        = false    // a Synchronize may come in parts
)
