/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The order of mounts: what is mounted over a directory comes before what is mounted in it.
 */
#ifndef NRI_OCI_MOUNT_ORDER_H
#define NRI_OCI_MOUNT_ORDER_H

#include "oci/edit.h"

/* Sorts mounts by the depth of their destinations, those of the same depth by their letters, and
 * the same ones as they were. Whose destination is no text comes first. */
void nri_oci_mounts_sort(struct nri_oci_edit *edit, struct nri_json *mounts);

#endif
