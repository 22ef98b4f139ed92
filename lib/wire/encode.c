/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoding: one pass for the size, which finds everything that cannot be encoded, and one for the
 * bytes, which cannot fail. The second works from the end to the front: the length of a message in
 * a message is known when its bytes stand there.
 *
 * The bytes are those of protobuf_c_message_pack(): fields by number, unknown ones last, zero and
 * empty ones left out.
 */
#include <string.h>

#include "wire/field.h"
#include "wire/message.h"
#include "wire/path.h"
#include "wire/varint.h"

/* ---- Values, for both passes ---- */

static uint64_t get_number(const void *member, ProtobufCType type)
{
    uint64_t number = 0;
    uint32_t word = 0;
    if (nri_field_shapes[type].size == sizeof number) {
        memcpy(&number, member, sizeof number);
        return type == PROTOBUF_C_TYPE_SINT64 ? nri_zigzag((int64_t)number) : number;
    }
    memcpy(&word, member, sizeof word);
    switch (type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_ENUM: /* negative ones take ten bytes, as int64 does */
        return (uint64_t)(int64_t)(int32_t)word;
    case PROTOBUF_C_TYPE_SINT32:
        return (uint32_t)nri_zigzag((int32_t)word);
    case PROTOBUF_C_TYPE_BOOL:
        return word != 0;
    default:
        return word;
    }
}

/* Text and bytes. */
static ProtobufCBinaryData get_data(const void *member, ProtobufCType type)
{
    if (type == PROTOBUF_C_TYPE_BYTES) {
        const ProtobufCBinaryData *bytes = member;
        return (ProtobufCBinaryData){bytes->data == NULL ? 0 : bytes->len, bytes->data};
    }
    char *text = *(char *const *)member;
    return (ProtobufCBinaryData){nri_message_text_length(text), (uint8_t *)text};
}

/* Whether a singular field is left out: proto3 does not tell the default from nothing. */
static bool is_absent(const void *member, const ProtobufCFieldDescriptor *field)
{
    static const uint64_t zero;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
        return get_data(member, field->type).len == 0;
    case PROTOBUF_C_TYPE_MESSAGE:
        return *(ProtobufCMessage *const *)member == NULL;
    case PROTOBUF_C_TYPE_FLOAT:
        return *(const float *)member == 0;
    case PROTOBUF_C_TYPE_DOUBLE:
        return *(const double *)member == 0;
    default:
        return memcmp(member, &zero, nri_field_size(field)) == 0;
    }
}

static bool is_packed(const ProtobufCFieldDescriptor *field)
{
    return (field->flags & PROTOBUF_C_FIELD_FLAG_PACKED) != 0;
}

static uint64_t tag_of(const ProtobufCFieldDescriptor *field, unsigned wire)
{
    return (uint64_t)field->id << 3 | wire;
}

/* ---- The size ---- */

struct sizer {
    int code;
    const char *reason;
    struct nri_path path;
};

static bool size_message(struct sizer *s, const ProtobufCMessage *message, size_t *size,
                         unsigned depth);

static bool fail(struct sizer *s, int code, const char *reason)
{
    s->code = code;
    s->reason = reason;
    return false;
}

static bool add(struct sizer *s, size_t *size, size_t more)
{
    if (more > NRI_MESSAGE_MAX - *size) {
        return fail(s, NRI_E_LIMIT, "longer than the 2 GiB of a protobuf message");
    }
    *size += more;
    return true;
}

static bool add_value(struct sizer *s, size_t *size, const void *member,
                      const ProtobufCFieldDescriptor *field, unsigned depth)
{
    size_t length = 0;
    switch (nri_field_wire(field)) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        return add(s, size, nri_varint_size(get_number(member, field->type)));
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
        break;
    default:
        return add(s, size, nri_field_size(field));
    }
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        const ProtobufCMessage *message = *(ProtobufCMessage *const *)member;
        if (message == NULL) {
            return fail(s, NRI_E_INVALID, "is NULL; a repeated field must hold messages");
        }
        if (!size_message(s, message, &length, depth + 1)) {
            return false;
        }
    } else {
        if (field->type == PROTOBUF_C_TYPE_STRING && *(char *const *)member == NULL) {
            return fail(s, NRI_E_INVALID, "is NULL; a repeated field must hold texts");
        }
        length = get_data(member, field->type).len;
    }
    return add(s, size, length) && add(s, size, nri_varint_size(length));
}

static bool add_repeated(struct sizer *s, size_t *size, const ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field, unsigned depth, size_t *index)
{
    const char *element = *(char *const *)nri_field_member(message, field);
    const size_t count = *nri_field_count(message, field);
    const size_t tag = nri_varint_size(tag_of(field, 0));
    const bool packed = is_packed(field);
    size_t length = 0;
    if (count > 0 && element == NULL) {
        return fail(s, NRI_E_INVALID, "is NULL; its count is not 0");
    }
    for (*index = 0; *index < count; ++*index) {
        if ((!packed && !add(s, &length, tag)) || !add_value(s, &length, element, field, depth)) {
            return false;
        }
        element += nri_field_size(field);
    }
    if (packed && count > 0 && !add(s, size, tag + nri_varint_size(length))) {
        return false;
    }
    return add(s, size, length);
}

