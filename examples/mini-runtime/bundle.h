/* SPDX-License-Identifier: Apache-2.0 */
/* An OCI bundle: a directory with a config.json. */
#ifndef MINI_RUNTIME_BUNDLE_H
#define MINI_RUNTIME_BUNDLE_H

#include <nri/nri.h>

/* The container of a bundle, and a pod sandbox around it, as plugins are to see them; the caller's
 * to free. */
int bundle_read(const char *bundle, const char *id, nri_pod **pod, nri_container **container,
                nri_error **error);
/* Writes the adjustment into the bundle's config.json. */
int bundle_apply(const char *bundle, const nri_adjustment *adjustment, nri_error **error);

#endif
