/* SPDX-License-Identifier: Apache-2.0 */
/* LinuxContainer: the part `linux` of a container. */
#include <string.h>

#include "model/model.h"
#include "model/namespace.h"
#include "model/net_device.h"
#include "model/optional.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxContainer linux_message;

static const linux_message *linux_of(const nri_container *container)
{
    static const linux_message empty = NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER__INIT;
    const Nri__Pkg__Api__V1alpha1__Container *message = (const void *)container;
    return message != NULL && message->linux != NULL ? message->linux : &empty;
}

const nri_resources *nri_container_resources(const nri_container *container)
{
    return nri_resources_view(linux_of(container)->resources);
}

const char *nri_container_cgroups_path(const nri_container *container)
{
    return nri_reader_text(linux_of(container)->cgroups_path);
}

static struct nri_namespaces namespaces_of(const nri_container *container)
{
    const linux_message *message = linux_of(container);
    return (struct nri_namespaces){message->namespaces, message->n_namespaces};
}

size_t nri_container_namespace_count(const nri_container *container)
{
    return namespaces_of(container).count;
}

bool nri_container_namespace_at(const nri_container *container, size_t index, const char **type,
                                const char **path)
{
    return nri_namespaces_at(namespaces_of(container), index, type, path);
}

bool nri_container_namespace_path(const nri_container *container, const char *type,
                                  const char **path)
{
    return nri_namespaces_path(namespaces_of(container), type, path);
}

size_t nri_container_device_count(const nri_container *container)
{
    return linux_of(container)->n_devices;
}

const nri_device *nri_container_device_at(const nri_container *container, size_t index)
{
    const linux_message *message = linux_of(container);
    return nri_device_view(index < message->n_devices ? message->devices[index] : NULL);
}

bool nri_container_device(const nri_container *container, const char *path,
                          const nri_device **device)
{
    const size_t length = path != NULL ? strlen(path) : 0;
    const size_t count = path != NULL ? nri_container_device_count(container) : 0;
    for (size_t i = count; i-- > 0;) {
        const nri_device *candidate = nri_container_device_at(container, i);
        if (!nri_reader_text_is(nri_device_path(candidate), path, length))
            continue;
        if (device != NULL)
            *device = candidate;
        return true;
    }
    if (device != NULL)
        *device = nri_device_view(NULL);
    return false;
}

bool nri_container_oom_score_adj(const nri_container *container, int64_t *score)
{
    return nri_optional_int(linux_of(container)->oom_score_adj, score);
}

bool nri_container_io_priority(const nri_container *container, int *ioprio_class, int32_t *priority)
{
    return nri_optional_io_priority(linux_of(container)->io_priority, ioprio_class, priority);
}

bool nri_container_seccomp_profile(const nri_container *container, int *type,
                                   const char **localhost_ref)
{
    const Nri__Pkg__Api__V1alpha1__SecurityProfile *profile = linux_of(container)->seccomp_profile;
    if (type != NULL)
        *type = profile != NULL ? (int)profile->profile_type : 0;
    nri_reader_give(profile != NULL ? profile->localhost_ref : NULL, localhost_ref);
    return profile != NULL;
}

bool nri_container_seccomp_policy(const nri_container *container, const nri_seccomp **seccomp)
{
    if (seccomp != NULL)
        *seccomp = nri_seccomp_view(linux_of(container)->seccomp_policy);
    return linux_of(container)->seccomp_policy != NULL;
}

static struct nri_reader_map sysctl_of(const nri_container *container)
{
    const linux_message *message = linux_of(container);
    return (struct nri_reader_map){message->sysctl, message->n_sysctl};
}

size_t nri_container_sysctl_count(const nri_container *container)
{
    return sysctl_of(container).count;
}

bool nri_container_sysctl_at(const nri_container *container, size_t index, const char **key,
                             const char **value)
{
    return nri_reader_map_at(sysctl_of(container), index, key, value);
}

bool nri_container_sysctl(const nri_container *container, const char *key, const char **value)
{
    return nri_reader_map_get(sysctl_of(container), key, value);
}

static struct nri_net_devices net_devices_of(const nri_container *container)
{
    const linux_message *message = linux_of(container);
    return (struct nri_net_devices){message->net_devices, message->n_net_devices};
}

size_t nri_container_net_device_count(const nri_container *container)
{
    return net_devices_of(container).count;
}

bool nri_container_net_device_at(const nri_container *container, size_t index,
                                 const char **host_name, const char **name)
{
    return nri_net_devices_at(net_devices_of(container), index, host_name, name);
}

bool nri_container_net_device(const nri_container *container, const char *host_name,
                              const char **name)
{
    return nri_net_devices_find(net_devices_of(container), host_name, name);
}

bool nri_container_scheduler(const nri_container *container, const nri_scheduler **scheduler)
{
    if (scheduler != NULL)
        *scheduler = nri_scheduler_view(linux_of(container)->scheduler);
    return linux_of(container)->scheduler != NULL;
}

bool nri_container_rdt(const nri_container *container, const nri_rdt **rdt)
{
    if (rdt != NULL)
        *rdt = nri_rdt_view(linux_of(container)->rdt);
    return linux_of(container)->rdt != NULL;
}
