/* SPDX-License-Identifier: Apache-2.0 */
/* Container but for its part `linux`, which is container_linux.c. */
#include <string.h>

#include "model/hook.h"
#include "model/model.h"
#include "model/reader.h"
#include "model/rlimit.h"

typedef Nri__Pkg__Api__V1alpha1__Container container_message;

static const container_message empty_container = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;

static const container_message *message_of(const nri_container *container)
{
    return container != NULL ? (const void *)container : &empty_container;
}

const nri_container *nri_container_view(const Nri__Pkg__Api__V1alpha1__Container *message)
{
    return (const void *)(message != NULL ? message : &empty_container);
}

const char *nri_container_id(const nri_container *container)
{
    return nri_reader_text(message_of(container)->id);
}

const char *nri_container_pod_sandbox_id(const nri_container *container)
{
    return nri_reader_text(message_of(container)->pod_sandbox_id);
}

const char *nri_container_name(const nri_container *container)
{
    return nri_reader_text(message_of(container)->name);
}

int nri_container_get_state(const nri_container *container)
{
    return (int)message_of(container)->state;
}

const char *nri_container_state_name(int state)
{
    switch (state) {
    case NRI_CONTAINER_CREATED:
        return "created";
    case NRI_CONTAINER_PAUSED:
        return "paused";
    case NRI_CONTAINER_RUNNING:
        return "running";
    case NRI_CONTAINER_STOPPED:
        return "stopped";
    default:
        return "unknown";
    }
}

uint32_t nri_container_pid(const nri_container *container)
{
    return message_of(container)->pid;
}

static struct nri_reader_map labels_of(const nri_container *container)
{
    const container_message *message = message_of(container);
    return (struct nri_reader_map){message->labels, message->n_labels};
}

static struct nri_reader_map annotations_of(const nri_container *container)
{
    const container_message *message = message_of(container);
    return (struct nri_reader_map){message->annotations, message->n_annotations};
}

size_t nri_container_label_count(const nri_container *container)
{
    return labels_of(container).count;
}

bool nri_container_label_at(const nri_container *container, size_t index, const char **key,
                            const char **value)
{
    return nri_reader_map_at(labels_of(container), index, key, value);
}

bool nri_container_label(const nri_container *container, const char *key, const char **value)
{
    return nri_reader_map_get(labels_of(container), key, value);
}

size_t nri_container_annotation_count(const nri_container *container)
{
    return annotations_of(container).count;
}

bool nri_container_annotation_at(const nri_container *container, size_t index, const char **key,
                                 const char **value)
{
    return nri_reader_map_at(annotations_of(container), index, key, value);
}

bool nri_container_annotation(const nri_container *container, const char *key, const char **value)
{
    return nri_reader_map_get(annotations_of(container), key, value);
}

size_t nri_container_arg_count(const nri_container *container)
{
    return message_of(container)->n_args;
}

const char *nri_container_arg(const nri_container *container, size_t index)
{
    const container_message *message = message_of(container);
    return nri_reader_text_at(message->args, message->n_args, index);
}

size_t nri_container_env_count(const nri_container *container)
{
    return message_of(container)->n_env;
}

const char *nri_container_env_at(const nri_container *container, size_t index)
{
    const container_message *message = message_of(container);
    return nri_reader_text_at(message->env, message->n_env, index);
}

bool nri_container_env(const nri_container *container, const char *name, const char **value)
{
    const container_message *message = message_of(container);
    /* A name with "=" would match inside a value: "A=B" in "A=B=c". */
    bool possible = name != NULL && name[0] != '\0' && strchr(name, '=') == NULL;
    size_t length = possible ? strlen(name) : 0;
    for (size_t i = message->n_env; possible && i-- > 0;) {
        const char *entry = nri_reader_text(message->env[i]);
        if (nri_text_length(entry) <= length || entry[length] != '=' ||
            memcmp(entry, name, length) != 0)
            continue;
        if (value != NULL)
            *value = entry + length + 1;
        return true;
    }
    if (value != NULL)
        *value = nri_reader_text(NULL);
    return false;
}

size_t nri_container_mount_count(const nri_container *container)
{
    return message_of(container)->n_mounts;
}

