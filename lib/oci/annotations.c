/* SPDX-License-Identifier: Apache-2.0 */
/* annotations */
#include "oci/changes.h"
#include "oci/nouns.h"

static const struct nri_json_place annotations_place = {.name = "annotations"};

static struct nri_json *make(struct nri_oci_edit *edit, const void *context, size_t index)
{
    const nri_oci_adjustment *adjustment = context;
    return nri_oci_text(edit, NRI_OCI_ELEMENT("annotations", index, "value"),
                        adjustment->annotations[index]->value);
}

static bool allowed(const struct nri_oci_edit *edit, const char *key, const char *value)
{
    const struct nri_oci_options *options = &edit->settings->options;
    if (options->annotation_filter == NULL)
        return true;
    if (key[0] == '-')
        return options->annotation_filter(key + 1, NULL, options->user);
    return options->annotation_filter(key, value != NULL ? value : "", options->user);
}

void nri_oci_apply_annotations(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment)
{
    struct nri_oci_changes changes;
    if (adjustment->n_annotations == 0)
        return;
    nri_oci_changes_init(&changes, edit, adjustment->n_annotations);
    for (size_t i = 0; i < adjustment->n_annotations && edit->failure == 0; i++) {
        const char *key = adjustment->annotations[i]->key;
        const struct nri_oci_where where = {"annotations", i, "key"};
        if (nri_oci_is_key(edit, &where, key) &&
            allowed(edit, key, adjustment->annotations[i]->value))
            nri_oci_changes_add_marked(&changes, &where, key);
    }
    nri_oci_changes_apply_members(&changes, &annotations_place, make, adjustment);
}
