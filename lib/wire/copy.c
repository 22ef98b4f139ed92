/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copying: the structure as it is, then everything that it points to. What a copy takes is counted
 * the same way, piece by piece.
 */
#include <string.h>

#include "base/error.h"
#include "base/text.h"
#include "wire/field.h"
#include "wire/message.h"

static ProtobufCMessage *copy_message(const ProtobufCMessage *message, struct nri_arena *arena,
                                      unsigned depth);

/* NULL for 0 bytes, too; *failed tells. */
static void *copy_bytes(struct nri_arena *arena, const void *bytes, size_t size, bool *failed)
{
    if (size == 0) {
        return NULL;
    }
    void *copy = nri_arena_alloc(arena, size);
    if (copy == NULL) {
        *failed = true;
    } else {
        memcpy(copy, bytes, size);
    }
    return copy;
}

/* `member` holds the original's value and gets one of its own. */
static bool copy_value(void *member, const ProtobufCFieldDescriptor *field, struct nri_arena *arena,
                       unsigned depth)
{
    bool failed = false;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING: {
        char **text = member;
        if (*text != NULL && *text != protobuf_c_empty_string) {
            *text = nri_arena_text(arena, *text, nri_message_text_length(*text));
            failed = *text == NULL;
        }
        break;
    }
    case PROTOBUF_C_TYPE_BYTES: {
        ProtobufCBinaryData *data = member;
        data->data = copy_bytes(arena, data->data, data->data == NULL ? 0 : data->len, &failed);
        break;
    }
    case PROTOBUF_C_TYPE_MESSAGE: {
        ProtobufCMessage **message = member;
        if (*message != NULL) {
            *message = copy_message(*message, arena, depth + 1);
            failed = *message == NULL;
        }
        break;
    }
    default:
        break;
    }
    return !failed;
}

static bool copy_repeated(ProtobufCMessage *copy, const ProtobufCFieldDescriptor *field,
                          struct nri_arena *arena, unsigned depth)
{
    const size_t size = nri_field_size(field), count = *nri_field_count(copy, field);
    char **array = nri_field_member(copy, field);
    const char *original = *array;
    *array = NULL;
    if (count == 0) {
        return true;
    }
    *array = nri_arena_array(arena, nri_message_room(count), size);
    if (*array == NULL) {
        return false;
    }
    memcpy(*array, original, count * size);
    bool failed = false;
    for (size_t i = 0; i < count && !failed; i++) {
        failed = !copy_value(*array + i * size, field, arena, depth);
    }
    return !failed;
}

static bool copy_unknown(ProtobufCMessage *copy, struct nri_arena *arena)
{
    bool failed = false;
    copy->unknown_fields =
        copy_bytes(arena, copy->unknown_fields,
                   copy->n_unknown_fields * sizeof *copy->unknown_fields, &failed);
    for (unsigned i = 0; i < copy->n_unknown_fields && !failed; i++) {
        ProtobufCMessageUnknownField *unknown = &copy->unknown_fields[i];
        unknown->data = copy_bytes(arena, unknown->data, unknown->len, &failed);
    }
    return !failed;
}

static ProtobufCMessage *copy_message(const ProtobufCMessage *message, struct nri_arena *arena,
                                      unsigned depth)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (depth > NRI_MESSAGE_DEPTH) {
        arena->failure = NRI_E_LIMIT;
        return NULL;
    }
    ProtobufCMessage *copy = nri_arena_alloc(arena, type->sizeof_message);
    if (copy == NULL) {
        return NULL;
    }
    memcpy(copy, message, type->sizeof_message);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        if (nri_field_repeated(field)
                ? !copy_repeated(copy, field, arena, depth)
                : !copy_value(nri_field_member(copy, field), field, arena, depth)) {
            return NULL;
        }
    }
    return copy_unknown(copy, arena) ? copy : NULL;
}

ProtobufCMessage *nri_message_copy(const ProtobufCMessage *message, struct nri_arena *arena)
{
    return copy_message(message, arena, 1);
}

/* ---- what a copy takes ---- */

static size_t piece(size_t bytes)
{
    return bytes + (NRI_ARENA_ALIGN - 1) - (bytes + (NRI_ARENA_ALIGN - 1)) % NRI_ARENA_ALIGN;
}

static size_t value_room(const void *member, const ProtobufCFieldDescriptor *field)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING: {
        const char *text = *(char *const *)member;
        if (text == NULL || text == protobuf_c_empty_string)
            return 0;
        return piece(NRI_TEXT_HEADER + nri_message_text_length(text) + 1);
    }
    case PROTOBUF_C_TYPE_BYTES: {
        const ProtobufCBinaryData *data = member;
        return data->data == NULL ? 0 : piece(data->len);
    }
    case PROTOBUF_C_TYPE_MESSAGE: {
        const ProtobufCMessage *message = *(ProtobufCMessage *const *)member;
        return message == NULL ? 0 : nri_message_copy_room(message);
    }
    default:
        return 0;
    }
}

static size_t repeated_room(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *field)
{
    const size_t size = nri_field_size(field), count = *nri_field_count(message, field);
    const char *array = *(char *const *)nri_field_member(message, field);
    if (count == 0)
        return 0;
    size_t room = piece(nri_message_room(count) * size);
    for (size_t i = 0; i < count; i++)
        room += value_room(array + i * size, field);
    return room;
}

size_t nri_message_copy_room(const ProtobufCMessage *message)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    size_t room = piece(type->sizeof_message);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        room += nri_field_repeated(field) ? repeated_room(message, field)
                                          : value_room(nri_field_member(message, field), field);
    }
    room += piece(message->n_unknown_fields * sizeof *message->unknown_fields);
    for (unsigned i = 0; i < message->n_unknown_fields; i++)
        room += piece(message->unknown_fields[i].len);
    return room;
}
