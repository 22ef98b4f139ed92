/* SPDX-License-Identifier: Apache-2.0 */
#include "ignored.h"

static bool has(const struct imitate *imitate, int field)
{
    return nri_field_supported(imitate->name, imitate->version, imitate->nri, field);
}

/* A member that is absent when it is NULL, or a list without elements. */
#define DROP(message, field, member)                                                               \
    do {                                                                                           \
        if (!has(imitate, NRI_FIELD_##field))                                                      \
            (message)->member = 0;                                                                 \
    } while (0)

static void drop_memory(const struct imitate *imitate, memory_message *memory)
{
    DROP(memory, MEM_LIMIT, limit);
    DROP(memory, MEM_RESERVATION, reservation);
    DROP(memory, MEM_SWAP_LIMIT, swap);
    DROP(memory, MEM_KERNEL_LIMIT, kernel);
    DROP(memory, MEM_TCP_LIMIT, kernel_tcp);
    DROP(memory, MEM_SWAPPINESS, swappiness);
    DROP(memory, MEM_DISABLE_OOM_KILLER, disable_oom_killer);
    DROP(memory, MEM_USE_HIERARCHY, use_hierarchy);
}

static void drop_resources(const struct imitate *imitate, struct ignored *room)
{
    resources_message *resources = &room->resources;
    DROP(resources, PIDS_LIMIT, pids);
    DROP(resources, HUGEPAGE_LIMITS, n_hugepage_limits);
    DROP(resources, BLOCKIO_CLASS, blockio_class);
    DROP(resources, RDT_CLASS, rdt_class);
    DROP(resources, CGROUPS_UNIFIED, n_unified);
    DROP(resources, CPU_SHARES, cpu); /* all of it, or nothing */
    if (!nri_feature_supported(imitate->name, imitate->version, imitate->nri,
                               NRI_FEATURE_DEVICE_RULES))
        resources->n_devices = 0;
    if (resources->memory == NULL)
        return;
    room->memory = *resources->memory;
    drop_memory(imitate, &room->memory);
    resources->memory = &room->memory;
}

static void drop_linux(const struct imitate *imitate, struct ignored *room)
{
    linux_adjustment_message *linux_part = &room->linux_part;
    DROP(linux_part, DEVICES, n_devices);
    DROP(linux_part, OOM_SCORE_ADJ, oom_score_adj);
    DROP(linux_part, IO_PRIORITY, io_priority);
    DROP(linux_part, SECCOMP_POLICY, seccomp_policy);
    DROP(linux_part, NAMESPACE, n_namespaces);
    DROP(linux_part, SYSCTL, n_sysctl);
    DROP(linux_part, LINUX_NET_DEVICES, n_net_devices);
    DROP(linux_part, LINUX_SCHED, scheduler);
    DROP(linux_part, RDT_CLOS_ID, rdt); /* all of it, or nothing */
    DROP(linux_part, MEMORY_POLICY, memory_policy);
    if (!has(imitate, NRI_FIELD_CGROUPS_PATH))
        linux_part->cgroups_path = (char *)protobuf_c_empty_string;
    if (linux_part->resources == NULL)
        return;
    room->resources = *linux_part->resources;
    drop_resources(imitate, room);
    linux_part->resources = &room->resources;
}

const adjustment_message *ignored_drop(struct ignored *room, const struct imitate *imitate,
                                       const adjustment_message *adjust)
{
    if (imitate == NULL || adjust == NULL)
        return adjust;
    room->adjust = *adjust;
    adjustment_message *copy = &room->adjust;
    DROP(copy, ANNOTATIONS, n_annotations);
    DROP(copy, MOUNTS, n_mounts);
    DROP(copy, ENV, n_env);
    DROP(copy, OCI_HOOKS, hooks);
    DROP(copy, RLIMITS, n_rlimits);
    DROP(copy, CDI_DEVICES, n_cdi_devices);
    DROP(copy, ARGS, n_args);
    if (copy->linux != NULL) {
        room->linux_part = *copy->linux;
        drop_linux(imitate, room);
        copy->linux = &room->linux_part;
    }
    return copy;
}
