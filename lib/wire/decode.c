/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding: one pass over the bytes, recursive for messages in messages.
 *
 * Arrays of repeated fields grow as runs of the field are met: the run is counted first, which
 * costs one step an element, and real messages have one run a field, so that arrays fit exactly. A
 * field in many runs (legal, and what a hostile peer sends) doubles. A singular message that occurs
 * again is decoded into the structure that is there, which is what merging means. Both cost time in
 * proportion to the bytes. Map fields are put on a list when they get their first entry and gone
 * through once at the end.
 */
#include <string.h>

#include "base/text.h"
#include "wire/array.h"
#include "wire/field.h"
#include "wire/map_entries.h"
#include "wire/message.h"
#include "wire/path.h"
#include "wire/varint.h"

struct decoder {
    struct nri_arena *arena;
    struct nri_map_field *maps; /* all map fields met, for the end */
    /* The first error. */
    int code;
    const char *reason;
    const uint8_t *where;
    struct nri_path path;
};

/* A field as it stands in the bytes. */
struct value {
    unsigned wire;
    uint64_t number;     /* of a varint or a fixed-width field */
    const uint8_t *data; /* of a length-delimited field */
    size_t size;
};

static bool decode_into(struct decoder *d, ProtobufCMessage *message, const uint8_t *at,
                        const uint8_t *end, unsigned depth);

static bool fail(struct decoder *d, int code, const char *reason, const uint8_t *where)
{
    d->code = code;
    d->reason = reason;
    d->where = where;
    return false;
}

static bool fail_memory(struct decoder *d, const uint8_t *where)
{
    return fail(d, d->arena->failure, NULL, where);
}

static bool fail_varint(struct decoder *d, const uint8_t *at, const uint8_t *end)
{
    return fail(d, NRI_E_PROTOCOL,
                end - at < NRI_VARINT_MAX ? "number cut short" : "number longer than 64 bits", at);
}

static bool fail_wire(struct decoder *d, unsigned wire, const uint8_t *at)
{
    const bool group = wire == 3 || wire == 4;
    return fail(d, NRI_E_PROTOCOL, group ? "groups are not supported" : "unknown wire type", at);
}

/* Skips a value without looking into it; NULL when it is malformed. */
static const uint8_t *skip(const uint8_t *at, const uint8_t *end, unsigned wire)
{
    uint64_t number = 0;
    switch (wire) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        return nri_varint_read(at, end, &number);
    case PROTOBUF_C_WIRE_TYPE_64BIT:
        number = 8;
        break;
    case PROTOBUF_C_WIRE_TYPE_32BIT:
        number = 4;
        break;
    default:
        at = nri_varint_read(at, end, &number);
        if (at == NULL) {
            return NULL;
        }
        break;
    }
    return number <= (size_t)(end - at) ? at + number : NULL;
}

/* How many fields with the tag at `tag` follow one another, the first of which counts whatever it
 * is. */
static size_t count_run(const uint8_t *tag, size_t tag_size, const uint8_t *end, unsigned wire)
{
    size_t n = 1;
    const uint8_t *at = skip(tag + tag_size, end, wire);
    while (at != NULL && (size_t)(end - at) > tag_size && memcmp(at, tag, tag_size) == 0) {
        n++;
        at = skip(at + tag_size, end, wire);
    }
    return n;
}

/* ---- One value ---- */

/* Nearly all texts are: this is the fast way past the UTF-8 check. */
static bool is_ascii(const uint8_t *at, size_t size)
{
    uint64_t high = 0, word;
    if (size < sizeof word) {
        for (size_t i = 0; i < size; i++) {
            high |= at[i];
        }
        return high < 0x80;
    }
    for (size_t i = 0; i <= size - sizeof word; i += sizeof word) {
        memcpy(&word, at + i, sizeof word);
        high |= word;
    }
    memcpy(&word, at + size - sizeof word, sizeof word); /* the last bytes, some of them again */
    return ((high | word) & UINT64_C(0x8080808080808080)) == 0;
}

