/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mounts, by destination: one that is set replaces all that is there, whatever the spelling of its
 * path. Then all are sorted (mount_order.h).
 */
#include <string.h>

#include "oci/changes.h"
#include "oci/mount_order.h"
#include "oci/nouns.h"
#include "oci/path.h"
#include "oci/propagation.h"

static const struct nri_json_place mounts_place = {.name = "mounts"};

static struct nri_json *make(struct nri_oci_edit *edit, const void *context, size_t index,
                             struct nri_json *old)
{
    const nri_oci_adjustment *adjustment = context;
    const NRI_OCI_MESSAGE(Mount) *mount = adjustment->mounts[index];
    struct nri_json *value = nri_oci_new(edit, NRI_JSON_OBJECT);
    (void)old;
    nri_oci_set(
        edit, value, "destination",
        nri_oci_text(edit, NRI_OCI_ELEMENT("mounts", index, "destination"), mount->destination));
    nri_oci_set_text(edit, value, "type", NRI_OCI_ELEMENT("mounts", index, "type"), mount->type);
    nri_oci_set_text(edit, value, "source", NRI_OCI_ELEMENT("mounts", index, "source"),
                     mount->source);
    if (mount->n_options > 0)
        nri_oci_set(edit, value, "options",
                    nri_oci_texts(edit, NRI_OCI_ELEMENT("mounts", index, "options"), mount->options,
                                  mount->n_options));
    return value;
}

/* Go's generator compares letters. */
static const char *spelling(struct nri_oci_edit *edit, const char *path, size_t *length)
{
    if (nri_oci_go(edit))
        return path;
    const char *clean = nri_oci_path_clean(edit->source.arena, path, *length);
    if (clean == NULL)
        nri_oci_no_memory(edit);
    else
        *length = strlen(clean);
    return clean;
}

static bool key_of(struct nri_oci_edit *edit, const struct nri_json_place *place,
                   const struct nri_json *element, const char **key, size_t *length)
{
    if (!nri_oci_element_text(edit, place, element, "destination", key, length))
        return false;
    *key = spelling(edit, *key, length);
    return *key != NULL;
}

static void add(struct nri_oci_changes *changes, const nri_oci_adjustment *adjustment, size_t index)
{
    const struct nri_oci_where where = {"mounts", index, "destination"};
    const char *path = adjustment->mounts[index]->destination;
    if (!nri_oci_is_key(changes->edit, &where, path))
        return;
    const bool removed = path[0] == '-';
    size_t length = nri_text_length(path) - removed;
    if (length == 0)
        nri_oci_fail(changes->edit, NRI_E_INVALID, &where, "must not be \"-\"");
    const char *key = spelling(changes->edit, path + removed, &length);
    nri_oci_changes_add(changes, key, length, index, removed);
}

void nri_oci_apply_mounts(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment)
{
    struct nri_oci_changes changes;
    struct nri_oci_propagation propagation = {NULL};
    const struct nri_oci_list list = {
        .place = &mounts_place, .key_of = key_of, .make = make, .context = adjustment};
    if (adjustment->n_mounts == 0)
        return;
    nri_oci_changes_init(&changes, edit, adjustment->n_mounts);
    for (size_t i = 0; i < adjustment->n_mounts && edit->failure == 0; i++)
        add(&changes, adjustment, i);
    nri_oci_changes_apply(&changes, &list);
    for (size_t i = 0; i < changes.count && edit->failure == 0; i++) {
        const struct nri_oci_change *change = &changes.list[i];
        if (change->set)
            nri_oci_propagation_apply(edit, &propagation, adjustment->mounts[change->index],
                                      change->index);
    }
    struct nri_json *mounts = nri_oci_find(edit, &mounts_place, NRI_JSON_ARRAY);
    if (mounts != NULL)
        nri_oci_mounts_sort(edit, mounts);
}
