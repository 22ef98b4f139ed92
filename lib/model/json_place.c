/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where in a JSON text something is wrong: its line and column, and its path in the message, such
 * as Container.linux.resources.memory.limit or Container.labels["app"].
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/json_message.h"
#include "model/json_schema.h"
#include "model/quote.h"
#include "wire/field.h"
#include "wire/message.h"

/* Room for the deepest path of NRI, with two long keys. */
#define PATH_SIZE 400

/* Returns how long the path is by now, at most PATH_SIZE - 1: what does not fit is missing. */
static size_t write_path(char path[PATH_SIZE], const struct nri_json_place *place)
{
    struct nri_quote quote;
    int wanted;
    size_t length = 0;
    if (place->parent != NULL)
        length = write_path(path, place->parent);
    char *end = path + length;
    size_t room = PATH_SIZE - length;
    if (place->name != NULL)
        wanted = snprintf(end, room, "%s%s", place->parent == NULL ? "" : ".", place->name);
    else if (place->key != NULL)
        wanted = snprintf(end, room, "[%s]", nri_quote(&quote, place->key));
    else
        wanted = snprintf(end, room, "[%zu]", place->index);
    if (wanted < 0)
        return length;
    return (size_t)wanted < room ? length + (size_t)wanted : PATH_SIZE - 1;
}

int nri_json_refuse(const struct nri_json_source *source, const struct nri_json_place *place,
                    const struct nri_json *value, int code, const char *format, ...)
{
    char path[PATH_SIZE], text[NRI_ERROR_TEXT_SIZE];
    if (source->error == NULL)
        return code;
    va_list arguments;
    va_start(arguments, format);
    (void)nri_error_format(text, format, arguments);
    va_end(arguments);
    (void)write_path(path, place);
    return nri_error_set_at(source->error, code, source->name,
                            place->of_key ? nri_json_key_line(value) : nri_json_line(value),
                            place->of_key ? nri_json_key_column(value) : nri_json_column(value),
                            "%s: %s", path, text);
}

int nri_json_refuse_memory(const struct nri_json_source *source, const struct nri_json_place *place,
                           const struct nri_json *value)
{
    if (source->arena->failure == NRI_E_LIMIT)
        return nri_json_refuse(source, place, value, NRI_E_LIMIT,
                               "the message needs more memory than its limit of %zu bytes",
                               source->arena->limit);
    return nri_json_refuse(source, place, value, NRI_E_NOMEM, "out of memory");
}

/* ---- finding the place of a part of a message that is read already ---- */

struct search {
    const struct nri_json_source *source;
    const struct nri_json_subject *subject;
    int code;
    const char *text;
    bool found;
};

static void look_into(struct search *search, const struct nri_json_place *place,
                      const ProtobufCMessage *message, const struct nri_json *value);

static void found(struct search *search, const struct nri_json_place *place,
                  const struct nri_json *value)
{
    search->found = true;
    nri_json_refuse(search->source, place, value, search->code, "%s", search->text);
}

/* The i-th element or member of what a repeated field was read from. */
static const struct nri_json *part_at(const struct nri_json *value, size_t index,
                                      struct nri_json_place *place)
{
    if (nri_json_type(value) == NRI_JSON_OBJECT)
        return nri_json_member_at(value, index, &place->key, NULL);
    place->index = index;
    return nri_json_at(value, index);
}

static void look_into_field(struct search *search, const struct nri_json_place *place,
                            const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field,
                            const struct nri_json *value)
{
    const struct nri_json_subject *subject = search->subject;
    bool repeated = nri_field_repeated(field);
    if (message == subject->message && subject->field != NULL &&
        strcmp(field->name, subject->field) == 0) {
        struct nri_json_place part = {.parent = place};
        const struct nri_json *element = repeated && subject->index != NRI_JSON_WHOLE
                                             ? part_at(value, subject->index, &part)
                                             : NULL;
        found(search, element != NULL ? &part : place, element != NULL ? element : value);
        return;
    }
    if (field->type != PROTOBUF_C_TYPE_MESSAGE || nri_message_field_is_map(field))
        return;
    if (!repeated) {
        look_into(search, place, *(ProtobufCMessage **)nri_field_member(message, field), value);
        return;
    }
    ProtobufCMessage **const *array = nri_field_member(message, field);
    size_t count = *nri_field_count(message, field);
    for (size_t i = 0; i < count && !search->found; i++) {
        struct nri_json_place part = {.parent = place};
        const struct nri_json *element = part_at(value, i, &part);
        look_into(search, &part, (*array)[i], element);
    }
}

static void look_into(struct search *search, const struct nri_json_place *place,
                      const ProtobufCMessage *message, const struct nri_json *value)
{
    const struct nri_json_subject *subject = search->subject;
    if (message == NULL || value == NULL)
        return;
    if (message == subject->message &&
        (subject->field == NULL || nri_json_type(value) != NRI_JSON_OBJECT)) {
        found(search, place, value);
        return;
    }
    size_t count = nri_json_type(value) == NRI_JSON_OBJECT ? nri_json_count(value) : 0;
    for (size_t i = 0; i < count && !search->found; i++) {
        const char *key;
        const struct nri_json *member = nri_json_member_at(value, i, &key, NULL);
        const ProtobufCFieldDescriptor *field = nri_json_field_find(message->descriptor, key);
        if (field == NULL || nri_json_type(member) == NRI_JSON_NULL)
            continue;
        struct nri_json_place part = {.parent = place, .name = field->name};
        look_into_field(search, &part, message, field, member);
    }
    /* The field was left out: its message is what misses it. */
    if (message == subject->message && !search->found)
        found(search, place, value);
}

int nri_json_blame(const struct nri_json_source *source, const ProtobufCMessage *root,
                   const struct nri_json *document, const struct nri_json_subject *subject,
                   int code, const char *text)
{
    struct search search = {source, subject, code, text, false};
    const struct nri_json_place place = {.name = root->descriptor->short_name};
    look_into(&search, &place, root, document);
    if (!search.found)
        found(&search, &place, document);
    return code;
}
