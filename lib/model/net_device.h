/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The network devices of a container or an adjustment: a map from the name on the host to a message
 * that holds the name in the container. An entry without that message has no name.
 */
#ifndef NRI_MODEL_NET_DEVICE_H
#define NRI_MODEL_NET_DEVICE_H

#include <stdbool.h>

#include "proto/nri.pb-c.h"

/* The entries of LinuxContainer.net_devices and of LinuxContainerAdjustment.net_devices are laid
 * out alike. */
struct nri_net_devices {
    const void *entries;
    size_t count;
};

/* As nri_container_net_device_at() and nri_container_net_device(). */
bool nri_net_devices_at(struct nri_net_devices devices, size_t index, const char **host_name,
                        const char **name);
bool nri_net_devices_find(struct nri_net_devices devices, const char *host_name, const char **name);

#endif
