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

static int resources_of(nri_update *update, nri_resources **resources)
{
    int code = nri_update_enter(update);
    if (code != 0)
        return code;
    *resources = nri_resources_builder_edit(&update->resources);
    return *resources != NULL ? 0 : update->resources.builder->arena->failure;
}

nri_resources *nri_update_edit_resources(nri_update *update)
{
    nri_resources *resources;
    return resources_of(update, &resources) == 0 ? resources : NULL;
}

int nri_update_set_cpu_shares(nri_update *update, uint64_t shares)
{
    nri_resources *resources;
    int code = resources_of(update, &resources);
    return code == 0 ? nri_resources_set_cpu_shares(resources, shares) : code;
}

int nri_update_set_cpu_quota(nri_update *update, int64_t quota)
{
    nri_resources *resources;
    int code = resources_of(update, &resources);
    return code == 0 ? nri_resources_set_cpu_quota(resources, quota) : code;
}

int nri_update_set_cpu_period(nri_update *update, uint64_t period)
{
    nri_resources *resources;
    int code = resources_of(update, &resources);
    return code == 0 ? nri_resources_set_cpu_period(resources, period) : code;
}

int nri_update_set_cpu_realtime_runtime(nri_update *update, int64_t runtime)
{
    nri_resources *resources;
    int code = resources_of(update, &resources);
    return code == 0 ? nri_resources_set_cpu_realtime_runtime(resources, runtime) : code;
}

int nri_update_set_cpu_realtime_period(nri_update *update, uint64_t period)
{
    nri_resources *resources;
    int code = resources_of(update, &resources);
    return code == 0 ? nri_resources_set_cpu_realtime_period(resources, period) : code;
}

int nri_update_set_cpuset_cpus(nri_update *update, const char *cpus)
{
    nri_resources *resources;
    int code = resources_of(update, &resources);
    return code == 0 ? nri_resources_set_cpuset_cpus(resources, cpus) : code;
}

int nri_update_set_cpuset_mems(nri_update *update, const char *mems)
{
    nri_resources *resources;
    int code = resources_of(update, &resources);
    return code == 0 ? nri_resources_set_cpuset_mems(resources, mems) : code;
}

int nri_update_set_memory_limit(nri_update *update, int64_t bytes)
{
    nri_resources *resources;
    int code = resources_of(update, &resources);
    return code == 0 ? nri_resources_set_memory_limit(resources, bytes) : code;
}

int nri_update_set_memory_reservation(nri_update *update, int64_t bytes)
{
    nri_resources *resources;
    int code = resources_of(update, &resources);
    return code == 0 ? nri_resources_set_memory_reservation(resources, bytes) : code;
}

int nri_update_set_memory_swap(nri_update *update, int64_t bytes)
{
    nri_resources *resources;
    int code = resources_of(update, &resources);
    return code == 0 ? nri_resources_set_memory_swap(resources, bytes) : code;
}
