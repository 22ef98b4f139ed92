/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the rooms below need of lib/model beyond its public headers.
 *
 * A reader is the decoded message itself: `const nri_pod *` points to a PodSandbox message of
 * proto/nri.pb-c.h, `const nri_container *` to a Container, `const nri_mount *` to a Mount, `const
 * nri_resources *` to LinuxResources. Only lib/model casts, so a later reader that decodes lazily
 * changes this file and lib/model, not its callers.
 */
#ifndef NRI_MODEL_MODEL_H
#define NRI_MODEL_MODEL_H

#include <nri/adjustment.h>
#include <nri/adjustment_read.h>
#include <nri/container.h>
#include <nri/container_build.h>
#include <nri/event.h>
#include <nri/feature.h>
#include <nri/field.h>
#include <nri/pod.h>
#include <nri/pod_build.h>
#include <nri/resources.h>
#include <nri/text.h>
#include <nri/update.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/host.h"
#include "proto/nri.pb-c.h"

/* NULL gives the empty object. */
const nri_pod *nri_pod_view(const Nri__Pkg__Api__V1alpha1__PodSandbox *message);
const nri_container *nri_container_view(const Nri__Pkg__Api__V1alpha1__Container *message);
const nri_resources *nri_resources_view(const Nri__Pkg__Api__V1alpha1__LinuxResources *message);
const nri_mount *nri_mount_view(const Nri__Pkg__Api__V1alpha1__Mount *message);
const nri_hook *nri_hook_view(const Nri__Pkg__Api__V1alpha1__Hook *message);
const nri_device *nri_device_view(const Nri__Pkg__Api__V1alpha1__LinuxDevice *message);
const nri_device_rule *
nri_device_rule_view(const Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup *message);
const nri_seccomp *nri_seccomp_view(const Nri__Pkg__Api__V1alpha1__LinuxSeccomp *message);
const nri_syscall *nri_syscall_view(const Nri__Pkg__Api__V1alpha1__LinuxSyscall *message);
const nri_scheduler *nri_scheduler_view(const Nri__Pkg__Api__V1alpha1__LinuxScheduler *message);
const nri_rdt *nri_rdt_view(const Nri__Pkg__Api__V1alpha1__LinuxRdt *message);
const nri_memory_policy *
nri_memory_policy_view(const Nri__Pkg__Api__V1alpha1__LinuxMemoryPolicy *message);

/* A message that can only be read, as an adjustment: every change fails with `blocked`. `message`
 * may be NULL and must live in `arena` or as long. NULL when there is no memory. */
nri_adjustment *nri_adjustment_view(struct nri_arena *arena,
                                    const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *message,
                                    int blocked, const char *blocked_text);
/* The same for updates. */
nri_updates *nri_updates_view(struct nri_arena *arena,
                              Nri__Pkg__Api__V1alpha1__ContainerUpdate *const *list, size_t count,
                              int blocked, const char *blocked_text);

/* The same, with evictions. Peers choose the container ids, and these are hashed: the seed is the
 * host's secret. */
nri_updates *nri_updates_view_all(struct nri_arena *arena, const uint64_t seed[2],
                                  Nri__Pkg__Api__V1alpha1__ContainerUpdate *const *list,
                                  size_t count,
                                  Nri__Pkg__Api__V1alpha1__ContainerEviction *const *evictions,
                                  size_t eviction_count, int blocked, const char *blocked_text);

/* ---- builders: in a request's arena, or in one of their own (nri_updates_new()) ---- */

/*
 * Makes an adjustment in an arena. NULL when there is no memory. `blocked` 0, or the code that
 * every call fails with, and `blocked_text` its text (a static text such as "StartContainer has no
 * adjustment").
 */
nri_adjustment *nri_adjustment_make(struct nri_arena *arena, const uint64_t seed[2], int blocked,
                                    const char *blocked_text);
