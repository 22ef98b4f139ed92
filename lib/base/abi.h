/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The check of sized input structures: smaller than ours is accepted down to the first version's
 * size, larger only when the tail that we don't know is all zero.
 */
#ifndef NRI_BASE_ABI_H
#define NRI_BASE_ABI_H

#include "base/error.h"

/*
 * Copies a caller's structure into `known` (`known_size` bytes, the rest zeroed). The first member
 * of both is the size. `first_size` is the size in the version that introduced the structure.
 * `name` is for the error text, which names both sizes. `from` NULL gives all zeros but the size.
 * Returns 0 or NRI_E_ABI.
 */
int nri_abi_take(void *known, size_t known_size, size_t first_size, const void *from,
                 const char *name, struct nri_error *error);
/* Whether all bytes are zero: for reserved members. */
bool nri_abi_is_zero(const void *bytes, size_t count);
/* For nri_X_init(): zeroes `size` bytes at `object` and writes the size. NULL and sizes below
 * sizeof(size_t) are ignored. */
void nri_abi_init(void *object, size_t size);

/* Asserts that a public structure has no odd size. Put next to the structure's users. */
#define NRI_ABI_ASSERT(type)                                                                       \
    _Static_assert(sizeof(type) % 8 == 0, #type ": size must be a multiple of 8")

#endif
