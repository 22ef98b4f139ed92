/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a Synchronize tells, encoded, and split into messages that peers accept: by the real size of
 * each pod sandbox and container, so that no part is too large and none is empty but the only one.
 */
#ifndef NRI_RUNTIME_PARTS_H
#define NRI_RUNTIME_PARTS_H

#include <nri/runtime.h>

#include "base/buf.h"
#include "base/error.h"

/* Shared by the plugins that are synchronised together, and counted by them. */
struct nri_parts {
    struct nri_alloc alloc;
    unsigned references;
    size_t max_part;  /* bytes of one encoded SynchronizeRequest */
    size_t max_bytes; /* of all */
    size_t bytes;
    struct nri_buf *parts;
    size_t count, room;
    size_t pods, containers;
    struct nri_error *error; /* of the first object that could not be taken; code 0: none */
};

/* nri_enumeration is this. NULL: no memory. `error` gets the first failure. */
struct nri_parts *nri_parts_new(const struct nri_alloc *alloc, size_t max_part, size_t max_bytes,
                                struct nri_error *error);
/* No more will be added: sets `more` in all parts but the last. 0, NRI_E_NOMEM. */
int nri_parts_finish(struct nri_parts *parts);
struct nri_parts *nri_parts_unref(struct nri_parts *parts); /* NULL is ignored; returns NULL */
size_t nri_parts_count(const struct nri_parts *parts);      /* at least 1 */
void nri_parts_get(const struct nri_parts *parts, size_t index, const uint8_t **bytes,
                   size_t *count);

#endif
