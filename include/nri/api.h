/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Linkage macros and the opaque types that the other headers share.
 *
 * Every public header is clean under C99 and C++ and needs no header of a dependency: no generated
 * protobuf type, no libuv type. Input structures start with their own size and may grow at the end
 * (see nri_X_init() of each); everything else is opaque.
 */
#ifndef NRI_API_H
#define NRI_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__) || defined(__clang__)
#define NRI_API         __attribute__((visibility("default")))
#define NRI_WARN_UNUSED __attribute__((warn_unused_result))
#else
#define NRI_API
#define NRI_WARN_UNUSED
#endif

#ifdef __cplusplus
#define NRI_BEGIN_DECLS extern "C" {
#define NRI_END_DECLS   }
#else
#define NRI_BEGIN_DECLS
#define NRI_END_DECLS
#endif

NRI_BEGIN_DECLS

/** One plugin: the handle of everything in nri/plugin.h. Since 0.1.0. */
typedef struct nri_plugin nri_plugin;
/** One request of the runtime, handed to a handler; see nri/request.h. Since 0.1.0. */
typedef struct nri_request nri_request;
/** An error with its text; see nri/error.h. Since 0.1.0. */
typedef struct nri_error nri_error;
/** A pod sandbox as the runtime described it (NRI PodSandbox); see nri/pod.h. Since 0.1.0. */
typedef struct nri_pod nri_pod;
/** A container as the runtime described it (NRI Container); see nri/container.h. Since 0.1.0. */
typedef struct nri_container nri_container;
/** Resources (NRI LinuxResources), read-only; see nri/resources.h. Since 0.1.0. */
typedef struct nri_resources nri_resources;
/** A mount (NRI Mount), read-only; see nri/mount.h. Since 0.1.0. */
typedef struct nri_mount nri_mount;
/** An OCI hook (NRI Hook), read-only; see nri/hook.h. Since 0.1.0. */
typedef struct nri_hook nri_hook;
/** A device node (NRI LinuxDevice), read-only; see nri/device.h. Since 0.1.0. */
typedef struct nri_device nri_device;
/** A rule of the device cgroup (NRI LinuxDeviceCgroup), read-only; see nri/device.h. Since 0.1.0.
 */
typedef struct nri_device_rule nri_device_rule;
/** A seccomp policy (NRI LinuxSeccomp), a reader and a builder; see nri/seccomp.h. Since 0.1.0. */
typedef struct nri_seccomp nri_seccomp;
/** One rule of a seccomp policy (NRI LinuxSyscall), read-only; see nri/seccomp.h. Since 0.1.0. */
typedef struct nri_syscall nri_syscall;
/** Scheduler attributes (NRI LinuxScheduler), read-only; see nri/scheduler.h. Since 0.1.0. */
typedef struct nri_scheduler nri_scheduler;
/** Resource director technology (NRI LinuxRdt), read-only; see nri/rdt.h. Since 0.1.0. */
typedef struct nri_rdt nri_rdt;
/** A memory policy (NRI LinuxMemoryPolicy), read-only; see nri/memory_policy.h. Since 0.1.0. */
typedef struct nri_memory_policy nri_memory_policy;
/** A set of CPUs or memory nodes; see nri/cpuset.h. Since 0.1.0. */
typedef struct nri_cpuset nri_cpuset;
/** A JSON document; see nri/document.h. Since 0.1.0. */
typedef struct nri_document nri_document;
/** One value of a JSON document; see nri/document.h. Since 0.1.0. */
typedef struct nri_value nri_value;
/** The change of a container at its creation (NRI ContainerAdjustment), a builder; see
 * nri/adjustment.h. Since 0.1.0. */
typedef struct nri_adjustment nri_adjustment;
/** A list of updates of existing containers, a builder; see nri/update.h. Since 0.1.0. */
typedef struct nri_updates nri_updates;
/** One update of one container (NRI ContainerUpdate), a builder; see nri/update.h. Since 0.1.0. */
typedef struct nri_update nri_update;
/** What became of an unsolicited update, read-only; see nri/update.h. Since 0.1.0. */
typedef struct nri_update_result nri_update_result;
/** A state cache; see nri/state.h. Since 0.1.0. */
typedef struct nri_state nri_state;
/** The runtime side: the handle of everything in nri/runtime.h. Since 0.1.0. */
typedef struct nri_runtime nri_runtime;
/** What became of an event; see nri/outcome.h. Since 0.1.0. */
typedef struct nri_outcome nri_outcome;
/** One record for the log sink; see nri/log.h. Since 0.1.0. */
typedef struct nri_log_record nri_log_record;

NRI_END_DECLS

#endif
