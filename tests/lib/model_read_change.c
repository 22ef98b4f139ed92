/* SPDX-License-Identifier: Apache-2.0 */
/* Adjustments, updates and evictions. */
#include "model_read.h"

#include <string.h>

/* One item of a map or list with removals: the key as it stands on the wire, and the value. */
static char *read_key(struct model_reading *reading, const char *key, bool removed)
{
    return removed ? model_read_marker(reading, key) : model_read_tail(reading, key);
}

/* By PREFIX_count(), PREFIX_at() and PREFIX(), into the entries of `to->member`. What is not
 * removed is found, and the first or last one of it. */
#define READ_REMOVABLE(reading, to, member, entry, prefix, object)                                 \
    do {                                                                                           \
        const char *key_, *value_;                                                                 \
        bool removed_;                                                                             \
        (to)->n_##member = prefix##_count(object);                                                 \
        (to)->member = model_read_array(reading, (to)->n_##member, sizeof(void *));                \
        for (size_t i_ = 0; i_ < (to)->n_##member; i_++) {                                         \
            MODEL_PROMISE(reading, prefix##_at(object, i_, &key_, &value_, &removed_));            \
            (to)->member[i_] = model_read_new(reading, entry);                                     \
            (to)->member[i_]->key = read_key(reading, key_, removed_);                             \
            (to)->member[i_]->value = model_read_text(reading, value_);                            \
            MODEL_PROMISE(reading,                                                                 \
                          removed_ || !model_read_is_plain(key_) || prefix(object, key_, NULL));   \
            MODEL_PROMISE(reading, !removed_ || *value_ == '\0');                                  \
        }                                                                                          \
        MODEL_PROMISE(reading, !prefix##_at(object, (to)->n_##member, &key_, &value_, &removed_)); \
    } while (0)

static void read_mounts(struct model_reading *reading, const nri_adjustment *adjustment,
                        MODEL(ContainerAdjustment) * to)
{
    bool removed;
    to->n_mounts = nri_adjustment_mount_count(adjustment);
    to->mounts = model_read_array(reading, to->n_mounts, sizeof(void *));
    for (size_t i = 0; i < to->n_mounts; i++) {
        const nri_mount *mount = nri_adjustment_mount_at(adjustment, i, &removed);
        to->mounts[i] = model_read_mount(reading, mount);
        MODEL_PROMISE(reading, strcmp(nri_adjustment_mount_destination_at(adjustment, i),
                                      nri_mount_destination(mount) + removed) == 0);
    }
    MODEL_PROMISE(reading, *nri_adjustment_mount_destination_at(adjustment, to->n_mounts) == '\0');
}

static void read_args(struct model_reading *reading, const nri_adjustment *adjustment,
                      MODEL(ContainerAdjustment) * to)
{
    const size_t marker = nri_adjustment_args_replace(adjustment) ? 1 : 0;
    const size_t count = nri_adjustment_arg_count(adjustment);
    to->n_args = marker + count;
    to->args = model_read_array(reading, to->n_args, sizeof(char *));
    if (marker == 1)
        to->args[0] = (char *)(uintptr_t)protobuf_c_empty_string;
    for (size_t i = 0; i < count; i++)
        to->args[marker + i] = model_read_text(reading, nri_adjustment_arg(adjustment, i));
    MODEL_PROMISE(reading, *nri_adjustment_arg(adjustment, count) == '\0');
}

static void read_rlimits(struct model_reading *reading, const nri_adjustment *adjustment,
                         MODEL(ContainerAdjustment) * to)
{
    const char *type;
    uint64_t hard, soft;
    to->n_rlimits = nri_adjustment_rlimit_count(adjustment);
    to->rlimits = model_read_array(reading, to->n_rlimits, sizeof(void *));
    for (size_t i = 0; i < to->n_rlimits; i++) {
        MODEL_PROMISE(reading, nri_adjustment_rlimit_at(adjustment, i, &type, &hard, &soft));
        to->rlimits[i] = model_read_rlimit(reading, type, hard, soft);
    }
    MODEL_PROMISE(reading,
                  !nri_adjustment_rlimit_at(adjustment, to->n_rlimits, &type, &hard, &soft));
}

static void read_devices(struct model_reading *reading, const nri_adjustment *adjustment,
                         MODEL(LinuxContainerAdjustment) * to)
{
    bool removed;
    to->n_devices = nri_adjustment_device_count(adjustment);
    to->devices = model_read_array(reading, to->n_devices, sizeof(void *));
    for (size_t i = 0; i < to->n_devices; i++) {
        const nri_device *device = nri_adjustment_device_at(adjustment, i, &removed);
        to->devices[i] = model_read_device(reading, device);
        MODEL_PROMISE(reading, strcmp(nri_adjustment_device_path_at(adjustment, i),
                                      nri_device_path(device) + removed) == 0);
    }
    MODEL_PROMISE(reading, *nri_adjustment_device_path_at(adjustment, to->n_devices) == '\0');
}

static void read_namespaces(struct model_reading *reading, const nri_adjustment *adjustment,
                            MODEL(LinuxContainerAdjustment) * to)
{
    const char *type, *path;
    bool removed;
    to->n_namespaces = nri_adjustment_namespace_count(adjustment);
    to->namespaces = model_read_array(reading, to->n_namespaces, sizeof(void *));
    for (size_t i = 0; i < to->n_namespaces; i++) {
        MODEL_PROMISE(reading, nri_adjustment_namespace_at(adjustment, i, &type, &path, &removed));
        to->namespaces[i] =
            model_read_new(reading, &nri__pkg__api__v1alpha1__linux_namespace__descriptor);
        to->namespaces[i]->type = read_key(reading, type, removed);
        to->namespaces[i]->path = model_read_text(reading, path);
    }
    MODEL_PROMISE(reading, !nri_adjustment_namespace_at(adjustment, to->n_namespaces, &type, &path,
                                                        &removed));
}

static void read_net_devices(struct model_reading *reading, const nri_adjustment *adjustment,
                             MODEL(LinuxContainerAdjustment) * to)
{
    const char *host_name, *name;
    bool removed;
    to->n_net_devices = nri_adjustment_net_device_count(adjustment);
    to->net_devices = model_read_array(reading, to->n_net_devices, sizeof(void *));
    for (size_t i = 0; i < to->n_net_devices; i++) {
        MODEL(LinuxContainerAdjustment__NetDevicesEntry) *entry = model_read_new(
            reading,
            &nri__pkg__api__v1alpha1__linux_container_adjustment__net_devices_entry__descriptor);
        MODEL_PROMISE(reading,
                      nri_adjustment_net_device_at(adjustment, i, &host_name, &name, &removed));
        entry->key = read_key(reading, host_name, removed);
        entry->value =
            model_read_new(reading, &nri__pkg__api__v1alpha1__linux_net_device__descriptor);
        entry->value->name = model_read_text(reading, name);
        to->net_devices[i] = entry;
    }
    MODEL_PROMISE(reading, !nri_adjustment_net_device_at(adjustment, to->n_net_devices, &host_name,
                                                         &name, &removed));
}

static MODEL(LinuxContainerAdjustment) *
    read_linux(struct model_reading *reading, const nri_adjustment *adjustment)
{
    MODEL(LinuxContainerAdjustment) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_container_adjustment__descriptor);
    int64_t score;
    int ioprio_class;
    int32_t priority;
    const nri_seccomp *seccomp;
    const nri_scheduler *scheduler;
    const nri_rdt *rdt;
    const nri_memory_policy *policy;
    read_devices(reading, adjustment, to);
    to->resources = model_read_resources(reading, nri_adjustment_resources(adjustment));
    to->cgroups_path = model_read_text(reading, nri_adjustment_cgroups_path(adjustment));
    if (nri_adjustment_oom_score_adj(adjustment, &score))
        to->oom_score_adj = model_read_int(reading, score);
    if (nri_adjustment_io_priority(adjustment, &ioprio_class, &priority))
        to->io_priority = model_read_io_priority(reading, ioprio_class, priority);
    bool present = nri_adjustment_seccomp_policy(adjustment, &seccomp);
    MODEL(LinuxSeccomp) *rules = model_read_seccomp(reading, seccomp);
    to->seccomp_policy = present ? rules : NULL;
    read_namespaces(reading, adjustment, to);
    READ_REMOVABLE(reading, to, sysctl,
                   &nri__pkg__api__v1alpha1__linux_container_adjustment__sysctl_entry__descriptor,
                   nri_adjustment_sysctl, adjustment);
    read_net_devices(reading, adjustment, to);
    present = nri_adjustment_scheduler(adjustment, &scheduler);
    MODEL(LinuxScheduler) *attributes = model_read_scheduler(reading, scheduler);
    to->scheduler = present ? attributes : NULL;
    present = nri_adjustment_rdt(adjustment, &rdt);
    MODEL(LinuxRdt) *settings = model_read_rdt(reading, rdt);
    to->rdt = present ? settings : NULL;
    present = nri_adjustment_memory_policy(adjustment, &policy);
    MODEL(LinuxMemoryPolicy) *nodes = model_read_memory_policy(reading, policy);
    to->memory_policy = present ? nodes : NULL;
    return to;
}

MODEL(ContainerAdjustment) *
    model_read_adjustment(struct model_reading *reading, const nri_adjustment *adjustment)
{
    MODEL(ContainerAdjustment) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__container_adjustment__descriptor);
    READ_REMOVABLE(reading, to, annotations,
                   &nri__pkg__api__v1alpha1__container_adjustment__annotations_entry__descriptor,
                   nri_adjustment_annotation, adjustment);
    read_mounts(reading, adjustment, to);
    READ_REMOVABLE(reading, to, env, &nri__pkg__api__v1alpha1__key_value__descriptor,
                   nri_adjustment_env, adjustment);
    to->hooks = model_read_new(reading, &nri__pkg__api__v1alpha1__hooks__descriptor);
    MODEL_READ_HOOKS(reading, to->hooks, nri_adjustment_hook, adjustment);
    to->linux = read_linux(reading, adjustment);
    read_rlimits(reading, adjustment, to);
    to->n_cdi_devices = nri_adjustment_cdi_device_count(adjustment);
    to->cdi_devices = model_read_array(reading, to->n_cdi_devices, sizeof(void *));
    for (size_t i = 0; i < to->n_cdi_devices; i++)
        to->cdi_devices[i] =
            model_read_cdi_device(reading, nri_adjustment_cdi_device(adjustment, i));
    read_args(reading, adjustment, to);
    return to;
}

/* ---- updates ---- */

static MODEL(ContainerUpdate) * read_update(struct model_reading *reading, const nri_update *update)
{
    MODEL(ContainerUpdate) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__container_update__descriptor);
    to->container_id = model_read_text(reading, nri_update_container_id(update));
    to->linux =
        model_read_new(reading, &nri__pkg__api__v1alpha1__linux_container_update__descriptor);
    to->linux->resources = model_read_resources(reading, nri_update_resources(update));
    to->ignore_failure = nri_update_ignore_failure(update);
    return to;
}

