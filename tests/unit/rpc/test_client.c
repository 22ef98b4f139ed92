/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls to a peer: what is sent, what its answers come to, and that each call completes once.
 */
#include "support.h"

#include <string.h>

/* A plugin that calls the runtime, whose side is played by hand. */
struct caller {
    struct served s;
    update_request request;
};

static void caller_init(struct caller *c, const struct nri_rpc_limits *limits)
{
    served_init(&c->s, limits);
    nri__pkg__api__v1alpha1__update_containers_request__init(&c->request);
}

static int invoke(struct caller *c, uint64_t timeout, struct rpc_outcome *outcome,
                  struct nri_error *error)
{
    return nri_rpc_invoke(c->s.peer.rpc, UPDATE_CONTAINERS, &c->request.base, c->s.now, timeout,
                          NULL, 0, rpc_outcome_done, outcome, error);
}

static void respond(struct caller *c, uint32_t stream, const void *data, size_t size)
{
    raw_frame(&c->s.in, 2, stream, 2, 0, data, size);
    assert_int_equal(served_feed(&c->s, 0), 0);
}

static void assert_usable(struct caller *c, uint32_t stream)
{
    struct rpc_outcome outcome = {0};
    assert_int_equal(invoke(c, 0, &outcome, NULL), 0);
    assert_int_equal(outcome.count, 0);
    respond(c, stream, "", 0);
    assert_int_equal(outcome.count, 1);
    assert_int_equal(outcome.code, 0);
    assert_int_equal(nri_rpc_pending_calls(c->s.peer.rpc), 0);
}

static void test_call_and_response(void **state)
{
    (void)state;
    struct caller c;
    struct nri_arena arena;
    caller_init(&c, NULL);
    nri_arena_init(&arena, &c.s.peer.alloc, 0, SIZE_MAX);
    struct rpc_outcome outcome = {.arena = &arena};
    assert_int_equal(invoke(&c, 0, &outcome, NULL), 0);
    served_answers(&c.s);
    assert_int_equal(c.s.answers.count, 1);
    assert_int_equal(c.s.answers.all[0].id, 2);
    assert_int_equal(c.s.answers.all[0].stream, 1);
    assert_int_equal(c.s.answers.all[0].type, 1);
    assert_int_equal(c.s.answers.all[0].flags, 0);
    /* Response{payload: UpdateContainersResponse{failed: [ContainerUpdate{container_id: "abc"}]}}
     */
    respond(&c, 1,
            "\x12\x07\x0a\x05\x0a\x03"
            "abc",
            9);
    assert_int_equal(outcome.count, 1);
    assert_int_equal(outcome.code, 0);
    assert_string_equal(outcome.text, "");
    const update_response *response = (const update_response *)(const void *)outcome.message;
    assert_int_equal(response->n_failed, 1);
    assert_string_equal(response->failed[0]->container_id, "abc");
    nri_arena_fini(&arena);
    assert_usable(&c, 3);
    assert_int_equal(nri_rpc_get_stats(c.s.peer.rpc)->calls, 2);
    served_fini(&c.s);
}

/* What the request frame holds, to the byte. */
static void test_request_bytes(void **state)
{
    (void)state;
    struct caller c;
    struct rpc_outcome outcome = {0};
    static const char *const metadata[] = {"k", "v", "empty", ""};
    caller_init(&c, NULL);
    assert_int_equal(nri_rpc_invoke(c.s.peer.rpc, UPDATE_CONTAINERS, &c.request.base, 5, 300,
                                    metadata, 2, rpc_outcome_done, &outcome, NULL),
                     0);
    static const char expected[] =
        "\x00\x00\x00\x02\x00\x00\x00\x53"         /* mux: connection 2, 83 bytes */
        "\x00\x00\x00\x49\x00\x00\x00\x01\x01\x00" /* ttRPC: 73, stream 1 */
        "\x0a\x1c" RUNTIME "\x12\x10"
        "UpdateContainers"
        "\x20\xac\x02"
        "\x2a\x06\x0a\x01k\x12\x01v"
        "\x2a\x07\x0a\x05"
        "empty";
    const uint8_t *bytes;
    size_t count;
    nri_rpc_output(c.s.peer.rpc, &bytes, &count);
    assert_int_equal(count, 8 + 10 + 30 + 18 + 3 + 8 + 9);
    assert_int_equal(count, sizeof expected - 1);
    assert_memory_equal(bytes + 18, expected + 18, count - 18);
    served_fini(&c.s);
}

