/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that runs out, call by call, and memory that is given back.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

/* Out of memory while a message comes in: its stream is answered, and the connection goes on. */
static void test_no_memory_for_a_request(void **state)
{
    (void)state;
    for (size_t at = 1; at <= 3; at++) {
        struct served s;
        struct fail_alloc memory;
        char name[5000];
        memset(name, 'n', sizeof name - 1);
        name[sizeof name - 1] = '\0';
        served_init_counted(&s, &memory, NULL);
        served_configure(&s, 1, name);
        fail_alloc_arm(&memory, at); /* the call, its buffer, the buffer's growth */
        assert_int_equal(served_feed(&s, 3000), 0);
        assert_true(memory.fired);
        assert_int_equal(s.answers.count, 1);
        assert_answer(&s, 0, 1, 8);
        assert_contains(s.answers.all[0].text, "out of memory");
        served_assert_usable(&s, 3);
        served_fini_counted(&s, &memory);
    }
}

static void test_no_memory_for_a_response(void **state)
{
    (void)state;
    for (size_t at = 1; at <= 3; at++) {
        struct served s;
        struct fail_alloc memory;
        struct rpc_outcome outcome = {0};
        update_request request;
        nri__pkg__api__v1alpha1__update_containers_request__init(&request);
        served_init_counted(&s, &memory, NULL);
        assert_int_equal(nri_rpc_invoke(s.peer.rpc, UPDATE_CONTAINERS, &request.base, 1, 0, NULL, 0,
                                        rpc_outcome_done, &outcome, NULL),
                         0);
        served_answers(&s);
        raw_frame(&s.in, 2, 1, 2, 0,
                  "\x12\x07\x0a\x05\x0a\x03"
                  "abc",
                  9);
        fail_alloc_arm(&memory, at); /* the call, its buffer, its arena */
        assert_int_equal(served_feed(&s, 0), 0);
        assert_true(memory.fired);
        assert_int_equal(outcome.count, 1);
        assert_int_equal(outcome.code, NRI_E_NOMEM);
        served_assert_usable(&s, 1);
        served_fini_counted(&s, &memory);
    }
}

/* The status counts, and its text is replaced. */
static void test_no_memory_for_a_status_text(void **state)
{
    (void)state;
    struct served s;
    struct fail_alloc memory;
    struct rpc_outcome outcome = {0};
    update_request request;
    nri__pkg__api__v1alpha1__update_containers_request__init(&request);
    served_init_counted(&s, &memory, NULL);
    assert_int_equal(nri_rpc_invoke(s.peer.rpc, UPDATE_CONTAINERS, &request.base, 1, 0, NULL, 0,
                                    rpc_outcome_done, &outcome, NULL),
                     0);
    served_answers(&s);
    raw_frame(&s.in, 2, 1, 2, 0, "\x0a\x06\x08\x02\x12\x02no", 8);
    fail_alloc_arm(&memory, 3); /* after the call and its buffer: the arena */
    assert_int_equal(served_feed(&s, 0), 0);
    assert_true(memory.fired);
    assert_int_equal(outcome.code, NRI_E_REJECTED);
    assert_int_equal(outcome.grpc, 2);
    assert_string_equal(outcome.text, "out of memory for the peer's text");
    served_fini_counted(&s, &memory);
}

static void test_no_memory_for_a_reply(void **state)
{
    (void)state;
    struct served s;
    struct fail_alloc memory;
    served_init_counted(&s, &memory, NULL);
    served_configure(&s, 1, "x");
    assert_int_equal(nri_rpc_input(s.peer.rpc, s.in.data, nri_buf_size(&s.in), 1, NULL), 0);
    struct nri_rpc_call *call = rpc_peer_take(&s.peer);
    fail_alloc_arm(&memory, 1);
    const size_t wakes = s.peer.wakes;
    assert_int_equal(nri_rpc_call_refuse(call, 2, "no"), NRI_E_CLOSED);
    assert_true(memory.fired);
    assert_true(s.peer.wakes > wakes); /* the owner hears of it */
    assert_int_equal(nri_rpc_failure(s.peer.rpc, NULL), NRI_E_NOMEM);
    nri_rpc_call_release(call);
    served_fini_counted(&s, &memory);
}

