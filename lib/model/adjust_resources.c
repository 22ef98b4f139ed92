/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.resources */
#include "model/adjustment_builder.h"

static int resources_of(nri_adjustment *adjustment, uint64_t features, nri_resources **resources)
{
    int code = nri_adjustment_enter(adjustment);
    if (code != 0)
        return code;
    nri_adjustment_uses_feature(adjustment, features);
    *resources = nri_resources_builder_edit(&adjustment->resources);
    return *resources != NULL ? 0 : adjustment->resources.builder->arena->failure;
}

nri_resources *nri_adjustment_edit_resources(nri_adjustment *adjustment)
{
    nri_resources *resources;
    return resources_of(adjustment, NRI_FEATURES_ANY, &resources) == 0 ? resources : NULL;
}

int nri_adjustment_set_cpu_shares(nri_adjustment *adjustment, uint64_t shares)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(CPU), &resources);
    return code == 0 ? nri_resources_set_cpu_shares(resources, shares) : code;
}

int nri_adjustment_set_cpu_quota(nri_adjustment *adjustment, int64_t quota)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(CPU), &resources);
    return code == 0 ? nri_resources_set_cpu_quota(resources, quota) : code;
}

int nri_adjustment_set_cpu_period(nri_adjustment *adjustment, uint64_t period)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(CPU), &resources);
    return code == 0 ? nri_resources_set_cpu_period(resources, period) : code;
}

int nri_adjustment_set_cpu_realtime_runtime(nri_adjustment *adjustment, int64_t runtime)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(CPU), &resources);
    return code == 0 ? nri_resources_set_cpu_realtime_runtime(resources, runtime) : code;
}

int nri_adjustment_set_cpu_realtime_period(nri_adjustment *adjustment, uint64_t period)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(CPU), &resources);
    return code == 0 ? nri_resources_set_cpu_realtime_period(resources, period) : code;
}

int nri_adjustment_set_cpuset_cpus(nri_adjustment *adjustment, const char *cpus)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(CPU), &resources);
    return code == 0 ? nri_resources_set_cpuset_cpus(resources, cpus) : code;
}

int nri_adjustment_set_cpuset_mems(nri_adjustment *adjustment, const char *mems)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(CPU), &resources);
    return code == 0 ? nri_resources_set_cpuset_mems(resources, mems) : code;
}

int nri_adjustment_set_memory_limit(nri_adjustment *adjustment, int64_t bytes)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(MEMORY_LIMIT), &resources);
    return code == 0 ? nri_resources_set_memory_limit(resources, bytes) : code;
}

int nri_adjustment_set_memory_reservation(nri_adjustment *adjustment, int64_t bytes)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(MEMORY_OTHER), &resources);
    return code == 0 ? nri_resources_set_memory_reservation(resources, bytes) : code;
}

int nri_adjustment_set_memory_swap(nri_adjustment *adjustment, int64_t bytes)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(MEMORY_OTHER), &resources);
    return code == 0 ? nri_resources_set_memory_swap(resources, bytes) : code;
}

int nri_adjustment_set_memory_kernel(nri_adjustment *adjustment, int64_t bytes)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(MEMORY_OTHER), &resources);
    return code == 0 ? nri_resources_set_memory_kernel(resources, bytes) : code;
}

int nri_adjustment_set_memory_kernel_tcp(nri_adjustment *adjustment, int64_t bytes)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(MEMORY_OTHER), &resources);
    return code == 0 ? nri_resources_set_memory_kernel_tcp(resources, bytes) : code;
}

int nri_adjustment_set_memory_swappiness(nri_adjustment *adjustment, uint64_t swappiness)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(MEMORY_OTHER), &resources);
    return code == 0 ? nri_resources_set_memory_swappiness(resources, swappiness) : code;
}

int nri_adjustment_set_memory_disable_oom_killer(nri_adjustment *adjustment, bool disable)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(MEMORY_OTHER), &resources);
    return code == 0 ? nri_resources_set_memory_disable_oom_killer(resources, disable) : code;
}

int nri_adjustment_set_memory_use_hierarchy(nri_adjustment *adjustment, bool use)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(MEMORY_OTHER), &resources);
    return code == 0 ? nri_resources_set_memory_use_hierarchy(resources, use) : code;
}

int nri_adjustment_set_hugepage_limit(nri_adjustment *adjustment, const char *page_size,
                                      uint64_t bytes)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(HUGEPAGE_LIMITS), &resources);
    return code == 0 ? nri_resources_set_hugepage_limit(resources, page_size, bytes) : code;
}

int nri_adjustment_set_blockio_class(nri_adjustment *adjustment, const char *name)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(BLOCKIO_CLASS), &resources);
    return code == 0 ? nri_resources_set_blockio_class(resources, name) : code;
}

int nri_adjustment_set_rdt_class(nri_adjustment *adjustment, const char *name)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(RDT_CLASS), &resources);
    return code == 0 ? nri_resources_set_rdt_class(resources, name) : code;
}

int nri_adjustment_set_unified(nri_adjustment *adjustment, const char *key, const char *value)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(UNIFIED), &resources);
    return code == 0 ? nri_resources_set_unified(resources, key, value) : code;
}

int nri_adjustment_set_pids_limit(nri_adjustment *adjustment, int64_t limit)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(PIDS_LIMIT), &resources);
    return code == 0 ? nri_resources_set_pids_limit(resources, limit) : code;
}

int nri_adjustment_add_device_rule(nri_adjustment *adjustment, bool allow, const char *type,
                                   const int64_t *major, const int64_t *minor, const char *access)
{
    nri_resources *resources;
    int code = resources_of(adjustment, NRI_FEATURE_BIT(DEVICE_RULES), &resources);
    return code == 0 ? nri_resources_add_device_rule(resources, allow, type, major, minor, access)
                     : code;
}