static void test_statuses(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t size;
        int grpc, code;
        const char *text;
    } cases[] = {
        {"\x0a\x06\x08\x02\x12\x02no", 8, 2, NRI_E_REJECTED, "no"},
        {"\x0a\x06\x08\x0c\x12\x02no", 8, 12, NRI_E_UNSUPPORTED, "no"},
        {"\x0a\x02\x08\x08", 4, 8, NRI_E_LIMIT, ""},
        {"\x0a\x02\x08\x04", 4, 4, NRI_E_TIMEOUT, ""},
        {"\x0a\x0b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 13, -1, NRI_E_REJECTED, ""},
        {"\x0a\x00", 2, 0, 0, ""},         /* an empty status is a success */
        {"\x0a\x02\x08\x00", 4, 0, 0, ""}, /* and so is OK */
        {"\x0a\x06\x08\x02\x1a\x02\x0a\x00\x0a\x04\x12\x02no", 14, 2, NRI_E_REJECTED,
         "no"}, /* in two */
    };
    struct caller c;
    caller_init(&c, NULL);
    uint32_t stream = 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++, stream += 2) {
        struct rpc_outcome outcome = {0};
        assert_int_equal(invoke(&c, 0, &outcome, NULL), 0);
        respond(&c, stream, cases[i].data, cases[i].size);
        assert_int_equal(outcome.count, 1);
        assert_int_equal(outcome.grpc, cases[i].grpc);
        assert_int_equal(outcome.code, cases[i].code);
        assert_string_equal(outcome.text, cases[i].text);
    }
    assert_usable(&c, stream);
    served_fini(&c.s);
}

static void test_malformed_responses(void **state)
{
    (void)state;
    static const struct {
        const char *data;
        size_t size;
    } cases[] = {
        {"\x12\x7f\x61", 3},             /* payload past the end */
        {"\x0a\x04\x12\x02\xff\xfe", 6}, /* status text not UTF-8 */
        {"\x10\x01", 2},                 /* payload as a number */
        {"\x08\x01", 2},                 /* status as a number */
        {"\x0a\x03\x0a\x01x", 5},        /* code as a text */
        {"\x12\x02\x0a\x7f", 4},         /* UpdateContainersResponse that ends too early */
        {"\x0b", 1},                     /* a group */
        {"\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11},
    };
    struct caller c;
    caller_init(&c, NULL);
    uint32_t stream = 1;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++, stream += 2) {
        struct rpc_outcome outcome = {0};
        assert_int_equal(invoke(&c, 0, &outcome, NULL), 0);
        respond(&c, stream, cases[i].data, cases[i].size);
        assert_int_equal(outcome.count, 1);
        assert_int_equal(outcome.code, NRI_E_PROTOCOL);
        assert_contains(outcome.text, "UpdateContainers: response: ");
    }
    assert_usable(&c, stream);
    served_fini(&c.s);
}

static void test_unknown_responses(void **state)
{
    (void)state;
    struct caller c;
    struct rpc_outcome outcome = {0};
    caller_init(&c, NULL);
    assert_int_equal(invoke(&c, 0, &outcome, NULL), 0);
    respond(&c, 3, "\x0a\x02\x08\x02", 4);          /* a stream that is yet to come */
    respond(&c, 2, "garbage", 7);                   /* one that never comes */
    raw_frame(&c.s.in, 2, 1, 3, 0, "data", 4);      /* not a response: ignored */
    raw_frame(&c.s.in, 2, 1, 1, 0, "request", 7);   /* nor is this */
    raw_frame(&c.s.in, 2, 1, 77, 0, "whatever", 8); /* nor this */
    assert_int_equal(served_feed(&c.s, 1), 0);
    assert_int_equal(outcome.count, 0);
    respond(&c, 1, "", 0);
    assert_int_equal(outcome.count, 1);
    respond(&c, 1, "", 0); /* again: nobody waits */
    assert_int_equal(outcome.count, 1);
    assert_int_equal(nri_rpc_get_stats(c.s.peer.rpc)->late_replies, 3);
    served_answers(&c.s);
    assert_int_equal(c.s.answers.count, 0); /* nothing of it was answered */
    assert_usable(&c, 3);
    served_fini(&c.s);
}

