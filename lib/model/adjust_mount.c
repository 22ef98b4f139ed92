/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.mounts */
#include <string.h>

#include "model/adjustment_builder.h"

typedef Nri__Pkg__Api__V1alpha1__Mount mount_message;

/* What a caller asks for. */
struct mount_request {
    const char *destination, *type, *source;
    const char *const *options;
    size_t option_count;
};

static int check_destination(struct nri_builder *builder, const char *destination)
{
    const struct nri_where field = {.name = "mount destination"};
    int code = nri_builder_check_filled(builder, &field, destination);
    if (code != 0 || destination[0] == '/')
        return code;
    return nri_builder_refuse(builder, NRI_E_INVALID, &field, destination,
                              "must be an absolute path");
}

static int check_options(struct nri_builder *builder, const struct mount_request *request,
                         bool *is_bind)
{
    struct nri_where field = {
        .within = "mount", .key = request->destination, .name = "option", .indexed = true};
    if (request->options == NULL && request->option_count > 0) {
        field.name = "options";
        field.indexed = false;
        return nri_builder_refuse(builder, NRI_E_INVALID, &field, NULL,
                                  "must be as many texts as option_count says");
    }
    for (field.index = 0; field.index < request->option_count; field.index++) {
        const char *option = request->options[field.index];
        int code = nri_builder_check_filled(builder, &field, option);
        if (code != 0)
            return code;
        if (strcmp(option, "bind") == 0 || strcmp(option, "rbind") == 0)
            *is_bind = true;
    }
    return 0;
}

static int check_optional(struct nri_builder *builder, const struct mount_request *request,
                          const char *name, const char *text)
{
    const struct nri_where field = {.within = "mount", .key = request->destination, .name = name};
    return text == NULL ? 0 : nri_builder_check_text(builder, &field, text);
}

static int check(struct nri_builder *builder, const struct mount_request *request)
{
    const char *source = request->source;
    int code = check_destination(builder, request->destination);
    if (code == 0)
        code = check_optional(builder, request, "type", request->type);
    if (code == 0)
        code = check_optional(builder, request, "source", source);
    bool is_bind = code == 0 && request->type != NULL && strcmp(request->type, "bind") == 0;
    if (code == 0)
        code = check_options(builder, request, &is_bind);
    if (code != 0 || !is_bind || source == NULL || source[0] == '\0' || source[0] == '/')
        return code;
    const struct nri_where field = {
        .within = "mount", .key = request->destination, .name = "source"};
    return nri_builder_refuse(builder, NRI_E_INVALID, &field, source,
                              "of a bind mount must be an absolute path or empty");
}

static mount_message *make(struct nri_builder *builder, char *destination)
{
    mount_message *message = NULL;
    if (destination != NULL)
        message = nri_arena_alloc(builder->arena, sizeof *message);
    if (message == NULL)
        return NULL;
    nri__pkg__api__v1alpha1__mount__init(message);
    message->destination = destination;
    return message;
}

static mount_message *make_entry(struct nri_builder *builder, char *destination,
                                 const struct mount_request *request)
{
    mount_message *message = make(builder, destination);
    if (message == NULL)
        return NULL;
    message->type = nri_builder_text(builder, request->type);
    message->source = nri_builder_text(builder, request->source);
    if (message->type == NULL || message->source == NULL)
        return NULL;
    if (request->option_count == 0)
        return message;
    message->options = nri_arena_array(builder->arena, request->option_count, sizeof(char *));
    if (message->options == NULL)
        return NULL;
    for (size_t i = 0; i < request->option_count; i++) {
        message->options[i] = nri_builder_text(builder, request->options[i]);
        if (message->options[i] == NULL)
            return NULL;
    }
    message->n_options = request->option_count;
    return message;
}

/* After all checks. `request` NULL: there is to be no entry. */
static int change(nri_adjustment *adjustment, const char *destination, bool removes,
                  const struct mount_request *request)
{
    struct nri_builder *builder = &adjustment->builder;
    mount_message *removal = NULL, *entry = NULL;
    char *key = nri_builder_text(builder, destination);
    bool done = key != NULL;
    if (done && removes) {
        removal = make(builder, nri_builder_marker(builder, destination));
        done = removal != NULL;
    }
    if (done && request != NULL) {
        entry = make_entry(builder, key, request);
        done = entry != NULL;
    }
    if (done)
        done = nri_keyed_set(&adjustment->mounts, builder, key,
                             removal != NULL ? &removal->base : NULL,
                             entry != NULL ? &entry->base : NULL) == 0;
    if (done)
        return 0;
    const struct nri_where field = {.within = "mount", .key = destination, .name = "entry"};
    return nri_builder_refuse_memory(builder, &field);
}

static int set(nri_adjustment *adjustment, bool removes, const struct mount_request *request)
{
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = check(&adjustment->builder, request);
    return code == 0 ? change(adjustment, request->destination, removes, request) : code;
}

int nri_adjustment_add_mount(nri_adjustment *adjustment, const char *destination, const char *type,
                             const char *source, const char *const *options, size_t option_count)
{
    const struct mount_request request = {destination, type, source, options, option_count};
    return set(adjustment, false, &request);
}

int nri_adjustment_replace_mount(nri_adjustment *adjustment, const char *destination,
                                 const char *type, const char *source, const char *const *options,
                                 size_t option_count)
{
    const struct mount_request request = {destination, type, source, options, option_count};
    return set(adjustment, true, &request);
}

int nri_adjustment_remove_mount(nri_adjustment *adjustment, const char *destination)
{
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = check_destination(&adjustment->builder, destination);
    return code == 0 ? change(adjustment, destination, true, NULL) : code;
}
