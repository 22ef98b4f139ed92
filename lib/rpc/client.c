/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client: calls of the peer, from the request to its one callback.
 *
 * Happy path: nri_rpc_invoke() packs the request into the output and keeps a pending entry; the
 * response frame with its stream id completes it. Failure modes, each completing the one call: a
 * status, a response that doesn't decode, is over max_receive or finds no memory, a deadline that
 * passes. Closing the connection completes all. A response that nobody waits for any more is
 * skipped and counted.
 */
#include <string.h>

#include "base/text.h"
#include "rpc/internal.h"
#include "wire/message.h"

int nri_rpc_client_init(struct nri_rpc *rpc)
{
    const size_t room = rpc->config.limits.max_pending_calls;
    if (room > SIZE_MAX / sizeof(struct nri_rpc_pending)) {
        return NRI_E_NOMEM;
    }
    rpc->client.pending = nri_alloc_raw(&rpc->alloc, room * sizeof(struct nri_rpc_pending));
    rpc->client.next_stream = 1;
    return rpc->client.pending == NULL ? NRI_E_NOMEM : 0;
}

/* ---- pending calls ---- */

/* Where a stream's call is; NULL when there is none. Stream ids rise, so the table is sorted. */
static struct nri_rpc_pending *find(struct nri_rpc_client *client, uint32_t stream)
{
    size_t low = 0, high = client->pending_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (client->pending[middle].stream < stream) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    const bool found = low < client->pending_count && client->pending[low].stream == stream;
    return found ? &client->pending[low] : NULL;
}

static struct nri_rpc_pending take(struct nri_rpc_client *client, struct nri_rpc_pending *at)
{
    const struct nri_rpc_pending taken = *at;
    const size_t index = (size_t)(at - client->pending);
    client->pending_count--;
    memmove(at, at + 1, (client->pending_count - index) * sizeof *at);
    return taken;
}

static const ProtobufCMethodDescriptor *method_of(const struct nri_rpc *rpc, unsigned method)
{
    return &rpc->config.call->methods[method];
}

static void complete(const struct nri_rpc_pending *pending, const struct nri_rpc_result *result)
{
    pending->done(pending->user, result);
}

static void complete_error(const struct nri_rpc_pending *pending, int code, const char *text)
{
    const struct nri_rpc_result result = {.code = code, .text = text};
    complete(pending, &result);
}

size_t nri_rpc_pending_calls(const struct nri_rpc *rpc)
{
    return rpc->client.pending_count;
}

void nri_rpc_client_close(struct nri_rpc *rpc, int code, const char *text)
{
    nri_rpc_inbound_drop(&rpc->client.inbound);
    while (rpc->client.pending_count > 0) {
        const struct nri_rpc_pending pending = take(&rpc->client, rpc->client.pending);
        complete_error(&pending, code, text);
    }
}

/* ---- calling ---- */

static int check_metadata(const char *method, const char *const *metadata, size_t count,
                          struct nri_error *error)
{
    for (size_t i = 0; i < 2 * count; i++) {
        if (metadata[i] == NULL || !nri_utf8_valid(metadata[i], strlen(metadata[i]), NULL)) {
            return nri_error_set(error, NRI_E_INVALID, "%s: metadata %s %zu is %s", method,
                                 i % 2 == 0 ? "key" : "value", i / 2,
                                 metadata[i] == NULL ? "missing" : "not UTF-8");
        }
    }
    return 0;
}

/* Whether there is a place for one more call. */
static int check_place(const struct nri_rpc *rpc, const char *method, struct nri_error *error)
{
    if (rpc->client.pending_count >= rpc->config.limits.max_pending_calls) {
        return nri_error_set(error, NRI_E_BUSY, "%s: %zu calls wait for a reply, the limit is %zu",
                             method, rpc->client.pending_count,
                             rpc->config.limits.max_pending_calls);
    }
    if (rpc->client.next_stream > NRI_RPC_LAST_STREAM) {
        return nri_error_set(error, NRI_E_LIMIT,
                             "%s: the stream ids of this connection are used up: connect anew",
                             method);
    }
    return 0;
}

