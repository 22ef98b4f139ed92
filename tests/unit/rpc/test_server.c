/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the server answers to requests, good and bad, each as frames by hand. After everything bad a
 * good request must still be handed out.
 */
#include "support.h"

#include <string.h>

#include "base/text.h"

/* The connection is as good as new: one more request gets through and its reply comes out. */
static void assert_usable(struct served *s, uint32_t stream)
{
    configure_response response;
    nri__pkg__api__v1alpha1__configure_response__init(&response);
    response.events = 7;
    served_configure(s, stream, "still there");
    assert_int_equal(served_feed(s, 0), 0);
    assert_int_equal(s->answers.count, 0);
    struct nri_rpc_call *call = rpc_peer_take(&s->peer);
    assert_non_null(call);
    const configure_request *request =
        (const configure_request *)(const void *)nri_rpc_call_message(call);
    assert_string_equal(request->runtime_name, "still there");
    assert_int_equal(nri_rpc_call_reply(call, &response.base, NULL), 0);
    nri_rpc_call_release(call);
    served_answers(s);
    assert_int_equal(s->answers.count, 1);
    assert_answer(s, 0, stream, 0);
    assert_int_equal(s->answers.all[0].size, 2); /* 10 07 */
}

static void test_request_and_reply(void **state)
{
    (void)state;
    const size_t cuts[] = {0, 1, 2, 3, 7};
    for (size_t i = 0; i < sizeof cuts / sizeof cuts[0]; i++) {
        struct served s;
        served_init(&s, NULL);
        s.now = 77;
        served_configure(&s, 1, "containerd");
        assert_int_equal(served_feed(&s, cuts[i]), 0);
        assert_int_equal(nri_rpc_in_flight(s.peer.rpc), 1);
        assert_false(nri_rpc_in_message(s.peer.rpc));
        struct nri_rpc_call *call = rpc_peer_take(&s.peer);
        assert_non_null(call);
        const configure_request *request =
            (const configure_request *)(const void *)nri_rpc_call_message(call);
        assert_ptr_equal(request->base.descriptor,
                         &nri__pkg__api__v1alpha1__configure_request__descriptor);
        assert_string_equal(request->runtime_name, "containerd");
        assert_int_equal(nri_rpc_call_method(call), CONFIGURE);
        assert_int_equal(nri_rpc_call_size(call), 12);
        assert_int_equal(nri_rpc_call_received(call), 77);
        assert_int_equal(nri_rpc_call_timeout(call), 0);
        assert_int_equal(nri_rpc_call_stream(call), 1);
        assert_int_equal(nri_rpc_call_get_metadata(call)->count, 0);
        configure_response response;
        nri__pkg__api__v1alpha1__configure_response__init(&response);
        response.events = 7;
        const size_t wakes = s.peer.wakes;
        assert_int_equal(nri_rpc_call_reply(call, &response.base, NULL), 0);
        assert_true(s.peer.wakes > wakes);
        assert_int_equal(nri_rpc_in_flight(s.peer.rpc), 0);
        /* Exactly one reply. */
        struct nri_error error = {0};
        assert_int_equal(nri_rpc_call_reply(call, &response.base, &error), NRI_E_LATE);
        assert_int_equal(error.code, NRI_E_LATE);
        assert_int_equal(nri_rpc_call_refuse(call, 2, "no"), NRI_E_LATE);
        nri_rpc_call_release(call);
        served_answers(&s);
        assert_int_equal(s.answers.count, 1);
        assert_answer(&s, 0, 1, 0);
        assert_memory_equal(s.answers.all[0].payload, "\x10\x07", 2);
        const struct nri_rpc_stats *stats = nri_rpc_get_stats(s.peer.rpc);
        assert_int_equal(stats->requests, 1);
        assert_int_equal(stats->replies, 1);
        assert_int_equal(stats->bytes_out, 8 + 10 + 4);
        served_fini(&s);
    }
}

