/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mounts that are shared with the host, or slaves of it: their source must be on a mount of that
 * kind, and the container's root, in whose mount they are made, too.
 */
#ifndef NRI_OCI_PROPAGATION_H
#define NRI_OCI_PROPAGATION_H

#include "oci/edit.h"

/* Go's generator does not forget the option of the mount before. */
struct nri_oci_propagation {
    const char *option; /* the last one that was seen, or NULL */
};

/* Checks a mount's source and sets linux.rootfsPropagation. `index` is the mount's. */
void nri_oci_propagation_apply(struct nri_oci_edit *edit, struct nri_oci_propagation *propagation,
                               const NRI_OCI_MESSAGE(Mount) * mount, size_t index);

#endif