static int check_call(const struct nri_rpc *rpc, unsigned method, struct nri_error *error)
{
    if (nri_rpc_is_over(rpc)) {
        return nri_error_set(error, NRI_E_CLOSED, "the connection was closed");
    }
    if (rpc->config.call == NULL || method >= rpc->config.call->n_methods) {
        return nri_error_set(error, NRI_E_INVALID, "no method %u to call", method);
    }
    return 0;
}

static int check_message(const struct nri_rpc *rpc, unsigned method,
                         const ProtobufCMessage *message, struct nri_error *error)
{
    if (message == NULL || message->descriptor != method_of(rpc, method)->input) {
        return nri_error_set(error, NRI_E_INVALID, "%s: the request is no %s",
                             method_of(rpc, method)->name, method_of(rpc, method)->input->name);
    }
    return 0;
}

static int check_size(const char *method, size_t size, size_t limit, struct nri_error *error)
{
    if (size > limit) {
        return nri_error_set(error, NRI_E_LIMIT,
                             "%s: request of %zu bytes exceeds the limit of %zu bytes", method,
                             size, limit);
    }
    return 0;
}

/* Packs the request into the output; nothing is written on failure. */
static int send_request(struct nri_rpc *rpc, const struct nri_rpc_outgoing *outgoing,
                        struct nri_error *error)
{
    const size_t size = nri_rpc_request_size(outgoing);
    const int fits = check_size(outgoing->method, size, rpc->config.limits.max_send, error);
    if (fits != 0) {
        return fits;
    }
    const int place = check_place(rpc, outgoing->method, error);
    if (place != 0) {
        return place;
    }
    uint8_t *data;
    const int code = nri_wire_begin(&rpc->out, rpc->config.call_id, rpc->client.next_stream,
                                    NRI_TTRPC_REQUEST, 0, (uint32_t)size, &data);
    if (code == NRI_E_LIMIT) {
        return nri_error_set(
            error, NRI_E_BUSY,
            "%s: the peer reads too slowly: a request of %zu bytes on top of %zu that wait exceeds "
            "max_output_bytes, %zu",
            outgoing->method, size, nri_buf_size(&rpc->out), rpc->config.limits.max_output_bytes);
    }
    if (code != 0) {
        return nri_error_set(error, code, "%s: out of memory for a request of %zu bytes",
                             outgoing->method, size);
    }
    nri_rpc_request_encode(outgoing, data);
    nri_wire_commit(&rpc->out, (uint32_t)size);
    return 0;
}

static void keep_pending(struct nri_rpc *rpc, unsigned method, uint64_t now, uint64_t timeout,
                         nri_rpc_done_fn done, void *user)
{
    struct nri_rpc_client *client = &rpc->client;
    client->pending[client->pending_count++] = (struct nri_rpc_pending){
        .stream = client->next_stream,
        .method = method,
        .timeout = timeout,
        .deadline = timeout == 0 || timeout >= NRI_NEVER - now ? NRI_NEVER : now + timeout,
        .done = done,
        .user = user,
    };
    client->next_stream += 2;
    rpc->now = now;
    rpc->stats.calls++;
    nri_rpc_wake(rpc);
}

int nri_rpc_invoke(struct nri_rpc *rpc, unsigned method, const ProtobufCMessage *message,
                   uint64_t now, uint64_t timeout, const char *const *metadata,
                   size_t metadata_count, nri_rpc_done_fn done, void *user, struct nri_error *error)
{
    int code = check_call(rpc, method, error);
    if (code == 0) {
        code = check_message(rpc, method, message, error);
    }
    if (code != 0) {
        return code;
    }
    struct nri_rpc_outgoing outgoing = {
        .service = rpc->config.call->name,
        .method = method_of(rpc, method)->name,
        .message = message,
        .timeout = timeout,
        .metadata = metadata,
        .metadata_count = metadata_count,
    };
    code = check_metadata(outgoing.method, metadata, metadata_count, error);
    if (code == 0) {
        code = nri_message_size(message, &outgoing.payload_size, error);
    }
    if (code == 0) {
        code = send_request(rpc, &outgoing, error);
    }
    if (code == 0) {
        keep_pending(rpc, method, now, timeout, done, user);
    }
    return code;
}

