/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arrays of repeated fields while they are decoded. The capacity stands in front of the
 * elements, so that a message can be decoded into again and again (merging) with no table beside
 * it.
 */
#ifndef NRI_WIRE_ARRAY_H
#define NRI_WIRE_ARRAY_H

#include <stdalign.h>

#include "base/arena.h"

struct nri_array_header {
    alignas(max_align_t) size_t capacity;
};

/* `array` is NULL or comes from nri_array_grow(). */
static inline size_t nri_array_capacity(const void *array)
{
    return array == NULL ? 0 : ((const struct nri_array_header *)array)[-1].capacity;
}

/* A copy of the `count` elements of `size` bytes with room for `more`, or for twice the capacity,
 * so that growing costs time in proportion to the elements. NULL with arena->failure set. */
void *nri_array_grow(struct nri_arena *arena, const void *array, size_t count, size_t more,
                     size_t size);

#endif
