/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.unified. NRI has no removal here: a "-" in front belongs to the key. */
#include "oci/changes.h"
#include "oci/nouns.h"

NRI_OCI_PLACE(unified, resources, "unified");

#define FIELD "linux.resources.unified"

static struct nri_json *make(struct nri_oci_edit *edit, const void *context, size_t index)
{
    const nri_oci_resources_part *resources = context;
    return nri_oci_text(edit, NRI_OCI_ELEMENT(FIELD, index, "value"),
                        resources->unified[index]->value);
}

void nri_oci_apply_unified(struct nri_oci_edit *edit, const nri_oci_resources_part *resources)
{
    struct nri_oci_changes changes;
    if (resources->n_unified == 0)
        return;
    nri_oci_changes_init(&changes, edit, resources->n_unified);
    for (size_t i = 0; i < resources->n_unified && edit->failure == 0; i++) {
        const struct nri_oci_where where = {FIELD, i, "key"};
        const char *key = resources->unified[i]->key;
        if (nri_oci_is_key(edit, &where, key))
            nri_oci_changes_add(&changes, key, nri_text_length(key), i, false);
    }
    nri_oci_changes_apply_members(&changes, &unified_place, make, resources);
}
