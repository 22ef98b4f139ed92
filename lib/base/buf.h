/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A bounded byte buffer: bytes are appended at the end and consumed at the front.
 */
#ifndef NRI_BASE_BUF_H
#define NRI_BASE_BUF_H

#include "base/alloc.h"

struct nri_buf {
    struct nri_alloc alloc;
    uint8_t *data;
    size_t start, end; /* the bytes are data[start..end) */
    size_t capacity;
    size_t limit; /* end - start never exceeds this */
};

void nri_buf_init(struct nri_buf *buf, const struct nri_alloc *alloc, size_t limit);
void nri_buf_fini(struct nri_buf *buf); /* frees; the buffer may be used again */
static inline size_t nri_buf_size(const struct nri_buf *buf)
{
    return buf->end - buf->start;
}
/* Room for `bytes` more at the end, growing by doubling; *room is where. NRI_E_LIMIT, NRI_E_NOMEM.
 * Moves the bytes to the front of the memory when that makes the room. */
int nri_buf_reserve(struct nri_buf *buf, size_t bytes, uint8_t **room);
void nri_buf_commit(struct nri_buf *buf, size_t bytes); /* bytes written to the room */
int nri_buf_append(struct nri_buf *buf, const void *bytes, size_t count);
void nri_buf_consume(struct nri_buf *buf, size_t bytes);
/* Empties the buffer, and gives back memory beyond `keep` bytes of capacity. */
void nri_buf_reset(struct nri_buf *buf, size_t keep);

#endif
