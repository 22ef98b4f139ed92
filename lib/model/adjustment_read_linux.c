/* SPDX-License-Identifier: Apache-2.0 */
/* Reading LinuxContainerAdjustment: the part `linux` of an adjustment. */
#include "model/model.h"
#include "model/namespace.h"
#include "model/net_device.h"
#include "model/optional.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment linux_message;

static const linux_message *linux_of(const nri_adjustment *adjustment)
{
    static const linux_message empty = NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER_ADJUSTMENT__INIT;
    const Nri__Pkg__Api__V1alpha1__ContainerAdjustment *message =
        nri_adjustment_message(adjustment);
    return message != NULL && message->linux != NULL ? message->linux : &empty;
}

size_t nri_adjustment_device_count(const nri_adjustment *adjustment)
{
    return linux_of(adjustment)->n_devices;
}

static const nri_device *device_at(const nri_adjustment *adjustment, size_t index)
{
    const linux_message *message = linux_of(adjustment);
    return nri_device_view(index < message->n_devices ? message->devices[index] : NULL);
}

const nri_device *nri_adjustment_device_at(const nri_adjustment *adjustment, size_t index,
                                           bool *removed)
{
    const nri_device *device = device_at(adjustment, index);
    (void)nri_reader_key(nri_device_path(device), removed);
    return device;
}

const char *nri_adjustment_device_path_at(const nri_adjustment *adjustment, size_t index)
{
    return nri_reader_key(nri_device_path(device_at(adjustment, index)), NULL);
}

const nri_resources *nri_adjustment_resources(const nri_adjustment *adjustment)
{
    return nri_resources_view(linux_of(adjustment)->resources);
}

const char *nri_adjustment_cgroups_path(const nri_adjustment *adjustment)
{
    return nri_reader_text(linux_of(adjustment)->cgroups_path);
}

bool nri_adjustment_oom_score_adj(const nri_adjustment *adjustment, int64_t *score)
{
    return nri_optional_int(linux_of(adjustment)->oom_score_adj, score);
}

bool nri_adjustment_io_priority(const nri_adjustment *adjustment, int *ioprio_class,
                                int32_t *priority)
{
    return nri_optional_io_priority(linux_of(adjustment)->io_priority, ioprio_class, priority);
}

bool nri_adjustment_seccomp_policy(const nri_adjustment *adjustment, const nri_seccomp **seccomp)
{
    if (seccomp != NULL)
        *seccomp = nri_seccomp_view(linux_of(adjustment)->seccomp_policy);
    return linux_of(adjustment)->seccomp_policy != NULL;
}

size_t nri_adjustment_namespace_count(const nri_adjustment *adjustment)
{
    return linux_of(adjustment)->n_namespaces;
}

bool nri_adjustment_namespace_at(const nri_adjustment *adjustment, size_t index, const char **type,
                                 const char **path, bool *removed)
{
    const linux_message *message = linux_of(adjustment);
    const struct nri_namespaces namespaces = {message->namespaces, message->n_namespaces};
    const char *text;
    const bool found = nri_namespaces_at(namespaces, index, &text, path);
    nri_reader_give_change(text, type, path, removed);
    return found;
}

static struct nri_reader_map sysctl_of(const nri_adjustment *adjustment)
{
    const linux_message *message = linux_of(adjustment);
    return (struct nri_reader_map){message->sysctl, message->n_sysctl};
}

size_t nri_adjustment_sysctl_count(const nri_adjustment *adjustment)
{
    return sysctl_of(adjustment).count;
}

bool nri_adjustment_sysctl_at(const nri_adjustment *adjustment, size_t index, const char **key,
                              const char **value, bool *removed)
{
    return nri_reader_change_at(sysctl_of(adjustment), index, key, value, removed);
}

bool nri_adjustment_sysctl(const nri_adjustment *adjustment, const char *key, const char **value)
{
    return nri_reader_change_get(sysctl_of(adjustment), key, value);
}

size_t nri_adjustment_net_device_count(const nri_adjustment *adjustment)
{
    return linux_of(adjustment)->n_net_devices;
}

bool nri_adjustment_net_device_at(const nri_adjustment *adjustment, size_t index,
                                  const char **host_name, const char **name, bool *removed)
{
    const linux_message *message = linux_of(adjustment);
    const struct nri_net_devices devices = {message->net_devices, message->n_net_devices};
    const char *text;
    const bool found = nri_net_devices_at(devices, index, &text, name);
    nri_reader_give_change(text, host_name, name, removed);
    return found;
}

bool nri_adjustment_scheduler(const nri_adjustment *adjustment, const nri_scheduler **scheduler)
{
    if (scheduler != NULL)
        *scheduler = nri_scheduler_view(linux_of(adjustment)->scheduler);
    return linux_of(adjustment)->scheduler != NULL;
}

bool nri_adjustment_rdt(const nri_adjustment *adjustment, const nri_rdt **rdt)
{
    if (rdt != NULL)
        *rdt = nri_rdt_view(linux_of(adjustment)->rdt);
    return linux_of(adjustment)->rdt != NULL;
}

bool nri_adjustment_memory_policy(const nri_adjustment *adjustment,
                                  const nri_memory_policy **policy)
{
    if (policy != NULL)
        *policy = nri_memory_policy_view(linux_of(adjustment)->memory_policy);
    return linux_of(adjustment)->memory_policy != NULL;
}
