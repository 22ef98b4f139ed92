/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin's core that is fed a runtime's arbitrary bytes, with handlers that build, refuse, hold,
 * complete, drop and call: memory stays within the limits, each request gets one reply, each call
 * one callback, each connection one on_disconnected, and nothing is left at the end.
 *
 * Input: a byte that chooses the cut, whether the registration is played before, and whether the
 * bytes are spread over two connections; a byte that seeds what the handlers do; the peer's bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nri/nri.h>

#include "plugin/core.h"
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

enum { IN_FLIGHT = 3, HELD = 64 };

/* What all requests, the queue, the pool and the buffers may come to together with the limits of
 * make_core(). */
#define MOST_MEMORY ((size_t)2 << 20)
#define MOST_OUTPUT ((size_t)64 << 10)

struct world {
    size_t live; /* bytes */
    uint64_t now;
    uint32_t script; /* what the handlers do next */
    bool stopped;    /* a handler wanted the end */
    struct nri_core *core;
    nri_request *held[HELD];
    size_t held_count;
    unsigned connected, disconnected, calls, callbacks;
    struct nri_wire_reader sent, came; /* by the core; by the peer */
    size_t replies, due;               /* of this connection */
};

/* ---- surroundings ---- */

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
    CHECK(world->live <= MOST_MEMORY);
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

static uint64_t clock_now(void *context)
{
    return ((const struct world *)context)->now;
}

static int same_random(void *context, void *bytes, size_t count)
{
    (void)context;
    memset(bytes, 0x5a, count);
    return 0;
}

static bool wanted(void *user)
{
    return !((const struct world *)user)->stopped;
}

/* A log that reads all there is. */
static void on_log(void *user, const nri_log_record *record)
{
    const char *texts[] = {nri_log_record_text(record), nri_log_record_event(record),
                           nri_log_record_pod(record), nri_log_record_container(record)};
    (void)user;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CHECK(strlen(texts[i]) < SIZE_MAX);
    }
    CHECK(strchr(texts[0], '\n') == NULL);
}

/* ---- the plugin ---- */

static unsigned next_action(struct world *world)
{
    world->script = world->script * UINT32_C(1664525) + UINT32_C(1013904223);
    return world->script >> 27; /* 0 to 31 */
}

static void on_updated(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct world *world = user;
    (void)plugin;
    world->callbacks++;
    CHECK(nri_update_result_text(result) != NULL);
}

static void call_runtime(struct world *world)
{
    struct nri_error error;
    nri_updates *updates;
    CHECK(nri_updates_new(&updates, NULL) == 0);
    CHECK(nri_updates_evict(updates, "some container", "fuzzing") == 0);
    if (nri_core_update_containers(world->core, updates, world->script % 3, NULL, 0, on_updated,
                                   world, world->now, &error) == 0) {
        world->calls++;
    }
    updates = nri_updates_free(updates);
}

static void build(nri_request *request)
{
    static const char *const options[] = {"ro", "rbind"};
    nri_adjustment *adjustment = nri_request_adjustment(request);
    nri_updates *updates = nri_request_updates(request);
    const char *name = nri_container_name(nri_request_container(request));
    (void)nri_adjustment_add_env(adjustment, "NAME", name);
    (void)nri_adjustment_add_annotation(adjustment, nri_pod_id(nri_request_pod(request)), name);
    (void)nri_adjustment_add_mount(adjustment, "/a", "bind", "/b", options, 2);
    (void)nri_updates_container(updates, nri_container_id(nri_request_container(request)));
    (void)nri_request_set_events(request, NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER));
}

static void read_all(const nri_request *request)
{
    const char *key, *value;
    for (size_t i = nri_request_pod_count(request); i > 0; i--) {
        CHECK(nri_pod_id(nri_request_pod_at(request, i - 1)) != NULL);
    }
    for (size_t i = 0; i < nri_request_container_count(request); i++) {
        CHECK(nri_container_id(nri_request_container_at(request, i)) != NULL);
    }
    for (size_t i = 0; nri_request_metadata_at(request, i, &key, &value); i++) {
        CHECK(nri_text_length(key) + nri_text_length(value) < SIZE_MAX);
    }
    (void)nri_request_owner(request, "c", 1, &value);
    (void)nri_request_key_owner(request, "c", 1, "k", &value);
    CHECK(nri_request_config(request) != NULL && nri_request_deadline(request) > 0);
}

