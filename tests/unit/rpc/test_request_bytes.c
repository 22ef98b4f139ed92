/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What requests take all together: calls with their handlers hold no receive buffer,
 * max_request_bytes has requests wait, and the reply has memory of its own.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

struct counted {
    struct served s;
    struct fail_alloc memory;
};

static void counted_init(struct counted *c, const struct nri_rpc_limits *limits)
{
    served_init_counted(&c->s, &c->memory, limits);
}

static void counted_fini(struct counted *c)
{
    served_fini_counted(&c->s, &c->memory);
}

static char *text_of(size_t length)
{
    char *text = malloc(length + 1);
    assert_non_null(text);
    memset(text, 'n', length);
    text[length] = '\0';
    return text;
}

/* An empty Configure in an envelope with a field that nobody knows, of `padding` bytes. */
static void padded_request(struct nri_buf *out, uint32_t stream, size_t padding)
{
    struct nri_buf data;
    char *pad = text_of(padding);
    raw_init(&data);
    raw_text(&data, 1, PLUGIN);
    raw_text(&data, 2, "Configure");
    raw_bytes(&data, 15, pad, padding);
    raw_frame(out, 1, stream, 1, 0, data.data, nri_buf_size(&data));
    nri_buf_fini(&data);
    free(pad);
}

static void test_calls_with_handlers_hold_no_receive_buffer(void **state)
{
    (void)state;
    struct counted c;
    counted_init(&c, NULL);
    const size_t idle = c.memory.live_bytes;
    for (uint32_t i = 0; i < 60; i++) {
        padded_request(&c.s.in, 2 * i + 1, 100000);
    }
    assert_int_equal(served_feed(&c.s, 0), 0);
    assert_int_equal(c.s.peer.held_count, 60);
    /* One buffer goes round; each call has its structure and an arena's first chunk. */
    assert_true(c.memory.live_bytes - idle <=
                NRI_RPC_POOL_BUFFER + 60 * (sizeof(struct nri_rpc_call) + NRI_RPC_FIRST_CHUNK));
    counted_fini(&c);
}

/* The most that decoding takes in these tests, of a Configure with a name of 10000 bytes. */
#define NAME       10000u
#define ARENA_BASE 20000u
#define MOST       (ARENA_BASE + 8 * (NAME + 64u) + sizeof(struct nri_rpc_call))

static void limit_requests(struct nri_rpc_limits *limits, size_t bytes)
{
    nri_rpc_limits_default(limits);
    limits->arena_base = ARENA_BASE;
    limits->max_request_bytes = bytes;
}

static void feed_configures(struct served *s, uint32_t first, uint32_t count, size_t length)
{
    char *name = text_of(length);
    for (uint32_t i = 0; i < count; i++) {
        served_configure(s, first + 2 * i, name);
    }
    free(name);
    assert_int_equal(served_feed(s, 0), 0);
}

static void check_charges(const struct served *s, size_t limit)
{
    size_t sum = 0;
    for (size_t i = 0; i < s->peer.held_count; i++) {
        sum += nri_rpc_call_memory(s->peer.held[i]);
    }
    assert_int_equal(sum, s->peer.rpc->server.in_flight_bytes);
    assert_true(sum <= limit);
}

/* Requests beyond the limit wait, in order, and each reply lets in what then has room. */
static void test_max_request_bytes(void **state)
{
    (void)state;
    enum { LIMIT = 290000, COUNT = 40 };
    struct counted c;
    struct nri_rpc_limits limits;
    limit_requests(&limits, LIMIT);
    counted_init(&c, &limits);
    feed_configures(&c.s, 1, COUNT, NAME);
    assert_in_range(c.s.peer.held_count, 2, 20);
    assert_int_equal(c.s.answers.count, 0);
    assert_true(LIMIT - c.s.peer.rpc->server.in_flight_bytes < MOST); /* it waits for a reason */
    for (uint32_t i = 0; i < COUNT; i++) {
        check_charges(&c.s, LIMIT);
        struct nri_rpc_call *call = rpc_peer_take(&c.s.peer);
        assert_non_null(call);
        assert_int_equal(nri_rpc_call_stream(call), 2 * i + 1);
        assert_int_equal(nri_rpc_call_refuse(call, 2, "next"), 0);
        nri_rpc_call_release(call);
    }
    assert_int_equal(c.s.peer.rpc->server.in_flight_bytes, 0);
    served_answers(&c.s);
    assert_int_equal(c.s.answers.count, COUNT);
    counted_fini(&c);
}