/* After a crowd of large calls the pool keeps a few, and little of each. */
static void test_pool_gives_back(void **state)
{
    (void)state;
    struct served s;
    struct fail_alloc memory;
    struct nri_buf payload;
    served_init_counted(&s, &memory, NULL);
    char *name = malloc(300001);
    assert_non_null(name);
    memset(name, 'n', 300000);
    name[300000] = '\0';
    raw_init(&payload);
    raw_text(&payload, 2, name);
    raw_text(&payload, 3, name);
    free(name);
    for (uint32_t i = 0; i < 30; i++) {
        raw_request(&s.in, 1, 2 * i + 1, PLUGIN, "Configure", payload.data, nri_buf_size(&payload));
    }
    nri_buf_fini(&payload);
    assert_int_equal(served_feed(&s, 0), 0);
    assert_int_equal(s.peer.held_count, 30);
    assert_true(memory.live_bytes > 30 * 600000);
    struct nri_rpc_call *call;
    while ((call = rpc_peer_take(&s.peer)) != NULL) {
        nri_rpc_call_release(call);
    }
    served_answers(&s);
    assert_int_equal(s.peer.rpc->pool->idle_count, NRI_RPC_POOL_CALLS);
    assert_true(memory.live_bytes <
                NRI_RPC_POOL_CALLS * (NRI_RPC_POOL_ARENA + NRI_RPC_POOL_BUFFER) + 100000);
    served_fini_counted(&s, &memory);
}

/* An allocator that gives a call back while the pool closes: what another thread may do at that
 * moment. */
struct intruder {
    struct nri_alloc memory;
    struct nri_rpc_call *held;
};

static void *intruder_allocate(size_t bytes, void *user)
{
    return nri_alloc_raw(&((struct intruder *)user)->memory, bytes);
}

static void *intruder_resize(void *block, size_t bytes, void *user)
{
    return nri_alloc_resize(&((struct intruder *)user)->memory, block, bytes);
}

static void intruder_release(void *block, void *user)
{
    struct intruder *intruder = user;
    struct nri_rpc_call *held = intruder->held;
    nri_alloc_release(&intruder->memory, block);
    if (block != NULL && held != NULL) {
        intruder->held = NULL;
        nri_rpc_pool_put(held);
    }
}

static void test_last_call_comes_back_while_the_pool_closes(void **state)
{
    (void)state;
    const uint64_t seed[2] = {1, 2};
    struct fail_alloc memory;
    struct intruder intruder = {0};
    struct nri_alloc alloc = {&intruder, intruder_allocate, intruder_resize, intruder_release};
    struct nri_rpc_pool *pool;
    struct nri_rpc_call *calls[3];
    fail_alloc_init(&memory, NULL);
    intruder.memory = fail_alloc_resolved(&memory);
    assert_int_equal(nri_rpc_pool_new(&pool, &alloc, 1000, seed), 0);
    for (size_t i = 0; i < 3; i++) {
        calls[i] = nri_rpc_pool_get(pool);
        assert_non_null(calls[i]);
    }
    nri_rpc_pool_put(calls[0]);
    nri_rpc_pool_put(calls[1]);
    intruder.held = calls[2];
    nri_rpc_pool_close(pool); /* frees the first idle call, and so the intruder comes */
    assert_null(intruder.held);
    assert_int_equal(memory.live_blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_memory_for_a_request),
        cmocka_unit_test(test_no_memory_for_a_response),
        cmocka_unit_test(test_no_memory_for_a_status_text),
        cmocka_unit_test(test_no_memory_for_a_reply),
        cmocka_unit_test(test_pool_gives_back),
        cmocka_unit_test(test_last_call_comes_back_while_the_pool_closes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
