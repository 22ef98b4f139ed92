/* SPDX-License-Identifier: Apache-2.0 */
#include "payload.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <nri/json.h>

#include "memory.h"
#include "wire/field.h"
#include "wire/message.h"

/* JSON of the largest message: texts may be escaped. */
#define MOST_JSON   ((size_t)128 << 20)
#define MOST_MEMORY ((size_t)1 << 30)

void payload_init(struct payload *payload)
{
    *payload = (struct payload){.event = ""};
    memory_arena(&payload->arena, MOST_MEMORY);
}

void payload_fini(struct payload *payload)
{
    nri_arena_fini(&payload->arena);
}

/* ---- decoding ---- */

static size_t unknown_fields(const ProtobufCMessage *message)
{
    size_t count = message->n_unknown_fields;
    for (unsigned i = 0; i < message->descriptor->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
        if (field->type != PROTOBUF_C_TYPE_MESSAGE)
            continue;
        ProtobufCMessage *const *members = nri_field_member(message, field);
        size_t number = 1;
        if (nri_field_repeated(field)) {
            number = *nri_field_count(message, field);
            members = *(ProtobufCMessage *const **)members;
        }
        for (size_t k = 0; k < number; k++)
            count += members[k] != NULL ? unknown_fields(members[k]) : 0;
    }
    return count;
}

/* No hash of this program is worth an attack: a message has some dozens of keys. */
static const uint64_t seed[2] = {0x6e726963746c, 1};

static int fail(struct payload *payload, int code, const char *why)
{
    (void)snprintf(payload->why, sizeof payload->why, "%s", why);
    return code == NRI_E_NOMEM ? NRI_E_NOMEM : 0;
}

static int to_json(struct payload *payload, const char *type, const uint8_t *bytes, size_t size)
{
    struct nri_json_options options;
    const struct nri_json_limits limits = {
        .max_bytes = MOST_JSON, .max_values = SESSION_MOST_MESSAGE, .seed = {seed[0], seed[1]}};
    struct nri_error parsing;
    nri_error *error = NULL;
    char *text;
    size_t length;
    nri_json_options_init(&options, sizeof options);
    options.max_bytes = MOST_JSON;
    options.max_values = SESSION_MOST_MESSAGE;
    int code = nri_json_from_protobuf(type, bytes, size, &options, &text, &length, &error);
    if (code != 0) {
        code = fail(payload, code, error != NULL ? nri_error_get_text(error) : nri_strerror(code));
        nri_error_free(error);
        return code;
    }
    code = nri_json_parse(&payload->arena, text, length, &limits, type, &payload->json, &parsing);
    nri_json_free(text);
    if (code != 0)
        payload->json = NULL;
    return code != 0 ? fail(payload, code, parsing.text) : 0;
}

int payload_decode_bytes(struct payload *payload, const ProtobufCMessageDescriptor *type,
                         const uint8_t *bytes, size_t size)
{
    struct nri_error error;
    ProtobufCMessage *decoded;
    payload->json = NULL;
    payload->why[0] = '\0';
    payload->unknown_fields = 0;
    payload->event = "";
    nri_arena_reset(&payload->arena);
    int code = nri_message_decode(type, bytes, size, &payload->arena, seed, &decoded, &error);
    if (code != 0)
        return fail(payload, code, error.text);
    payload->unknown_fields = unknown_fields(decoded);
    nri_arena_reset(&payload->arena);
    code = to_json(payload, type->short_name, bytes, size);
    const struct nri_json *event = nri_json_get(payload->json, "event");
    if (strcmp(type->short_name, "StateChangeEvent") == 0 &&
        nri_json_type(event) == NRI_JSON_STRING)
        payload->event = nri_json_string(event, NULL);
    return code;
}

int payload_decode(struct payload *payload, const struct session_message *message)
{
    if (message->type != NULL)
        return payload_decode_bytes(payload, message->type, message->payload, message->size);
    payload->json = NULL;
    payload->unknown_fields = 0;
    payload->event = "";
    return fail(payload, 0,
                message->response && !message->matched ? "its request is not in the recording"
                                                       : "NRI has no such method");
}

/* ---- writing ---- */

