/* SPDX-License-Identifier: Apache-2.0 */
#include "model/model.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxResources resources_message;

static const resources_message empty_resources = NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
static const Nri__Pkg__Api__V1alpha1__LinuxCPU empty_cpu = NRI__PKG__API__V1ALPHA1__LINUX_CPU__INIT;
static const Nri__Pkg__Api__V1alpha1__LinuxMemory empty_memory =
    NRI__PKG__API__V1ALPHA1__LINUX_MEMORY__INIT;

const nri_resources *nri_resources_view(const Nri__Pkg__Api__V1alpha1__LinuxResources *message)
{
    return (const void *)(message != NULL ? message : &empty_resources);
}

static const Nri__Pkg__Api__V1alpha1__LinuxCPU *cpu_of(const nri_resources *resources)
{
    const resources_message *message = (const void *)resources;
    return message != NULL && message->cpu != NULL ? message->cpu : &empty_cpu;
}

static const Nri__Pkg__Api__V1alpha1__LinuxMemory *memory_of(const nri_resources *resources)
{
    const resources_message *message = (const void *)resources;
    return message != NULL && message->memory != NULL ? message->memory : &empty_memory;
}

static bool give_uint64(const Nri__Pkg__Api__V1alpha1__OptionalUInt64 *value, uint64_t *out)
{
    if (out != NULL)
        *out = value != NULL ? value->value : 0;
    return value != NULL;
}

static bool give_int64(const Nri__Pkg__Api__V1alpha1__OptionalInt64 *value, int64_t *out)
{
    if (out != NULL)
        *out = value != NULL ? value->value : 0;
    return value != NULL;
}

static bool give_text(const char *text, const char **out)
{
    text = nri_reader_text(text);
    if (out != NULL)
        *out = text;
    return nri_text_length(text) > 0;
}

bool nri_resources_cpu_shares(const nri_resources *resources, uint64_t *shares)
{
    return give_uint64(cpu_of(resources)->shares, shares);
}

bool nri_resources_cpu_quota(const nri_resources *resources, int64_t *quota)
{
    return give_int64(cpu_of(resources)->quota, quota);
}

bool nri_resources_cpu_period(const nri_resources *resources, uint64_t *period)
{
    return give_uint64(cpu_of(resources)->period, period);
}

bool nri_resources_cpu_realtime_runtime(const nri_resources *resources, int64_t *runtime)
{
    return give_int64(cpu_of(resources)->realtime_runtime, runtime);
}

bool nri_resources_cpu_realtime_period(const nri_resources *resources, uint64_t *period)
{
    return give_uint64(cpu_of(resources)->realtime_period, period);
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
    return give_int64(memory_of(resources)->limit, bytes);
}

bool nri_resources_memory_reservation(const nri_resources *resources, int64_t *bytes)
{
    return give_int64(memory_of(resources)->reservation, bytes);
}

bool nri_resources_memory_swap(const nri_resources *resources, int64_t *bytes)
{
    return give_int64(memory_of(resources)->swap, bytes);
}
