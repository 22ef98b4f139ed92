/* SPDX-License-Identifier: Apache-2.0 */
/* linux.sysctl */
#include "oci/changes.h"
#include "oci/nouns.h"

NRI_OCI_PLACE(sysctl, linux, "sysctl");

static struct nri_json *make(struct nri_oci_edit *edit, const void *context, size_t index)
{
    const nri_oci_linux_part *linux_part = context;
    return nri_oci_text(edit, NRI_OCI_ELEMENT("linux.sysctl", index, "value"),
                        linux_part->sysctl[index]->value);
}

void nri_oci_apply_sysctl(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part)
{
    struct nri_oci_changes changes;
    if (linux_part->n_sysctl == 0)
        return;
    nri_oci_changes_init(&changes, edit, linux_part->n_sysctl);
    for (size_t i = 0; i < linux_part->n_sysctl && edit->failure == 0; i++)
        nri_oci_changes_add_marked(&changes, NRI_OCI_ELEMENT("linux.sysctl", i, "key"),
                                   linux_part->sysctl[i]->key);
    nri_oci_changes_apply_members(&changes, &sysctl_place, make, linux_part);
}
