/* SPDX-License-Identifier: Apache-2.0 */
/* The end of a connection, and what does not end it. */
#include "session.h"

#include "rpc_raw.h"

#include <stdlib.h>

#define PLUGIN "nri.pkg.api.v1alpha1.Plugin"

static void start(struct session *s)
{
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
}

static void test_T19_local_stop(void **state)
{
    struct session *s = *state;
    start(s);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    fake_runtime_disconnect(&s->fr, 0, "");
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_DISCONNECTED), 1);
    assert_int_equal(s->recorder.reason, 0);
    assert_string_equal(s->recorder.reason_text, "stopped");
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_IDLE);
    /* An ordinary end is nothing to worry about. */
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), 0);
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_ERROR), 0);
    const struct fake_record *record = fake_runtime_find_record(&s->fr, "closed");
    assert_non_null(record);
    assert_int_equal(record->level, NRI_LOG_INFO);
}

static void test_T19_closed_by_the_peer(void **state)
{
    struct session *s = *state;
    start(s);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "the runtime closed the connection");
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_DISCONNECTED), 1);
    assert_int_equal(s->recorder.reason, NRI_E_CLOSED);
    assert_string_equal(s->recorder.reason_text, "the runtime closed the connection");
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), 1);
    /* Once per connection. */
    nri_core_disconnected(s->fr.core, NRI_E_CLOSED, "", NRI_NO_ATTEMPT, s->fr.now);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_DISCONNECTED), 1);
}

static void test_T20_shutdown_then_eof(void **state)
{
    struct session *s = *state;
    MESSAGE(Empty) empty;
    start(s);
    INIT(empty)(&empty);
    assert_success(fake_runtime_call(&s->fr, "Shutdown", &empty.base));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SHUTDOWN), 1);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_DISCONNECTED), 0);
    /* The peer's end is awaited, not brought about. */
    assert_false(nri_core_should_close(s->fr.core));
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_READY);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "the runtime closed the connection");
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_DISCONNECTED), 1);
    assert_true(recorder_place(&s->recorder, NRI_EVENT_SHUTDOWN) <
                recorder_place(&s->recorder, NRI_EVENT_DISCONNECTED));
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), 0);
}

/* ---- cut off anywhere ---- */

/* The bytes of a runtime, recorded: the reply to RegisterPlugin, Configure, and some events. */
static void record_runtime(struct nri_buf *bytes)
{
    static const uint8_t pod[] = "\x0a\x06\x0a\x04pod0";
    raw_frame(bytes, 2, 1, 2, 0, "\x12\x00", 2);
    raw_request(bytes, 1, 1, PLUGIN, "Configure", "\x12\x01x", 3);
    raw_request(bytes, 1, 3, PLUGIN, "Synchronize", "", 0);
    raw_request(bytes, 1, 5, PLUGIN, "RunPodSandbox", pod, sizeof pod - 1);
    raw_request(bytes, 1, 7, PLUGIN, "CreateContainer", pod, sizeof pod - 1);
    raw_request(bytes, 1, 9, PLUGIN, "Shutdown", "", 0);
}

/* A core that nobody feeds, and the bytes that may be fed to it. */
static void make_core(struct session *s, struct nri_buf *bytes)
{
    recorder_all(&s->fr.ops);
    s->fr.ops.on_validate_adjustment = NULL;
    assert_int_equal(nri_core_new(&s->fr.core, &s->fr.config, &s->fr.error), 0);
    raw_init(bytes);
    record_runtime(bytes);
}

/* One core, fed by hand. */
static void feed_and_close(struct session *s, const struct nri_buf *bytes, size_t count, int reason)
{
    assert_int_equal(nri_core_connected(s->fr.core, s->fr.now, &s->fr.error), 0);
    uint8_t *copy = malloc(count + 1);
    assert_non_null(copy);
    memcpy(copy, bytes->data + bytes->start, count);
    nri_core_input(s->fr.core, copy, count, s->fr.now);
    free(copy);
    nri_core_disconnected(s->fr.core, reason, "", NRI_NO_ATTEMPT, s->fr.now);
}

