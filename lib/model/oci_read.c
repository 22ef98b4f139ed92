/* SPDX-License-Identifier: Apache-2.0 */
#include "model/oci_read.h"

#include <string.h>

#include "model/json_schema.h"
#include "model/json_value.h"
#include "proto/nri.pb-c.h"
#include "wire/field.h"
#include "wire/message.h"

static int read_members(const struct nri_json_source *source, const struct nri_json_place *place,
                        const struct nri_oci_object *object, const struct nri_json *value,
                        ProtobufCMessage *message);
static int read_field(const struct nri_json_source *source, const struct nri_json_place *place,
                      const ProtobufCFieldDescriptor *field, const struct nri_oci_member *member,
                      const struct nri_json *value, ProtobufCMessage *message);

static int expect(const struct nri_json_source *source, const struct nri_json_place *place,
                  const struct nri_json *value, enum nri_json_type type, const char *what)
{
    if (nri_json_type(value) == type)
        return 0;
    if (place != NULL)
        return nri_json_refuse(source, place, value, NRI_E_SYNTAX, "must be %s, found %s", what,
                               nri_json_value_shown(value));
    return nri_error_set_at(source->error, NRI_E_SYNTAX, source->name, nri_json_line(value),
                            nri_json_column(value), "must be %s, found %s", what,
                            nri_json_value_shown(value));
}

/* ---- one value ---- */

/* Of the spellings that NRI's own JSON has for a value, OCI has one. */
static int read_scalar(const struct nri_json_source *source, const struct nri_json_place *place,
                       const ProtobufCFieldDescriptor *field, const struct nri_json *value,
                       void *to)
{
    int code;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        code = expect(source, place, value, NRI_JSON_STRING, "a text");
        break;
    case PROTOBUF_C_TYPE_BOOL:
        code = expect(source, place, value, NRI_JSON_BOOL, "true or false");
        break;
    case PROTOBUF_C_TYPE_ENUM:
        code = expect(source, place, value, NRI_JSON_STRING, "a name");
        break;
    default:
        code = expect(source, place, value, NRI_JSON_NUMBER, "an integer");
        break;
    }
    return code == 0 ? nri_json_read_value(source, place, field, value, to) : code;
}

static bool has_any(const struct nri_oci_object *object, const struct nri_json *value)
{
    for (size_t i = 0; i < object->count; i++) {
        if (nri_json_type(nri_json_get(value, object->members[i].key)) != NRI_JSON_NULL)
            return true;
    }
    return false;
}

/* The message at `slot`, made when it is not there yet. NULL when the arena failed. */
static ProtobufCMessage *message_at(const struct nri_json_source *source,
                                    const ProtobufCMessageDescriptor *type, void *slot)
{
    ProtobufCMessage *message;
    memcpy(&message, slot, sizeof message);
    if (message != NULL)
        return message;
    message = nri_arena_alloc(source->arena, type->sizeof_message);
    if (message == NULL)
        return NULL;
    type->message_init(message);
    memcpy(slot, &message, sizeof message);
    return message;
}

static int read_message(const struct nri_json_source *source, const struct nri_json_place *place,
                        const ProtobufCMessageDescriptor *type, const struct nri_oci_member *member,
                        const struct nri_json *value, void *slot)
{
    bool wrapper = nri_json_is_wrapper(type);
    int code = wrapper ? 0 : expect(source, place, value, NRI_JSON_OBJECT, "an object");
    if (code != 0 || (member->how == NRI_OCI_PART && !has_any(member->object, value)))
        return code;
    ProtobufCMessage *message = message_at(source, type, slot);
    if (message == NULL)
        return nri_json_refuse_memory(source, place, value);
    if (wrapper)
        return read_field(source, place, &type->fields[0], member, value, message);
    return read_members(source, place, member->object, value, message);
}

static int read_value(const struct nri_json_source *source, const struct nri_json_place *place,
                      const ProtobufCFieldDescriptor *field, const struct nri_oci_member *member,
                      const struct nri_json *value, void *to)
{
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        return read_message(source, place, field->descriptor, member, value, to);
    return read_scalar(source, place, field, value, to);
}

/* ---- lists and maps ---- */

/* Room for a repeated field, all zero; the array is put into the message. */
static char *make_array(const struct nri_json_source *source, ProtobufCMessage *message,
                        const ProtobufCFieldDescriptor *field, size_t count)
{
    size_t size = nri_field_size(field);
    char *array = nri_arena_array(source->arena, count, size);
    if (array == NULL)
        return NULL;
    memset(array, 0, count * size);
    memcpy(nri_field_member(message, field), &array, sizeof array);
    *nri_field_count(message, field) = count;
    return array;
}

static int read_list(const struct nri_json_source *source, const struct nri_json_place *place,
                     const ProtobufCFieldDescriptor *field, const struct nri_oci_member *member,
                     const struct nri_json *list, ProtobufCMessage *message)
{
    size_t count = nri_json_count(list);
    int code = expect(source, place, list, NRI_JSON_ARRAY, "a list");
    if (code != 0 || count == 0)
        return code;
    char *array = make_array(source, message, field, count);
    if (array == NULL)
        return nri_json_refuse_memory(source, place, list);
    for (size_t i = 0; code == 0 && i < count; i++) {
        const struct nri_json_place element = {.parent = place, .index = i};
        code = read_value(source, &element, field, member, nri_json_at(list, i),
                          array + i * nri_field_size(field));
    }
    return code;
}

