/* SPDX-License-Identifier: Apache-2.0 */
/* Reading a list of updates: a builder's, or a view of a decoded one. */
#include "model/reader.h"
#include "model/updates_builder.h"

static nri_updates *view(struct nri_arena *arena, const uint64_t seed[2],
                         Nri__Pkg__Api__V1alpha1__ContainerUpdate *const *list, size_t count,
                         int blocked, const char *blocked_text)
{
    nri_updates *updates = nri_updates_make(arena, seed, false, blocked, blocked_text);
    if (updates == NULL || count == 0)
        return updates;
    struct nri_update *made = nri_arena_array(arena, count, sizeof *made);
    updates->messages = nri_arena_array(arena, count, sizeof(ProtobufCMessage *));
    if (made == NULL || updates->messages == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        nri_update_init(&made[i], updates, 0);
        if (list[i] != NULL)
            made[i].message = *list[i];
        updates->messages[i] = &made[i].message.base;
    }
    updates->count = count;
    return updates;
}

nri_updates *nri_updates_view(struct nri_arena *arena,
                              Nri__Pkg__Api__V1alpha1__ContainerUpdate *const *list, size_t count,
                              int blocked, const char *blocked_text)
{
    const uint64_t no_seed[2] = {0, 0}; /* nothing is ever added that could be hashed */
    return view(arena, no_seed, list, count, blocked, blocked_text);
}

nri_updates *nri_updates_view_all(struct nri_arena *arena, const uint64_t seed[2],
                                  Nri__Pkg__Api__V1alpha1__ContainerUpdate *const *list,
                                  size_t count,
                                  Nri__Pkg__Api__V1alpha1__ContainerEviction *const *evictions,
                                  size_t eviction_count, int blocked, const char *blocked_text)
{
    nri_updates *updates = view(arena, seed, list, count, blocked, blocked_text);
    for (size_t i = 0; updates != NULL && i < eviction_count; i++) {
        const int code =
            nri_keyed_set(&updates->evictions, &updates->builder,
                          nri_reader_text(evictions[i]->container_id), NULL, &evictions[i]->base);
        if (code != 0)
            return NULL;
    }
    return updates;
}

const nri_update *nri_updates_at(const nri_updates *updates, size_t index)
{
    Nri__Pkg__Api__V1alpha1__ContainerUpdate **list;
    const size_t count = nri_updates_messages(updates, &list);
    return index < count ? nri_update_of(&list[index]->base) : nri_update_none();
}

const nri_resources *nri_update_resources(const nri_update *update)
{
    const Nri__Pkg__Api__V1alpha1__LinuxResources *resources = NULL;
    if (update != NULL)
        resources = nri_resources_builder_message(&update->resources);
    if (resources == NULL && update != NULL && update->message.linux != NULL)
        resources = update->message.linux->resources;
    return nri_resources_view(resources);
}

bool nri_update_ignore_failure(const nri_update *update)
{
    return update != NULL && update->message.ignore_failure != 0;
}

bool nri_updates_eviction_at(const nri_updates *updates, size_t index, const char **container_id,
                             const char **reason)
{
    const Nri__Pkg__Api__V1alpha1__ContainerEviction *eviction = NULL;
    if (index < nri_updates_eviction_count(updates))
        eviction = (const void *)updates->evictions.items[index]->entry;
    nri_reader_give(eviction != NULL ? eviction->container_id : NULL, container_id);
    nri_reader_give(eviction != NULL ? eviction->reason : NULL, reason);
    return eviction != NULL;
}
