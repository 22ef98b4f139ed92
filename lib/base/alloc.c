/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#include "base/abi.h"

NRI_ABI_ASSERT(struct nri_allocator);

static void *libc_allocate(size_t bytes, void *user)
{
    (void)user;
    return malloc(bytes);
}

static void *libc_resize(void *block, size_t bytes, void *user)
{
    (void)user;
    return realloc(block, bytes);
}

static void libc_release(void *block, void *user)
{
    (void)user;
    free(block);
}

void nri_allocator_init(struct nri_allocator *allocator, size_t size)
{
    /* All functions NULL means the C library's, so there is nothing to set but the size. */
    nri_abi_init(allocator, size);
}

static bool is_default(const struct nri_allocator *from)
{
    return from->allocate == NULL && from->resize == NULL && from->release == NULL;
}

int nri_alloc_resolve(struct nri_alloc *alloc, const struct nri_allocator *from)
{
    struct nri_allocator known = {.size = sizeof known};
    /* An allocator that nobody touched is a member of zeroed options: its size may be zero too. */
    if (from != NULL && !(from->size == 0 && from->user == NULL && is_default(from))) {
        int rc = nri_abi_take(&known, sizeof known, sizeof known, from, "nri_allocator", NULL);
        if (rc != 0)
            return rc;
        if (!nri_abi_is_zero(known.reserved, sizeof known.reserved))
            return NRI_E_ABI;
    }
    if (is_default(&known)) {
        *alloc = (struct nri_alloc){NULL, libc_allocate, libc_resize, libc_release};
        return 0;
    }
    if (known.allocate == NULL || known.resize == NULL || known.release == NULL)
        return NRI_E_INVALID;
    *alloc = (struct nri_alloc){known.user, known.allocate, known.resize, known.release};
    return 0;
}

void *nri_alloc_raw(const struct nri_alloc *alloc, size_t bytes)
{
    return alloc->allocate(bytes == 0 ? 1 : bytes, alloc->user);
}

void *nri_alloc_zero(const struct nri_alloc *alloc, size_t bytes)
{
    void *block = nri_alloc_raw(alloc, bytes);
    if (block != NULL)
        memset(block, 0, bytes == 0 ? 1 : bytes);
    return block;
}

void *nri_alloc_resize(const struct nri_alloc *alloc, void *block, size_t bytes)
{
    return alloc->resize(block, bytes == 0 ? 1 : bytes, alloc->user);
}

void nri_alloc_release(const struct nri_alloc *alloc, void *block)
{
    if (block != NULL)
        alloc->release(block, alloc->user);
}

char *nri_alloc_text(const struct nri_alloc *alloc, const char *text, size_t length)
{
    if (length == SIZE_MAX)
        return NULL;
    char *copy = nri_alloc_raw(alloc, length + 1);
    if (copy == NULL)
        return NULL;
    if (length != 0)
        memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}