static void test_oversize_response(void **state)
{
    (void)state;
    struct nri_rpc_limits limits;
    struct caller c;
    struct rpc_outcome outcome = {0};
    char data[1001] = {0};
    nri_rpc_limits_default(&limits);
    limits.max_receive = 1000;
    caller_init(&c, &limits);
    assert_int_equal(invoke(&c, 0, &outcome, NULL), 0);
    respond(&c, 1, data, sizeof data);
    assert_int_equal(outcome.count, 1);
    assert_int_equal(outcome.code, NRI_E_LIMIT);
    assert_contains(outcome.text,
                    "UpdateContainers: response of 1001 bytes exceeds the limit of 1000 bytes");
    assert_usable(&c, 3);
    served_fini(&c.s);
}

static void test_T36_oversize_request(void **state)
{
    (void)state;
    struct caller c;
    struct rpc_outcome outcome = {0};
    struct nri_error error = {0};
    struct big_request exact, over;
    caller_init(&c, NULL);
    /* Around the reason: the envelope's service (30), method (18) and payload header (5), the
     * eviction's (5) and its own (5). */
    const size_t around = 63;
    big_request_init(&exact, 4194304 - around, 'e');
    big_request_init(&over, 4194305 - around, 'o');
    assert_int_equal(nri_rpc_invoke(c.s.peer.rpc, UPDATE_CONTAINERS, &exact.message.base, 1, 0,
                                    NULL, 0, rpc_outcome_done, &outcome, &error),
                     0);
    served_answers(&c.s);
    assert_int_equal(c.s.answers.count, 1);
    assert_int_equal(c.s.answers.all[0].length, 4194304);
    respond(&c, 1, "", 0);
    assert_int_equal(outcome.count, 1);
    for (unsigned i = 0; i < 10000; i++) {
        const int code = nri_rpc_invoke(c.s.peer.rpc, UPDATE_CONTAINERS, &over.message.base, 1, 0,
                                        NULL, 0, rpc_outcome_done, &outcome, &error);
        assert_int_equal(code, NRI_E_LIMIT);
    }
    assert_string_equal(
        error.text,
        "UpdateContainers: request of 4194305 bytes exceeds the limit of 4194304 bytes");
    const uint8_t *bytes;
    size_t count;
    nri_rpc_output(c.s.peer.rpc, &bytes, &count);
    assert_int_equal(count, 0);
    assert_int_equal(outcome.count, 1);
    assert_int_equal(nri_rpc_pending_calls(c.s.peer.rpc), 0);
    assert_usable(&c, 3); /* the next stream id: none was used up */
    big_request_fini(&exact);
    big_request_fini(&over);
    served_fini(&c.s);
}

static void test_T33_close_completes_all(void **state)
{
    (void)state;
    struct caller c;
    struct rpc_outcome outcomes[10] = {{0}};
    caller_init(&c, NULL);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(invoke(&c, 0, &outcomes[i], NULL), 0);
    }
    assert_int_equal(nri_rpc_pending_calls(c.s.peer.rpc), 10);
    raw_header(&c.s.in, 2, 7, 2, 0, 100); /* one response has begun */
    raw_data(&c.s.in, 2, "abc", 3);
    assert_int_equal(served_feed(&c.s, 0), 0);
    nri_rpc_close(c.s.peer.rpc, NRI_E_CLOSED, "the peer closed the connection");
    nri_rpc_close(c.s.peer.rpc, NRI_E_CLOSED, "again");
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(outcomes[i].count, 1);
        assert_int_equal(outcomes[i].code, NRI_E_CLOSED);
        assert_string_equal(outcomes[i].text, "the peer closed the connection");
    }
    assert_int_equal(nri_rpc_pending_calls(c.s.peer.rpc), 0);
    assert_int_equal(invoke(&c, 0, &outcomes[0], NULL), NRI_E_CLOSED);
    served_fini(&c.s);
}

