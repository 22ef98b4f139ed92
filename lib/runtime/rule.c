/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/rule.h"

#include <string.h>

#include "runtime/messages.h"

#define AT(type, member) (uint16_t) offsetof(type, member)
/* A member that has the same name in a container, one that is the same message there, and one that
 * a container does not have. */
#define ALSO(of, type, seen_type, m)                                                               \
    .part = NRI_PART_##of, .member = AT(type, m), .seen = AT(seen_type, m)
#define SAME(of, type, m) ALSO(of, type, type, m)
#define ONLY(of, type, m) .part = NRI_PART_##of, .member = AT(type, m), .seen = NRI_NOT_SEEN
#define ADJUST(m)         ALSO(ADJUST, adjustment_message, container_message, m)
#define LINUX(m)          ALSO(LINUX, linux_adjustment_message, linux_container_message, m)
#define RESOURCES(m)      SAME(RESOURCES, resources_message, m)
#define MEMORY(f, m)                                                                               \
    {                                                                                              \
        NRI_RULE_MESSAGE, .field = NRI_FIELD_MEM_##f, SAME(MEMORY, memory_message, m)              \
    }
#define CPU(kind, f, m)                                                                            \
    {                                                                                              \
        NRI_RULE_##kind, .field = NRI_FIELD_##f, SAME(CPU, cpu_message, m)                         \
    }
/* The count of a list. */
#define COUNT(type, seen_type, m) .count = AT(type, n_##m), .seen_count = AT(seen_type, n_##m)
#define ADJUST_LIST(m)            ADJUST(m), COUNT(adjustment_message, container_message, m)
#define LINUX_LIST(m)             LINUX(m), COUNT(linux_adjustment_message, linux_container_message, m)
#define RESOURCES_LIST(m)         RESOURCES(m), COUNT(resources_message, resources_message, m)
#define CDI_LIST                                                                                   \
    ONLY(ADJUST, adjustment_message, cdi_devices), .count = AT(adjustment_message, n_cdi_devices)
#define ROW(kind, f)           NRI_RULE_##kind, .field = NRI_FIELD_##f
#define LIST_ROW(kind, f, lst) ROW(kind, f), .list = NRI_LIST_##lst

const struct nri_rule nri_rules[] = {
    {LIST_ROW(MAP, ANNOTATIONS, ANNOTATIONS), ADJUST_LIST(annotations)},
    {LIST_ROW(ENTRIES, MOUNTS, MOUNTS), ADJUST_LIST(mounts)},
    {LIST_ROW(ENTRIES, ENV, ENV), ADJUST_LIST(env)},
    {ROW(ARGS, ARGS), ADJUST_LIST(args)},
    {ROW(HOOKS, OCI_HOOKS), ADJUST(hooks)},
    {LIST_ROW(ENTRIES, DEVICES, DEVICES), LINUX_LIST(devices)},
    MEMORY(LIMIT, limit),
    MEMORY(RESERVATION, reservation),
    MEMORY(SWAP_LIMIT, swap),
    MEMORY(KERNEL_LIMIT, kernel),
    MEMORY(TCP_LIMIT, kernel_tcp),
    MEMORY(SWAPPINESS, swappiness),
    MEMORY(DISABLE_OOM_KILLER, disable_oom_killer),
    MEMORY(USE_HIERARCHY, use_hierarchy),
    CPU(MESSAGE, CPU_SHARES, shares),
    CPU(MESSAGE, CPU_QUOTA, quota),
    CPU(MESSAGE, CPU_PERIOD, period),
    CPU(MESSAGE, CPU_REALTIME_RUNTIME, realtime_runtime),
    CPU(MESSAGE, CPU_REALTIME_PERIOD, realtime_period),
    CPU(TEXT, CPUSET_CPUS, cpus),
    CPU(TEXT, CPUSET_MEMS, mems),
    {LIST_ROW(ADDED, HUGEPAGE_LIMITS, HUGEPAGES), RESOURCES_LIST(hugepage_limits)},
    {LIST_ROW(UNOWNED, NONE, DEVICE_RULES), RESOURCES_LIST(devices)},
    {LIST_ROW(ADDED, CGROUPS_UNIFIED, UNIFIED), RESOURCES_LIST(unified)},
    {ROW(MESSAGE, BLOCKIO_CLASS), RESOURCES(blockio_class)},
    {ROW(MESSAGE, RDT_CLASS), RESOURCES(rdt_class)},
    {ROW(MESSAGE, PIDS_LIMIT), RESOURCES(pids)},
    {ROW(TEXT, CGROUPS_PATH), LINUX(cgroups_path)},
    {ROW(MESSAGE, OOM_SCORE_ADJ), LINUX(oom_score_adj)},
    {ROW(MESSAGE, IO_PRIORITY), LINUX(io_priority)},
    {ROW(MESSAGE, SECCOMP_POLICY), LINUX(seccomp_policy)},
    {LIST_ROW(CLAIMED, NAMESPACE, NAMESPACES), LINUX_LIST(namespaces)},
    {LIST_ROW(MAP, SYSCTL, SYSCTL), LINUX_LIST(sysctl)},
    {LIST_ROW(MAP, LINUX_NET_DEVICES, NET_DEVICES), LINUX_LIST(net_devices)},
    {ROW(MESSAGE, LINUX_SCHED), LINUX(scheduler)},
    {ROW(RDT, RDT_CLOS_ID), ONLY(LINUX, linux_adjustment_message, rdt)},
    {ROW(MESSAGE, MEMORY_POLICY), ONLY(LINUX, linux_adjustment_message, memory_policy)},
    {LIST_ROW(ADDED, RLIMITS, RLIMITS), ADJUST_LIST(rlimits)},
    {LIST_ROW(ADDED, CDI_DEVICES, CDI_DEVICES), CDI_LIST},
};
const size_t nri_rule_count = sizeof nri_rules / sizeof nri_rules[0];

/* Members are read and written byte by byte, so that no pointer is used through another's type. */
void *nri_rule_pointer(const void *part, uint16_t offset)
{
    void *pointer;
    memcpy(&pointer, (const char *)part + offset, sizeof pointer);
    return pointer;
}

void nri_rule_set_pointer(void *part, uint16_t offset, const void *pointer)
{
    memcpy((char *)part + offset, &pointer, sizeof pointer);
}

size_t nri_rule_number(const void *part, uint16_t offset)
{
    size_t number;
    memcpy(&number, (const char *)part + offset, sizeof number);
    return number;
}

void nri_rule_set_number(void *part, uint16_t offset, size_t number)
{
    memcpy((char *)part + offset, &number, sizeof number);
}

void nri_parts_of_resources(const void *parts[NRI_PARTS], const void *resources)
{
    const resources_message *message = resources;
    parts[NRI_PART_ADJUST] = NULL;
    parts[NRI_PART_LINUX] = NULL;
    parts[NRI_PART_RESOURCES] = message;
    parts[NRI_PART_MEMORY] = message == NULL ? NULL : message->memory;
    parts[NRI_PART_CPU] = message == NULL ? NULL : message->cpu;
}

void nri_parts_of(const void *parts[NRI_PARTS], const void *adjust)
{
    const adjustment_message *message = adjust;
    nri_parts_of_resources(parts, message->linux == NULL ? NULL : message->linux->resources);
    parts[NRI_PART_ADJUST] = message;
    parts[NRI_PART_LINUX] = message->linux;
}
