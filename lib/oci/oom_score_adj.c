/* SPDX-License-Identifier: Apache-2.0 */
/* process.oomScoreAdj */
#include "oci/nouns.h"

NRI_OCI_PLACE(oom_score_adj, process, "oomScoreAdj");

void nri_oci_apply_oom_score_adj(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part)
{
    if (linux_part->oom_score_adj != NULL)
        nri_oci_put(edit, &oom_score_adj_place,
                    nri_oci_int64(edit, linux_part->oom_score_adj->value));
}