static void test_one_end_for_each_start_wherever_the_peer_closes(void **state)
{
    struct session *s = *state;
    struct nri_buf bytes;
    make_core(s, &bytes);
    const size_t size = nri_buf_size(&bytes);
    for (size_t count = 0; count <= size; count++) {
        for (int pending = 0; pending < 2; pending++) {
            s->recorder.count = s->recorder.held_count = 0;
            s->recorder.result = pending ? NRI_PENDING : 0;
            feed_and_close(s, &bytes, count, NRI_E_CLOSED);
            assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CONNECTED), 1);
            assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_DISCONNECTED), 1);
            assert_int_equal(s->recorder.entries[0].event, NRI_EVENT_CONNECTED);
            assert_int_equal(s->recorder.entries[s->recorder.count - 1].event,
                             NRI_EVENT_DISCONNECTED);
            for (size_t i = 0; i < s->recorder.held_count; i++)
                nri_request_unref(s->recorder.held[i]);
        }
    }
    /* All of it was heard: connected, configured, synchronised, two events, shut down, ended. */
    s->recorder.result = 0;
    s->recorder.count = 0;
    feed_and_close(s, &bytes, size, 0);
    assert_int_equal(s->recorder.count, 7);
    nri_buf_fini(&bytes);
}

static void test_in_message(void **state)
{
    struct session *s = *state;
    struct nri_buf bytes;
    make_core(s, &bytes);
    assert_false(nri_core_in_message(s->fr.core));
    assert_int_equal(nri_core_connected(s->fr.core, s->fr.now, &s->fr.error), 0);
    assert_false(nri_core_in_message(s->fr.core));
    nri_core_input(s->fr.core, bytes.data, 3, s->fr.now);
    assert_true(nri_core_in_message(s->fr.core));
    nri_core_input(s->fr.core, bytes.data + 3, nri_buf_size(&bytes) - 3, s->fr.now);
    assert_false(nri_core_in_message(s->fr.core));
    nri_core_disconnected(s->fr.core, NRI_E_CLOSED, "", NRI_NO_ATTEMPT, s->fr.now);
    nri_buf_fini(&bytes);
}

/* ---- what keeps the connection ---- */

/* Sends bytes as the runtime, and returns what the core answers. */
static void raw_exchange(struct session *s, struct nri_buf *bytes, struct raw_responses *responses)
{
    const uint8_t *out;
    size_t count;
    struct nri_buf answer;
    nri_core_input(s->fr.core, bytes->data + bytes->start, nri_buf_size(bytes), s->fr.now);
    raw_init(&answer);
    nri_core_output(s->fr.core, &out, &count);
    assert_int_equal(nri_buf_append(&answer, out, count), 0);
    nri_core_written(s->fr.core, count);
    raw_responses(&answer, responses);
    nri_buf_fini(&answer);
    nri_buf_reset(bytes, 0);
}

static void expect_answer(struct session *s, struct nri_buf *bytes, uint32_t stream, int grpc)
{
    struct raw_responses responses;
    raw_exchange(s, bytes, &responses);
    assert_int_equal(responses.count, 1);
    assert_int_equal(responses.all[0].stream, stream);
    assert_int_equal(responses.all[0].grpc, grpc);
    raw_responses_free(&responses);
    assert_false(nri_core_should_close(s->fr.core));
}

static void test_T38_unknown_service_and_method(void **state)
{
    struct session *s = *state;
    struct nri_buf bytes;
    start(s);
    raw_init(&bytes);
    raw_request(&bytes, 1, 101, PLUGIN, "NoSuch", "", 0);
    expect_answer(s, &bytes, 101, NRI_GRPC_UNIMPLEMENTED);
    raw_request(&bytes, 1, 103, "x.Y", "Configure", "", 0);
    expect_answer(s, &bytes, 103, NRI_GRPC_UNIMPLEMENTED);
    raw_request(&bytes, 1, 105, PLUGIN, "StartContainer", "", 0);
    expect_answer(s, &bytes, 105, NRI_GRPC_OK);
    nri_buf_fini(&bytes);
}

