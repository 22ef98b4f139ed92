/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoding: one pass for the size, which finds everything that cannot be encoded, and one for the
 * bytes, which cannot fail.
 *
 * The length of a message in a message is not known when its place is due. One byte is left for it,
 * and the message is moved when it needs more: that costs less than finding every size again.
 *
 * The bytes are those of protobuf_c_message_pack(): fields by number, unknown ones last, zero and
 * empty ones left out.
 */
#include <string.h>

#include "base/text.h"
#include "wire/field.h"
#include "wire/message.h"
#include "wire/path.h"
#include "wire/text.h"
#include "wire/varint.h"

/* For what a message's fields are each gone through with: at -O2 some compilers leave a call, which
 * is then one a field. */
#define NRI_INLINE static inline __attribute__((always_inline))

/* ---- Values, for both passes ---- */

static inline uint64_t get_number(const void *member, ProtobufCType type)
{
    uint64_t number;
    uint32_t word;
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

/* Whether a number is left out: proto3 does not tell 0 from nothing. protobuf-c takes -0.0 for 0,
 * too. */
static inline bool is_zero(const void *member, ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_FLOAT:
        return *(const float *)member == 0;
    case PROTOBUF_C_TYPE_DOUBLE:
        return *(const double *)member == 0;
    default:
        return get_number(member, type) == 0;
    }
}

struct data {
    const uint8_t *bytes;
    size_t size;
};

/* Text or bytes. */
static inline struct data get_data(const void *member, ProtobufCType type)
{
    if (type == PROTOBUF_C_TYPE_BYTES) {
        const ProtobufCBinaryData *bytes = member;
        return (struct data){bytes->data, bytes->data == NULL ? 0 : bytes->len};
    }
    const char *text = *(char *const *)member;
    const bool empty = text == NULL || text == protobuf_c_empty_string;
    return (struct data){(const uint8_t *)text, empty ? 0 : nri_text_stored_length(text)};
}

static inline const ProtobufCMessage *get_message(const void *member)
{
    return *(ProtobufCMessage *const *)member;
}

static inline bool is_data(const ProtobufCFieldDescriptor *field)
{
    return field->type == PROTOBUF_C_TYPE_STRING || field->type == PROTOBUF_C_TYPE_BYTES;
}

static inline bool is_packed(const ProtobufCFieldDescriptor *field)
{
    return (field->flags & PROTOBUF_C_FIELD_FLAG_PACKED) != 0;
}

static inline uint64_t tag_of(const ProtobufCFieldDescriptor *field, unsigned wire)
{
    return (uint64_t)field->id << 3 | wire;
}

/* ---- The size ---- */

struct sizer {
    int code;
    const char *reason;
    struct nri_path path;
};

/* Sums are of 64 bits, and are looked at once a message: nothing in memory is so large that they
 * wrap. */
static bool size_message(struct sizer *s, const ProtobufCMessage *message, uint64_t *size,
                         unsigned depth);

static bool fail(struct sizer *s, int code, const char *reason)
{
    s->code = code;
    s->reason = reason;
    return false;
}

static inline uint64_t data_size(uint64_t length)
{
    return nri_varint_size(length) + length;
}

static uint64_t number_size(const void *member, const ProtobufCFieldDescriptor *field)
{
    return nri_field_wire(field) == PROTOBUF_C_WIRE_TYPE_VARINT
               ? nri_varint_size(get_number(member, field->type))
               : nri_field_size(field);
}

/* The size of an element without its tag. */
static bool add_element(struct sizer *s, const void *element, const ProtobufCFieldDescriptor *field,
                        uint64_t *size, unsigned depth)
{
    uint64_t length;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        if (get_message(element) == NULL) {
            return fail(s, NRI_E_INVALID, "is NULL; a repeated field must hold messages");
        }
        if (!size_message(s, get_message(element), &length, depth + 1)) {
            return false;
        }
        *size += data_size(length);
    } else if (is_data(field)) {
        if (field->type == PROTOBUF_C_TYPE_STRING && *(char *const *)element == NULL) {
            return fail(s, NRI_E_INVALID, "is NULL; a repeated field must hold texts");
        }
        *size += data_size(get_data(element, field->type).size);
    } else {
        *size += number_size(element, field);
    }
    return true;
}

