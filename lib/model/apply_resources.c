/* SPDX-License-Identifier: Apache-2.0 */
/* LinuxResources. */
#include "model/apply.h"
#include "model/reader.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

static const char *text(const char *of_message)
{
    return nri_reader_text(of_message);
}

/* Calls a setter for an optional value that is there. */
#define APPLY(setter, part, member)                                                                \
    if (code == 0 && (part)->member != NULL) {                                                     \
        nri_apply_at(at, &(part)->base, #member, NRI_JSON_WHOLE);                                  \
        code = setter(resources, (part)->member->value);                                           \
    }

static int apply_memory(nri_resources *resources, const MESSAGE(LinuxMemory) * memory,
                        struct nri_json_subject *at)
{
    int code = 0;
    APPLY(nri_resources_set_memory_limit, memory, limit)
    APPLY(nri_resources_set_memory_reservation, memory, reservation)
    APPLY(nri_resources_set_memory_swap, memory, swap)
    APPLY(nri_resources_set_memory_kernel, memory, kernel)
    APPLY(nri_resources_set_memory_kernel_tcp, memory, kernel_tcp)
    APPLY(nri_resources_set_memory_swappiness, memory, swappiness)
    APPLY(nri_resources_set_memory_disable_oom_killer, memory, disable_oom_killer)
    APPLY(nri_resources_set_memory_use_hierarchy, memory, use_hierarchy)
    return code;
}

static int apply_cpu(nri_resources *resources, const MESSAGE(LinuxCPU) * cpu,
                     struct nri_json_subject *at)
{
    int code = 0;
    APPLY(nri_resources_set_cpu_shares, cpu, shares)
    APPLY(nri_resources_set_cpu_quota, cpu, quota)
    APPLY(nri_resources_set_cpu_period, cpu, period)
    APPLY(nri_resources_set_cpu_realtime_runtime, cpu, realtime_runtime)
    APPLY(nri_resources_set_cpu_realtime_period, cpu, realtime_period)
    if (code == 0 && text(cpu->cpus)[0] != '\0') {
        nri_apply_at(at, &cpu->base, "cpus", NRI_JSON_WHOLE);
        code = nri_resources_set_cpuset_cpus(resources, cpu->cpus);
    }
    if (code == 0 && text(cpu->mems)[0] != '\0') {
        nri_apply_at(at, &cpu->base, "mems", NRI_JSON_WHOLE);
        code = nri_resources_set_cpuset_mems(resources, cpu->mems);
    }
    return code;
}

static int apply_lists(nri_resources *resources, const MESSAGE(LinuxResources) * message,
                       struct nri_json_subject *at)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < message->n_hugepage_limits; i++) {
        const MESSAGE(HugepageLimit) *limit = message->hugepage_limits[i];
        nri_apply_at(at, &message->base, "hugepage_limits", i);
        code = nri_resources_set_hugepage_limit(resources, text(limit->page_size), limit->limit);
    }
    for (size_t i = 0; code == 0 && i < message->n_unified; i++) {
        nri_apply_at(at, &message->base, "unified", i);
        code = nri_resources_set_unified(resources, text(message->unified[i]->key),
                                         text(message->unified[i]->value));
    }
    for (size_t i = 0; code == 0 && i < message->n_devices; i++) {
        const MESSAGE(LinuxDeviceCgroup) *rule = message->devices[i];
        nri_apply_at(at, &message->base, "devices", i);
        code = nri_resources_add_device_rule(resources, rule->allow, text(rule->type),
                                             rule->major != NULL ? &rule->major->value : NULL,
                                             rule->minor != NULL ? &rule->minor->value : NULL,
                                             text(rule->access));
    }
    return code;
}

int nri_apply_resources(nri_resources *resources, const MESSAGE(LinuxResources) * message,
                        struct nri_json_subject *at)
{
    int code = 0;
    if (message->memory != NULL)
        code = apply_memory(resources, message->memory, at);
    if (code == 0 && message->cpu != NULL)
        code = apply_cpu(resources, message->cpu, at);
    APPLY(nri_resources_set_blockio_class, message, blockio_class)
    APPLY(nri_resources_set_rdt_class, message, rdt_class)
    if (code == 0 && message->pids != NULL) {
        nri_apply_at(at, &message->base, "pids", NRI_JSON_WHOLE);
        code = nri_resources_set_pids_limit(resources, message->pids->limit);
    }
    return code == 0 ? apply_lists(resources, message, at) : code;
}
