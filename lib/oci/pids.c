/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.pids. Go's generator leaves the limit that is there at -1, which means none. */
#include "oci/nouns.h"

NRI_OCI_PLACE(pids, resources, "pids");

void nri_oci_apply_pids(struct nri_oci_edit *edit, const nri_oci_resources_part *resources)
{
    if (resources->pids == NULL)
        return;
    struct nri_json *object = nri_oci_make(edit, &pids_place, NRI_JSON_OBJECT);
    if (resources->pids->limit > -1 || !nri_oci_go(edit))
        nri_oci_set(edit, object, "limit", nri_oci_int64(edit, resources->pids->limit));
}
