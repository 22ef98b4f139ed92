/* SPDX-License-Identifier: Apache-2.0 */
/* linux.resources.devices: rules are put behind those that are there. */
#include "oci/nouns.h"
#include "oci/rules.h"

#define FIELD "linux.resources.devices"

static const char *text(const char *of_message)
{
    return of_message != NULL ? of_message : "";
}

void nri_oci_apply_device_rules(struct nri_oci_edit *edit, const nri_oci_resources_part *resources)
{
    struct nri_oci_rules rules;
    if (resources->n_devices == 0)
        return;
    nri_oci_rules_begin(&rules, edit);
    for (size_t i = 0; i < resources->n_devices && edit->failure == 0; i++) {
        const NRI_OCI_MESSAGE(LinuxDeviceCgroup) *from = resources->devices[i];
        const struct nri_oci_rule rule = {
            .allow = from->allow != 0,
            .type = text(from->type),
            .access = text(from->access),
            .major = from->major != NULL ? &from->major->value : NULL,
            .minor = from->minor != NULL ? &from->minor->value : NULL,
        };
        nri_oci_rules_add(&rules, edit, NRI_OCI_ELEMENT(FIELD, i, NULL), &rule);
    }
}