static bool add_repeated(struct sizer *s, const ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field, uint64_t *size, unsigned depth)
{
    const char *element = *(char *const *)nri_field_member(message, field);
    const size_t count = *nri_field_count(message, field);
    const uint64_t tag = nri_varint_size(tag_of(field, 0));
    uint64_t sum = 0;
    size_t i = 0;
    bool done = element != NULL || fail(s, NRI_E_INVALID, "is NULL; its count is not 0");
    for (; done && i < count; i++) {
        done = add_element(s, element, field, &sum, depth);
        element += nri_field_size(field);
    }
    if (!done) {
        nri_path_field(&s->path, field, i > 0 ? i - 1 : 0);
        return false;
    }
    *size += is_packed(field) ? tag + data_size(sum) : count * tag + sum;
    return true;
}

NRI_INLINE bool add_singular(struct sizer *s, const ProtobufCMessage *message,
                             const ProtobufCFieldDescriptor *field, uint64_t *size, unsigned depth)
{
    const void *member = nri_field_member(message, field);
    if (is_data(field)) {
        const size_t length = get_data(member, field->type).size;
        if (length > 0) {
            *size += nri_varint_size(tag_of(field, 0)) + data_size(length);
        }
    } else if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        uint64_t length;
        if (get_message(member) == NULL) {
            return true;
        }
        if (!size_message(s, get_message(member), &length, depth + 1)) {
            nri_path_field(&s->path, field, 0);
            return false;
        }
        *size += nri_varint_size(tag_of(field, 0)) + data_size(length);
    } else if (!is_zero(member, field->type)) {
        *size += nri_varint_size(tag_of(field, 0)) + number_size(member, field);
    }
    return true;
}

NRI_INLINE bool add_field(struct sizer *s, const ProtobufCMessage *message,
                          const ProtobufCFieldDescriptor *field, uint64_t *size, unsigned depth)
{
    if (!nri_field_repeated(field)) {
        return add_singular(s, message, field, size, depth);
    }
    return *nri_field_count(message, field) == 0 || add_repeated(s, message, field, size, depth);
}

static inline uint64_t unknown_size(const ProtobufCMessage *message)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < message->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *unknown = &message->unknown_fields[i];
        sum += nri_varint_size((uint64_t)unknown->tag << 3) + unknown->len;
    }
    return sum;
}

static bool check_size(struct sizer *s, uint64_t size)
{
    return size <= NRI_MESSAGE_MAX ||
           fail(s, NRI_E_LIMIT, "longer than the 2 GiB of a protobuf message");
}

static bool size_message(struct sizer *s, const ProtobufCMessage *message, uint64_t *size,
                         unsigned depth)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    uint64_t sum = 0;
    if (depth > NRI_MESSAGE_DEPTH) {
        return fail(s, NRI_E_LIMIT, "messages nested deeper than 32");
    }
    for (unsigned i = 0; i < type->n_fields; i++) {
        if (!add_field(s, message, &type->fields[i], &sum, depth)) {
            return false;
        }
    }
    *size = sum + unknown_size(message);
    return check_size(s, *size);
}

static int size_error(struct sizer *s, const ProtobufCMessage *message, struct nri_error *error)
{
    return nri_error_set(error, s->code, "%s: %s", nri_path_finish(&s->path, message->descriptor),
                         s->reason);
}

int nri_message_size(const ProtobufCMessage *message, size_t *size, struct nri_error *error)
{
    struct sizer s;
    uint64_t sum;
    s.code = 0;
    nri_path_init(&s.path);
    if (!size_message(&s, message, &sum, 1)) {
        return size_error(&s, message, error);
    }
    *size = (size_t)sum;
    return 0;
}

int nri_message_field_size(const ProtobufCMessage *message, unsigned field, size_t *size,
                           struct nri_error *error)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    struct sizer s;
    uint64_t sum = 0;
    s.code = 0;
    nri_path_init(&s.path);
    if (field == type->n_fields) {
        sum = unknown_size(message);
    }
    if ((field < type->n_fields && !add_field(&s, message, &type->fields[field], &sum, 1)) ||
        !check_size(&s, sum)) {
        return size_error(&s, message, error);
    }
    *size = (size_t)sum;
    return 0;
}

/* ---- The bytes: each function writes at `at` and returns the position behind ---- */

static uint8_t *write_message(const ProtobufCMessage *message, uint8_t *at);

