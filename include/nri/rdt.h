/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Reading resource director technology settings (NRI LinuxRdt, since NRI 0.11). The rules of
 * nri/pod.h hold; a getter that returns bool tells whether the value was sent.
 */
#ifndef NRI_RDT_H
#define NRI_RDT_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** The class of service (LinuxRdt.clos_id); may be present and "". Since 0.1.0. */
NRI_API bool nri_rdt_clos_id(const nri_rdt *rdt, const char **clos_id);
/** Whether schemata were sent, and how many lines (LinuxRdt.schemata); `count` may be NULL. Since
 * 0.1.0. */
NRI_API bool nri_rdt_schemata(const nri_rdt *rdt, size_t *count);
/** One line of the schemata; "" past the end. Since 0.1.0. */
NRI_API const char *nri_rdt_schema(const nri_rdt *rdt, size_t index);
/** Whether monitoring is on (LinuxRdt.enable_monitoring). Since 0.1.0. */
NRI_API bool nri_rdt_enable_monitoring(const nri_rdt *rdt, bool *enable);
/** Whether an adjustment removes the settings that were there (LinuxRdt.remove). Since 0.1.0. */
NRI_API bool nri_rdt_remove(const nri_rdt *rdt);

NRI_END_DECLS

#endif
