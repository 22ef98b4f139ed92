/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "schema.h"

struct filling {
    struct nri_arena *arena;
    unsigned variant;
    size_t element; /* of the innermost repeated message */
    bool of_container;
};

static void must(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "sample: %s\n", what);
    abort();
}

static ProtobufCMessage *new_message(struct nri_arena *arena,
                                     const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *message = nri_arena_alloc(arena, type->sizeof_message);
    must(message != NULL, "no memory");
    protobuf_c_message_init(type, message);
    return message;
}

static bool is(const ProtobufCMessageDescriptor *message, const char *name)
{
    return strcmp(schema_short_name(message->name), name) == 0;
}

/* What is filled whole: its fields make sense only together. */
static bool is_whole(const ProtobufCMessageDescriptor *message)
{
    static const char *const parts[] = {
        "LinuxPodSandbox",
        "LinuxContainer",
        "LinuxContainerAdjustment",
        "LinuxContainerUpdate",
        "LinuxResources",
        "LinuxMemory",
        "LinuxCPU",
        "LinuxPids",
        "Hooks",
        "LinuxSeccomp",
        "LinuxRdt",
        "ContainerUpdate",
    };
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (is(message, parts[i]))
            return false;
    }
    return true;
}

static bool is_wrapper(const ProtobufCFieldDescriptor *field)
{
    const ProtobufCMessageDescriptor *type = field->descriptor;
    return field->type == PROTOBUF_C_TYPE_MESSAGE &&
           strncmp(schema_short_name(type->name), "Optional", 8) == 0;
}

/* Only an adjustment removes settings. */
static bool is_left_out(const ProtobufCMessageDescriptor *message,
                        const ProtobufCFieldDescriptor *field, bool of_container)
{
    return of_container && is(message, "LinuxRdt") && strcmp(field->name, "remove") == 0;
}

/* ---- values ---- */

/* The part of a text with this number, counted from 0, in `out`; whether there is one. */
static bool part_of(const char *text, char separator, size_t number, char out[256])
{
    for (; number > 0; number--) {
        text = strchr(text, separator);
        if (text == NULL)
            return false;
        text++;
    }
    const size_t length = strcspn(text, (const char[]){separator, '\0'});
    must(length < 256, "a value is too long");
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

/* For the messages around the model, whose values nobody checks: any that is not the default. */
static const char *any_value(const ProtobufCFieldDescriptor *field)
{
    const ProtobufCEnumDescriptor *type = field->descriptor;
    if (schema_is_map(field))
        return "7=x;8=y";
    switch (field->type) {
    case PROTOBUF_C_TYPE_ENUM:
        return type->values[type->n_values - 1].name;
    case PROTOBUF_C_TYPE_BOOL:
        return "true";
    case PROTOBUF_C_TYPE_STRING:
        return field->name;
    default:
        return "7";
    }
}

static void find_values(const struct filling *filling, const ProtobufCMessageDescriptor *owner,
                        const ProtobufCFieldDescriptor *field, char values[256])
{
    char name[256];
    (void)snprintf(name, sizeof name, "%s.%s", schema_short_name(owner->name), field->name);
    const char *all = sample_values(name);
    if (all == NULL)
        all = any_value(field);
    if (!part_of(all, '|', filling->variant, values))
        (void)part_of(all, '|', 0, values);
}

static char *text_value(const struct filling *filling, const char *text)
{
    char *copy = (char *)(uintptr_t)protobuf_c_empty_string;
    if (*text != '\0')
        copy = nri_arena_text(filling->arena, text, strlen(text));
    must(copy != NULL, "no memory");
    return copy;
}

static size_t scalar_size(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_STRING:
        return sizeof(char *);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        return sizeof(uint64_t);
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    default:
        return sizeof(uint32_t);
    }
}

static void set_scalar(const struct filling *filling, const ProtobufCFieldDescriptor *field,
                       void *to, const char *text)
{
    const int64_t negative = (int64_t)strtoll(text, NULL, 10);
    const uint64_t natural = *text == '-' ? (uint64_t)negative : strtoull(text, NULL, 10);
    const uint32_t half = (uint32_t)natural;
    const protobuf_c_boolean boolean = strcmp(text, "true") == 0;
    char *copy;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        copy = text_value(filling, text);
        memcpy(to, &copy, sizeof copy);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        memcpy(to, &boolean, sizeof boolean);
        break;
    case PROTOBUF_C_TYPE_ENUM: {
        const ProtobufCEnumValue *value =
            protobuf_c_enum_descriptor_get_value_by_name(field->descriptor, text);
        must(value != NULL, text);
        memcpy(to, &value->value, sizeof value->value);
        break;
    }
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        memcpy(to, &natural, sizeof natural);
        break;
    default:
        memcpy(to, &half, sizeof half);
        break;
    }
}