static void test_methods_are_found(void **state)
{
    (void)state;
    const ProtobufCServiceDescriptor *service = &nri__pkg__api__v1alpha1__plugin__descriptor;
    assert_string_equal(service->methods[CREATE_CONTAINER].name, "CreateContainer");
    assert_string_equal(service->methods[SYNCHRONIZE].name, "Synchronize");
    struct served s;
    served_init(&s, NULL);
    for (unsigned i = 0; i < service->n_methods; i++) {
        raw_request(&s.in, 1, 2 * i + 1, PLUGIN, service->methods[i].name, "", 0);
    }
    assert_int_equal(served_feed(&s, 0), 0);
    for (unsigned i = 0; i < service->n_methods; i++) {
        struct nri_rpc_call *call = rpc_peer_take(&s.peer);
        assert_non_null(call);
        assert_int_equal(nri_rpc_call_method(call), i);
        assert_ptr_equal(nri_rpc_call_message(call)->descriptor, service->methods[i].input);
        nri_rpc_call_release(call);
    }
    served_fini(&s);
}

static void test_T38_unknown_service_or_method(void **state)
{
    (void)state;
    struct served s;
    served_init(&s, NULL);
    raw_request(&s.in, 1, 1, PLUGIN, "NoSuch", "", 0);
    raw_request(&s.in, 1, 3, "x.Y", "Configure", "", 0);
    raw_request(&s.in, 1, 5, PLUGIN, "Configur", "", 0);   /* a method's beginning */
    raw_request(&s.in, 1, 7, PLUGIN, "ConfigureX", "", 0); /* and more than one */
    raw_request(&s.in, 1, 9, PLUGIN, "", "", 0);
    raw_request(&s.in, 1, 11, RUNTIME, "RegisterPlugin", "", 0); /* of the other side */
    raw_frame(&s.in, 1, 13, 1, 0,
              "\x0a\x1b" PLUGIN "\x12\x0a"
              "Configure\0",
              41); /* a NUL behind the name */
    assert_int_equal(served_feed(&s, 0), 0);
    assert_int_equal(s.answers.count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_answer(&s, i, 2 * (uint32_t)i + 1, 12);
    }
    assert_contains(s.answers.all[0].text, "service " PLUGIN " has no method \"NoSuch\"");
    assert_contains(s.answers.all[1].text, "unknown service \"x.Y\"");
    assert_int_equal(nri_rpc_get_stats(s.peer.rpc)->refused_unknown, 7);
    assert_usable(&s, 15);
    served_fini(&s);
}

static void test_zero_length_data(void **state)
{
    (void)state;
    struct served s;
    served_init(&s, NULL);
    raw_frame(&s.in, 1, 1, 1, 0, "", 0); /* an empty envelope: service "" */
    assert_int_equal(served_feed(&s, 0), 0);
    assert_int_equal(s.answers.count, 1);
    assert_answer(&s, 0, 1, 12);
    assert_contains(s.answers.all[0].text, "unknown service \"\"");
    assert_usable(&s, 3);
    served_fini(&s);
}

static void test_no_service_at_all(void **state)
{
    (void)state;
    struct served s;
    served_init(&s, NULL);
    rpc_peer_fini(&s.peer);
    assert_int_equal(rpc_peer_init(&s.peer, 1, NULL, 2, NULL, NULL, NULL), 0);
    served_configure(&s, 1, "x");
    assert_int_equal(served_feed(&s, 0), 0);
    assert_answer(&s, 0, 1, 12);
    served_fini(&s);
}

