/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.resources */
#include "model/adjustment_builder.h"

int nri_adjustment_set_cpu_shares(nri_adjustment *adjustment, uint64_t shares)
{
    int code = nri_adjustment_enter(adjustment);
    return code == 0 ? nri_resources_set_cpu_shares(&adjustment->resources, shares) : code;
}

int nri_adjustment_set_cpu_quota(nri_adjustment *adjustment, int64_t quota)
{
    int code = nri_adjustment_enter(adjustment);
    return code == 0 ? nri_resources_set_cpu_quota(&adjustment->resources, quota) : code;
}

int nri_adjustment_set_cpu_period(nri_adjustment *adjustment, uint64_t period)
{
    int code = nri_adjustment_enter(adjustment);
    return code == 0 ? nri_resources_set_cpu_period(&adjustment->resources, period) : code;
}

int nri_adjustment_set_cpu_realtime_runtime(nri_adjustment *adjustment, int64_t runtime)
{
    int code = nri_adjustment_enter(adjustment);
    return code == 0 ? nri_resources_set_cpu_realtime_runtime(&adjustment->resources, runtime)
                     : code;
}

int nri_adjustment_set_cpu_realtime_period(nri_adjustment *adjustment, uint64_t period)
{
    int code = nri_adjustment_enter(adjustment);
    return code == 0 ? nri_resources_set_cpu_realtime_period(&adjustment->resources, period) : code;
}

int nri_adjustment_set_cpuset_cpus(nri_adjustment *adjustment, const char *cpus)
{
    int code = nri_adjustment_enter(adjustment);
    return code == 0 ? nri_resources_set_cpuset_cpus(&adjustment->resources, cpus) : code;
}

int nri_adjustment_set_cpuset_mems(nri_adjustment *adjustment, const char *mems)
{
    int code = nri_adjustment_enter(adjustment);
    return code == 0 ? nri_resources_set_cpuset_mems(&adjustment->resources, mems) : code;
}

int nri_adjustment_set_memory_limit(nri_adjustment *adjustment, int64_t bytes)
{
    int code = nri_adjustment_enter(adjustment);
    return code == 0 ? nri_resources_set_memory_limit(&adjustment->resources, bytes) : code;
}

int nri_adjustment_set_memory_reservation(nri_adjustment *adjustment, int64_t bytes)
{
    int code = nri_adjustment_enter(adjustment);
    return code == 0 ? nri_resources_set_memory_reservation(&adjustment->resources, bytes) : code;
}

int nri_adjustment_set_memory_swap(nri_adjustment *adjustment, int64_t bytes)
{
    int code = nri_adjustment_enter(adjustment);
    return code == 0 ? nri_resources_set_memory_swap(&adjustment->resources, bytes) : code;
}
