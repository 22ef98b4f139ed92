/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A reference count that threads share.
 */
#ifndef NRI_BASE_REFCOUNT_H
#define NRI_BASE_REFCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct nri_refcount {
    _Atomic uint32_t count;
};

/* The creator holds the first reference. */
static inline void nri_refcount_init(struct nri_refcount *refcount)
{
    atomic_init(&refcount->count, 1);
}

/* Relaxed: who takes a reference holds one already, and got the object with it; nothing is
 * published by the count itself. */
static inline void nri_refcount_ref(struct nri_refcount *refcount)
{
    atomic_fetch_add_explicit(&refcount->count, 1, memory_order_relaxed);
}

/*
 * Returns whether this was the last reference. Release: what this thread wrote to the object
 * happens before its end. Acquire: whoever ends it sees what all others wrote. One acq_rel
 * operation rather than a fence, because ThreadSanitizer knows no fences.
 */
static inline bool nri_refcount_unref(struct nri_refcount *refcount)
{
    return atomic_fetch_sub_explicit(&refcount->count, 1, memory_order_acq_rel) == 1;
}

#endif
