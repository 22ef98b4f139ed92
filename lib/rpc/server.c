/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server: requests of the peer, from the first byte to the reply.
 *
 * Happy path: a request frame's data is collected in a pooled call; complete, the call joins the
 * waiting ones, and while fewer than max_in_flight are out, and max_request_bytes has room for the
 * most that it may take, it is decoded in its arena and handed to config.request; the reply is
 * packed into the output. Failure modes, each answered on its stream while the connection goes on:
 * over max_receive, over max_queued_bytes, over the arena's limit or out of memory
 * RESOURCE_EXHAUSTED; a wrong stream id, an envelope or payload that doesn't decode
 * INVALID_ARGUMENT; an unknown service or method, or flags of a streaming call, UNIMPLEMENTED. Only
 * an answer that finds no room in the output ends the connection.
 */
#include <string.h>

#include "base/text.h"
#include "rpc/internal.h"
#include "wire/message.h"

#define REPLY_FACTOR    4u  /* arena for a reply, in lengths of the largest one */
#define STATUS_OVERHEAD 32u /* of a status around its text; no max_send is as small */

/* ---- answers ---- */

int nri_rpc_server_begin(struct nri_rpc *rpc, uint32_t stream, size_t length, uint8_t **data)
{
    if (nri_rpc_is_over(rpc)) {
        return NRI_E_CLOSED;
    }
    const int code = nri_wire_begin(&rpc->out, rpc->config.serve_id, stream, NRI_TTRPC_RESPONSE, 0,
                                    (uint32_t)length, data);
    if (code == NRI_E_LIMIT) {
        nri_error_set(&rpc->scratch, code,
                      "the peer reads too slowly, or asked for too much at once: a reply of %zu "
                      "bytes on top of %zu that wait exceeds max_output_bytes, %zu",
                      length, nri_buf_size(&rpc->out), rpc->config.limits.max_output_bytes);
        nri_rpc_fail(rpc, code, rpc->scratch.text);
    } else if (code != 0) {
        nri_rpc_fail(rpc, code, "out of memory for a reply");
    }
    return code == 0 ? 0 : NRI_E_CLOSED;
}

int nri_rpc_server_status(struct nri_rpc *rpc, uint32_t stream, int grpc, const char *text)
{
    const size_t room = rpc->config.limits.max_send - STATUS_OVERHEAD;
    const size_t most = room < NRI_RPC_STATUS_TEXT ? room : NRI_RPC_STATUS_TEXT;
    size_t length = strlen(text);
    if (length > most) {
        length = nri_utf8_cut(text, most);
    }
    const size_t size = nri_rpc_status_size(grpc, length);
    uint8_t *data;
    const int code = nri_rpc_server_begin(rpc, stream, size, &data);
    if (code == 0) {
        nri_rpc_status_encode(grpc, text, length, data);
        nri_wire_commit(&rpc->out, (uint32_t)size);
        nri_rpc_wake(rpc);
    }
    return code;
}

/* Refuses what no handler has seen. */
static void refuse_stream(struct nri_rpc *rpc, uint32_t stream, int grpc, uint64_t *counter,
                          const char *text)
{
    if (counter != NULL) {
        ++*counter;
    }
    nri_log_write(rpc->config.log, rpc->now, NRI_LOG_WARN, NULL,
                  "request on stream %lu refused with code %d: %s", (unsigned long)stream, grpc,
                  text);
    if (grpc == NRI_GRPC_RESOURCE_EXHAUSTED && rpc->config.lost != NULL) {
        rpc->config.lost(rpc->config.user, text);
    }
    (void)nri_rpc_server_status(rpc, stream, grpc, text); /* a failure is kept in the connection */
}

/* ---- decoding ---- */

