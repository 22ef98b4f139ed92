/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes: bytes to mux frames, mux frames to messages, and whether a runtime could have read
 * them.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "peer_inside.h"

/* The first one is told. */
static void fault(struct peer *peer, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fault(struct peer *peer, const char *format, ...)
{
    va_list arguments;
    if (peer->fault[0] != '\0')
        return;
    va_start(arguments, format);
    (void)vsnprintf(peer->fault, sizeof peer->fault, format, arguments);
    va_end(arguments);
}

/* ---- requests that wait ---- */

bool peer_pend(struct peer *peer, uint32_t stream, const char *method)
{
    if (peer->pending_count == peer->pending_room) {
        const size_t room = peer->pending_room == 0 ? 64 : 2 * peer->pending_room;
        struct peer_pending *more = reallocarray(peer->pending, room, sizeof *more);
        if (more == NULL)
            return false;
        peer->pending = more;
        peer->pending_room = room;
    }
    peer->pending[peer->pending_count++] = (struct peer_pending){stream, method};
    return true;
}

static bool settle(struct peer *peer, uint32_t stream)
{
    for (size_t i = 0; i < peer->pending_count; i++) {
        if (peer->pending[i].stream != stream)
            continue;
        peer->pending[i] = peer->pending[--peer->pending_count];
        return true;
    }
    return false;
}

const char *peer_pending_method(const struct peer *peer, uint32_t stream)
{
    for (size_t i = 0; i < peer->pending_count; i++) {
        if (peer->pending[i].stream == stream && peer->pending[i].method != NULL)
            return peer->pending[i].method;
    }
    return "a request";
}

/* ---- what comes: frames ---- */

/* A frame of `size` bytes, as a Go runtime takes it off its queue: the buffer that it reads into
 * has 4096 bytes, or what is left of a message's data where that is more. */
static void go_frame(struct peer *peer, uint32_t id, const uint8_t *bytes, uint32_t size)
{
    struct peer_go *go = &peer->go[id - 1];
    const bool in_data = go->header == NRI_TTRPC_HEADER;
    const uint32_t room = in_data && go->left >= PEER_GO_BUFFER ? go->left : PEER_GO_BUFFER;
    if (size > room)
        fault(peer, "a mux frame of %u bytes where a Go runtime reads into a buffer of %u", size,
              room);
    while (size > 0) {
        if (go->header < NRI_TTRPC_HEADER) {
            go->bytes[go->header++] = *bytes++;
            size--;
            if (go->header == NRI_TTRPC_HEADER)
                go->left = (uint32_t)go->bytes[0] << 24 | (uint32_t)go->bytes[1] << 16 |
                           (uint32_t)go->bytes[2] << 8 | go->bytes[3];
        }
        const uint32_t some = size < go->left ? size : go->left;
        if (go->header == NRI_TTRPC_HEADER) {
            go->left -= some;
            bytes += some;
            size -= some;
            go->header = go->left == 0 ? 0 : go->header;
        }
    }
}

static void took_reply(struct peer *peer, const struct peer_frame *frame)
{
    if (frame->type != NRI_TTRPC_RESPONSE)
        fault(peer, "a message of type %u on the runtime's connection, stream %u", frame->type,
              frame->stream);
    else if (!settle(peer, frame->stream))
        fault(peer, "a reply on stream %u, where no request waits for one", frame->stream);
    else if (frame->flags != 0)
        fault(peer, "a reply on stream %u with flags %u", frame->stream, frame->flags);
}

/* The plugin is a client there: its stream ids are odd and rise. */
static void took_call(struct peer *peer, const struct peer_frame *frame)
{
    if (frame->stream % 2 == 0 || frame->stream <= peer->last_call)
        fault(peer, "a call on stream %u, behind stream %u", frame->stream, peer->last_call);
    peer->last_call = frame->stream;
}

static void keep(struct peer *peer, struct peer_frame *frame)
{
    if (peer->frame_count == peer->frame_room) {
        const size_t room = peer->frame_room == 0 ? 16 : 2 * peer->frame_room;
        struct peer_frame *more = reallocarray(peer->frames, room, sizeof *more);
        if (more == NULL) {
            fault(peer, "no memory for what the plugin sends");
            return;
        }
        peer->frames = more;
        peer->frame_room = room;
    }
    if (frame->id == NRI_MUX_PLUGIN_ID)
        took_reply(peer, frame);
    else
        took_call(peer, frame);
    peer->frames[peer->frame_count++] = *frame;
    memset(frame, 0, sizeof *frame);
}

static void take_item(struct peer *peer, const struct nri_wire_item *item)
{
    struct peer_frame *frame;
    if (item->kind == NRI_WIRE_MORE)
        return; /* of no connection */
    frame = &peer->coming[item->id - 1];
    if (item->kind == NRI_WIRE_HEADER) {
        free(frame->data);
        *frame = (struct peer_frame){
            .id = item->id, .stream = item->stream, .type = item->type, .flags = item->flags};
        frame->data = malloc((size_t)item->length + 1);
        if (item->length > PEER_MOST_DATA)
            fault(peer, "a message of %u bytes; the most are %u", item->length, PEER_MOST_DATA);
    } else if (item->kind == NRI_WIRE_DATA && frame->data != NULL) {
        memcpy(frame->data + frame->length, item->data, item->size);
        frame->length += (uint32_t)item->size;
    } else if (item->kind == NRI_WIRE_END && frame->data != NULL) {
        keep(peer, frame);
    }
}

/* One mux frame, so that its borders are known. */
static void take_frame(struct peer *peer, const uint8_t *bytes, size_t count)
{
    struct nri_error error = {.text = ""};
    struct nri_wire_item item;
    const uint32_t id = bytes[3];
    if (bytes[0] != 0 || bytes[1] != 0 || bytes[2] != 0 || id < 1 || id > 2)
        fault(peer, "a mux frame for connection %02x%02x%02x%02x", bytes[0], bytes[1], bytes[2],
              bytes[3]);
    else
        go_frame(peer, id, bytes + NRI_MUX_HEADER, (uint32_t)(count - NRI_MUX_HEADER));
    do {
        if (nri_wire_read(&peer->reader, &bytes, &count, &item, &error) != 0) {
            fault(peer, "%s", error.text);
            return;
        }
        take_item(peer, &item);
    } while (item.kind != NRI_WIRE_MORE);
}

static void take_input(struct peer *peer)
{
    while (nri_buf_size(&peer->in) >= NRI_MUX_HEADER) {
        const uint8_t *at = peer->in.data + peer->in.start;
        const uint32_t length =
            (uint32_t)at[4] << 24 | (uint32_t)at[5] << 16 | (uint32_t)at[6] << 8 | at[7];
        if (length > NRI_MUX_MAX_FRAME) {
            fault(peer, "a mux frame of %u bytes", length);
            nri_buf_reset(&peer->in, PEER_READ_ROOM);
            return;
        }
        if (nri_buf_size(&peer->in) < NRI_MUX_HEADER + (size_t)length)
            return;
        take_frame(peer, at, NRI_MUX_HEADER + (size_t)length);
        nri_buf_consume(&peer->in, NRI_MUX_HEADER + (size_t)length);
    }
}

void peer_drop(struct peer *peer, size_t at)
{
    free(peer->frames[at].data);
    memmove(&peer->frames[at], &peer->frames[at + 1],
            (peer->frame_count - at - 1) * sizeof *peer->frames);
    peer->frame_count--;
}

void peer_take_bytes(struct peer *peer)
{
    while (!peer->over) {
        uint8_t *room;
        if (nri_buf_reserve(&peer->in, PEER_READ_ROOM, &room) != 0) {
            fault(peer, "more bytes than are kept, without the end of a message");
            peer->over = true;
            return;
        }
        const ssize_t got = recv(peer->fd, room, PEER_READ_ROOM, 0);
        if (got > 0) {
            nri_buf_commit(&peer->in, (size_t)got);
            take_input(peer);
        } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
            peer->over = true;
        } else if (errno == EAGAIN) {
            return;
        }
    }
}
