/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An allocator for tests: it counts what is live, poisons what is new and what is gone, ends the
 * program at a double free, a foreign free or a write behind a block, and can fail the n-th
 * allocation.
 *
 * A sweep: for (n = 1;; n++) { arm(n); run; check that nothing is live; if (!fired) break; }
 */
#ifndef NRI_TESTS_FAIL_ALLOC_H
#define NRI_TESTS_FAIL_ALLOC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <nri/alloc.h>

#include "base/alloc.h"

/* The counters may be read as plain members, from any thread. */
struct fail_alloc {
    atomic_size_t live_blocks, live_bytes;
    atomic_size_t peak_bytes; /* the most that was ever live */
    atomic_size_t calls;      /* allocations and resizes so far, failed ones too */
    atomic_size_t fail_at;    /* the value of `calls` that fails; 0: none */
    atomic_size_t left;       /* so many more succeed, then none; SIZE_MAX: all */
    atomic_bool fired;        /* an allocation was made to fail since the last arming */
};

/* `out` may be NULL. `fa` must outlive every block. */
void fail_alloc_init(struct fail_alloc *fa, struct nri_allocator *out);
/* The n-th allocation or resize from now fails, and only that one; 0: none. Forgets `fired`. */
void fail_alloc_arm(struct fail_alloc *fa, size_t n);
/* After n more allocations and resizes there is no memory; SIZE_MAX: there is again. */
void fail_alloc_end_after(struct fail_alloc *fa, size_t n);
/* The same allocator as the rooms take it. */
struct nri_alloc fail_alloc_resolved(struct fail_alloc *fa);

#endif