static void write_members(struct nri_json_writer *writer, const struct nri_json *value)
{
    const size_t count = nri_json_count(value);
    for (size_t i = 0; i < count; i++) {
        const char *key;
        size_t length;
        if (nri_json_type(value) == NRI_JSON_OBJECT) {
            const struct nri_json *member = nri_json_member_at(value, i, &key, &length);
            nri_json_write_key(writer, key, length);
            payload_write_value(member, writer);
        } else {
            payload_write_value(nri_json_at(value, i), writer);
        }
    }
}

static void write_number(struct nri_json_writer *writer, const struct nri_json *value)
{
    int64_t number;
    uint64_t large;
    if (nri_json_int64(value, &number) == 0)
        nri_json_write_int64(writer, number);
    else if (nri_json_uint64(value, &large) == 0)
        nri_json_write_uint64(writer, large);
    else /* NRI has whole numbers only */
        nri_json_write_null(writer);
}

void payload_write_value(const struct nri_json *value, struct nri_json_writer *writer)
{
    size_t length;
    const char *text;
    switch (nri_json_type(value)) {
    case NRI_JSON_OBJECT:
        nri_json_begin_object(writer);
        write_members(writer, value);
        nri_json_end_object(writer);
        break;
    case NRI_JSON_ARRAY:
        nri_json_begin_array(writer);
        write_members(writer, value);
        nri_json_end_array(writer);
        break;
    case NRI_JSON_STRING:
        text = nri_json_string(value, &length);
        nri_json_write_string(writer, text, length);
        break;
    case NRI_JSON_NUMBER:
        write_number(writer, value);
        break;
    case NRI_JSON_BOOL:
        nri_json_write_bool(writer, nri_json_bool(value));
        break;
    default:
        nri_json_write_null(writer);
        break;
    }
}

void payload_write(const struct payload *payload, struct nri_json_writer *writer)
{
    payload_write_value(payload->json, writer);
}

/* ---- secrets ---- */

static int hide_text(struct payload *payload, struct nri_json *list, size_t index)
{
    size_t length;
    const char *text = nri_json_string(nri_json_at(list, index), &length);
    const char *value = memchr(text, '=', length);
    const size_t name = value != NULL ? (size_t)(value - text) + 1 : 0;
    char *hidden = nri_arena_alloc(&payload->arena, name + sizeof PAYLOAD_HIDDEN);
    if (hidden == NULL)
        return NRI_E_NOMEM;
    memcpy(hidden, text, name);
    memcpy(hidden + name, PAYLOAD_HIDDEN, sizeof PAYLOAD_HIDDEN);
    struct nri_json *made = nri_json_new_string(&payload->arena, hidden, strlen(hidden));
    return made != NULL && nri_json_put(list, index, made) ? 0 : NRI_E_NOMEM;
}

static int hide_env(struct payload *payload, struct nri_json *list)
{
    int code = 0;
    for (size_t i = 0; i < nri_json_count(list) && code == 0; i++) {
        struct nri_json *entry = nri_json_at(list, i);
        if (nri_json_type(entry) == NRI_JSON_STRING) {
            code = hide_text(payload, list, i);
        } else if (nri_json_get(entry, "value") != NULL) {
            struct nri_json *hidden =
                nri_json_new_string(&payload->arena, PAYLOAD_HIDDEN, strlen(PAYLOAD_HIDDEN));
            code = hidden == NULL ? NRI_E_NOMEM
                                  : nri_json_set(&payload->arena, entry, "value", hidden);
        }
    }
    return code;
}

/* The depth is that of NRI's messages. */
static int hide(struct payload *payload, struct nri_json *value)
{
    int code = 0;
    const size_t count = nri_json_count(value);
    for (size_t i = 0; i < count && code == 0; i++) {
        const char *key = "";
        size_t length = 0;
        struct nri_json *member = nri_json_type(value) == NRI_JSON_OBJECT
                                      ? nri_json_member_at(value, i, &key, &length)
                                      : nri_json_at(value, i);
        const enum nri_json_type type = nri_json_type(member);
        if (strcmp(key, "env") == 0 && type == NRI_JSON_ARRAY)
            code = hide_env(payload, member);
        else if (type == NRI_JSON_OBJECT || type == NRI_JSON_ARRAY)
            code = hide(payload, member);
    }
    return code;
}