static void test_stream_ids(void **state)
{
    (void)state;
    struct served s;
    served_init(&s, NULL);
    served_configure(&s, 1, "a");
    served_configure(&s, 9, "skips"); /* legal */
    served_configure(&s, 9, "reused");
    served_configure(&s, 3, "lower");
    served_configure(&s, 12, "even");
    served_configure(&s, 0, "zero");
    assert_int_equal(served_feed(&s, 5), 0);
    assert_int_equal(s.peer.held_count, 2);
    assert_int_equal(s.answers.count, 4);
    assert_answer(&s, 0, 9, 3);
    assert_answer(&s, 1, 3, 3);
    assert_answer(&s, 2, 12, 3);
    assert_answer(&s, 3, 0, 3);
    assert_contains(s.answers.all[0].text, "stream id 9: the next one must be above 9");
    assert_contains(s.answers.all[2].text, "stream id 12: a client's are odd");
    assert_int_equal(nri_rpc_get_stats(s.peer.rpc)->refused_malformed, 4);
    nri_rpc_call_release(rpc_peer_take(&s.peer));
    nri_rpc_call_release(rpc_peer_take(&s.peer));
    served_answers(&s);
    assert_usable(&s, 11); /* the even one has not moved the mark */
    served_fini(&s);
}

static void test_other_types(void **state)
{
    (void)state;
    struct served s;
    served_init(&s, NULL);
    raw_frame(&s.in, 1, 1, 3, 0, "abc", 3);  /* data for a stream that never was */
    raw_frame(&s.in, 1, 2, 3, 0, "abc", 3);  /* and an even one */
    raw_frame(&s.in, 1, 5, 99, 0, "abc", 3); /* unknown type: ignored */
    raw_frame(&s.in, 1, 7, 2, 0, "abc", 3);  /* a response where requests come: ignored */
    raw_frame(&s.in, 1, 8, 2, 0, "abc", 3);  /* whatever its id: nobody answers answers */
    raw_frame(&s.in, 1, 10, 99, 0, "", 0);   /* unknown type on an even id */
    raw_frame(&s.in, 77, 1, 1, 0, "abc", 3); /* unknown connection id: dropped */
    assert_int_equal(served_feed(&s, 0), 0);
    assert_int_equal(s.answers.count, 3);
    assert_answer(&s, 0, 1, 3);
    assert_answer(&s, 1, 2, 3);
    assert_answer(&s, 2, 10, 3);
    assert_contains(s.answers.all[0].text, "data on stream id 1");
    assert_usable(&s, 1);
    served_fini(&s);
}

static void test_flags(void **state)
{
    (void)state;
    struct served s;
    served_init(&s, NULL);
    for (unsigned flags = 1; flags <= 7; flags++) {
        raw_frame(&s.in, 1, 2 * flags - 1, 1, (uint8_t)flags, "", 0);
    }
    assert_int_equal(served_feed(&s, 0), 0);
    assert_int_equal(s.answers.count, 7);
    assert_answer(&s, 6, 13, 12);
    assert_contains(s.answers.all[6].text, "flags 0x07: streaming calls are not supported");
    assert_usable(&s, 15);
    served_fini(&s);
}

static void test_T46_malformed(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
    } payloads[] = {
        {"\x0a\x7f\x61", 3},             /* a length past the end */
        {"\x0a\xff\xff\xff\xff\x0f", 6}, /* of 4 GiB */
        {"\x0b\x0c", 2},                 /* a group */
        {"\x02\x00", 2},                 /* field number 0 */
        {"\x08\x05", 2},                 /* a number for a text */
        {"\x12\x02\xff\xfe", 4},         /* not UTF-8 */
    };
    struct served s;
    served_init(&s, NULL);
    uint32_t stream = 1;
    for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++, stream += 2) {
        raw_request(&s.in, 1, stream, PLUGIN, "Configure", payloads[i].bytes, payloads[i].size);
        assert_int_equal(served_feed(&s, 0), 0);
        assert_int_equal(s.answers.count, 1);
        assert_answer(&s, 0, stream, 3);
        assert_contains(s.answers.all[0].text, "Configure: ConfigureRequest");
    }
    for (size_t i = 0; i < sizeof payloads / sizeof payloads[0] - 1; i++, stream += 2) {
        raw_frame(&s.in, 1, stream, 1, 0, payloads[i].bytes, payloads[i].size); /* as an envelope */
        assert_int_equal(served_feed(&s, 0), 0);
        assert_answer(&s, 0, stream, 3);
        assert_contains(s.answers.all[0].text, "ttrpc.Request");
    }
    assert_int_equal(nri_rpc_get_stats(s.peer.rpc)->refused_malformed, stream / 2);
    assert_int_equal(s.peer.held_count, 0);
    assert_usable(&s, stream);
    served_fini(&s);
}

