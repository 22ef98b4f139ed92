/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection that is fed arbitrary bytes: memory and output stay within the limits, each call
 * completes once, what comes out is whole responses that a Go peer can read, and it is the same
 * whatever the cut.
 *
 * Input: one byte that chooses the cut and what the handler does, then the bytes of the peer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "go_reader.h"
#include "proto/nri.pb-c.h"
#include "rpc/rpc.h"
#include "wire/reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (!holds) {
        (void)fprintf(stderr, "does not hold: %s\n", what);
        abort();
    }
}
#define CHECK(condition) check((condition), #condition)

enum { CALLS = 4, IN_FLIGHT = 3 };

/* What all calls, the queue, the pool and the buffers may come to together with the limits below.
 */
#define MOST_MEMORY ((size_t)2 << 20)
#define MOST_OUTPUT ((size_t)64 << 10)

struct world {
    size_t live, peak;
    struct nri_rpc *rpc;
    unsigned behaviour;
    struct nri_rpc_call *held[IN_FLIGHT + 64];
    size_t held_count;
    unsigned done[CALLS];
};

/* ---- memory that is counted ---- */

union header {
    size_t size;
    max_align_t align;
};

static void *take(size_t bytes, void *user)
{
    struct world *world = user;
    union header *block = malloc(sizeof *block + bytes);
    CHECK(block != NULL);
    block->size = bytes;
    world->live += bytes;
    world->peak = world->live > world->peak ? world->live : world->peak;
    return block + 1;
}

static void give(void *block, void *user)
{
    struct world *world = user;
    if (block != NULL) {
        union header *header = (union header *)block - 1;
        world->live -= header->size;
        free(header);
    }
}

static void *resize(void *block, size_t bytes, void *user)
{
    void *copy = take(bytes, user);
    if (block != NULL) {
        const size_t old = ((union header *)block - 1)->size;
        memcpy(copy, block, old < bytes ? old : bytes);
    }
    give(block, user);
    return copy;
}

static int same_random(void *context, void *bytes, size_t count)
{
    (void)context;
    memset(bytes, 0x5a, count);
    return 0;
}

/* ---- the plugin ---- */

/* Replies, refuses, releases or holds, by the call's stream. */
static void on_request(void *user, struct nri_rpc_call *call)
{
    struct world *world = user;
    CHECK(nri_rpc_in_flight(world->rpc) <= IN_FLIGHT);
    CHECK(nri_rpc_call_message(call) != NULL && nri_rpc_call_timeout(call) >= 0);
    const struct nri_rpc_metadata *metadata = nri_rpc_call_get_metadata(call);
    for (size_t i = 0; i < metadata->count; i++) {
        CHECK(metadata->keys[i] != NULL && metadata->values[i] != NULL);
    }
    switch ((nri_rpc_call_stream(call) / 2 + world->behaviour) % 4) {
    case 0:
        if (world->held_count < sizeof world->held / sizeof world->held[0]) {
            world->held[world->held_count++] = call;
            return;
        }
        break;
    case 1:
        (void)nri_rpc_call_refuse(call, 9, "no");
        break;
    case 2: {
        const ProtobufCServiceDescriptor *service = &nri__pkg__api__v1alpha1__plugin__descriptor;
        _Alignas(max_align_t) uint8_t room[1024];
        const ProtobufCMessageDescriptor *output =
            service->methods[nri_rpc_call_method(call)].output;
        CHECK(output->sizeof_message <= sizeof room);
        output->message_init((ProtobufCMessage *)(void *)&room);
        (void)nri_rpc_call_reply(call, (const ProtobufCMessage *)(const void *)room, NULL);
        break;
    }
    default: /* released without an answer */
        break;
    }
    nri_rpc_call_release(call);
}

static void on_done(void *user, const struct nri_rpc_result *result)
{
    unsigned *done = user;
    CHECK(result->text != NULL);
    CHECK((result->message != NULL) == (result->code == 0));
    ++*done;
}

