/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Merging JSON into builders. All of it is tried on a scratch builder first, so that a bad text
 * changes nothing; the second time only memory can be missing.
 */
#include "model/adjustment_builder.h"
#include "model/apply.h"
#include "model/json_reading.h"
#include "model/resources_store.h"
#include "model/updates_builder.h"

/* One merge: what was read, and a builder to try it on. */
struct merge {
    struct nri_json_reading reading;
    struct nri_arena scratch;
    uint64_t seed[2];
    struct nri_json *document;
    ProtobufCMessage *message;
    struct nri_json_subject at;
};

/* The end of every merge: the error goes to the caller, and sticks to the builder as a failed call
 * does. `builder` NULL: there is none. */
static int end(struct merge *merge, struct nri_builder *builder, int code, nri_error **error)
{
    code = nri_json_reading_fail(&merge->reading, code);
    if (code != 0 && builder != NULL)
        (void)nri_builder_fail(builder, code, merge->reading.error.text);
    nri_arena_fini(&merge->scratch);
    return nri_json_reading_end(&merge->reading, code, error);
}

/* Whether the builder takes changes at all, then the options and the text. */
static int begin(struct merge *merge, struct nri_builder *builder,
                 const struct nri_json_options *options, const ProtobufCMessageDescriptor *type,
                 const char *json, size_t length)
{
    int code = nri_json_reading_begin(&merge->reading, options);
    size_t limit = code == 0 ? nri_json_settings_memory(&merge->reading.settings) : 0;
    nri_arena_init(&merge->scratch, &merge->reading.settings.alloc, 0, limit);
    merge->seed[0] = (uintptr_t)merge;
    merge->seed[1] = (uintptr_t)&begin;
    merge->document = NULL;
    merge->message = NULL;
    merge->at = (struct nri_json_subject){0};
    if (code != 0)
        return code;
    code = nri_builder_enter(builder);
    if (code != 0)
        return nri_error_set(&merge->reading.error, code, "%s",
                             builder == NULL ? "must not be NULL" : builder->error.text);
    return nri_json_read_text(&merge->reading.source, &merge->reading.settings, type, json, length,
                              &merge->document, &merge->message);
}

/* A failed call on the scratch builder, as an error with a place. */
static int blame(struct merge *merge, int code, const char *text)
{
    return nri_json_blame(&merge->reading.source, merge->message, merge->document, &merge->at, code,
                          text);
}

static nri_adjustment *make_scratch(struct merge *merge)
{
    return nri_adjustment_make(&merge->scratch, merge->seed, 0, NULL);
}

int nri_adjustment_merge_json(nri_adjustment *adjustment, const char *json, size_t length,
                              const struct nri_json_options *options, nri_error **error)
{
    struct merge merge;
    struct nri_builder *builder = adjustment != NULL ? &adjustment->builder : NULL;
    int code = begin(&merge, builder, options,
                     &nri__pkg__api__v1alpha1__container_adjustment__descriptor, json, length);
    const void *message = merge.message;
    if (code == 0) {
        nri_adjustment *scratch = make_scratch(&merge);
        code = scratch != NULL ? nri_apply_adjustment(scratch, message, &merge.at)
                               : merge.scratch.failure;
        if (code != 0)
            code = blame(&merge, code, nri_adjustment_error_text(scratch));
    }
    if (code == 0) {
        code = nri_apply_adjustment(adjustment, message, &merge.at);
        if (code != 0)
            code = blame(&merge, code, nri_adjustment_error_text(adjustment));
    }
    return end(&merge, builder, code, error);
}

int nri_updates_merge_json(nri_updates *updates, const char *json, size_t length,
                           const struct nri_json_options *options, nri_error **error)
{
    struct merge merge;
    struct nri_builder *builder = updates != NULL ? &updates->builder : NULL;
    int code = begin(&merge, builder, options,
                     &nri__pkg__api__v1alpha1__update_containers_request__descriptor, json, length);
    const void *message = merge.message;
    if (code == 0) {
        nri_updates *scratch =
            nri_updates_make(&merge.scratch, merge.seed, updates->evictions_allowed, 0, NULL);
        code = scratch != NULL ? nri_apply_updates(scratch, message, &merge.at)
                               : merge.scratch.failure;
        if (code != 0)
            code = blame(&merge, code, nri_updates_error_text(scratch));
    }
    if (code == 0) {
        code = nri_apply_updates(updates, message, &merge.at);
        if (code != 0)
            code = blame(&merge, code, nri_updates_error_text(updates));
    }
    return end(&merge, builder, code, error);
}

int nri_resources_merge_json(nri_resources *resources, const char *json, size_t length,
                             const struct nri_json_options *options, nri_error **error)
{
    struct merge merge;
    struct nri_builder *builder =
        resources != NULL ? nri_resources_store_of(resources)->builder : NULL;
    int code = begin(&merge, builder, options,
                     &nri__pkg__api__v1alpha1__linux_resources__descriptor, json, length);
    const void *message = merge.message;
    if (code == 0) {
        nri_adjustment *scratch = make_scratch(&merge);
        nri_resources *tried = nri_adjustment_edit_resources(scratch);
        code =
            tried != NULL ? nri_apply_resources(tried, message, &merge.at) : merge.scratch.failure;
        if (code != 0)
            code = blame(&merge, code, nri_adjustment_error_text(scratch));
    }
    if (code == 0) {
        code = nri_apply_resources(resources, message, &merge.at);
        if (code != 0)
            code = blame(&merge, code, builder->error.text);
    }
    return end(&merge, builder, code, error);
}