/* ---- calls that were packed before ---- */

int nri_rpc_check_packed(const struct nri_rpc_packed *packed, const struct nri_rpc_limits *limits,
                         uint64_t timeout, struct nri_error *error)
{
    const struct nri_rpc_outgoing outgoing = {
        .service = packed->service->name,
        .method = packed->service->methods[packed->method].name,
        .payload = packed->payload,
        .payload_size = packed->size,
        .timeout = timeout,
        .metadata = packed->metadata,
        .metadata_count = packed->metadata_count,
    };
    const int code =
        check_metadata(outgoing.method, packed->metadata, packed->metadata_count, error);
    return code != 0 ? code
                     : check_size(outgoing.method, nri_rpc_request_size(&outgoing),
                                  limits->max_send, error);
}

int nri_rpc_invoke_packed(struct nri_rpc *rpc, const struct nri_rpc_packed *packed, uint64_t now,
                          uint64_t timeout, nri_rpc_done_fn done, void *user,
                          struct nri_error *error)
{
    int code = check_call(rpc, packed->method, error);
    if (code != 0) {
        return code;
    }
    const struct nri_rpc_outgoing outgoing = {
        .service = rpc->config.call->name,
        .method = method_of(rpc, packed->method)->name,
        .payload = packed->payload,
        .payload_size = packed->size,
        .timeout = timeout,
        .metadata = packed->metadata,
        .metadata_count = packed->metadata_count,
    };
    code = send_request(rpc, &outgoing, error);
    if (code == 0) {
        keep_pending(rpc, packed->method, now, timeout, done, user);
    }
    return code;
}

/* ---- deadlines ---- */

uint64_t nri_rpc_deadline(const struct nri_rpc *rpc)
{
    uint64_t earliest = NRI_NEVER;
    for (size_t i = 0; i < rpc->client.pending_count; i++) {
        if (rpc->client.pending[i].deadline < earliest) {
            earliest = rpc->client.pending[i].deadline;
        }
    }
    return earliest;
}

static void time_out(struct nri_rpc *rpc, struct nri_rpc_pending *at)
{
    const struct nri_rpc_pending pending = take(&rpc->client, at);
    nri_error_set(&rpc->client.error, NRI_E_TIMEOUT, "%s: no reply within %llu ms",
                  method_of(rpc, pending.method)->name,
                  (unsigned long long)(pending.timeout / NRI_MSEC));
    complete_error(&pending, NRI_E_TIMEOUT, rpc->client.error.text);
}

void nri_rpc_tick(struct nri_rpc *rpc, uint64_t now)
{
    /* Calls that a callback makes wait for the next tick: a time-out of nothing must not keep us
     * here for ever. */
    const uint32_t end = rpc->client.next_stream;
    size_t i = 0;
    rpc->now = now;
    while (i < rpc->client.pending_count && rpc->client.pending[i].stream < end) {
        if (rpc->client.pending[i].deadline > now) {
            i++;
            continue;
        }
        time_out(rpc, &rpc->client.pending[i]);
        i = 0; /* the callback may have changed the table */
    }
}

/* ---- responses ---- */

void nri_rpc_client_header(struct nri_rpc *rpc, const struct nri_wire_item *item)
{
    struct nri_rpc_inbound *inbound = &rpc->client.inbound;
    nri_rpc_inbound_drop(inbound);
    if (item->type != NRI_TTRPC_RESPONSE) {
        nri_log_write(rpc->config.log, rpc->now, NRI_LOG_DEBUG, NULL,
                      "message of type %u on stream %lu, where responses are due: ignored",
                      item->type, (unsigned long)item->stream);
    } else if (find(&rpc->client, item->stream) == NULL) {
        rpc->stats.late_replies++;
        nri_log_write(rpc->config.log, rpc->now, NRI_LOG_DEBUG, NULL,
                      "response on stream %lu, where no call waits: ignored",
                      (unsigned long)item->stream);
    } else if (item->length > rpc->config.limits.max_receive) {
        nri_rpc_inbound_refuse(inbound, NRI_E_LIMIT, &rpc->stats.refused_oversize,
                               "response of %lu bytes exceeds the limit of %zu bytes",
                               (unsigned long)item->length, rpc->config.limits.max_receive);
    } else {
        nri_rpc_inbound_store(rpc, inbound, NRI_E_NOMEM);
    }
}

