/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of updates and evictions. An update that sets no resources is not sent: Go runtimes take
 * one for the container that an UpdateContainer is about as a wish to drop the values of the
 * request.
 */
#include "model/updates_builder.h"

#include <string.h>

typedef Nri__Pkg__Api__V1alpha1__ContainerEviction eviction_message;

/* A list with its own memory. */
struct updates_object {
    struct nri_arena arena;
    struct nri_updates updates;
};

/* What nri_updates_container() gives when there is no list that could keep an error. Never written
 * to. */
static const struct nri_update no_update = {
    .failed = NRI_E_INVALID,
    .message = NRI__PKG__API__V1ALPHA1__CONTAINER_UPDATE__INIT,
};

void nri_update_init(struct nri_update *update, struct nri_updates *list, int failed)
{
    update->list = list;
    update->failed = failed;
    update->resources = (struct nri_resources_builder){.builder = &list->builder};
    nri__pkg__api__v1alpha1__container_update__init(&update->message);
    nri__pkg__api__v1alpha1__linux_container_update__init(&update->linux_part);
}

const struct nri_update *nri_update_none(void)
{
    return &no_update;
}

static void init_list(struct nri_updates *list, struct nri_arena *arena, const uint64_t seed[2],
                      bool evictions_allowed, int blocked, const char *blocked_text)
{
    nri_builder_init(&list->builder, arena, seed, blocked, blocked_text);
    list->evictions_allowed = evictions_allowed;
    list->owns_arena = false;
    list->updates = (struct nri_keyed){0};
    list->evictions = (struct nri_keyed){0};
    list->messages = NULL;
    list->count = 0;
    list->changes = 0;
    for (size_t i = 0; i < NRI_UPDATES_FAILED; i++)
        list->failed[i].failed = 0;
}

nri_updates *nri_updates_make(struct nri_arena *arena, const uint64_t seed[2],
                              bool evictions_allowed, int blocked, const char *blocked_text)
{
    struct nri_updates *list = nri_arena_alloc(arena, sizeof *list);
    if (list != NULL)
        init_list(list, arena, seed, evictions_allowed, blocked, blocked_text);
    return list;
}

int nri_updates_new(nri_updates **updates, const struct nri_allocator *allocator)
{
    struct nri_alloc alloc;
    if (updates == NULL)
        return NRI_E_INVALID;
    *updates = NULL;
    int code = nri_alloc_resolve(&alloc, allocator);
    if (code != 0)
        return code;
    struct updates_object *object = nri_alloc_raw(&alloc, sizeof *object);
    if (object == NULL)
        return NRI_E_NOMEM;
    /* The container ids are the caller's own choice, so that the seed need not be a secret of the
     * host's: that addresses differ from process to process is enough. No limit: only the caller
     * adds to the list. */
    const uint64_t seed[2] = {(uintptr_t)object, (uintptr_t)&no_update};
    nri_arena_init(&object->arena, &alloc, 0, SIZE_MAX);
    init_list(&object->updates, &object->arena, seed, true, 0, NULL);
    object->updates.owns_arena = true;
    *updates = &object->updates;
    return 0;
}

nri_updates *nri_updates_free(nri_updates *updates)
{
    if (updates != NULL && updates->owns_arena) {
        char *list = (void *)updates;
        struct updates_object *object = (void *)(list - offsetof(struct updates_object, updates));
        struct nri_alloc alloc = object->arena.alloc;
        nri_arena_fini(&object->arena);
        nri_alloc_release(&alloc, object);
    }
    return NULL;
}

static int enter(nri_updates *updates)
{
    return nri_builder_enter(updates != NULL ? &updates->builder : NULL);
}

/* ---- updates ---- */

struct nri_update *nri_update_of(ProtobufCMessage *message)
{
    return (void *)((char *)message - offsetof(struct nri_update, message));
}

/* The update that fails with `code`, made when that code first occurs. */
static struct nri_update *failed_update(struct nri_updates *list, int code)
{
    size_t i = 0;
    while (i + 1 < NRI_UPDATES_FAILED && list->failed[i].failed != 0 &&
           list->failed[i].failed != code)
        i++;
    if (list->failed[i].failed != code)
        nri_update_init(&list->failed[i], list, code);
    return &list->failed[i];
}

static int find_or_add(struct nri_updates *list, const char *id, struct nri_update **update)
{
    const struct nri_where field = {.name = "update container id"};
    int code = nri_builder_check_filled(&list->builder, &field, id);
    if (code != 0)
        return code;
    struct nri_keyed_item *item = nri_keyed_find(&list->updates, id, strlen(id));
    if (item != NULL) {
        *update = nri_update_of(item->entry);
        return 0;
    }
    char *text = nri_builder_text(&list->builder, id);
    struct nri_update *made = NULL;
    if (text != NULL)
        made = nri_arena_alloc(list->builder.arena, sizeof *made);
    if (made == NULL)
        return nri_builder_refuse_memory(&list->builder, &field);
    nri_update_init(made, list, 0);
    made->message.container_id = text;
    made->resources.container_id = text;
    if (nri_keyed_set(&list->updates, &list->builder, text, NULL, &made->message.base) != 0)
        return nri_builder_refuse_memory(&list->builder, &field);
    *update = made;
    return 0;
}