static void test_field_path_in_the_text(void **state)
{
    (void)state;
    struct nri_buf container, payload;
    struct served s;
    served_init(&s, NULL);
    raw_init(&container);
    raw_init(&payload);
    raw_bytes(&container, 1, "\xc3", 1); /* Container.id */
    raw_bytes(&payload, 2, container.data, nri_buf_size(&container));
    raw_request(&s.in, 1, 1, PLUGIN, "CreateContainer", payload.data, nri_buf_size(&payload));
    assert_int_equal(served_feed(&s, 0), 0);
    assert_answer(&s, 0, 1, 3);
    assert_contains(s.answers.all[0].text, "CreateContainerRequest.container.id");
    nri_buf_fini(&container);
    nri_buf_fini(&payload);
    served_fini(&s);
}

static void test_refusals(void **state)
{
    (void)state;
    struct served s;
    served_init(&s, NULL);
    char large[3 * NRI_RPC_STATUS_TEXT];
    memset(large, 'x', sizeof large);
    large[sizeof large - 1] = '\0';
    const struct {
        int grpc;
        const char *text;
        int sent;
        const char *sent_text;
    } cases[] = {
        {2, "not on this node", 2, "not on this node"},
        {13, "", 13, ""},
        {9, NULL, 9, ""},
        {0, "no refusal without a code", 2, "no refusal without a code"},
        {2, "broken \xff\xc3 utf-8", 2,
         "broken ?? utf-8"}, /* a Go peer would drop the whole response */
        {2, "gr\xc3\xbc\xc3\x9f", 2, "gr\xc3\xbc\xc3\x9f"},
    };
    const size_t count = sizeof cases / sizeof cases[0];
    for (size_t i = 0; i < count; i++) {
        served_configure(&s, 2 * (uint32_t)i + 1, "x");
        assert_int_equal(served_feed(&s, 0), 0);
        struct nri_rpc_call *call = rpc_peer_take(&s.peer);
        assert_int_equal(nri_rpc_call_refuse(call, cases[i].grpc, cases[i].text), 0);
        nri_rpc_call_release(call);
        served_answers(&s);
        assert_int_equal(s.answers.count, 1);
        assert_answer(&s, 0, 2 * (uint32_t)i + 1, cases[i].sent);
        assert_string_equal(s.answers.all[0].text, cases[i].sent_text);
    }
    served_configure(&s, 101, "x");
    assert_int_equal(served_feed(&s, 0), 0);
    struct nri_rpc_call *call = rpc_peer_take(&s.peer);
    assert_int_equal(nri_rpc_call_refuse(call, 2, large), 0);
    nri_rpc_call_release(call);
    served_answers(&s);
    assert_int_equal(strlen(s.answers.all[0].text), NRI_RPC_STATUS_TEXT);
    served_fini(&s);
}

static void test_released_without_an_answer(void **state)
{
    (void)state;
    struct served s;
    served_init(&s, NULL);
    served_configure(&s, 1, "x");
    assert_int_equal(served_feed(&s, 0), 0);
    nri_rpc_call_release(rpc_peer_take(&s.peer));
    assert_int_equal(nri_rpc_in_flight(s.peer.rpc), 0);
    served_answers(&s);
    assert_answer(&s, 0, 1, 13);
    nri_rpc_call_release(NULL);
    assert_usable(&s, 3);
    served_fini(&s);
}