static void test_T46_malformed_requests_keep_the_connection(void **state)
{
    static const struct {
        const char *bytes;
        size_t count;
    } payloads[] = {
        {"\x0a\x7f\x61", 3},             /* a length past the end */
        {"\x0a\xff\xff\xff\xff\x0f", 6}, /* a huge one */
        {"\x0b\x0c", 2},                 /* a group */
        {"\x02\x00", 2},                 /* field 0 */
        {"\x08\x05", 2},                 /* pod as a number */
        {"\x0a\x03\x0a\x01\xff", 5},     /* an id that is no UTF-8 */
    };
    struct session *s = *state;
    struct nri_buf bytes;
    uint32_t stream = 101;
    start(s);
    s->recorder.count = 0;
    raw_init(&bytes);
    for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++, stream += 2) {
        raw_request(&bytes, 1, stream, PLUGIN, "CreateContainer", payloads[i].bytes,
                    payloads[i].count);
        expect_answer(s, &bytes, stream, NRI_GRPC_INVALID_ARGUMENT);
    }
    raw_frame(&bytes, 1, stream, 1, 0, "\xff\xff", 2); /* no ttrpc.Request */
    expect_answer(s, &bytes, stream, NRI_GRPC_INVALID_ARGUMENT);
    assert_int_equal(s->recorder.count, 0);
    raw_frame(&bytes, 7, 1, 1, 0, "", 0);           /* unknown connection id */
    raw_frame(&bytes, 1, stream + 2, 77, 0, "", 0); /* unknown type */
    raw_request(&bytes, 1, stream + 4, PLUGIN, "StartContainer", "", 0);
    expect_answer(s, &bytes, stream + 4, NRI_GRPC_OK);
    nri_buf_fini(&bytes);
}

static void test_a_frame_that_no_peer_sends_ends_it(void **state)
{
    struct session *s = *state;
    struct nri_error error;
    start(s);
    nri_core_input(s->fr.core, (const uint8_t *)"\0\0\0\1\xff\xff\xff\xff", 8, s->fr.now);
    assert_true(nri_core_should_close(s->fr.core));
    assert_int_equal(nri_core_close_reason(s->fr.core, &error), NRI_E_PROTOCOL);
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_STOPPING);
    assert_int_equal(nri_core_deadline(s->fr.core), NRI_NEVER);
    fake_runtime_disconnect(&s->fr, error.code, error.text);
    assert_int_equal(s->recorder.reason, NRI_E_PROTOCOL);
    fake_runtime_start(&s->fr);
}

static void test_a_peer_that_does_not_read_ends_it(void **state)
{
    struct session *s = *state;
    struct nri_buf bytes;
    struct nri_error error;
    s->fr.config.limits.max_output_bytes = 10000;
    start(s);
    raw_init(&bytes);
    for (uint32_t stream = 101; !nri_core_should_close(s->fr.core); stream += 2) {
        assert_true(stream < 10000);
        raw_request(&bytes, 1, stream, PLUGIN, "StartContainer", "", 0);
        nri_core_input(s->fr.core, bytes.data + bytes.start, nri_buf_size(&bytes), s->fr.now);
        nri_buf_reset(&bytes, 4096);
    }
    assert_int_equal(nri_core_close_reason(s->fr.core, &error), NRI_E_LIMIT);
    assert_contains(error.text, "max_output_bytes");
    nri_buf_fini(&bytes);
}

/* ---- a stop within a read ---- */

static bool is_wanted(void *user)
{
    return *(const bool *)user;
}

static int stop_at_the_second(struct recorder *recorder, nri_request *request)
{
    if (nri_request_event(request) == NRI_EVENT_START_CONTAINER)
        *(bool *)recorder->data = false;
    return nri_request_event(request) == NRI_EVENT_RUN_POD_SANDBOX ? NRI_PENDING : 0;
}

/* Four requests in one read, and the handler of the second one stops the plugin: the others reach
 * no handler, and are answered. What was taken before may still be completed. */
