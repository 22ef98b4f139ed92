/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every limit of nri_rpc_limits: what is answered beyond it, that the connection goes on (or ends
 * cleanly), and that memory stays bounded whatever a peer promises.
 */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_defaults(void **state)
{
    (void)state;
    struct nri_rpc_limits limits;
    nri_rpc_limits_default(&limits);
    assert_int_equal(limits.max_receive, 16777216);
    assert_int_equal(limits.max_send, 4194304);
    assert_int_equal(limits.arena_base, 65536);
    assert_int_equal(limits.arena_factor, 8);
    assert_int_equal(limits.max_in_flight, 64);
    assert_int_equal(limits.max_request_bytes, 268435456);
    assert_int_equal(limits.max_queued_bytes, 33554432);
    assert_int_equal(limits.max_output_bytes, 268435456);
    assert_int_equal(limits.max_pending_calls, 64);
    assert_int_equal(limits.max_metadata, 256);
}

/* A message over max_receive in many frames: skipped, not stored. */
static void test_oversize_is_skipped(void **state)
{
    (void)state;
    struct served s;
    struct fail_alloc memory;
    static const char chunk[65536];
    served_init_counted(&s, &memory, NULL);
    raw_header(&s.in, 1, 1, 1, 0, 16777217);
    assert_int_equal(served_feed(&s, 0), 0);
    const size_t before = memory.calls;
    for (size_t i = 0; i < 256; i++) {
        raw_data(&s.in, 1, chunk, sizeof chunk);
        assert_int_equal(served_feed(&s, 0), 0);
        assert_int_equal(s.answers.count, 0);
    }
    assert_int_equal(memory.calls, before); /* 16 MiB went by and not one byte was kept */
    raw_data(&s.in, 1, chunk, 1);
    assert_int_equal(served_feed(&s, 0), 0);
    assert_int_equal(s.answers.count, 1);
    assert_answer(&s, 0, 1, 8);
    assert_string_equal(s.answers.all[0].text,
                        "message of 16777217 bytes exceeds the limit of 16777216 bytes");
    assert_int_equal(nri_rpc_get_stats(s.peer.rpc)->refused_oversize, 1);
    served_assert_usable(&s, 3);
    served_fini_counted(&s, &memory);
}

