/* SPDX-License-Identifier: Apache-2.0 */
#include "base/buf.h"

#include <string.h>

#include <nri/error.h>

#define FIRST_CAPACITY 512

void nri_buf_init(struct nri_buf *buf, const struct nri_alloc *alloc, size_t limit)
{
    *buf = (struct nri_buf){.alloc = *alloc, .limit = limit};
}

void nri_buf_fini(struct nri_buf *buf)
{
    nri_alloc_release(&buf->alloc, buf->data);
    buf->data = NULL;
    buf->start = buf->end = buf->capacity = 0;
}

/*
 * A quarter beyond the limit: a full buffer that gives and takes a few bytes at a time then moves
 * its bytes once in a quarter of the limit, and not each time.
 */
static size_t largest_capacity(const struct nri_buf *buf)
{
    return buf->limit > SIZE_MAX - buf->limit / 4 ? SIZE_MAX : buf->limit + buf->limit / 4;
}

static int grow(struct nri_buf *buf, size_t needed)
{
    size_t largest = largest_capacity(buf);
    size_t capacity = FIRST_CAPACITY;
    while (capacity <= buf->capacity || capacity < needed)
        capacity = capacity > SIZE_MAX / 2 ? SIZE_MAX : capacity * 2;
    if (capacity > largest)
        capacity = largest;
    /* A new block rather than a resized one: the consumed bytes in front need no copying. */
    uint8_t *data = nri_alloc_raw(&buf->alloc, capacity);
    if (data == NULL)
        return NRI_E_NOMEM;
    size_t size = nri_buf_size(buf);
    if (size != 0)
        memcpy(data, buf->data + buf->start, size);
    nri_alloc_release(&buf->alloc, buf->data);
    buf->data = data;
    buf->start = 0;
    buf->end = size;
    buf->capacity = capacity;
    return 0;
}

int nri_buf_reserve(struct nri_buf *buf, size_t bytes, uint8_t **room)
{
    size_t size = nri_buf_size(buf);
    if (bytes > buf->limit - size)
        return NRI_E_LIMIT;
    if (bytes > buf->capacity - buf->end || buf->data == NULL) {
        bool fits = buf->data != NULL && bytes <= buf->capacity - size;
        /* Moving pays when at least as much was consumed as is moved, or when there is no larger
         * memory to be had. */
        if (fits && (buf->start >= size || buf->capacity >= largest_capacity(buf))) {
            memmove(buf->data, buf->data + buf->start, size);
            buf->start = 0;
            buf->end = size;
        } else {
            int rc = grow(buf, size + bytes);
            if (rc != 0)
                return rc;
        }
    }
    *room = buf->data + buf->end;
    return 0;
}

void nri_buf_commit(struct nri_buf *buf, size_t bytes)
{
    buf->end += bytes;
}

int nri_buf_append(struct nri_buf *buf, const void *bytes, size_t count)
{
    uint8_t *room;
    if (count == 0)
        return 0;
    int rc = nri_buf_reserve(buf, count, &room);
    if (rc != 0)
        return rc;
    memcpy(room, bytes, count);
    buf->end += count;
    return 0;
}

void nri_buf_consume(struct nri_buf *buf, size_t bytes)
{
    buf->start += bytes;
    if (buf->start >= buf->end)
        buf->start = buf->end = 0;
}

void nri_buf_reset(struct nri_buf *buf, size_t keep)
{
    buf->start = buf->end = 0;
    if (buf->capacity > keep) {
        nri_alloc_release(&buf->alloc, buf->data);
        buf->data = NULL;
        buf->capacity = 0;
    }
}