struct again { /* calls again from its callback */
    struct caller *caller;
    int code;
    struct rpc_outcome outcome, second;
};

static void call_again(void *user, const struct nri_rpc_result *result)
{
    struct again *again = user;
    rpc_outcome_done(&again->outcome, result);
    again->code = invoke(again->caller, 1, &again->second, NULL);
}

static void test_no_call_from_a_close_callback(void **state)
{
    (void)state;
    struct caller c;
    caller_init(&c, NULL);
    struct again again = {.caller = &c};
    assert_int_equal(nri_rpc_invoke(c.s.peer.rpc, UPDATE_CONTAINERS, &c.request.base, 1, 0, NULL, 0,
                                    call_again, &again, NULL),
                     0);
    nri_rpc_close(c.s.peer.rpc, NRI_E_IO, "read: connection reset");
    assert_int_equal(again.outcome.count, 1);
    assert_int_equal(again.outcome.code, NRI_E_IO);
    assert_int_equal(again.code, NRI_E_CLOSED);
    assert_int_equal(again.second.count, 0);
    served_fini(&c.s);
}

static void test_T33_reply_after_the_time_out(void **state)
{
    (void)state;
    struct caller c;
    struct rpc_outcome early = {0}, late = {0}, none = {0};
    caller_init(&c, NULL);
    struct nri_rpc *rpc = c.s.peer.rpc;
    assert_true(nri_rpc_deadline(rpc) == NRI_NEVER);
    c.s.now = 1000;
    assert_int_equal(invoke(&c, 0, &none, NULL), 0);
    assert_true(nri_rpc_deadline(rpc) == NRI_NEVER);
    assert_int_equal(invoke(&c, 300 * NRI_MSEC, &late, NULL), 0);
    assert_int_equal(invoke(&c, 200 * NRI_MSEC, &early, NULL), 0);
    assert_true(nri_rpc_deadline(rpc) == 1000 + 200 * NRI_MSEC);
    nri_rpc_tick(rpc, 999 + 200 * NRI_MSEC);
    assert_int_equal(early.count, 0);
    nri_rpc_tick(rpc, 1000 + 200 * NRI_MSEC);
    assert_int_equal(early.count, 1);
    assert_int_equal(early.code, NRI_E_TIMEOUT);
    assert_string_equal(early.text, "UpdateContainers: no reply within 200 ms");
    assert_true(nri_rpc_deadline(rpc) == 1000 + 300 * NRI_MSEC);
    /* The other one's time passes in the middle of its response. */
    raw_header(&c.s.in, 2, 3, 2, 0, 4);
    raw_data(&c.s.in, 2, "\x0a\x02", 2);
    assert_int_equal(served_feed(&c.s, 0), 0);
    nri_rpc_tick(rpc, UINT64_MAX - 1);
    assert_int_equal(late.count, 1);
    raw_data(&c.s.in, 2, "\x08\x02", 2);
    assert_int_equal(served_feed(&c.s, 0), 0);
    respond(&c, 5, "", 0); /* and a late reply to the early one */
    assert_int_equal(early.count, 1);
    assert_int_equal(late.count, 1);
    assert_int_equal(late.code, NRI_E_TIMEOUT);
    assert_int_equal(nri_rpc_get_stats(rpc)->late_replies, 2);
    assert_int_equal(none.count, 0);
    respond(&c, 1, "", 0);
    assert_int_equal(none.count, 1);
    assert_usable(&c, 7);
    served_fini(&c.s);
}

/* A callback of a time-out that calls again, with a time-out that is over already, doesn't keep the
 * tick for ever. */
