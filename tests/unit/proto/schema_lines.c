/* SPDX-License-Identifier: Apache-2.0 */
#include "schema.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Out of memory ends the test program: there is nothing to compare without the lines. */
static void *must(void *pointer)
{
    if (pointer == NULL) {
        fprintf(stderr, "schema: out of memory\n");
        exit(1);
    }
    return pointer;
}

void schema_add(struct schema_lines *lines, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || (size_t)length >= sizeof text) {
        fprintf(stderr, "schema: line longer than %zu: %s\n", sizeof text, text);
        exit(1);
    }
    if (lines->count == lines->capacity) {
        lines->capacity = lines->capacity != 0 ? lines->capacity * 2 : 256;
        lines->line = must(realloc(lines->line, lines->capacity * sizeof *lines->line));
    }
    lines->line[lines->count++] = must(strdup(text));
}

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

void schema_sort(struct schema_lines *lines)
{
    if (lines->count > 1)
        qsort(lines->line, lines->count, sizeof *lines->line, compare_lines);
}

void schema_free(struct schema_lines *lines)
{
    for (size_t i = 0; i < lines->count; i++)
        free(lines->line[i]);
    free(lines->line);
    memset(lines, 0, sizeof *lines);
}

/* ---- from the generated descriptors ---- */

static const char *scalar_name(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_INT32:
        return "int32";
    case PROTOBUF_C_TYPE_SINT32:
        return "sint32";
    case PROTOBUF_C_TYPE_SFIXED32:
        return "sfixed32";
    case PROTOBUF_C_TYPE_INT64:
        return "int64";
    case PROTOBUF_C_TYPE_SINT64:
        return "sint64";
    case PROTOBUF_C_TYPE_SFIXED64:
        return "sfixed64";
    case PROTOBUF_C_TYPE_UINT32:
        return "uint32";
    case PROTOBUF_C_TYPE_FIXED32:
        return "fixed32";
    case PROTOBUF_C_TYPE_UINT64:
        return "uint64";
    case PROTOBUF_C_TYPE_FIXED64:
        return "fixed64";
    case PROTOBUF_C_TYPE_FLOAT:
        return "float";
    case PROTOBUF_C_TYPE_DOUBLE:
        return "double";
    case PROTOBUF_C_TYPE_BOOL:
        return "bool";
    case PROTOBUF_C_TYPE_STRING:
        return "string";
    case PROTOBUF_C_TYPE_BYTES:
        return "bytes";
    case PROTOBUF_C_TYPE_ENUM:
    case PROTOBUF_C_TYPE_MESSAGE:
        break;
    }
    return "unknown";
}

/* A type as the data file writes it: one nested in the message itself goes without its prefix. */
static const char *type_name(const ProtobufCMessageDescriptor *message,
                             const ProtobufCFieldDescriptor *field)
{
    const char *name;
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        name = ((const ProtobufCMessageDescriptor *)field->descriptor)->name;
    else if (field->type == PROTOBUF_C_TYPE_ENUM)
        name = ((const ProtobufCEnumDescriptor *)field->descriptor)->name;
    else
        return scalar_name(field->type);

    size_t length = strlen(message->name);
    if (strncmp(name, message->name, length) == 0 && name[length] == '.')
        return name + length + 1;
    return schema_short_name(name);
}

/* Packed is how proto3 sends repeated numbers: without it the bytes on the wire differ. */
static const char *label_name(const ProtobufCFieldDescriptor *field)
{
    bool number = field->type != PROTOBUF_C_TYPE_STRING && field->type != PROTOBUF_C_TYPE_BYTES &&
                  field->type != PROTOBUF_C_TYPE_MESSAGE;
    bool packed = (field->flags & PROTOBUF_C_FIELD_FLAG_PACKED) != 0;
    if ((field->flags & PROTOBUF_C_FIELD_FLAG_ONEOF) != 0)
        return "oneof ";
    switch (field->label) {
    case PROTOBUF_C_LABEL_REQUIRED:
        return "required ";
    case PROTOBUF_C_LABEL_OPTIONAL:
        return "optional ";
    case PROTOBUF_C_LABEL_REPEATED:
        return number && !packed ? "repeated unpacked " : "repeated ";
    case PROTOBUF_C_LABEL_NONE:
        break;
    }
    return "";
}

static void add_field(struct schema_lines *lines, const ProtobufCMessageDescriptor *message,
                      const ProtobufCFieldDescriptor *field)
{
    const char *owner = schema_short_name(message->name);
    if (schema_is_map(field)) {
        const ProtobufCMessageDescriptor *entry = field->descriptor;
        schema_add(lines, "field %s.%s = %u map<%s, %s>", owner, field->name, field->id,
                   type_name(message, &entry->fields[0]), type_name(message, &entry->fields[1]));
        return;
    }
    schema_add(lines, "field %s.%s = %u %s%s", owner, field->name, field->id, label_name(field),
               type_name(message, field));
}