/* ---- filling ---- */

static void fill_whole(const struct filling *filling, ProtobufCMessage *message);

static void *new_list(const struct filling *filling, ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field, size_t count, size_t size)
{
    void *list = nri_arena_array(filling->arena, count, size);
    must(list != NULL, "no memory");
    memcpy((char *)message + field->quantifier_offset, &count, sizeof count);
    memcpy((char *)message + field->offset, &list, sizeof list);
    return list;
}

/* An entry of a map, or of the variables that are like one, from "KEY=VALUE". */
static ProtobufCMessage *make_pair(const struct filling *filling,
                                   const ProtobufCMessageDescriptor *type, char *text)
{
    char *value = strchr(text, '=');
    must(value != NULL, text);
    *value++ = '\0';
    ProtobufCMessage *entry = new_message(filling->arena, type);
    set_scalar(filling, &type->fields[0], (char *)entry + type->fields[0].offset, text);
    const ProtobufCFieldDescriptor *field = &type->fields[1];
    if (field->type != PROTOBUF_C_TYPE_MESSAGE) {
        set_scalar(filling, field, (char *)entry + field->offset, value);
        return entry;
    }
    ProtobufCMessage *inner = new_message(filling->arena, field->descriptor);
    memcpy((char *)entry + field->offset, &inner, sizeof inner);
    field = &inner->descriptor->fields[0];
    if (is(inner->descriptor, "LinuxNetDevice"))
        set_scalar(filling, field, (char *)inner + field->offset, value);
    else
        fill_whole(filling, inner);
    return entry;
}

static void fill_pairs(const struct filling *filling, ProtobufCMessage *message,
                       const ProtobufCFieldDescriptor *field)
{
    char values[256], part[256];
    size_t count = 0;
    find_values(filling, message->descriptor, field, values);
    while (part_of(values, ';', count, part))
        count++;
    ProtobufCMessage **list = new_list(filling, message, field, count, sizeof *list);
    for (size_t i = 0; i < count; i++) {
        (void)part_of(values, ';', i, part);
        list[i] = make_pair(filling, field->descriptor, part);
    }
}

static void fill_scalars(const struct filling *filling, ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field, const char *values)
{
    char part[256];
    const size_t size = scalar_size(field->type);
    size_t count = 0;
    while (part_of(values, ';', count, part))
        count++;
    char *list = new_list(filling, message, field, count, size);
    for (size_t i = 0; i < count; i++) {
        (void)part_of(values, ';', i, part);
        set_scalar(filling, field, list + i * size, part);
    }
}

/* A value that is not repeated; in a repeated message that of the element. */
static void fill_scalar(const struct filling *filling, ProtobufCMessage *message,
                        const ProtobufCFieldDescriptor *field, const char *values)
{
    char part[256];
    if (!part_of(values, ';', filling->element, part))
        (void)part_of(values, ';', 0, part);
    set_scalar(filling, field, (char *)message + field->offset, part);
}

static void fill_wrapper(const struct filling *filling, ProtobufCMessage *message,
                         const ProtobufCFieldDescriptor *field)
{
    char values[256];
    ProtobufCMessage *wrapper = new_message(filling->arena, field->descriptor);
    const ProtobufCFieldDescriptor *value = &wrapper->descriptor->fields[0];
    find_values(filling, message->descriptor, field, values);
    if (value->label == PROTOBUF_C_LABEL_REPEATED)
        fill_scalars(filling, wrapper, value, values);
    else
        fill_scalar(filling, wrapper, value, values);
    memcpy((char *)message + field->offset, &wrapper, sizeof wrapper);
}

static void fill_messages(const struct filling *filling, ProtobufCMessage *message,
                          const ProtobufCFieldDescriptor *field)
{
    struct filling inner = *filling;
    ProtobufCMessage **list = new_list(filling, message, field, 2, sizeof *list);
    for (inner.element = 0; inner.element < 2; inner.element++) {
        list[inner.element] = new_message(filling->arena, field->descriptor);
        fill_whole(&inner, list[inner.element]);
    }
}

