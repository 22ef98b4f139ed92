/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/array.h"

#include <string.h>

#include "base/error.h"

void *nri_array_grow(struct nri_arena *arena, const void *array, size_t count, size_t more,
                     size_t size)
{
    const size_t doubled = 2 * nri_array_capacity(array);
    const size_t capacity = count + more > doubled ? count + more : doubled;
    const size_t header = sizeof(struct nri_array_header);
    if (capacity > (SIZE_MAX - header) / size) {
        arena->failure = NRI_E_LIMIT;
        return NULL;
    }
    struct nri_array_header *grown = nri_arena_alloc(arena, header + capacity * size);
    if (grown == NULL) {
        return NULL;
    }
    grown->capacity = capacity;
    if (count > 0) {
        memcpy(grown + 1, array, count * size);
    }
    return grown + 1;
}