static bool put_text(struct decoder *d, char **member, const struct value *v)
{
    if (v->size == 0) {
        *member = (char *)(uintptr_t)protobuf_c_empty_string;
        return true;
    }
    size_t bad;
    if (!is_ascii(v->data, v->size) && !nri_utf8_valid((const char *)v->data, v->size, &bad)) {
        return fail(d, NRI_E_UTF8, "not UTF-8", v->data + bad);
    }
    char *text = nri_arena_text(d->arena, (const char *)v->data, v->size);
    if (text == NULL) {
        return fail_memory(d, v->data);
    }
    *member = text;
    return true;
}

static bool put_bytes(struct decoder *d, ProtobufCBinaryData *member, const struct value *v)
{
    uint8_t *data = NULL;
    if (v->size > 0) {
        data = nri_arena_alloc(d->arena, v->size);
        if (data == NULL) {
            return fail_memory(d, v->data);
        }
        memcpy(data, v->data, v->size);
    }
    member->data = data;
    member->len = v->size;
    return true;
}

static bool put_message(struct decoder *d, ProtobufCMessage **member,
                        const ProtobufCMessageDescriptor *type, const struct value *v,
                        unsigned depth)
{
    if (depth >= NRI_MESSAGE_DEPTH) {
        return fail(d, NRI_E_LIMIT, "messages nested deeper than 32", v->data);
    }
    if (*member == NULL) {
        ProtobufCMessage *message = nri_arena_alloc(d->arena, type->sizeof_message);
        if (message == NULL) {
            return fail_memory(d, v->data);
        }
        type->message_init(message);
        *member = message;
    }
    return decode_into(d, *member, v->data, v->data + v->size, depth + 1);
}

static void put_number(void *member, ProtobufCType type, uint64_t number)
{
    uint32_t word;
    switch (type) {
    case PROTOBUF_C_TYPE_BOOL:
        word = number != 0;
        break;
    case PROTOBUF_C_TYPE_SINT32:
        word = (uint32_t)nri_unzigzag((uint32_t)number);
        break;
    case PROTOBUF_C_TYPE_SINT64:
        number = (uint64_t)nri_unzigzag(number);
        memcpy(member, &number, sizeof number);
        return;
    default:
        if (nri_field_shapes[type].size == sizeof number) {
            memcpy(member, &number, sizeof number);
            return;
        }
        word = (uint32_t)number; /* of longer numbers the low bits count, as everywhere */
        break;
    }
    memcpy(member, &word, sizeof word);
}

static bool put_value(struct decoder *d, void *member, const ProtobufCFieldDescriptor *field,
                      const struct value *v, unsigned depth)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        return put_text(d, member, v);
    case PROTOBUF_C_TYPE_MESSAGE:
        return put_message(d, member, field->descriptor, v, depth);
    case PROTOBUF_C_TYPE_BYTES:
        return put_bytes(d, member, v);
    default:
        put_number(member, field->type, v->number);
        return true;
    }
}

/* ---- Fields ---- */

/* `more`: how many elements are known to come. */
static bool make_room(struct decoder *d, ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field, size_t more, const uint8_t *at)
{
    void **array = nri_field_member(message, field);
    const size_t count = *nri_field_count(message, field);
    if (*array == NULL && nri_message_field_is_map(field)) {
        struct nri_map_field *map = nri_arena_alloc(d->arena, sizeof *map);
        if (map == NULL) {
            return fail_memory(d, at);
        }
        *map = (struct nri_map_field){.next = d->maps, .message = message, .field = field};
        d->maps = map;
    }
    void *grown = nri_array_grow(d->arena, *array, count, more, nri_field_size(field));
    if (grown == NULL) {
        return fail_memory(d, at);
    }
    *array = grown;
    return true;
}

