/* SPDX-License-Identifier: Apache-2.0 */
#include "schema.h"

#include <string.h>

#include "proto/nri.pb-c.h"

const ProtobufCServiceDescriptor *const schema_services[3] = {
    &nri__pkg__api__v1alpha1__runtime__descriptor,
    &nri__pkg__api__v1alpha1__plugin__descriptor,
    &nri__pkg__api__v1alpha1__host_functions__descriptor,
};

#define ROOM(array) (sizeof(array) / sizeof((array)[0]))

/* A walk that ran out of room stays short, and the comparison with the header then fails. */
void schema_walk_enum(struct schema_walk *walk, const ProtobufCEnumDescriptor *enumeration)
{
    for (size_t i = 0; i < walk->n_enums; i++) {
        if (walk->enumeration[i] == enumeration)
            return;
    }
    if (walk->n_enums < ROOM(walk->enumeration))
        walk->enumeration[walk->n_enums++] = enumeration;
}

void schema_walk_message(struct schema_walk *walk, const ProtobufCMessageDescriptor *message)
{
    for (size_t i = 0; i < walk->n_messages; i++) {
        if (walk->message[i] == message)
            return;
    }
    if (walk->n_messages == ROOM(walk->message))
        return;
    walk->message[walk->n_messages++] = message;

    for (unsigned i = 0; i < message->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->fields[i];
        if (field->type == PROTOBUF_C_TYPE_MESSAGE)
            schema_walk_message(walk, field->descriptor);
        else if (field->type == PROTOBUF_C_TYPE_ENUM)
            schema_walk_enum(walk, field->descriptor);
    }
}

void schema_walk_service(struct schema_walk *walk, const ProtobufCServiceDescriptor *service)
{
    for (unsigned i = 0; i < service->n_methods; i++) {
        schema_walk_message(walk, service->methods[i].input);
        schema_walk_message(walk, service->methods[i].output);
    }
}

void schema_walk_nri(struct schema_walk *walk)
{
    memset(walk, 0, sizeof *walk);
    for (size_t i = 0; i < ROOM(schema_services); i++)
        schema_walk_service(walk, schema_services[i]);
    /* Ownership tables are keyed by plain int32; nothing uses OptionalInt32. */
    schema_walk_enum(walk, &nri__pkg__api__v1alpha1__field__descriptor);
    schema_walk_message(walk, &nri__pkg__api__v1alpha1__optional_int32__descriptor);
}

bool schema_is_map_entry(const ProtobufCMessageDescriptor *message)
{
    size_t length = strlen(message->short_name);
    return length > strlen("Entry") &&
           strcmp(message->short_name + length - strlen("Entry"), "Entry") == 0 &&
           message->n_fields == 2 && message->fields[0].id == 1 &&
           strcmp(message->fields[0].name, "key") == 0 && message->fields[1].id == 2 &&
           strcmp(message->fields[1].name, "value") == 0;
}

bool schema_is_map(const ProtobufCFieldDescriptor *field)
{
    return field->label == PROTOBUF_C_LABEL_REPEATED && field->type == PROTOBUF_C_TYPE_MESSAGE &&
           schema_is_map_entry(field->descriptor);
}

const char *schema_short_name(const char *full_name)
{
    size_t length = strlen(SCHEMA_PACKAGE);
    if (strncmp(full_name, SCHEMA_PACKAGE, length) == 0 && full_name[length] == '.')
        return full_name + length + 1;
    return full_name;
}
