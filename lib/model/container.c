/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "model/model.h"
#include "model/reader.h"

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

const nri_resources *nri_container_resources(const nri_container *container)
{
    const Nri__Pkg__Api__V1alpha1__LinuxContainer *linux_part = message_of(container)->linux;
    return nri_resources_view(linux_part != NULL ? linux_part->resources : NULL);
}

const char *nri_container_cgroups_path(const nri_container *container)
{
    const Nri__Pkg__Api__V1alpha1__LinuxContainer *linux_part = message_of(container)->linux;
    return nri_reader_text(linux_part != NULL ? linux_part->cgroups_path : NULL);
}

size_t nri_container_mount_count(const nri_container *container)
{
    return message_of(container)->n_mounts;
}
