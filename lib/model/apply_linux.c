/* SPDX-License-Identifier: Apache-2.0 */
/* LinuxContainerAdjustment. */
#include "model/apply.h"
#include "model/reader.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type
typedef MESSAGE(LinuxContainerAdjustment) linux_message;

static const char *text(const char *of_message)
{
    return nri_reader_text(of_message);
}

/* Where a failed call on a handle that could not be made has left its code. */
static int failed(const nri_adjustment *adjustment)
{
    int code = nri_adjustment_error(adjustment);
    return code != 0 ? code : NRI_E_NOMEM;
}

static int add_device(nri_adjustment *adjustment, const MESSAGE(LinuxDevice) * device)
{
    return nri_adjustment_add_device(adjustment, text(device->path), text(device->type),
                                     device->major, device->minor,
                                     device->file_mode != NULL ? &device->file_mode->value : NULL,
                                     device->uid != NULL ? &device->uid->value : NULL,
                                     device->gid != NULL ? &device->gid->value : NULL);
}

static int apply_devices(nri_adjustment *adjustment, const linux_message *message,
                         struct nri_json_subject *at)
{
    for (int removing = 1; removing >= 0; removing--) {
        for (size_t i = 0; i < message->n_devices; i++) {
            const char *path = text(message->devices[i]->path);
            if ((path[0] == '-') != (removing != 0))
                continue;
            nri_apply_at(at, &message->base, "devices", i);
            int code = removing != 0 ? nri_adjustment_remove_device(adjustment, path + 1)
                                     : add_device(adjustment, message->devices[i]);
            if (code != 0)
                return code;
        }
    }
    return 0;
}

/* In their order: of one type NRI sends either a removal or a namespace. */
static int apply_namespaces(nri_adjustment *adjustment, const linux_message *message,
                            struct nri_json_subject *at)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < message->n_namespaces; i++) {
        const char *type = text(message->namespaces[i]->type);
        nri_apply_at(at, &message->base, "namespaces", i);
        code = type[0] == '-' ? nri_adjustment_remove_namespace(adjustment, type + 1)
                              : nri_adjustment_add_namespace(adjustment, type,
                                                             text(message->namespaces[i]->path));
    }
    return code;
}

static int apply_net_devices(nri_adjustment *adjustment, const linux_message *message,
                             struct nri_json_subject *at)
{
    for (int removing = 1; removing >= 0; removing--) {
        for (size_t i = 0; i < message->n_net_devices; i++) {
            const char *host_name = text(message->net_devices[i]->key);
            const MESSAGE(LinuxNetDevice) *device = message->net_devices[i]->value;
            if ((host_name[0] == '-') != (removing != 0))
                continue;
            nri_apply_at(at, &message->base, "net_devices", i);
            int code = removing != 0
                           ? nri_adjustment_remove_net_device(adjustment, host_name + 1)
                           : nri_adjustment_add_net_device(
                                 adjustment, host_name, device != NULL ? text(device->name) : NULL);
            if (code != 0)
                return code;
        }
    }
    return 0;
}

static int apply_seccomp(nri_adjustment *adjustment, const linux_message *message,
                         struct nri_json_subject *at)
{
    nri_apply_at(at, &message->base, "seccomp_policy", NRI_JSON_WHOLE);
    nri_seccomp *seccomp = nri_adjustment_edit_seccomp_policy(adjustment);
    if (seccomp == NULL)
        return failed(adjustment);
    int code = nri_apply_seccomp(seccomp, message->seccomp_policy, at);
    if (code != 0)
        return code;
    nri_apply_at(at, &message->base, "seccomp_policy", NRI_JSON_WHOLE);
    return nri_adjustment_check(adjustment);
}

static int apply_scheduler(nri_adjustment *adjustment, const linux_message *message,
                           struct nri_json_subject *at)
{
    const MESSAGE(LinuxScheduler) *scheduler = message->scheduler;
    nri_apply_at(at, &message->base, "scheduler", NRI_JSON_WHOLE);
    return nri_adjustment_set_scheduler(
        adjustment, (enum nri_scheduler_policy)scheduler->policy, scheduler->nice,
        scheduler->priority, (const int *)(const void *)scheduler->flags, scheduler->n_flags,
        scheduler->runtime, scheduler->deadline, scheduler->period);
}

