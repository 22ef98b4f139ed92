/* SPDX-License-Identifier: Apache-2.0 */
#include "model/net_device.h"

#include <string.h>

#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxContainer__NetDevicesEntry entry_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment__NetDevicesEntry other_message;

_Static_assert(offsetof(entry_message, key) == offsetof(other_message, key) &&
                   offsetof(entry_message, value) == offsetof(other_message, value),
               "net_devices: container and adjustment are not laid out alike");

/* A pointer member of an entry, by offset, so that no structure is read through another's type. */
static void *member(const void *entry, size_t offset)
{
    void *value = NULL;
    if (entry != NULL)
        memcpy(&value, (const char *)entry + offset, sizeof value);
    return value;
}

bool nri_net_devices_at(struct nri_net_devices devices, size_t index, const char **host_name,
                        const char **name)
{
    const bool found = index < devices.count;
    const void *entry = NULL;
    if (found)
        memcpy(&entry, (const char *)devices.entries + index * sizeof entry, sizeof entry);
    const Nri__Pkg__Api__V1alpha1__LinuxNetDevice *device =
        member(entry, offsetof(entry_message, value));
    nri_reader_give(member(entry, offsetof(entry_message, key)), host_name);
    nri_reader_give(device != NULL ? device->name : NULL, name);
    return found;
}

bool nri_net_devices_find(struct nri_net_devices devices, const char *host_name, const char **name)
{
    const size_t length = host_name != NULL ? strlen(host_name) : 0;
    for (size_t i = devices.count; host_name != NULL && i-- > 0;) {
        const char *candidate;
        nri_net_devices_at(devices, i, &candidate, name);
        if (nri_reader_text_is(candidate, host_name, length))
            return true;
    }
    nri_reader_give(NULL, name);
    return false;
}
