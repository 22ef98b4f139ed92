/* SPDX-License-Identifier: Apache-2.0 */
#include "replay.h"

#include <string.h>

#define TEXTS(list)       ((const char *const *)(list))

#define VALUE_OF(wrapper) ((wrapper) != NULL ? &(wrapper)->value : NULL)

/* The flags of a scheduler or a memory policy, as the builders take them. */
#define ROOM 16
static const int *flags_of(const void *flags, size_t count, int out[ROOM])
{
    const size_t fits = count < ROOM ? count : ROOM;
    if (count > 0)
        memcpy(out, flags, fits * sizeof *out);
    return count == 0 ? NULL : out;
}

void replay_seccomp(nri_seccomp *to, const MESSAGE(LinuxSeccomp) * from)
{
    if (*from->default_action != '\0')
        (void)nri_seccomp_set_default_action(to, from->default_action);
    if (from->default_errno != NULL)
        (void)nri_seccomp_set_default_errno(to, from->default_errno->value);
    for (size_t i = 0; i < from->n_architectures; i++)
        (void)nri_seccomp_add_architecture(to, from->architectures[i]);
    for (size_t i = 0; i < from->n_flags; i++)
        (void)nri_seccomp_add_flag(to, from->flags[i]);
    if (*from->listener_path != '\0')
        (void)nri_seccomp_set_listener_path(to, from->listener_path);
    if (*from->listener_metadata != '\0')
        (void)nri_seccomp_set_listener_metadata(to, from->listener_metadata);
    for (size_t i = 0; i < from->n_syscalls; i++) {
        const MESSAGE(LinuxSyscall) *rule = from->syscalls[i];
        (void)nri_seccomp_add_syscall(to, rule->action, VALUE_OF(rule->errno_ret),
                                      TEXTS(rule->names), rule->n_names);
        for (size_t k = 0; k < rule->n_args; k++)
            (void)nri_seccomp_add_syscall_arg(to, rule->args[k]->index, rule->args[k]->value,
                                              rule->args[k]->value_two, rule->args[k]->op);
    }
}

/* The hooks of one stage, by ADD(). */
#define REPLAY_STAGE(add, to, stage, list, count)                                                  \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < (count); i_++)                                                    \
            (void)add(to, stage, (list)[i_]->path, TEXTS((list)[i_]->args), (list)[i_]->n_args,    \
                      TEXTS((list)[i_]->env), (list)[i_]->n_env, VALUE_OF((list)[i_]->timeout));   \
    } while (0)

#define REPLAY_HOOKS(add, to, from)                                                                \
    do {                                                                                           \
        REPLAY_STAGE(add, to, NRI_HOOK_PRESTART, (from)->prestart, (from)->n_prestart);            \
        REPLAY_STAGE(add, to, NRI_HOOK_CREATE_RUNTIME, (from)->create_runtime,                     \
                     (from)->n_create_runtime);                                                    \
        REPLAY_STAGE(add, to, NRI_HOOK_CREATE_CONTAINER, (from)->create_container,                 \
                     (from)->n_create_container);                                                  \
        REPLAY_STAGE(add, to, NRI_HOOK_START_CONTAINER, (from)->start_container,                   \
                     (from)->n_start_container);                                                   \
        REPLAY_STAGE(add, to, NRI_HOOK_POSTSTART, (from)->poststart, (from)->n_poststart);         \
        REPLAY_STAGE(add, to, NRI_HOOK_POSTSTOP, (from)->poststop, (from)->n_poststop);            \
    } while (0)

#define REPLAY_RDT(prefix, to, from)                                                               \
    do {                                                                                           \
        if ((from)->clos_id != NULL)                                                               \
            (void)prefix##_set_rdt_clos_id(to, (from)->clos_id->value);                            \
        if ((from)->schemata != NULL)                                                              \
            (void)prefix##_set_rdt_schemata(to, TEXTS((from)->schemata->value),                    \
                                            (from)->schemata->n_value);                            \
        if ((from)->enable_monitoring != NULL)                                                     \
            (void)prefix##_set_rdt_enable_monitoring(to, (from)->enable_monitoring->value);        \
    } while (0)

#define REPLAY_SCHEDULER(set, to, from)                                                            \
    do {                                                                                           \
        int flags_[ROOM];                                                                          \
        (void)set(to, (enum nri_scheduler_policy)(from)->policy, (from)->nice, (from)->priority,   \
                  flags_of((from)->flags, (from)->n_flags, flags_), (from)->n_flags,               \
                  (from)->runtime, (from)->deadline, (from)->period);                              \
    } while (0)

/* ---- pods ---- */

