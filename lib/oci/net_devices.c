/* SPDX-License-Identifier: Apache-2.0 */
/* linux.netDevices, by the name on the host. */
#include "oci/changes.h"
#include "oci/nouns.h"

NRI_OCI_PLACE(net_devices, linux, "netDevices");

static struct nri_json *make(struct nri_oci_edit *edit, const void *context, size_t index)
{
    const nri_oci_linux_part *linux_part = context;
    const NRI_OCI_MESSAGE(LinuxNetDevice) *device = linux_part->net_devices[index]->value;
    struct nri_json *value = nri_oci_new(edit, NRI_JSON_OBJECT);
    if (device != NULL)
        nri_oci_set_text(edit, value, "name",
                         NRI_OCI_ELEMENT("linux.net_devices", index, "value.name"), device->name);
    return value;
}

void nri_oci_apply_net_devices(struct nri_oci_edit *edit, const nri_oci_linux_part *linux_part)
{
    struct nri_oci_changes changes;
    if (linux_part->n_net_devices == 0)
        return;
    nri_oci_changes_init(&changes, edit, linux_part->n_net_devices);
    for (size_t i = 0; i < linux_part->n_net_devices && edit->failure == 0; i++)
        nri_oci_changes_add_marked(&changes, NRI_OCI_ELEMENT("linux.net_devices", i, "key"),
                                   linux_part->net_devices[i]->key);
    nri_oci_changes_apply_members(&changes, &net_devices_place, make, linux_part);
}
