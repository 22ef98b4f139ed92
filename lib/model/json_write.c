/* SPDX-License-Identifier: Apache-2.0 */
/* A message as JSON, by its descriptor. Recursion goes as deep as nri.proto nests its messages,
 * none of which holds itself. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/json_message.h"
#include "model/json_schema.h"
#include "wire/field.h"
#include "wire/message.h"

static void write_object(struct nri_json_writer *writer, const ProtobufCMessage *message);

static void write_text(struct nri_json_writer *writer, const char *text)
{
    nri_json_write_string(writer, text == NULL ? "" : text, nri_message_text_length(text));
}

static void write_key(struct nri_json_writer *writer, const char *name)
{
    nri_json_write_key(writer, name, strlen(name));
}

/* A newer peer's number has no name here. */
static void write_enum(struct nri_json_writer *writer, const ProtobufCEnumDescriptor *type,
                       int number)
{
    const ProtobufCEnumValue *value = protobuf_c_enum_descriptor_get_value(type, number);
    if (value != NULL)
        nri_json_write_string(writer, value->name, strlen(value->name));
    else
        nri_json_write_int64(writer, number);
}

static void write_fault(struct nri_json_writer *writer)
{
    if (writer->failure == 0)
        writer->failure = NRI_E_INTERNAL;
}

/* One value of a field, at `member`. */
static void write_value(struct nri_json_writer *writer, const ProtobufCFieldDescriptor *field,
                        const void *member)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_INT32:
        nri_json_write_int64(writer, *(const int32_t *)member);
        break;
    case PROTOBUF_C_TYPE_INT64:
        nri_json_write_int64(writer, *(const int64_t *)member);
        break;
    case PROTOBUF_C_TYPE_UINT32:
        nri_json_write_uint64(writer, *(const uint32_t *)member);
        break;
    case PROTOBUF_C_TYPE_UINT64:
        nri_json_write_uint64(writer, *(const uint64_t *)member);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        nri_json_write_bool(writer, *(const protobuf_c_boolean *)member != 0);
        break;
    case PROTOBUF_C_TYPE_ENUM:
        write_enum(writer, field->descriptor, *(const int *)member);
        break;
    case PROTOBUF_C_TYPE_STRING:
        write_text(writer, *(char *const *)member);
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        nri_json_write_message(writer, *(ProtobufCMessage *const *)member);
        break;
    default: /* the test test_json_schema checks that nri.proto has no other type */
        write_fault(writer);
    }
}

static void write_list(struct nri_json_writer *writer, const ProtobufCFieldDescriptor *field,
                       const ProtobufCMessage *message)
{
    const char *const *array = nri_field_member(message, field);
    size_t count = *nri_field_count(message, field);
    nri_json_begin_array(writer);
    for (size_t i = 0; i < count; i++)
        write_value(writer, field, *array + i * nri_field_size(field));
    nri_json_end_array(writer);
}

static void write_map_key(struct nri_json_writer *writer, const ProtobufCFieldDescriptor *field,
                          const void *member)
{
    char digits[16];
    if (field->type == PROTOBUF_C_TYPE_STRING) {
        const char *text = *(char *const *)member;
        nri_json_write_key(writer, text == NULL ? "" : text, nri_message_text_length(text));
    } else {
        int length = snprintf(digits, sizeof digits, "%" PRId32, *(const int32_t *)member);
        nri_json_write_key(writer, digits, (size_t)length);
    }
}

static void write_map(struct nri_json_writer *writer, const ProtobufCFieldDescriptor *field,
                      const ProtobufCMessage *message)
{
    ProtobufCMessage *const *const *entries = nri_field_member(message, field);
    const ProtobufCFieldDescriptor *parts =
        ((const ProtobufCMessageDescriptor *)field->descriptor)->fields;
    size_t count = *nri_field_count(message, field);
    nri_json_begin_object(writer);
    for (size_t i = 0; i < count; i++) {
        const ProtobufCMessage *entry = (*entries)[i];
        write_map_key(writer, &parts[0], nri_field_member(entry, &parts[0]));
        write_value(writer, &parts[1], nri_field_member(entry, &parts[1]));
    }
    nri_json_end_object(writer);
}

