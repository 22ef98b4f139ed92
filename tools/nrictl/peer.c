/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: peer_open() -> peer_request() -> bytes go out in the cuts that are asked for ->
 * peer_reply() waits, everything that comes is kept in order -> peer_close(). Failure modes: the
 * plugin closes (waits end at once, saying what was awaited), it says nothing (the patience), it
 * does not read (the same), it sends what is no frame or what a Go runtime could not read (a fault,
 * that the check's end finds).
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/sockios.h>

#include "memory.h"
#include "message.h"
#include "peer_inside.h"

/* ---- opening and closing ---- */

void peer_init(struct peer *peer)
{
    memset(peer, 0, sizeof *peer);
    peer->fd = -1;
    memory_buf(&peer->in, PEER_MOST_KEPT);
    memory_buf(&peer->out, SIZE_MAX);
    memory_arena(&peer->arena, PEER_MOST_KEPT);
}

static void forget_frames(struct peer *peer)
{
    for (size_t i = 0; i < peer->frame_count; i++)
        free(peer->frames[i].data);
    peer->frame_count = 0;
    for (size_t i = 0; i < 2; i++) {
        free(peer->coming[i].data);
        memset(&peer->coming[i], 0, sizeof peer->coming[i]);
    }
}

void peer_open(struct peer *peer, int fd)
{
    peer_close(peer);
    peer->fd = fd;
    peer->over = false;
    peer->next_stream = 1;
    peer->last_call = 0;
    peer->pending_count = 0;
    peer->updates = 0;
    nri_wire_reader_init(&peer->reader);
    memset(peer->go, 0, sizeof peer->go);
    const int flags = fcntl(fd, F_GETFL);
    (void)fcntl(fd, F_SETFL, flags | O_NONBLOCK);
}

void peer_close(struct peer *peer)
{
    if (peer->fd >= 0)
        (void)close(peer->fd);
    peer->fd = -1;
    peer->over = true;
    forget_frames(peer);
    nri_buf_reset(&peer->in, PEER_READ_ROOM);
    nri_buf_reset(&peer->out, PEER_READ_ROOM);
}

void peer_fini(struct peer *peer)
{
    peer_close(peer);
    free(peer->frames);
    free(peer->pending);
    nri_buf_fini(&peer->in);
    nri_buf_fini(&peer->out);
    nri_arena_fini(&peer->arena);
}

void peer_half_close(struct peer *peer)
{
    if (peer->fd >= 0)
        (void)shutdown(peer->fd, SHUT_WR);
}

/* ---- sending ---- */

/* RUN_READY: all is written; else why not. */
static enum run_wait write_some(struct run *run, const uint8_t *bytes, size_t count)
{
    struct peer *peer = &run->peer;
    const uint64_t deadline = run_deadline(run);
    while (count > 0) {
        const ssize_t put = peer->over ? -1 : send(peer->fd, bytes, count, MSG_NOSIGNAL);
        if (put > 0) {
            bytes += put;
            count -= (size_t)put;
            continue;
        }
        if (peer->over || (errno != EAGAIN && errno != EINTR)) {
            peer_take_bytes(peer); /* what it said before it closed */
            peer->over = true;
            return RUN_ENDED;
        }
        const enum run_wait why = run_wait(run, peer->fd, POLLIN | POLLOUT, deadline);
        if (why == RUN_LATE || why == RUN_STOPPED)
            return why;
        peer_take_bytes(peer);
    }
    return RUN_READY;
}

bool peer_drained(struct run *run)
{
    struct peer *peer = &run->peer;
    const uint64_t deadline = run_deadline(run);
    int left = 1;
    /* The kernel tells how much is unread, but not when that changes. */
    while (ioctl(peer->fd, SIOCOUTQ, &left) == 0 && left > 0) {
        const enum run_wait why = run_wait(run, peer->fd, POLLIN, run_now() + 1);
        if (why == RUN_STOPPED || (why == RUN_LATE && run_now() >= deadline))
            return peer_in_vain(run, why, "the plugin to read what was sent");
        peer_take_bytes(peer);
        if (peer->over)
            return true;
    }
    return true;
}

static enum run_wait flush(struct run *run)
{
    struct nri_buf *out = &run->peer.out;
    enum run_wait why = RUN_READY;
    while (why == RUN_READY && nri_buf_size(out) > 0) {
        const size_t all = nri_buf_size(out);
        const size_t some = run->peer.write != 0 && run->peer.write < all ? run->peer.write : all;
        why = write_some(run, out->data + out->start, some);
        nri_buf_consume(out, some);
        if (why == RUN_READY && some < all && !peer_drained(run))
            why = RUN_STOPPED; /* it has been said why */
    }
    nri_buf_reset(out, PEER_READ_ROOM);
    return why;
}

bool peer_flush(struct run *run)
{
    const enum run_wait why = flush(run);
    return why == RUN_READY || peer_in_vain(run, why, "room to write");
}

void peer_try(struct run *run, const void *bytes, size_t count)
{
    enum run_wait why = RUN_ENDED;
    if (nri_buf_append(&run->peer.out, bytes, count) == 0)
        why = flush(run);
    if (why == RUN_LATE || why == RUN_STOPPED)
        (void)peer_in_vain(run, why, "room to write");
}

static bool memory_fails(struct run *run)
{
    return run_broken(run, "no memory for a message");
}

bool peer_bytes(struct run *run, const void *bytes, size_t count)
{
    if (nri_buf_append(&run->peer.out, bytes, count) != 0)
        return memory_fails(run);
    return run->peer.hold || peer_flush(run);
}

static void put32(uint8_t *at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        at[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* Go's cut: the first 4096 bytes, which are what its buffer takes, then the rest. */
static size_t next_cut(const struct peer *peer, size_t done, size_t all)
{
    const size_t left = all - done;
    if (peer->frame != 0)
        return left < peer->frame ? left : peer->frame;
    return done == 0 && left > PEER_GO_BUFFER ? PEER_GO_BUFFER : left;
}

bool peer_message(struct run *run, uint32_t id, uint32_t stream, uint8_t type, uint8_t flags,
                  const void *data, size_t length)
{
    struct peer *peer = &run->peer;
    struct nri_buf whole;
    uint8_t header[NRI_TTRPC_HEADER], mux[NRI_MUX_HEADER];
    memory_buf(&whole, SIZE_MAX);
    put32(header, (uint32_t)length);
    put32(header + 4, stream);
    header[8] = type;
    header[9] = flags;
    bool good = nri_buf_append(&whole, header, sizeof header) == 0 &&
                nri_buf_append(&whole, data, length) == 0;
    for (size_t done = 0; good && done < nri_buf_size(&whole);) {
        const size_t some = next_cut(peer, done, nri_buf_size(&whole));
        put32(mux, id);
        put32(mux + 4, (uint32_t)some);
        good = nri_buf_append(&peer->out, mux, sizeof mux) == 0 &&
               nri_buf_append(&peer->out, whole.data + whole.start + done, some) == 0;
        done += some;
    }
    nri_buf_fini(&whole);
    if (!good)
        return memory_fails(run);
    return peer->hold || peer_flush(run);
}

static const char *const *metadata_of(const struct peer *peer, size_t *count)
{
    /* As containerd sends. */
    static const char *const usual[] = {"containerd-namespace-ttrpc", "k8s.io"};
    *count = peer->metadata != NULL ? peer->metadata_count : 1;
    return peer->metadata != NULL ? peer->metadata : usual;
}

/* The data of a request, in `data`, which is empty. */
static bool make_request(struct run *run, const char *service, const char *method,
                         const struct nri_buf *payload, struct nri_buf *data)
{
    static const uint64_t nanoseconds = 1000000;
    const struct peer *peer = &run->peer;
    struct nri_rpc_outgoing outgoing = {.service = service, .method = method};
    uint8_t *room;
    outgoing.payload = payload->data != NULL ? payload->data + payload->start : (const uint8_t *)"";
    outgoing.payload_size = nri_buf_size(payload);
    outgoing.metadata = metadata_of(peer, &outgoing.metadata_count);
    if (!peer->no_timeout)
        outgoing.timeout =
            peer->timeout_ns != 0 ? (uint64_t)peer->timeout_ns : run->suite->patience * nanoseconds;
    const size_t size = nri_rpc_request_size(&outgoing);
    if (nri_buf_reserve(data, size, &room) != 0)
        return false;
    nri_rpc_request_encode(&outgoing, room);
    nri_buf_commit(data, size);
    return !peer->unknown || message_unknown(data);
}

bool peer_request_on(struct run *run, uint32_t stream, const char *service, const char *method,
                     const struct nri_buf *payload)
{
    struct nri_buf body, data;
    memory_buf(&body, SIZE_MAX);
    memory_buf(&data, SIZE_MAX);
    bool good = payload == NULL ||
                nri_buf_append(&body, payload->data + payload->start, nri_buf_size(payload)) == 0;
    good = good && (!run->peer.unknown || message_unknown(&body)) &&
           make_request(run, service, method, &body, &data) &&
           peer_pend(&run->peer, stream, method);
    good = good ? peer_message(run, NRI_MUX_PLUGIN_ID, stream, NRI_TTRPC_REQUEST, 0,
                               data.data + data.start, nri_buf_size(&data))
                : memory_fails(run);
    nri_buf_fini(&body);
    nri_buf_fini(&data);
    return good;
}

bool peer_request(struct run *run, const char *method, const struct nri_buf *payload,
                  uint32_t *stream)
{
    *stream = run->peer.next_stream;
    run->peer.next_stream += 2;
    return peer_request_on(run, *stream, PEER_PLUGIN_SERVICE, method, payload);
}

bool peer_answer(struct run *run, uint32_t stream, int code, const char *text)
{
    uint8_t data[PEER_TEXT + 64];
    size_t size = 0; /* an empty message is a reply with nothing in it */
    if (code != 0) {
        size = nri_rpc_status_size(code, strlen(text));
        if (size <= sizeof data)
            nri_rpc_status_encode(code, text, strlen(text), data);
    }
    return peer_message(run, NRI_MUX_RUNTIME_ID, stream, NRI_TTRPC_RESPONSE, 0, data, size);
}

bool peer_expect(struct run *run, uint32_t stream)
{
    return peer_pend(&run->peer, stream, NULL) || memory_fails(run);
}
