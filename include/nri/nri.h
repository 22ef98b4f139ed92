/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * All of libnri's public headers.
 */
#ifndef NRI_NRI_H
#define NRI_NRI_H

#include <nri/adjustment.h>
#include <nri/adjustment_read.h>
#include <nri/alloc.h>
#include <nri/annotation.h>
#include <nri/api.h>
#include <nri/container.h>
#include <nri/container_build.h>
#include <nri/cpuset.h>
#include <nri/device.h>
#include <nri/document.h>
#include <nri/error.h>
#include <nri/event.h>
#include <nri/failure.h>
#include <nri/feature.h>
#include <nri/field.h>
#include <nri/hook.h>
#include <nri/json.h>
#include <nri/log.h>
#include <nri/memory_policy.h>
#include <nri/merge.h>
#include <nri/metrics.h>
#include <nri/mount.h>
#include <nri/oci.h>
#include <nri/outcome.h>
#include <nri/plugin.h>
#include <nri/pod.h>
#include <nri/pod_build.h>
#include <nri/quantity.h>
#include <nri/rdt.h>
#include <nri/request.h>
#include <nri/resources.h>
#include <nri/runtime.h>
#include <nri/scheduler.h>
#include <nri/seccomp.h>
#include <nri/state.h>
#include <nri/text.h>
#include <nri/update.h>
#include <nri/version.h>

#endif