const nri_mount *nri_container_mount_at(const nri_container *container, size_t index)
{
    const container_message *message = message_of(container);
    return nri_mount_view(index < message->n_mounts ? message->mounts[index] : NULL);
}

bool nri_container_mount(const nri_container *container, const char *destination,
                         const nri_mount **mount)
{
    size_t length = destination != NULL ? strlen(destination) : 0;
    size_t count = destination != NULL ? nri_container_mount_count(container) : 0;
    for (size_t i = count; i-- > 0;) {
        const nri_mount *candidate = nri_container_mount_at(container, i);
        if (!nri_reader_text_is(nri_mount_destination(candidate), destination, length))
            continue;
        if (mount != NULL)
            *mount = candidate;
        return true;
    }
    if (mount != NULL)
        *mount = nri_mount_view(NULL);
    return false;
}

int64_t nri_container_created_at(const nri_container *container)
{
    return message_of(container)->created_at;
}

int64_t nri_container_started_at(const nri_container *container)
{
    return message_of(container)->started_at;
}

int64_t nri_container_finished_at(const nri_container *container)
{
    return message_of(container)->finished_at;
}

int32_t nri_container_exit_code(const nri_container *container)
{
    return message_of(container)->exit_code;
}

const char *nri_container_status_reason(const nri_container *container)
{
    return nri_reader_text(message_of(container)->status_reason);
}

const char *nri_container_status_message(const nri_container *container)
{
    return nri_reader_text(message_of(container)->status_message);
}

size_t nri_container_hook_count(const nri_container *container, enum nri_hook_stage stage)
{
    return nri_hooks_count(message_of(container)->hooks, stage);
}

const nri_hook *nri_container_hook_at(const nri_container *container, enum nri_hook_stage stage,
                                      size_t index)
{
    return nri_hooks_at(message_of(container)->hooks, stage, index);
}

static struct nri_rlimits rlimits_of(const nri_container *container)
{
    const container_message *message = message_of(container);
    return (struct nri_rlimits){message->rlimits, message->n_rlimits};
}

size_t nri_container_rlimit_count(const nri_container *container)
{
    return rlimits_of(container).count;
}

bool nri_container_rlimit_at(const nri_container *container, size_t index, const char **type,
                             uint64_t *hard, uint64_t *soft)
{
    return nri_rlimits_at(rlimits_of(container), index, type, hard, soft);
}

bool nri_container_rlimit(const nri_container *container, const char *type, uint64_t *hard,
                          uint64_t *soft)
{
    return nri_rlimits_find(rlimits_of(container), type, hard, soft);
}

size_t nri_container_cdi_device_count(const nri_container *container)
{
    return message_of(container)->n_cdi_devices;
}

const char *nri_container_cdi_device(const nri_container *container, size_t index)
{
    const container_message *message = message_of(container);
    const Nri__Pkg__Api__V1alpha1__CDIDevice *device =
        index < message->n_cdi_devices ? message->cdi_devices[index] : NULL;
    return nri_reader_text(device != NULL ? device->name : NULL);
}

bool nri_container_user(const nri_container *container, uint32_t *uid, uint32_t *gid)
{
    const Nri__Pkg__Api__V1alpha1__User *user = message_of(container)->user;
    if (uid != NULL)
        *uid = user != NULL ? user->uid : 0;
    if (gid != NULL)
        *gid = user != NULL ? user->gid : 0;
    return user != NULL;
}

size_t nri_container_additional_gid_count(const nri_container *container)
{
    const Nri__Pkg__Api__V1alpha1__User *user = message_of(container)->user;
    return user != NULL ? user->n_additional_gids : 0;
}

uint32_t nri_container_additional_gid(const nri_container *container, size_t index)
{
    return index < nri_container_additional_gid_count(container)
               ? message_of(container)->user->additional_gids[index]
               : 0;
}

bool nri_container_image(const nri_container *container, const char **name, const char **digest,
                         const char **config_digest)
{
    const Nri__Pkg__Api__V1alpha1__Image *image = message_of(container)->image;
    nri_reader_give(image != NULL ? image->name : NULL, name);
    nri_reader_give(image != NULL ? image->digest : NULL, digest);
    nri_reader_give(image != NULL ? image->config_digest : NULL, config_digest);
    return image != NULL;
}