static int read_entry(const struct nri_json_source *source, const struct nri_json_place *place,
                      const ProtobufCMessageDescriptor *type, const struct nri_oci_member *member,
                      const char *key, const struct nri_json *value, void *slot)
{
    ProtobufCMessage *entry = message_at(source, type, slot);
    if (entry == NULL)
        return nri_json_refuse_memory(source, place, value);
    int code = nri_json_read_key(source, place, &type->fields[0], key, value,
                                 nri_field_member(entry, &type->fields[0]));
    return code != 0 ? code
                     : read_value(source, place, &type->fields[1], member, value,
                                  nri_field_member(entry, &type->fields[1]));
}

static int read_map(const struct nri_json_source *source, const struct nri_json_place *place,
                    const ProtobufCFieldDescriptor *field, const struct nri_oci_member *member,
                    const struct nri_json *object, ProtobufCMessage *message)
{
    size_t count = nri_json_count(object);
    int code = expect(source, place, object, NRI_JSON_OBJECT, "an object");
    if (code != 0 || count == 0)
        return code;
    char *array = make_array(source, message, field, count);
    if (array == NULL)
        return nri_json_refuse_memory(source, place, object);
    for (size_t i = 0; code == 0 && i < count; i++) {
        struct nri_json_place part = {.parent = place};
        const struct nri_json *value = nri_json_member_at(object, i, &part.key, NULL);
        code = read_entry(source, &part, field->descriptor, member, part.key, value,
                          array + i * sizeof(void *));
    }
    return code;
}

/* ---- lines ---- */

/* The next line that is not empty: where it starts, or NULL. */
static const char *next_line(const char **text, size_t *length)
{
    *text += strspn(*text, "\n");
    const char *line = **text != '\0' ? *text : NULL;
    *length = strcspn(*text, "\n");
    *text += *length;
    return line;
}

static int put_lines(const struct nri_json_source *source, const struct nri_json_place *place,
                     const ProtobufCFieldDescriptor *field, const struct nri_json *value,
                     ProtobufCMessage *message)
{
    Nri__Pkg__Api__V1alpha1__OptionalRepeatedString *list;
    size_t count = 0, length;
    int code = expect(source, place, value, NRI_JSON_STRING, "a text");
    if (code != 0)
        return code;
    for (const char *at = nri_json_string(value, NULL); next_line(&at, &length) != NULL;)
        count++;
    if (count == 0)
        return 0;
    list = (void *)message_at(source, field->descriptor, nri_field_member(message, field));
    char **lines =
        list != NULL ? nri_arena_array(source->arena, count + list->n_value, sizeof *lines) : NULL;
    if (lines == NULL)
        return nri_json_refuse_memory(source, place, value);
    const char *at = nri_json_string(value, NULL);
    for (size_t i = 0; i < count; i++) {
        const char *line = next_line(&at, &length);
        lines[i] = nri_arena_text(source->arena, line, length);
        if (lines[i] == NULL)
            return nri_json_refuse_memory(source, place, value);
    }
    if (list->n_value > 0)
        memcpy(lines + count, list->value, list->n_value * sizeof *lines);
    list->value = lines;
    list->n_value += count;
    return 0;
}

/* ---- messages ---- */

static int read_field(const struct nri_json_source *source, const struct nri_json_place *place,
                      const ProtobufCFieldDescriptor *field, const struct nri_oci_member *member,
                      const struct nri_json *value, ProtobufCMessage *message)
{
    if (nri_message_field_is_map(field))
        return read_map(source, place, field, member, value, message);
    if (nri_field_repeated(field))
        return read_list(source, place, field, member, value, message);
    return read_value(source, place, field, member, value, nri_field_member(message, field));
}

static int read_member(const struct nri_json_source *source, const struct nri_json_place *place,
                       const struct nri_oci_member *member, const struct nri_json *value,
                       ProtobufCMessage *message)
{
    if (member->field == NULL)
        return read_members(source, place, member->object, value, message);
    const ProtobufCFieldDescriptor *field =
        protobuf_c_message_descriptor_get_field_by_name(message->descriptor, member->field);
    if (field == NULL)
        return nri_json_refuse(source, place, value, NRI_E_INTERNAL, "NRI's %s has no field %s",
                               message->descriptor->short_name, member->field);
    if (member->how == NRI_OCI_LINES)
        return put_lines(source, place, field, value, message);
    return read_field(source, place, field, member, value, message);
}

static int read_members(const struct nri_json_source *source, const struct nri_json_place *place,
                        const struct nri_oci_object *object, const struct nri_json *value,
                        ProtobufCMessage *message)
{
    int code = expect(source, place, value, NRI_JSON_OBJECT, "an object");
    for (size_t i = 0; code == 0 && i < object->count; i++) {
        const struct nri_oci_member *member = &object->members[i];
        const struct nri_json *found = nri_json_get(value, member->key);
        const struct nri_json_place part = {.parent = place, .name = member->key};
        if (nri_json_type(found) != NRI_JSON_NULL)
            code = read_member(source, &part, member, found, message);
    }
    return code;
}

int nri_oci_read(const struct nri_json_source *source, const struct nri_json_place *place,
                 const struct nri_oci_object *object, const struct nri_json *value,
                 ProtobufCMessage *message)
{
    return read_members(source, place, object, value, message);
}
