/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The allocator hook.
 */
#ifndef NRI_ALLOC_H
#define NRI_ALLOC_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/**
 * Where libnri gets its memory from.
 *
 * Given in the options of a handle and copied from there. All three functions must be set, or none
 * (the C library's are used then). They must be safe to call from several threads when requests are
 * completed or released on threads other than the loop's. `user` must live as long as the last
 * handle and the last request made with it.
 *
 * libuv and yajl are not covered: libuv's own allocations follow uv_replace_allocator(). Since
 * 0.1.0.
 */
struct nri_allocator {
    size_t size; /**< sizeof(struct nri_allocator) */
    void *user;  /**< handed to each function */
    /** Like malloc(): `bytes` is at least 1; NULL means out of memory. */
    void *(*allocate)(size_t bytes, void *user);
    /** Like realloc(): `block` may be NULL; NULL means out of memory and leaves `block` as it was.
     */
    void *(*resize)(void *block, size_t bytes, void *user);
    /** Like free(): `block` may be NULL. */
    void (*release)(void *block, void *user);
    void *reserved[3]; /**< must be NULL */
};

/**
 * Fills an allocator structure with its defaults (the C library's allocator).
 *
 * @param allocator the structure; NULL is ignored
 * @param size sizeof(struct nri_allocator) as the caller was compiled with it, in bytes
 *
 * Thread-safe. Since 0.1.0.
 */
NRI_API void nri_allocator_init(struct nri_allocator *allocator, size_t size);

NRI_END_DECLS

#endif
