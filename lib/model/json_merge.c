/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging JSON into builders: all of it or nothing. It is tried on a scratch builder first, so that
 * a bad text changes nothing. Then all the memory that it can need is set aside, so that making the
 * change cannot fail.
 */
#include <string.h>

#include "model/adjustment_builder.h"
#include "model/apply.h"
#include "model/json_reading.h"
#include "model/reader.h"
#include "model/resources_store.h"
#include "model/updates_builder.h"
#include "wire/field.h"

typedef Nri__Pkg__Api__V1alpha1__ContainerUpdate update_message;
typedef Nri__Pkg__Api__V1alpha1__UpdateContainersRequest updates_message;

/* One merge: what was read, and a builder to try it on. */
struct merge {
    struct nri_json_reading reading;
    struct nri_builder *builder; /* that is merged into; NULL: there is none */
    struct nri_arena scratch;
    size_t used_before; /* bytes of the scratch builder while it was empty */
    uint64_t seed[2];
    struct nri_json *document;
    ProtobufCMessage *message;
    struct nri_json_subject at;
};

/* The end of every merge: the error goes to the caller, and sticks to the builder as a failed call
 * does. */
static int end(struct merge *merge, int code, nri_error **error)
{
    code = nri_json_reading_fail(&merge->reading, code);
    if (code != 0 && merge->builder != NULL)
        (void)nri_builder_fail(merge->builder, code, merge->reading.error.text);
    if (merge->builder != NULL)
        nri_arena_unreserve(merge->builder->arena);
    nri_arena_fini(&merge->scratch);
    return nri_json_reading_end(&merge->reading, code, error);
}

/* Whether the builder takes changes at all. What it says is not in builder->error when a call
 * failed before. */
static int enter(struct merge *merge, const char *what)
{
    const struct nri_builder *builder = merge->builder;
    int code = nri_builder_enter(merge->builder);
    if (code == 0)
        return 0;
    if (builder == NULL)
        return nri_error_set(&merge->reading.error, code, "%s: must not be NULL", what);
    const char *text = builder->blocked != 0 ? builder->blocked_text : NULL;
    return nri_error_set(&merge->reading.error, code, "%s: %s", what,
                         text != NULL ? text : nri_strerror(code));
}

/* Options, the builder, the text. `what` is the parameter that the builder is given as. */
static int begin(struct merge *merge, struct nri_builder *builder, const char *what,
                 const struct nri_json_options *options, const ProtobufCMessageDescriptor *type,
                 const char *json, size_t length)
{
    int code = nri_json_reading_begin(&merge->reading, options);
    size_t limit = code == 0 ? nri_json_settings_memory(&merge->reading.settings) : 0;
    nri_arena_init(&merge->scratch, &merge->reading.settings.alloc, 0, limit);
    merge->builder = builder;
    merge->used_before = 0;
    merge->seed[0] = (uintptr_t)merge;
    merge->seed[1] = (uintptr_t)&begin;
    merge->document = NULL;
    merge->message = NULL;
    merge->at = (struct nri_json_subject){0};
    if (code == 0)
        code = enter(merge, what);
    return code != 0 ? code
                     : nri_json_read_text(&merge->reading.source, &merge->reading.settings, type,
                                          json, length, &merge->document, &merge->message);
}

/* A failed call, as an error with a place. */
static int blame(struct merge *merge, int code, const char *text)
{
    return nri_json_blame(&merge->reading.source, merge->message, merge->document, &merge->at, code,
                          text);
}

/* Bytes of the scratch builder so far, what is lost between pieces included. */
static size_t used(const struct merge *merge)
{
    return merge->scratch.taken - (size_t)(merge->scratch.end - merge->scratch.next);
}

static nri_adjustment *make_scratch(struct merge *merge)
{
    nri_adjustment *scratch = nri_adjustment_make(&merge->scratch, merge->seed, 0, NULL);
    merge->used_before = used(merge);
    return scratch;
}

/* ---- memory for the change ---- */

/* What a list can need for an element that it has already, when it grows by others: its places in
 * arrays of twice the size, and an entry of the hash that is made for a longer list, with its share
 * of the table. And what one change can need at most for hashes whose tables have just begun. */
#define MEMORY_PER_PART ((size_t)192)
#define MEMORY_AT_LEAST ((size_t)8192)

static const void *part_at(const void *items, size_t index)
{
    const void *part;
    memcpy(&part, (const char *)items + index * sizeof part, sizeof part);
    return part;
}

/* How many elements those lists of `message` have, its parts' too, that a merge of `merged` adds
 * to. Elements are replaced, so that lists within them do not grow. */
static size_t count_parts(const ProtobufCMessage *message, const ProtobufCMessage *merged)
{
    size_t parts = 0;
    if (message == NULL || merged == NULL)
        return 0;
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (nri_field_repeated(field))
            parts += *nri_field_count(merged, field) > 0 ? *nri_field_count(message, field) : 0;
        else if (field->type == PROTOBUF_C_TYPE_MESSAGE)
            parts += count_parts(part_at(nri_field_member(message, field), 0),
                                 part_at(nri_field_member(merged, field), 0));
    }
    return parts;
}

