/* SPDX-License-Identifier: Apache-2.0 */
/* Pod sandboxes and containers. */
#include "model_read.h"

#include <string.h>

static MODEL(LinuxPodSandbox) * read_pod_linux(struct model_reading *reading, const nri_pod *pod)
{
    MODEL(LinuxPodSandbox) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_pod_sandbox__descriptor);
    const char *type, *path;
    to->pod_overhead = model_read_resources(reading, nri_pod_overhead(pod));
    to->pod_resources = model_read_resources(reading, nri_pod_pod_resources(pod));
    to->cgroup_parent = model_read_text(reading, nri_pod_cgroup_parent(pod));
    to->cgroups_path = model_read_text(reading, nri_pod_cgroups_path(pod));
    to->n_namespaces = nri_pod_namespace_count(pod);
    to->namespaces = model_read_array(reading, to->n_namespaces, sizeof(void *));
    for (size_t i = 0; i < to->n_namespaces; i++) {
        MODEL_PROMISE(reading, nri_pod_namespace_at(pod, i, &type, &path));
        to->namespaces[i] = model_read_namespace(reading, type, path);
        MODEL_PROMISE(reading,
                      !model_read_is_plain(type) || nri_pod_namespace_path(pod, type, &path));
    }
    MODEL_PROMISE(reading, !nri_pod_namespace_at(pod, to->n_namespaces, &type, &path));
    to->resources = model_read_resources(reading, nri_pod_resources(pod));
    return to;
}

MODEL(PodSandbox) * model_read_pod(struct model_reading *reading, const nri_pod *pod)
{
    MODEL(PodSandbox) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__pod_sandbox__descriptor);
    to->id = model_read_text(reading, nri_pod_id(pod));
    to->name = model_read_text(reading, nri_pod_name(pod));
    to->uid = model_read_text(reading, nri_pod_uid(pod));
    to->namespace_ = model_read_text(reading, nri_pod_namespace(pod));
    MODEL_READ_PAIRS(reading, to, labels,
                     &nri__pkg__api__v1alpha1__pod_sandbox__labels_entry__descriptor, nri_pod_label,
                     pod);
    MODEL_READ_PAIRS(reading, to, annotations,
                     &nri__pkg__api__v1alpha1__pod_sandbox__annotations_entry__descriptor,
                     nri_pod_annotation, pod);
    to->runtime_handler = model_read_text(reading, nri_pod_runtime_handler(pod));
    to->linux = read_pod_linux(reading, pod);
    to->pid = nri_pod_pid(pod);
    MODEL_READ_TEXTS(reading, to, ips, nri_pod_ip_count, nri_pod_ip, pod);
    return to;
}

/* ---- containers ---- */

/* Each variable with a name is found by it; where several have it, the last one. */
static void look_up_env(struct model_reading *reading, const nri_container *container)
{
    const char *value;
    for (size_t i = 0; i < nri_container_env_count(container); i++) {
        const char *variable = nri_container_env_at(container, i);
        const char *equals = strchr(variable, '=');
        if (equals == NULL || equals == variable || !model_read_is_plain(variable))
            continue;
        const size_t length = (size_t)(equals - variable);
        char *name = model_read_array(reading, length + 1, 1);
        memcpy(name, variable, length);
        name[length] = '\0';
        MODEL_PROMISE(reading, nri_container_env(container, name, &value));
        (void)strlen(value);
    }
}

static void read_mounts(struct model_reading *reading, const nri_container *container,
                        MODEL(Container) * to)
{
    const nri_mount *found;
    to->n_mounts = nri_container_mount_count(container);
    to->mounts = model_read_array(reading, to->n_mounts, sizeof(void *));
    for (size_t i = 0; i < to->n_mounts; i++) {
        const nri_mount *mount = nri_container_mount_at(container, i);
        const char *destination = nri_mount_destination(mount);
        to->mounts[i] = model_read_mount(reading, mount);
        MODEL_PROMISE(reading, !model_read_is_plain(destination) ||
                                   nri_container_mount(container, destination, &found));
    }
    MODEL_PROMISE(reading, nri_container_mount_at(container, to->n_mounts) != NULL);
}

