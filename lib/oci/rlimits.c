/* SPDX-License-Identifier: Apache-2.0 */
/* process.rlimits: one of a type, because OCI forbids a second one, which Go's generator appends.
 */
#include "oci/changes.h"
#include "oci/nouns.h"

NRI_OCI_PLACE(rlimits, process, "rlimits");

static struct nri_json *make(struct nri_oci_edit *edit, const void *context, size_t index,
                             struct nri_json *old)
{
    const nri_oci_adjustment *adjustment = context;
    const NRI_OCI_MESSAGE(POSIXRlimit) *rlimit = adjustment->rlimits[index];
    struct nri_json *value = old != NULL ? old : nri_oci_new(edit, NRI_JSON_OBJECT);
    const struct nri_oci_where where = {"rlimits", index, "type"};
    nri_oci_set(edit, value, "type", nri_oci_text(edit, &where, rlimit->type));
    nri_oci_set(edit, value, "hard", nri_oci_uint64(edit, rlimit->hard));
    nri_oci_set(edit, value, "soft", nri_oci_uint64(edit, rlimit->soft));
    return value;
}

static void append_all(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment)
{
    struct nri_json *array = nri_oci_make(edit, &rlimits_place, NRI_JSON_ARRAY);
    for (size_t i = 0; i < adjustment->n_rlimits && edit->failure == 0; i++)
        nri_oci_append(edit, array, make(edit, adjustment, i, NULL));
}

void nri_oci_apply_rlimits(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment)
{
    struct nri_oci_changes changes;
    const struct nri_oci_list list = {
        .place = &rlimits_place, .key = "type", .make = make, .context = adjustment};
    if (adjustment->n_rlimits == 0)
        return;
    if (nri_oci_go(edit)) {
        append_all(edit, adjustment);
        return;
    }
    nri_oci_changes_init(&changes, edit, adjustment->n_rlimits);
    for (size_t i = 0; i < adjustment->n_rlimits && edit->failure == 0; i++) {
        const struct nri_oci_where where = {"rlimits", i, "type"};
        const char *type = adjustment->rlimits[i]->type;
        if (nri_oci_is_key(edit, &where, type))
            nri_oci_changes_add(&changes, type, nri_text_length(type), i, false);
    }
    nri_oci_changes_apply(&changes, &list);
}
