/* SPDX-License-Identifier: Apache-2.0 */
#include "memory.h"

/* The C library's own functions are never refused. */
static void resolve(struct nri_alloc *alloc)
{
    (void)nri_alloc_resolve(alloc, NULL);
}

void memory_arena(struct nri_arena *arena, size_t limit)
{
    struct nri_alloc alloc;
    resolve(&alloc);
    nri_arena_init(arena, &alloc, 0, limit);
}

void memory_buf(struct nri_buf *buf, size_t limit)
{
    struct nri_alloc alloc;
    resolve(&alloc);
    nri_buf_init(buf, &alloc, limit);
}
