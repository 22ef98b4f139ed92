/* SPDX-License-Identifier: Apache-2.0 */
#include "bench_link.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bench.h"
#include "memory.h"
#include "peer.h"
#include "rpc/envelope.h"
#include "wire/writer.h"

enum { STREAM_AT = NRI_MUX_HEADER + 4 };

bool bench_frame_make(struct bench *bench, struct bench_frame *frame, const char *method,
                      const struct nri_buf *payload)
{
    const struct nri_rpc_outgoing outgoing = {
        .service = PEER_PLUGIN_SERVICE,
        .method = method,
        .payload = (const uint8_t *)memory_text(payload),
        .payload_size = nri_buf_size(payload),
        .timeout = bench->timeout_ms * 1000000,
    };
    const size_t size = nri_rpc_request_size(&outgoing);
    uint8_t *data = NULL;
    memory_buf(&frame->bytes, SIZE_MAX);
    if (size > PEER_MOST_DATA || nri_wire_begin(&frame->bytes, NRI_MUX_PLUGIN_ID, 1,
                                                NRI_TTRPC_REQUEST, 0, (uint32_t)size, &data) != 0)
        return bench_fail(bench, NRICTL_ENVIRONMENT, "no memory for a request of %zu bytes", size);
    nri_rpc_request_encode(&outgoing, data);
    nri_wire_commit(&frame->bytes, (uint32_t)size);
    return true;
}

void bench_link_init(struct bench_link *link)
{
    link->fd = -1;
    for (size_t i = 0; i < 2; i++)
        memory_buf(&link->coming[i], BENCH_REPLY_LIMIT);
}

void bench_link_open(struct bench_link *link, int fd, const char *name)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    link->fd = fd;
    link->name = name;
    link->stream = 1;
    link->over = false;
    link->used = link->have = link->due_count = 0;
    link->pid = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 ? peer.pid : 0;
    nri_wire_reader_init(&link->reader);
}

void bench_link_close(struct bench_link *link)
{
    if (link->fd >= 0)
        (void)close(link->fd);
    link->fd = -1;
    for (size_t i = 0; i < 2; i++)
        nri_buf_fini(&link->coming[i]);
}

static bool closed(struct bench *bench, struct bench_link *link)
{
    link->over = true;
    return bench_fail(bench, NRICTL_FINDING, "%s: has closed the connection", link->name);
}

static bool write_all(struct bench *bench, struct bench_link *link, const uint8_t *bytes,
                      size_t count)
{
    uint64_t deadline = 0; /* of the wait that it had to begin */
    while (count > 0) {
        const ssize_t wrote = send(link->fd, bytes, count, MSG_NOSIGNAL);
        if (wrote < 0 && errno != EAGAIN && errno != EINTR)
            return closed(bench, link);
        if (wrote < 0) {
            deadline = deadline != 0 ? deadline : bench_deadline(bench);
            if (bench_wait(bench, -1, bench_now()) == BENCH_STOPPED)
                return false;
            if (bench_now() >= deadline)
                return bench_fail(bench, NRICTL_FINDING,
                                  "%s: does not read what is sent within %llu ms (--timeout)",
                                  link->name, (unsigned long long)bench->timeout_ms);
            continue;
        }
        bytes += wrote;
        count -= (size_t)wrote;
        deadline = 0;
    }
    return true;
}

bool bench_link_send(struct bench *bench, struct bench_link *link, struct bench_frame *frame)
{
    uint8_t *bytes = frame->bytes.data + frame->bytes.start;
    const uint32_t stream = link->stream;
    for (unsigned i = 0; i < 4; i++)
        bytes[STREAM_AT + i] = (uint8_t)(stream >> (24 - 8 * i));
    link->stream += 2;
    if (link->due_count < BENCH_WIDE)
        link->due[link->due_count++] = stream;
    return write_all(bench, link, bytes, nri_buf_size(&frame->bytes));
}

static bool answer(struct bench *bench, struct bench_link *link, uint32_t stream)
{
    struct nri_buf out;
    uint8_t *data;
    memory_buf(&out, SIZE_MAX);
    bool good =
        nri_wire_begin(&out, NRI_MUX_RUNTIME_ID, stream, NRI_TTRPC_RESPONSE, 0, 0, &data) == 0;
    if (good) {
        nri_wire_commit(&out, 0);
        good = write_all(bench, link, out.data + out.start, nri_buf_size(&out));
    } else {
        (void)bench_fail(bench, NRICTL_ENVIRONMENT, "no memory for an answer");
    }
    nri_buf_fini(&out);
    return good;
}

