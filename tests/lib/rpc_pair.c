/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/nri.pb-c.h"
#include "rpc_raw.h"
#include "wire/message.h"
#include "wire/reader.h"

static void broken(const char *why)
{
    (void)fprintf(stderr, "rpc_pair: %s\n", why);
    abort();
}

/* ---- a link ---- */

void rpc_link_init(struct rpc_link *link, struct rpc_end a, struct rpc_end b)
{
    *link = (struct rpc_link){.now = 1};
    link->side[0].end = a;
    link->side[1].end = b;
    for (size_t i = 0; i < 2; i++) {
        raw_init(&link->side[i].pipe);
        go_reader_init(&link->side[i].go);
    }
}

void rpc_link_fini(struct rpc_link *link)
{
    for (size_t i = 0; i < 2; i++) {
        nri_buf_fini(&link->side[i].pipe);
        go_reader_fini(&link->side[i].go);
    }
}

static size_t write_some(struct rpc_link *link, struct rpc_side *side)
{
    const uint8_t *bytes;
    size_t count;
    side->end.output(side->end.context, &bytes, &count);
    if (link->capacity != 0 && count > link->capacity - nri_buf_size(&side->pipe)) {
        count = link->capacity - nri_buf_size(&side->pipe);
    }
    if (count == 0) {
        return 0;
    }
    if (nri_buf_append(&side->pipe, bytes, count) != 0) {
        broken("out of memory");
    }
    if (go_reader_feed(&side->go, bytes, count) != 0) {
        broken(go_reader_error(&side->go));
    }
    if (side->go.shared != 0) {
        broken("one frame with bytes of two messages");
    }
    go_reader_forget(&side->go);
    side->sent += count;
    side->end.written(side->end.context, count);
    return count;
}

static bool may_read(const struct rpc_side *side)
{
    const uint8_t *bytes;
    size_t count = 0;
    if (side->writes_first) {
        side->end.output(side->end.context, &bytes, &count);
    }
    return side->code == 0 && count == 0;
}

static size_t read_some(struct rpc_link *link, struct rpc_side *side, struct rpc_side *from)
{
    size_t count = nri_buf_size(&from->pipe);
    if (link->cut != 0 && count > link->cut) {
        count = link->cut;
    }
    if (count == 0 || !may_read(side)) {
        return 0;
    }
    /* On the heap in its very size, so that reading past the end is seen. */
    uint8_t *bytes = malloc(count);
    if (bytes == NULL) {
        broken("out of memory");
    }
    memcpy(bytes, from->pipe.data + from->pipe.start, count);
    nri_buf_consume(&from->pipe, count);
    side->code = side->end.input(side->end.context, bytes, count, link->now);
    free(bytes);
    return count;
}

uint64_t rpc_link_run(struct rpc_link *link)
{
    uint64_t read = 0;
    size_t moved;
    do {
        moved = 0;
        for (size_t i = 0; i < 2; i++) {
            moved += write_some(link, &link->side[i]);
            const size_t count = read_some(link, &link->side[i], &link->side[1 - i]);
            moved += count;
            read += count;
        }
    } while (moved > 0);
    return read;
}

/* ---- a peer ---- */

static uint64_t host_now(void *context)
{
    (void)context;
    return 0;
}

/* xorshift64: the same in each run. */
static int host_random(void *context, void *bytes, size_t count)
{
    struct rpc_peer *peer = context;
    uint8_t *to = bytes;
    for (size_t i = 0; i < count; i++) {
        peer->random ^= peer->random << 13;
        peer->random ^= peer->random >> 7;
        peer->random ^= peer->random << 17;
        to[i] = (uint8_t)peer->random;
    }
    return 0;
}

static void on_log(void *user, const nri_log_record *record)
{
    struct rpc_peer *peer = user;
    (void)snprintf(peer->log_text, sizeof peer->log_text, "%s", nri_log_record_text(record));
    peer->log_count++;
}

static void on_wake(void *user)
{
    struct rpc_peer *peer = user;
    peer->wakes++;
}

static void on_request(void *user, struct nri_rpc_call *call)
{
    struct rpc_peer *peer = user;
    if (peer->request != NULL) {
        peer->request(peer, call);
        return;
    }
    if (peer->held_count == peer->held_room) {
        peer->held_room = peer->held_room == 0 ? 64 : peer->held_room * 2;
        peer->held = realloc(peer->held, peer->held_room * sizeof *peer->held);
        if (peer->held == NULL) {
            broken("out of memory");
        }
    }
    peer->held[peer->held_count++] = call;
}