/* Sets aside what the change can need: as much as it took on the scratch builder, twice for arrays
 * that are larger here, and more for the `parts` that are there already. */
static int reserve(struct merge *merge, size_t parts)
{
    struct nri_arena *arena = merge->builder->arena;
    size_t bytes = SIZE_MAX;
    if (parts < SIZE_MAX / 4 / MEMORY_PER_PART && merge->scratch.taken < SIZE_MAX / 4)
        bytes = 2 * (used(merge) - merge->used_before) + parts * MEMORY_PER_PART + MEMORY_AT_LEAST;
    if (nri_arena_reserve(arena, bytes))
        return 0;
    if (arena->failure == NRI_E_LIMIT)
        return nri_error_set(&merge->reading.error, NRI_E_LIMIT,
                             "%s: does not fit into the memory limit of %zu bytes, with %zu bytes "
                             "set aside for the change",
                             merge->reading.source.name, arena->limit, bytes);
    return arena->failure;
}

/* ---- the three merges ---- */

int nri_adjustment_merge_json(nri_adjustment *adjustment, const char *json, size_t length,
                              const struct nri_json_options *options, nri_error **error)
{
    struct merge merge;
    int code =
        begin(&merge, adjustment != NULL ? &adjustment->builder : NULL, "adjustment", options,
              &nri__pkg__api__v1alpha1__container_adjustment__descriptor, json, length);
    const void *message = merge.message;
    if (code == 0) {
        nri_adjustment *scratch = make_scratch(&merge);
        if (scratch == NULL || !nri_adjustment_try_seccomp(scratch, adjustment))
            code = merge.scratch.failure;
        else
            code = nri_apply_adjustment(scratch, message, &merge.at);
        if (code != 0)
            code = blame(&merge, code, nri_adjustment_error_text(scratch));
    }
    if (code == 0)
        code = reserve(
            &merge, count_parts((const void *)nri_adjustment_message(adjustment), merge.message));
    if (code == 0)
        code = nri_apply_adjustment(adjustment, message, &merge.at);
    return end(&merge, code, error);
}

static size_t count_update(const nri_updates *updates, const update_message *merged)
{
    const char *id = nri_reader_text(merged->container_id);
    const struct nri_keyed_item *item = nri_keyed_find(&updates->updates, id, strlen(id));
    if (item == NULL || merged->linux == NULL || merged->linux->resources == NULL)
        return 0;
    const struct nri_update *update = nri_update_of(item->entry);
    return count_parts((const void *)nri_resources_builder_message(&update->resources),
                       &merged->linux->resources->base);
}

/* Of the updates also those that set nothing yet. */
static size_t count_updates(const nri_updates *updates, const updates_message *merged)
{
    size_t parts = (merged->n_update > 0 ? updates->updates.count : 0) +
                   (merged->n_evict > 0 ? updates->evictions.count : 0);
    for (size_t i = 0; i < merged->n_update; i++)
        parts += count_update(updates, merged->update[i]);
    return parts;
}

static int merge_updates(nri_updates *updates, struct merge *merge)
{
    const void *message = merge->message;
    nri_updates *scratch =
        nri_updates_make(&merge->scratch, merge->seed, updates->evictions_allowed, 0, NULL);
    merge->used_before = used(merge);
    int code =
        scratch != NULL ? nri_apply_updates(scratch, message, &merge->at) : merge->scratch.failure;
    if (code != 0)
        return blame(merge, code, nri_updates_error_text(scratch));
    code = reserve(merge, count_updates(updates, message));
    return code == 0 ? nri_apply_updates(updates, message, &merge->at) : code;
}

int nri_updates_merge_json(nri_updates *updates, const char *json, size_t length,
                           const struct nri_json_options *options, nri_error **error)
{
    struct merge merge;
    int code = begin(&merge, updates != NULL ? &updates->builder : NULL, "updates", options,
                     &nri__pkg__api__v1alpha1__update_containers_request__descriptor, json, length);
    if (code == 0 && updates != NULL)
        code = merge_updates(updates, &merge);
    return end(&merge, code, error);
}

int nri_resources_merge_json(nri_resources *resources, const char *json, size_t length,
                             const struct nri_json_options *options, nri_error **error)
{
    struct merge merge;
    int code = begin(&merge, resources != NULL ? nri_resources_store_of(resources)->builder : NULL,
                     "resources", options, &nri__pkg__api__v1alpha1__linux_resources__descriptor,
                     json, length);
    const void *message = merge.message;
    if (code == 0) {
        nri_adjustment *scratch = make_scratch(&merge);
        nri_resources *tried = nri_adjustment_edit_resources(scratch);
        code =
            tried != NULL ? nri_apply_resources(tried, message, &merge.at) : merge.scratch.failure;
        if (code != 0)
            code = blame(&merge, code, nri_adjustment_error_text(scratch));
    }
    if (code == 0)
        code = reserve(&merge, count_parts((const void *)resources, merge.message));
    if (code == 0)
        code = nri_apply_resources(resources, message, &merge.at);
    return end(&merge, code, error);
}
