/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "model/model.h"
#include "model/optional.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxResources resources_message;
typedef Nri__Pkg__Api__V1alpha1__HugepageLimit hugepage_message;

static const resources_message empty_resources = NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
static const Nri__Pkg__Api__V1alpha1__LinuxCPU empty_cpu = NRI__PKG__API__V1ALPHA1__LINUX_CPU__INIT;
static const Nri__Pkg__Api__V1alpha1__LinuxMemory empty_memory =
    NRI__PKG__API__V1ALPHA1__LINUX_MEMORY__INIT;

const nri_resources *nri_resources_view(const Nri__Pkg__Api__V1alpha1__LinuxResources *message)
{
    return (const void *)(message != NULL ? message : &empty_resources);
}

bool nri_resources_is_present(const nri_resources *resources)
{
    return resources != NULL && (const void *)resources != &empty_resources;
}

static const resources_message *message_of(const nri_resources *resources)
{
    return resources != NULL ? (const void *)resources : &empty_resources;
}

static const Nri__Pkg__Api__V1alpha1__LinuxCPU *cpu_of(const nri_resources *resources)
{
    const resources_message *message = message_of(resources);
    return message->cpu != NULL ? message->cpu : &empty_cpu;
}

static const Nri__Pkg__Api__V1alpha1__LinuxMemory *memory_of(const nri_resources *resources)
{
    const resources_message *message = message_of(resources);
    return message->memory != NULL ? message->memory : &empty_memory;
}

/* A plain text has no presence on the wire. */
static bool give_text(const char *text, const char **out)
{
    nri_reader_give(text, out);
    return nri_text_length(text) > 0;
}

bool nri_resources_cpu_shares(const nri_resources *resources, uint64_t *shares)
{
    return nri_optional_uint64(cpu_of(resources)->shares, shares);
}

bool nri_resources_cpu_quota(const nri_resources *resources, int64_t *quota)
{
    return nri_optional_int64(cpu_of(resources)->quota, quota);
}

bool nri_resources_cpu_period(const nri_resources *resources, uint64_t *period)
{
    return nri_optional_uint64(cpu_of(resources)->period, period);
}

bool nri_resources_cpu_realtime_runtime(const nri_resources *resources, int64_t *runtime)
{
    return nri_optional_int64(cpu_of(resources)->realtime_runtime, runtime);
}

bool nri_resources_cpu_realtime_period(const nri_resources *resources, uint64_t *period)
{
    return nri_optional_uint64(cpu_of(resources)->realtime_period, period);
}

bool nri_resources_cpuset_cpus(const nri_resources *resources, const char **cpus)
{
    return give_text(cpu_of(resources)->cpus, cpus);
}

bool nri_resources_cpuset_mems(const nri_resources *resources, const char **mems)
{
    return give_text(cpu_of(resources)->mems, mems);
}

bool nri_resources_memory_limit(const nri_resources *resources, int64_t *bytes)
{
    return nri_optional_int64(memory_of(resources)->limit, bytes);
}

bool nri_resources_memory_reservation(const nri_resources *resources, int64_t *bytes)
{
    return nri_optional_int64(memory_of(resources)->reservation, bytes);
}

bool nri_resources_memory_swap(const nri_resources *resources, int64_t *bytes)
{
    return nri_optional_int64(memory_of(resources)->swap, bytes);
}

bool nri_resources_memory_kernel(const nri_resources *resources, int64_t *bytes)
{
    return nri_optional_int64(memory_of(resources)->kernel, bytes);
}

bool nri_resources_memory_kernel_tcp(const nri_resources *resources, int64_t *bytes)
{
    return nri_optional_int64(memory_of(resources)->kernel_tcp, bytes);
}

bool nri_resources_memory_swappiness(const nri_resources *resources, uint64_t *swappiness)
{
    return nri_optional_uint64(memory_of(resources)->swappiness, swappiness);
}

bool nri_resources_memory_disable_oom_killer(const nri_resources *resources, bool *disable)
{
    return nri_optional_bool(memory_of(resources)->disable_oom_killer, disable);
}

bool nri_resources_memory_use_hierarchy(const nri_resources *resources, bool *use)
{
    return nri_optional_bool(memory_of(resources)->use_hierarchy, use);
}

size_t nri_resources_hugepage_limit_count(const nri_resources *resources)
{
    return message_of(resources)->n_hugepage_limits;
}

/* `limit` NULL gives "" and 0. */
static void give_hugepage(const hugepage_message *limit, const char **page_size, uint64_t *bytes)
{
    nri_reader_give(limit != NULL ? limit->page_size : NULL, page_size);
    if (bytes != NULL)
        *bytes = limit != NULL ? limit->limit : 0;
}

bool nri_resources_hugepage_limit_at(const nri_resources *resources, size_t index,
                                     const char **page_size, uint64_t *bytes)
{
    const resources_message *message = message_of(resources);
    const bool found = index < message->n_hugepage_limits;
    give_hugepage(found ? message->hugepage_limits[index] : NULL, page_size, bytes);
    return found;
}

bool nri_resources_hugepage_limit(const nri_resources *resources, const char *page_size,
                                  uint64_t *bytes)
{
    const resources_message *message = message_of(resources);
    const size_t length = page_size != NULL ? strlen(page_size) : 0;
    const hugepage_message *found = NULL;
    for (size_t i = message->n_hugepage_limits; page_size != NULL && found == NULL && i-- > 0;) {
        const hugepage_message *limit = message->hugepage_limits[i];
        if (limit != NULL && nri_reader_text_is(limit->page_size, page_size, length))
            found = limit;
    }
    give_hugepage(found, NULL, bytes);
    return found != NULL;
}

bool nri_resources_blockio_class(const nri_resources *resources, const char **name)
{
    return nri_optional_text(message_of(resources)->blockio_class, name);
}

bool nri_resources_rdt_class(const nri_resources *resources, const char **name)
{
    return nri_optional_text(message_of(resources)->rdt_class, name);
}

static struct nri_reader_map unified_of(const nri_resources *resources)
{
    const resources_message *message = message_of(resources);
    return (struct nri_reader_map){message->unified, message->n_unified};
}

size_t nri_resources_unified_count(const nri_resources *resources)
{
    return unified_of(resources).count;
}

bool nri_resources_unified_at(const nri_resources *resources, size_t index, const char **key,
                              const char **value)
{
    return nri_reader_map_at(unified_of(resources), index, key, value);
}

bool nri_resources_unified(const nri_resources *resources, const char *key, const char **value)
{
    return nri_reader_map_get(unified_of(resources), key, value);
}

size_t nri_resources_device_rule_count(const nri_resources *resources)
{
    return message_of(resources)->n_devices;
}

const nri_device_rule *nri_resources_device_rule_at(const nri_resources *resources, size_t index)
{
    const resources_message *message = message_of(resources);
    return nri_device_rule_view(index < message->n_devices ? message->devices[index] : NULL);
}

bool nri_resources_pids_limit(const nri_resources *resources, int64_t *limit)
{
    const Nri__Pkg__Api__V1alpha1__LinuxPids *pids = message_of(resources)->pids;
    if (limit != NULL)
        *limit = pids != NULL ? pids->limit : 0;
    return pids != NULL;
}