/* What is larger than the limit comes in when nothing else is in flight. */
static void test_a_request_beyond_max_request_bytes_goes_alone(void **state)
{
    (void)state;
    struct counted c;
    struct nri_rpc_limits limits;
    limit_requests(&limits, 50000);
    counted_init(&c, &limits);
    feed_configures(&c.s, 1, 3, 100000);
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(c.s.peer.held_count, 1);
        struct nri_rpc_call *call = rpc_peer_take(&c.s.peer);
        assert_true(nri_rpc_call_memory(call) > 50000);
        assert_int_equal(nri_rpc_call_stream(call), 2 * i + 1);
        assert_int_equal(nri_rpc_call_refuse(call, 2, "next"), 0);
        nri_rpc_call_release(call);
    }
    served_answers(&c.s);
    assert_int_equal(c.s.answers.count, 3);
    counted_fini(&c);
}

/* What waits for memory is subject to the queue's limit. */
static void test_waiting_for_memory_fills_the_queue(void **state)
{
    (void)state;
    struct counted c;
    struct nri_rpc_limits limits;
    limit_requests(&limits, 50000);
    limits.max_queued_bytes = 50000;
    counted_init(&c, &limits);
    const size_t idle = c.memory.live_bytes;
    feed_configures(&c.s, 1, 20, NAME);
    assert_int_equal(c.s.peer.held_count, 1);
    assert_in_range(c.s.answers.count, 15, 18); /* at most twice its size is what one takes */
    assert_answer(&c.s, 0, 41 - 2 * (uint32_t)c.s.answers.count, 8);
    assert_contains(c.s.answers.all[0].text, "1 requests in flight");
    assert_true(c.memory.live_bytes - idle < 50000 + MOST + 150000);
    counted_fini(&c);
}

/* A large buffer of the pool does not make a small request a large one. */
static void test_waiting_requests_are_trimmed(void **state)
{
    (void)state;
    struct counted c;
    struct nri_rpc_limits limits;
    nri_rpc_limits_default(&limits);
    limits.max_in_flight = 1;
    limits.max_queued_bytes = 2 * (sizeof(struct nri_rpc_call) + 1024);
    counted_init(&c, &limits);
    feed_configures(&c.s, 1, 1, 100000); /* its buffer is the next one's */
    served_configure(&c.s, 3, "x");
    assert_int_equal(served_feed(&c.s, 0), 0);
    assert_int_equal(c.s.answers.count, 0);
    assert_int_equal(c.s.peer.rpc->server.waiting_bytes, sizeof(struct nri_rpc_call) + 512);
    counted_fini(&c);
}

static void test_no_memory_to_trim(void **state)
{
    (void)state;
    struct counted c;
    struct nri_rpc_limits limits;
    nri_rpc_limits_default(&limits);
    limits.max_in_flight = 1;
    counted_init(&c, &limits);
    feed_configures(&c.s, 1, 1, 100000);
    served_configure(&c.s, 3, "x");
    fail_alloc_arm(&c.memory, 2); /* the call, then the smaller buffer */
    assert_int_equal(served_feed(&c.s, 0), 0);
    assert_true(c.memory.fired);
    nri_rpc_call_release(rpc_peer_take(&c.s.peer));
    struct nri_rpc_call *call = rpc_peer_take(&c.s.peer);
    assert_non_null(call);
    assert_string_equal(
        ((const configure_request *)(const void *)nri_rpc_call_message(call))->runtime_name, "x");
    nri_rpc_call_release(call);
    counted_fini(&c);
}