/* What a node is to have in the container; NULL is what the device has on the host. */
struct nri_node_rights {
    const uint32_t *file_mode, *uid, *gid;
};
/* What nri_adjustment_inject_device_as() does, with a function that looks at the host's devices:
 * lib/io has the system's. */
int nri_adjustment_inject(nri_adjustment *adjustment, const char *host_path, const char *path,
                          const char *access, const struct nri_node_rights *rights,
                          nri_host_look look, void *context);
/* What only the whole can tell: 0, or the failed call (a seccomp policy without default action).
 * Called before nri_adjustment_message() is sent. */
int nri_adjustment_check(nri_adjustment *adjustment);
/* After the reply: every further call fails with NRI_E_STATE. Idempotent; NULL is ignored. */
void nri_adjustment_seal(nri_adjustment *adjustment);
/* The message to pack; NULL when nothing was set (the reply then carries no adjustment at all).
 * Putting it together costs a step an item, once after a change. */
const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *
nri_adjustment_message(const nri_adjustment *adjustment);
/* Whether a runtime that does not act on a feature of adjustments refuses the container for it,
 * rather than to ignore it: what its NRI does not know it never sees. */
bool nri_feature_refused(const char *runtime_name, const char *nri_version,
                         enum nri_feature feature);
/* Bits (1 << feature) of what was used. */
uint64_t nri_adjustment_features(const nri_adjustment *adjustment);
/* Where an adjustment goes. */
struct nri_feature_place {
    const char *runtime_name, *runtime_version, *nri_version;
    bool strict; /* what is known to be ignored is an error */
};
/*
 * Finds a feature that the adjustment uses and the runtime ignores, or may ignore when its NRI
 * version says nothing, and says so in `error`: with code 0 when that is only to be said. Features
 * in *settled are left out, and what was looked at is added to it unless it is an error; so the
 * next call finds the next. False when there is none left. A pointer, so that a program that builds
 * nothing that could be ignored need not hold that code.
 */
typedef bool (*nri_feature_check)(const nri_adjustment *adjustment,
                                  const struct nri_feature_place *place, uint64_t *settled,
                                  struct nri_error *error);
/* NULL when nothing was built that is not settled, or only what no runtime silently ignores:
 * annotations, mounts and variables. (Docker refuses annotations by itself, and says so.) Looks at
 * the calls alone, so that a request costs no more. */
nri_feature_check nri_adjustment_feature_check(const nri_adjustment *adjustment, uint64_t settled);

nri_updates *nri_updates_make(struct nri_arena *arena, const uint64_t seed[2],
                              bool evictions_allowed, int blocked, const char *blocked_text);
void nri_updates_seal(nri_updates *updates);
/* The lists to put into a response or an UpdateContainersRequest; without the updates that set
 * nothing. */
size_t nri_updates_messages(const nri_updates *updates,
                            Nri__Pkg__Api__V1alpha1__ContainerUpdate ***list);
size_t nri_updates_evictions(const nri_updates *updates,
                             Nri__Pkg__Api__V1alpha1__ContainerEviction ***list);

/* ---- identity (NRI's rules) ---- */

/* Whether a plugin's name and index are right: NRI_E_INVALID with a text that names the value and
 * the rule. */
int nri_identity_check_name(const char *name, struct nri_error *error);
int nri_identity_check_index(const char *index, struct nri_error *error);
/* Splits a program's name "path/NN-name" (the base name counts): *index to 2 bytes in `index_out`,
 * name to a pointer into `program`. False when it has no such form; then the whole base name is
 * *name. */
bool nri_identity_from_program(const char *program, char index_out[3], const char **name);

/* "0.10.0", "v0.8", "0.12.2-rc1" -> numbers. False when it is no version. */
bool nri_version_parse(const char *text, unsigned number[3]);
/* The NRI version that counts: the one that the runtime told, or, where it told none that says
 * anything, the one that is inferred. NULL when neither is known. */
const char *nri_version_of(const char *told, const char *runtime_name, const char *runtime_version);

#endif
