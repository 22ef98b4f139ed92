/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime's core that is fed two plugins' arbitrary bytes, while events are called and the
 * embedder fails, holds, drops, calls and stops: memory stays within the limits, each event gets
 * one outcome that can be written, each update one answer, each text is text, and nothing is left.
 *
 * Input: a byte that chooses the cut, whether each handshake is played before, and whether the
 * second plugin gets the second half; a byte that seeds what the embedder does; the plugins' bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nri/nri.h>

#include "base/text.h"
#include "runtime/core.h"
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

enum { PLUGINS = 2, NAMES = 4, MOST_EVENTS = 24, HELD = 16 };

/* What all events, replies, updates and buffers may come to with the limits of make_runtime(). */
#define MOST_MEMORY ((size_t)8 << 20)
#define MOST_OUTPUT ((size_t)64 << 10)

struct world {
    size_t live; /* bytes */
    uint64_t now;
    uint32_t script; /* what the embedder does next */
    struct nri_rt *rt;
    nri_runtime_plugin *plugins[PLUGINS]; /* NULL: gone */
    struct nri_wire_reader sent[PLUGINS];
    nri_pod *pods[NAMES];
    nri_container *containers[NAMES];
    unsigned called, done, connected, lost;
    nri_runtime_update *held[HELD];
    size_t held_count;
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

static void check_text(const char *text)
{
    CHECK(text != NULL && nri_utf8_valid(text, strlen(text), NULL));
}

static void on_log(void *user, const nri_log_record *record)
{
    (void)user;
    check_text(nri_log_record_text(record));
    CHECK(strchr(nri_log_record_text(record), '\n') == NULL);
}

/* ---- the embedder ---- */

static unsigned next_action(struct world *world)
{
    world->script = world->script * UINT32_C(1664525) + UINT32_C(1013904223);
    return world->script >> 27; /* 0 to 31 */
}

static void on_done(nri_runtime *runtime, nri_outcome *outcome, void *user);

static void call(struct world *world)
{
    static const uint8_t events[] = {NRI_EVENT_CREATE_CONTAINER, NRI_EVENT_UPDATE_CONTAINER,
                                     NRI_EVENT_STOP_CONTAINER,   NRI_EVENT_CREATE_CONTAINER,
                                     NRI_EVENT_RUN_POD_SANDBOX,  NRI_EVENT_POST_CREATE_CONTAINER};
    const unsigned action = next_action(world), name = action % NAMES;
    struct nri_runtime_event event;
    nri_runtime_event_init(&event, sizeof event);
    event.event = events[world->called % sizeof events];
    event.pod = world->pods[name];
    event.container = event.event == NRI_EVENT_RUN_POD_SANDBOX ? NULL : world->containers[name];
    if (world->called < MOST_EVENTS &&
        nri_rt_call(world->rt, &event, on_done, world, world->now, NULL) == 0)
        world->called++;
}

/* What an embedder may do in any of its callbacks. */
static void act(struct world *world)
{
    switch (next_action(world)) {
    case 0:
        if (world->plugins[0] != NULL)
            nri_rt_drop(world->plugins[0], 0, "dropped");
        break;
    case 1:
        nri_rt_shutdown(world->rt, 100, world->now);
        break;
    case 2:
        nri_rt_hold_sync(world->rt, false, world->now);
        break;
    case 3:
        (void)nri_rt_release_sync(world->rt, false);
        break;
    case 4:
    case 5:
    case 6:
    case 7:
        call(world);
        break;
    default:
        break;
    }
}

static void on_done(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct world *world = user;
    char *text;
    (void)runtime;
    world->done++;
    check_text(nri_outcome_text(outcome));
    check_text(nri_outcome_plugin(outcome));
    CHECK(nri_outcome_json(outcome, NULL, &text, NULL) == 0);
    nri_outcome_text_free(text);
    CHECK(nri_outcome_table(outcome, NULL, &text, NULL) == 0);
    check_text(text);
    nri_outcome_text_free(text);
    act(world);
}

static int on_enumerate(nri_runtime *runtime, nri_enumeration *list, void *user)
{
    const struct world *world = user;
    (void)runtime;
    for (size_t i = 0; i < NAMES; i++) {
        CHECK(nri_enumeration_add_pod(list, world->pods[i]) == 0);
        CHECK(nri_enumeration_add_container(list, world->containers[i]) == 0);
    }
    return 0;
}

static int on_update(nri_runtime *runtime, nri_runtime_update *update, void *user)
{
    struct world *world = user;
    const nri_updates *list = nri_runtime_update_list(update);
    (void)runtime;
    act(world);
    for (size_t i = 0; i < nri_updates_count(list); i++) {
        const char *id = nri_update_container_id(nri_updates_at(list, i));
        if (next_action(world) < 16)
            CHECK(nri_runtime_update_fail(update, id) == 0);
    }
    const unsigned action = next_action(world);
    if (action < 16 && world->held_count < HELD) {
        world->held[world->held_count++] = update;
        return NRI_PENDING;
    }
    return action % 4 == 0 ? NRI_E_REJECTED : 0;
}

static void on_evict(nri_runtime *runtime, nri_runtime_plugin *plugin, const char *container_id,
                     const char *reason, void *user)
{
    (void)runtime;
    check_text(nri_runtime_plugin_id(plugin));
    check_text(container_id);
    check_text(reason);
    act(user);
}

static void on_connected(nri_runtime *runtime, nri_runtime_plugin *plugin, void *user)
{
    struct world *world = user;
    (void)runtime;
    check_text(nri_runtime_plugin_name(plugin));
    check_text(nri_runtime_plugin_nri_version(plugin));
    world->connected++;
    act(world);
}

static void on_lost(nri_runtime *runtime, nri_runtime_plugin *plugin, int code, const char *text,
                    void *user)
{
    struct world *world = user;
    (void)runtime;
    (void)code;
    check_text(nri_runtime_plugin_id(plugin));
    check_text(text);
    world->lost++;
    act(world);
}

static void make_runtime(struct world *world, const struct nri_alloc *alloc,
                         const struct nri_host *host, struct nri_log *log,
                         const struct nri_default_validator *validator)
{
    struct nri_error error;
    struct nri_rt_config config = {
        .name = "fuzz",
        .version = "1",
        .nri_version = "0.12.0",
        .user = world,
        .runtime = (nri_runtime *)(void *)world, /* handed on, never looked at */
        .alloc = *alloc,
        .host = host,
        .log = log,
        .limits = {.max_receive = 8192,
                   .max_send = 16384,
                   .arena_base = 16384,
                   .arena_factor = 8,
                   .max_in_flight = 3,
                   .max_request_bytes = 65536,
                   .max_queued_bytes = 32768,
                   .max_output_bytes = MOST_OUTPUT,
                   .max_pending_calls = 4,
                   .max_metadata = 8},
        .registration_timeout = 1000,
        .request_timeout = 500,
        .max_outstanding = (world->script & 1) != 0 ? 3 : 1,
        .max_plugins = PLUGINS,
        .max_calls = MOST_EVENTS,
        .max_merge_bytes = (size_t)256 << 10,
        .max_sync_bytes = 65536,
        .go_compatible = (world->script & 2) != 0,
        .validator = validator,
    };
    nri_runtime_ops_init(&config.ops, sizeof config.ops);
    config.ops.enumerate = on_enumerate;
    config.ops.update = on_update;
    config.ops.evict = on_evict;
    config.ops.plugin_connected = on_connected;
    config.ops.plugin_lost = on_lost;
    nri_failure_policy_init(&config.failure, sizeof config.failure);
    if ((world->script & 4) != 0)
        CHECK(nri_failure_policy_preset(&config.failure, NRI_FAILURE_PRESET_PERMISSIVE) == 0);
    for (size_t i = 0; i < NRI_MERGE_FIELDS; i++)
        config.merge_policy[i] = (uint8_t)(world->script >> 3) % 3;
    CHECK(nri_rt_new(&world->rt, &config, &error) == 0);
}

/* ---- the plugins ---- */

/* RegisterPlugin as "10-x"; Configure answered with all events; Synchronize answered. */
static const uint8_t handshake[] =
    "\0\0\0\2\0\0\0\107\0\0\0\75\0\0\0\1\1\0"
    "\12\34nri.pkg.api.v1alpha1.Runtime\22\16RegisterPlugin\32\15\12\1x\22\00210\32\0040.12"
    "\0\0\0\1\0\0\0\17\0\0\0\5\0\0\0\1\2\0\22\3\20\377\177"
    "\0\0\0\1\0\0\0\12\0\0\0\0\0\0\0\3\2\0";

#define SYNCHRONIZED (sizeof handshake - 1 - 18) /* where the answer to Synchronize is */

static void pump(struct world *world)
{
    nri_rt_process(world->rt, world->now);
    for (size_t i = 0; i < PLUGINS; i++) {
        struct nri_wire_item item = {.kind = NRI_WIRE_HEADER};
        const uint8_t *bytes;
        size_t count;
        if (world->plugins[i] == NULL)
            continue;
        nri_rt_output(world->plugins[i], &bytes, &count);
        CHECK(count <= MOST_OUTPUT);
        const size_t written = count;
        while (item.kind != NRI_WIRE_MORE)
            CHECK(nri_wire_read(&world->sent[i], &bytes, &count, &item, NULL) == 0);
        CHECK(nri_wire_reader_at_boundary(&world->sent[i]));
        nri_rt_written(world->plugins[i], written);
        if (nri_rt_should_close(world->plugins[i])) {
            nri_runtime_plugin *plugin = world->plugins[i];
            world->plugins[i] = NULL;
            nri_rt_ended(plugin, 0, "closed", world->now);
        }
    }
}

static void feed(struct world *world, size_t which, const uint8_t *data, size_t size, size_t cut)
{
    while (size > 0 && world->plugins[which] != NULL) {
        const size_t count = size < cut ? size : cut;
        world->now++;
        nri_rt_input(world->plugins[which], data, count, world->now);
        pump(world);
        data += count;
        size -= count;
    }
}

static void complete_updates(struct world *world)
{
    while (world->held_count > 0)
        nri_runtime_update_complete(world->held[--world->held_count],
                                    next_action(world) < 8 ? NRI_E_REJECTED : 0, NULL);
}

static void connect_plugins(struct world *world, bool played)
{
    for (size_t i = 0; i < PLUGINS; i++) {
        const struct nri_rt_origin origin = {.kind = NRI_ORIGIN_EXTERNAL, .peer = "a fuzzer"};
        nri_wire_reader_init(&world->sent[i]);
        CHECK(nri_rt_attach(world->rt, &origin, world->now, &world->plugins[i], NULL) == 0);
        if (played) {
            feed(world, i, handshake, SYNCHRONIZED, SIZE_MAX);
            feed(world, i, handshake + SYNCHRONIZED, sizeof handshake - 1 - SYNCHRONIZED, SIZE_MAX);
        }
        CHECK(!played || world->connected > 0); /* the second may be held up */
    }
}

static void make_objects(struct world *world)
{
    static const char *const ids[NAMES] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < NAMES; i++) {
        CHECK(nri_pod_new(&world->pods[i], NULL) == 0);
        CHECK(nri_pod_set_id(world->pods[i], ids[i]) == 0);
        CHECK(nri_container_new(&world->containers[i], NULL) == 0);
        CHECK(nri_container_set_id(world->containers[i], ids[i]) == 0);
        CHECK(nri_container_set_pod_sandbox_id(world->containers[i], ids[i]) == 0);
    }
}

