/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the options of all handles have: numbers, of which 0 stands for the default and anything
 * else must be within bounds, and an allocator.
 */
#ifndef NRI_IO_LIMIT_H
#define NRI_IO_LIMIT_H

#include "base/error.h"

#define NRI_KIB          UINT64_C(1024)
#define NRI_MIB          (NRI_KIB * NRI_KIB)
#define NRI_GIB          (NRI_KIB * NRI_MIB)
#define NRI_LONGEST_MS   UINT64_C(86400000) /* a day */
#define NRI_LARGEST_SEND (16 * NRI_MIB)     /* no peer reads more */

struct nri_limit {
    const char *name;
    uint64_t given, fallback, least, most;
    uint64_t value; /* out */
};

/* What is queued must have room for the largest message. NRI_E_RANGE. */
int nri_limits_check_output(uint64_t max_output, uint64_t max_send, struct nri_error *error);
/* The allocator of options. NRI_E_ABI, NRI_E_INVALID: *alloc is left alone. */
int nri_option_allocator(struct nri_alloc *alloc, const struct nri_allocator *given,
                         struct nri_error *error);
/* Sets all values. NRI_E_RANGE for the first that is out of its bounds. */
int nri_limits_check(struct nri_limit *limits, size_t count, struct nri_error *error);

#endif
