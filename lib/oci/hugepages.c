/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.hugepageLimits: one of a page size. */
#include "oci/changes.h"
#include "oci/nouns.h"

NRI_OCI_PLACE(hugepages, resources, "hugepageLimits");

#define FIELD "linux.resources.hugepage_limits"

static struct nri_json *make(struct nri_oci_edit *edit, const void *context, size_t index,
                             struct nri_json *old)
{
    const nri_oci_resources_part *resources = context;
    const NRI_OCI_MESSAGE(HugepageLimit) *limit = resources->hugepage_limits[index];
    struct nri_json *value = old != NULL ? old : nri_oci_new(edit, NRI_JSON_OBJECT);
    nri_oci_set(edit, value, "pageSize",
                nri_oci_text(edit, NRI_OCI_ELEMENT(FIELD, index, "page_size"), limit->page_size));
    nri_oci_set(edit, value, "limit", nri_oci_uint64(edit, limit->limit));
    return value;
}

void nri_oci_apply_hugepages(struct nri_oci_edit *edit, const nri_oci_resources_part *resources)
{
    struct nri_oci_changes changes;
    const struct nri_oci_list list = {
        .place = &hugepages_place, .key = "pageSize", .make = make, .context = resources};
    if (resources->n_hugepage_limits == 0)
        return;
    nri_oci_changes_init(&changes, edit, resources->n_hugepage_limits);
    for (size_t i = 0; i < resources->n_hugepage_limits && edit->failure == 0; i++) {
        const struct nri_oci_where where = {FIELD, i, "page_size"};
        const char *size = resources->hugepage_limits[i]->page_size;
        if (nri_oci_is_key(edit, &where, size))
            nri_oci_changes_add(&changes, size, nri_text_length(size), i, false);
    }
    nri_oci_changes_apply(&changes, &list);
}