static void replay_pod_linux(nri_pod *to, const MESSAGE(LinuxPodSandbox) * from)
{
    if (from->pod_overhead != NULL)
        replay_resources(nri_pod_edit_overhead(to), from->pod_overhead);
    if (from->pod_resources != NULL)
        replay_resources(nri_pod_edit_pod_resources(to), from->pod_resources);
    if (*from->cgroup_parent != '\0')
        (void)nri_pod_set_cgroup_parent(to, from->cgroup_parent);
    if (*from->cgroups_path != '\0')
        (void)nri_pod_set_cgroups_path(to, from->cgroups_path);
    for (size_t i = 0; i < from->n_namespaces; i++)
        (void)nri_pod_set_namespace_path(to, from->namespaces[i]->type, from->namespaces[i]->path);
    if (from->resources != NULL)
        replay_resources(nri_pod_edit_resources(to), from->resources);
}

void replay_pod(nri_pod *to, const MESSAGE(PodSandbox) * from)
{
    if (*from->id != '\0')
        (void)nri_pod_set_id(to, from->id);
    if (*from->name != '\0')
        (void)nri_pod_set_name(to, from->name);
    if (*from->uid != '\0')
        (void)nri_pod_set_uid(to, from->uid);
    if (*from->namespace_ != '\0')
        (void)nri_pod_set_namespace(to, from->namespace_);
    for (size_t i = 0; i < from->n_labels; i++)
        (void)nri_pod_set_label(to, from->labels[i]->key, from->labels[i]->value);
    for (size_t i = 0; i < from->n_annotations; i++)
        (void)nri_pod_set_annotation(to, from->annotations[i]->key, from->annotations[i]->value);
    if (*from->runtime_handler != '\0')
        (void)nri_pod_set_runtime_handler(to, from->runtime_handler);
    if (from->linux != NULL)
        replay_pod_linux(to, from->linux);
    if (from->pid != 0)
        (void)nri_pod_set_pid(to, from->pid);
    for (size_t i = 0; i < from->n_ips; i++)
        (void)nri_pod_add_ip(to, from->ips[i]);
}

/* ---- containers ---- */

static void replay_container_linux(nri_container *to, const MESSAGE(LinuxContainer) * from)
{
    for (size_t i = 0; i < from->n_namespaces; i++)
        (void)nri_container_set_namespace(to, from->namespaces[i]->type, from->namespaces[i]->path);
    for (size_t i = 0; i < from->n_devices; i++) {
        const MESSAGE(LinuxDevice) *device = from->devices[i];
        (void)nri_container_set_device(to, device->path, device->type, device->major, device->minor,
                                       VALUE_OF(device->file_mode), VALUE_OF(device->uid),
                                       VALUE_OF(device->gid));
    }
    if (from->resources != NULL)
        replay_resources(nri_container_edit_resources(to), from->resources);
    if (from->oom_score_adj != NULL)
        (void)nri_container_set_oom_score_adj(to, from->oom_score_adj->value);
    if (*from->cgroups_path != '\0')
        (void)nri_container_set_cgroups_path(to, from->cgroups_path);
    if (from->io_priority != NULL)
        (void)nri_container_set_io_priority(to, (enum nri_ioprio_class)from->io_priority->class_,
                                            from->io_priority->priority);
    if (from->seccomp_profile != NULL)
        (void)nri_container_set_seccomp_profile(
            to, (enum nri_seccomp_profile_type)from->seccomp_profile->profile_type,
            from->seccomp_profile->localhost_ref);
    if (from->seccomp_policy != NULL)
        replay_seccomp(nri_container_edit_seccomp_policy(to), from->seccomp_policy);
    for (size_t i = 0; i < from->n_sysctl; i++)
        (void)nri_container_set_sysctl(to, from->sysctl[i]->key, from->sysctl[i]->value);
    for (size_t i = 0; i < from->n_net_devices; i++)
        (void)nri_container_set_net_device(to, from->net_devices[i]->key,
                                           from->net_devices[i]->value->name);
    if (from->scheduler != NULL)
        REPLAY_SCHEDULER(nri_container_set_scheduler, to, from->scheduler);
    if (from->rdt != NULL)
        REPLAY_RDT(nri_container, to, from->rdt);
}

static void replay_container_state(nri_container *to, const MESSAGE(Container) * from)
{
    if (from->state != 0)
        (void)nri_container_set_state(to, (enum nri_container_state)from->state);
    if (from->pid != 0)
        (void)nri_container_set_pid(to, from->pid);
    if (from->created_at != 0)
        (void)nri_container_set_created_at(to, from->created_at);
    if (from->started_at != 0)
        (void)nri_container_set_started_at(to, from->started_at);
    if (from->finished_at != 0)
        (void)nri_container_set_finished_at(to, from->finished_at);
    if (from->exit_code != 0)
        (void)nri_container_set_exit_code(to, from->exit_code);
    if (*from->status_reason != '\0')
        (void)nri_container_set_status_reason(to, from->status_reason);
    if (*from->status_message != '\0')
        (void)nri_container_set_status_message(to, from->status_message);
}

