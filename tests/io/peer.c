/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "proto/ttrpc.pb-c.h"

#define SERVICE    "nri.pkg.api.v1alpha1.Plugin"
#define FRAME_SIZE ((size_t)4096) /* what Go's first frame holds */

static void *must(void *block)
{
    if (block == NULL)
        abort(); /* the machine is out of memory; nothing here tests that */
    return block;
}

void peer_bytes_add(struct peer_bytes *bytes, const void *data, size_t size)
{
    if (bytes->size + size > bytes->room) {
        bytes->room = 2 * (bytes->size + size);
        bytes->data = must(realloc(bytes->data, bytes->room));
    }
    if (size > 0)
        memcpy(bytes->data + bytes->size, data, size);
    bytes->size += size;
}

void peer_bytes_free(struct peer_bytes *bytes)
{
    free(bytes->data);
    *bytes = (struct peer_bytes){0};
}

static void put32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

static void add_frame(struct peer_bytes *bytes, uint32_t id, const uint8_t *data, size_t size)
{
    uint8_t head[8];
    put32(head, id);
    put32(head + 4, (uint32_t)size);
    peer_bytes_add(bytes, head, sizeof head);
    peer_bytes_add(bytes, data, size);
}

void peer_bytes_message(struct peer_bytes *bytes, uint32_t id, uint32_t stream, uint8_t type,
                        const uint8_t *data, size_t size)
{
    struct peer_bytes whole = {0};
    uint8_t head[10] = {0};
    put32(head, (uint32_t)size);
    put32(head + 4, stream);
    head[8] = type;
    peer_bytes_add(&whole, head, sizeof head);
    peer_bytes_add(&whole, data, size);
    size_t first = whole.size < FRAME_SIZE ? whole.size : FRAME_SIZE;
    add_frame(bytes, id, whole.data, first);
    if (whole.size > first)
        add_frame(bytes, id, whole.data + first, whole.size - first);
    peer_bytes_free(&whole);
}

static ProtobufCBinaryData pack(const ProtobufCMessage *message)
{
    ProtobufCBinaryData data = {0};
    if (message != NULL)
        data.len = protobuf_c_message_get_packed_size(message);
    data.data = must(malloc(data.len + 1));
    if (message != NULL)
        (void)protobuf_c_message_pack(message, data.data);
    return data;
}

static void add_envelope(struct peer_bytes *bytes, uint32_t id, uint32_t stream, uint8_t type,
                         const ProtobufCMessage *envelope)
{
    ProtobufCBinaryData data = pack(envelope);
    peer_bytes_message(bytes, id, stream, type, data.data, data.len);
    free(data.data);
}

void peer_bytes_call(struct peer_bytes *bytes, uint32_t stream, const char *method,
                     const ProtobufCMessage *message)
{
    peer_bytes_call_within(bytes, stream, method, message, INT64_C(60000000000));
}

void peer_bytes_call_within(struct peer_bytes *bytes, uint32_t stream, const char *method,
                            const ProtobufCMessage *message, int64_t timeout)
{
    Ttrpc__Request request = TTRPC__REQUEST__INIT;
    request.service = (char *)SERVICE;
    request.method = (char *)method;
    request.timeout_nano = timeout;
    request.payload = pack(message);
    add_envelope(bytes, PEER_PLUGIN, stream, PEER_REQUEST, &request.base);
    free(request.payload.data);
}

void peer_bytes_answer(struct peer_bytes *bytes, uint32_t stream, const ProtobufCMessage *message)
{
    Ttrpc__Response response = TTRPC__RESPONSE__INIT;
    response.payload = pack(message);
    add_envelope(bytes, PEER_RUNTIME, stream, PEER_RESPONSE, &response.base);
    free(response.payload.data);
}

void peer_bytes_refuse(struct peer_bytes *bytes, uint32_t stream, int code, const char *text)
{
    Ttrpc__Response response = TTRPC__RESPONSE__INIT;
    Google__Rpc__Status status = GOOGLE__RPC__STATUS__INIT;
    status.code = code;
    status.message = (char *)text;
    response.status = &status;
    add_envelope(bytes, PEER_RUNTIME, stream, PEER_RESPONSE, &response.base);
}

/* ---- a connection ---- */

static atomic_int refusals;

int peer_refusals(void)
{
    return atomic_exchange(&refusals, 0);
}