int payload_hide(struct payload *payload)
{
    return payload->json != NULL ? hide(payload, payload->json) : 0;
}

/* ---- what it is about ---- */

static const char *text_of(const struct nri_json *object, const char *key)
{
    return nri_json_string(nri_json_get(object, key), NULL);
}

static bool begins(const char *id, const char *wanted)
{
    return wanted[0] != '\0' && strncmp(id, wanted, strlen(wanted)) == 0;
}

static bool is_pod(const struct nri_json *pod, const char *wanted)
{
    const char *name = text_of(pod, "name"), *space = text_of(pod, "namespace");
    const size_t length = strlen(space);
    return nri_json_type(pod) == NRI_JSON_OBJECT &&
           (strcmp(name, wanted) == 0 || strcmp(text_of(pod, "uid"), wanted) == 0 ||
            begins(text_of(pod, "id"), wanted) ||
            (strncmp(wanted, space, length) == 0 && wanted[length] == '/' &&
             strcmp(wanted + length + 1, name) == 0));
}

static bool is_container(const struct nri_json *container, const char *wanted)
{
    return nri_json_type(container) == NRI_JSON_OBJECT &&
           (strcmp(text_of(container, "name"), wanted) == 0 ||
            begins(text_of(container, "id"), wanted) ||
            begins(text_of(container, "container_id"), wanted));
}

static bool is_container_of(const struct nri_json *container, const char *wanted)
{
    return begins(text_of(container, "pod_sandbox_id"), wanted);
}

static bool any(const struct payload *payload, const char *key, const char *wanted,
                bool (*matches)(const struct nri_json *object, const char *wanted))
{
    const struct nri_json *value = nri_json_get(payload->json, key);
    if (nri_json_type(value) != NRI_JSON_ARRAY)
        return matches(value, wanted);
    for (size_t i = 0; i < nri_json_count(value); i++) {
        if (matches(nri_json_at(value, i), wanted))
            return true;
    }
    return false;
}

bool payload_has_pod(const struct payload *payload, const char *wanted)
{
    return any(payload, "pod", wanted, is_pod) || any(payload, "pods", wanted, is_pod) ||
           any(payload, "container", wanted, is_container_of) ||
           any(payload, "containers", wanted, is_container_of);
}

bool payload_has_container(const struct payload *payload, const char *wanted)
{
    static const char *const keys[] = {"container", "containers", "update", "evict", "failed"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        if (any(payload, keys[i], wanted, is_container))
            return true;
    }
    return false;
}

static void add(char *text, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void add(char *text, size_t room, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text + used, room - used, format, arguments);
    va_end(arguments);
}

void payload_subject(const struct payload *payload, char *text, size_t room)
{
    const struct nri_json *json = payload->json;
    const struct nri_json *pod = nri_json_get(json, "pod");
    const struct nri_json *container = nri_json_get(json, "container");
    text[0] = '\0';
    if (nri_json_get(json, "plugin_name") != NULL)
        add(text, room, "%.4s-%.64s ", text_of(json, "plugin_idx"), text_of(json, "plugin_name"));
    if (nri_json_get(json, "runtime_name") != NULL)
        add(text, room, "%.64s %.64s ", text_of(json, "runtime_name"),
            text_of(json, "runtime_version"));
    if (pod != NULL)
        add(text, room, "%.64s/%.64s ", text_of(pod, "namespace"), text_of(pod, "name"));
    if (container != NULL)
        add(text, room, "%.64s ", text_of(container, "name"));
    if (nri_json_get(json, "pods") != NULL || nri_json_get(json, "containers") != NULL)
        add(text, room, "%zu pods, %zu containers ", nri_json_count(nri_json_get(json, "pods")),
            nri_json_count(nri_json_get(json, "containers")));
    if (nri_json_get(json, "adjust") != NULL)
        add(text, room, "adjusts ");
    if (nri_json_count(nri_json_get(json, "update")) > 0)
        add(text, room, "%zu updates ", nri_json_count(nri_json_get(json, "update")));
    if (nri_json_count(nri_json_get(json, "evict")) > 0)
        add(text, room, "%zu evictions ", nri_json_count(nri_json_get(json, "evict")));
    const size_t length = strlen(text);
    if (length > 0)
        text[length - 1] = '\0';
}