/* Takes the request; completes or drops it now or later. */
static int hold(struct world *world, nri_request *request, unsigned action)
{
    if (action % 4 == 1) {
        CHECK(nri_request_complete(request, 0) == 0);
        CHECK(nri_request_complete(request, -1) == NRI_E_LATE);
    }
    if (action % 4 < 2 || world->held_count == HELD) {
        request = nri_request_unref(request);
    } else {
        world->held[world->held_count++] = request;
    }
    return NRI_PENDING;
}

static int on_event(nri_request *request, void *user)
{
    struct world *world = user;
    const unsigned action = next_action(world);
    read_all(request);
    switch (action / 4) {
    case 0:
    case 1:
        build(request);
        return 0;
    case 2:
        return nri_request_fail(request, NRI_E_REJECTED, "fuzzing \xff");
    case 3:
        return action % 2 == 0 ? -(int)action : (int)action;
    case 4:
        call_runtime(world);
        return 0;
    case 5:
        CHECK(nri_request_complete(request, 0) == 0);
        return -1; /* too late to count */
    case 6:
        world->stopped = action % 4 == 3 && next_action(world) == 0;
        return 0;
    default:
        return hold(world, request, action);
    }
}

static int on_connected(nri_request *request, void *user)
{
    struct world *world = user;
    (void)request;
    world->connected++;
    call_runtime(world);
    return 0;
}

static int on_disconnected(nri_request *request, void *user)
{
    struct world *world = user;
    CHECK(nri_request_reason_text(request)[0] != '\0');
    world->disconnected++;
    call_runtime(world);
    return 0;
}

static void set_handlers(struct nri_plugin_ops *ops, bool parts)
{
    nri_plugin_ops_init(ops, sizeof *ops);
    ops->on_configure = ops->on_shutdown = on_event;
    if (parts) {
        ops->on_synchronize_part = on_event;
    } else {
        ops->on_synchronize = on_event;
    }
    ops->on_run_pod_sandbox = ops->on_update_pod_sandbox = on_event;
    ops->on_post_update_pod_sandbox = ops->on_remove_pod_sandbox = on_event;
    ops->on_create_container = ops->on_update_container = ops->on_stop_container = on_event;
    ops->on_post_create_container = ops->on_start_container = on_event;
    ops->on_remove_container = ops->on_validate_adjustment = on_event;
    ops->on_connected = on_connected;
    ops->on_disconnected = on_disconnected;
}

static void make_core(struct world *world, const struct nri_alloc *alloc,
                      const struct nri_host *host, struct nri_log *log)
{
    struct nri_plugin_ops ops;
    struct nri_error error;
    set_handlers(&ops, (world->script & 1) != 0);
    const struct nri_core_config config = {
        .ops = &ops,
        .name = "fuzz",
        .index = "10",
        .peer = "the fuzzer",
        .user = world,
        .plugin = (nri_plugin *)(void *)world, /* handed on, never looked at */
        .alloc = *alloc,
        .host = host,
        .log = log,
        .limits = {.max_receive = 8192,
                   .max_send = 4096,
                   .arena_base = 16384,
                   .arena_factor = 8,
                   .max_in_flight = IN_FLIGHT,
                   .max_request_bytes = 65536,
                   .max_queued_bytes = 32768,
                   .max_output_bytes = MOST_OUTPUT,
                   .max_pending_calls = 4,
                   .max_metadata = 8},
        .registration_timeout = 1000,
        .max_sync_bytes = 65536,
        .max_sync_parts = 8,
        .max_queued_updates = 4,
        .allow_missing_validate = (world->script & 2) != 0,
        .strict_features = (world->script & 4) != 0,
        .wanted = wanted,
        .wanted_user = world,
    };
    CHECK(nri_core_new(&world->core, &config, &error) == 0);
}

/* ---- the peer ---- */

/* RegisterPlugin's success; Configure by a containerd that has NRI 0.12. */
static const uint8_t registration[] =
    "\0\0\0\2\0\0\0\12\0\0\0\0\0\0\0\1\2\0"
    "\0\0\0\1\0\0\0\126\0\0\0\114\0\0\0\1\1\0"
    "\12\33nri.pkg.api.v1alpha1.Plugin\22\11Configure"
    "\32\42\22\12containerd\32\0052.1.9 \210\047(\320\0172\007v0.12.2";

/* Counts the peer's messages that must be answered. */
static void count_due(struct world *world, const uint8_t *bytes, size_t count)
{
    struct nri_wire_item item = {.kind = NRI_WIRE_HEADER};
    while (item.kind != NRI_WIRE_MORE &&
           nri_wire_read(&world->came, &bytes, &count, &item, NULL) == 0) {
        world->due +=
            item.kind == NRI_WIRE_END && item.id == NRI_MUX_PLUGIN_ID &&
            item.type != NRI_TTRPC_RESPONSE &&
            (item.stream % 2 == 0 || item.type == NRI_TTRPC_REQUEST || item.type == NRI_TTRPC_DATA);
    }
}