static bool check(struct peer *peer, const uint8_t *data, size_t size)
{
    bool was_good = go_reader_error(&peer->reader)[0] == '\0';
    if (go_reader_feed(&peer->reader, data, size) == 0)
        return true;
    if (was_good) {
        (void)fprintf(stderr, "a Go peer would refuse: %s\n", go_reader_error(&peer->reader));
        atomic_fetch_add(&refusals, 1);
    }
    return false;
}

/* Receives once. 1: bytes; 0: EOF or a reset; -1: a failure, or nothing there (MSG_DONTWAIT). */
static int take(struct peer *peer, size_t most, int flags, struct peer_bytes *bytes)
{
    uint8_t data[65536];
    ssize_t got;
    do
        got = recv(peer->fd, data, most < sizeof data ? most : sizeof data, flags);
    while (got < 0 && errno == EINTR);
    if (got == 0 || (got < 0 && errno == ECONNRESET))
        return 0;
    if (got < 0 || !check(peer, data, (size_t)got))
        return -1;
    if (bytes != NULL)
        peer_bytes_add(bytes, data, (size_t)got);
    return 1;
}

void peer_init(struct peer *peer, int fd)
{
    struct timeval patience = {.tv_sec = PEER_PATIENCE};
    *peer = (struct peer){.fd = fd, .next_stream = 1};
    go_reader_init(&peer->reader);
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    (void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

void peer_close(struct peer *peer)
{
    if (peer->fd >= 0) {
        /* Checked, but left there: the plugin is to see that it was not read. */
        (void)take(peer, SIZE_MAX, MSG_DONTWAIT | MSG_PEEK, NULL);
        (void)close(peer->fd);
    }
    peer->fd = -1;
    go_reader_fini(&peer->reader);
}

bool peer_write(struct peer *peer, const void *data, size_t size)
{
    const uint8_t *next = data;
    while (size > 0) {
        ssize_t put = send(peer->fd, next, size, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        next += put;
        size -= (size_t)put;
    }
    return true;
}

bool peer_send(struct peer *peer, struct peer_bytes *bytes)
{
    bool sent = peer_write(peer, bytes->data, bytes->size);
    peer_bytes_free(bytes);
    return sent;
}

static bool open_envelope(struct peer_message *message)
{
    if (message->type == PEER_REQUEST) {
        Ttrpc__Request *request = ttrpc__request__unpack(NULL, message->size, message->data);
        if (request == NULL)
            return false;
        (void)snprintf(message->method, sizeof message->method, "%s", request->method);
        message->payload_size = request->payload.len;
        message->payload = request->payload.data;
        request->payload = (ProtobufCBinaryData){0};
        ttrpc__request__free_unpacked(request, NULL);
        return true;
    }
    Ttrpc__Response *response = ttrpc__response__unpack(NULL, message->size, message->data);
    if (response == NULL)
        return false;
    if (response->status != NULL) {
        message->grpc = response->status->code;
        (void)snprintf(message->text, sizeof message->text, "%s", response->status->message);
    }
    message->payload_size = response->payload.len;
    message->payload = response->payload.data;
    response->payload = (ProtobufCBinaryData){0};
    ttrpc__response__free_unpacked(response, NULL);
    return true;
}

/* 1: taken; 0: not there yet; -1: nonsense. */
static int take_message(struct peer *peer, struct peer_message *message)
{
    struct go_message read;
    if (!go_reader_message(&peer->reader, peer->taken, &read)) {
        go_reader_forget(&peer->reader);
        peer->taken = 0;
        return 0;
    }
    peer->taken++;
    *message = (struct peer_message){
        .id = read.id, .stream = read.stream, .type = read.type, .size = read.length};
    message->data = must(malloc(message->size + 1));
    if (message->size > 0)
        memcpy(message->data, read.data, message->size);
    return open_envelope(message) ? 1 : -1;
}

void peer_message_free(struct peer_message *message)
{
    free(message->data);
    free(message->payload);
    *message = (struct peer_message){0};
}

int peer_receive(struct peer *peer, struct peer_message *message)
{
    int rc;
    while ((rc = take_message(peer, message)) == 0 && (rc = take(peer, SIZE_MAX, 0, NULL)) == 1)
        continue;
    return rc;
}

bool peer_wait_end(struct peer *peer)
{
    int rc;
    while ((rc = take(peer, SIZE_MAX, 0, NULL)) == 1)
        continue;
    return rc == 0;
}

void peer_take(struct peer *peer, size_t most, struct peer_bytes *bytes)
{
    size_t before = bytes->size;
    while (bytes->size - before < most &&
           take(peer, most - (bytes->size - before), MSG_DONTWAIT, bytes) == 1)
        continue;
}

/* ---- what a runtime does ---- */

bool peer_call(struct peer *peer, const char *method, const ProtobufCMessage *request,
               struct peer_message *message)
{
    struct peer_bytes bytes = {0};
    struct peer_message own;
    struct peer_message *answer = message != NULL ? message : &own;
    uint32_t stream = peer->next_stream;
    peer->next_stream += 2;
    peer_bytes_call(&bytes, stream, method, request);
    if (!peer_send(peer, &bytes) || peer_receive(peer, answer) != 1)
        return false;
    bool good =
        answer->id == PEER_PLUGIN && answer->type == PEER_RESPONSE && answer->stream == stream;
    if (message == NULL) {
        good = good && own.grpc == 0;
        peer_message_free(&own);
    }
    return good;
}

bool peer_take_register(struct peer *peer)
{
    struct peer_message message;
    if (peer_receive(peer, &message) != 1)
        return false;
    Nri__Pkg__Api__V1alpha1__RegisterPluginRequest *request = NULL;
    if (message.id == PEER_RUNTIME && strcmp(message.method, "RegisterPlugin") == 0)
        request = nri__pkg__api__v1alpha1__register_plugin_request__unpack(
            NULL, message.payload_size, message.payload);
    if (request != NULL) {
        (void)snprintf(peer->name, sizeof peer->name, "%s", request->plugin_name);
        (void)snprintf(peer->index, sizeof peer->index, "%s", request->plugin_idx);
        peer->register_stream = message.stream;
        nri__pkg__api__v1alpha1__register_plugin_request__free_unpacked(request, NULL);
    }
    peer_message_free(&message);
    return request != NULL;
}

bool peer_answer_register(struct peer *peer)
{
    struct peer_bytes bytes = {0};
    peer_bytes_answer(&bytes, peer->register_stream, NULL);
    return peer_send(peer, &bytes);
}

bool peer_configure(struct peer *peer)
{
    Nri__Pkg__Api__V1alpha1__ConfigureRequest request =
        NRI__PKG__API__V1ALPHA1__CONFIGURE_REQUEST__INIT;
    struct peer_message message = {0};
    request.runtime_name = (char *)"peer";
    request.runtime_version = (char *)"1.0";
    request.nri_version = (char *)"v0.12.2";
    request.request_timeout = 1000L * PEER_PATIENCE;
    if (!peer_call(peer, "Configure", &request.base, &message))
        return false;
    Nri__Pkg__Api__V1alpha1__ConfigureResponse *response =
        nri__pkg__api__v1alpha1__configure_response__unpack(NULL, message.payload_size,
                                                            message.payload);
    bool good = message.grpc == 0 && response != NULL;
    if (response != NULL) {
        peer->events = response->events;
        nri__pkg__api__v1alpha1__configure_response__free_unpacked(response, NULL);
    }
    peer_message_free(&message);
    return good;
}

bool peer_synchronize(struct peer *peer)
{
    Nri__Pkg__Api__V1alpha1__SynchronizeRequest request =
        NRI__PKG__API__V1ALPHA1__SYNCHRONIZE_REQUEST__INIT;
    peer_pod pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
    peer_container container = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    peer_pod *pods[] = {&pod};
    peer_container *containers[] = {&container};
    pod.id = (char *)"pod1";
    container.id = (char *)"ctr1";
    container.pod_sandbox_id = (char *)"pod1";
    request.n_pods = 1;
    request.pods = pods;
    request.n_containers = 1;
    request.containers = containers;
    return peer_call(peer, "Synchronize", &request.base, NULL);
}

bool peer_create(struct peer *peer, const char *container_id)
{
    Nri__Pkg__Api__V1alpha1__CreateContainerRequest request =
        NRI__PKG__API__V1ALPHA1__CREATE_CONTAINER_REQUEST__INIT;
    peer_pod pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
    peer_container container = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    pod.id = (char *)"pod1";
    container.id = (char *)container_id;
    container.pod_sandbox_id = (char *)"pod1";
    request.pod = &pod;
    request.container = &container;
    return peer_call(peer, "CreateContainer", &request.base, NULL);
}

bool peer_register(struct peer *peer)
{
    return peer_take_register(peer) && peer_answer_register(peer) && peer_configure(peer);
}