/* Time passes until all that waits has been given up; then the plugins go. */
static void end(struct world *world)
{
    for (size_t i = 0; i < 2 * MOST_EVENTS && world->done < world->called; i++) {
        world->now += 500;
        nri_rt_tick(world->rt, world->now);
        pump(world);
    }
    nri_rt_shutdown(world->rt, 0, world->now);
    nri_rt_tick(world->rt, world->now);
    pump(world);
    for (size_t i = 0; i < PLUGINS; i++) {
        if (world->plugins[i] != NULL)
            nri_rt_ended(world->plugins[i], NRI_E_CLOSED, "the end", world->now);
        world->plugins[i] = NULL;
    }
    nri_rt_process(world->rt, world->now);
    CHECK(world->done == world->called && world->lost == world->connected);
    CHECK(nri_rt_plugin_count(world->rt) == 0);
    if (next_action(world) < 16)
        complete_updates(world);
    nri_rt_free(world->rt);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const size_t cuts[] = {1, 3, 143, SIZE_MAX};
    if (size < 2)
        return 0;
    struct world world = {.now = 1, .script = data[1]};
    const struct nri_alloc alloc = {&world, take, resize, give};
    const struct nri_host host = {.context = &world, .now = clock_now, .random = same_random};
    struct nri_default_validator *validator;
    struct nri_log log;
    const size_t cut = cuts[data[0] & 3];
    const size_t first = (data[0] & 8) != 0 ? (size - 2) / 2 : size - 2;
    nri_log_init(&log, on_log, NULL, NRI_LOG_DEBUG);
    CHECK(nri_default_validator_new(&validator, NULL, NULL, NULL) == 0);
    make_objects(&world);
    make_runtime(&world, &alloc, &host, &log, validator);
    connect_plugins(&world, (data[0] & 4) == 0);
    for (size_t i = 0; i < 3; i++)
        call(&world);
    pump(&world);
    feed(&world, 0, data + 2, first, cut);
    complete_updates(&world);
    call(&world);
    pump(&world);
    feed(&world, 1, data + 2 + first, size - 2 - first, cut);
    end(&world);
    CHECK(world.live == 0);
    for (size_t i = 0; i < NAMES; i++) {
        world.pods[i] = nri_pod_free(world.pods[i]);
        world.containers[i] = nri_container_free(world.containers[i]);
    }
    validator = nri_default_validator_free(validator);
    return 0;
}
