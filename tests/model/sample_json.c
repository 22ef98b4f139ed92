/* SPDX-License-Identifier: Apache-2.0 */
/* What nri/json.h promises, written a second time and as plainly as it goes: the values of samples
 * need no escapes. */
#include "sample.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"

#define ROOM ((size_t)64 * 1024)

struct text {
    char *at, *end;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text->at, (size_t)(text->end - text->at), format, arguments);
    va_end(arguments);
    if (length < 0 || length >= text->end - text->at) {
        (void)fprintf(stderr, "sample_json: no room\n");
        abort();
    }
    text->at += length;
}

static void put_message(struct text *text, const ProtobufCMessage *message);

static bool is_wrapper(const ProtobufCMessageDescriptor *message)
{
    return strncmp(schema_short_name(message->name), "Optional", 8) == 0;
}

static int32_t int32_at(const void *at)
{
    int32_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

static int64_t int64_at(const void *at)
{
    int64_t number;
    memcpy(&number, at, sizeof number);
    return number;
}

static const char *text_at(const void *at)
{
    const char *text;
    memcpy(&text, at, sizeof text);
    return text;
}

static const ProtobufCMessage *message_at(const void *at)
{
    const ProtobufCMessage *message;
    memcpy(&message, at, sizeof message);
    return message;
}

static void put_field(struct text *text, const ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field);

static void put_value(struct text *text, const ProtobufCFieldDescriptor *field, const void *at)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        put(text, "\"%s\"", text_at(at));
        break;
    case PROTOBUF_C_TYPE_BOOL:
        put(text, int32_at(at) != 0 ? "true" : "false");
        break;
    case PROTOBUF_C_TYPE_ENUM:
        put(text, "\"%s\"",
            protobuf_c_enum_descriptor_get_value(field->descriptor, int32_at(at))->name);
        break;
    case PROTOBUF_C_TYPE_INT64:
        put(text, "%" PRId64, int64_at(at));
        break;
    case PROTOBUF_C_TYPE_UINT64:
        put(text, "%" PRIu64, (uint64_t)int64_at(at));
        break;
    case PROTOBUF_C_TYPE_UINT32:
        put(text, "%" PRIu32, (uint32_t)int32_at(at));
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        if (is_wrapper(field->descriptor))
            put_field(text, message_at(at), &message_at(at)->descriptor->fields[0]);
        else
            put_message(text, message_at(at));
        break;
    default:
        put(text, "%" PRId32, int32_at(at));
        break;
    }
}

static size_t size_of(const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        return sizeof(int64_t);
    default:
        return sizeof(int32_t);
    }
}

static void put_entry(struct text *text, const ProtobufCMessage *entry)
{
    const ProtobufCFieldDescriptor *key = &entry->descriptor->fields[0];
    const ProtobufCFieldDescriptor *value = &entry->descriptor->fields[1];
    if (key->type == PROTOBUF_C_TYPE_STRING)
        put(text, "\"%s\":", text_at((const char *)entry + key->offset));
    else
        put(text, "\"%" PRId32 "\":", int32_at((const char *)entry + key->offset));
    put_value(text, value, (const char *)entry + value->offset);
}

static void put_field(struct text *text, const ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field)
{
    const char *at = (const char *)message + field->offset;
    if (field->label != PROTOBUF_C_LABEL_REPEATED) {
        put_value(text, field, at);
        return;
    }
    const bool map = schema_is_map(field);
    const char *list = text_at(at);
    size_t count;
    memcpy(&count, (const char *)message + field->quantifier_offset, sizeof count);
    put(text, map ? "{" : "[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            put(text, ",");
        if (map)
            put_entry(text, message_at(list + i * sizeof(void *)));
        else
            put_value(text, field, list + i * size_of(field));
    }
    put(text, map ? "}" : "]");
}

static bool is_absent(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    const char *at = (const char *)message + field->offset;
    size_t count;
    if (field->label == PROTOBUF_C_LABEL_REPEATED) {
        memcpy(&count, (const char *)message + field->quantifier_offset, sizeof count);
        return count == 0;
    }
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        return *text_at(at) == '\0';
    case PROTOBUF_C_TYPE_MESSAGE:
        return message_at(at) == NULL;
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        return int64_at(at) == 0;
    default:
        return int32_at(at) == 0;
    }
}

static void put_message(struct text *text, const ProtobufCMessage *message)
{
    const char *before = "{";
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (is_absent(message, field))
            continue;
        put(text, "%s\"%s\":", before, field->name);
        put_field(text, message, field);
        before = ",";
    }
    put(text, *before == '{' ? "{}" : "}");
}

const char *sample_json(struct nri_arena *arena, const ProtobufCMessage *message)
{
    char *room = nri_arena_alloc(arena, ROOM);
    struct text text = {.at = room, .end = room + ROOM};
    if (room == NULL)
        abort();
    put_message(&text, message);
    return room;
}