static void test_requests_behind_a_stop_pass(void **state)
{
    struct session *s = *state;
    struct nri_buf bytes, out;
    struct raw_responses answers;
    const uint8_t *data;
    size_t count;
    bool wanted = true;
    s->fr.config.wanted = is_wanted;
    s->fr.config.wanted_user = &wanted;
    start(s);
    s->recorder.count = 0;
    s->recorder.act = stop_at_the_second;
    s->recorder.data = &wanted;
    raw_init(&bytes);
    raw_init(&out);
    raw_request(&bytes, 1, 101, PLUGIN, "RunPodSandbox", "", 0);
    raw_request(&bytes, 1, 103, PLUGIN, "StartContainer", "", 0);
    raw_request(&bytes, 1, 105, PLUGIN, "CreateContainer", "", 0);
    raw_request(&bytes, 1, 107, PLUGIN, "Synchronize", "", 0);
    nri_core_input(s->fr.core, bytes.data, nri_buf_size(&bytes), s->fr.now);
    assert_int_equal(s->recorder.count, 2);
    assert_int_equal(nri_request_complete(s->recorder.held[0], 0), 0);
    nri_core_drain(s->fr.core, s->fr.now);
    nri_core_output(s->fr.core, &data, &count);
    assert_int_equal(nri_buf_append(&out, data, count), 0);
    nri_core_written(s->fr.core, count);
    raw_responses(&out, &answers);
    assert_int_equal(answers.count, 4);
    assert_int_equal(answers.all[0].stream, 103);
    assert_int_equal(answers.all[0].grpc, 0);
    /* A refusal would fail the container; a Synchronize without its handler would be a lie. */
    assert_int_equal(answers.all[1].stream, 105);
    assert_int_equal(answers.all[1].grpc, 0);
    assert_int_equal(answers.all[2].stream, 107);
    assert_int_equal(answers.all[2].grpc, NRI_GRPC_UNKNOWN);
    assert_contains(answers.all[2].text, "closing the connection");
    assert_int_equal(answers.all[3].stream, 101);
    assert_int_equal(answers.all[3].grpc, 0);
    assert_false(nri_core_should_close(s->fr.core)); /* the stop is the driver's affair */
    raw_responses_free(&answers);
    nri_buf_fini(&bytes);
    nri_buf_fini(&out);
    s->recorder.act = NULL;
    nri_request_unref(s->recorder.held[0]);
}

/* ---- what is logged ---- */

static size_t occurrences(const char *text, const char *part)
{
    size_t count = 0;
    for (const char *at = strstr(text, part); at != NULL; at = strstr(at + 1, part))
        count++;
    return count;
}

/* One record tells the end, and names the peer once, whether the reason does so or not. */
static void expect_one_record_of_the_end(struct session *s, int reason, const char *text)
{
    const size_t before = s->fr.record_count;
    size_t told = 0;
    fake_runtime_disconnect(&s->fr, reason, text);
    for (size_t i = before; i < s->fr.record_count; i++)
        told += s->fr.records[i].level <= NRI_LOG_INFO;
    assert_int_equal(told, 1);
    assert_int_equal(occurrences(s->fr.records[before].text, FAKE_PEER), 1);
    assert_contains(s->fr.records[before].text, text);
}

static void test_T53_an_end_is_logged_once(void **state)
{
    struct session *s = *state;
    struct nri_error error;
    start(s);
    const size_t records = s->fr.record_count;
    nri_core_input(s->fr.core, (const uint8_t *)"\0\0\0\1\xff\xff\xff\xff", 8, s->fr.now);
    assert_int_equal(s->fr.record_count, records);
    assert_int_equal(nri_core_close_reason(s->fr.core, &error), NRI_E_PROTOCOL);
    expect_one_record_of_the_end(s, error.code, error.text);
    fake_runtime_start(&s->fr);
    expect_one_record_of_the_end(s, NRI_E_IO, FAKE_PEER ": reading: Connection reset by peer");
    fake_runtime_start(&s->fr);
    expect_one_record_of_the_end(s, 0, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_T19_local_stop),
        session_test(test_T19_closed_by_the_peer),
        session_test(test_T20_shutdown_then_eof),
        session_test(test_one_end_for_each_start_wherever_the_peer_closes),
        session_test(test_in_message),
        session_test(test_T38_unknown_service_and_method),
        session_test(test_T46_malformed_requests_keep_the_connection),
        session_test(test_a_frame_that_no_peer_sends_ends_it),
        session_test(test_a_peer_that_does_not_read_ends_it),
        session_test(test_requests_behind_a_stop_pass),
        session_test(test_T53_an_end_is_logged_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