/* A variable "NAME=value"; one without "=" has no name that could be set. */
static void replay_env(nri_container *to, const char *variable)
{
    char name[256];
    const size_t length = strcspn(variable, "=");
    if (length >= sizeof name)
        return;
    memcpy(name, variable, length);
    name[length] = '\0';
    (void)nri_container_set_env(to, name, variable + length + 1);
}

static void replay_container_lists(nri_container *to, const MESSAGE(Container) * from)
{
    for (size_t i = 0; i < from->n_labels; i++)
        (void)nri_container_set_label(to, from->labels[i]->key, from->labels[i]->value);
    for (size_t i = 0; i < from->n_annotations; i++)
        (void)nri_container_set_annotation(to, from->annotations[i]->key,
                                           from->annotations[i]->value);
    if (from->n_args > 0)
        (void)nri_container_set_args(to, TEXTS(from->args), from->n_args);
    for (size_t i = 0; i < from->n_env; i++)
        replay_env(to, from->env[i]);
    for (size_t i = 0; i < from->n_mounts; i++)
        (void)nri_container_set_mount(to, from->mounts[i]->destination, from->mounts[i]->type,
                                      from->mounts[i]->source, TEXTS(from->mounts[i]->options),
                                      from->mounts[i]->n_options);
    for (size_t i = 0; i < from->n_rlimits; i++)
        (void)nri_container_set_rlimit(to, from->rlimits[i]->type, from->rlimits[i]->hard,
                                       from->rlimits[i]->soft);
    for (size_t i = 0; i < from->n_cdi_devices; i++)
        (void)nri_container_add_cdi_device(to, from->cdi_devices[i]->name);
}

void replay_container(nri_container *to, const MESSAGE(Container) * from)
{
    if (*from->id != '\0')
        (void)nri_container_set_id(to, from->id);
    if (*from->pod_sandbox_id != '\0')
        (void)nri_container_set_pod_sandbox_id(to, from->pod_sandbox_id);
    if (*from->name != '\0')
        (void)nri_container_set_name(to, from->name);
    replay_container_state(to, from);
    replay_container_lists(to, from);
    if (from->hooks != NULL)
        REPLAY_HOOKS(nri_container_add_hook, to, from->hooks);
    if (from->linux != NULL)
        replay_container_linux(to, from->linux);
    if (from->user != NULL)
        (void)nri_container_set_user(to, from->user->uid, from->user->gid,
                                     from->user->additional_gids, from->user->n_additional_gids);
    if (from->image != NULL)
        (void)nri_container_set_image(to, from->image->name, from->image->digest,
                                      from->image->config_digest);
}

/* ---- adjustments ---- */

static void replay_device(nri_adjustment *to, const MESSAGE(LinuxDevice) * device)
{
    if (device->path[0] == '-')
        (void)nri_adjustment_remove_device(to, device->path + 1);
    else
        (void)nri_adjustment_add_device(to, device->path, device->type, device->major,
                                        device->minor, VALUE_OF(device->file_mode),
                                        VALUE_OF(device->uid), VALUE_OF(device->gid));
}

static void replay_linux_lists(nri_adjustment *to, const MESSAGE(LinuxContainerAdjustment) * from)
{
    for (size_t i = 0; i < from->n_devices; i++)
        replay_device(to, from->devices[i]);
    for (size_t i = 0; i < from->n_namespaces; i++) {
        if (from->namespaces[i]->type[0] == '-')
            (void)nri_adjustment_remove_namespace(to, from->namespaces[i]->type + 1);
        else
            (void)nri_adjustment_add_namespace(to, from->namespaces[i]->type,
                                               from->namespaces[i]->path);
    }
    for (size_t i = 0; i < from->n_sysctl; i++) {
        if (from->sysctl[i]->key[0] == '-')
            (void)nri_adjustment_remove_sysctl(to, from->sysctl[i]->key + 1);
        else
            (void)nri_adjustment_set_sysctl(to, from->sysctl[i]->key, from->sysctl[i]->value);
    }
    for (size_t i = 0; i < from->n_net_devices; i++) {
        if (from->net_devices[i]->key[0] == '-')
            (void)nri_adjustment_remove_net_device(to, from->net_devices[i]->key + 1);
        else
            (void)nri_adjustment_add_net_device(to, from->net_devices[i]->key,
                                                from->net_devices[i]->value->name);
    }
}