/* A small request may be answered with the largest reply: 4 times its length is there to build it.
 */
static void test_memory_of_the_reply(void **state)
{
    (void)state;
    struct counted c;
    struct nri_rpc_limits limits;
    nri_rpc_limits_default(&limits);
    counted_init(&c, NULL);
    feed_configures(&c.s, 1, 1, 10);
    struct nri_rpc_call *call = rpc_peer_take(&c.s.peer);
    struct nri_arena *arena = nri_rpc_call_arena(call);
    for (int i = 0; i < 3; i++) {
        assert_non_null(nri_arena_alloc(arena, limits.max_send));
    }
    assert_null(nri_arena_alloc(arena, 2 * limits.max_send));
    assert_int_equal(arena->failure, NRI_E_LIMIT);
    nri_rpc_call_release(call);
    counted_fini(&c);
}

static void test_memory_of_the_reply_does_not_wrap_around(void **state)
{
    (void)state;
    struct counted c;
    struct nri_rpc_limits limits;
    nri_rpc_limits_default(&limits);
    limits.arena_base = SIZE_MAX - 1000;
    counted_init(&c, &limits);
    feed_configures(&c.s, 1, 1, 10);
    struct nri_rpc_call *call = rpc_peer_take(&c.s.peer);
    assert_true(nri_rpc_call_arena(call)->limit == SIZE_MAX);
    assert_non_null(nri_arena_alloc(nri_rpc_call_arena(call), 1 << 20));
    nri_rpc_call_release(call);
    counted_fini(&c);
}

/* Calls go round between handlers, the pool and the queue. One that waits keeps no memory of the
 * message that it held before, or the queue would take a multiple of its limit. */
static void test_waiting_requests_keep_no_arena(void **state)
{
    (void)state;
    enum { QUEUED = 256 * 1024, ROUNDS = 1000 };
    struct counted c;
    struct nri_rpc_limits limits;
    struct nri_rpc_call *call;
    uint32_t stream = 1;
    nri_rpc_limits_default(&limits);
    limits.max_in_flight = 1;
    limits.max_queued_bytes = QUEUED;
    counted_init(&c, &limits);
    for (int i = 0; i < ROUNDS; i++, stream += 2) /* until the queue is full */
        served_configure(&c.s, stream, "x");
    assert_int_equal(served_feed(&c.s, 0), 0);
    assert_true(nri_rpc_get_stats(c.s.peer.rpc)->refused_busy > 0);
    for (int i = 0; i < ROUNDS; i++, stream += 2) { /* one goes, one comes */
        call = rpc_peer_take(&c.s.peer);
        assert_non_null(call);
        nri_rpc_call_release(call);
        served_configure(&c.s, stream, "x");
        assert_int_equal(served_feed(&c.s, 0), 0);
    }
    assert_true(c.memory.live_bytes <
                QUEUED + NRI_RPC_POOL_CALLS * (NRI_RPC_POOL_ARENA + NRI_RPC_POOL_BUFFER) + 200000);
    while ((call = rpc_peer_take(&c.s.peer)) != NULL) {
        nri_rpc_call_release(call);
    }
    counted_fini(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_with_handlers_hold_no_receive_buffer),
        cmocka_unit_test(test_max_request_bytes),
        cmocka_unit_test(test_a_request_beyond_max_request_bytes_goes_alone),
        cmocka_unit_test(test_waiting_for_memory_fills_the_queue),
        cmocka_unit_test(test_waiting_requests_are_trimmed),
        cmocka_unit_test(test_no_memory_to_trim),
        cmocka_unit_test(test_waiting_requests_keep_no_arena),
        cmocka_unit_test(test_memory_of_the_reply),
        cmocka_unit_test(test_memory_of_the_reply_does_not_wrap_around),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