static void test_replies_that_cannot_be_packed(void **state)
{
    (void)state;
    struct served s;
    served_init(&s, NULL);
    struct nri_error error = {0};
    for (uint32_t stream = 1; stream <= 5; stream += 2) {
        served_configure(&s, stream, "x");
    }
    raw_request(&s.in, 1, 7, PLUGIN, "Synchronize", "", 0);
    assert_int_equal(served_feed(&s, 0), 0);
    configure_request wrong;
    nri__pkg__api__v1alpha1__configure_request__init(&wrong);
    struct nri_rpc_call *call = rpc_peer_take(&s.peer);
    assert_int_equal(nri_rpc_call_reply(call, &wrong.base, &error), NRI_E_INVALID);
    assert_contains(error.text, "Configure: the reply is no");
    assert_int_equal(nri_rpc_call_reply(call, &wrong.base, &error),
                     NRI_E_LATE); /* INTERNAL went out */
    nri_rpc_call_release(call);
    call = rpc_peer_take(&s.peer);
    assert_int_equal(nri_rpc_call_reply(call, NULL, &error), NRI_E_INVALID);
    nri_rpc_call_release(call);
    nri_rpc_call_release(rpc_peer_take(&s.peer));
    /* T51: a NULL in a repeated field */
    Nri__Pkg__Api__V1alpha1__SynchronizeResponse sync;
    container_update *updates[1] = {NULL};
    nri__pkg__api__v1alpha1__synchronize_response__init(&sync);
    sync.n_update = 1;
    sync.update = updates;
    call = rpc_peer_take(&s.peer);
    assert_int_equal(nri_rpc_call_reply(call, &sync.base, &error), NRI_E_INVALID);
    assert_contains(error.text, "update[0]");
    nri_rpc_call_release(call);
    served_answers(&s);
    assert_int_equal(s.answers.count, 4);
    assert_answer(&s, 0, 1, 13);
    assert_answer(&s, 1, 3, 13);
    assert_answer(&s, 2, 5, 13);
    assert_answer(&s, 3, 7, 13);
    assert_contains(s.answers.all[3].text, "update[0]");
    assert_usable(&s, 9);
    served_fini(&s);
}

static void test_T44_timeout_and_metadata(void **state)
{
    (void)state;
    struct served s;
    served_init(&s, NULL);
    struct nri_buf data, pair;
    raw_init(&data);
    raw_init(&pair);
    const uint64_t timeouts[] = {2000000000, UINT64_MAX, (uint64_t)INT64_MAX + 1, INT64_MAX, 0};
    const int64_t expected[] = {2000000000, 0, 0, INT64_MAX, 0};
    for (size_t i = 0; i < 5; i++) {
        nri_buf_reset(&data, 0);
        raw_text(&data, 2, "Configure");
        raw_text(&data, 1, PLUGIN);
        raw_varint(&data, 4, timeouts[i]);
        static const char *const pairs[] = {
            "containerd-namespace-ttrpc", "k8s.io", "key", "", "key", "again", "", "v"};
        for (size_t j = 0; j < i; j++) {
            nri_buf_reset(&pair, 0);
            raw_text(&pair, 1, pairs[2 * j]);
            raw_text(&pair, 2, pairs[2 * j + 1]);
            raw_bytes(&data, 5, pair.data, nri_buf_size(&pair));
        }
        raw_text(&data, 15, "a field of a newer peer");
        raw_frame(&s.in, 1, 2 * (uint32_t)i + 1, 1, 0, data.data, nri_buf_size(&data));
        assert_int_equal(served_feed(&s, 0), 0);
        struct nri_rpc_call *call = rpc_peer_take(&s.peer);
        assert_non_null(call);
        assert_true(nri_rpc_call_timeout(call) == expected[i]);
        const struct nri_rpc_metadata *metadata = nri_rpc_call_get_metadata(call);
        assert_int_equal(metadata->count, i);
        for (size_t j = 0; j < i; j++) {
            assert_string_equal(metadata->keys[j], pairs[2 * j]);
            assert_string_equal(metadata->values[j], pairs[2 * j + 1]);
            assert_int_equal(nri_text_stored_length(metadata->keys[j]), strlen(pairs[2 * j]));
        }
        nri_rpc_call_release(call);
    }
    served_answers(&s);
    nri_buf_reset(&data, 0);
    raw_text(&data, 1, PLUGIN);
    raw_text(&data, 2, "Configure");
    raw_bytes(&data, 5,
              "\x0a\x05"
              "ab",
              4); /* a malformed pair */
    raw_frame(&s.in, 1, 101, 1, 0, data.data, nri_buf_size(&data));
    assert_int_equal(served_feed(&s, 0), 0);
    assert_answer(&s, 0, 101, 3);
    assert_contains(s.answers.all[0].text, "metadata");
    assert_usable(&s, 103);
    nri_buf_fini(&data);
    nri_buf_fini(&pair);
    served_fini(&s);
}

