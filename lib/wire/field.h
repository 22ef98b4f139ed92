/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What protobuf-c's field descriptors say, in the terms of the decoder, the encoder and the copier.
 *
 * Only what proto3 without "optional" and "oneof" makes is known: labels NONE and REPEATED, and
 * generated message_init functions. The test test_wire_schema checks that the messages of lib/proto
 * have nothing else.
 */
#ifndef NRI_WIRE_FIELD_H
#define NRI_WIRE_FIELD_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>

/* Messages within messages, the outermost counted; NRI needs 7. */
#define NRI_MESSAGE_DEPTH 32

/* The largest message and the largest field, as in every implementation of protobuf. */
#define NRI_FIELD_ID_MAX ((UINT64_C(1) << 29) - 1) /* field numbers */
#define NRI_MESSAGE_MAX  ((size_t)INT32_MAX)

/* Bytes of one value of a type in a structure or an array, and how it is written. */
struct nri_field_shape {
    uint8_t size;
    uint8_t wire; /* a ProtobufCWireType */
};
extern const struct nri_field_shape nri_field_shapes[PROTOBUF_C_TYPE_MESSAGE + 1];

static inline size_t nri_field_size(const ProtobufCFieldDescriptor *field)
{
    return nri_field_shapes[field->type].size;
}

static inline unsigned nri_field_wire(const ProtobufCFieldDescriptor *field)
{
    return nri_field_shapes[field->type].wire;
}

static inline bool nri_field_repeated(const ProtobufCFieldDescriptor *field)
{
    return field->label == PROTOBUF_C_LABEL_REPEATED;
}

/* Whether a repeated field of this type may be packed: all but text, bytes and messages. */
static inline bool nri_field_packable(const ProtobufCFieldDescriptor *field)
{
    return nri_field_wire(field) != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
}

/* The fields of a message whose numbers are 1, 2, 3 and so on, as nearly all of NRI's are; of
 * others none. */
struct nri_field_table {
    const ProtobufCFieldDescriptor *fields;
    uint32_t count;
};

static inline struct nri_field_table nri_field_table(const ProtobufCMessageDescriptor *type)
{
    if (type->n_field_ranges != 1 || type->field_ranges->start_value != 1) {
        return (struct nri_field_table){0};
    }
    return (struct nri_field_table){type->fields, type->n_fields};
}

/* The field with a number, which may be any; NULL when the message has none. */
const ProtobufCFieldDescriptor *nri_field_find(const ProtobufCMessageDescriptor *type,
                                               uint64_t number);

/* A member of a message, and the count of a repeated one. */
static inline void *nri_field_member(const ProtobufCMessage *message,
                                     const ProtobufCFieldDescriptor *field)
{
    return (char *)message + field->offset;
}

static inline size_t *nri_field_count(const ProtobufCMessage *message,
                                      const ProtobufCFieldDescriptor *field)
{
    return (size_t *)(void *)((char *)message + field->quantifier_offset);
}

#endif
