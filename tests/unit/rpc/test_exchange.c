/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_exchange CAPTURE: a runtime and a plugin back to back, both with this room's code, both
 * calling.
 *
 * CAPTURE is a recorded session, runtime to plugin, with a CreateContainer in it.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

#define MIB ((size_t)1 << 20)

static const char *capture_path;

struct pair {
    struct rpc_peer runtime, plugin;
    struct rpc_link link;
};

static void pair_init(struct pair *pair, const struct nri_alloc *alloc)
{
    assert_int_equal(rpc_peer_init_runtime(&pair->runtime, NULL, alloc), 0);
    assert_int_equal(rpc_peer_init_plugin(&pair->plugin, NULL, alloc), 0);
    rpc_link_init(&pair->link, rpc_peer_end(&pair->runtime), rpc_peer_end(&pair->plugin));
}

static void pair_fini(struct pair *pair)
{
    rpc_peer_fini(&pair->runtime);
    rpc_peer_fini(&pair->plugin);
    rpc_link_fini(&pair->link);
}

/* Whether a text is `length` times `fill`. */
static bool is_filled(const char *text, size_t length, char fill)
{
    bool same = nri_message_text_length(text) == length;
    for (size_t i = 0; same && i < length; i++) {
        same = text[i] == fill;
    }
    return same;
}

/* Replies to UpdateContainers with as many bytes as came, of the next letter. */
static void answer_update(struct rpc_peer *peer, struct nri_rpc_call *call)
{
    const update_request *request =
        (const update_request *)(const void *)nri_rpc_call_message(call);
    const char *reason = request->evict[0]->reason;
    const size_t length = nri_message_text_length(reason);
    unsigned *intact = peer->user;
    struct big_response big;
    *intact += is_filled(reason, length, reason[0]);
    big_response_init(&big, length, (char)(reason[0] + 1));
    assert_int_equal(nri_rpc_call_reply(call, &big.message.base, NULL), 0);
    nri_rpc_call_release(call);
    big_response_fini(&big);
}

struct update { /* a call and what it came to */
    struct big_request request;
    size_t length;
    char fill;
    unsigned count, intact;
};

static void update_done(void *user, const struct nri_rpc_result *result)
{
    struct update *update = user;
    update->count++;
    if (result->code == 0) {
        const update_response *response = (const update_response *)(const void *)result->message;
        update->intact +=
            response->n_failed == 1 &&
            is_filled(response->failed[0]->container_id, update->length, (char)(update->fill + 1));
    }
}

static void update_start(struct pair *pair, struct update *update, size_t length, char fill)
{
    *update = (struct update){.length = length, .fill = fill};
    big_request_init(&update->request, length, fill);
    assert_int_equal(nri_rpc_invoke(pair->plugin.rpc, UPDATE_CONTAINERS,
                                    &update->request.message.base, 1, 0, NULL, 0, update_done,
                                    update, NULL),
                     0);
}

static void test_T31_64_calls_of_1_MiB_both_ways(void **state)
{
    (void)state;
    struct pair pair;
    static struct update updates[64];
    unsigned intact = 0;
    pair_init(&pair, NULL);
    pair.runtime.request = answer_update;
    pair.runtime.user = &intact;
    pair.link.capacity = 4096;
    pair.link.side[0].writes_first = true; /* the runtime */
    for (size_t i = 0; i < 64; i++) {
        update_start(&pair, &updates[i], MIB, (char)('A' + i % 50));
    }
    assert_true(rpc_link_run(&pair.link) > 128 * MIB);
    assert_int_equal(intact, 64);
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(updates[i].count, 1);
        assert_int_equal(updates[i].intact, 1);
        big_request_fini(&updates[i].request);
    }
    assert_int_equal(nri_rpc_pending_calls(pair.plugin.rpc), 0);
    assert_int_equal(nri_rpc_in_flight(pair.runtime.rpc), 0);
    pair_fini(&pair);
}

