/* SPDX-License-Identifier: Apache-2.0 */
/* One update of a list. */
#include "model/reader.h"
#include "model/updates_builder.h"

int nri_update_enter(nri_update *update)
{
    if (update == NULL || update->list == NULL)
        return NRI_E_INVALID;
    int code = nri_builder_enter(&update->list->builder);
    if (code == 0 && update->failed != 0)
        code = nri_builder_fail(&update->list->builder, update->failed,
                                "update: nri_updates_container() failed, so there is none");
    return code;
}

const char *nri_update_container_id(const nri_update *update)
{
    return nri_reader_text(update != NULL ? update->message.container_id : NULL);
}

int nri_update_set_ignore_failure(nri_update *update, bool ignore)
{
    int code = nri_update_enter(update);
    if (code == 0)
        update->message.ignore_failure = ignore;
    return code;
}

int nri_update_set_cpu_shares(nri_update *update, uint64_t shares)
{
    int code = nri_update_enter(update);
    return code == 0 ? nri_resources_set_cpu_shares(&update->resources, shares) : code;
}

int nri_update_set_cpu_quota(nri_update *update, int64_t quota)
{
    int code = nri_update_enter(update);
    return code == 0 ? nri_resources_set_cpu_quota(&update->resources, quota) : code;
}

int nri_update_set_cpu_period(nri_update *update, uint64_t period)
{
    int code = nri_update_enter(update);
    return code == 0 ? nri_resources_set_cpu_period(&update->resources, period) : code;
}

int nri_update_set_cpu_realtime_runtime(nri_update *update, int64_t runtime)
{
    int code = nri_update_enter(update);
    return code == 0 ? nri_resources_set_cpu_realtime_runtime(&update->resources, runtime) : code;
}

int nri_update_set_cpu_realtime_period(nri_update *update, uint64_t period)
{
    int code = nri_update_enter(update);
    return code == 0 ? nri_resources_set_cpu_realtime_period(&update->resources, period) : code;
}

int nri_update_set_cpuset_cpus(nri_update *update, const char *cpus)
{
    int code = nri_update_enter(update);
    return code == 0 ? nri_resources_set_cpuset_cpus(&update->resources, cpus) : code;
}

int nri_update_set_cpuset_mems(nri_update *update, const char *mems)
{
    int code = nri_update_enter(update);
    return code == 0 ? nri_resources_set_cpuset_mems(&update->resources, mems) : code;
}

int nri_update_set_memory_limit(nri_update *update, int64_t bytes)
{
    int code = nri_update_enter(update);
    return code == 0 ? nri_resources_set_memory_limit(&update->resources, bytes) : code;
}

int nri_update_set_memory_reservation(nri_update *update, int64_t bytes)
{
    int code = nri_update_enter(update);
    return code == 0 ? nri_resources_set_memory_reservation(&update->resources, bytes) : code;
}

int nri_update_set_memory_swap(nri_update *update, int64_t bytes)
{
    int code = nri_update_enter(update);
    return code == 0 ? nri_resources_set_memory_swap(&update->resources, bytes) : code;
}