static void test_call_from_a_time_out(void **state)
{
    (void)state;
    struct caller c;
    caller_init(&c, NULL);
    struct again again = {.caller = &c};
    assert_int_equal(nri_rpc_invoke(c.s.peer.rpc, UPDATE_CONTAINERS, &c.request.base, 1, 10, NULL,
                                    0, call_again, &again, NULL),
                     0);
    nri_rpc_tick(c.s.peer.rpc, UINT64_C(1) << 40);
    assert_int_equal(again.code, 0);
    assert_int_equal(again.outcome.count, 1);
    assert_int_equal(again.second.count, 0);
    nri_rpc_tick(c.s.peer.rpc, UINT64_C(1) << 40);
    assert_int_equal(again.second.count, 1);
    served_fini(&c.s);
}

static void test_time_outs_at_the_end_of_time(void **state)
{
    (void)state;
    struct caller c;
    struct rpc_outcome outcome = {0};
    caller_init(&c, NULL);
    assert_int_equal(invoke(&c, UINT64_MAX, &outcome, NULL), 0); /* no overflow: never */
    assert_true(nri_rpc_deadline(c.s.peer.rpc) == NRI_NEVER);
    served_answers(&c.s);
    assert_int_equal(c.s.answers.all[0].length,
                     30 + 18 + 10); /* timeout_nano INT64_MAX, not negative */
    served_fini(&c.s);
}

static void test_pending_table(void **state)
{
    (void)state;
    struct caller c;
    struct rpc_outcome outcomes[64] = {{0}}, one_more = {0};
    struct nri_error error = {0};
    caller_init(&c, NULL);
    for (size_t i = 0; i < 64; i++) {
        assert_int_equal(invoke(&c, 0, &outcomes[i], NULL), 0);
    }
    served_answers(&c.s);
    assert_int_equal(c.s.answers.count, 64);
    assert_int_equal(invoke(&c, 0, &one_more, &error), NRI_E_BUSY);
    assert_contains(error.text, "64 calls wait for a reply, the limit is 64");
    served_answers(&c.s);
    assert_int_equal(c.s.answers.count, 0);
    for (size_t i = 0; i < 64; i++) { /* in an order of its own: 27 and 64 have no common factor */
        const size_t index = i * 27 % 64;
        respond(&c, 2 * (uint32_t)index + 1, "", 0);
        assert_int_equal(outcomes[index].count, 1);
        assert_int_equal(outcomes[index].code, 0);
        assert_int_equal(nri_rpc_pending_calls(c.s.peer.rpc), 63 - i);
    }
    assert_usable(&c, 129);
    served_fini(&c.s);
}

static void test_stream_ids_run_out(void **state)
{
    (void)state;
    struct caller c;
    struct rpc_outcome last = {0}, none = {0};
    struct nri_error error = {0};
    caller_init(&c, NULL);
    c.s.peer.rpc->client.next_stream = NRI_RPC_LAST_STREAM;
    assert_int_equal(invoke(&c, 0, &last, NULL), 0);
    served_answers(&c.s);
    assert_int_equal(c.s.answers.all[0].stream, 0x7fffffff);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(invoke(&c, 0, &none, &error), NRI_E_LIMIT);
    }
    assert_contains(error.text, "stream ids of this connection are used up");
    served_answers(&c.s);
    assert_int_equal(c.s.answers.count, 0);
    respond(&c, 0x7fffffff, "", 0);
    assert_int_equal(last.count, 1);
    assert_int_equal(last.code, 0);
    assert_int_equal(none.count, 0);
    served_fini(&c.s);
}

