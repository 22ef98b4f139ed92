/* SPDX-License-Identifier: Apache-2.0 */
/* process.args: all of it. An empty text in front says that it replaces what another plugin set,
 * and is none of the arguments. */
#include "oci/nouns.h"

NRI_OCI_PLACE(args, process, "args");

void nri_oci_apply_args(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment)
{
    const size_t first =
        adjustment->n_args > 0 && nri_text_length(adjustment->args[0]) == 0 && !nri_oci_go(edit);
    if (adjustment->n_args > first)
        nri_oci_put(edit, &args_place,
                    nri_oci_texts(edit, NRI_OCI_WHOLE("args"), adjustment->args + first,
                                  adjustment->n_args - first));
}