static bool put_packed(struct decoder *d, ProtobufCMessage *message,
                       const ProtobufCFieldDescriptor *field, const struct value *v)
{
    const unsigned wire = nri_field_wire(field);
    const size_t size = nri_field_size(field);
    const uint8_t *at = v->data, *const end = v->data + v->size;
    size_t more = 0;
    if (wire == PROTOBUF_C_WIRE_TYPE_VARINT) {
        for (const uint8_t *p = at; p < end; p++) {
            more += *p < 0x80;
        }
    } else {
        more = v->size / size;
    }
    size_t *count = nri_field_count(message, field);
    void **array = nri_field_member(message, field);
    if (more > nri_array_capacity(*array) - *count && !make_room(d, message, field, more, at)) {
        return false;
    }
    while (at < end) {
        uint64_t number = 0;
        const uint8_t *const start = at;
        if (wire == PROTOBUF_C_WIRE_TYPE_VARINT) {
            at = nri_varint_read(at, end, &number);
            if (at == NULL) {
                return fail_varint(d, start, end);
            }
        } else {
            if ((size_t)(end - at) < size) {
                return fail(d, NRI_E_PROTOCOL, "packed field cut short", at);
            }
            number = nri_fixed_read(at, size);
            at += size;
        }
        put_number((char *)*array + *count * size, field->type, number);
        ++*count;
    }
    return true;
}

static bool put_repeated(struct decoder *d, ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field, const struct value *v,
                         const uint8_t *tag, size_t tag_size, const uint8_t *end, unsigned depth)
{
    const size_t size = nri_field_size(field);
    size_t *count = nri_field_count(message, field);
    void **array = nri_field_member(message, field);
    if (*count == nri_array_capacity(*array) &&
        !make_room(d, message, field, count_run(tag, tag_size, end, v->wire), tag)) {
        return false;
    }
    void *element = (char *)*array + *count * size;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        *(ProtobufCMessage **)element = NULL;
    }
    if (!put_value(d, element, field, v, depth)) {
        return false;
    }
    ++*count;
    return true;
}

/* Kept as protobuf-c keeps it: the bytes behind the tag, those of a length included. */
static bool put_unknown(struct decoder *d, ProtobufCMessage *message, uint32_t number,
                        unsigned wire, const uint8_t *at, const uint8_t *end)
{
    const size_t size = sizeof *message->unknown_fields;
    const unsigned count = message->n_unknown_fields;
    if (count == nri_array_capacity(message->unknown_fields)) {
        void *grown = nri_array_grow(d->arena, message->unknown_fields, count, 1, size);
        if (grown == NULL) {
            return fail_memory(d, at);
        }
        message->unknown_fields = grown;
    }
    const size_t length = (size_t)(end - at);
    uint8_t *data = nri_arena_alloc(d->arena, length);
    if (data == NULL) {
        return fail_memory(d, at);
    }
    memcpy(data, at, length);
    message->unknown_fields[count] = (ProtobufCMessageUnknownField){
        .tag = number,
        .wire_type = (ProtobufCWireType)wire,
        .len = length,
        .data = data,
    };
    message->n_unknown_fields = count + 1;
    return true;
}

/* Reads the value behind a tag; the position behind it, or NULL with the error set. */
static const uint8_t *read_value(struct decoder *d, const uint8_t *at, const uint8_t *end,
                                 struct value *v)
{
    size_t fixed = 4;
    switch (v->wire) {
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED: {
        uint64_t size;
        const uint8_t *data = nri_varint_read(at, end, &size);
        if (data == NULL) {
            fail_varint(d, at, end);
            return NULL;
        }
        if (size > (size_t)(end - data)) {
            fail(d, NRI_E_PROTOCOL, "length past the end of the message", at);
            return NULL;
        }
        v->data = data;
        v->size = (size_t)size;
        return data + size;
    }
    case PROTOBUF_C_WIRE_TYPE_VARINT: {
        const uint8_t *next = nri_varint_read(at, end, &v->number);
        if (next == NULL) {
            fail_varint(d, at, end);
        }
        return next;
    }
    case PROTOBUF_C_WIRE_TYPE_64BIT:
        fixed = 8;
        break;
    case PROTOBUF_C_WIRE_TYPE_32BIT:
        break;
    default:
        fail_wire(d, v->wire, at);
        return NULL;
    }
    if ((size_t)(end - at) < fixed) {
        fail(d, NRI_E_PROTOCOL, "number cut short", at);
        return NULL;
    }
    v->number = nri_fixed_read(at, fixed);
    return at + fixed;
}

