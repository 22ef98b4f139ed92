/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/field.h"

#include <string.h>

#include "base/text.h"
#include "wire/message.h"

#define VARINT  PROTOBUF_C_WIRE_TYPE_VARINT
#define FIXED32 PROTOBUF_C_WIRE_TYPE_32BIT
#define FIXED64 PROTOBUF_C_WIRE_TYPE_64BIT
#define PREFIX  PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED

const struct nri_field_shape nri_field_shapes[PROTOBUF_C_TYPE_MESSAGE + 1] = {
    [PROTOBUF_C_TYPE_INT32] = {4, VARINT},
    [PROTOBUF_C_TYPE_SINT32] = {4, VARINT},
    [PROTOBUF_C_TYPE_SFIXED32] = {4, FIXED32},
    [PROTOBUF_C_TYPE_INT64] = {8, VARINT},
    [PROTOBUF_C_TYPE_SINT64] = {8, VARINT},
    [PROTOBUF_C_TYPE_SFIXED64] = {8, FIXED64},
    [PROTOBUF_C_TYPE_UINT32] = {4, VARINT},
    [PROTOBUF_C_TYPE_FIXED32] = {4, FIXED32},
    [PROTOBUF_C_TYPE_UINT64] = {8, VARINT},
    [PROTOBUF_C_TYPE_FIXED64] = {8, FIXED64},
    [PROTOBUF_C_TYPE_FLOAT] = {4, FIXED32},
    [PROTOBUF_C_TYPE_DOUBLE] = {8, FIXED64},
    [PROTOBUF_C_TYPE_BOOL] = {sizeof(protobuf_c_boolean), VARINT},
    [PROTOBUF_C_TYPE_ENUM] = {sizeof(int), VARINT},
    [PROTOBUF_C_TYPE_STRING] = {sizeof(char *), PREFIX},
    [PROTOBUF_C_TYPE_BYTES] = {sizeof(ProtobufCBinaryData), PREFIX},
    [PROTOBUF_C_TYPE_MESSAGE] = {sizeof(ProtobufCMessage *), PREFIX},
};

_Static_assert(sizeof(protobuf_c_boolean) == 4 && sizeof(int) == 4,
               "bool and enum members are written as 4 bytes");

const ProtobufCFieldDescriptor *nri_field_find(const ProtobufCMessageDescriptor *type,
                                               uint64_t number)
{
    const ProtobufCIntRange *range = type->field_ranges;
    for (unsigned i = 0; i < type->n_field_ranges; i++, range++) {
        /* Below the first number the difference wraps and is too large as well. */
        const uint64_t index = number - (uint32_t)range->start_value;
        if (index < range[1].orig_index - range->orig_index) {
            return &type->fields[range->orig_index + index];
        }
    }
    return NULL;
}

/* protoc names the entry message of a map field after the field; nobody else ends a name so. */
static bool is_entry_name(const char *name)
{
    static const char entry[] = "Entry";
    const size_t suffix = sizeof entry - 1, length = strlen(name);
    return length > suffix && memcmp(name + length - suffix, entry, suffix) == 0;
}

bool nri_message_field_is_map(const ProtobufCFieldDescriptor *field)
{
    if (!nri_field_repeated(field) || field->type != PROTOBUF_C_TYPE_MESSAGE) {
        return false;
    }
    const ProtobufCMessageDescriptor *entry = field->descriptor;
    return entry->n_fields == 2 && entry->fields[0].id == 1 && entry->fields[1].id == 2 &&
           is_entry_name(entry->short_name);
}

size_t nri_message_text_length(const char *text)
{
    return text == NULL || text == protobuf_c_empty_string ? 0 : nri_text_stored_length(text);
}
