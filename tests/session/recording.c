/* SPDX-License-Identifier: Apache-2.0 */
#include "recording.h"

#include <stdio.h>
#include <string.h>

#include "proto/ttrpc.pb-c.h"
#include "wire/message.h"

#define PLUGIN_ID  1u
#define RUNTIME_ID 2u
#define REQUEST    1u

static const uint64_t seed[2] = {1, 2};

static ProtobufCMessage *decode(struct recording *recording, const ProtobufCMessageDescriptor *type,
                                const uint8_t *bytes, size_t length)
{
    ProtobufCMessage *message;
    struct nri_error error;
    const uint8_t none = 0;
    const int code = nri_message_decode(type, length == 0 ? &none : bytes, length,
                                        &recording->arena, seed, &message, &error);
    if (code != 0)
        fake_broken(__FILE__, __LINE__, error.text);
    return message;
}

/* The runtime may have sent what no Go plugin can read, as NRI 0.6 does with a full node: it
 * answered what came before that, then. */
static void read_stream(struct go_reader *reader, const void *bytes, size_t size, bool runtime)
{
    go_reader_init(reader);
    const int code = go_reader_feed(reader, bytes, size);
    if (code != 0 && runtime && size > GO_READER_DATA)
        return;
    if (code != 0)
        fake_broken(__FILE__, __LINE__, go_reader_error(reader));
    fake_require(go_reader_idle(reader));
}

static const ProtobufCMethodDescriptor *find_method(const ProtobufCServiceDescriptor *service,
                                                    const char *name)
{
    const ProtobufCMethodDescriptor *method =
        protobuf_c_service_descriptor_get_method_by_name(service, name);
    if (method == NULL)
        fake_broken(__FILE__, __LINE__, name);
    return method;
}

static void take_request(struct recording *recording, struct recorded *to,
                         const struct go_message *from)
{
    const Ttrpc__Request *request = (const Ttrpc__Request *)decode(
        recording, &ttrpc__request__descriptor, from->data, from->length);
    const ProtobufCServiceDescriptor *service = to->id == PLUGIN_ID
                                                    ? &nri__pkg__api__v1alpha1__plugin__descriptor
                                                    : &nri__pkg__api__v1alpha1__runtime__descriptor;
    (void)snprintf(to->method, sizeof to->method, "%s", request->method);
    to->message = decode(recording, find_method(service, to->method)->input, request->payload.data,
                         request->payload.len);
}

/* The method of the runtime's request on this stream. */
static void find_request(struct recording *recording, struct recorded *to,
                         const struct go_reader *runtime)
{
    struct go_message message;
    for (size_t i = 0; go_reader_message(runtime, i, &message); i++) {
        if (message.id != PLUGIN_ID || message.stream != to->stream || message.type != REQUEST)
            continue;
        const Ttrpc__Request *request = (const Ttrpc__Request *)decode(
            recording, &ttrpc__request__descriptor, message.data, message.length);
        (void)snprintf(to->method, sizeof to->method, "%s", request->method);
        return;
    }
    fake_broken(__FILE__, __LINE__, "a response to no request");
}

static void take_response(struct recording *recording, struct recorded *to,
                          const struct go_message *from, const struct go_reader *runtime)
{
    const Ttrpc__Response *response = (const Ttrpc__Response *)decode(
        recording, &ttrpc__response__descriptor, from->data, from->length);
    find_request(recording, to, runtime);
    if (response->status != NULL && response->status->code != 0) {
        to->grpc = response->status->code;
        (void)snprintf(to->text, sizeof to->text, "%s", response->status->message);
        return;
    }
    to->message = decode(
        recording, find_method(&nri__pkg__api__v1alpha1__plugin__descriptor, to->method)->output,
        response->payload.data, response->payload.len);
}

void recording_init(struct recording *recording, const void *plugin, size_t plugin_size,
                    const void *runtime, size_t runtime_size)
{
    static struct go_reader ours, theirs; /* large */
    struct nri_alloc alloc;
    struct go_message message;
    *recording = (struct recording){.count = 0};
    fake_require(nri_alloc_resolve(&alloc, NULL) == 0);
    nri_arena_init(&recording->arena, &alloc, 0, SIZE_MAX);
    read_stream(&ours, plugin, plugin_size, false);
    read_stream(&theirs, runtime, runtime_size, true);
    for (size_t i = 0; go_reader_message(&ours, i, &message); i++) {
        fake_require(recording->count < RECORDING_ROOM);
        struct recorded *to = &recording->messages[recording->count++];
        to->id = message.id;
        to->stream = message.stream;
        to->type = message.type;
        if (message.type == REQUEST)
            take_request(recording, to, &message);
        else
            take_response(recording, to, &message, &theirs);
    }
    go_reader_fini(&ours);
    go_reader_fini(&theirs);
}

void recording_fini(struct recording *recording)
{
    nri_arena_fini(&recording->arena);
}

const struct recorded *recording_find(const struct recording *recording, uint32_t id,
                                      uint32_t stream)
{
    for (size_t i = 0; i < recording->count; i++) {
        if (recording->messages[i].id == id && recording->messages[i].stream == stream)
            return &recording->messages[i];
    }
    return NULL;
}

const struct recorded *recording_request(const struct recording *recording, const char *method)
{
    for (size_t i = 0; i < recording->count; i++) {
        if (recording->messages[i].type == REQUEST &&
            strcmp(recording->messages[i].method, method) == 0)
            return &recording->messages[i];
    }
    return NULL;
}
