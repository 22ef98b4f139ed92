/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waiting for what has to come, and decoding it.
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "peer_inside.h"

#define RUNTIME_SERVICE "nri.pkg.api.v1alpha1.Runtime"

/* ---- what comes: calls ---- */

/* Updates that a plugin sends on its own account are granted, whenever they come. */
static void serve(struct run *run)
{
    struct peer *peer = &run->peer;
    for (size_t i = 0; i < peer->frame_count;) {
        const struct peer_frame *frame = &peer->frames[i];
        struct nri_rpc_request request;
        const bool is_update =
            frame->id == NRI_MUX_RUNTIME_ID && frame->type == NRI_TTRPC_REQUEST &&
            nri_rpc_request_decode(frame->data, frame->length, &request, NULL) == 0 &&
            request.method.length == strlen("UpdateContainers") &&
            memcmp(request.method.bytes, "UpdateContainers", request.method.length) == 0;
        if (!is_update) {
            i++;
            continue;
        }
        const uint32_t stream = frame->stream;
        peer_drop(peer, i);
        peer->updates++;
        (void)peer_answer(run, stream, 0, "");
    }
}

void peer_look(struct run *run)
{
    peer_take_bytes(&run->peer);
    serve(run);
}

/* Waits for more; false when there is none to come, with nothing said. */
static bool more(struct run *run, uint64_t deadline, enum run_wait *why)
{
    struct peer *peer = &run->peer;
    if (peer->over) {
        *why = RUN_ENDED;
        return false;
    }
    *why = run_wait(run, peer->fd, POLLIN, deadline);
    if (*why == RUN_READY || *why == RUN_ENDED)
        peer_look(run);
    return *why == RUN_READY || (*why == RUN_ENDED && !peer->over);
}

/* What to say of a wait that was in vain. */
bool peer_in_vain(struct run *run, enum run_wait why, const char *awaited)
{
    char end[120] = "";
    if (why == RUN_STOPPED)
        return run_fail(run, "interrupted while it waited for %s", awaited);
    if (why == RUN_LATE)
        return run_fail(run, "nothing came in %llu ms while %s was awaited",
                        (unsigned long long)run->suite->patience, awaited);
    /* A process that ends closes first: how it ended says more. */
    subject_reap(&run->subject);
    const uint64_t moment = run_now() + run->suite->patience / 10;
    while (!run->subject.ended && run_wait(run, -1, 0, moment) == RUN_READY)
        continue;
    if (run->subject.ended)
        subject_tell_end(&run->subject, end, sizeof end);
    return run_fail(run, "the plugin %s%sclosed the connection while %s was awaited", end,
                    end[0] != '\0' ? " and " : "", awaited);
}

/* ---- waiting ---- */

const ProtobufCMethodDescriptor *peer_method(const char *method)
{
    return protobuf_c_service_descriptor_get_method_by_name(
        &nri__pkg__api__v1alpha1__plugin__descriptor, method);
}

static bool decode(struct run *run, const ProtobufCMessageDescriptor *type, const char *what,
                   const struct nri_rpc_bytes *payload, const ProtobufCMessage **message)
{
    static const uint64_t seed[2] = {1, 2};
    struct nri_error error;
    ProtobufCMessage *decoded = NULL;
    nri_arena_reset(&run->peer.arena);
    if (nri_message_decode(type, payload->bytes, payload->length, &run->peer.arena, seed, &decoded,
                           &error) != 0)
        return run_fail(run, "%s that cannot be decoded: %s", what, error.text);
    *message = decoded;
    return true;
}

static bool read_reply(struct run *run, const struct peer_frame *frame, const char *method,
                       struct peer_reply *reply)
{
    struct nri_rpc_response response;
    struct nri_error error;
    const ProtobufCMethodDescriptor *of = method != NULL ? peer_method(method) : NULL;
    memset(reply, 0, sizeof *reply);
    if (nri_rpc_response_decode(frame->data, frame->length, &response, &error) != 0)
        return run_fail(run, "a reply to %s that cannot be decoded: %s",
                        method != NULL ? method : "a request", error.text);
    reply->code = response.grpc;
    reply->length = response.payload.length;
    const size_t length =
        response.text.length < PEER_TEXT ? response.text.length : (size_t)PEER_TEXT - 1;
    memcpy(reply->text, response.text.bytes, length);
    if (reply->code != 0 || of == NULL)
        return true;
    return decode(run, of->output, "a reply", &response.payload, &reply->message);
}