int rpc_peer_init(struct rpc_peer *peer, uint32_t serve_id, const ProtobufCServiceDescriptor *serve,
                  uint32_t call_id, const ProtobufCServiceDescriptor *call,
                  const struct nri_rpc_limits *limits, const struct nri_alloc *alloc)
{
    *peer = (struct rpc_peer){.random = UINT64_C(0x9e3779b97f4a7c15)};
    peer->host = (struct nri_host){.context = peer, .now = host_now, .random = host_random};
    nri_log_init(&peer->log, on_log, peer, NRI_LOG_DEBUG);
    if (alloc != NULL) {
        peer->alloc = *alloc;
    } else if (nri_alloc_resolve(&peer->alloc, NULL) != 0) {
        broken("no allocator");
    }
    struct nri_rpc_config config = {
        .serve_id = serve_id,
        .call_id = call_id,
        .serve = serve,
        .call = call,
        .alloc = &peer->alloc,
        .host = &peer->host,
        .log = &peer->log,
        .request = on_request,
        .wake = on_wake,
        .user = peer,
    };
    nri_rpc_limits_default(&config.limits);
    if (limits != NULL) {
        config.limits = *limits;
    }
    return nri_rpc_new(&peer->rpc, &config);
}

int rpc_peer_init_runtime(struct rpc_peer *peer, const struct nri_rpc_limits *limits,
                          const struct nri_alloc *alloc)
{
    return rpc_peer_init(peer, NRI_MUX_RUNTIME_ID, &nri__pkg__api__v1alpha1__runtime__descriptor,
                         NRI_MUX_PLUGIN_ID, &nri__pkg__api__v1alpha1__plugin__descriptor, limits,
                         alloc);
}

int rpc_peer_init_plugin(struct rpc_peer *peer, const struct nri_rpc_limits *limits,
                         const struct nri_alloc *alloc)
{
    return rpc_peer_init(peer, NRI_MUX_PLUGIN_ID, &nri__pkg__api__v1alpha1__plugin__descriptor,
                         NRI_MUX_RUNTIME_ID, &nri__pkg__api__v1alpha1__runtime__descriptor, limits,
                         alloc);
}

void rpc_peer_fini(struct rpc_peer *peer)
{
    struct nri_rpc_call *call;
    if (peer->rpc != NULL) {
        nri_rpc_close(peer->rpc, NRI_E_CLOSED, "the test is over");
    }
    while ((call = rpc_peer_take(peer)) != NULL) {
        nri_rpc_call_release(call);
    }
    nri_rpc_free(peer->rpc);
    free(peer->held);
    peer->rpc = NULL;
    peer->held = NULL;
}

struct nri_rpc_call *rpc_peer_take(struct rpc_peer *peer)
{
    if (peer->held_count == 0) {
        return NULL;
    }
    struct nri_rpc_call *call = peer->held[0];
    peer->held_count--;
    memmove(peer->held, peer->held + 1, peer->held_count * sizeof *peer->held);
    return call;
}

static int end_input(void *context, const uint8_t *bytes, size_t count, uint64_t now)
{
    struct rpc_peer *peer = context;
    return nri_rpc_input(peer->rpc, bytes, count, now, &peer->error);
}

static void end_output(void *context, const uint8_t **bytes, size_t *count)
{
    const struct rpc_peer *peer = context;
    nri_rpc_output(peer->rpc, bytes, count);
}

static void end_written(void *context, size_t count)
{
    const struct rpc_peer *peer = context;
    nri_rpc_written(peer->rpc, count);
}

struct rpc_end rpc_peer_end(struct rpc_peer *peer)
{
    return (struct rpc_end){peer, end_input, end_output, end_written};
}

/* ---- results ---- */

void rpc_outcome_done(void *outcome, const struct nri_rpc_result *result)
{
    struct rpc_outcome *o = outcome;
    o->count++;
    o->code = result->code;
    o->grpc = result->grpc;
    (void)snprintf(o->text, sizeof o->text, "%s", result->text);
    if (result->message != NULL && o->arena != NULL) {
        o->message = nri_message_copy(result->message, o->arena);
    }
}
