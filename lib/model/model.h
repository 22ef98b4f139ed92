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

/* ---- builders: in a request's arena, or in one of their own (nri_updates_new()) ---- */

/*
 * Makes an adjustment in an arena. NULL when there is no memory. `blocked` 0, or the code that
 * every call fails with, and `blocked_text` its text (a static text such as "StartContainer has no
 * adjustment").
 */
nri_adjustment *nri_adjustment_make(struct nri_arena *arena, const uint64_t seed[2], int blocked,
                                    const char *blocked_text);
/* The host whose devices nri_adjustment_inject_device() injects; without one that call fails with
 * NRI_E_STATE. Must outlive the adjustment. */
void nri_adjustment_set_host(nri_adjustment *adjustment, const struct nri_host *host);
/* What only the whole can tell: 0, or the failed call (a seccomp policy without default action).
 * Called before nri_adjustment_message() is sent. */
int nri_adjustment_check(nri_adjustment *adjustment);
/* After the reply: every further call fails with NRI_E_STATE. Idempotent; NULL is ignored. */
void nri_adjustment_seal(nri_adjustment *adjustment);
/* The message to pack; NULL when nothing was set (the reply then carries no adjustment at all).
 * Putting it together costs a step an item, once after a change. */
const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *
nri_adjustment_message(const nri_adjustment *adjustment);
/* Bits (1 << feature) of what was used: for the check against the runtime. */
uint64_t nri_adjustment_features(const nri_adjustment *adjustment);

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

#endif
