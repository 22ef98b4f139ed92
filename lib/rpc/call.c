/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request as its handler sees it: what it carries, its one reply, and its release.
 *
 * A reply frees a place for a request that waits, which is handed out before the reply returns. So
 * nothing here touches the connection or the call after that.
 */
#include <string.h>

#include "rpc/internal.h"
#include "wire/message.h"

unsigned nri_rpc_call_method(const struct nri_rpc_call *call)
{
    return call->method;
}

const ProtobufCMessage *nri_rpc_call_message(const struct nri_rpc_call *call)
{
    return call->message;
}

size_t nri_rpc_call_size(const struct nri_rpc_call *call)
{
    return call->size;
}

uint64_t nri_rpc_call_received(const struct nri_rpc_call *call)
{
    return call->received;
}

int64_t nri_rpc_call_timeout(const struct nri_rpc_call *call)
{
    return call->timeout;
}

const struct nri_rpc_metadata *nri_rpc_call_get_metadata(const struct nri_rpc_call *call)
{
    return &call->metadata;
}

struct nri_arena *nri_rpc_call_arena(struct nri_rpc_call *call)
{
    return &call->arena;
}

size_t nri_rpc_call_memory(const struct nri_rpc_call *call)
{
    return sizeof *call + call->data.capacity + call->arena.taken;
}

size_t nri_rpc_call_charge(const struct nri_rpc_call *call)
{
    return call->charge;
}

const uint64_t *nri_rpc_call_seed(const struct nri_rpc_call *call)
{
    return call->pool->seed;
}

uint32_t nri_rpc_call_stream(const struct nri_rpc_call *call)
{
    return call->stream;
}

static enum nri_rpc_call_state state_of(const struct nri_rpc_call *call)
{
    return (enum nri_rpc_call_state)atomic_load_explicit(&call->state, memory_order_acquire);
}

/* Whether the call may be replied; the code and text when not. */
static int may_reply(const struct nri_rpc_call *call, struct nri_error *error)
{
    switch (state_of(call)) {
    case NRI_RPC_CALL_OPEN:
        return 0;
    case NRI_RPC_CALL_REPLIED:
        return nri_error_set(error, NRI_E_LATE, "the request was already answered");
    case NRI_RPC_CALL_DETACHED:
        break;
    }
    return nri_error_set(error, NRI_E_CLOSED, "the connection of the request was closed");
}

/* The reply is out, or never can be. */
static void finish(struct nri_rpc *rpc, struct nri_rpc_call *call)
{
    nri_rpc_server_unlink(rpc, call, NRI_RPC_CALL_REPLIED);
    rpc->stats.replies++;
    nri_rpc_server_serve(rpc);
}

/* Answers with a status; 0 or NRI_E_CLOSED. */
static int answer_status(struct nri_rpc_call *call, int grpc, const char *text)
{
    struct nri_rpc *rpc = call->rpc;
    const int code = nri_rpc_server_status(rpc, call->stream, grpc, text);
    finish(rpc, call);
    return code;
}

static const ProtobufCMethodDescriptor *method_of(const struct nri_rpc_call *call)
{
    return &call->rpc->config.serve->methods[call->method];
}

/* What stands in for a reply that cannot be sent: its code for the handler, a status for the peer.
 */
static int answer_instead(struct nri_rpc_call *call, int grpc, struct nri_error *why)
{
    if (call->rpc->config.label != NULL)
        nri_error_prefix(why, "%s", call->rpc->config.label);
    const int code = answer_status(call, grpc, why->text);
    return code != 0 ? code : why->code;
}

static int pack_size(const struct nri_rpc_call *call, const ProtobufCMessage *message, size_t *size,
                     struct nri_error *error)
{
    const ProtobufCMethodDescriptor *method = method_of(call);
    if (message == NULL || message->descriptor != method->output) {
        return nri_error_set(error, NRI_E_INVALID, "%s: the reply is no %s", method->name,
                             method->output->name);
    }
    const int code = nri_message_size(message, size, error);
    return code == 0 ? 0 : nri_error_prefix(error, "%s: reply", method->name);
}

int nri_rpc_call_reply(struct nri_rpc_call *call, const ProtobufCMessage *message,
                       struct nri_error *error)
{
    int code = may_reply(call, error);
    if (code != 0) {
        return code;
    }
    struct nri_rpc *rpc = call->rpc;
    size_t payload = 0;
    code = pack_size(call, message, &payload, &rpc->scratch);
    if (code != 0) {
        nri_error_set(error, code, "%s", rpc->scratch.text);
        return answer_instead(call, NRI_GRPC_INTERNAL, &rpc->scratch);
    }
    const size_t size = nri_rpc_reply_size(payload);
    if (size > rpc->config.limits.max_send) {
        code = nri_error_set(&rpc->scratch, NRI_E_LIMIT,
                             "%s: reply of %zu bytes exceeds the limit of %zu bytes",
                             method_of(call)->name, size, rpc->config.limits.max_send);
        nri_error_set(error, code, "%s", rpc->scratch.text);
        return answer_instead(call, NRI_GRPC_RESOURCE_EXHAUSTED, &rpc->scratch);
    }
    uint8_t *data;
    code = nri_rpc_server_begin(rpc, call->stream, size, &data);
    if (code == 0) {
        nri_rpc_reply_encode(message, payload, data);
        nri_wire_commit(&rpc->out, (uint32_t)size);
        nri_rpc_wake(rpc);
    } else {
        nri_rpc_failure(rpc, error);
        if (error != NULL) {
            error->code = code;
        }
    }
    finish(rpc, call);
    return code;
}

int nri_rpc_call_refuse(struct nri_rpc_call *call, int grpc, const char *text)
{
    const int code = may_reply(call, NULL);
    if (code != 0) {
        return code;
    }
    /* 0 would be a success without its message. */
    return answer_status(call, grpc == NRI_GRPC_OK ? NRI_GRPC_UNKNOWN : grpc,
                         text == NULL ? "" : text);
}

void nri_rpc_call_release(struct nri_rpc_call *call)
{
    if (call == NULL) {
        return;
    }
    if (state_of(call) == NRI_RPC_CALL_OPEN) {
        (void)answer_status(call, NRI_GRPC_INTERNAL, "the handler gave no answer");
    }
    nri_rpc_pool_put(call);
}
