/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest is the sum of a keyed hash of each value together with its place. A sum, because the
 * entries of a map have no order; their place is the same for all of them.
 */
#include "wire/digest.h"

#include <string.h>

#include "base/hash.h"
#include "wire/field.h"
#include "wire/message.h"

#define NO_ORDER UINT64_MAX          /* the index of each entry of a map */
#define UNKNOWN  (UINT64_C(1) << 32) /* set in the place of an unknown field */

static uint64_t hash_place(const uint64_t seed[2], uint64_t place, uint64_t index, uint64_t value)
{
    const uint64_t piece[] = {place, index, value};
    return nri_hash(seed, piece, sizeof piece);
}

/* One value as a number; false for the default, which is the same as no value where it stands
 * alone. */
static bool value_of(const void *member, const ProtobufCFieldDescriptor *field,
                     const uint64_t seed[2], uint64_t *value)
{
    *value = 0;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING: {
        const char *text = *(char *const *)member;
        const size_t length = nri_message_text_length(text);
        *value = nri_hash(seed, text, length);
        return length != 0;
    }
    case PROTOBUF_C_TYPE_BYTES: {
        const ProtobufCBinaryData *data = member;
        *value = nri_hash(seed, data->data, data->len);
        return data->len != 0;
    }
    case PROTOBUF_C_TYPE_MESSAGE: {
        const ProtobufCMessage *message = *(ProtobufCMessage *const *)member;
        if (message != NULL)
            *value = nri_message_digest(message, seed);
        return message != NULL;
    }
    default:
        memcpy(value, member, nri_field_size(field));
        return *value != 0;
    }
}

static uint64_t digest_repeated(const ProtobufCMessage *message,
                                const ProtobufCFieldDescriptor *field, const uint64_t seed[2])
{
    const size_t size = nri_field_size(field), count = *nri_field_count(message, field);
    const char *array = *(char *const *)nri_field_member(message, field);
    const bool is_map = nri_message_field_is_map(field);
    uint64_t sum = 0, value;
    for (size_t i = 0; i < count; i++) {
        (void)value_of(array + i * size, field, seed, &value);
        sum += hash_place(seed, field->id, is_map ? NO_ORDER : i, value);
    }
    return sum;
}

uint64_t nri_message_digest(const ProtobufCMessage *message, const uint64_t seed[2])
{
    const ProtobufCMessageDescriptor *type = message->descriptor;
    uint64_t sum = 0, value;
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        if (nri_field_repeated(field))
            sum += digest_repeated(message, field, seed);
        else if (value_of(nri_field_member(message, field), field, seed, &value))
            sum += hash_place(seed, field->id, 0, value);
    }
    for (unsigned i = 0; i < message->n_unknown_fields; i++) {
        const ProtobufCMessageUnknownField *unknown = &message->unknown_fields[i];
        value = nri_hash(seed, unknown->data, unknown->len);
        sum += hash_place(seed, UNKNOWN | unknown->tag, i, value);
    }
    return sum;
}
