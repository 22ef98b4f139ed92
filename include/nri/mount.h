/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Reading a mount, of a container (nri_container_mount_at()) or of an adjustment
 * (nri_adjustment_mount_at()). The rules of nri/pod.h hold.
 */
#ifndef NRI_MOUNT_H
#define NRI_MOUNT_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** Where it is mounted in the container (Mount.destination). Since 0.1.0. */
NRI_API const char *nri_mount_destination(const nri_mount *mount);
/** Its type, such as "bind" or "tmpfs" (Mount.type). Since 0.1.0. */
NRI_API const char *nri_mount_type(const nri_mount *mount);
/** Its source on the host (Mount.source). Since 0.1.0. */
NRI_API const char *nri_mount_source(const nri_mount *mount);
/** How many options (Mount.options). Since 0.1.0. */
NRI_API size_t nri_mount_option_count(const nri_mount *mount);
/** One option; "" past the end. Since 0.1.0. */
NRI_API const char *nri_mount_option(const nri_mount *mount, size_t index);

NRI_END_DECLS

#endif
