/* SPDX-License-Identifier: Apache-2.0 */
#include "fail_alloc.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In front of each block. The mark depends on the owner and the address, so that nothing else looks
 * like it. */
struct head {
    _Alignas(max_align_t) uintptr_t mark;
    size_t bytes;
};

#define LARGEST                                                                                    \
    ((size_t)1                                                                                     \
     << 31) /* beyond is "out of memory": sanitizers end the program where malloc() says no */
#define LIVE       ((uintptr_t)0x6c697665)
#define GONE       ((uintptr_t)0x676f6e65)
#define FENCE      16 /* bytes behind a block that must stay as they are */
#define FENCE_BYTE 0xFE
#define NEW_BYTE   0xAA
#define GONE_BYTE  0xDD

static uintptr_t mark_of(const struct fail_alloc *fa, uintptr_t head, uintptr_t kind)
{
    return (uintptr_t)fa ^ head ^ kind;
}

/* A damaged heap leaves nothing that a test could go on with, and this may not be the thread that
 * may assert. */
static _Noreturn void die(const char *what, const void *block)
{
    fprintf(stderr, "fail_alloc: %s (block %p)\n", what, block);
    abort();
}

static struct head *check(struct fail_alloc *fa, void *block)
{
    struct head *head = (struct head *)block - 1;
    if (head->mark == mark_of(fa, (uintptr_t)head, GONE))
        die("released twice", block);
    if (head->mark != mark_of(fa, (uintptr_t)head, LIVE))
        die("released, but not from this allocator", block);
    const uint8_t *fence = (const uint8_t *)block + head->bytes;
    for (size_t i = 0; i < FENCE; i++) {
        if (fence[i] != FENCE_BYTE)
            die("written behind its end", block);
    }
    return head;
}

static bool must_fail(struct fail_alloc *fa)
{
    size_t call = atomic_fetch_add(&fa->calls, 1) + 1;
    size_t left = atomic_load(&fa->left);
    if (left != 0 && call != atomic_load(&fa->fail_at)) {
        if (left != SIZE_MAX)
            atomic_fetch_sub(&fa->left, 1);
        return false;
    }
    atomic_store(&fa->fired, true);
    return true;
}

static void count_in(struct fail_alloc *fa, size_t bytes)
{
    atomic_fetch_add(&fa->live_blocks, 1);
    size_t live = atomic_fetch_add(&fa->live_bytes, bytes) + bytes;
    size_t peak = atomic_load(&fa->peak_bytes);
    while (live > peak && !atomic_compare_exchange_weak(&fa->peak_bytes, &peak, live))
        ;
}

static void *make_block(struct fail_alloc *fa, size_t bytes)
{
    if (bytes == 0)
        die("asked for 0 bytes", NULL);
    if (bytes > LARGEST)
        return NULL;
    struct head *head = malloc(sizeof *head + bytes + FENCE);
    if (head == NULL)
        return NULL;
    head->mark = mark_of(fa, (uintptr_t)head, LIVE);
    head->bytes = bytes;
    memset(head + 1, NEW_BYTE, bytes);
    memset((uint8_t *)(head + 1) + bytes, FENCE_BYTE, FENCE);
    count_in(fa, bytes);
    return head + 1;
}

static void *fail_alloc_allocate(size_t bytes, void *user)
{
    struct fail_alloc *fa = user;
    return must_fail(fa) ? NULL : make_block(fa, bytes);
}

static void fail_alloc_release(void *block, void *user)
{
    struct fail_alloc *fa = user;
    if (block == NULL)
        return;
    struct head *head = check(fa, block);
    atomic_fetch_sub(&fa->live_blocks, 1);
    atomic_fetch_sub(&fa->live_bytes, head->bytes);
    memset(block, GONE_BYTE, head->bytes);
    head->mark = mark_of(fa, (uintptr_t)head, GONE);
    free(head);
}

/* Always moves, so that a stale pointer to the old block is found out. */
static void *fail_alloc_resize(void *block, size_t bytes, void *user)
{
    struct fail_alloc *fa = user;
    if (must_fail(fa))
        return NULL;
    void *copy = make_block(fa, bytes);
    if (copy == NULL || block == NULL)
        return copy;
    size_t old = check(fa, block)->bytes;
    memcpy(copy, block, old < bytes ? old : bytes);
    fail_alloc_release(block, fa);
    return copy;
}

void fail_alloc_init(struct fail_alloc *fa, struct nri_allocator *out)
{
    atomic_init(&fa->live_blocks, 0);
    atomic_init(&fa->live_bytes, 0);
    atomic_init(&fa->peak_bytes, 0);
    atomic_init(&fa->calls, 0);
    atomic_init(&fa->fail_at, 0);
    atomic_init(&fa->left, SIZE_MAX);
    atomic_init(&fa->fired, false);
    if (out == NULL)
        return;
    nri_allocator_init(out, sizeof *out);
    out->user = fa;
    out->allocate = fail_alloc_allocate;
    out->resize = fail_alloc_resize;
    out->release = fail_alloc_release;
}

void fail_alloc_arm(struct fail_alloc *fa, size_t n)
{
    atomic_store(&fa->fired, false);
    atomic_store(&fa->fail_at, n == 0 ? 0 : atomic_load(&fa->calls) + n);
}

void fail_alloc_end_after(struct fail_alloc *fa, size_t n)
{
    atomic_store(&fa->left, n);
}

struct nri_alloc fail_alloc_resolved(struct fail_alloc *fa)
{
    return (struct nri_alloc){fa, fail_alloc_allocate, fail_alloc_resize, fail_alloc_release};
}
