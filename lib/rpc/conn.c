/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The connection: bytes in, bytes out, and how it ends.
 *
 * Happy path: nri_rpc_input() pulls items from the wire's reader and hands them to the server or
 * the client by connection id; they write to the output, and nri_rpc_output() and nri_rpc_written()
 * carry it away. Failure modes: what the reader refuses, an output that overflows with replies, and
 * no memory for one set `failure`; nothing is handed out or sent after that, and the owner closes.
 * A callback may close the connection at any time, so that each loop looks for it after each
 * callback.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rpc/internal.h"

void nri_rpc_limits_default(struct nri_rpc_limits *limits)
{
    *limits = (struct nri_rpc_limits){
        .max_receive = (size_t)16 << 20,
        .max_send = (size_t)4 << 20,
        .arena_base = (size_t)64 << 10,
        .arena_factor = 8,
        .max_in_flight = 64,
        .max_request_bytes = (size_t)256 << 20,
        .max_queued_bytes = (size_t)32 << 20,
        .max_output_bytes = (size_t)256 << 20,
        .max_pending_calls = 64,
        .max_metadata = 256,
    };
}

static bool config_is_valid(const struct nri_rpc_config *config)
{
    const struct nri_rpc_limits *limits = &config->limits;
    const bool ids =
        (config->serve_id == NRI_MUX_PLUGIN_ID && config->call_id == NRI_MUX_RUNTIME_ID) ||
        (config->serve_id == NRI_MUX_RUNTIME_ID && config->call_id == NRI_MUX_PLUGIN_ID);
    return ids && limits->max_in_flight > 0 && limits->max_pending_calls > 0 &&
           (config->serve == NULL || config->request != NULL);
}

int nri_rpc_new(struct nri_rpc **rpc, const struct nri_rpc_config *config)
{
    if (!config_is_valid(config)) {
        return NRI_E_INVALID;
    }
    uint64_t seed[2];
    int code = config->host->random(config->host->context, seed, sizeof seed);
    if (code != 0) {
        return code;
    }
    struct nri_rpc *r = nri_alloc_zero(config->alloc, sizeof *r);
    if (r == NULL) {
        return NRI_E_NOMEM;
    }
    r->config = *config;
    r->alloc = *config->alloc;
    r->config.alloc = &r->alloc;
    if (r->config.limits.max_send > NRI_RPC_LARGEST_SEND) {
        r->config.limits.max_send = NRI_RPC_LARGEST_SEND;
    }
    if (r->config.log == NULL) {
        nri_log_init(&r->silent, NULL, NULL, NRI_LOG_DEFAULT);
        r->config.log = &r->silent;
    }
    nri_wire_reader_init(&r->reader);
    nri_buf_init(&r->out, &r->alloc, config->limits.max_output_bytes);
    code = nri_rpc_client_init(r);
    if (code == 0) {
        code = nri_rpc_pool_new(&r->pool, &r->alloc, config->limits.max_receive, seed);
    }
    if (code != 0) {
        nri_rpc_free(r);
        return code;
    }
    *rpc = r;
    return 0;
}

void nri_rpc_close(struct nri_rpc *rpc, int code, const char *text)
{
    if (rpc->closed) {
        return;
    }
    rpc->closed = true;
    nri_buf_fini(&rpc->out);
    nri_rpc_server_close(rpc);
    nri_rpc_client_close(rpc, code, text);
    if (rpc->pool != NULL) {
        nri_rpc_pool_close(rpc->pool);
        rpc->pool = NULL;
    }
}

void nri_rpc_free(struct nri_rpc *rpc)
{
    if (rpc == NULL) {
        return;
    }
    nri_rpc_close(rpc, NRI_E_CLOSED, "the connection was closed");
    const struct nri_alloc alloc = rpc->alloc;
    nri_alloc_release(&alloc, rpc->client.pending);
    nri_alloc_release(&alloc, rpc);
}

int nri_rpc_fail(struct nri_rpc *rpc, int code, const char *text)
{
    if (rpc->failure.code == 0) {
        /* Not logged here: who is told the failure by nri_rpc_input() or nri_rpc_failure() tells it
         * once, when the connection has ended. */
        nri_error_set(&rpc->failure, code, "%s", text);
        nri_rpc_wake(rpc);
    }
    return code;
}

void nri_rpc_wake(struct nri_rpc *rpc)
{
    if (rpc->config.wake != NULL) {
        rpc->config.wake(rpc->config.user);
    }
}

/* ---- frames ---- */