static void fill_field(const struct filling *filling, ProtobufCMessage *message,
                       const ProtobufCFieldDescriptor *field)
{
    char values[256];
    const bool repeated = field->label == PROTOBUF_C_LABEL_REPEATED;
    if (is_left_out(message->descriptor, field, filling->of_container))
        return;
    if (schema_is_map(field) ||
        (field->type == PROTOBUF_C_TYPE_MESSAGE && is(field->descriptor, "KeyValue"))) {
        fill_pairs(filling, message, field);
    } else if (is_wrapper(field)) {
        fill_wrapper(filling, message, field);
    } else if (field->type == PROTOBUF_C_TYPE_MESSAGE && repeated) {
        fill_messages(filling, message, field);
    } else if (field->type == PROTOBUF_C_TYPE_MESSAGE) {
        ProtobufCMessage *inner = new_message(filling->arena, field->descriptor);
        fill_whole(filling, inner);
        memcpy((char *)message + field->offset, &inner, sizeof inner);
    } else {
        find_values(filling, message->descriptor, field, values);
        (repeated ? fill_scalars : fill_scalar)(filling, message, field, values);
    }
}

static void fill_whole(const struct filling *filling, ProtobufCMessage *message)
{
    for (unsigned i = 0; i < message->descriptor->n_fields; i++)
        fill_field(filling, message, &message->descriptor->fields[i]);
}

/* What a message cannot be without, whichever of its fields is set. */
static void fill_needed(const struct filling *filling, ProtobufCMessage *message)
{
    static const char *const needed[] = {"default_action", "listener_path", "container_id"};
    if (!is(message->descriptor, "LinuxSeccomp") && !is(message->descriptor, "ContainerUpdate"))
        return;
    for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++) {
        const ProtobufCFieldDescriptor *field =
            protobuf_c_message_descriptor_get_field_by_name(message->descriptor, needed[i]);
        if (field != NULL)
            fill_field(filling, message, field);
    }
}

static ProtobufCMessage *step_into(const struct filling *filling, ProtobufCMessage *message,
                                   const ProtobufCFieldDescriptor *field)
{
    ProtobufCMessage *inner = new_message(filling->arena, field->descriptor);
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        *(ProtobufCMessage **)new_list(filling, message, field, 1, sizeof inner) = inner;
    else
        memcpy((char *)message + field->offset, &inner, sizeof inner);
    return inner;
}

ProtobufCMessage *sample_make(struct nri_arena *arena, const struct sample_path *path,
                              unsigned variant)
{
    const struct filling filling = {.arena = arena, .variant = variant};
    ProtobufCMessage *root = new_message(arena, path->root), *at = root;
    for (size_t i = 0; i + 1 < path->count; i++) {
        at = step_into(&filling, at, path->steps[i]);
        fill_needed(&filling, at);
    }
    /* An update that sets no resources is none. */
    if (is(at->descriptor, "ContainerUpdate"))
        fill_whole(&filling, at);
    else
        fill_field(&filling, at, path->steps[path->count - 1]);
    return root;
}

ProtobufCMessage *sample_make_whole(struct nri_arena *arena, const ProtobufCMessageDescriptor *root,
                                    unsigned variant)
{
    const struct filling filling = {
        .arena = arena, .variant = variant, .of_container = is(root, "Container")};
    ProtobufCMessage *message = new_message(arena, root);
    fill_whole(&filling, message);
    return message;
}

/* ---- paths ---- */

static bool visit_message(struct sample_path *path, const ProtobufCMessageDescriptor *message,
                          bool (*visit)(const struct sample_path *path, void *user), void *user)
{
    const size_t length = strlen(path->name);
    bool going_on = true;
    must(path->count < SAMPLE_DEPTH, "too deep");
    for (unsigned i = 0; going_on && i < message->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->fields[i];
        if (is_left_out(message, field, is(path->root, "Container")))
            continue;
        (void)snprintf(path->name + length, sizeof path->name - length, ".%s", field->name);
        path->steps[path->count++] = field;
        if (field->type == PROTOBUF_C_TYPE_MESSAGE && !is_whole(field->descriptor))
            going_on = visit_message(path, field->descriptor, visit, user);
        else
            going_on = visit(path, user);
        path->count--;
    }
    path->name[length] = '\0';
    return going_on;
}

bool sample_each_path(const ProtobufCMessageDescriptor *root,
                      bool (*visit)(const struct sample_path *path, void *user), void *user)
{
    struct sample_path path = {.root = root};
    (void)snprintf(path.name, sizeof path.name, "%s", schema_short_name(root->name));
    return visit_message(&path, root, visit, user);
}