static void start(struct world *world, struct nri_host *host, struct nri_alloc *alloc)
{
    Nri__Pkg__Api__V1alpha1__UpdateContainersRequest request;
    nri__pkg__api__v1alpha1__update_containers_request__init(&request);
    *alloc = (struct nri_alloc){world, take, resize, give};
    *host = (struct nri_host){.random = same_random};
    const struct nri_rpc_config config = {
        .serve_id = NRI_MUX_PLUGIN_ID,
        .call_id = NRI_MUX_RUNTIME_ID,
        .serve = &nri__pkg__api__v1alpha1__plugin__descriptor,
        .call = &nri__pkg__api__v1alpha1__runtime__descriptor,
        .limits = {.max_receive = 8192,
                   .max_send = 4096,
                   .arena_base = 16384,
                   .arena_factor = 8,
                   .max_in_flight = IN_FLIGHT,
                   .max_request_bytes = 65536,
                   .max_queued_bytes = 32768,
                   .max_output_bytes = MOST_OUTPUT,
                   .max_pending_calls = CALLS,
                   .max_metadata = 8},
        .alloc = alloc,
        .host = host,
        .request = on_request,
        .user = world,
    };
    CHECK(nri_rpc_new(&world->rpc, &config) == 0);
    for (size_t i = 0; i < CALLS; i++) {
        CHECK(nri_rpc_invoke(world->rpc, 1, &request.base, 1, i * 100, NULL, 0, on_done,
                             &world->done[i], NULL) == 0);
    }
}

static int feed(struct world *world, const uint8_t *data, size_t size, size_t cut)
{
    int code = 0;
    while (code == 0 && size > 0) {
        const size_t count = size < cut ? size : cut;
        code = nri_rpc_input(world->rpc, data, count, 2, NULL);
        CHECK(world->live <= MOST_MEMORY);
        data += count;
        size -= count;
    }
    return code;
}

/* Nothing that a Go peer would drop the connection for, nor wait in. */
static void check_go_reads(const uint8_t *bytes, size_t count)
{
    struct go_reader reader;
    go_reader_init(&reader);
    (void)go_reader_feed(&reader, bytes, count);
    check(go_reader_error(&reader)[0] == '\0', go_reader_error(&reader));
    CHECK(go_reader_idle(&reader));
    go_reader_fini(&reader);
}

/* Whole frames: requests of ours on connection 2, then responses on 1. */
static void check_output(const uint8_t *bytes, size_t count)
{
    struct nri_wire_reader reader;
    struct nri_wire_item item = {.kind = NRI_WIRE_HEADER};
    CHECK(count <= MOST_OUTPUT);
    nri_wire_reader_init(&reader);
    while (item.kind != NRI_WIRE_MORE) {
        CHECK(nri_wire_read(&reader, &bytes, &count, &item, NULL) == 0);
        if (item.kind == NRI_WIRE_HEADER) {
            CHECK(item.flags == 0);
            CHECK(item.id == 1 ? item.type == NRI_TTRPC_RESPONSE : item.type == NRI_TTRPC_REQUEST);
        }
    }
    CHECK(nri_wire_reader_at_boundary(&reader));
}

/* One life of a connection; returns what it sent, to be freed. */
static uint8_t *live(unsigned behaviour, size_t cut, const uint8_t *data, size_t size, size_t *sent)
{
    struct world world = {.behaviour = behaviour};
    struct nri_alloc alloc;
    struct nri_host host;
    const uint8_t *bytes;
    start(&world, &host, &alloc);
    const int code = feed(&world, data, size, cut);
    CHECK(code == 0 || code == nri_rpc_failure(world.rpc, NULL));
    nri_rpc_tick(world.rpc, 250);
    for (size_t i = 0; i < world.held_count;
         i += 2) { /* every other one while there is a connection */
        nri_rpc_call_release(world.held[i]);
    }
    nri_rpc_output(world.rpc, &bytes, sent);
    check_go_reads(bytes, *sent);
    check_output(bytes, *sent);
    uint8_t *copy = malloc(*sent + 1);
    CHECK(copy != NULL);
    if (*sent > 0) {
        memcpy(copy, bytes, *sent);
    }
    nri_rpc_close(world.rpc, NRI_E_CLOSED, "the end");
    nri_rpc_free(world.rpc);
    for (size_t i = 1; i < world.held_count; i += 2) { /* and the rest after it */
        nri_rpc_call_release(world.held[i]);
    }
    for (size_t i = 0; i < CALLS; i++) {
        CHECK(world.done[i] == 1);
    }
    CHECK(world.live == 0);
    CHECK(world.peak <= MOST_MEMORY);
    return copy;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t cuts[] = {1, 2, 3, 7, 17, 143, 4096, 4097};
    size_t whole_sent, cut_sent;
    if (size == 0) {
        return 0;
    }
    const unsigned behaviour = data[0] >> 3;
    uint8_t *whole = live(behaviour, SIZE_MAX, data + 1, size - 1, &whole_sent);
    uint8_t *cut = live(behaviour, cuts[data[0] & 7], data + 1, size - 1, &cut_sent);
    CHECK(whole_sent == cut_sent);
    CHECK(memcmp(whole, cut, cut_sent) == 0);
    free(whole);
    free(cut);
    return 0;
}
