/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/merging.h"

int nri_merge_no_memory(struct nri_merge *merge, struct nri_error *error)
{
    int code = merge->arena->failure != 0 ? merge->arena->failure : NRI_E_NOMEM;
    return nri_error_set(error, code, "merging the reply of plugin \"%s\": %s",
                         merge->plugin != NULL ? merge->plugin : "", nri_strerror(code));
}

bool nri_merge_note(struct nri_merge *merge, const struct nri_owners *owners,
                    enum nri_merge_what what, enum nri_field field, const struct nri_key *key,
                    const char *from)
{
    if (!merge->settings.changes)
        return true;
    if (merge->change_count == merge->change_room) {
        size_t room = merge->change_room == 0 ? 16 : merge->change_room * 2;
        struct nri_merge_change *changes = nri_arena_array(merge->arena, room, sizeof *changes);
        if (changes == NULL)
            return false;
        if (merge->change_count > 0)
            memcpy(changes, merge->changes, merge->change_count * sizeof *changes);
        merge->changes = changes;
        merge->change_room = room;
    }
    merge->changes[merge->change_count++] = (struct nri_merge_change){
        .container = owners->id,
        .key = key == NULL ? NULL : key->text,
        .key_length = key == NULL ? 0 : key->length,
        .from = from,
        .field = field,
        .what = what,
    };
    return true;
}

static void init_create(struct nri_merge *merge)
{
    merge->adjust = NRI_MESSAGE_NEW(adjustment_message, CONTAINER_ADJUSTMENT);
    merge->linux_part = NRI_MESSAGE_NEW(linux_adjustment_message, LINUX_CONTAINER_ADJUSTMENT);
    merge->resources = NRI_MESSAGE_NEW(resources_message, LINUX_RESOURCES);
    merge->memory = NRI_MESSAGE_NEW(memory_message, LINUX_MEMORY);
    merge->cpu = NRI_MESSAGE_NEW(cpu_message, LINUX_CPU);
    merge->rdt = NRI_MESSAGE_NEW(rdt_message, LINUX_RDT);
    merge->target.owners.id = merge->container->id;
    merge->target.lists = merge->lists;
    merge->target.parts[NRI_PART_ADJUST] = &merge->adjust;
    merge->target.parts[NRI_PART_LINUX] = &merge->linux_part;
    merge->target.parts[NRI_PART_RESOURCES] = &merge->resources;
    merge->target.parts[NRI_PART_MEMORY] = &merge->memory;
    merge->target.parts[NRI_PART_CPU] = &merge->cpu;
}

/* Go shows plugins memory and CPU, empty or not. */
static bool init_asked(struct nri_merge *merge, const resources_message *resources)
{
    struct {
        resources_message resources;
        memory_message memory;
        cpu_message cpu;
    } * shown;
    merge->asked = resources;
    merge->resources_changed = true;
    if (!merge->settings.go_compatible)
        return true;
    shown = nri_arena_alloc(merge->arena, sizeof *shown);
    if (shown == NULL)
        return false;
    shown->memory = NRI_MESSAGE_NEW(memory_message, LINUX_MEMORY);
    shown->cpu = NRI_MESSAGE_NEW(cpu_message, LINUX_CPU);
    shown->resources = NRI_MESSAGE_NEW(resources_message, LINUX_RESOURCES);
    if (resources != NULL)
        shown->resources = *resources;
    if (shown->resources.memory == NULL)
        shown->resources.memory = &shown->memory;
    if (shown->resources.cpu == NULL)
        shown->resources.cpu = &shown->cpu;
    merge->asked = &shown->resources;
    return true;
}

static const container_message *empty_container(struct nri_arena *arena)
{
    container_message *container = nri_arena_alloc(arena, sizeof *container);
    if (container != NULL)
        *container = NRI_MESSAGE_NEW(container_message, CONTAINER);
    return container;
}

int nri_merge_new(struct nri_merge **merge, struct nri_arena *arena, const uint64_t seed[2],
                  const struct nri_merge_settings *settings, enum nri_event event,
                  const Nri__Pkg__Api__V1alpha1__PodSandbox *pod,
                  const container_message *container, const resources_message *resources,
                  struct nri_error *error)
{
    (void)pod; /* nothing of a pod is merged, today */
    if (event != NRI_EVENT_CREATE_CONTAINER && event != NRI_EVENT_UPDATE_CONTAINER &&
        event != NRI_EVENT_STOP_CONTAINER)
        return nri_error_set(error, NRI_E_EVENT, "%s: no event whose replies are merged",
                             nri_event_name(event));
    struct nri_merge *made = nri_arena_zero(arena, sizeof *made);
    if (container == NULL)
        container = empty_container(arena);
    if (made == NULL || container == NULL)
        return nri_error_set(error, arena->failure, "merging: %s", nri_strerror(arena->failure));
    made->arena = arena;
    memcpy(made->seed, seed, sizeof made->seed);
    if (settings != NULL)
        made->settings = *settings;
    made->event = event;
    made->container = container;
    made->visible.given = container;
    made->create_result = NRI_MESSAGE_NEW(create_message, CREATE_CONTAINER_RESPONSE);
    made->update_result = NRI_MESSAGE_NEW(update_reply_message, UPDATE_CONTAINER_RESPONSE);
    made->stop_result = NRI_MESSAGE_NEW(stop_message, STOP_CONTAINER_RESPONSE);
    if (event == NRI_EVENT_CREATE_CONTAINER)
        init_create(made);
    if (event == NRI_EVENT_UPDATE_CONTAINER && !init_asked(made, resources))
        return nri_merge_no_memory(made, error);
    *merge = made;
    return 0;
}