static void add_enum(struct schema_lines *lines, const ProtobufCEnumDescriptor *enumeration)
{
    const char *owner = schema_short_name(enumeration->name);
    schema_add(lines, "enum %s", owner);
    /* By name, since the table by number holds only one of several names for a value. */
    for (unsigned i = 0; i < enumeration->n_value_names; i++) {
        const ProtobufCEnumValueIndex *value = &enumeration->values_by_name[i];
        schema_add(lines, "value %s.%s = %d", owner, value->name,
                   enumeration->values[value->index].value);
    }
}

void schema_from_walk(struct schema_lines *lines, const struct schema_walk *walk)
{
    for (size_t i = 0; i < walk->n_messages; i++) {
        const ProtobufCMessageDescriptor *message = walk->message[i];
        if (schema_is_map_entry(message))
            continue;
        schema_add(lines, "message %s", schema_short_name(message->name));
        for (unsigned f = 0; f < message->n_fields; f++)
            add_field(lines, message, &message->fields[f]);
    }
    for (size_t i = 0; i < walk->n_enums; i++)
        add_enum(lines, walk->enumeration[i]);
    for (size_t i = 0; i < sizeof schema_services / sizeof schema_services[0]; i++) {
        const ProtobufCServiceDescriptor *service = schema_services[i];
        const char *owner = schema_short_name(service->name);
        schema_add(lines, "service %s", owner);
        for (unsigned m = 0; m < service->n_methods; m++) {
            const ProtobufCMethodDescriptor *method = &service->methods[m];
            schema_add(lines, "method %s.%s(%s) -> %s", owner, method->name,
                       schema_short_name(method->input->name),
                       schema_short_name(method->output->name));
        }
    }
}

/* ---- from the data file ---- */

static char *trim(char *text)
{
    while (isspace((unsigned char)*text))
        text++;
    size_t length = strlen(text);
    while (length > 0 && isspace((unsigned char)text[length - 1]))
        text[--length] = '\0';
    return text;
}

static bool add_values(struct schema_lines *lines, const char *owner, char *text)
{
    char *rest = NULL;
    for (char *item = strtok_r(text, ",", &rest); item != NULL; item = strtok_r(NULL, ",", &rest)) {
        char name[128];
        int number;
        if (sscanf(trim(item), "%127[A-Za-z0-9_]=%d", name, &number) != 2)
            return false;
        schema_add(lines, "value %s.%s = %d", owner, name, number);
    }
    return true;
}

/* One line inside a block; kind is the word the block began with. */
static bool add_member(struct schema_lines *lines, const char *kind, const char *owner, char *text)
{
    char name[128], input[128], output[128], type[128];
    unsigned number;
    if (strcmp(kind, "enum") == 0)
        return add_values(lines, owner, text);
    if (strcmp(kind, "service") == 0) {
        if (sscanf(text, "rpc %127[A-Za-z0-9_](%127[A-Za-z0-9_]) -> %127s", name, input, output) !=
            3)
            return false;
        schema_add(lines, "method %s.%s(%s) -> %s", owner, name, input, output);
        return true;
    }
    if (strcmp(kind, "message") != 0)
        return false;
    if (strcmp(text, "(empty)") == 0)
        return true;
    if (sscanf(text, "%u %127[A-Za-z0-9_]: %127[^\n]", &number, name, type) != 3)
        return false;
    schema_add(lines, "field %s.%s = %u %s", owner, name, number, type);
    return true;
}

bool schema_from_file(struct schema_lines *lines, const char *path)
{
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        fprintf(stderr, "%s: cannot be opened\n", path);
        return false;
    }
    char line[2048], kind[16] = "", owner[128] = "";
    unsigned row = 0;
    bool good = true;
    while (good && fgets(line, sizeof line, file) != NULL) {
        row++;
        bool member = isspace((unsigned char)line[0]);
        char *text = trim(line);
        if (*text == '\0')
            continue;
        if (row == 1) {
            good = strcmp(text, "package " SCHEMA_PACKAGE " (proto3)") == 0;
        } else if (member) {
            good = add_member(lines, kind, owner, text);
        } else {
            good = sscanf(text, "%15[a-z] %127[A-Za-z0-9_.]", kind, owner) == 2;
            schema_add(lines, "%s %s", kind, owner);
        }
    }
    if (!good)
        fprintf(stderr, "%s:%u: not understood: %s\n", path, row, line);
    good = good && ferror(file) == 0;
    fclose(file);
    return good;
}
