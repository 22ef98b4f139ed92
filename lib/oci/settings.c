/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/settings.h"

#include "base/abi.h"

NRI_ABI_ASSERT(struct nri_oci_options);

void nri_oci_options_init(struct nri_oci_options *options, size_t size)
{
    nri_abi_init(options, size);
}

int nri_oci_settings_take(const struct nri_oci_options *from, struct nri_oci_settings *to,
                          struct nri_error *error)
{
    struct nri_oci_options *known = &to->options;
    (void)nri_alloc_resolve(&to->text.alloc, NULL);
    int code = nri_abi_take(known, sizeof *known, sizeof *known, from, "nri_oci_options", error);
    if (code == 0 && (known->reserved_pointer != NULL ||
                      !nri_abi_is_zero(known->reserved, sizeof known->reserved)))
        code = nri_error_set(error, NRI_E_ABI,
                             "struct nri_oci_options: its reserved members must be 0");
    return code != 0 ? code : nri_json_options_take(known->json, &to->text, error);
}
