/* SPDX-License-Identifier: Apache-2.0 */
#include "model/oci_write.h"

#include <string.h>

#include "model/json_schema.h"
#include "wire/field.h"
#include "wire/message.h"

/* What is being written: the first failure sticks. */
struct writing {
    struct nri_arena *arena;
    int failure;
};

static void write_members(struct writing *writing, const struct nri_oci_object *object,
                          const ProtobufCMessage *message, struct nri_json *value);
static struct nri_json *field_value(struct writing *writing, const struct nri_oci_member *member,
                                    const ProtobufCMessage *message,
                                    const ProtobufCFieldDescriptor *field, bool always);

static void fail(struct writing *writing, int code)
{
    if (writing->failure == 0)
        writing->failure = code != 0 ? code : NRI_E_NOMEM;
}

/* `made` unless it is NULL, which is the arena's failure. */
static struct nri_json *check(struct writing *writing, struct nri_json *made)
{
    if (made == NULL)
        fail(writing, writing->arena->failure);
    return made;
}

static void set(struct writing *writing, struct nri_json *object, const char *key,
                struct nri_json *value)
{
    if (value != NULL && nri_json_set(writing->arena, object, key, value) != 0)
        fail(writing, writing->arena->failure);
}

/* ---- one value ---- */

static struct nri_json *text_value(struct writing *writing, const char *text)
{
    struct nri_json *made =
        nri_json_new_string(writing->arena, text, nri_message_text_length(text));
    if (made == NULL)
        fail(writing, writing->arena->failure != 0 ? writing->arena->failure : NRI_E_UTF8);
    return made;
}

/* The name, or the number of what has none. */
static struct nri_json *enum_value(struct writing *writing, const ProtobufCEnumDescriptor *type,
                                   int number)
{
    const ProtobufCEnumValue *known = protobuf_c_enum_descriptor_get_value(type, number);
    return check(writing, known != NULL ? nri_json_new_string(writing->arena, known->name,
                                                              strlen(known->name))
                                        : nri_json_new_int64(writing->arena, number));
}

/* Numbers, as wide as any; false when it is none. */
static bool take_number(const ProtobufCFieldDescriptor *field, const void *from, int64_t *number,
                        bool *is_signed)
{
    const bool wide = nri_field_size(field) == sizeof(int64_t);
    *is_signed = false;
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_SINT32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
        *is_signed = true;
        break;
    case PROTOBUF_C_TYPE_UINT32:
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        break;
    default:
        return false;
    }
    if (wide) {
        memcpy(number, from, sizeof *number);
    } else if (*is_signed) {
        int32_t narrow;
        memcpy(&narrow, from, sizeof narrow);
        *number = narrow;
    } else {
        uint32_t narrow;
        memcpy(&narrow, from, sizeof narrow);
        *number = narrow;
    }
    return true;
}

/* A scalar; NULL when it is the 0, false or "" that stands for absent, unless `always`. */
static struct nri_json *scalar_value(struct writing *writing, const ProtobufCFieldDescriptor *field,
                                     const void *from, bool always)
{
    int64_t number;
    bool is_signed;
    if (field->type == PROTOBUF_C_TYPE_STRING) {
        const char *text;
        memcpy(&text, from, sizeof text);
        return text != NULL && (always || text[0] != '\0') ? text_value(writing, text) : NULL;
    }
    if (field->type == PROTOBUF_C_TYPE_BOOL) {
        protobuf_c_boolean truth;
        memcpy(&truth, from, sizeof truth);
        return always || truth != 0 ? check(writing, nri_json_new_bool(writing->arena, truth != 0))
                                    : NULL;
    }
    if (field->type == PROTOBUF_C_TYPE_ENUM) {
        int value;
        memcpy(&value, from, sizeof value);
        return always || value != 0 ? enum_value(writing, field->descriptor, value) : NULL;
    }
    if (!take_number(field, from, &number, &is_signed)) {
        fail(writing, NRI_E_INTERNAL);
        return NULL;
    }
    if (number == 0 && !always)
        return NULL;
    return check(writing, is_signed ? nri_json_new_int64(writing->arena, number)
                                    : nri_json_new_uint64(writing->arena, (uint64_t)number));
}

/* A message, as an object, or as its one member's value; NULL when it is absent. */
static struct nri_json *message_value(struct writing *writing, const struct nri_oci_member *member,
                                      const void *slot)
{
    const ProtobufCMessage *message;
    memcpy(&message, slot, sizeof message);
    if (message == NULL)
        return NULL;
    if (nri_json_is_wrapper(message->descriptor))
        return field_value(writing, member, message, &message->descriptor->fields[0], true);
    struct nri_json *value = check(writing, nri_json_new(writing->arena, NRI_JSON_OBJECT));
    if (value != NULL && member->object != NULL)
        write_members(writing, member->object, message, value);
    return value;
}