static void read_rlimits(struct model_reading *reading, const nri_container *container,
                         MODEL(Container) * to)
{
    const char *type;
    uint64_t hard, soft;
    to->n_rlimits = nri_container_rlimit_count(container);
    to->rlimits = model_read_array(reading, to->n_rlimits, sizeof(void *));
    for (size_t i = 0; i < to->n_rlimits; i++) {
        MODEL_PROMISE(reading, nri_container_rlimit_at(container, i, &type, &hard, &soft));
        to->rlimits[i] = model_read_rlimit(reading, type, hard, soft);
        MODEL_PROMISE(reading, !model_read_is_plain(type) ||
                                   nri_container_rlimit(container, type, &hard, &soft));
    }
    MODEL_PROMISE(reading, !nri_container_rlimit_at(container, to->n_rlimits, &type, &hard, &soft));
}

static void read_user_and_image(struct model_reading *reading, const nri_container *container,
                                MODEL(Container) * to)
{
    uint32_t uid, gid;
    const char *name, *digest, *config_digest;
    if (nri_container_user(container, &uid, &gid)) {
        to->user = model_read_new(reading, &nri__pkg__api__v1alpha1__user__descriptor);
        to->user->uid = uid;
        to->user->gid = gid;
        to->user->n_additional_gids = nri_container_additional_gid_count(container);
        to->user->additional_gids =
            model_read_array(reading, to->user->n_additional_gids, sizeof(uint32_t));
        for (size_t i = 0; i < to->user->n_additional_gids; i++)
            to->user->additional_gids[i] = nri_container_additional_gid(container, i);
    }
    if (nri_container_image(container, &name, &digest, &config_digest)) {
        to->image = model_read_new(reading, &nri__pkg__api__v1alpha1__image__descriptor);
        to->image->name = model_read_text(reading, name);
        to->image->digest = model_read_text(reading, digest);
        to->image->config_digest = model_read_text(reading, config_digest);
    }
}

static void read_devices(struct model_reading *reading, const nri_container *container,
                         MODEL(LinuxContainer) * to)
{
    const nri_device *found;
    to->n_devices = nri_container_device_count(container);
    to->devices = model_read_array(reading, to->n_devices, sizeof(void *));
    for (size_t i = 0; i < to->n_devices; i++) {
        const nri_device *device = nri_container_device_at(container, i);
        const char *path = nri_device_path(device);
        to->devices[i] = model_read_device(reading, device);
        MODEL_PROMISE(reading,
                      !model_read_is_plain(path) || nri_container_device(container, path, &found));
    }
    MODEL_PROMISE(reading, nri_container_device_at(container, to->n_devices) != NULL);
}

static void read_namespaces(struct model_reading *reading, const nri_container *container,
                            MODEL(LinuxContainer) * to)
{
    const char *type, *path;
    to->n_namespaces = nri_container_namespace_count(container);
    to->namespaces = model_read_array(reading, to->n_namespaces, sizeof(void *));
    for (size_t i = 0; i < to->n_namespaces; i++) {
        MODEL_PROMISE(reading, nri_container_namespace_at(container, i, &type, &path));
        to->namespaces[i] = model_read_namespace(reading, type, path);
        MODEL_PROMISE(reading, !model_read_is_plain(type) ||
                                   nri_container_namespace_path(container, type, &path));
    }
    MODEL_PROMISE(reading, !nri_container_namespace_at(container, to->n_namespaces, &type, &path));
}

static void read_net_devices(struct model_reading *reading, const nri_container *container,
                             MODEL(LinuxContainer) * to)
{
    const char *host_name, *name, *found;
    to->n_net_devices = nri_container_net_device_count(container);
    to->net_devices = model_read_array(reading, to->n_net_devices, sizeof(void *));
    for (size_t i = 0; i < to->n_net_devices; i++) {
        MODEL(LinuxContainer__NetDevicesEntry) *entry = model_read_new(
            reading, &nri__pkg__api__v1alpha1__linux_container__net_devices_entry__descriptor);
        MODEL_PROMISE(reading, nri_container_net_device_at(container, i, &host_name, &name));
        entry->key = model_read_text(reading, host_name);
        entry->value =
            model_read_new(reading, &nri__pkg__api__v1alpha1__linux_net_device__descriptor);
        entry->value->name = model_read_text(reading, name);
        MODEL_PROMISE(
            reading, !model_read_is_plain(host_name) ||
                         (nri_container_net_device(container, host_name, &found) && found == name));
        to->net_devices[i] = entry;
    }
}

