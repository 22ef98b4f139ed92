/* SPDX-License-Identifier: Apache-2.0 */
/* A set of small numbers as a bitmap that grows as far as its largest number needs. */
#ifndef NRI_MODEL_CPUSET_H
#define NRI_MODEL_CPUSET_H

#include <nri/cpuset.h>

#include "base/alloc.h"

#define NRI_CPUSET_WORD_BITS 64u

struct nri_cpuset {
    struct nri_alloc alloc;
    uint64_t *words; /* NULL while `count` is 0 */
    size_t count;    /* of words; never shrinks; those behind the largest number are 0 */
};

/* Makes room for a number, without adding it. 0 or NRI_E_NOMEM. */
int nri_cpuset_reserve(nri_cpuset *set, unsigned number);
/* Adds a range that there is room for. */
void nri_cpuset_fill(nri_cpuset *set, unsigned first, unsigned last);
/* The last number of the run of numbers that starts with one that is in the set. */
unsigned nri_cpuset_run_end(const nri_cpuset *set, unsigned number);

#endif
