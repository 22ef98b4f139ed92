/* SPDX-License-Identifier: Apache-2.0 */
/* Reading an adjustment, but for its part `linux`, which is adjustment_read_linux.c. All goes by
 * the message, whether that is a builder's or a decoded one; but a builder's own lists know their
 * keys, so that a look-up between two changes need not put the whole together. */
#include <string.h>

#include "model/adjustment_builder.h"
#include "model/hook.h"
#include "model/model.h"
#include "model/reader.h"
#include "model/rlimit.h"

typedef Nri__Pkg__Api__V1alpha1__ContainerAdjustment adjustment_message;

static const adjustment_message *message_of(const nri_adjustment *adjustment)
{
    static const adjustment_message empty = NRI__PKG__API__V1ALPHA1__CONTAINER_ADJUSTMENT__INIT;
    const adjustment_message *message = nri_adjustment_message(adjustment);
    return message != NULL ? message : &empty;
}

/* The entry of a key in a builder's list, as a map of one or of none. */
static struct nri_reader_map entry_of(const struct nri_keyed *list, const char *key)
{
    const struct nri_keyed_item *item = key != NULL ? nri_keyed_find(list, key, strlen(key)) : NULL;
    if (item == NULL || item->entry == NULL)
        return (struct nri_reader_map){NULL, 0};
    return (struct nri_reader_map){&item->entry, 1};
}

static bool is_built(const nri_adjustment *adjustment)
{
    return adjustment != NULL && adjustment->fixed == NULL;
}

static struct nri_reader_map annotations_of(const nri_adjustment *adjustment)
{
    const adjustment_message *message = message_of(adjustment);
    return (struct nri_reader_map){message->annotations, message->n_annotations};
}

size_t nri_adjustment_annotation_count(const nri_adjustment *adjustment)
{
    return annotations_of(adjustment).count;
}

bool nri_adjustment_annotation_at(const nri_adjustment *adjustment, size_t index, const char **key,
                                  const char **value, bool *removed)
{
    return nri_reader_change_at(annotations_of(adjustment), index, key, value, removed);
}

bool nri_adjustment_annotation(const nri_adjustment *adjustment, const char *key,
                               const char **value)
{
    return nri_reader_change_get(is_built(adjustment) ? entry_of(&adjustment->annotations, key)
                                                      : annotations_of(adjustment),
                                 key, value);
}

static struct nri_reader_map env_of(const nri_adjustment *adjustment)
{
    const adjustment_message *message = message_of(adjustment);
    return (struct nri_reader_map){message->env, message->n_env};
}

size_t nri_adjustment_env_count(const nri_adjustment *adjustment)
{
    return env_of(adjustment).count;
}

bool nri_adjustment_env_at(const nri_adjustment *adjustment, size_t index, const char **name,
                           const char **value, bool *removed)
{
    return nri_reader_change_at(env_of(adjustment), index, name, value, removed);
}

bool nri_adjustment_env(const nri_adjustment *adjustment, const char *name, const char **value)
{
    return nri_reader_change_get(
        is_built(adjustment) ? entry_of(&adjustment->env, name) : env_of(adjustment), name, value);
}

size_t nri_adjustment_mount_count(const nri_adjustment *adjustment)
{
    return message_of(adjustment)->n_mounts;
}

static const nri_mount *mount_at(const nri_adjustment *adjustment, size_t index)
{
    const adjustment_message *message = message_of(adjustment);
    return nri_mount_view(index < message->n_mounts ? message->mounts[index] : NULL);
}

const nri_mount *nri_adjustment_mount_at(const nri_adjustment *adjustment, size_t index,
                                         bool *removed)
{
    const nri_mount *mount = mount_at(adjustment, index);
    (void)nri_reader_key(nri_mount_destination(mount), removed);
    return mount;
}

const char *nri_adjustment_mount_destination_at(const nri_adjustment *adjustment, size_t index)
{
    return nri_reader_key(nri_mount_destination(mount_at(adjustment, index)), NULL);
}

/* An empty argument in front says "replace what another plugin set". */
bool nri_adjustment_args_replace(const nri_adjustment *adjustment)
{
    const adjustment_message *message = message_of(adjustment);
    return message->n_args > 0 && nri_text_length(nri_reader_text(message->args[0])) == 0;
}

size_t nri_adjustment_arg_count(const nri_adjustment *adjustment)
{
    const size_t in_front = nri_adjustment_args_replace(adjustment) ? 1 : 0;
    return message_of(adjustment)->n_args - in_front;
}

const char *nri_adjustment_arg(const nri_adjustment *adjustment, size_t index)
{
    const adjustment_message *message = message_of(adjustment);
    const size_t in_front = nri_adjustment_args_replace(adjustment) ? 1 : 0;
    const size_t count = message->n_args - in_front;
    bool found = index < count && message->args != NULL;
    return nri_reader_text(found ? message->args[in_front + index] : NULL);
}

size_t nri_adjustment_hook_count(const nri_adjustment *adjustment, enum nri_hook_stage stage)
{
    return nri_hooks_count(message_of(adjustment)->hooks, stage);
}

const nri_hook *nri_adjustment_hook_at(const nri_adjustment *adjustment, enum nri_hook_stage stage,
                                       size_t index)
{
    return nri_hooks_at(message_of(adjustment)->hooks, stage, index);
}

size_t nri_adjustment_rlimit_count(const nri_adjustment *adjustment)
{
    return message_of(adjustment)->n_rlimits;
}

bool nri_adjustment_rlimit_at(const nri_adjustment *adjustment, size_t index, const char **type,
                              uint64_t *hard, uint64_t *soft)
{
    const adjustment_message *message = message_of(adjustment);
    return nri_rlimits_at((struct nri_rlimits){message->rlimits, message->n_rlimits}, index, type,
                          hard, soft);
}

size_t nri_adjustment_cdi_device_count(const nri_adjustment *adjustment)
{
    return message_of(adjustment)->n_cdi_devices;
}

const char *nri_adjustment_cdi_device(const nri_adjustment *adjustment, size_t index)
{
    const adjustment_message *message = message_of(adjustment);
    const Nri__Pkg__Api__V1alpha1__CDIDevice *device =
        index < message->n_cdi_devices ? message->cdi_devices[index] : NULL;
    return nri_reader_text(device != NULL ? device->name : NULL);
}