bool bench_link_take_call(struct bench *bench, struct bench_link *link,
                          const struct bench_message *message, const char *method,
                          struct nri_rpc_bytes *payload)
{
    struct nri_rpc_request request;
    struct nri_error error;
    if (message->id != NRI_MUX_RUNTIME_ID || message->type != NRI_TTRPC_REQUEST)
        return bench_fail(bench, NRICTL_FINDING,
                          "%s: a message of type %u on connection %u where a call of %s was due",
                          link->name, message->type, message->id, method);
    if (nri_rpc_request_decode(message->data, message->length, &request, &error) != 0)
        return bench_fail(bench, NRICTL_FINDING, "%s: its call: %s", link->name, error.text);
    if (request.method.length != strlen(method) ||
        memcmp(request.method.bytes, method, request.method.length) != 0)
        return bench_fail(bench, NRICTL_FINDING, "%s: a call of %.*s where one of %s was due",
                          link->name,
                          (int)(request.method.length < 100 ? request.method.length : 100),
                          (const char *)request.method.bytes, method);
    *payload = request.payload;
    return answer(bench, link, message->stream);
}

/* ---- what comes ---- */

static bool read_some(struct bench *bench, struct bench_link *link, uint64_t deadline)
{
    for (;;) {
        switch (bench_wait(bench, link->fd, deadline)) {
        case BENCH_STOPPED:
            return false;
        case BENCH_CHILD:
            continue; /* its connection ends, too, when it was the plugin */
        case BENCH_LATE:
            return bench_fail(bench, NRICTL_FINDING, "%s: no answer within %llu ms (--timeout)",
                              link->name, (unsigned long long)bench->timeout_ms);
        case BENCH_READY:
            break;
        }
        const ssize_t got = read(link->fd, link->input, sizeof link->input);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return closed(bench, link);
        link->used = 0;
        link->have = (size_t)got;
        return true;
    }
}

static bool take(struct bench *bench, struct bench_link *link, const struct nri_wire_item *item,
                 struct bench_message *message)
{
    struct nri_buf *data = &link->coming[item->id - 1];
    if (item->kind == NRI_WIRE_HEADER)
        nri_buf_reset(data, SIZE_MAX);
    if (item->kind == NRI_WIRE_DATA && nri_buf_append(data, item->data, item->size) != 0)
        return bench_fail(bench, NRICTL_FINDING, "%s: a message of %u bytes; a runtime takes %zu",
                          link->name, item->length, BENCH_REPLY_LIMIT);
    *message = (struct bench_message){.id = item->id,
                                      .stream = item->stream,
                                      .type = item->type,
                                      .data = (const uint8_t *)memory_text(data),
                                      .length = nri_buf_size(data)};
    return true;
}

bool bench_link_next(struct bench *bench, struct bench_link *link, uint64_t deadline,
                     struct bench_message *message)
{
    for (;;) {
        const uint8_t *bytes = link->input + link->used;
        size_t left = link->have - link->used;
        struct nri_wire_item item;
        struct nri_error error;
        if (nri_wire_read(&link->reader, &bytes, &left, &item, &error) != 0)
            return bench_fail(bench, NRICTL_FINDING, "%s: %s", link->name, error.text);
        link->used = link->have - left;
        if (item.kind == NRI_WIRE_MORE) {
            if (!read_some(bench, link, deadline))
                return false;
        } else if (!take(bench, link, &item, message)) {
            return false;
        } else if (item.kind == NRI_WIRE_END) {
            return true;
        }
    }
}

/* Whether a request waits for it, which it does no more then. */
static bool take_due(struct bench_link *link, uint32_t stream)
{
    for (size_t i = 0; i < link->due_count; i++) {
        if (link->due[i] == stream) {
            link->due[i] = link->due[--link->due_count];
            return true;
        }
    }
    return false;
}

/* Whether a reply is one; `message` becomes its payload. */
static bool take_reply(struct bench *bench, struct bench_link *link, const char *method,
                       struct bench_message *message)
{
    struct nri_rpc_response response;
    struct nri_error error;
    if (message->type != NRI_TTRPC_RESPONSE)
        return bench_fail(bench, NRICTL_FINDING, "%s: a message of type %u where a reply was due",
                          link->name, message->type);
    if (!take_due(link, message->stream))
        return bench_fail(bench, NRICTL_FINDING,
                          "%s: a reply on stream %u, on which no request waits for one", link->name,
                          message->stream);
    if (nri_rpc_response_decode(message->data, message->length, &response, &error) != 0)
        return bench_fail(bench, NRICTL_FINDING, "%s: its reply to %s: %s", link->name, method,
                          error.text);
    if (response.grpc != 0)
        return bench_fail(bench, NRICTL_FINDING, "%s: refuses %s: %.*s", link->name, method,
                          (int)(response.text.length < 300 ? response.text.length : 300),
                          (const char *)response.text.bytes);
    message->data = response.payload.bytes;
    message->length = response.payload.length;
    return true;
}

bool bench_link_reply(struct bench *bench, struct bench_link *link, const char *method,
                      struct bench_message *message)
{
    const uint64_t deadline = bench_deadline(bench);
    struct nri_rpc_bytes payload;
    while (bench_link_next(bench, link, deadline, message)) {
        if (message->id == NRI_MUX_PLUGIN_ID)
            return take_reply(bench, link, method, message);
        if (!bench_link_take_call(bench, link, message, "UpdateContainers", &payload))
            return false;
    }
    return false;
}