/* Around the sizes at which the writer and Go's read buffer change their minds, in every kind of
 * cut. */
static void test_sizes_and_cuts(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,    1,     100,   127,   128,     3990,
                                   4000, 4020,  4030,  4070,  4086,    4096,
                                   8192, 16383, 16384, 65536, 1000000, 4194304 - 63};
    static const size_t cuts[] = {0, 1, 143, 4095, 4096, 4097};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    for (size_t cut = 0; cut < sizeof cuts / sizeof cuts[0]; cut++) {
        struct pair pair;
        struct update updates[SIZES];
        unsigned intact = 0;
        const size_t count = cuts[cut] == 1
                                 ? SIZES - 2
                                 : SIZES; /* 5 MB byte by byte is a coffee break under valgrind */
        pair_init(&pair, NULL);
        pair.runtime.request = answer_update;
        pair.runtime.user = &intact;
        pair.link.cut = cuts[cut];
        for (size_t i = 0; i < count; i++) {
            update_start(&pair, &updates[i], sizes[i], (char)('A' + i));
        }
        (void)rpc_link_run(&pair.link);
        assert_int_equal(intact, count);
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(updates[i].count, 1);
            assert_int_equal(updates[i].intact, 1);
            big_request_fini(&updates[i].request);
        }
        pair_fini(&pair);
    }
}

static void test_T44_timeout_and_metadata_travel(void **state)
{
    (void)state;
    struct pair pair;
    struct rpc_outcome outcome = {0};
    configure_request request;
    static const char *const metadata[] = {"namespace",   "k8s.io", "traceparent",
                                           "00-\xc3\xa9", "",       ""};
    nri__pkg__api__v1alpha1__configure_request__init(&request);
    pair_init(&pair, NULL);
    assert_int_equal(nri_rpc_invoke(pair.runtime.rpc, CONFIGURE, &request.base, 1, 2 * NRI_SEC,
                                    metadata, 3, rpc_outcome_done, &outcome, NULL),
                     0);
    (void)rpc_link_run(&pair.link);
    struct nri_rpc_call *call = rpc_peer_take(&pair.plugin);
    assert_non_null(call);
    assert_true(nri_rpc_call_timeout(call) == 2 * (int64_t)NRI_SEC);
    const struct nri_rpc_metadata *came = nri_rpc_call_get_metadata(call);
    assert_int_equal(came->count, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(came->keys[i], metadata[2 * i]);
        assert_string_equal(came->values[i], metadata[2 * i + 1]);
    }
    assert_int_equal(nri_rpc_call_refuse(call, 9, "not now"), 0);
    nri_rpc_call_release(call);
    (void)rpc_link_run(&pair.link);
    assert_int_equal(outcome.count, 1);
    assert_int_equal(outcome.grpc, 9);
    assert_int_equal(outcome.code, NRI_E_REJECTED);
    assert_string_equal(outcome.text, "not now");
    pair_fini(&pair);
}

/* A call of the plugin from inside a request of the runtime, and the other way round, on one
 * connection. */
static void test_both_ways_at_once(void **state)
{
    (void)state;
    struct pair pair;
    struct rpc_outcome configured = {0};
    struct update update;
    unsigned intact = 0;
    configure_request request;
    configure_response response;
    nri__pkg__api__v1alpha1__configure_request__init(&request);
    nri__pkg__api__v1alpha1__configure_response__init(&response);
    pair_init(&pair, NULL);
    pair.runtime.request = answer_update;
    pair.runtime.user = &intact;
    assert_int_equal(nri_rpc_invoke(pair.runtime.rpc, CONFIGURE, &request.base, 1, 0, NULL, 0,
                                    rpc_outcome_done, &configured, NULL),
                     0);
    (void)rpc_link_run(&pair.link);
    struct nri_rpc_call *call = rpc_peer_take(&pair.plugin);
    update_start(&pair, &update, 10000, 'x');
    (void)rpc_link_run(&pair.link);
    assert_int_equal(update.intact, 1); /* while Configure is still out */
    assert_int_equal(configured.count, 0);
    assert_int_equal(nri_rpc_call_reply(call, &response.base, NULL), 0);
    nri_rpc_call_release(call);
    (void)rpc_link_run(&pair.link);
    assert_int_equal(configured.count, 1);
    assert_int_equal(configured.code, 0);
    big_request_fini(&update.request);
    pair_fini(&pair);
}