/* Whether a field is there: in proto3 a plain zero or "" is not sent. */
static bool is_present(const ProtobufCFieldDescriptor *field, const ProtobufCMessage *message)
{
    const void *member = nri_field_member(message, field);
    if (nri_field_repeated(field))
        return *nri_field_count(message, field) != 0;
    switch (field->type) {
    case PROTOBUF_C_TYPE_MESSAGE:
        return *(ProtobufCMessage *const *)member != NULL;
    case PROTOBUF_C_TYPE_STRING:
        return nri_message_text_length(*(char *const *)member) != 0;
    default:
        return nri_field_size(field) == sizeof(uint64_t) ? *(const uint64_t *)member != 0
                                                         : *(const uint32_t *)member != 0;
    }
}

static void write_field(struct nri_json_writer *writer, const ProtobufCFieldDescriptor *field,
                        const ProtobufCMessage *message)
{
    if (nri_message_field_is_map(field))
        write_map(writer, field, message);
    else if (nri_field_repeated(field))
        write_list(writer, field, message);
    else
        write_value(writer, field, nri_field_member(message, field));
}

static void write_object(struct nri_json_writer *writer, const ProtobufCMessage *message)
{
    nri_json_begin_object(writer);
    for (unsigned i = 0; message != NULL && i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (!is_present(field, message))
            continue;
        write_key(writer, field->name);
        write_field(writer, field, message);
    }
    nri_json_end_object(writer);
}

void nri_json_write_message(struct nri_json_writer *writer, const ProtobufCMessage *message)
{
    /* A wrapper that is there has a value, also when that is zero, "" or an empty list. */
    if (message != NULL && nri_json_is_wrapper(message->descriptor))
        write_field(writer, &message->descriptor->fields[0], message);
    else
        write_object(writer, message);
}

/* ---- results ---- */

static int explain(const struct nri_json_settings *settings, int code, struct nri_error *error)
{
    if (code == NRI_E_LIMIT)
        return nri_error_set(error, code, "%s: the text is longer than the limit of %zu bytes",
                             settings->name, settings->max_bytes);
    return nri_error_set(error, code, "%s: %s", settings->name, nri_strerror(code));
}

int nri_json_message_make(const ProtobufCMessage *message, const struct nri_json_settings *settings,
                          char **text, size_t *length, struct nri_error *error)
{
    struct nri_buf out;
    struct nri_json_writer writer;
    int code = nri_json_result_begin(settings, &out);
    if (code == 0) {
        nri_json_writer_init(&writer, &out, settings->indent);
        nri_json_write_message(&writer, message);
        code = nri_json_writer_end(&writer);
    }
    if (code == 0) {
        *text = nri_json_result_end(&out, length);
        code = *text == NULL ? NRI_E_NOMEM : 0;
    }
    nri_buf_fini(&out);
    return code == 0 ? 0 : explain(settings, code, error);
}

int nri_json_message_text(const ProtobufCMessage *message, const struct nri_json_options *options,
                          char **text, size_t *length, nri_error **error)
{
    struct nri_json_settings settings;
    struct nri_error failure = {0};
    int code = nri_json_options_take(options, &settings, &failure);
    if (text != NULL)
        *text = NULL;
    if (length != NULL)
        *length = 0;
    if (code == 0 && text == NULL)
        code = nri_error_set(&failure, NRI_E_INVALID, "text: must not be NULL");
    if (code == 0 && text != NULL)
        code = nri_json_message_make(message, &settings, text, length, &failure);
    nri_error_export(&failure, &settings.alloc, error);
    return code;
}
