/* SPDX-License-Identifier: Apache-2.0 */
/* linux.cgroupsPath */
#include "oci/nouns.h"

NRI_OCI_PLACE(cgroups_path, linux, "cgroupsPath");

void nri_oci_apply_cgroups_path(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part)
{
    if (nri_text_length(linux_part->cgroups_path) > 0)
        nri_oci_put(
            edit, &cgroups_path_place,
            nri_oci_text(edit, NRI_OCI_WHOLE("linux.cgroups_path"), linux_part->cgroups_path));
}
