/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The C library's memory, in the form that libnri's rooms take.
 */
#ifndef NRICTL_MEMORY_H
#define NRICTL_MEMORY_H

#include "base/alloc.h"
#include "base/arena.h"
#include "base/buf.h"

void memory_arena(struct nri_arena *arena, size_t limit);
void memory_buf(struct nri_buf *buf, size_t limit);
static inline const char *memory_text(const struct nri_buf *buf)
{
    return (const char *)buf->data + buf->start;
}

#endif
