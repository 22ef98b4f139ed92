/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The arrays of repeated fields while they are decoded. The capacity stands in front of the
 * elements, so that a message can be decoded into again and again (merging) with no table beside
 * it.
 */
#ifndef NRI_WIRE_ARRAY_H
#define NRI_WIRE_ARRAY_H

#include <stdalign.h>
#include <string.h>

#include "base/arena.h"

struct nri_array_header {
    alignas(max_align_t) size_t capacity;
};

/* `array` is NULL or comes from nri_array_grow(). */
static inline size_t nri_array_capacity(const void *array)
{
    return array == NULL ? 0 : ((const struct nri_array_header *)array)[-1].capacity;
}

/* A new array: the `count` elements of `size` bytes copied, with room for `more`, and for twice the
 * capacity, so that growing costs time in proportion to the elements. NULL with arena->failure set.
 */
static inline void *nri_array_grow(struct nri_arena *arena, const void *array, size_t count,
                                   size_t more, size_t size)
{
    const size_t doubled = array == NULL ? 8 : 2 * nri_array_capacity(array);
    const size_t capacity = count + more > doubled ? count + more : doubled;
    const size_t header = sizeof(struct nri_array_header);
    /* SIZE_MAX bytes are no arena's. Elements have at most 32 bytes. */
    const size_t bytes = capacity > SIZE_MAX / 64 ? SIZE_MAX : header + capacity * size;
    struct nri_array_header *grown = nri_arena_alloc(arena, bytes);
    if (grown == NULL) {
        return NULL;
    }
    grown->capacity = capacity;
    if (count > 0) {
        memcpy(grown + 1, array, count * size);
    }
    return grown + 1;
}

#endif