/* A request outlives its connection. */
static void test_closed_under_a_call(void **state)
{
    (void)state;
    struct served s;
    served_init(&s, NULL);
    served_configure(&s, 1, "outlives");
    served_configure(&s, 3, "two");
    assert_int_equal(served_feed(&s, 0), 0);
    struct nri_rpc_call *call = rpc_peer_take(&s.peer), *second = rpc_peer_take(&s.peer);
    raw_header(&s.in, 1, 5, 1, 0, 100); /* and one that is being received */
    raw_data(&s.in, 1, "abc", 3);
    assert_int_equal(served_feed(&s, 0), 0);
    assert_true(nri_rpc_in_message(s.peer.rpc));
    nri_rpc_close(s.peer.rpc, NRI_E_CLOSED, "gone");
    nri_rpc_close(s.peer.rpc, NRI_E_IO, "twice is once");
    assert_int_equal(nri_rpc_in_flight(s.peer.rpc), 0);
    assert_int_equal(nri_rpc_input(s.peer.rpc, (const uint8_t *)"x", 1, 0, NULL), NRI_E_CLOSED);
    configure_response response;
    nri__pkg__api__v1alpha1__configure_response__init(&response);
    struct nri_error error = {0};
    assert_int_equal(nri_rpc_call_reply(call, &response.base, &error), NRI_E_CLOSED);
    nri_rpc_free(s.peer.rpc);
    s.peer.rpc = NULL;
    const configure_request *request =
        (const configure_request *)(const void *)nri_rpc_call_message(call);
    assert_string_equal(request->runtime_name, "outlives");
    assert_non_null(nri_arena_text(nri_rpc_call_arena(call), "more", 4));
    assert_true(nri_rpc_call_seed(call)[0] != 0);
    assert_int_equal(nri_rpc_call_refuse(call, 2, "late"), NRI_E_CLOSED);
    nri_rpc_call_release(call);
    nri_rpc_call_release(second);
    served_fini(&s);
}

static void close_on_request(struct rpc_peer *peer, struct nri_rpc_call *call)
{
    nri_rpc_close(peer->rpc, NRI_E_CLOSED, "by a handler");
    nri_rpc_call_release(call);
}

static void test_closed_by_a_handler(void **state)
{
    (void)state;
    struct served s;
    served_init(&s, NULL);
    s.peer.request = close_on_request;
    served_configure(&s, 1, "closes");
    served_configure(&s, 3, "never seen");
    assert_int_equal(served_feed(&s, 0), 0);
    assert_int_equal(nri_rpc_get_stats(s.peer.rpc)->requests, 1);
    assert_int_equal(s.answers.count, 0);
    served_fini(&s);
}

