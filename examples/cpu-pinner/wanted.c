/* SPDX-License-Identifier: Apache-2.0 */
#include "wanted.h"

#include <nri/annotation.h>
#include <stdio.h>

#include "topology.h"

static size_t whole(int64_t quota, uint64_t period)
{
    if (quota <= 0 || period == 0 || (uint64_t)quota % period != 0)
        return 0;
    const uint64_t count = (uint64_t)quota / period;
    return count <= TOPOLOGY_MAX_CPUS ? (size_t)count : 0;
}

size_t wanted_from_limit(const nri_resources *resources)
{
    int64_t quota = 0;
    uint64_t period = 0;
    return nri_resources_cpu_quota(resources, &quota) &&
                   nri_resources_cpu_period(resources, &period)
               ? whole(quota, period)
               : 0;
}

bool wanted_update(const nri_pod *pod, const nri_container *container, const nri_resources *update,
                   bool by_limit, size_t *count)
{
    const nri_resources *before = nri_container_resources(container);
    const char *name = nri_container_name(container), *key, *value;
    int64_t quota = 0;
    uint64_t period = 0;
    nri_resources_cpu_quota(update, &quota);
    nri_resources_cpu_period(update, &period);
    if (!by_limit || (quota == 0 && period == 0) ||
        nri_annotation_find(pod, name, WANTED_KEY, NRI_ANNOTATION_SCOPED, &value, &key))
        return false;
    if (quota == 0)
        nri_resources_cpu_quota(before, &quota);
    if (period == 0)
        nri_resources_cpu_period(before, &period);
    *count = whole(quota, period);
    return true;
}

static int wrong(nri_error *error, int code, char text[WANTED_TEXT])
{
    snprintf(text, WANTED_TEXT, "%s",
             error != NULL ? nri_error_get_text(error) : nri_strerror(code));
    nri_error_free(error);
    return -1;
}

int wanted_read(const nri_pod *pod, const nri_container *container, bool by_limit, size_t *count,
                char text[WANTED_TEXT])
{
    int64_t number = 0;
    nri_error *error = NULL;
    const char *name = nri_container_name(container), *key;
    text[0] = '\0';
    *count = 0;
    const int code =
        nri_annotation_int64(pod, name, WANTED_KEY, NRI_ANNOTATION_SCOPED, &number, &error);
    if (code == NRI_E_NOT_FOUND) {
        if (by_limit)
            *count = wanted_from_limit(nri_container_resources(container));
        return 0;
    }
    if (code != 0)
        return wrong(error, code, text);
    if (number < 0 || number > TOPOLOGY_MAX_CPUS) {
        nri_annotation_find(pod, name, WANTED_KEY, NRI_ANNOTATION_SCOPED, NULL, &key);
        snprintf(text, WANTED_TEXT, "annotation \"%s\": \"%lld\": must be from 0 to %d", key,
                 (long long)number, TOPOLOGY_MAX_CPUS);
        return -1;
    }
    *count = (size_t)number;
    return 0;
}