/* Puts the length in front of what was written behind the byte that was left for it. */
static inline uint8_t *close_length(uint8_t *length, uint8_t *end)
{
    uint8_t *const inner = length + 1;
    const size_t size = (size_t)(end - inner);
    if (size >= 0x80) {
        const size_t more = nri_varint_size(size) - 1;
        memmove(inner + more, inner, size);
        end += more;
    }
    nri_varint_write(length, size);
    return end;
}

static inline uint8_t *write_data(uint8_t *at, struct data data)
{
    at = nri_varint_write(at, data.size);
    (void)nri_ascii_copy((char *)at, data.bytes, data.size);
    return at + data.size;
}

static uint8_t *write_number(uint8_t *at, const void *member, const ProtobufCFieldDescriptor *field)
{
    const uint64_t number = get_number(member, field->type);
    if (nri_field_wire(field) == PROTOBUF_C_WIRE_TYPE_VARINT) {
        return nri_varint_write(at, number);
    }
    nri_fixed_write(at, nri_field_size(field), number);
    return at + nri_field_size(field);
}

static uint8_t *write_inner(uint8_t *at, const ProtobufCMessage *message)
{
    return close_length(at, write_message(message, at + 1));
}

static uint8_t *write_repeated(uint8_t *at, const ProtobufCMessage *message,
                               const ProtobufCFieldDescriptor *field)
{
    const char *element = *(char *const *)nri_field_member(message, field);
    const size_t size = nri_field_size(field);
    const char *const end = element + *nri_field_count(message, field) * size;
    if (is_packed(field)) {
        uint8_t *const length =
            nri_varint_write(at, tag_of(field, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED));
        at = length + 1;
        for (; element < end; element += size) {
            at = write_number(at, element, field);
        }
        return close_length(length, at);
    }
    for (; element < end; element += size) {
        at = nri_varint_write(at, tag_of(field, nri_field_wire(field)));
        at = is_data(field) ? write_data(at, get_data(element, field->type))
             : field->type == PROTOBUF_C_TYPE_MESSAGE ? write_inner(at, get_message(element))
                                                      : write_number(at, element, field);
    }
    return at;
}

NRI_INLINE uint8_t *write_singular(uint8_t *at, const ProtobufCMessage *message,
                                   const ProtobufCFieldDescriptor *field)
{
    const void *member = nri_field_member(message, field);
    if (is_data(field)) {
        const struct data data = get_data(member, field->type);
        if (data.size > 0) {
            at = nri_varint_write(at, tag_of(field, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED));
            at = write_data(at, data);
        }
    } else if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        if (get_message(member) != NULL) {
            at = nri_varint_write(at, tag_of(field, PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED));
            at = write_inner(at, get_message(member));
        }
    } else if (!is_zero(member, field->type)) {
        at = nri_varint_write(at, tag_of(field, nri_field_wire(field)));
        at = write_number(at, member, field);
    }
    return at;
}

NRI_INLINE uint8_t *write_field(uint8_t *at, const ProtobufCMessage *message,
                                const ProtobufCFieldDescriptor *field)
{
    if (!nri_field_repeated(field)) {
        return write_singular(at, message, field);
    }
    return *nri_field_count(message, field) == 0 ? at : write_repeated(at, message, field);
}

static inline uint8_t *write_unknown(uint8_t *at, const ProtobufCMessage *message)
{
    for (unsigned i = 0; i < message->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *unknown = &message->unknown_fields[i];
        at = nri_varint_write(at, (uint64_t)unknown->tag << 3 | unknown->wire_type);
        if (unknown->len > 0) {
            memcpy(at, unknown->data, unknown->len);
            at += unknown->len;
        }
    }
    return at;
}

static uint8_t *write_message(const ProtobufCMessage *message, uint8_t *at)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    for (unsigned i = 0; i < type->n_fields; i++) {
        at = write_field(at, message, &type->fields[i]);
    }
    return write_unknown(at, message);
}

void nri_message_encode(const ProtobufCMessage *message, uint8_t *bytes)
{
    (void)write_message(message, bytes);
}

void nri_message_field_encode(const ProtobufCMessage *message, unsigned field, uint8_t *bytes)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    if (field < type->n_fields) {
        (void)write_field(bytes, message, &type->fields[field]);
    } else {
        (void)write_unknown(bytes, message);
    }
}
