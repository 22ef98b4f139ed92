/* SPDX-License-Identifier: Apache-2.0 */
/* The hooks of a container or an adjustment; NULL hooks are none. */
#ifndef NRI_MODEL_HOOK_H
#define NRI_MODEL_HOOK_H

#include <nri/hook.h>

#include "proto/nri.pb-c.h"

size_t nri_hooks_count(const Nri__Pkg__Api__V1alpha1__Hooks *hooks, enum nri_hook_stage stage);
/* An empty one past the end; never NULL. */
const nri_hook *nri_hooks_at(const Nri__Pkg__Api__V1alpha1__Hooks *hooks, enum nri_hook_stage stage,
                             size_t index);

#endif
