/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decoding: one pass over the bytes, with a stack of its own for messages in messages.
 *
 * Arrays of repeated fields double. A singular message that occurs again is decoded into the
 * structure that is there, which is what merging means. Both cost time in proportion to the bytes.
 * Map fields are put on a list when they get their first entry and gone through once at the end.
 */
#include <string.h>

#include "wire/array.h"
#include "wire/field.h"
#include "wire/map_entries.h"
#include "wire/message.h"
#include "wire/path.h"
#include "wire/text.h"
#include "wire/varint.h"

/* For the functions on the way of nearly every field, which the compiler would not inline in two
 * places. */
#define NRI_INLINE static inline __attribute__((always_inline))

/* A message that waits for the end of one of its fields, a message too. */
struct frame {
    ProtobufCMessage *message;
    const ProtobufCFieldDescriptor *field;
    const uint8_t *end; /* of `message` */
};

struct decoder {
    struct nri_arena *arena;
    struct nri_map_field *maps; /* all map fields met, for the end */
    unsigned depth;             /* of the stack */
    struct frame stack[NRI_MESSAGE_DEPTH - 1];
    /* The first error. */
    int code;
    const char *reason;
    const uint8_t *where;
};

/* A field as it stands in the bytes. */
struct piece {
    const uint8_t *tag, *value; /* where they begin */
    const uint8_t *next;        /* behind the field; NULL: there is none, and the error is set */
    uint64_t id;                /* 0 when the tag cannot be read */
    unsigned wire;
    const uint8_t *data; /* of a length-delimited field */
    uint64_t number;     /* its length, or the number */
};

/* ---- Errors ---- */

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

/* ---- Reading ---- */

/* A varint or a fixed-width number; `next` is NULL with the error set. */
static struct nri_varint read_number(struct decoder *d, const uint8_t *at, const uint8_t *end,
                                     unsigned wire)
{
    struct nri_varint v = {0};
    size_t size = 4;
    switch (wire) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        v = nri_varint_read(at, end);
        if (v.next == NULL) {
            fail_varint(d, at, end);
        }
        return v;
    case PROTOBUF_C_WIRE_TYPE_64BIT:
        size = 8;
        break;
    case PROTOBUF_C_WIRE_TYPE_32BIT:
        break;
    default:
        fail(d, NRI_E_PROTOCOL, wire <= 4 ? "groups are not supported" : "unknown wire type", at);
        return v;
    }
    if ((size_t)(end - at) < size) {
        fail(d, NRI_E_PROTOCOL, "number cut short", at);
        return v;
    }
    return (struct nri_varint){at + size, nri_fixed_read(at, size)};
}

/* `data` and `number` of a length-delimited field. */
static const uint8_t *read_data(struct decoder *d, struct piece *p, const uint8_t *end)
{
    const struct nri_varint length = nri_varint_read(p->value, end);
    if (length.next == NULL) {
        fail_varint(d, p->value, end);
        return NULL;
    }
    if (length.value > (size_t)(end - length.next)) {
        fail(d, NRI_E_PROTOCOL, "length past the end of the message", p->value);
        return NULL;
    }
    p->data = length.next;
    p->number = length.value;
    return length.next + length.value;
}

