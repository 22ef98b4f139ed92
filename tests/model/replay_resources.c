/* SPDX-License-Identifier: Apache-2.0 */
/* The same setters exist for resources, adjustments and updates: one text for all three, because a
 * table of functions could not have their three types. */
#include "replay.h"

#define REPLAY_OPTIONAL(prefix, to, from, member, noun)                                            \
    do {                                                                                           \
        if ((from)->member != NULL)                                                                \
            (void)prefix##_set_##noun(to, (from)->member->value);                                  \
    } while (0)

#define REPLAY_MEMORY(prefix, to, from)                                                            \
    do {                                                                                           \
        REPLAY_OPTIONAL(prefix, to, from, limit, memory_limit);                                    \
        REPLAY_OPTIONAL(prefix, to, from, reservation, memory_reservation);                        \
        REPLAY_OPTIONAL(prefix, to, from, swap, memory_swap);                                      \
        REPLAY_OPTIONAL(prefix, to, from, kernel, memory_kernel);                                  \
        REPLAY_OPTIONAL(prefix, to, from, kernel_tcp, memory_kernel_tcp);                          \
        REPLAY_OPTIONAL(prefix, to, from, swappiness, memory_swappiness);                          \
        REPLAY_OPTIONAL(prefix, to, from, disable_oom_killer, memory_disable_oom_killer);          \
        REPLAY_OPTIONAL(prefix, to, from, use_hierarchy, memory_use_hierarchy);                    \
    } while (0)

#define REPLAY_CPU(prefix, to, from)                                                               \
    do {                                                                                           \
        REPLAY_OPTIONAL(prefix, to, from, shares, cpu_shares);                                     \
        REPLAY_OPTIONAL(prefix, to, from, quota, cpu_quota);                                       \
        REPLAY_OPTIONAL(prefix, to, from, period, cpu_period);                                     \
        REPLAY_OPTIONAL(prefix, to, from, realtime_runtime, cpu_realtime_runtime);                 \
        REPLAY_OPTIONAL(prefix, to, from, realtime_period, cpu_realtime_period);                   \
        if (*(from)->cpus != '\0')                                                                 \
            (void)prefix##_set_cpuset_cpus(to, (from)->cpus);                                      \
        if (*(from)->mems != '\0')                                                                 \
            (void)prefix##_set_cpuset_mems(to, (from)->mems);                                      \
    } while (0)

#define REPLAY_RULE(prefix, to, rule)                                                              \
    (void)prefix##_add_device_rule(                                                                \
        to, (rule)->allow, (rule)->type, (rule)->major != NULL ? &(rule)->major->value : NULL,     \
        (rule)->minor != NULL ? &(rule)->minor->value : NULL, (rule)->access)

#define REPLAY_RESOURCES(prefix, to, from)                                                         \
    do {                                                                                           \
        if ((from)->memory != NULL)                                                                \
            REPLAY_MEMORY(prefix, to, (from)->memory);                                             \
        if ((from)->cpu != NULL)                                                                   \
            REPLAY_CPU(prefix, to, (from)->cpu);                                                   \
        for (size_t i_ = 0; i_ < (from)->n_hugepage_limits; i_++)                                  \
            (void)prefix##_set_hugepage_limit(to, (from)->hugepage_limits[i_]->page_size,          \
                                              (from)->hugepage_limits[i_]->limit);                 \
        REPLAY_OPTIONAL(prefix, to, from, blockio_class, blockio_class);                           \
        REPLAY_OPTIONAL(prefix, to, from, rdt_class, rdt_class);                                   \
        for (size_t i_ = 0; i_ < (from)->n_unified; i_++)                                          \
            (void)prefix##_set_unified(to, (from)->unified[i_]->key, (from)->unified[i_]->value);  \
        for (size_t i_ = 0; i_ < (from)->n_devices; i_++)                                          \
            REPLAY_RULE(prefix, to, (from)->devices[i_]);                                          \
        if ((from)->pids != NULL)                                                                  \
            (void)prefix##_set_pids_limit(to, (from)->pids->limit);                                \
    } while (0)

void replay_resources(nri_resources *to, const MESSAGE(LinuxResources) * from)
{
    REPLAY_RESOURCES(nri_resources, to, from);
}

void replay_resources_of_adjustment(nri_adjustment *to, const MESSAGE(LinuxResources) * from)
{
    REPLAY_RESOURCES(nri_adjustment, to, from);
}

void replay_resources_of_update(nri_update *to, const MESSAGE(LinuxResources) * from)
{
    REPLAY_RESOURCES(nri_update, to, from);
}