static void test_arguments_that_are_refused(void **state)
{
    (void)state;
    struct caller c;
    struct rpc_outcome outcome = {0};
    struct nri_error error = {0};
    static const char *const missing[] = {"key", NULL};
    static const char *const broken[] = {"k", "v", "\xff", "v"};
    configure_request wrong;
    eviction *evictions[1] = {NULL};
    caller_init(&c, NULL);
    struct nri_rpc *rpc = c.s.peer.rpc;
    nri__pkg__api__v1alpha1__configure_request__init(&wrong);
    assert_int_equal(
        nri_rpc_invoke(rpc, 2, &c.request.base, 1, 0, NULL, 0, rpc_outcome_done, &outcome, &error),
        NRI_E_INVALID);
    assert_int_equal(nri_rpc_invoke(rpc, UPDATE_CONTAINERS, &wrong.base, 1, 0, NULL, 0,
                                    rpc_outcome_done, &outcome, &error),
                     NRI_E_INVALID);
    assert_int_equal(nri_rpc_invoke(rpc, UPDATE_CONTAINERS, &c.request.base, 1, 0, missing, 1,
                                    rpc_outcome_done, &outcome, &error),
                     NRI_E_INVALID);
    assert_contains(error.text, "metadata value 0 is missing");
    assert_int_equal(nri_rpc_invoke(rpc, UPDATE_CONTAINERS, &c.request.base, 1, 0, broken, 2,
                                    rpc_outcome_done, &outcome, &error),
                     NRI_E_INVALID);
    assert_contains(error.text, "metadata key 1 is not UTF-8");
    c.request.n_evict = 1;
    c.request.evict = evictions;
    assert_int_equal(invoke(&c, 0, &outcome, &error), NRI_E_INVALID); /* T51 */
    assert_contains(error.text, "evict[0]");
    c.request.n_evict = 0;
    served_answers(&c.s);
    assert_int_equal(c.s.answers.count, 0);
    assert_int_equal(outcome.count, 0);
    assert_usable(&c, 1);
    served_fini(&c.s);
}

static void close_in_callback(void *user, const struct nri_rpc_result *result)
{
    struct again *again = user;
    rpc_outcome_done(&again->outcome, result);
    nri_rpc_close(again->caller->s.peer.rpc, result->code == 0 ? NRI_E_CLOSED : result->code,
                  result->text);
}

static void test_closed_by_a_callback(void **state)
{
    (void)state;
    for (int timed_out = 0; timed_out < 2; timed_out++) {
        struct caller c;
        struct rpc_outcome other = {0};
        caller_init(&c, NULL);
        struct again again = {.caller = &c};
        assert_int_equal(nri_rpc_invoke(c.s.peer.rpc, UPDATE_CONTAINERS, &c.request.base, 1, 10,
                                        NULL, 0, close_in_callback, &again, NULL),
                         0);
        assert_int_equal(invoke(&c, 20, &other, NULL), 0);
        if (timed_out != 0) {
            nri_rpc_tick(c.s.peer.rpc, 1 << 20);
            assert_int_equal(other.code, NRI_E_TIMEOUT);
            assert_string_equal(other.text, "UpdateContainers: no reply within 0 ms");
        } else {
            raw_frame(&c.s.in, 2, 1, 2, 0, "", 0);
            raw_frame(&c.s.in, 2, 3, 2, 0, "", 0);
            assert_int_equal(served_feed(&c.s, 0), 0);
            assert_int_equal(other.code, NRI_E_CLOSED);
        }
        assert_int_equal(again.outcome.count, 1);
        assert_int_equal(other.count, 1);
        served_fini(&c.s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_and_response),
        cmocka_unit_test(test_request_bytes),
        cmocka_unit_test(test_statuses),
        cmocka_unit_test(test_malformed_responses),
        cmocka_unit_test(test_unknown_responses),
        cmocka_unit_test(test_oversize_response),
        cmocka_unit_test(test_T36_oversize_request),
        cmocka_unit_test(test_T33_close_completes_all),
        cmocka_unit_test(test_no_call_from_a_close_callback),
        cmocka_unit_test(test_T33_reply_after_the_time_out),
        cmocka_unit_test(test_call_from_a_time_out),
        cmocka_unit_test(test_time_outs_at_the_end_of_time),
        cmocka_unit_test(test_pending_table),
        cmocka_unit_test(test_stream_ids_run_out),
        cmocka_unit_test(test_arguments_that_are_refused),
        cmocka_unit_test(test_closed_by_a_callback),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
