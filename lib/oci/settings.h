/* SPDX-License-Identifier: Apache-2.0 */
/* The options of a call, checked. */
#ifndef NRI_OCI_SETTINGS_H
#define NRI_OCI_SETTINGS_H

#include "oci/edit.h"

/* 0, NRI_E_ABI, NRI_E_INVALID. Also on a failure settings->text.alloc can be used. */
int nri_oci_settings_take(const struct nri_oci_options *from, struct nri_oci_settings *to,
                          struct nri_error *error);

#endif
