// SPDX-License-Identifier: Apache-2.0

//go:build nri_before_0_11 && !nri_before_0_10

package main

const (
	containerdVersion = "2.2.0" // a containerd that has this version of the module inside
	tellsVersion      = false   // both sides tell their NRI version
	hasPodUpdates     = true    // 14 events instead of 11
	splitsSync        = true    // a Synchronize may come in parts
)
