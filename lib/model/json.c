/* SPDX-License-Identifier: Apache-2.0 */
/* Objects as JSON, and any message between JSON and protobuf: nri/json.h, but for merging. */
#include <string.h>

#include "model/dup.h"
#include "model/json_reading.h"
#include "model/json_schema.h"
#include "wire/message.h"

/* For the hash that finds duplicate keys: see nri_json_settings_limits(). */
static void make_seed(const void *place, uint64_t seed[2])
{
    seed[0] = (uintptr_t)place;
    seed[1] = (uintptr_t)&make_seed;
}

/* ---- objects to JSON ---- */

int nri_pod_to_json(const nri_pod *pod, const struct nri_json_options *options, char **text,
                    size_t *length, nri_error **error)
{
    const void *message = pod != NULL ? pod : nri_pod_view(NULL);
    return nri_json_message_text(message, options, text, length, error);
}

int nri_container_to_json(const nri_container *container, const struct nri_json_options *options,
                          char **text, size_t *length, nri_error **error)
{
    const void *message = container != NULL ? container : nri_container_view(NULL);
    return nri_json_message_text(message, options, text, length, error);
}

int nri_resources_to_json(const nri_resources *resources, const struct nri_json_options *options,
                          char **text, size_t *length, nri_error **error)
{
    const void *message = resources != NULL ? resources : nri_resources_view(NULL);
    return nri_json_message_text(message, options, text, length, error);
}

int nri_adjustment_to_json(const nri_adjustment *adjustment, const struct nri_json_options *options,
                           char **text, size_t *length, nri_error **error)
{
    const void *message = nri_adjustment_message(adjustment);
    return nri_json_message_text(message, options, text, length, error);
}

int nri_updates_to_json(const nri_updates *updates, const struct nri_json_options *options,
                        char **text, size_t *length, nri_error **error)
{
    Nri__Pkg__Api__V1alpha1__UpdateContainersRequest message =
        NRI__PKG__API__V1ALPHA1__UPDATE_CONTAINERS_REQUEST__INIT;
    message.n_update = nri_updates_messages(updates, &message.update);
    message.n_evict = nri_updates_evictions(updates, &message.evict);
    return nri_json_message_text(&message.base, options, text, length, error);
}

/* ---- reading ---- */

static int read_whole(struct nri_json_reading *reading, const ProtobufCMessageDescriptor *type,
                      const char *json, size_t length, ProtobufCMessage **message)
{
    return nri_json_read_text(&reading->source, &reading->settings, type, json, length, NULL,
                              message);
}

int nri_pod_from_json(const char *json, size_t length, const struct nri_json_options *options,
                      nri_pod **pod, nri_error **error)
{
    struct nri_json_reading reading;
    ProtobufCMessage *message = NULL;
    int code = nri_json_reading_begin(&reading, options);
    if (pod != NULL)
        *pod = NULL;
    else if (code == 0)
        code = nri_error_set(&reading.error, NRI_E_INVALID, "pod: must not be NULL");
    if (code == 0)
        code = read_whole(&reading, &nri__pkg__api__v1alpha1__pod_sandbox__descriptor, json, length,
                          &message);
    if (code == 0)
        code = nri_pod_dup_with((const void *)message, &reading.settings.alloc, pod);
    return nri_json_reading_end(&reading, code, error);
}

int nri_container_from_json(const char *json, size_t length, const struct nri_json_options *options,
                            nri_container **container, nri_error **error)
{
    struct nri_json_reading reading;
    ProtobufCMessage *message = NULL;
    int code = nri_json_reading_begin(&reading, options);
    if (container != NULL)
        *container = NULL;
    else if (code == 0)
        code = nri_error_set(&reading.error, NRI_E_INVALID, "container: must not be NULL");
    if (code == 0)
        code = read_whole(&reading, &nri__pkg__api__v1alpha1__container__descriptor, json, length,
                          &message);
    if (code == 0)
        code = nri_container_dup_with((const void *)message, &reading.settings.alloc, container);
    return nri_json_reading_end(&reading, code, error);
}

/* ---- any message ---- */

static int find_type(struct nri_json_reading *reading, const char *name,
                     const ProtobufCMessageDescriptor **type)
{
    if (name == NULL)
        return nri_error_set(&reading->error, NRI_E_INVALID, "message: must be the name of one");
    *type = nri_json_type_find(name);
    if (*type == NULL)
        return nri_error_set(&reading->error, NRI_E_NOT_FOUND,
                             "message \"%s\": NRI has none of this name", name);
    return 0;
}

int nri_json_from_protobuf(const char *message, const uint8_t *bytes, size_t size,
                           const struct nri_json_options *options, char **text, size_t *length,
                           nri_error **error)
{
    struct nri_json_reading reading;
    const ProtobufCMessageDescriptor *type = NULL;
    ProtobufCMessage *decoded = NULL;
    uint64_t seed[2];
    int code = nri_json_reading_begin(&reading, options);
    if (text != NULL)
        *text = NULL;
    if (length != NULL)
        *length = 0;
    if (code == 0 && (text == NULL || (bytes == NULL && size > 0)))
        code = nri_error_set(&reading.error, NRI_E_INVALID, "%s: must not be NULL",
                             text == NULL ? "text" : "bytes");
    if (code == 0)
        code = find_type(&reading, message, &type);
    make_seed(&reading, seed);
    if (code == 0)
        code =
            nri_message_decode(type, bytes, size, &reading.arena, seed, &decoded, &reading.error);
    if (code == 0 && text != NULL)
        code = nri_json_message_make(decoded, &reading.settings, text, length, &reading.error);
    return nri_json_reading_end(&reading, code, error);
}

static int encode(struct nri_json_reading *reading, const ProtobufCMessage *message, char **bytes,
                  size_t *size)
{
    struct nri_json_settings settings = reading->settings;
    struct nri_buf out;
    size_t needed;
    uint8_t *room;
    int code = nri_message_size(message, &needed, &reading->error);
    if (code != 0)
        return code;
    /* Whose text was short enough: negative enum values alone take more room in protobuf. */
    settings.max_bytes = needed;
    code = nri_json_result_begin(&settings, &out);
    if (code == 0)
        code = nri_buf_reserve(&out, needed, &room);
    if (code == 0) {
        nri_message_encode(message, room);
        nri_buf_commit(&out, needed);
        *bytes = nri_json_result_end(&out, size);
        code = *bytes == NULL ? NRI_E_NOMEM : 0;
    }
    nri_buf_fini(&out);
    return code;
}

int nri_json_to_protobuf(const char *message, const char *json, size_t length,
                         const struct nri_json_options *options, char **bytes, size_t *size,
                         nri_error **error)
{
    struct nri_json_reading reading;
    const ProtobufCMessageDescriptor *type = NULL;
    ProtobufCMessage *made = NULL;
    int code = nri_json_reading_begin(&reading, options);
    if (bytes != NULL)
        *bytes = NULL;
    if (size != NULL)
        *size = 0;
    if (code == 0 && (bytes == NULL || size == NULL))
        code = nri_error_set(&reading.error, NRI_E_INVALID, "%s: must not be NULL",
                             bytes == NULL ? "bytes" : "size");
    if (code == 0)
        code = find_type(&reading, message, &type);
    if (code == 0)
        code = read_whole(&reading, type, json, length, &made);
    if (code == 0 && bytes != NULL)
        code = encode(&reading, made, bytes, size);
    return nri_json_reading_end(&reading, code, error);
}