static size_t find_reply(const struct peer *peer, uint32_t stream)
{
    size_t i = 0;
    while (i < peer->frame_count &&
           (peer->frames[i].id != NRI_MUX_PLUGIN_ID || peer->frames[i].stream != stream ||
            peer->frames[i].type != NRI_TTRPC_RESPONSE))
        i++;
    return i;
}

bool peer_has_reply(const struct peer *peer, uint32_t stream)
{
    return find_reply(peer, stream) < peer->frame_count;
}

bool peer_reply(struct run *run, uint32_t stream, const char *method, struct peer_reply *reply)
{
    struct peer *peer = &run->peer;
    const uint64_t deadline = run_deadline(run);
    char awaited[100];
    enum run_wait why;
    size_t at;
    while ((at = find_reply(peer, stream)) == peer->frame_count) {
        if (!more(run, deadline, &why) && find_reply(peer, stream) == peer->frame_count) {
            (void)snprintf(awaited, sizeof awaited, "the reply to %s (stream %u)",
                           peer_pending_method(peer, stream), stream);
            return peer_in_vain(run, why, awaited);
        }
    }
    const bool good = read_reply(run, &peer->frames[at], method, reply);
    peer_drop(peer, at);
    return good;
}

bool peer_reply_or_end(struct run *run, uint32_t stream, bool *ended)
{
    struct peer *peer = &run->peer;
    const uint64_t deadline = run_deadline(run);
    enum run_wait why;
    size_t at;
    *ended = false;
    while ((at = find_reply(peer, stream)) == peer->frame_count) {
        if (more(run, deadline, &why) || find_reply(peer, stream) < peer->frame_count)
            continue;
        *ended = why == RUN_ENDED;
        return *ended || peer_in_vain(run, why, "a reply, or the end of the connection");
    }
    peer_drop(peer, at);
    return true;
}

static size_t find_call(const struct peer *peer)
{
    size_t i = 0;
    while (i < peer->frame_count && peer->frames[i].id != NRI_MUX_RUNTIME_ID)
        i++;
    return i;
}

static bool read_call(struct run *run, const struct peer_frame *frame, const char *method,
                      const ProtobufCMessage **message)
{
    struct nri_rpc_request request;
    struct nri_error error;
    const ProtobufCMethodDescriptor *of = protobuf_c_service_descriptor_get_method_by_name(
        &nri__pkg__api__v1alpha1__runtime__descriptor, method);
    if (frame->type != NRI_TTRPC_REQUEST || frame->flags != 0 || frame->stream % 2 == 0)
        return run_fail(run, "a message of type %u, flags %u, stream %u instead of a request %s",
                        frame->type, frame->flags, frame->stream, method);
    if (nri_rpc_request_decode(frame->data, frame->length, &request, &error) != 0)
        return run_fail(run, "a request that cannot be decoded: %s", error.text);
    if (request.service.length != strlen(RUNTIME_SERVICE) ||
        memcmp(request.service.bytes, RUNTIME_SERVICE, request.service.length) != 0 ||
        request.method.length != strlen(method) ||
        memcmp(request.method.bytes, method, request.method.length) != 0)
        return run_fail(run, "a call of %.*s/%.*s instead of %s/%s", (int)request.service.length,
                        (const char *)request.service.bytes, (int)request.method.length,
                        (const char *)request.method.bytes, RUNTIME_SERVICE, method);
    return decode(run, of->input, method, &request.payload, message);
}

bool peer_call(struct run *run, const char *method, const ProtobufCMessage **message,
               uint32_t *stream)
{
    struct peer *peer = &run->peer;
    const uint64_t deadline = run_deadline(run);
    enum run_wait why;
    size_t at;
    while ((at = find_call(peer)) == peer->frame_count) {
        if (!more(run, deadline, &why) && find_call(peer) == peer->frame_count)
            return peer_in_vain(run, why, method);
    }
    *stream = peer->frames[at].stream;
    const bool good = read_call(run, &peer->frames[at], method, message);
    peer_drop(peer, at);
    return good;
}

bool peer_end(struct run *run)
{
    const uint64_t deadline = run_deadline(run);
    enum run_wait why = RUN_ENDED;
    while (!run->peer.over) {
        if (!more(run, deadline, &why) && !run->peer.over)
            return peer_in_vain(run, why, "the end of the connection");
    }
    return true;
}
