/* SPDX-License-Identifier: Apache-2.0 */
/* The resource limits of a container or an adjustment. */
#ifndef NRI_MODEL_RLIMIT_H
#define NRI_MODEL_RLIMIT_H

#include <stdbool.h>

#include "proto/nri.pb-c.h"

struct nri_rlimits {
    Nri__Pkg__Api__V1alpha1__POSIXRlimit *const *list;
    size_t count;
};

/* As nri_container_rlimit_at() and nri_container_rlimit(). */
bool nri_rlimits_at(struct nri_rlimits rlimits, size_t index, const char **type, uint64_t *hard,
                    uint64_t *soft);
bool nri_rlimits_find(struct nri_rlimits rlimits, const char *type, uint64_t *hard, uint64_t *soft);

#endif