/* ---- the steady state ---- */

static uint8_t *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *size = (size_t)ftell(file);
    rewind(file);
    uint8_t *bytes = malloc(*size);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    assert_int_equal(fclose(file), 0);
    return bytes;
}

/* The recorded CreateContainerRequest, in an arena. */
static const ProtobufCMessage *recorded_create(struct nri_arena *arena, size_t *payload_size)
{
    static const uint64_t seed[2] = {1, 2};
    struct nri_wire_reader reader;
    struct nri_wire_item item;
    struct nri_buf data;
    size_t size;
    uint8_t *all = read_file(capture_path, &size);
    const uint8_t *at = all;
    ProtobufCMessage *message = NULL;
    nri_wire_reader_init(&reader);
    raw_init(&data);
    do {
        struct nri_rpc_request request;
        assert_int_equal(nri_wire_read(&reader, &at, &size, &item, NULL), 0);
        if (item.kind == NRI_WIRE_HEADER) {
            nri_buf_reset(&data, 0);
        } else if (item.kind == NRI_WIRE_DATA && item.id == 1) {
            assert_int_equal(nri_buf_append(&data, item.data, item.size), 0);
        } else if (item.kind == NRI_WIRE_END && item.id == 1) {
            assert_int_equal(nri_rpc_request_decode(data.data, nri_buf_size(&data), &request, NULL),
                             0);
            if (request.method.length == 15 &&
                memcmp(request.method.bytes, "CreateContainer", 15) == 0) {
                *payload_size = request.payload.length;
                assert_int_equal(nri_message_decode(
                                     &nri__pkg__api__v1alpha1__create_container_request__descriptor,
                                     request.payload.bytes, request.payload.length, arena, seed,
                                     &message, NULL),
                                 0);
            }
        }
    } while (item.kind != NRI_WIRE_MORE);
    nri_buf_fini(&data);
    free(all);
    assert_non_null(message);
    return message;
}

typedef Nri__Pkg__Api__V1alpha1__CreateContainerResponse create_response;
typedef Nri__Pkg__Api__V1alpha1__ContainerAdjustment adjustment;
typedef Nri__Pkg__Api__V1alpha1__KeyValue key_value;

/* Replies with one environment variable, built in the call's arena as a plugin does. */
static void answer_create(struct rpc_peer *peer, struct nri_rpc_call *call)
{
    struct nri_arena *arena = nri_rpc_call_arena(call);
    create_response *response = nri_arena_alloc(arena, sizeof *response);
    adjustment *adjust = nri_arena_alloc(arena, sizeof *adjust);
    key_value *env = nri_arena_alloc(arena, sizeof *env);
    key_value **list = nri_arena_array(arena, 1, sizeof(key_value *));
    (void)peer;
    nri__pkg__api__v1alpha1__create_container_response__init(response);
    nri__pkg__api__v1alpha1__container_adjustment__init(adjust);
    nri__pkg__api__v1alpha1__key_value__init(env);
    env->key = nri_arena_text(arena, "HELLO", 5);
    env->value = nri_arena_text(arena, "nri", 3);
    list[0] = env;
    adjust->n_env = 1;
    adjust->env = list;
    response->adjust = adjust;
    assert_int_equal(nri_rpc_call_reply(call, &response->base, NULL), 0);
    nri_rpc_call_release(call);
}

