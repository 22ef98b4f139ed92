/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A container as an OCI configuration: what the OCI runtime would get, as far as plugins are told
 * of it, and after adjustments and updates, which lib/oci applies.
 *
 * What NRI has and OCI has not stands in a member "nri": CDI devices, and the classes of block I/O
 * and RDT, whose meaning is the runtime's. With `whole` the rest of the container is there too: id,
 * names, labels, state, image.
 */
#ifndef NRICTL_VIEW_H
#define NRICTL_VIEW_H

#include <nri/nri.h>

#include "base/arena.h"
#include "element.h"
#include "proto/nri.pb-c.h"
#include "json/json.h"

/* What views are made with. */
struct view {
    struct nri_arena *arena; /* theirs */
    uint64_t seed[2];
    bool go_compatible; /* adjustments are applied as Go's runtimes do */
};

/* The lists whose elements are looked up by their keys. */
#define VIEW_LISTS 7

struct view_document {
    struct nri_json *root;
    struct element_index *lists[VIEW_LISTS]; /* made by the first view_value() that needs one */
};

/* The codes of all: 0; NRI_E_NOMEM, NRI_E_LIMIT, NRI_E_UTF8; when applying, those of nri/oci.h. The
 * strings of messages are texts of base/text.h. */

int view_container(const struct view *view, const nri_container *container, bool whole,
                   struct view_document *document, struct nri_error *error);
/* `after` is `before` with an adjustment or with resources of an update; NULL changes nothing. */
int view_adjusted(const struct view *view, const struct view_document *before,
                  const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *adjust,
                  struct view_document *after, struct nri_error *error);
int view_updated(const struct view *view, const struct view_document *before,
                 const Nri__Pkg__Api__V1alpha1__LinuxResources *given, struct view_document *after,
                 struct nri_error *error);

/* ---- the fields that plugins set (enum nri_field) ---- */

/* Where a field stands: "process.env"; NULL for a number that is no field. NRI_FIELD_NONE is the
 * rules of the device cgroup, which lib/runtime tells so. */
const char *view_field_path(int field);
/* Whether each of its keys has a value of its own. */
bool view_field_keyed(int field);
/* *value is that of a field, of a keyed one that of the key; NULL: it is not set. NRI_E_NOMEM,
 * NRI_E_LIMIT. A step, however long the list is. */
int view_value(const struct view *view, struct view_document *document, int field, const char *key,
               const struct nri_json **value);

#endif
