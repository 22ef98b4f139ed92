/* SPDX-License-Identifier: Apache-2.0 */
/* Mount */
#include <string.h>

#include "model/make.h"

typedef NRI_MESSAGE(Mount) mount_message;

int nri_check_mount_destination(struct nri_builder *builder, const char *destination)
{
    const struct nri_where field = {.name = "mount destination"};
    return nri_check_absolute(builder, &field, destination);
}

static int check_options(struct nri_builder *builder, const char *destination,
                         const char *const *options, size_t option_count, bool *is_bind)
{
    const struct nri_where whole = {.within = "mount", .key = destination, .name = "options"};
    struct nri_where one = {
        .within = "mount", .key = destination, .name = "option", .indexed = true};
    if (options == NULL && option_count > 0)
        return nri_builder_refuse(builder, NRI_E_INVALID, &whole, NULL,
                                  "must be as many texts as option_count says");
    for (one.index = 0; one.index < option_count; one.index++) {
        const char *option = options[one.index];
        int code = nri_builder_check_filled(builder, &one, option);
        if (code != 0)
            return code;
        if (strcmp(option, "bind") == 0 || strcmp(option, "rbind") == 0)
            *is_bind = true;
    }
    return 0;
}

static int check_optional(struct nri_builder *builder, const char *destination, const char *name,
                          const char *text)
{
    const struct nri_where field = {.within = "mount", .key = destination, .name = name};
    return text == NULL ? 0 : nri_builder_check_text(builder, &field, text);
}

static int check(struct nri_builder *builder, const char *destination, const char *type,
                 const char *source, const char *const *options, size_t option_count)
{
    int code = nri_check_mount_destination(builder, destination);
    if (code == 0)
        code = check_optional(builder, destination, "type", type);
    if (code == 0)
        code = check_optional(builder, destination, "source", source);
    bool is_bind = code == 0 && type != NULL && strcmp(type, "bind") == 0;
    if (code == 0)
        code = check_options(builder, destination, options, option_count, &is_bind);
    if (code != 0 || !is_bind || source == NULL || source[0] == '\0' || source[0] == '/')
        return code;
    const struct nri_where field = {.within = "mount", .key = destination, .name = "source"};
    return nri_builder_refuse(builder, NRI_E_INVALID, &field, source,
                              "of a bind mount must be an absolute path or empty");
}

int nri_make_mount(struct nri_builder *builder, const char *destination, const char *type,
                   const char *source, const char *const *options, size_t option_count,
                   mount_message **message)
{
    int code = check(builder, destination, type, source, options, option_count);
    if (code != 0)
        return code;
    const struct nri_where field = {.within = "mount", .key = destination, .name = "entry"};
    mount_message *made = nri_make_empty(builder, &nri__pkg__api__v1alpha1__mount__descriptor);
    if (made == NULL)
        return nri_builder_refuse_memory(builder, &field);
    made->destination = nri_builder_text(builder, destination);
    made->type = nri_builder_text(builder, type);
    made->source = nri_builder_text(builder, source);
    made->n_options = option_count;
    if (made->destination == NULL || made->type == NULL || made->source == NULL ||
        !nri_copy_texts(builder, options, option_count, &made->options))
        return nri_builder_refuse_memory(builder, &field);
    *message = made;
    return 0;
}