static void test_steady_state_allocates_nothing(void **state)
{
    (void)state;
    struct pair pair;
    struct fail_alloc memory;
    struct nri_arena arena;
    struct rpc_outcome outcome = {0};
    size_t payload = 0, after_warm_up = 0;
    static const char *const metadata[] = {"containerd-namespace-ttrpc", "k8s.io"};
    fail_alloc_init(&memory, NULL);
    const struct nri_alloc alloc = fail_alloc_resolved(&memory);
    pair_init(&pair, &alloc);
    pair.plugin.request = answer_create;
    nri_arena_init(&arena, &pair.runtime.alloc, 0, SIZE_MAX);
    const ProtobufCMessage *request = recorded_create(&arena, &payload);
    assert_true(payload > 2600 && payload < 2800);
    for (unsigned i = 0; i < 1000 + 3; i++) {
        if (i == 3) {
            after_warm_up = memory.calls;
        }
        assert_int_equal(nri_rpc_invoke(pair.runtime.rpc, CREATE_CONTAINER, request, 1, 2 * NRI_SEC,
                                        metadata, 1, rpc_outcome_done, &outcome, NULL),
                         0);
        (void)rpc_link_run(&pair.link);
        assert_int_equal(outcome.count, i + 1);
        assert_int_equal(outcome.code, 0);
    }
    print_message("payload of %zu bytes, %zu allocations to warm up, %zu in 1000 round trips\n",
                  payload, after_warm_up, memory.calls - after_warm_up);
    assert_int_equal(memory.calls, after_warm_up);
    nri_arena_fini(&arena);
    pair_fini(&pair);
    assert_int_equal(memory.live_blocks, 0);
}

static void answer_nothing(struct rpc_peer *peer, struct nri_rpc_call *call)
{
    update_response response;
    (void)peer;
    nri__pkg__api__v1alpha1__update_containers_response__init(&response);
    assert_int_equal(nri_rpc_call_reply(call, &response.base, NULL), 0);
    nri_rpc_call_release(call);
}

/* Messages that need more than an arena's first chunk is at first: it grows to their size. */
static void test_steady_state_of_larger_messages(void **state)
{
    (void)state;
    struct pair pair;
    struct fail_alloc memory;
    struct rpc_outcome outcome = {0};
    struct big_request big;
    size_t after_warm_up = 0;
    fail_alloc_init(&memory, NULL);
    const struct nri_alloc alloc = fail_alloc_resolved(&memory);
    pair_init(&pair, &alloc);
    pair.runtime.request = answer_nothing;
    big_request_init(&big, 50000, 'b');
    for (unsigned i = 0; i < 100 + 3; i++) {
        if (i == 3) {
            after_warm_up = memory.calls;
        }
        assert_int_equal(nri_rpc_invoke(pair.plugin.rpc, UPDATE_CONTAINERS, &big.message.base, 1, 0,
                                        NULL, 0, rpc_outcome_done, &outcome, NULL),
                         0);
        (void)rpc_link_run(&pair.link);
        assert_int_equal(outcome.count, i + 1);
    }
    assert_int_equal(memory.calls, after_warm_up);
    big_request_fini(&big);
    pair_fini(&pair);
    assert_int_equal(memory.live_blocks, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_T31_64_calls_of_1_MiB_both_ways),
        cmocka_unit_test(test_sizes_and_cuts),
        cmocka_unit_test(test_T44_timeout_and_metadata_travel),
        cmocka_unit_test(test_both_ways_at_once),
        cmocka_unit_test(test_steady_state_allocates_nothing),
        cmocka_unit_test(test_steady_state_of_larger_messages),
    };
    if (argc != 2) {
        (void)fprintf(stderr, "usage: test_exchange CAPTURE\n");
        return 2;
    }
    capture_path = argv[1];
    return cmocka_run_group_tests(tests, NULL, NULL);
}