MODEL(UpdateContainersRequest) *
    model_read_updates(struct model_reading *reading, const nri_updates *updates)
{
    MODEL(UpdateContainersRequest) *to =
        model_read_new(reading, &nri__pkg__api__v1alpha1__update_containers_request__descriptor);
    const char *id, *reason;
    to->n_update = nri_updates_count(updates);
    to->update = model_read_array(reading, to->n_update, sizeof(void *));
    for (size_t i = 0; i < to->n_update; i++)
        to->update[i] = read_update(reading, nri_updates_at(updates, i));
    MODEL_PROMISE(reading, nri_updates_at(updates, to->n_update) != NULL);
    to->n_evict = nri_updates_eviction_count(updates);
    to->evict = model_read_array(reading, to->n_evict, sizeof(void *));
    for (size_t i = 0; i < to->n_evict; i++) {
        MODEL_PROMISE(reading, nri_updates_eviction_at(updates, i, &id, &reason));
        to->evict[i] =
            model_read_new(reading, &nri__pkg__api__v1alpha1__container_eviction__descriptor);
        to->evict[i]->container_id = model_read_text(reading, id);
        to->evict[i]->reason = model_read_text(reading, reason);
    }
    MODEL_PROMISE(reading, !nri_updates_eviction_at(updates, to->n_evict, &id, &reason));
    return to;
}