void nri_rpc_inbound_drop(struct nri_rpc_inbound *inbound)
{
    struct nri_rpc_call *call = inbound->call;
    inbound->call = NULL;
    inbound->verdict = 0;
    inbound->counter = NULL;
    if (call != NULL) {
        nri_rpc_pool_put(call);
    }
}

void nri_rpc_inbound_refuse(struct nri_rpc_inbound *inbound, int verdict, uint64_t *counter,
                            const char *format, ...)
{
    va_list arguments;
    nri_rpc_inbound_drop(inbound);
    inbound->verdict = verdict;
    inbound->counter = counter;
    va_start(arguments, format);
    (void)vsnprintf(inbound->text, sizeof inbound->text, format, arguments);
    va_end(arguments);
}

void nri_rpc_inbound_store(struct nri_rpc *rpc, struct nri_rpc_inbound *inbound, int nomem)
{
    inbound->call = nri_rpc_pool_get(rpc->pool);
    if (inbound->call == NULL) {
        nri_rpc_inbound_refuse(inbound, nomem, NULL, "out of memory for a message");
    }
}

/* The buffer grows by doubling with what came, whatever the header promised. */
void nri_rpc_inbound_data(struct nri_rpc_inbound *inbound, const struct nri_wire_item *item,
                          int nomem)
{
    if (inbound->call != NULL &&
        nri_buf_append(&inbound->call->data, item->data, item->size) != 0) {
        nri_rpc_inbound_refuse(inbound, nomem, NULL, "out of memory for a message of %lu bytes",
                               (unsigned long)item->length);
    }
}

static void take_item(struct nri_rpc *rpc, const struct nri_wire_item *item)
{
    const bool serve = item->id == rpc->config.serve_id;
    switch (item->kind) {
    case NRI_WIRE_HEADER:
        (serve ? nri_rpc_server_header : nri_rpc_client_header)(rpc, item);
        break;
    case NRI_WIRE_DATA:
        if (serve) {
            nri_rpc_inbound_data(&rpc->server.inbound, item, NRI_GRPC_RESOURCE_EXHAUSTED);
        } else {
            nri_rpc_inbound_data(&rpc->client.inbound, item, NRI_E_NOMEM);
        }
        break;
    case NRI_WIRE_END:
        (serve ? nri_rpc_server_end : nri_rpc_client_end)(rpc, item);
        break;
    case NRI_WIRE_MORE:
        break;
    }
}

int nri_rpc_input(struct nri_rpc *rpc, const uint8_t *bytes, size_t count, uint64_t now,
                  struct nri_error *error)
{
    if (rpc->closed) {
        return nri_error_set(error, NRI_E_CLOSED, "the connection was closed");
    }
    struct nri_wire_item item = {.kind = NRI_WIRE_HEADER};
    rpc->now = now;
    rpc->stats.bytes_in += count;
    while (item.kind != NRI_WIRE_MORE && !nri_rpc_is_over(rpc)) {
        const int code = nri_wire_read(&rpc->reader, &bytes, &count, &item, &rpc->scratch);
        if (code != 0) {
            nri_rpc_fail(rpc, code, rpc->scratch.text);
            break;
        }
        take_item(rpc, &item);
    }
    /* Closed by a callback of this input: its owner knows, and that is no error. */
    return rpc->closed ? 0 : nri_rpc_failure(rpc, error);
}

void nri_rpc_output(struct nri_rpc *rpc, const uint8_t **bytes, size_t *count)
{
    *count = nri_buf_size(&rpc->out);
    *bytes = *count == 0 ? NULL : rpc->out.data + rpc->out.start;
}

void nri_rpc_written(struct nri_rpc *rpc, size_t count)
{
    nri_buf_consume(&rpc->out, count);
    rpc->stats.bytes_out += count;
    if (nri_buf_size(&rpc->out) == 0) {
        nri_buf_reset(&rpc->out, NRI_RPC_OUTPUT_KEPT);
    }
}

int nri_rpc_failure(const struct nri_rpc *rpc, struct nri_error *error)
{
    if (rpc->failure.code == 0) {
        return 0;
    }
    return nri_error_set(error, rpc->failure.code, "%s", rpc->failure.text);
}

bool nri_rpc_in_message(const struct nri_rpc *rpc)
{
    return !nri_wire_reader_at_boundary(&rpc->reader);
}

const struct nri_rpc_stats *nri_rpc_get_stats(const struct nri_rpc *rpc)
{
    return &rpc->stats;
}
