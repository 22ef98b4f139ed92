/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of nri/oci.h, with the host's mounts given: lib/io has the system's. This room
 * makes no system calls.
 */
#ifndef NRI_OCI_APPLY_H
#define NRI_OCI_APPLY_H

#include <nri/oci.h>

#include "base/host.h"

/* What is applied; both NULL changes nothing. */
struct nri_oci_input {
    const nri_adjustment *adjustment;
    const nri_resources *resources;
    bool update; /* whether it is the resources */
};

struct nri_oci_mounts {
    nri_host_propagation look; /* NULL: mounts are not looked at */
    void *context;
};

int nri_oci_apply(const char *json, size_t length, const struct nri_oci_input *input,
                  const struct nri_oci_options *options, const struct nri_oci_mounts *mounts,
                  char **out, size_t *out_length, nri_error **error);

#endif
