/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A parsed document as a message, by the message's descriptor. Time goes with the document: a
 * message has a few dozen fields at most, an enum a few dozen names. Single values are read by
 * json_value.c.
 */
#include <string.h>

#include "base/text.h"
#include "model/json_schema.h"
#include "model/json_value.h"
#include "proto/nri.pb-c.h"
#include "wire/field.h"
#include "wire/message.h"

static int read_message(const struct nri_json_source *source, const struct nri_json_place *place,
                        const ProtobufCMessageDescriptor *type, const struct nri_json *value,
                        ProtobufCMessage **message);

static int expected(const struct nri_json_source *source, const struct nri_json_place *place,
                    const struct nri_json *value, const char *what)
{
    return nri_json_refuse(source, place, value, NRI_E_SYNTAX, "must be %s, found %s", what,
                           nri_json_value_shown(value));
}

static int read_value(const struct nri_json_source *source, const struct nri_json_place *place,
                      const ProtobufCFieldDescriptor *field, const struct nri_json *value,
                      void *member)
{
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        return read_message(source, place, field->descriptor, value, member);
    return nri_json_read_value(source, place, field, value, member);
}

static ProtobufCMessage *make(struct nri_arena *arena, const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *message = nri_arena_alloc(arena, type->sizeof_message);
    if (message != NULL)
        type->message_init(message);
    return message;
}

/* ---- repeated fields ---- */

/* Room for `count` values, and the count; the array is put into the message. */
static char *make_array(const struct nri_json_source *source, ProtobufCMessage *message,
                        const ProtobufCFieldDescriptor *field, size_t count)
{
    char *array = nri_arena_array(source->arena, count, nri_field_size(field));
    if (array == NULL)
        return NULL;
    *(char **)nri_field_member(message, field) = array;
    *nri_field_count(message, field) = count;
    return array;
}

static int read_list(const struct nri_json_source *source, const struct nri_json_place *place,
                     const ProtobufCFieldDescriptor *field, const struct nri_json *list,
                     ProtobufCMessage *message)
{
    size_t count = nri_json_count(list);
    if (nri_json_type(list) != NRI_JSON_ARRAY)
        return expected(source, place, list, "a list");
    if (count == 0)
        return 0;
    char *array = make_array(source, message, field, count);
    if (array == NULL)
        return nri_json_refuse_memory(source, place, list);
    for (size_t i = 0; i < count; i++) {
        const struct nri_json_place element = {.parent = place, .index = i};
        int code = read_value(source, &element, field, nri_json_at(list, i),
                              array + i * nri_field_size(field));
        if (code != 0)
            return code;
    }
    return 0;
}

/* An entry of a map, or of a list of KeyValue: its two fields are the key and the value. */
static int read_entry(const struct nri_json_source *source, const struct nri_json_place *place,
                      const ProtobufCMessageDescriptor *type, const char *key,
                      const struct nri_json *value, ProtobufCMessage **entry)
{
    *entry = make(source->arena, type);
    if (*entry == NULL)
        return nri_json_refuse_memory(source, place, value);
    int code = nri_json_read_key(source, place, &type->fields[0], key, value,
                                 nri_field_member(*entry, &type->fields[0]));
    return code != 0 ? code
                     : read_value(source, place, &type->fields[1], value,
                                  nri_field_member(*entry, &type->fields[1]));
}

static int read_variable(const struct nri_json_source *source, const struct nri_json_place *place,
                         const char *name, const struct nri_json *value, char **variable)
{
    size_t length;
    const char *text = nri_json_string(value, &length);
    if (nri_json_type(value) != NRI_JSON_STRING)
        return expected(source, place, value, "a text");
    *variable = nri_json_join(source->arena, name, text, length);
    return *variable != NULL ? 0 : nri_json_refuse_memory(source, place, value);
}

/* An object as a map, or as the variables of an env. */
static int read_object(const struct nri_json_source *source, const struct nri_json_place *place,
                       const ProtobufCFieldDescriptor *field, const struct nri_json *object,
                       ProtobufCMessage *message)
{
    size_t count = nri_json_count(object);
    if (nri_json_type(object) != NRI_JSON_OBJECT)
        return expected(source, place, object, "an object");
    if (count == 0)
        return 0;
    char *array = make_array(source, message, field, count);
    if (array == NULL)
        return nri_json_refuse_memory(source, place, object);
    for (size_t i = 0; i < count; i++) {
        struct nri_json_place part = {.parent = place};
        const struct nri_json *value = nri_json_member_at(object, i, &part.key, NULL);
        int code = 0;
        if (nri_json_is_env(field) && (part.key[0] == '\0' || strchr(part.key, '=') != NULL)) {
            part.of_key = true;
            return nri_json_refuse(source, &part, value, NRI_E_SYNTAX,
                                   "the name of a variable must not be empty or hold a \"=\"");
        }
        if (field->type == PROTOBUF_C_TYPE_STRING)
            code = read_variable(source, &part, part.key, value, (char **)(void *)array + i);
        else
            code = read_entry(source, &part, field->descriptor, part.key, value,
                              (ProtobufCMessage **)(void *)array + i);
        if (code != 0)
            return code;
    }
    return 0;
}

/* ---- messages ---- */