static void test_the_largest_message_is_taken(void **state)
{
    (void)state;
    struct served s;
    struct nri_rpc_limits limits;
    char name[64];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    nri_rpc_limits_default(&limits);
    limits.max_receive = 29 + 11 + 2 + 65; /* service, method, payload with its name of 63 bytes */
    served_init(&s, &limits);
    served_configure(&s, 1, name);
    assert_int_equal(served_feed(&s, 1), 0);
    assert_int_equal(s.answers.count, 0);
    assert_int_equal(s.peer.held_count, 1);
    nri_rpc_call_release(rpc_peer_take(&s.peer));
    served_answers(&s);
    char longer[65];
    memset(longer, 'n', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    served_configure(&s, 3, longer);
    assert_int_equal(served_feed(&s, 1), 0);
    assert_answer(&s, 0, 3, 8);
    served_fini(&s);
}

/* A header promises 16 MiB; memory grows with what comes instead. */
static void test_memory_grows_with_what_came(void **state)
{
    (void)state;
    struct served s;
    struct fail_alloc memory;
    static const char chunk[1000];
    served_init_counted(&s, &memory, NULL);
    const size_t idle = memory.live_bytes;
    raw_header(&s.in, 1, 1, 1, 0, 16777216);
    raw_header(&s.in, 2, 1, 2, 0, 16777216);
    assert_int_equal(served_feed(&s, 0), 0);
    assert_true(memory.live_bytes - idle < 4096); /* a call, and nothing for the promise */
    size_t calls = memory.calls;
    for (size_t came = 1000; came <= 1000000; came += 1000) {
        raw_data(&s.in, 1, chunk, sizeof chunk);
        assert_int_equal(served_feed(&s, 0), 0);
        assert_true(memory.live_bytes - idle < 4096 + 2 * came);
    }
    calls = memory.calls - calls;
    assert_true(calls <= 12); /* doubling, from 512 bytes to 1 MiB */
    nri_rpc_close(s.peer.rpc, NRI_E_CLOSED, "in the middle");
    served_fini_counted(&s, &memory);
}

static void test_in_flight_and_the_queue(void **state)
{
    (void)state;
    struct served s;
    struct nri_rpc_limits limits;
    char name[16];
    nri_rpc_limits_default(&limits);
    limits.max_in_flight = 3;
    served_init(&s, &limits);
    for (uint32_t i = 0; i < 10; i++) {
        (void)snprintf(name, sizeof name, "%u", i);
        served_configure(&s, 2 * i + 1, name);
    }
    s.now = 500;
    assert_int_equal(served_feed(&s, 0), 0);
    assert_int_equal(s.answers.count, 0);
    assert_int_equal(s.peer.held_count, 3);
    assert_int_equal(nri_rpc_in_flight(s.peer.rpc), 3);
    assert_int_equal(nri_rpc_get_stats(s.peer.rpc)->requests, 3);
    s.now = 900; /* they were received before */
    for (uint32_t i = 0; i < 10; i++) {
        struct nri_rpc_call *call = rpc_peer_take(&s.peer);
        assert_non_null(call);
        assert_int_equal(nri_rpc_call_stream(call), 2 * i + 1); /* in order */
        assert_int_equal(nri_rpc_call_received(call), 500);
        (void)snprintf(name, sizeof name, "%u", i);
        const configure_request *request =
            (const configure_request *)(const void *)nri_rpc_call_message(call);
        assert_string_equal(request->runtime_name, name);
        assert_int_equal(nri_rpc_call_refuse(call, 2, "next"),
                         0); /* and the next one is there when this returns */
        const size_t left = 10 - i - 1;
        assert_int_equal(nri_rpc_in_flight(s.peer.rpc), left < 3 ? left : 3);
        nri_rpc_call_release(call);
    }
    assert_int_equal(s.peer.rpc->server.waiting_bytes, 0);
    served_answers(&s);
    assert_int_equal(s.answers.count, 10);
    served_fini(&s);
}

static unsigned depth, deepest;

static void reply_at_once(struct rpc_peer *peer, struct nri_rpc_call *call)
{
    (void)peer;
    depth++;
    deepest = depth > deepest ? depth : deepest;
    assert_int_equal(nri_rpc_call_refuse(call, 2, "at once"), 0);
    nri_rpc_call_release(call);
    depth--;
}

/* 1000 waiting requests whose handler replies at once: a loop, not a thousand nested calls. */
static void test_queue_without_recursion(void **state)
{
    (void)state;
    struct served s;
    struct nri_rpc_limits limits;
    nri_rpc_limits_default(&limits);
    limits.max_in_flight = 1;
    served_init(&s, &limits);
    for (uint32_t i = 0; i < 1001; i++) {
        served_configure(&s, 2 * i + 1, "x");
    }
    raw_request(&s.in, 1, 3001, PLUGIN, "NoSuch", "", 0); /* one of them is bad */
    served_configure(&s, 3003, "x");
    assert_int_equal(served_feed(&s, 0), 0);
    assert_int_equal(s.peer.held_count, 1);
    s.peer.request = reply_at_once;
    depth = deepest = 0;
    struct nri_rpc_call *first = rpc_peer_take(&s.peer);
    assert_int_equal(nri_rpc_call_refuse(first, 2, "first"), 0);
    nri_rpc_call_release(first);
    assert_int_equal(deepest, 1);
    served_answers(&s);
    assert_int_equal(s.answers.count, 1003);
    for (size_t i = 0; i < 1001; i++) {
        assert_answer(&s, i, 2 * (uint32_t)i + 1, 2);
    }
    assert_answer(&s, 1001, 3001, 12);
    assert_answer(&s, 1002, 3003, 2);
    served_fini(&s);
}

static void test_queued_bytes(void **state)
{
    (void)state;
    struct served s;
    struct nri_rpc_limits limits;
    struct fail_alloc memory;
    nri_rpc_limits_default(&limits);
    limits.max_in_flight = 1;
    limits.max_queued_bytes = 10 * (sizeof(struct nri_rpc_call) + 512); /* the smallest buffer */
    served_init_counted(&s, &memory, &limits);
    for (uint32_t i = 0; i < 20; i++) {
        served_configure(&s, 2 * i + 1, "x"); /* 45 bytes */
    }
    assert_int_equal(served_feed(&s, 0), 0);
    assert_int_equal(s.answers.count, 9); /* one is out, ten wait */
    assert_answer(&s, 0, 23, 8);
    assert_answer(&s, 8, 39, 8);
    assert_contains(s.answers.all[0].text, "exceed the limit of");
    assert_int_equal(nri_rpc_get_stats(s.peer.rpc)->refused_busy, 9);
    for (uint32_t i = 0; i < 11; i++) {
        struct nri_rpc_call *call = rpc_peer_take(&s.peer);
        assert_int_equal(nri_rpc_call_stream(call), 2 * i + 1);
        nri_rpc_call_release(call);
    }
    served_answers(&s);
    served_assert_usable(&s, 101);
    served_fini_counted(&s, &memory);
}

/* Empty messages cost nothing on the wire but memory here: the queue's limit counts that. */
static void test_queue_of_empty_messages(void **state)
{
    (void)state;
    struct served s;
    struct nri_rpc_limits limits;
    struct fail_alloc memory;
    nri_rpc_limits_default(&limits);
    limits.max_in_flight = 1;
    limits.max_queued_bytes = 100000;
    served_init_counted(&s, &memory, &limits);
    served_configure(&s, 1, "x");
    assert_int_equal(served_feed(&s, 0), 0);
    for (uint32_t i = 1; i < 10000; i++) {
        raw_frame(&s.in, 1, 2 * i + 1, 1, 0, "", 0);
    }
    assert_int_equal(served_feed(&s, 4096), 0);
    assert_true(s.answers.count > 9500);
    assert_true(memory.live_bytes <
                100000 + 1000000); /* the queue, and the output with 10000 answers, drained */
    served_fini_counted(&s, &memory);
}

/* Sub-messages of nothing: 2 bytes each, dozens in memory. */
static void test_arena_limit(void **state)
{
    (void)state;
    struct served s;
    struct fail_alloc memory;
    const size_t size = 4u << 20;
    char *payload = malloc(size);
    assert_non_null(payload);
    for (size_t i = 0; i < size; i += 2) {
        payload[i] = 0x12; /* SynchronizeRequest.containers */
        payload[i + 1] = 0;
    }
    served_init_counted(&s, &memory, NULL);
    raw_request(&s.in, 1, 1, PLUGIN, "Synchronize", payload, size);
    assert_int_equal(served_feed(&s, 65536), 0);
    free(payload);
    assert_int_equal(s.answers.count, 1);
    assert_answer(&s, 0, 1, 8);
    assert_contains(s.answers.all[0].text, "Synchronize");
    assert_true(memory.peak_bytes < (size_t)52
                                        << 20); /* message and growth 12, arena 32: not 629 MiB */
    assert_int_equal(nri_rpc_get_stats(s.peer.rpc)->refused_oversize, 1);
    served_assert_usable(&s, 3);
    assert_true(memory.live_bytes <
                2 * (NRI_RPC_POOL_BUFFER + NRI_RPC_POOL_ARENA)); /* and it was given back */
    served_fini_counted(&s, &memory);
}

static void test_arena_limit_of_responses(void **state)
{
    (void)state;
    struct served s;
    struct fail_alloc memory;
    struct rpc_outcome outcome = {0};
    struct nri_buf data;
    update_request request;
    const size_t size = 1U << 20;
    char *payload = malloc(size);
    assert_non_null(payload);
    for (size_t i = 0; i < size; i += 2) {
        payload[i] = 0x0a; /* UpdateContainersResponse.failed */
        payload[i + 1] = 0;
    }
    raw_init(&data);
    raw_bytes(&data, 2, payload, size);
    free(payload);
    nri__pkg__api__v1alpha1__update_containers_request__init(&request);
    served_init_counted(&s, &memory, NULL);
    assert_int_equal(nri_rpc_invoke(s.peer.rpc, UPDATE_CONTAINERS, &request.base, 1, 0, NULL, 0,
                                    rpc_outcome_done, &outcome, NULL),
                     0);
    served_answers(&s);
    raw_frame(&s.in, 2, 1, 2, 0, data.data, nri_buf_size(&data));
    nri_buf_fini(&data);
    assert_int_equal(served_feed(&s, 65536), 0);
    assert_int_equal(outcome.count, 1);
    assert_int_equal(outcome.code, NRI_E_LIMIT);
    assert_contains(outcome.text, "UpdateContainers: response: UpdateContainersResponse.failed");
    assert_true(memory.peak_bytes < (size_t)13 << 20);
    served_assert_usable(&s, 1);
    served_fini_counted(&s, &memory);
}

static void test_metadata_limit(void **state)
{
    (void)state;
    struct served s;
    struct nri_buf data;
    served_init(&s, NULL);
    for (size_t count = 256; count <= 257; count++) {
        raw_init(&data);
        raw_text(&data, 1, PLUGIN);
        raw_text(&data, 2, "Configure");
        for (size_t i = 0; i < count; i++) {
            raw_bytes(&data, 5, "\x0a\x01k", 3);
        }
        raw_frame(&s.in, 1, 2 * (uint32_t)count + 1, 1, 0, data.data, nri_buf_size(&data));
        nri_buf_fini(&data);
    }
    assert_int_equal(served_feed(&s, 0), 0);
    assert_int_equal(s.answers.count, 1);
    assert_answer(&s, 0, 515, 8);
    assert_string_equal(s.answers.all[0].text,
                        "Configure: 257 entries of metadata exceed the limit of 256");
    struct nri_rpc_call *call = rpc_peer_take(&s.peer);
    assert_int_equal(nri_rpc_call_get_metadata(call)->count, 256);
    nri_rpc_call_release(call);
    served_fini(&s);
}

/* The smallest reply over the limit, and the largest at it. */
static void test_T36_oversize_reply(void **state)
{
    (void)state;
    struct rpc_peer runtime;
    struct nri_error error = {0};
    struct raw_responses answers;
    struct nri_buf in, out;
    struct big_response exact, over;
    assert_int_equal(rpc_peer_init_runtime(&runtime, NULL, NULL), 0);
    raw_init(&in);
    raw_init(&out);
    /* Around the container id: its own header (5), its message's (5), the payload's (5). */
    big_response_init(&exact, 4194304 - 15, 'e');
    big_response_init(&over, 4194304 - 14, 'o');
    raw_request(&in, 2, 1, RUNTIME, "UpdateContainers", "", 0);
    raw_request(&in, 2, 3, RUNTIME, "UpdateContainers", "", 0);
    assert_int_equal(nri_rpc_input(runtime.rpc, in.data, nri_buf_size(&in), 1, NULL), 0);
    struct nri_rpc_call *call = rpc_peer_take(&runtime);
    assert_int_equal(nri_rpc_call_reply(call, &over.message.base, &error), NRI_E_LIMIT);
    assert_string_equal(
        error.text, "UpdateContainers: reply of 4194305 bytes exceeds the limit of 4194304 bytes");
    assert_int_equal(nri_rpc_call_reply(call, &exact.message.base, &error),
                     NRI_E_LATE); /* that text went out */
    nri_rpc_call_release(call);
    call = rpc_peer_take(&runtime);
    assert_int_equal(nri_rpc_call_reply(call, &exact.message.base, &error), 0);
    nri_rpc_call_release(call);
    const uint8_t *bytes;
    size_t count;
    nri_rpc_output(runtime.rpc, &bytes, &count);
    assert_int_equal(nri_buf_append(&out, bytes, count), 0);
    raw_responses(&out, &answers);
    assert_int_equal(answers.count, 2);
    assert_int_equal(answers.all[0].grpc, 8);
    assert_contains(answers.all[0].text, "4194305");
    assert_int_equal(answers.all[1].grpc, 0);
    assert_int_equal(answers.all[1].length, 4194304);
    raw_responses_free(&answers);
    big_response_fini(&exact);
    big_response_fini(&over);
    nri_buf_fini(&in);
    nri_buf_fini(&out);
    rpc_peer_fini(&runtime);
}

static void test_output_limit_of_replies(void **state)
{
    (void)state;
    struct served s;
    struct nri_rpc_limits limits;
    struct nri_error error = {0};
    nri_rpc_limits_default(&limits);
    limits.max_output_bytes = 1000;
    served_init(&s, &limits);
    struct nri_rpc *rpc = s.peer.rpc;
    for (uint32_t i = 0; i < 40; i++) {
        served_configure(&s, 2 * i + 1, "x");
    }
    assert_int_equal(nri_rpc_input(rpc, s.in.data, nri_buf_size(&s.in), 1, NULL), 0);
    int code = 0;
    size_t sent = 0;
    struct nri_rpc_call *call;
    while (code == 0 && (call = rpc_peer_take(&s.peer)) != NULL) {
        assert_int_equal(nri_rpc_failure(rpc, NULL), 0);
        code = nri_rpc_call_refuse(call, 2, "a text of some length, so that the output fills");
        sent += code == 0;
        nri_rpc_call_release(call);
    }
    assert_int_equal(code, NRI_E_CLOSED);
    assert_int_equal(sent, 1000 / (18 + 2 + 2 + 2 + 47));
    const uint8_t *bytes;
    size_t count;
    nri_rpc_output(rpc, &bytes, &count);
    assert_true(count <= 1000);
    assert_int_equal(nri_rpc_failure(rpc, &error), NRI_E_LIMIT);
    assert_contains(error.text, "max_output_bytes, 1000");
    assert_int_equal(nri_rpc_input(rpc, s.in.data, nri_buf_size(&s.in), 1, &error), NRI_E_LIMIT);
    configure_response response;
    nri__pkg__api__v1alpha1__configure_response__init(&response);
    call = rpc_peer_take(&s.peer);
    assert_int_equal(nri_rpc_call_reply(call, &response.base, &error), NRI_E_CLOSED);
    assert_int_equal(error.code, NRI_E_CLOSED);
    assert_contains(error.text, "max_output_bytes");
    nri_rpc_call_release(call);
    served_fini(&s);
}

static void test_output_limit_of_calls(void **state)
{
    (void)state;
    struct served s;
    struct nri_rpc_limits limits;
    struct nri_error error = {0};
    struct rpc_outcome outcome = {0};
    struct big_request big;
    nri_rpc_limits_default(&limits);
    limits.max_output_bytes = 3000;
    served_init(&s, &limits);
    struct nri_rpc *rpc = s.peer.rpc;
    big_request_init(&big, 2000, 'b');
    assert_int_equal(nri_rpc_invoke(rpc, UPDATE_CONTAINERS, &big.message.base, 1, 0, NULL, 0,
                                    rpc_outcome_done, &outcome, &error),
                     0);
    const uint8_t *bytes;
    size_t before, after;
    nri_rpc_output(rpc, &bytes, &before);
    assert_int_equal(nri_rpc_invoke(rpc, UPDATE_CONTAINERS, &big.message.base, 1, 0, NULL, 0,
                                    rpc_outcome_done, &outcome, &error),
                     NRI_E_BUSY);
    assert_contains(error.text, "max_output_bytes, 3000");
    nri_rpc_output(rpc, &bytes, &after);
    assert_int_equal(after, before);
    assert_int_equal(nri_rpc_failure(rpc, NULL), 0);
    assert_int_equal(nri_rpc_pending_calls(rpc), 1);
    served_answers(&s); /* the peer reads: there is room again */
    assert_int_equal(nri_rpc_invoke(rpc, UPDATE_CONTAINERS, &big.message.base, 1, 0, NULL, 0,
                                    rpc_outcome_done, &outcome, &error),
                     0);
    served_answers(&s);
    assert_int_equal(s.answers.all[0].stream, 3);
    big_request_fini(&big);
    served_fini(&s);
}

static void test_output_shrinks(void **state)
{
    (void)state;
    struct served s;
    struct fail_alloc memory;
    struct rpc_outcome outcome = {0};
    struct big_request big;
    served_init_counted(&s, &memory, NULL);
    struct nri_rpc *rpc = s.peer.rpc;
    const size_t idle = memory.live_bytes;
    big_request_init(&big, 1000000, 'b');
    for (int i = 0; i < 20; i++) {
        assert_int_equal(nri_rpc_invoke(rpc, UPDATE_CONTAINERS, &big.message.base, 1, 0, NULL, 0,
                                        rpc_outcome_done, &outcome, NULL),
                         0);
    }
    assert_true(memory.live_bytes > 20000000);
    const uint8_t *bytes;
    size_t count;
    nri_rpc_output(rpc, &bytes, &count);
    nri_rpc_written(rpc, count - 1);
    assert_true(memory.live_bytes > 20000000);
    nri_rpc_written(rpc, 1);
    assert_true(memory.live_bytes <= idle + 65536);
    nri_rpc_output(rpc, &bytes, &count);
    assert_int_equal(count, 0);
    big_request_fini(&big);
    served_fini_counted(&s, &memory);
}

/* A refusal's text is cut to what may be sent: the longest one is no reason to end a connection. */
static void test_refusals_keep_to_max_send(void **state)
{
    (void)state;
    struct served s;
    struct nri_rpc_limits limits;
    char text[NRI_RPC_STATUS_TEXT + 1];
    memset(text, 't', NRI_RPC_STATUS_TEXT);
    text[NRI_RPC_STATUS_TEXT] = '\0';
    nri_rpc_limits_default(&limits);
    limits.max_send = 1024;
    limits.max_output_bytes = 2048; /* the least that goes with it */
    served_init(&s, &limits);
    served_configure(&s, 1, "x");
    assert_int_equal(served_feed(&s, 0), 0);
    struct nri_rpc_call *call = rpc_peer_take(&s.peer);
    assert_non_null(call);
    assert_int_equal(nri_rpc_call_refuse(call, 9, text), 0);
    nri_rpc_call_release(call);
    assert_int_equal(nri_rpc_failure(s.peer.rpc, NULL), 0);
    served_answers(&s);
    assert_answer(&s, 0, 1, 9);
    assert_true(strlen(s.answers.all[0].text) > 900 && strlen(s.answers.all[0].text) < 1024);
    served_assert_usable(&s, 3);
    served_fini(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refusals_keep_to_max_send),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_oversize_is_skipped),
        cmocka_unit_test(test_the_largest_message_is_taken),
        cmocka_unit_test(test_memory_grows_with_what_came),
        cmocka_unit_test(test_in_flight_and_the_queue),
        cmocka_unit_test(test_queue_without_recursion),
        cmocka_unit_test(test_queued_bytes),
        cmocka_unit_test(test_queue_of_empty_messages),
        cmocka_unit_test(test_arena_limit),
        cmocka_unit_test(test_arena_limit_of_responses),
        cmocka_unit_test(test_metadata_limit),
        cmocka_unit_test(test_T36_oversize_reply),
        cmocka_unit_test(test_output_limit_of_replies),
        cmocka_unit_test(test_output_limit_of_calls),
        cmocka_unit_test(test_output_shrinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
