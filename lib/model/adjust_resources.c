/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.resources */
#include "model/adjustment_builder.h"

static int resources_of(nri_adjustment *adjustment, nri_resources **resources)
{
    int code = nri_adjustment_enter(adjustment);
    if (code != 0)
        return code;
    *resources = nri_resources_builder_edit(&adjustment->resources);
    return *resources != NULL ? 0 : adjustment->resources.builder->arena->failure;
}

nri_resources *nri_adjustment_edit_resources(nri_adjustment *adjustment)
{
    nri_resources *resources;
    return resources_of(adjustment, &resources) == 0 ? resources : NULL;
}

int nri_adjustment_set_cpu_shares(nri_adjustment *adjustment, uint64_t shares)
{
    nri_resources *resources;
    int code = resources_of(adjustment, &resources);
    return code == 0 ? nri_resources_set_cpu_shares(resources, shares) : code;
}

int nri_adjustment_set_cpu_quota(nri_adjustment *adjustment, int64_t quota)
{
    nri_resources *resources;
    int code = resources_of(adjustment, &resources);
    return code == 0 ? nri_resources_set_cpu_quota(resources, quota) : code;
}

int nri_adjustment_set_cpu_period(nri_adjustment *adjustment, uint64_t period)
{
    nri_resources *resources;
    int code = resources_of(adjustment, &resources);
    return code == 0 ? nri_resources_set_cpu_period(resources, period) : code;
}

int nri_adjustment_set_cpu_realtime_runtime(nri_adjustment *adjustment, int64_t runtime)
{
    nri_resources *resources;
    int code = resources_of(adjustment, &resources);
    return code == 0 ? nri_resources_set_cpu_realtime_runtime(resources, runtime) : code;
}

int nri_adjustment_set_cpu_realtime_period(nri_adjustment *adjustment, uint64_t period)
{
    nri_resources *resources;
    int code = resources_of(adjustment, &resources);
    return code == 0 ? nri_resources_set_cpu_realtime_period(resources, period) : code;
}

int nri_adjustment_set_cpuset_cpus(nri_adjustment *adjustment, const char *cpus)
{
    nri_resources *resources;
    int code = resources_of(adjustment, &resources);
    return code == 0 ? nri_resources_set_cpuset_cpus(resources, cpus) : code;
}

int nri_adjustment_set_cpuset_mems(nri_adjustment *adjustment, const char *mems)
{
    nri_resources *resources;
    int code = resources_of(adjustment, &resources);
    return code == 0 ? nri_resources_set_cpuset_mems(resources, mems) : code;
}

int nri_adjustment_set_memory_limit(nri_adjustment *adjustment, int64_t bytes)
{
    nri_resources *resources;
    int code = resources_of(adjustment, &resources);
    return code == 0 ? nri_resources_set_memory_limit(resources, bytes) : code;
}

int nri_adjustment_set_memory_reservation(nri_adjustment *adjustment, int64_t bytes)
{
    nri_resources *resources;
    int code = resources_of(adjustment, &resources);
    return code == 0 ? nri_resources_set_memory_reservation(resources, bytes) : code;
}

int nri_adjustment_set_memory_swap(nri_adjustment *adjustment, int64_t bytes)
{
    nri_resources *resources;
    int code = resources_of(adjustment, &resources);
    return code == 0 ? nri_resources_set_memory_swap(resources, bytes) : code;
}