static const ProtobufCMethodDescriptor *find_method(const ProtobufCServiceDescriptor *service,
                                                    const struct nri_rpc_bytes *name,
                                                    unsigned *index)
{
    unsigned low = 0, high = service->n_methods;
    while (low < high) {
        const unsigned middle = low + (high - low) / 2;
        const unsigned candidate = service->method_indices_by_name[middle];
        const char *known = service->methods[candidate].name;
        const size_t length = strlen(known);
        const size_t common = length < name->length ? length : name->length;
        int order = common == 0 ? 0 : memcmp(name->bytes, known, common);
        if (order == 0) {
            order = (name->length > length) - (name->length < length);
        }
        if (order == 0) {
            *index = candidate;
            return &service->methods[candidate];
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return NULL;
}

static bool is_service(const ProtobufCServiceDescriptor *service, const struct nri_rpc_bytes *name)
{
    return service != NULL && strlen(service->name) == name->length &&
           memcmp(service->name, name->bytes, name->length) == 0;
}

/* A name of the peer's as an argument of "%.*s". */
#define CUT(name) (int)((name).length < 200 ? (name).length : 200), (const char *)(name).bytes

static int refuse_unknown(struct nri_rpc *rpc, const struct nri_rpc_request *request,
                          uint64_t **counter)
{
    *counter = &rpc->stats.refused_unknown;
    if (is_service(rpc->config.serve, &request->service)) {
        nri_error_set(&rpc->scratch, NRI_E_UNSUPPORTED, "service %s has no method \"%.*s\"",
                      rpc->config.serve->name, CUT(request->method));
    } else {
        nri_error_set(&rpc->scratch, NRI_E_UNSUPPORTED, "unknown service \"%.*s\"",
                      CUT(request->service));
    }
    return NRI_GRPC_UNIMPLEMENTED;
}

static int refuse_undecodable(struct nri_rpc *rpc, int code, uint64_t **counter)
{
    if (code == NRI_E_LIMIT) {
        *counter = &rpc->stats.refused_oversize;
        return NRI_GRPC_RESOURCE_EXHAUSTED;
    }
    if (code == NRI_E_NOMEM) {
        return NRI_GRPC_RESOURCE_EXHAUSTED;
    }
    *counter = &rpc->stats.refused_malformed;
    return NRI_GRPC_INVALID_ARGUMENT;
}

/* What the peer sent is limited by what it sent; what the handler builds, by what may be sent back:
 * its texts, and messages and look-up tables around them. */
static void allow_reply(struct nri_arena *arena, size_t max_send)
{
    const size_t room = SIZE_MAX - arena->limit;
    arena->limit += max_send <= room / REPLY_FACTOR ? REPLY_FACTOR * max_send : room;
}

/* 0, or the gRPC code to refuse with; the text is in rpc->scratch. */
static int decode(struct nri_rpc *rpc, struct nri_rpc_call *call, uint64_t **counter)
{
    const struct nri_rpc_limits *limits = &rpc->config.limits;
    const size_t size = nri_buf_size(&call->data);
    const uint8_t *bytes = size == 0 ? (const uint8_t *)"" : call->data.data + call->data.start;
    struct nri_rpc_request request;
    int code = nri_rpc_request_decode(bytes, size, &request, &rpc->scratch);
    if (code != 0) {
        return refuse_undecodable(rpc, code, counter);
    }
    const ProtobufCMethodDescriptor *method = NULL;
    if (is_service(rpc->config.serve, &request.service)) {
        method = find_method(rpc->config.serve, &request.method, &call->method);
    }
    if (method == NULL) {
        return refuse_unknown(rpc, &request, counter);
    }
    if (request.metadata_count > limits->max_metadata) {
        nri_error_set(&rpc->scratch, NRI_E_LIMIT,
                      "%s: %zu entries of metadata exceed the limit of %zu", method->name,
                      request.metadata_count, limits->max_metadata);
        return refuse_undecodable(rpc, NRI_E_LIMIT, counter);
    }
    nri_rpc_pool_limit(call, limits, size);
    if (request.metadata_count > 0) {
        code = nri_rpc_request_metadata(bytes, size, request.metadata_count, &call->arena,
                                        &call->metadata, &rpc->scratch);
    }
    if (code == 0) {
        code = nri_message_decode(method->input, request.payload.bytes, request.payload.length,
                                  &call->arena, call->pool->seed, &call->message, &rpc->scratch);
    }
    if (code != 0) {
        nri_error_prefix(&rpc->scratch, "%s", method->name);
        return refuse_undecodable(rpc, code, counter);
    }
    call->timeout = request.timeout;
    call->size = request.payload.length;
    nri_rpc_pool_take_data(call);
    allow_reply(&call->arena, limits->max_send);
    return 0;
}

/* ---- calls in flight and waiting ---- */

static void link_call(struct nri_rpc *rpc, struct nri_rpc_call *call)
{
    struct nri_rpc_server *server = &rpc->server;
    call->rpc = rpc;
    call->previous = NULL;
    call->next = server->in_flight;
    if (call->next != NULL) {
        call->next->previous = call;
    }
    server->in_flight = call;
    server->in_flight_count++;
    call->charge = nri_rpc_call_memory(call);
    server->in_flight_bytes += call->charge;
}

/* The call is its holder's alone from here on: its state is what other threads look at. */
void nri_rpc_server_unlink(struct nri_rpc *rpc, struct nri_rpc_call *call,
                           enum nri_rpc_call_state state)
{
    if (call->previous != NULL) {
        call->previous->next = call->next;
    } else {
        rpc->server.in_flight = call->next;
    }
    if (call->next != NULL) {
        call->next->previous = call->previous;
    }
    rpc->server.in_flight_count--;
    rpc->server.in_flight_bytes -= call->charge;
    call->rpc = NULL;
    call->next = NULL;
    call->previous = NULL;
    atomic_store_explicit(&call->state, (int)state, memory_order_release);
}

static void hand_out(struct nri_rpc *rpc, struct nri_rpc_call *call)
{
    uint64_t *counter = NULL;
    const int grpc = decode(rpc, call, &counter);
    if (grpc != 0) {
        const uint32_t stream = call->stream;
        nri_rpc_pool_put(call);
        refuse_stream(rpc, stream, grpc, counter, rpc->scratch.text);
        return;
    }
    link_call(rpc, call);
    rpc->stats.requests++;
    rpc->config.request(rpc->config.user, call);
}

/* What a waiting call counts as: an empty message costs memory too, and a buffer all that it has.
 * Its arena has none. */
static size_t cost_of(const struct nri_rpc_call *call)
{
    return sizeof *call + call->data.capacity;
}

/* Whether a request may be decoded now. What that takes is known only afterwards, so there must be
 * room for the most. */
static bool has_room(const struct nri_rpc *rpc, const struct nri_rpc_call *call)
{
    const struct nri_rpc_server *server = &rpc->server;
    const struct nri_rpc_limits *limits = &rpc->config.limits;
    if (server->in_flight_count == 0) {
        return true;
    }
    const size_t most = nri_rpc_pool_most(call, limits, nri_buf_size(&call->data));
    const size_t used = sizeof *call + server->in_flight_bytes;
    return server->in_flight_count < limits->max_in_flight && used <= limits->max_request_bytes &&
           most <= limits->max_request_bytes - used;
}

/* Hands out what waits while there is room. A handler that replies at once comes back here through
 * its reply, and finds `serving` set: the loop goes on where it is instead of going deeper. */
void nri_rpc_server_serve(struct nri_rpc *rpc)
{
    struct nri_rpc_server *server = &rpc->server;
    if (server->serving) {
        return;
    }
    server->serving = true;
    while (!nri_rpc_is_over(rpc) && server->waiting != NULL && has_room(rpc, server->waiting)) {
        struct nri_rpc_call *call = server->waiting;
        server->waiting = call->next;
        if (server->waiting == NULL) {
            server->waiting_last = NULL;
        }
        server->waiting_bytes -= cost_of(call);
        call->next = NULL;
        hand_out(rpc, call);
    }
    server->serving = false;
}

static void receive(struct nri_rpc *rpc, struct nri_rpc_call *call)
{
    struct nri_rpc_server *server = &rpc->server;
    const bool waits = server->waiting != NULL || server->serving || !has_room(rpc, call);
    if (waits) {
        nri_rpc_pool_trim_data(call);
    }
    const size_t cost = cost_of(call);
    if (waits && cost > rpc->config.limits.max_queued_bytes - server->waiting_bytes) {
        const uint32_t stream = call->stream;
        nri_rpc_pool_put(call);
        nri_error_set(
            &rpc->scratch, NRI_E_BUSY,
            "%zu requests in flight, which take %zu bytes, and %zu bytes of waiting ones: %zu more "
            "exceed the limit of %zu",
            server->in_flight_count, server->in_flight_bytes, server->waiting_bytes, cost,
            rpc->config.limits.max_queued_bytes);
        refuse_stream(rpc, stream, NRI_GRPC_RESOURCE_EXHAUSTED, &rpc->stats.refused_busy,
                      rpc->scratch.text);
        return;
    }
    call->received = rpc->now;
    if (server->waiting_last != NULL) {
        server->waiting_last->next = call;
    } else {
        server->waiting = call;
    }
    server->waiting_last = call;
    server->waiting_bytes += cost;
    nri_rpc_server_serve(rpc);
}

/* ---- frames ---- */

static void begin_request(struct nri_rpc *rpc, const struct nri_wire_item *item)
{
    struct nri_rpc_inbound *inbound = &rpc->server.inbound;
    if (item->stream <= rpc->server.last_stream) {
        nri_rpc_inbound_refuse(inbound, NRI_GRPC_INVALID_ARGUMENT, &rpc->stats.refused_malformed,
                               "stream id %lu: the next one must be above %lu",
                               (unsigned long)item->stream, (unsigned long)rpc->server.last_stream);
        return;
    }
    rpc->server.last_stream = item->stream;
    if (item->flags != 0) {
        nri_rpc_inbound_refuse(inbound, NRI_GRPC_UNIMPLEMENTED, &rpc->stats.refused_unknown,
                               "flags 0x%02x: streaming calls are not supported", item->flags);
    } else if (item->length > rpc->config.limits.max_receive) {
        nri_rpc_inbound_refuse(inbound, NRI_GRPC_RESOURCE_EXHAUSTED, &rpc->stats.refused_oversize,
                               "message of %lu bytes exceeds the limit of %zu bytes",
                               (unsigned long)item->length, rpc->config.limits.max_receive);
    } else {
        nri_rpc_inbound_store(rpc, inbound, NRI_GRPC_RESOURCE_EXHAUSTED);
        if (inbound->call != NULL) {
            inbound->call->stream = item->stream;
        }
    }
}

void nri_rpc_server_header(struct nri_rpc *rpc, const struct nri_wire_item *item)
{
    struct nri_rpc_inbound *inbound = &rpc->server.inbound;
    nri_rpc_inbound_drop(inbound);
    if (item->type == NRI_TTRPC_RESPONSE) {
        /* Never answered: two peers that answer each other's answers would not end. */
        nri_log_write(rpc->config.log, rpc->now, NRI_LOG_DEBUG, NULL,
                      "response on stream %lu of the connection id that is served: ignored",
                      (unsigned long)item->stream);
    } else if (item->stream % 2 == 0) {
        nri_rpc_inbound_refuse(inbound, NRI_GRPC_INVALID_ARGUMENT, &rpc->stats.refused_malformed,
                               "stream id %lu: a client's are odd", (unsigned long)item->stream);
    } else if (item->type == NRI_TTRPC_REQUEST) {
        begin_request(rpc, item);
    } else if (item->type == NRI_TTRPC_DATA) {
        nri_rpc_inbound_refuse(
            inbound, NRI_GRPC_INVALID_ARGUMENT, &rpc->stats.refused_malformed,
            "data on stream id %lu, which takes none: its request was complete or "
            "never came",
            (unsigned long)item->stream);
    } else {
        nri_log_write(rpc->config.log, rpc->now, NRI_LOG_DEBUG, NULL,
                      "message of unknown type %u on stream %lu: ignored", item->type,
                      (unsigned long)item->stream);
    }
}

void nri_rpc_server_end(struct nri_rpc *rpc, const struct nri_wire_item *item)
{
    struct nri_rpc_inbound *inbound = &rpc->server.inbound;
    struct nri_rpc_call *call = inbound->call;
    if (call != NULL) {
        inbound->call = NULL;
        receive(rpc, call);
    } else if (inbound->verdict != 0) {
        const int grpc = inbound->verdict;
        inbound->verdict = 0;
        refuse_stream(rpc, item->stream, grpc, inbound->counter, inbound->text);
    }
}

void nri_rpc_server_close(struct nri_rpc *rpc)
{
    struct nri_rpc_server *server = &rpc->server;
    nri_rpc_inbound_drop(&server->inbound);
    while (server->waiting != NULL) {
        struct nri_rpc_call *call = server->waiting;
        server->waiting = call->next;
        nri_rpc_pool_put(call);
    }
    server->waiting_last = NULL;
    server->waiting_bytes = 0;
    while (server->in_flight != NULL) {
        nri_rpc_server_unlink(rpc, server->in_flight, NRI_RPC_CALL_DETACHED);
    }
}

size_t nri_rpc_in_flight(const struct nri_rpc *rpc)
{
    return rpc->server.in_flight_count;
}