static struct nri_json *element_value(struct writing *writing, const struct nri_oci_member *member,
                                      const ProtobufCFieldDescriptor *field, const void *from,
                                      bool always)
{
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        return message_value(writing, member, from);
    return scalar_value(writing, field, from, always);
}

/* ---- lists and maps ---- */

static struct nri_json *list_value(struct writing *writing, const struct nri_oci_member *member,
                                   const ProtobufCMessage *message,
                                   const ProtobufCFieldDescriptor *field, bool always)
{
    const size_t count = *nri_field_count(message, field);
    const char *array;
    if (count == 0 && !always)
        return NULL;
    memcpy(&array, nri_field_member(message, field), sizeof array);
    struct nri_json *list = check(writing, nri_json_new(writing->arena, NRI_JSON_ARRAY));
    for (size_t i = 0; list != NULL && writing->failure == 0 && i < count; i++) {
        struct nri_json *element =
            element_value(writing, member, field, array + i * nri_field_size(field), true);
        if (element != NULL && nri_json_append(writing->arena, list, element) != 0)
            fail(writing, writing->arena->failure);
    }
    return list;
}

static struct nri_json *map_value(struct writing *writing, const struct nri_oci_member *member,
                                  const ProtobufCMessage *message,
                                  const ProtobufCFieldDescriptor *field)
{
    const size_t count = *nri_field_count(message, field);
    ProtobufCMessage *const *entries;
    if (count == 0)
        return NULL;
    memcpy(&entries, nri_field_member(message, field), sizeof entries);
    struct nri_json *object = check(writing, nri_json_new(writing->arena, NRI_JSON_OBJECT));
    for (size_t i = 0; object != NULL && writing->failure == 0 && i < count; i++) {
        const ProtobufCFieldDescriptor *parts = entries[i]->descriptor->fields;
        const char *key;
        memcpy(&key, nri_field_member(entries[i], &parts[0]), sizeof key);
        struct nri_json *value = element_value(writing, member, &parts[1],
                                               nri_field_member(entries[i], &parts[1]), true);
        set(writing, object, key, value);
    }
    return object;
}

/* ---- messages ---- */

static struct nri_json *field_value(struct writing *writing, const struct nri_oci_member *member,
                                    const ProtobufCMessage *message,
                                    const ProtobufCFieldDescriptor *field, bool always)
{
    if (nri_message_field_is_map(field))
        return map_value(writing, member, message, field);
    if (nri_field_repeated(field))
        return list_value(writing, member, message, field, always);
    return element_value(writing, member, field, nri_field_member(message, field), always);
}

/* The object of a member, which another row of the table may have made. */
static struct nri_json *object_at(struct writing *writing, struct nri_json *value, const char *key)
{
    struct nri_json *there = nri_json_get(value, key);
    return there != NULL ? there : check(writing, nri_json_new(writing->arena, NRI_JSON_OBJECT));
}

static void write_into(struct writing *writing, const struct nri_oci_member *member,
                       const ProtobufCMessage *message, struct nri_json *value)
{
    struct nri_json *inner = object_at(writing, value, member->key);
    if (inner == NULL)
        return;
    write_members(writing, member->object, message, inner);
    if (nri_json_count(inner) > 0)
        set(writing, value, member->key, inner);
}

static void write_member(struct writing *writing, const struct nri_oci_member *member,
                         const ProtobufCMessage *message, struct nri_json *value)
{
    if (member->field == NULL) {
        write_into(writing, member, message, value);
        return;
    }
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, member->field);
    if (field == NULL) {
        fail(writing, NRI_E_INTERNAL);
    } else if (field->type == PROTOBUF_C_TYPE_MESSAGE && !nri_field_repeated(field) &&
               !nri_json_is_wrapper(field->descriptor)) {
        const ProtobufCMessage *part;
        memcpy(&part, nri_field_member(message, field), sizeof part);
        if (part != NULL)
            write_into(writing, member, part, value);
    } else {
        set(writing, value, member->key,
            field_value(writing, member, message, field, member->how == NRI_OCI_ALWAYS));
    }
}

static void write_members(struct writing *writing, const struct nri_oci_object *object,
                          const ProtobufCMessage *message, struct nri_json *value)
{
    for (size_t i = 0; writing->failure == 0 && i < object->count; i++) {
        if (object->members[i].how != NRI_OCI_LINES)
            write_member(writing, &object->members[i], message, value);
    }
}

int nri_oci_write(struct nri_arena *arena, const struct nri_oci_object *object,
                  const ProtobufCMessage *message, struct nri_json *value)
{
    struct writing writing = {.arena = arena};
    write_members(&writing, object, message, value);
    return writing.failure;
}