static const uint8_t *read_tag(struct decoder *d, const uint8_t *at, const uint8_t *end,
                               uint32_t *tag)
{
    uint64_t number;
    const uint8_t *next = nri_varint_read(at, end, &number);
    if (next == NULL) {
        fail_varint(d, at, end);
        return NULL;
    }
    if (number > UINT32_MAX || number >> 3 == 0) {
        fail(d, NRI_E_PROTOCOL, "illegal field number", at);
        return NULL;
    }
    *tag = (uint32_t)number;
    return next;
}

static bool put_field(struct decoder *d, ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field, const struct value *v,
                      const uint8_t *tag, size_t tag_size, const uint8_t *end, unsigned depth)
{
    bool done;
    if (v->wire == nri_field_wire(field)) {
        done = nri_field_repeated(field)
                   ? put_repeated(d, message, field, v, tag, tag_size, end, depth)
                   : put_value(d, nri_field_member(message, field), field, v, depth);
    } else if (nri_field_repeated(field) && nri_field_packable(field) &&
               v->wire == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED) {
        done = put_packed(d, message, field, v);
    } else {
        done = fail(d, NRI_E_PROTOCOL, "wrong wire type for this field", tag);
    }
    if (!done) {
        nri_path_field(&d->path, field,
                       nri_field_repeated(field) ? *nri_field_count(message, field) : 0);
    }
    return done;
}

static bool decode_into(struct decoder *d, ProtobufCMessage *message, const uint8_t *at,
                        const uint8_t *end, unsigned depth)
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    while (at < end) {
        uint32_t tag;
        const uint8_t *const start = at;
        const uint8_t *const after_tag = read_tag(d, at, end, &tag);
        if (after_tag == NULL) {
            return false;
        }
        const uint32_t number = tag >> 3;
        struct value v = {.wire = tag & 7};
        at = read_value(d, after_tag, end, &v);
        if (at == NULL) {
            return false;
        }
        const ProtobufCFieldDescriptor *field = nri_field_find(type, number);
        if (field == NULL ? !put_unknown(d, message, number, v.wire, after_tag, at)
                          : !put_field(d, message, field, &v, start, (size_t)(after_tag - start),
                                       end, depth)) {
            return false;
        }
    }
    return true;
}

static int settle_maps(const struct decoder *d, const uint64_t seed[2])
{
    for (const struct nri_map_field *map = d->maps; map != NULL; map = map->next) {
        const int code = nri_map_entries_settle(map, d->arena, seed);
        if (code != 0) {
            return code;
        }
    }
    return 0;
}

static int report(struct decoder *d, const ProtobufCMessageDescriptor *type, const uint8_t *bytes,
                  size_t length, struct nri_error *error)
{
    const size_t offset = d->where == NULL ? length : (size_t)(d->where - bytes);
    const char *path = nri_path_finish(&d->path, type);
    if (d->reason != NULL) {
        return nri_error_set(error, d->code, "%s: %s, at byte %zu of %zu", path, d->reason, offset,
                             length);
    }
    if (d->code == NRI_E_LIMIT) {
        return nri_error_set(error, d->code,
                             "%s: a message of %zu bytes needs more memory than the limit of %zu "
                             "bytes, at byte %zu",
                             path, length, d->arena->limit, offset);
    }
    return nri_error_set(error, d->code, "%s: out of memory, at byte %zu of %zu", path, offset,
                         length);
}

int nri_message_decode(const ProtobufCMessageDescriptor *type, const uint8_t *bytes, size_t length,
                       struct nri_arena *arena, const uint64_t seed[2], ProtobufCMessage **message,
                       struct nri_error *error)
{
    static const uint8_t nothing[1];
    struct decoder d = {.arena = arena};
    const struct value all = {.data = bytes != NULL ? bytes : nothing, .size = length};
    ProtobufCMessage *decoded = NULL;
    nri_path_init(&d.path);
    if (put_message(&d, &decoded, type, &all, 0)) {
        d.where = NULL;
        d.code = settle_maps(&d, seed);
    }
    if (d.code != 0) {
        return report(&d, type, all.data, length, error);
    }
    *message = decoded;
    return 0;
}