static void test_frames_that_end_the_connection(void **state)
{
    (void)state;
    static const char *const frames[] = {"\x00\x00\x00\x01\xff\xff\xff\xff",
                                         "\x00\x00\x00\x01\x01\x00\x00\x0b"};
    for (size_t i = 0; i < 2; i++) {
        struct served s;
        struct nri_error error = {0};
        served_init(&s, NULL);
        assert_int_equal(nri_buf_append(&s.in, frames[i], 8), 0);
        assert_int_equal(served_feed(&s, 3), NRI_E_PROTOCOL);
        assert_contains(s.peer.error.text, "mux frame of");
        assert_int_equal(nri_rpc_failure(s.peer.rpc, &error), NRI_E_PROTOCOL);
        assert_int_equal(nri_rpc_input(s.peer.rpc, (const uint8_t *)"x", 1, 0, NULL),
                         NRI_E_PROTOCOL);
        served_fini(&s);
    }
}

static int no_random(void *context, void *bytes, size_t count)
{
    (void)context;
    (void)bytes;
    (void)count;
    return NRI_E_IO;
}

static void test_configurations_that_are_refused(void **state)
{
    (void)state;
    struct rpc_peer peer;
    struct nri_rpc_limits limits;
    nri_rpc_limits_default(&limits);
    limits.max_in_flight = 0;
    assert_int_equal(rpc_peer_init_plugin(&peer, &limits, NULL), NRI_E_INVALID);
    nri_rpc_limits_default(&limits);
    limits.max_pending_calls = 0;
    assert_int_equal(rpc_peer_init_plugin(&peer, &limits, NULL), NRI_E_INVALID);
    assert_int_equal(rpc_peer_init(&peer, 1, NULL, 1, NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(rpc_peer_init(&peer, 3, NULL, 1, NULL, NULL, NULL), NRI_E_INVALID);
    struct nri_host host = {.random = no_random};
    struct nri_rpc_config config = {
        .serve_id = 1, .call_id = 2, .alloc = &peer.alloc, .host = &host};
    nri_rpc_limits_default(&config.limits);
    assert_int_equal(nri_rpc_new(&peer.rpc, &config), NRI_E_IO);
    config.host = &peer.host; /* of the last rpc_peer_init() */
    config.limits.max_pending_calls = SIZE_MAX;
    assert_int_equal(nri_rpc_new(&peer.rpc, &config), NRI_E_NOMEM);
    /* No log, and a limit beyond what any peer reads. */
    config.limits.max_pending_calls = 1;
    config.limits.max_send = SIZE_MAX;
    assert_int_equal(nri_rpc_new(&peer.rpc, &config), 0);
    assert_int_equal(peer.rpc->config.limits.max_send, 1 << 24);
    const uint8_t bad_frame[8] = {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff};
    assert_int_equal(nri_rpc_input(peer.rpc, bad_frame, 8, 1, NULL), NRI_E_PROTOCOL);
    nri_rpc_free(peer.rpc); /* closes as well */
    nri_rpc_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_request_and_reply),
        cmocka_unit_test(test_methods_are_found),
        cmocka_unit_test(test_T38_unknown_service_or_method),
        cmocka_unit_test(test_zero_length_data),
        cmocka_unit_test(test_no_service_at_all),
        cmocka_unit_test(test_stream_ids),
        cmocka_unit_test(test_other_types),
        cmocka_unit_test(test_flags),
        cmocka_unit_test(test_T46_malformed),
        cmocka_unit_test(test_field_path_in_the_text),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_released_without_an_answer),
        cmocka_unit_test(test_replies_that_cannot_be_packed),
        cmocka_unit_test(test_T44_timeout_and_metadata),
        cmocka_unit_test(test_closed_under_a_call),
        cmocka_unit_test(test_closed_by_a_handler),
        cmocka_unit_test(test_frames_that_end_the_connection),
        cmocka_unit_test(test_configurations_that_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
