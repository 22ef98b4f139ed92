/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The seeded hash of maps and of JSON objects: whoever does not know the seed cannot choose keys
 * that collide.
 */
#ifndef NRI_BASE_HASH_H
#define NRI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* SipHash-2-4 with `seed` as its key. `bytes` may be NULL when `length` is 0. */
uint64_t nri_hash(const uint64_t seed[2], const void *bytes, size_t length);

#endif
