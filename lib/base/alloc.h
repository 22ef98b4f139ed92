/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator hook as the rooms use it. The only place in libnri that calls malloc and its kin is
 * alloc.c.
 */
#ifndef NRI_BASE_ALLOC_H
#define NRI_BASE_ALLOC_H

#include <nri/alloc.h>

/* A resolved allocator: all functions set. Copied by value into each handle. */
struct nri_alloc {
    void *user;
    void *(*allocate)(size_t bytes, void *user);
    void *(*resize)(void *block, size_t bytes, void *user);
    void (*release)(void *block, void *user);
};

/* Takes a caller's allocator, or the C library's for NULL or an all-zero one. Returns NRI_E_ABI or
 * NRI_E_INVALID (only some functions set). */
int nri_alloc_resolve(struct nri_alloc *alloc, const struct nri_allocator *from);

void *nri_alloc_raw(const struct nri_alloc *alloc,
                    size_t bytes); /* uninitialised; NULL when out of memory; 0 bytes gives 1 */
void *nri_alloc_zero(const struct nri_alloc *alloc, size_t bytes); /* zeroed */
void *nri_alloc_resize(const struct nri_alloc *alloc, void *block, size_t bytes);
void nri_alloc_release(const struct nri_alloc *alloc, void *block); /* NULL is ignored */
char *nri_alloc_text(const struct nri_alloc *alloc, const char *text,
                     size_t length); /* a NUL-terminated copy */

#endif