static void read_security(struct model_reading *reading, const nri_container *container,
                          MODEL(LinuxContainer) * to)
{
    const char *localhost_ref;
    const nri_seccomp *seccomp;
    int type;
    if (nri_container_seccomp_profile(container, &type, &localhost_ref)) {
        to->seccomp_profile =
            model_read_new(reading, &nri__pkg__api__v1alpha1__security_profile__descriptor);
        memcpy(&to->seccomp_profile->profile_type, &type, sizeof type);
        to->seccomp_profile->localhost_ref = model_read_text(reading, localhost_ref);
    }
    bool present = nri_container_seccomp_policy(container, &seccomp);
    MODEL(LinuxSeccomp) *policy = model_read_seccomp(reading, seccomp);
    to->seccomp_policy = present ? policy : NULL;
}

static MODEL(LinuxContainer) *
    read_container_linux(struct model_reading *reading, const nri_container *container)
{
    MODEL(LinuxContainer) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_container__descriptor);
    int64_t score;
    int ioprio_class;
    int32_t priority;
    const nri_scheduler *scheduler;
    const nri_rdt *rdt;
    read_namespaces(reading, container, to);
    read_devices(reading, container, to);
    to->resources = model_read_resources(reading, nri_container_resources(container));
    if (nri_container_oom_score_adj(container, &score))
        to->oom_score_adj = model_read_int(reading, score);
    to->cgroups_path = model_read_text(reading, nri_container_cgroups_path(container));
    if (nri_container_io_priority(container, &ioprio_class, &priority))
        to->io_priority = model_read_io_priority(reading, ioprio_class, priority);
    read_security(reading, container, to);
    MODEL_READ_PAIRS(reading, to, sysctl,
                     &nri__pkg__api__v1alpha1__linux_container__sysctl_entry__descriptor,
                     nri_container_sysctl, container);
    read_net_devices(reading, container, to);
    bool present = nri_container_scheduler(container, &scheduler);
    MODEL(LinuxScheduler) *attributes = model_read_scheduler(reading, scheduler);
    to->scheduler = present ? attributes : NULL;
    present = nri_container_rdt(container, &rdt);
    MODEL(LinuxRdt) *settings = model_read_rdt(reading, rdt);
    to->rdt = present ? settings : NULL;
    return to;
}

MODEL(Container) *
    model_read_container(struct model_reading *reading, const nri_container *container)
{
    MODEL(Container) *to = model_read_new(reading, &nri__pkg__api__v1alpha1__container__descriptor);
    const int state = nri_container_get_state(container);
    to->id = model_read_text(reading, nri_container_id(container));
    to->pod_sandbox_id = model_read_text(reading, nri_container_pod_sandbox_id(container));
    to->name = model_read_text(reading, nri_container_name(container));
    memcpy(&to->state, &state, sizeof state);
    MODEL_READ_PAIRS(reading, to, labels,
                     &nri__pkg__api__v1alpha1__container__labels_entry__descriptor,
                     nri_container_label, container);
    MODEL_READ_PAIRS(reading, to, annotations,
                     &nri__pkg__api__v1alpha1__container__annotations_entry__descriptor,
                     nri_container_annotation, container);
    MODEL_READ_TEXTS(reading, to, args, nri_container_arg_count, nri_container_arg, container);
    MODEL_READ_TEXTS(reading, to, env, nri_container_env_count, nri_container_env_at, container);
    look_up_env(reading, container);
    read_mounts(reading, container, to);
    to->hooks = model_read_new(reading, &nri__pkg__api__v1alpha1__hooks__descriptor);
    MODEL_READ_HOOKS(reading, to->hooks, nri_container_hook, container);
    to->linux = read_container_linux(reading, container);
    to->pid = nri_container_pid(container);
    read_rlimits(reading, container, to);
    to->created_at = nri_container_created_at(container);
    to->started_at = nri_container_started_at(container);
    to->finished_at = nri_container_finished_at(container);
    to->exit_code = nri_container_exit_code(container);
    to->status_reason = model_read_text(reading, nri_container_status_reason(container));
    to->status_message = model_read_text(reading, nri_container_status_message(container));
    to->n_cdi_devices = nri_container_cdi_device_count(container);
    to->cdi_devices = model_read_array(reading, to->n_cdi_devices, sizeof(void *));
    for (size_t i = 0; i < to->n_cdi_devices; i++)
        to->cdi_devices[i] = model_read_cdi_device(reading, nri_container_cdi_device(container, i));
    read_user_and_image(reading, container, to);
    return to;
}