static bool add_field(struct sizer *s, size_t *size, const ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field, unsigned depth)
{
    size_t index = 0;
    bool done;
    if (nri_field_repeated(field)) {
        done = add_repeated(s, size, message, field, depth, &index);
    } else {
        const void *member = nri_field_member(message, field);
        done = is_absent(member, field) || (add(s, size, nri_varint_size(tag_of(field, 0))) &&
                                            add_value(s, size, member, field, depth));
    }
    if (!done) {
        nri_path_field(&s->path, field, index);
    }
    return done;
}

static bool size_message(struct sizer *s, const ProtobufCMessage *message, size_t *size,
                         unsigned depth)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    *size = 0;
    if (depth > NRI_MESSAGE_DEPTH) {
        return fail(s, NRI_E_LIMIT, "messages nested deeper than 32");
    }
    for (unsigned i = 0; i < type->n_fields; i++) {
        if (!add_field(s, size, message, &type->fields[i], depth)) {
            return false;
        }
    }
    for (unsigned i = 0; i < message->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *unknown = &message->unknown_fields[i];
        if (!add(s, size, nri_varint_size((uint64_t)unknown->tag << 3)) ||
            !add(s, size, unknown->len)) {
            return false;
        }
    }
    return true;
}

int nri_message_size(const ProtobufCMessage *message, size_t *size, struct nri_error *error)
{
    struct sizer s = {.code = 0};
    nri_path_init(&s.path);
    if (!size_message(&s, message, size, 1)) {
        return nri_error_set(error, s.code, "%s: %s", nri_path_finish(&s.path, message->descriptor),
                             s.reason);
    }
    return 0;
}

/* ---- The bytes: each function writes in front of `end` and returns the new front ---- */

static uint8_t *write_message(const ProtobufCMessage *message, uint8_t *end);

static uint8_t *write_data(uint8_t *end, const uint8_t *data, size_t length)
{
    if (length > 0) {
        end -= length;
        memcpy(end, data, length);
    }
    return end;
}

static uint8_t *write_value(const void *member, const ProtobufCFieldDescriptor *field, uint8_t *end)
{
    const size_t size = nri_field_size(field);
    uint8_t *at = end;
    switch (nri_field_wire(field)) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        return nri_varint_write_back(end, get_number(member, field->type));
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
        if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
            at = write_message(*(ProtobufCMessage *const *)member, end);
        } else {
            const ProtobufCBinaryData data = get_data(member, field->type);
            at = write_data(end, data.data, data.len);
        }
        return nri_varint_write_back(at, (uint64_t)(end - at));
    default:
        at -= size;
        nri_fixed_write(at, size, get_number(member, field->type));
        return at;
    }
}

static uint8_t *write_repeated(const ProtobufCMessage *message,
                               const ProtobufCFieldDescriptor *field, uint8_t *end)
{
    const char *elements = *(char *const *)nri_field_member(message, field);
    const bool packed = is_packed(field);
    size_t i = *nri_field_count(message, field);
    if (i == 0) {
        return end;
    }
    uint8_t *at = end;
    while (i > 0) {
        i--;
        at = write_value(elements + i * nri_field_size(field), field, at);
        if (!packed) {
            at = nri_varint_write_back(at, tag_of(field, nri_field_wire(field)));
        }
    }
    if (packed) {
        at = nri_varint_write_back(at, (uint64_t)(end - at));
        at = nri_varint_write_back(at, tag_of(field, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED));
    }
    return at;
}

static uint8_t *write_message(const ProtobufCMessage *message, uint8_t *end)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    for (unsigned i = message->n_unknown_fields; i > 0; i--) {
        const ProtobufCMessageUnknownField *unknown = &message->unknown_fields[i - 1];
        end = write_data(end, unknown->data, unknown->len);
        end = nri_varint_write_back(end, (uint64_t)unknown->tag << 3 | unknown->wire_type);
    }
    for (unsigned i = type->n_fields; i > 0; i--) {
        const ProtobufCFieldDescriptor *field = &type->fields[i - 1];
        if (nri_field_repeated(field)) {
            end = write_repeated(message, field, end);
            continue;
        }
        const void *member = nri_field_member(message, field);
        if (!is_absent(member, field)) {
            end = write_value(member, field, end);
            end = nri_varint_write_back(end, tag_of(field, nri_field_wire(field)));
        }
    }
    return end;
}

void nri_message_encode(const ProtobufCMessage *message, uint8_t *bytes)
{
    size_t size;
    if (nri_message_size(message, &size, NULL) == 0) {
        (void)write_message(message, bytes + size);
    }
}