/* A refusal of the peer's. Its text goes into the arena for the NUL behind it. */
static void read_status(const struct nri_rpc_response *response, struct nri_rpc_call *call,
                        struct nri_rpc_result *result)
{
    result->grpc = response->grpc;
    result->code = nri_error_from_grpc(response->grpc);
    result->text =
        nri_arena_text(&call->arena, (const char *)response->text.bytes, response->text.length);
    if (result->text == NULL) {
        result->text = "out of memory for the peer's text";
    }
}

/* What a complete response says. Its texts and message live in the call and client.error. */
static void read_response(struct nri_rpc *rpc, const ProtobufCMethodDescriptor *method,
                          struct nri_rpc_call *call, struct nri_rpc_result *result)
{
    const size_t size = nri_buf_size(&call->data);
    const uint8_t *bytes = size == 0 ? (const uint8_t *)"" : call->data.data + call->data.start;
    struct nri_rpc_response response;
    nri_rpc_pool_limit(call, &rpc->config.limits, size);
    int code = nri_rpc_response_decode(bytes, size, &response, &rpc->client.error);
    if (code == 0 && response.grpc != 0) {
        read_status(&response, call, result);
        return;
    }
    if (code == 0) {
        code =
            nri_message_decode(method->output, response.payload.bytes, response.payload.length,
                               &call->arena, call->pool->seed, &call->message, &rpc->client.error);
    }
    if (code == 0) {
        result->message = call->message;
        return;
    }
    nri_error_prefix(&rpc->client.error, "%s: response", method->name);
    const bool ours = code == NRI_E_NOMEM || code == NRI_E_LIMIT;
    result->code = ours ? code : NRI_E_PROTOCOL;
    result->text = rpc->client.error.text;
}

struct nri_rpc_call *nri_rpc_result_keep(const struct nri_rpc_result *result)
{
    if (result->keeper == NULL || *result->keeper == NULL) {
        return NULL;
    }
    struct nri_rpc_call *call = *result->keeper;
    *result->keeper = NULL;
    nri_rpc_pool_take_data(call);
    /* No reply is due for it: a release must not send one. */
    atomic_store(&call->state, NRI_RPC_CALL_DETACHED);
    return call;
}

void nri_rpc_client_end(struct nri_rpc *rpc, const struct nri_wire_item *item)
{
    struct nri_rpc_inbound *inbound = &rpc->client.inbound;
    struct nri_rpc_call *call = inbound->call;
    if (call == NULL && inbound->verdict == 0) {
        return;
    }
    inbound->call = NULL;
    struct nri_rpc_pending *at = find(&rpc->client, item->stream);
    if (at == NULL) { /* its time-out came in the middle of the response */
        rpc->stats.late_replies++;
        nri_rpc_inbound_drop(inbound);
    } else {
        const struct nri_rpc_pending pending = take(&rpc->client, at);
        const ProtobufCMethodDescriptor *method = method_of(rpc, pending.method);
        struct nri_rpc_result result = {.text = "", .keeper = &call};
        if (call != NULL) {
            read_response(rpc, method, call, &result);
        } else {
            nri_error_set(&rpc->client.error, inbound->verdict, "%s: %s", method->name,
                          inbound->text);
            if (inbound->counter != NULL) {
                ++*inbound->counter;
            }
            result.code = inbound->verdict;
            result.text = rpc->client.error.text;
            nri_rpc_inbound_drop(inbound);
        }
        complete(&pending, &result);
    }
    if (call != NULL) {
        nri_rpc_pool_put(call);
    }
}
