/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that come as text: cpusets and quantities. Their readers tell what is wrong without a text
 * of their own, because whoever asked names the value: `cpuset "0-"`, `annotation "KEY": "0-"`.
 */
#ifndef NRI_MODEL_VALUE_FAULT_H
#define NRI_MODEL_VALUE_FAULT_H

#include <nri/cpuset.h>

#include "base/error.h"

struct nri_value_fault {
    int code;
    const char *rule; /* what would be right; static */
    size_t offset;    /* where it is wrong; SIZE_MAX: the value as a whole */
};

/* Returns `code`, which goes to the fault with the rest. */
int nri_value_fault_set(struct nri_value_fault *fault, int code, const char *rule, size_t offset);
/* Writes the error `NAME "TEXT": wrong at offset N: RULE`, and returns its code. */
int nri_value_fault_describe(const struct nri_value_fault *fault, const char *name,
                             const char *text, struct nri_error *error);
/* Hands an error to the caller of a public function, and returns the code to return: NRI_E_NOMEM
 * when there was no memory for the error's copy. `error` may be NULL. */
int nri_value_fault_return(const struct nri_error *why, const struct nri_alloc *alloc,
                           nri_error **error);

/* nri_cpuset_parse(); none of the arguments is NULL. */
int nri_cpuset_read(nri_cpuset *set, const char *list, struct nri_value_fault *fault);
/* nri_quantity_parse() and, with `milli`, nri_quantity_parse_milli(); none is NULL. */
int nri_quantity_read(const char *text, bool milli, int64_t *value, struct nri_value_fault *fault);

#endif
