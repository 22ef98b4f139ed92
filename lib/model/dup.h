/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies of pods and containers that outlive their request, for rooms that have a resolved
 * allocator. nri_pod_free() and nri_container_free() free them too.
 */
#ifndef NRI_MODEL_DUP_H
#define NRI_MODEL_DUP_H

#include "model/model.h"

/* 0 or NRI_E_NOMEM. */
int nri_pod_dup_with(const nri_pod *pod, const struct nri_alloc *alloc, nri_pod **copy);
int nri_container_dup_with(const nri_container *container, const struct nri_alloc *alloc,
                           nri_container **copy);

#endif