const container_message *nri_merge_container(struct nri_merge *merge, nri_members *changed)
{
    return nri_visible_get(merge, changed);
}

const resources_message *nri_merge_resources(struct nri_merge *merge, bool *changed)
{
    if (changed != NULL)
        *changed = merge->resources_changed;
    merge->resources_changed = false;
    if (merge->own == NULL || !merge->own->resolved)
        return merge->asked;
    return nri_merge_update_resources(merge, merge->own);
}

static int enter(struct nri_merge *merge, enum nri_event event, const char *plugin,
                 struct nri_error *error)
{
    if (merge->event != event)
        return nri_error_set(error, NRI_E_EVENT, "a reply to %s where %s is merged",
                             nri_event_name(event), nri_event_name(merge->event));
    merge->plugin = plugin;
    merge->change_count = 0;
    return 0;
}

static bool note_eviction(struct nri_merge *merge, const eviction_message *eviction)
{
    const struct nri_owners about = {.id = eviction->container_id};
    const struct nri_key reason = nri_key_from(eviction->reason);
    return nri_merge_note(merge, &about, NRI_MERGE_EVICTED, NRI_FIELD_NONE, &reason, NULL);
}

/* What is to be evicted, each container once with the first reason. Go drops evictions. */
static int evict(struct nri_merge *merge, eviction_message *const *evictions, size_t count,
                 struct nri_error *error)
{
    if (merge->settings.go_compatible)
        return 0;
    for (size_t i = 0; i < count; i++) {
        const size_t had = merge->evicted.count;
        struct nri_keys_item *item =
            nri_keys_get(&merge->evicted, merge->arena, merge->seed, nri_key_of(evictions[i]));
        if (item != NULL && merge->evicted.count == had)
            continue;
        if (item == NULL || !nri_slots_add(&merge->evictions, merge->arena, evictions[i], NULL) ||
            !note_eviction(merge, evictions[i]))
            return nri_merge_no_memory(merge, error);
    }
    return 0;
}

int nri_merge_create_reply(struct nri_merge *merge, const char *plugin, const create_message *reply,
                           struct nri_error *error)
{
    bool effect = false;
    int code = enter(merge, NRI_EVENT_CREATE_CONTAINER, plugin, error);
    if (code != 0 || reply == NULL)
        return code;
    if (reply->adjust != NULL) {
        code = nri_merge_adjust(merge, reply->adjust, &effect, error);
        if (code == 0 && effect && !nri_visible_add(merge, reply->adjust))
            code = nri_merge_no_memory(merge, error);
        merge->assembled = false;
    }
    if (code == 0 && reply->n_update > 0) {
        code = nri_merge_updates(merge, reply->update, reply->n_update, error);
        merge->assembled = false;
    }
    if (code == 0 && reply->n_evict > 0) {
        code = evict(merge, reply->evict, reply->n_evict, error);
        merge->assembled = false;
    }
    return code;
}

int nri_merge_update_reply(struct nri_merge *merge, const char *plugin,
                           const update_reply_message *reply, struct nri_error *error)
{
    int code = enter(merge, NRI_EVENT_UPDATE_CONTAINER, plugin, error);
    if (code != 0 || reply == NULL)
        return code;
    merge->assembled = false;
    code = nri_merge_updates(merge, reply->update, reply->n_update, error);
    return code != 0 ? code : evict(merge, reply->evict, reply->n_evict, error);
}

int nri_merge_stop_reply(struct nri_merge *merge, const char *plugin, const stop_message *reply,
                         struct nri_error *error)
{
    int code = enter(merge, NRI_EVENT_STOP_CONTAINER, plugin, error);
    if (code != 0 || reply == NULL)
        return code;
    merge->assembled = false;
    return nri_merge_updates(merge, reply->update, reply->n_update, error);
}

const create_message *nri_merge_create_result(struct nri_merge *merge)
{
    bool fits = merge->event == NRI_EVENT_CREATE_CONTAINER;
    return fits && nri_merge_assemble(merge) ? &merge->create_result : NULL;
}

const update_reply_message *nri_merge_update_result(struct nri_merge *merge)
{
    bool fits = merge->event == NRI_EVENT_UPDATE_CONTAINER;
    return fits && nri_merge_assemble(merge) ? &merge->update_result : NULL;
}

const stop_message *nri_merge_stop_result(struct nri_merge *merge)
{
    bool fits = merge->event == NRI_EVENT_STOP_CONTAINER;
    return fits && nri_merge_assemble(merge) ? &merge->stop_result : NULL;
}

size_t nri_merge_change_count(const struct nri_merge *merge)
{
    return merge->change_count;
}

void nri_merge_each_change(const struct nri_merge *merge,
                           void (*fn)(void *user, const struct nri_merge_change *change),
                           void *user)
{
    for (size_t i = 0; i < merge->change_count; i++)
        fn(user, &merge->changes[i]);
}