static void replay_linux(nri_adjustment *to, const MESSAGE(LinuxContainerAdjustment) * from,
                         bool direct)
{
    int flags[ROOM];
    replay_linux_lists(to, from);
    if (from->resources != NULL && direct)
        replay_resources_of_adjustment(to, from->resources);
    else if (from->resources != NULL)
        replay_resources(nri_adjustment_edit_resources(to), from->resources);
    if (*from->cgroups_path != '\0')
        (void)nri_adjustment_set_cgroups_path(to, from->cgroups_path);
    if (from->oom_score_adj != NULL)
        (void)nri_adjustment_set_oom_score_adj(to, from->oom_score_adj->value);
    if (from->io_priority != NULL)
        (void)nri_adjustment_set_io_priority(to, (enum nri_ioprio_class)from->io_priority->class_,
                                             from->io_priority->priority);
    if (from->seccomp_policy != NULL)
        replay_seccomp(nri_adjustment_edit_seccomp_policy(to), from->seccomp_policy);
    if (from->scheduler != NULL)
        REPLAY_SCHEDULER(nri_adjustment_set_scheduler, to, from->scheduler);
    if (from->rdt != NULL) {
        REPLAY_RDT(nri_adjustment, to, from->rdt);
        if (from->rdt->remove)
            (void)nri_adjustment_remove_rdt(to);
    }
    if (from->memory_policy != NULL)
        (void)nri_adjustment_set_memory_policy(
            to, (enum nri_mpol_mode)from->memory_policy->mode, from->memory_policy->nodes,
            flags_of(from->memory_policy->flags, from->memory_policy->n_flags, flags),
            from->memory_policy->n_flags);
}

static void replay_mount(nri_adjustment *to, const MESSAGE(Mount) * mount)
{
    if (mount->destination[0] == '-')
        (void)nri_adjustment_remove_mount(to, mount->destination + 1);
    else
        (void)nri_adjustment_add_mount(to, mount->destination, mount->type, mount->source,
                                       TEXTS(mount->options), mount->n_options);
}

static void replay_args(nri_adjustment *to, const MESSAGE(ContainerAdjustment) * from)
{
    if (from->n_args > 0 && *from->args[0] == '\0')
        (void)nri_adjustment_replace_args(to, TEXTS(from->args) + 1, from->n_args - 1);
    else if (from->n_args > 0)
        (void)nri_adjustment_set_args(to, TEXTS(from->args), from->n_args);
}

void replay_adjustment(nri_adjustment *to, const MESSAGE(ContainerAdjustment) * from, bool direct)
{
    for (size_t i = 0; i < from->n_annotations; i++) {
        if (from->annotations[i]->key[0] == '-')
            (void)nri_adjustment_remove_annotation(to, from->annotations[i]->key + 1);
        else
            (void)nri_adjustment_add_annotation(to, from->annotations[i]->key,
                                                from->annotations[i]->value);
    }
    for (size_t i = 0; i < from->n_mounts; i++)
        replay_mount(to, from->mounts[i]);
    for (size_t i = 0; i < from->n_env; i++) {
        if (from->env[i]->key[0] == '-')
            (void)nri_adjustment_remove_env(to, from->env[i]->key + 1);
        else
            (void)nri_adjustment_add_env(to, from->env[i]->key, from->env[i]->value);
    }
    if (from->hooks != NULL)
        REPLAY_HOOKS(nri_adjustment_add_hook, to, from->hooks);
    if (from->linux != NULL)
        replay_linux(to, from->linux, direct);
    for (size_t i = 0; i < from->n_rlimits; i++)
        (void)nri_adjustment_add_rlimit(to, from->rlimits[i]->type, from->rlimits[i]->hard,
                                        from->rlimits[i]->soft);
    for (size_t i = 0; i < from->n_cdi_devices; i++)
        (void)nri_adjustment_add_cdi_device(to, from->cdi_devices[i]->name);
    replay_args(to, from);
}

/* ---- updates ---- */

void replay_updates(nri_updates *to, const MESSAGE(UpdateContainersRequest) * from, bool direct)
{
    for (size_t i = 0; i < from->n_update; i++) {
        const MESSAGE(ContainerUpdate) *one = from->update[i];
        nri_update *update = nri_updates_container(to, one->container_id);
        if (one->linux != NULL && one->linux->resources != NULL && direct)
            replay_resources_of_update(update, one->linux->resources);
        else if (one->linux != NULL && one->linux->resources != NULL)
            replay_resources(nri_update_edit_resources(update), one->linux->resources);
        if (one->ignore_failure)
            (void)nri_update_set_ignore_failure(update, true);
    }
    for (size_t i = 0; i < from->n_evict; i++)
        (void)nri_updates_evict(to, from->evict[i]->container_id, from->evict[i]->reason);
}