/* Reads what the core has written; a whole response is a reply. */
static void read_output(struct world *world)
{
    struct nri_wire_item item = {.kind = NRI_WIRE_HEADER};
    const uint8_t *bytes;
    size_t count;
    nri_core_output(world->core, &bytes, &count);
    CHECK(count <= MOST_OUTPUT);
    const size_t written = count;
    while (item.kind != NRI_WIRE_MORE) {
        CHECK(nri_wire_read(&world->sent, &bytes, &count, &item, NULL) == 0);
        CHECK(item.kind == NRI_WIRE_MORE || item.flags == 0);
        if (item.kind == NRI_WIRE_END && item.id == NRI_MUX_PLUGIN_ID) {
            CHECK(item.type == NRI_TTRPC_RESPONSE);
            world->replies++;
        }
    }
    CHECK(nri_wire_reader_at_boundary(&world->sent));
    nri_core_written(world->core, written);
}

static void feed(struct world *world, const uint8_t *data, size_t size, size_t cut)
{
    while (size > 0 && !nri_core_should_close(world->core)) {
        const size_t count = size < cut ? size : cut;
        world->now++;
        count_due(world, data, count);
        nri_core_input(world->core, data, count, world->now);
        nri_core_tick(world->core, world->now);
        if (world->now % 2 == 0) {
            read_output(world);
        }
        data += count;
        size -= count;
    }
}

/* Answers what is held, until no request waits any more. */
static void complete_held(struct world *world)
{
    while (world->held_count > 0) {
        nri_request *request = world->held[--world->held_count];
        const int code = nri_request_complete(request, (int)(world->held_count % 3) - 2);
        CHECK(code == 0);
        request = nri_request_unref(request);
        nri_core_drain(world->core, world->now);
    }
    nri_core_drain(world->core, world->now); /* of what handlers completed meanwhile */
    nri_core_drain(world->core, world->now);
}

static void live(struct world *world, bool registered, const uint8_t *data, size_t size, size_t cut)
{
    struct nri_error error;
    world->stopped = false;
    world->replies = world->due = 0;
    nri_wire_reader_init(&world->sent);
    nri_wire_reader_init(&world->came);
    CHECK(nri_core_connected(world->core, world->now, &error) == 0);
    if (registered) {
        feed(world, registration, sizeof registration - 1, SIZE_MAX);
        CHECK(world->due == 1 && strcmp(nri_core_runtime_name(world->core), "containerd") == 0);
    }
    feed(world, data, size, cut);
    if (next_action(world) < 24) { /* else the connection goes with requests held */
        do {
            complete_held(world);
        } while (world->held_count > 0);
        nri_core_tick(world->core, world->now);
        read_output(world);
        CHECK(nri_core_should_close(world->core) || world->replies == world->due);
    }
    CHECK(world->replies <= world->due);
    nri_core_disconnected(world->core, next_action(world) < 16 ? 0 : NRI_E_CLOSED, NULL,
                          NRI_NO_ATTEMPT, world->now);
    CHECK(world->connected == world->disconnected && world->calls == world->callbacks);
    while (world->held_count > 0) {
        nri_request *request = world->held[--world->held_count];
        CHECK(nri_request_complete(request, 0) == NRI_E_CLOSED);
        request = nri_request_unref(request);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t cuts[] = {1, 2, 3, 17, 143, 4096, 4097, SIZE_MAX};
    if (size < 2) {
        return 0;
    }
    struct world world = {.now = 1, .script = data[1]};
    const struct nri_alloc alloc = {&world, take, resize, give};
    const struct nri_host host = {.context = &world, .now = clock_now, .random = same_random};
    struct nri_log log;
    const size_t cut = cuts[data[0] & 7];
    const bool registered = (data[0] & 8) == 0;
    const size_t first = (data[0] & 16) != 0 ? (size - 2) / 2 : size - 2;
    nri_log_init(&log, on_log, NULL, NRI_LOG_DEBUG);
    make_core(&world, &alloc, &host, &log);
    live(&world, registered, data + 2, first, cut);
    if (first < size - 2) {
        live(&world, registered, data + 2 + first, size - 2 - first, cut);
    }
    nri_core_free(world.core);
    CHECK(world.live == 0);
    return 0;
}