static int read_field(const struct nri_json_source *source, const struct nri_json_place *place,
                      const ProtobufCFieldDescriptor *field, const struct nri_json *value,
                      ProtobufCMessage *message)
{
    bool object = nri_json_type(value) == NRI_JSON_OBJECT;
    if (nri_message_field_is_map(field) || (object && nri_json_is_env(field)))
        return read_object(source, place, field, value, message);
    if (nri_json_is_env(field) && nri_json_type(value) != NRI_JSON_ARRAY)
        return expected(source, place, value, "a list or an object");
    if (nri_field_repeated(field))
        return read_list(source, place, field, value, message);
    return read_value(source, place, field, value, nri_field_member(message, field));
}

static int refuse_unknown(const struct nri_json_source *source, const struct nri_json_place *place,
                          const ProtobufCMessageDescriptor *type, const struct nri_json *value)
{
    char known[NRI_ERROR_TEXT_SIZE / 2];
    size_t length = 0;
    known[0] = '\0';
    for (unsigned i = 0; i < type->n_fields; i++) {
        size_t name = strlen(type->fields[i].name);
        if (name + 3 > sizeof known - length)
            break;
        memcpy(known + length, ", ", 2);
        memcpy(known + length + 2, type->fields[i].name, name + 1);
        length += name + 2;
    }
    if (length == 0)
        return nri_json_refuse(source, place, value, NRI_E_SYNTAX, "unknown member; %s has none",
                               type->short_name);
    return nri_json_refuse(source, place, value, NRI_E_SYNTAX, "unknown member; %s has %s",
                           type->short_name, known + 2);
}

/* null, and a wrapper around null: {"value": null}. Both leave the member out. */
static bool is_absent(const ProtobufCFieldDescriptor *field, const struct nri_json *value)
{
    const char *key;
    if (nri_json_type(value) == NRI_JSON_NULL)
        return true;
    if (nri_field_repeated(field) || field->type != PROTOBUF_C_TYPE_MESSAGE ||
        !nri_json_is_wrapper(field->descriptor) || nri_json_type(value) != NRI_JSON_OBJECT ||
        nri_json_count(value) != 1)
        return false;
    const struct nri_json *inner = nri_json_member_at(value, 0, &key, NULL);
    return nri_json_type(inner) == NRI_JSON_NULL &&
           nri_json_field_find(field->descriptor, key) != NULL;
}

static int read_members(const struct nri_json_source *source, const struct nri_json_place *place,
                        const struct nri_json *object, ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    size_t count = nri_json_count(object);
    uint64_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        struct nri_json_place part = {.parent = place, .of_key = true};
        const struct nri_json *value = nri_json_member_at(object, i, &part.key, NULL);
        const ProtobufCFieldDescriptor *field = nri_json_field_find(type, part.key);
        if (field == NULL)
            return refuse_unknown(source, &part, type, value);
        const uint64_t bit = UINT64_C(1) << (field - type->fields);
        if ((seen & bit) != 0)
            return nri_json_refuse(source, &part, value, NRI_E_SYNTAX,
                                   "the member %s is given twice, in two spellings", field->name);
        seen |= bit;
        if (is_absent(field, value))
            continue;
        part = (struct nri_json_place){.parent = place, .name = field->name};
        int code = read_field(source, &part, field, value, message);
        if (code != 0)
            return code;
    }
    return 0;
}

static int read_message(const struct nri_json_source *source, const struct nri_json_place *place,
                        const ProtobufCMessageDescriptor *type, const struct nri_json *value,
                        ProtobufCMessage **message)
{
    bool object = nri_json_type(value) == NRI_JSON_OBJECT;
    bool plain = !object && nri_json_is_wrapper(type);
    if (!object && !plain) /* of variables "NAME=TEXT" comes first to mind */
        return expected(source, place, value,
                        type == &nri__pkg__api__v1alpha1__key_value__descriptor
                            ? "an object such as {\"key\": \"NAME\", \"value\": \"TEXT\"}"
                            : "an object");
    ProtobufCMessage *made = make(source->arena, type);
    if (made == NULL)
        return nri_json_refuse_memory(source, place, value);
    int code = plain ? read_field(source, place, &type->fields[0], value, made)
                     : read_members(source, place, value, made);
    if (code == 0)
        *message = made;
    return code;
}

int nri_json_read_message(const struct nri_json_source *source,
                          const ProtobufCMessageDescriptor *type, const struct nri_json *value,
                          ProtobufCMessage **message)
{
    const struct nri_json_place place = {.name = type->short_name};
    return read_message(source, &place, type, value, message);
}

int nri_json_read_text(const struct nri_json_source *source,
                       const struct nri_json_settings *settings,
                       const ProtobufCMessageDescriptor *type, const char *json, size_t length,
                       struct nri_json **document, ProtobufCMessage **message)
{
    struct nri_json *parsed;
    const struct nri_json_limits limits = nri_json_settings_limits(settings);
    if (json == NULL && length != 0)
        return nri_error_set(source->error, NRI_E_INVALID, "json: must not be NULL");
    int code =
        nri_json_parse(source->arena, json, length, &limits, source->name, &parsed, source->error);
    if (code == 0)
        code = nri_json_read_message(source, type, parsed, message);
    if (code == 0 && document != NULL)
        *document = parsed;
    return code;
}
