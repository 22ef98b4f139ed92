/* SPDX-License-Identifier: Apache-2.0 */
/* The devices of a message, to be asked whether one of them is what a rule of the device cgroup
 * allows. */
#ifndef NRI_MODEL_DEVICE_SET_H
#define NRI_MODEL_DEVICE_SET_H

#include "base/alloc.h"
#include "proto/nri.pb-c.h"

struct nri_device_key;

struct nri_device_set {
    Nri__Pkg__Api__V1alpha1__LinuxDevice *const *devices;
    size_t count;
    struct nri_device_key *keys; /* sorted; NULL: the devices are searched from end to end */
    struct nri_alloc alloc;
};

/* `devices` must stay as they are until the set is closed. A long list is sorted, so that asking
 * costs a few steps in whatever order the questions come; without memory for that each costs a step
 * a device, and the answers are the same. */
void nri_device_set_open(struct nri_device_set *set,
                         Nri__Pkg__Api__V1alpha1__LinuxDevice *const *devices, size_t count,
                         const struct nri_alloc *alloc);
void nri_device_set_close(struct nri_device_set *set);

/* Whether the rule allows just one device, and that is in the set. */
bool nri_device_set_has(const struct nri_device_set *set,
                        const Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup *rule);

#endif