nri_update *nri_updates_container(nri_updates *updates, const char *container_id)
{
    struct nri_update *update = NULL;
    if (updates == NULL)
        return (nri_update *)(uintptr_t)&no_update;
    int code = enter(updates);
    if (code == 0)
        code = find_or_add(updates, container_id, &update);
    return code == 0 ? update : failed_update(updates, code);
}

static void assemble(nri_updates *updates)
{
    size_t used = 0;
    ProtobufCMessage **messages;
    size_t count = nri_keyed_messages(&updates->updates, &messages);
    for (size_t i = 0; i < count; i++) {
        struct nri_update *update = nri_update_of(messages[i]);
        update->linux_part.resources = nri_resources_builder_message(&update->resources);
        if (update->linux_part.resources == NULL)
            continue;
        update->message.linux = &update->linux_part;
        messages[used++] = messages[i];
    }
    updates->messages = messages;
    updates->count = used;
    updates->changes = updates->builder.changes;
}

size_t nri_updates_messages(const nri_updates *updates,
                            Nri__Pkg__Api__V1alpha1__ContainerUpdate ***list)
{
    *list = NULL;
    if (updates == NULL)
        return 0;
    if (updates->changes != updates->builder.changes)
        assemble((nri_updates *)(uintptr_t)updates); /* none is made as a constant */
    *list = (void *)updates->messages;
    return updates->count;
}

size_t nri_updates_count(const nri_updates *updates)
{
    Nri__Pkg__Api__V1alpha1__ContainerUpdate **list;
    return nri_updates_messages(updates, &list);
}

/* ---- evictions ---- */

static int add_eviction(struct nri_updates *list, const char *id, const char *reason)
{
    struct nri_builder *builder = &list->builder;
    const struct nri_where field = {.within = "eviction", .key = id, .name = "reason"};
    char *id_text = nri_builder_text(builder, id);
    char *reason_text = nri_builder_text(builder, reason);
    eviction_message *message = NULL;
    if (id_text != NULL && reason_text != NULL)
        message = nri_arena_alloc(builder->arena, sizeof *message);
    if (message == NULL)
        return nri_builder_refuse_memory(builder, &field);
    nri__pkg__api__v1alpha1__container_eviction__init(message);
    message->container_id = id_text;
    message->reason = reason_text;
    if (nri_keyed_set(&list->evictions, builder, id_text, NULL, &message->base) != 0)
        return nri_builder_refuse_memory(builder, &field);
    return 0;
}

int nri_updates_evict(nri_updates *updates, const char *container_id, const char *reason)
{
    const struct nri_where id_field = {.name = "eviction container id"};
    const struct nri_where reason_field = {
        .within = "eviction", .key = container_id, .name = "reason"};
    int code = enter(updates);
    if (code != 0)
        return code;
    if (!updates->evictions_allowed)
        return nri_builder_fail(
            &updates->builder, NRI_E_EVENT,
            "eviction: the reply to this event carries none; those to CreateContainer and "
            "UpdateContainer do, and nri_plugin_update_containers()");
    code = nri_builder_check_filled(&updates->builder, &id_field, container_id);
    if (code == 0 && reason != NULL)
        code = nri_builder_check_text(&updates->builder, &reason_field, reason);
    return code == 0 ? add_eviction(updates, container_id, reason) : code;
}

size_t nri_updates_eviction_count(const nri_updates *updates)
{
    return updates != NULL ? updates->evictions.count : 0;
}

size_t nri_updates_evictions(const nri_updates *updates,
                             Nri__Pkg__Api__V1alpha1__ContainerEviction ***list)
{
    *list = NULL;
    if (updates == NULL)
        return 0;
    ProtobufCMessage **messages;
    size_t count = nri_keyed_messages(&updates->evictions, &messages);
    *list = (void *)messages;
    return count;
}

/* ---- the list ---- */

void nri_updates_seal(nri_updates *updates)
{
    if (updates != NULL)
        updates->builder.sealed = true;
}

int nri_updates_error(const nri_updates *updates)
{
    return updates != NULL ? updates->builder.error.code : 0;
}

const char *nri_updates_error_text(const nri_updates *updates)
{
    return updates != NULL ? updates->builder.error.text : "";
}

void nri_updates_clear_error(nri_updates *updates)
{
    if (updates != NULL)
        nri_error_clear(&updates->builder.error);
}