static int apply_rdt(nri_adjustment *adjustment, const MESSAGE(LinuxRdt) * rdt,
                     struct nri_json_subject *at)
{
    int code = 0;
    nri_apply_at(at, &rdt->base, "remove", NRI_JSON_WHOLE);
    if (rdt->remove)
        code = nri_adjustment_remove_rdt(adjustment);
    if (code == 0 && rdt->clos_id != NULL) {
        nri_apply_at(at, &rdt->base, "clos_id", NRI_JSON_WHOLE);
        code = nri_adjustment_set_rdt_clos_id(adjustment, text(rdt->clos_id->value));
    }
    if (code == 0 && rdt->schemata != NULL) {
        nri_apply_at(at, &rdt->base, "schemata", NRI_JSON_WHOLE);
        code = nri_adjustment_set_rdt_schemata(
            adjustment, (const char *const *)rdt->schemata->value, rdt->schemata->n_value);
    }
    if (code == 0 && rdt->enable_monitoring != NULL) {
        nri_apply_at(at, &rdt->base, "enable_monitoring", NRI_JSON_WHOLE);
        code = nri_adjustment_set_rdt_enable_monitoring(adjustment, rdt->enable_monitoring->value);
    }
    return code;
}

static int apply_memory_policy(nri_adjustment *adjustment, const linux_message *message,
                               struct nri_json_subject *at)
{
    const MESSAGE(LinuxMemoryPolicy) *policy = message->memory_policy;
    nri_apply_at(at, &message->base, "memory_policy", NRI_JSON_WHOLE);
    return nri_adjustment_set_memory_policy(
        adjustment, (enum nri_mpol_mode)policy->mode, text(policy->nodes),
        (const int *)(const void *)policy->flags, policy->n_flags);
}

/* What is one value. */
static int apply_scalars(nri_adjustment *adjustment, const linux_message *message,
                         struct nri_json_subject *at)
{
    int code = 0;
    if (text(message->cgroups_path)[0] != '\0') {
        nri_apply_at(at, &message->base, "cgroups_path", NRI_JSON_WHOLE);
        code = nri_adjustment_set_cgroups_path(adjustment, message->cgroups_path);
    }
    if (code == 0 && message->oom_score_adj != NULL) {
        nri_apply_at(at, &message->base, "oom_score_adj", NRI_JSON_WHOLE);
        code = nri_adjustment_set_oom_score_adj(adjustment, message->oom_score_adj->value);
    }
    if (code == 0 && message->io_priority != NULL) {
        nri_apply_at(at, &message->base, "io_priority", NRI_JSON_WHOLE);
        code = nri_adjustment_set_io_priority(adjustment,
                                              (enum nri_ioprio_class)message->io_priority->class_,
                                              message->io_priority->priority);
    }
    return code;
}

static int apply_resources(nri_adjustment *adjustment, const linux_message *message,
                           struct nri_json_subject *at)
{
    nri_apply_at(at, &message->base, "resources", NRI_JSON_WHOLE);
    nri_resources *resources = nri_adjustment_edit_resources(adjustment);
    return resources != NULL ? nri_apply_resources(resources, message->resources, at)
                             : failed(adjustment);
}

int nri_apply_linux(nri_adjustment *adjustment, const linux_message *message,
                    struct nri_json_subject *at)
{
    const struct nri_apply_pairs sysctl = {
        &message->base,
        "sysctl",
        message->sysctl,
        message->n_sysctl,
        nri_adjustment_set_sysctl,
        nri_adjustment_remove_sysctl,
    };
    int code = apply_devices(adjustment, message, at);
    if (code == 0 && message->resources != NULL)
        code = apply_resources(adjustment, message, at);
    if (code == 0)
        code = apply_scalars(adjustment, message, at);
    if (code == 0 && message->seccomp_policy != NULL)
        code = apply_seccomp(adjustment, message, at);
    if (code == 0)
        code = apply_namespaces(adjustment, message, at);
    if (code == 0)
        code = nri_apply_pairs(adjustment, &sysctl, at);
    if (code == 0)
        code = apply_net_devices(adjustment, message, at);
    if (code == 0 && message->scheduler != NULL)
        code = apply_scheduler(adjustment, message, at);
    if (code == 0 && message->rdt != NULL)
        code = apply_rdt(adjustment, message->rdt, at);
    if (code == 0 && message->memory_policy != NULL)
        code = apply_memory_policy(adjustment, message, at);
    return code;
}