static inline struct piece read_piece(struct decoder *d, const uint8_t *at, const uint8_t *end)
{
    const struct nri_varint tag = nri_varint_read(at, end);
    struct piece p = {.tag = at, .value = tag.next};
    if (tag.next == NULL) {
        fail_varint(d, at, end);
        return p;
    }
    p.id = tag.value >> 3;
    p.wire = (unsigned)tag.value & 7;
    if (p.wire == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED) {
        p.next = read_data(d, &p, end);
    } else {
        const struct nri_varint v = read_number(d, p.value, end, p.wire);
        p.next = v.next;
        p.number = v.value;
    }
    return p;
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

/* ---- Repeated fields ---- */

/* Room for `more` elements; the array, or NULL. */
static char *make_room(struct decoder *d, ProtobufCMessage *message,
                       const ProtobufCFieldDescriptor *field, size_t more)
{
    char **array = nri_field_member(message, field);
    if (*array == NULL && nri_message_field_is_map(field)) {
        struct nri_map_field *map = nri_arena_alloc(d->arena, sizeof *map);
        if (map == NULL) {
            return NULL;
        }
        *map = (struct nri_map_field){.next = d->maps, .message = message, .field = field};
        d->maps = map;
    }
    char *grown = nri_array_grow(d->arena, *array, *nri_field_count(message, field), more,
                                 nri_field_size(field));
    if (grown != NULL) {
        *array = grown;
    }
    return grown;
}

/* Where the next element of a repeated field goes; NULL with the error set. */
NRI_INLINE void *next_element(struct decoder *d, ProtobufCMessage *message,
                              const ProtobufCFieldDescriptor *field, size_t size, const uint8_t *at)
{
    const size_t count = *nri_field_count(message, field);
    char *array = *(char **)nri_field_member(message, field);
    if (count == nri_array_capacity(array)) {
        array = make_room(d, message, field, 1);
        if (array == NULL) {
            fail_memory(d, at);
            return NULL;
        }
    }
    return array + count * size;
}

/* ---- Values ---- */

/* Kept as protobuf-c keeps it: the bytes behind the tag, those of a length included. */
static bool put_unknown(struct decoder *d, ProtobufCMessage *message, struct piece p)
{
    const size_t size = sizeof *message->unknown_fields;
    const unsigned count = message->n_unknown_fields;
    const size_t length = (size_t)(p.next - p.value);
    if (p.id == 0 || p.id > NRI_FIELD_ID_MAX) {
        return fail(d, NRI_E_PROTOCOL, "illegal field number", p.tag);
    }
    if (count == nri_array_capacity(message->unknown_fields)) {
        void *grown = nri_array_grow(d->arena, message->unknown_fields, count, 1, size);
        if (grown == NULL) {
            return fail_memory(d, p.tag);
        }
        message->unknown_fields = grown;
    }
    uint8_t *data = nri_arena_alloc(d->arena, length);
    if (data == NULL) {
        return fail_memory(d, p.tag);
    }
    memcpy(data, p.value, length);
    message->unknown_fields[count] = (ProtobufCMessageUnknownField){
        .tag = (uint32_t)p.id,
        .wire_type = (ProtobufCWireType)p.wire,
        .len = length,
        .data = data,
    };
    message->n_unknown_fields = count + 1;
    return true;
}

static bool check_utf8(struct decoder *d, const char *text, const uint8_t *data, size_t size)
{
    size_t bad;
    return nri_utf8_valid(text, size, &bad) || fail(d, NRI_E_UTF8, "not UTF-8", data + bad);
}

NRI_INLINE bool put_text(struct decoder *d, ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field, const uint8_t *data, size_t size)
{
    char *text = (char *)(uintptr_t)protobuf_c_empty_string;
    if (size > 0) {
        uint64_t high;
        text = nri_text_copy(d->arena, data, size, &high);
        if (text == NULL) {
            return fail_memory(d, data);
        }
        if (high != 0 && !check_utf8(d, text, data, size)) {
            return false;
        }
    }
    if (!nri_field_repeated(field)) {
        *(char **)nri_field_member(message, field) = text;
        return true;
    }
    char **element = next_element(d, message, field, sizeof *element, data);
    if (element == NULL) {
        return false;
    }
    *element = text;
    ++*nri_field_count(message, field);
    return true;
}

static bool put_bytes(struct decoder *d, ProtobufCBinaryData *member, const uint8_t *data,
                      size_t size)
{
    uint8_t *copy = NULL;
    if (size > 0) {
        copy = nri_arena_alloc(d->arena, size);
        if (copy == NULL) {
            return fail_memory(d, data);
        }
        memcpy(copy, data, size); /* NOLINT(*NonNullParamChecker): what has no data has no size */
    }
    member->data = copy;
    member->len = size;
    return true;
}

static inline ProtobufCMessage *
new_message(struct decoder *d, const ProtobufCMessageDescriptor *type, const uint8_t *at)
{
    ProtobufCMessage *message = nri_arena_alloc(d->arena, type->sizeof_message);
    if (message == NULL) {
        fail_memory(d, at);
    } else {
        type->message_init(message);
    }
    return message;
}

/* The packed form of a repeated field. */
static bool put_packed(struct decoder *d, ProtobufCMessage *message,
                       const ProtobufCFieldDescriptor *field, const uint8_t *at, const uint8_t *end)
{
    const unsigned wire = nri_field_wire(field);
    const size_t size = nri_field_size(field);
    size_t more = (size_t)(end - at) / size;
    if (wire == PROTOBUF_C_WIRE_TYPE_VARINT) {
        more = 0;
        for (const uint8_t *last = at; last < end; last++) {
            more += *last < 0x80; /* the last byte of a varint */
        }
    }
    size_t *count = nri_field_count(message, field);
    char *array = *(char **)nri_field_member(message, field);
    if (more > nri_array_capacity(array) - *count) {
        array = make_room(d, message, field, more);
        if (array == NULL) {
            return fail_memory(d, at);
        }
    }
    for (; at < end; ++*count) {
        const struct nri_varint v = read_number(d, at, end, wire);
        if (v.next == NULL) {
            return false;
        }
        put_number(array + *count * size, field->type, v.value);
        at = v.next;
    }
    return true;
}

/* The rarer fields: no texts, no messages. */
static bool put_other(struct decoder *d, ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field, struct piece p)
{
    if (p.wire != nri_field_wire(field)) {
        return nri_field_repeated(field) && nri_field_packable(field) && p.data != NULL
                   ? put_packed(d, message, field, p.data, p.next)
                   : fail(d, NRI_E_PROTOCOL, "wrong wire type", p.tag);
    }
    void *room = nri_field_member(message, field);
    if (nri_field_repeated(field)) {
        room = next_element(d, message, field, nri_field_size(field), p.tag);
        if (room == NULL) {
            return false;
        }
    }
    if (field->type != PROTOBUF_C_TYPE_BYTES) {
        put_number(room, field->type, p.number);
    } else if (!put_bytes(d, room, p.data, (size_t)p.number)) {
        return false;
    }
    if (nri_field_repeated(field)) {
        ++*nri_field_count(message, field);
    }
    return true;
}

/* ---- Messages in messages ---- */

/* A new message of a field, or the one that is there already. NULL with the error set. */
NRI_INLINE ProtobufCMessage *put_message(struct decoder *d, ProtobufCMessage *message,
                                         const ProtobufCFieldDescriptor *field, const uint8_t *data)
{
    ProtobufCMessage **room = nri_field_member(message, field);
    if (nri_field_repeated(field)) {
        room = next_element(d, message, field, sizeof *room, data);
        if (room == NULL) {
            return NULL;
        }
    } else if (*room != NULL) {
        return *room;
    }
    ProtobufCMessage *made = new_message(d, field->descriptor, data);
    if (made != NULL) {
        *room = made;
        if (nri_field_repeated(field)) {
            ++*nri_field_count(message, field);
        }
    }
    return made;
}

/* What is being read. */
struct cursor {
    ProtobufCMessage *message;
    struct nri_field_table table;
    const uint8_t *at, *end;
};

NRI_INLINE void set_message(struct cursor *c, ProtobufCMessage *message)
{
    c->message = message;
    c->table = nri_field_table(message->descriptor);
}

/* Goes on in a message within the message, from c->at to `end`. */
NRI_INLINE bool enter(struct decoder *d, struct cursor *c, const ProtobufCFieldDescriptor *field,
                      const uint8_t *end)
{
    const uint8_t *const at = c->at;
    if (d->depth == NRI_MESSAGE_DEPTH - 1) {
        return fail(d, NRI_E_LIMIT, "messages nested deeper than 32", at);
    }
    ProtobufCMessage *inner = put_message(d, c->message, field, at);
    if (inner == NULL) {
        return false;
    }
    d->stack[d->depth++] = (struct frame){c->message, field, c->end};
    set_message(c, inner);
    c->end = end;
    return true;
}

NRI_INLINE void leave(struct decoder *d, struct cursor *c)
{
    const struct frame *frame = &d->stack[--d->depth];
    c->end = frame->end;
    set_message(c, frame->message);
}

/* ---- Fields ---- */

/* Any field: reads it, or enters the message that it holds. *field is for the error's path. */
static bool any_field(struct decoder *d, struct cursor *c, const ProtobufCFieldDescriptor **field)
{
    const struct piece p = read_piece(d, c->at, c->end);
    *field = nri_field_find(c->message->descriptor, p.id);
    if (p.next == NULL) {
        return false;
    }
    c->at = p.next;
    if (*field == NULL) {
        return put_unknown(d, c->message, p);
    }
    if (p.wire != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED) {
        return put_other(d, c->message, *field, p);
    }
    switch ((*field)->type) {
    case PROTOBUF_C_TYPE_STRING:
        return put_text(d, c->message, *field, p.data, (size_t)p.number);
    case PROTOBUF_C_TYPE_MESSAGE:
        c->at = p.data;
        return enter(d, c, *field, p.next);
    default:
        return put_other(d, c->message, *field, p);
    }
}

/* The first byte of a field that is what nearly all are: length-delimited, with one byte of tag;
 * and, next, one of length. */
#define SHORT_MASK   (0x80 | 7)
#define IS_SHORT(at) (((at)[0] & SHORT_MASK) == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED)

/*
 * Decodes from start->at to start->end. Texts and messages in the short form take the short way:
 * the instruction count of decoding is that of this loop. On failure start->message and *failed
 * (which may be NULL) say where.
 */
static bool decode(struct decoder *d, struct cursor *start, const ProtobufCFieldDescriptor **failed)
{
    struct cursor c = *start; /* in registers */
    const ProtobufCFieldDescriptor *field = NULL;
    for (;;) {
        const ptrdiff_t left = c.end - c.at - 2;
        if (left >= 0 && IS_SHORT(c.at) && c.at[1] <= left) {
            const uint32_t index = (uint32_t)(c.at[0] >> 3) - 1;
            const size_t size = c.at[1];
            if (index < c.table.count && size < 0x80) {
                field = &c.table.fields[index];
                if (field->type == PROTOBUF_C_TYPE_STRING) {
                    if (!put_text(d, c.message, field, c.at + 2, size)) {
                        break;
                    }
                    c.at += 2 + size;
                    continue;
                }
                if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
                    c.at += 2;
                    if (!enter(d, &c, field, c.at + size)) {
                        break;
                    }
                    continue;
                }
            }
        }
        if (c.at < c.end) {
            *start = c;
            if (!any_field(d, start, &field)) {
                break;
            }
            c = *start;
        } else if (d->depth > 0) {
            leave(d, &c);
        } else {
            return true;
        }
    }
    start->message = c.message;
    *failed = field;
    return false;
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

/* The path of the message that is being read, and of a field in it unless that is NULL. */
static const char *path_of(const struct decoder *d, const ProtobufCMessage *message,
                           const ProtobufCFieldDescriptor *field, struct nri_path *path)
{
    nri_path_init(path);
    if (field != NULL) {
        /* Failed elements are not counted. */
        nri_path_field(path, field,
                       nri_field_repeated(field) ? *nri_field_count(message, field) : 0);
    }
    for (unsigned i = d->depth; i > 0; i--) {
        const struct frame *frame = &d->stack[i - 1];
        message = frame->message;
        field = frame->field;
        nri_path_field(path, field,
                       nri_field_repeated(field) ? *nri_field_count(message, field) - 1 : 0);
    }
    return nri_path_finish(path, message->descriptor);
}

static int report(const struct decoder *d, const char *path, size_t offset, size_t length,
                  struct nri_error *error)
{
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
    const uint8_t *const start = bytes != NULL ? bytes : nothing;
    const ProtobufCFieldDescriptor *field = NULL;
    struct nri_path path;
    struct decoder d; /* not zeroed: the stack is large */
    d.arena = arena;
    d.maps = NULL;
    d.depth = 0;
    d.code = 0;
    d.reason = NULL;
    d.where = start + length;
    if (length > NRI_MESSAGE_MAX) {
        return nri_error_set(error, NRI_E_LIMIT,
                             "%s: %zu bytes: a protobuf message has at most 2 GiB",
                             type->short_name, length);
    }
    ProtobufCMessage *decoded = new_message(&d, type, start);
    if (decoded == NULL) {
        return report(&d, type->short_name, 0, length, error);
    }
    struct cursor c = {.at = start, .end = start + length};
    set_message(&c, decoded);
    if (decode(&d, &c, &field)) {
        d.code = settle_maps(&d, seed);
        field = NULL;
    }
    if (d.code != 0) {
        return report(&d, path_of(&d, c.message, field, &path), (size_t)(d.where - start), length,
                      error);
    }
    *message = decoded;
    return 0;
}
