/* SPDX-License-Identifier: Apache-2.0 */
#include "golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire/field.h"

#define PATH_SIZE 256
#define ELEMENTS  2u

static void *need(void *piece)
{
    if (piece == NULL) {
        (void)fprintf(stderr, "golden: no memory\n");
        abort();
    }
    return piece;
}

/* FNV-1a, with the bits set that make every width of it neither 0 nor small. */
uint64_t golden_number(const char *path)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (; *path != '\0'; path++)
        hash = (hash ^ (unsigned char)*path) * UINT64_C(1099511628211);
    return hash | UINT64_C(0x4000000040000001);
}

int golden_enum(const ProtobufCEnumDescriptor *type, const char *path)
{
    const unsigned above_zero = type->n_values - 1;
    return type->values[1 + golden_number(path) % above_zero].value;
}

static void fill_value(struct nri_arena *arena, const ProtobufCFieldDescriptor *field, void *value,
                       const char *path)
{
    void *pointer = NULL;
    uint64_t number = golden_number(path);
    uint32_t half = (uint32_t)number;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        pointer = need(nri_arena_text(arena, path, strlen(path)));
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        pointer = golden_message(arena, field->descriptor, path);
        break;
    case PROTOBUF_C_TYPE_ENUM:
        half = (uint32_t)golden_enum(field->descriptor, path);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        half = 1;
        break;
    default:
        break;
    }
    if (pointer != NULL)
        memcpy(value, &pointer, sizeof pointer);
    else if (nri_field_size(field) == sizeof number)
        memcpy(value, &number, sizeof number);
    else
        memcpy(value, &half, sizeof half);
}

static void fill_list(struct nri_arena *arena, const ProtobufCFieldDescriptor *field,
                      ProtobufCMessage *message, const char *path)
{
    char element[PATH_SIZE + 16];
    char *list = need(nri_arena_array(arena, ELEMENTS, nri_field_size(field)));
    for (unsigned i = 0; i < ELEMENTS; i++) {
        (void)snprintf(element, sizeof element, "%s[%u]", path, i);
        fill_value(arena, field, list + i * nri_field_size(field), element);
    }
    memcpy(nri_field_member(message, field), &list, sizeof list);
    *nri_field_count(message, field) = ELEMENTS;
}

void *golden_message(struct nri_arena *arena, const ProtobufCMessageDescriptor *type,
                     const char *path)
{
    char member[PATH_SIZE];
    ProtobufCMessage *message = need(nri_arena_alloc(arena, type->sizeof_message));
    protobuf_c_message_init(type, message);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        int length = snprintf(member, sizeof member, "%s.%s", path, field->name);
        if (length < 0 || (size_t)length >= sizeof member)
            abort();
        if (nri_field_repeated(field))
            fill_list(arena, field, message, member);
        else
            fill_value(arena, field, nri_field_member(message, field), member);
    }
    return message;
}
