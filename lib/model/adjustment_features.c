/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which features an adjustment uses, by what its message holds. Empty messages, which runtimes
 * send to validators, use nothing.
 */
#include <string.h>

#include "model/adjustment_builder.h"
#include "model/device_set.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type
#define BIT(name)     (UINT64_C(1) << NRI_FEATURE_##name)

static uint64_t if_used(bool used, uint64_t bit)
{
    return used ? bit : 0;
}

/* Whether a key is taken away and gets no new value. The new value stands directly behind. */
static bool is_removal(const char *key, const char *next)
{
    return key[0] == '-' && (next == NULL || strcmp(next, key + 1) != 0);
}

static bool removes_env(const MESSAGE(ContainerAdjustment) * message)
{
    for (size_t i = 0; i < message->n_env; i++) {
        const char *next = i + 1 < message->n_env ? message->env[i + 1]->key : NULL;
        if (is_removal(message->env[i]->key, next))
            return true;
    }
    return false;
}

static bool removes_device(const MESSAGE(LinuxContainerAdjustment) * message)
{
    for (size_t i = 0; i < message->n_devices; i++) {
        const char *next = i + 1 < message->n_devices ? message->devices[i + 1]->path : NULL;
        if (is_removal(message->devices[i]->path, next))
            return true;
    }
    return false;
}

static bool has_hook(const MESSAGE(Hooks) * hooks)
{
    return hooks != NULL &&
           (hooks->n_prestart > 0 || hooks->n_create_runtime > 0 || hooks->n_create_container > 0 ||
            hooks->n_start_container > 0 || hooks->n_poststart > 0 || hooks->n_poststop > 0);
}

static bool has_cpu(const MESSAGE(LinuxCPU) * cpu)
{
    return cpu != NULL && (cpu->shares != NULL || cpu->quota != NULL || cpu->period != NULL ||
                           cpu->realtime_runtime != NULL || cpu->realtime_period != NULL ||
                           cpu->cpus[0] != '\0' || cpu->mems[0] != '\0');
}

static uint64_t of_memory(const MESSAGE(LinuxMemory) * memory)
{
    if (memory == NULL)
        return 0;
    bool other = memory->reservation != NULL || memory->swap != NULL || memory->kernel != NULL ||
                 memory->kernel_tcp != NULL || memory->swappiness != NULL ||
                 memory->disable_oom_killer != NULL || memory->use_hierarchy != NULL;
    return if_used(memory->limit != NULL, BIT(MEMORY_LIMIT)) | if_used(other, BIT(MEMORY_OTHER));
}

/* Runtimes allow what they add a node for by themselves, in every version: "rw" or more, whatever
 * the rule says. So a rule that allows just a device of the adjustment loses nothing where rules
 * are not known; one that denies does. */
static bool needs_device_rules(const MESSAGE(LinuxContainerAdjustment) * message,
                               const struct nri_alloc *alloc)
{
    const MESSAGE(LinuxResources) *resources = message->resources;
    if (resources == NULL || resources->n_devices == 0)
        return false;
    struct nri_device_set devices;
    bool needed = false;
    nri_device_set_open(&devices, message->devices, message->n_devices, alloc);
    for (size_t i = 0; !needed && i < resources->n_devices; i++)
        needed = !nri_device_set_has(&devices, resources->devices[i]);
    nri_device_set_close(&devices);
    return needed;
}

static uint64_t of_resources(const MESSAGE(LinuxResources) * resources)
{
    if (resources == NULL)
        return 0;
    return of_memory(resources->memory) | if_used(has_cpu(resources->cpu), BIT(CPU)) |
           if_used(resources->n_hugepage_limits > 0, BIT(HUGEPAGE_LIMITS)) |
           if_used(resources->blockio_class != NULL, BIT(BLOCKIO_CLASS)) |
           if_used(resources->rdt_class != NULL, BIT(RDT_CLASS)) |
           if_used(resources->n_unified > 0, BIT(UNIFIED)) |
           if_used(resources->pids != NULL, BIT(PIDS_LIMIT));
}

static bool has_rdt(const MESSAGE(LinuxRdt) * rdt)
{
    return rdt != NULL && (rdt->clos_id != NULL || rdt->schemata != NULL ||
                           rdt->enable_monitoring != NULL || rdt->remove);
}

static uint64_t of_linux(const MESSAGE(LinuxContainerAdjustment) * message,
                         const struct nri_alloc *alloc)
{
    if (message == NULL)
        return 0;
    return of_resources(message->resources) | if_used(message->n_devices > 0, BIT(DEVICES)) |
           if_used(needs_device_rules(message, alloc), BIT(DEVICE_RULES)) |
           if_used(removes_device(message), BIT(REMOVE_DEVICE)) |
           if_used(message->cgroups_path[0] != '\0', BIT(CGROUPS_PATH)) |
           if_used(message->oom_score_adj != NULL, BIT(OOM_SCORE_ADJ)) |
           if_used(message->io_priority != NULL, BIT(IO_PRIORITY)) |
           if_used(message->seccomp_policy != NULL, BIT(SECCOMP_POLICY)) |
           if_used(message->n_namespaces > 0, BIT(NAMESPACES)) |
           if_used(message->n_sysctl > 0, BIT(SYSCTL)) |
           if_used(message->n_net_devices > 0, BIT(NET_DEVICES)) |
           if_used(message->scheduler != NULL, BIT(SCHEDULER)) |
           if_used(has_rdt(message->rdt), BIT(RDT)) |
           if_used(message->memory_policy != NULL, BIT(MEMORY_POLICY));
}

uint64_t nri_adjustment_features(const nri_adjustment *adjustment)
{
    const MESSAGE(ContainerAdjustment) *message = nri_adjustment_message(adjustment);
    if (message == NULL)
        return 0;
    return of_linux(message->linux, &adjustment->builder.arena->alloc) |
           if_used(message->n_annotations > 0, BIT(ANNOTATIONS)) |
           if_used(message->n_mounts > 0, BIT(MOUNTS)) | if_used(message->n_env > 0, BIT(ENV)) |
           if_used(removes_env(message), BIT(REMOVE_ENV)) |
           if_used(has_hook(message->hooks), BIT(HOOKS)) |
           if_used(message->n_rlimits > 0, BIT(RLIMITS)) |
           if_used(message->n_cdi_devices > 0, BIT(CDI_DEVICES)) |
           if_used(message->n_args > 0, BIT(ARGS));
}
