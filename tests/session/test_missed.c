/* SPDX-License-Identifier: Apache-2.0 */
/* Deadlines that a plugin misses: it learns of them by the log and by the reason of the end. */
#include "session.h"

#include <stdio.h>

#define CLOSED     "the runtime closed the connection"
#define DROPPED    ", which is why the runtime may have dropped the plugin"
#define CREATE     "CreateContainer (pod pod0, container ctr0)"
#define LONG_AFTER (3600 * NRI_SEC)

static void start(struct session *s)
{
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.act = NULL;
}

static nri_request *pending(struct session *s, enum nri_event event)
{
    s->recorder.result = NRI_PENDING;
    (void)fake_runtime_event(&s->fr, event);
    s->recorder.result = 0;
    assert_true(s->recorder.held_count > 0);
    return s->recorder.held[s->recorder.held_count - 1];
}

/* Ends the connection as the peer does, and expects this after its text, everywhere. */
static void expect_reason(struct session *s, const char *more)
{
    char whole[1024];
    (void)snprintf(whole, sizeof whole, "%s%s", CLOSED, more);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, CLOSED);
    assert_int_equal(s->recorder.reason, NRI_E_CLOSED);
    assert_string_equal(s->recorder.reason_text, whole);
    assert_string_equal(nri_core_end_text(s->fr.core), whole);
    const struct fake_record *record = fake_runtime_find_record(&s->fr, "closed:");
    assert_non_null(record);
    assert_contains(record->text, whole);
}

/* A handler that takes its time. */
static int block(struct recorder *recorder, nri_request *request)
{
    struct session *s = recorder->data;
    (void)request;
    s->fr.now += 3 * NRI_SEC;
    return 0;
}

static void blocked(struct session *s, enum nri_event event)
{
    s->recorder.data = s;
    s->recorder.act = block;
    (void)fake_runtime_event(&s->fr, event);
    s->recorder.act = NULL;
}

/* ---- without an answer ---- */

static void test_closed_while_an_overdue_request_waits(void **state)
{
    struct session *s = *state;
    start(s);
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER);
    fake_runtime_advance(&s->fr, 2 * NRI_SEC + 1);
    expect_reason(s, "; " CREATE " was not answered within 2000 ms" DROPPED);
    nri_request_unref(request);
}

/* The runtime's clock ran ahead by the way here. */
static void test_closed_just_before_the_deadline(void **state)
{
    struct session *s = *state;
    start(s);
    s->fr.call_timeout = (int64_t)(2 * NRI_SEC - NRI_MSEC / 5);
    nri_request *request = pending(s, NRI_EVENT_RUN_POD_SANDBOX);
    s->fr.now += 2 * NRI_SEC - 2 * NRI_MSEC;
    expect_reason(s, "; RunPodSandbox (pod pod0) was not answered within 2000 ms" DROPPED);
    nri_request_unref(request);
}

static void test_closed_while_a_request_has_time(void **state)
{
    struct session *s = *state;
    start(s);
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER);
    fake_runtime_advance(&s->fr, NRI_SEC);
    expect_reason(s, "");
    nri_request_unref(request);
}

static void test_the_earliest_of_several_is_named(void **state)
{
    struct session *s = *state;
    s->fr.request_timeout = 700;
    start(s);
    nri_request *first = pending(s, NRI_EVENT_START_CONTAINER);
    fake_runtime_advance(&s->fr, NRI_MSEC);
    nri_request *second = pending(s, NRI_EVENT_CREATE_CONTAINER);
    fake_runtime_advance(&s->fr, NRI_SEC);
    expect_reason(s, "; StartContainer (pod pod0, container ctr0) was not answered within "
                     "700 ms" DROPPED);
    nri_request_unref(first);
    nri_request_unref(second);
}

static void test_S49_an_event_without_objects(void **state)
{
    struct session *s = *state;
    start(s);
    s->recorder.result = NRI_PENDING;
    (void)fake_runtime_sync(&s->fr, 0, 1, 0, 1, false);
    fake_runtime_advance(&s->fr, 3 * NRI_SEC);
    expect_reason(s, "; Synchronize was not answered within 2000 ms" DROPPED);
    nri_request_unref(s->recorder.held[0]);
}

/* Ids are a peer's words: one that is too long is cut where UTF-8 allows, the sentence stays. */
static void test_long_ids_leave_the_sentence_whole(void **state)
{
    struct session *s = *state;
    MESSAGE(CreateContainerRequest) message;
    char id[2 * 500 + 4] = "xxx"; /* each "\xc3\xa9" then begins at an odd offset */
    for (size_t i = 3; i < sizeof id - 1; i += 2)
        memcpy(id + i, "\xc3\xa9", 2);
    id[sizeof id - 1] = '\0';
    start(s);
    INIT(create_container_request)(&message);
    message.pod = fake_pod(&s->fr, id, "pod");
    message.container = fake_container(&s->fr, id, id, "ctr");
    s->recorder.result = NRI_PENDING;
    (void)fake_runtime_call(&s->fr, "CreateContainer", &message.base);
    assert_int_equal(s->recorder.held_count, 1);
    fake_runtime_advance(&s->fr, 3 * NRI_SEC);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, CLOSED);
    assert_contains(s->recorder.reason_text, "CreateContainer (pod xxx\xc3\xa9");
    assert_contains(s->recorder.reason_text,
                    "\xc3\xa9, container xxx\xc3\xa9"); /* cut after a whole character */
    assert_contains(s->recorder.reason_text, "\xc3\xa9) was not answered within 2000 ms" DROPPED);
    nri_request_unref(s->recorder.held[0]);
}

/* ---- answered late ---- */

static void test_a_late_reply_is_logged(void **state)
{
    struct session *s = *state;
    start(s);
    blocked(s, NRI_EVENT_CREATE_CONTAINER);
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), 1);
    const struct fake_record *record = fake_runtime_find_record(&s->fr, "late");
    assert_non_null(record);
    assert_int_equal(record->level, NRI_LOG_WARN);
    assert_string_equal(record->text, CREATE " was answered late: after 3000 ms, and the deadline "
                                             "was 2000 ms (assumed)");
    assert_string_equal(record->event, "CreateContainer");
    assert_string_equal(record->pod, "pod0");
    assert_string_equal(record->container, "ctr0");
    expect_reason(s, "; " CREATE " was not answered within 2000 ms" DROPPED);
}

static void test_a_late_completion_is_logged(void **state)
{
    struct session *s = *state;
    start(s);
    s->fr.call_timeout = (int64_t)NRI_SEC;
    nri_request *request = pending(s, NRI_EVENT_START_CONTAINER);
    fake_runtime_advance(&s->fr, NRI_SEC + 500 * NRI_MSEC);
    assert_int_equal(nri_request_complete(request, NRI_E_REJECTED), 0);
    nri_request_unref(request);
    fake_runtime_run(&s->fr);
    const struct fake_record *record = fake_runtime_find_record(&s->fr, "late");
    assert_non_null(record);
    assert_string_equal(record->text,
                        "StartContainer (pod pod0, container ctr0) was answered late: "
                        "after 1500 ms, and the deadline was 1000 ms");
    expect_reason(s, "; StartContainer (pod pod0, container ctr0) was not answered within "
                     "1000 ms" DROPPED);
}

static void test_a_reply_at_the_deadline_is_in_time(void **state)
{
    struct session *s = *state;
    start(s);
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER);
    fake_runtime_advance(&s->fr, 2 * NRI_SEC);
    assert_int_equal(nri_request_complete(request, 0), 0);
    nri_request_unref(request);
    fake_runtime_run(&s->fr);
    assert_null(fake_runtime_find_record(&s->fr, "late"));
    expect_reason(s, "");
}

/* Behind one that blocked others become late too: it is the first that the runtime gave up on. */
static void test_the_first_of_several_late_ones_is_named(void **state)
{
    struct session *s = *state;
    start(s);
    blocked(s, NRI_EVENT_CREATE_CONTAINER);
    blocked(s, NRI_EVENT_START_CONTAINER);
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), 2);
    expect_reason(s, "; " CREATE " was not answered within 2000 ms" DROPPED);
}

/* The runtime did not drop the plugin for it then: later it has another reason. */
static void test_a_late_reply_of_long_ago_is_no_reason(void **state)
{
    struct session *s = *state;
    start(s);
    blocked(s, NRI_EVENT_CREATE_CONTAINER);
    fake_runtime_advance(&s->fr, LONG_AFTER);
    blocked(s, NRI_EVENT_STOP_CONTAINER);
    fake_runtime_advance(&s->fr, 9 * NRI_SEC);
    expect_reason(s, "; StopContainer (pod pod0, container ctr0) was not answered within "
                     "2000 ms" DROPPED);
    fake_runtime_start(&s->fr);
    blocked(s, NRI_EVENT_CREATE_CONTAINER);
    fake_runtime_advance(&s->fr, LONG_AFTER);
    expect_reason(s, "");
}

/* ---- other ends ---- */

static void test_a_new_connection_knows_nothing_of_the_last(void **state)
{
    struct session *s = *state;
    start(s);
    blocked(s, NRI_EVENT_CREATE_CONTAINER);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, CLOSED);
    fake_runtime_start(&s->fr);
    expect_reason(s, "");
}

static void test_only_the_peer_closes_for_it(void **state)
{
    struct session *s = *state;
    start(s);
    blocked(s, NRI_EVENT_CREATE_CONTAINER);
    fake_runtime_disconnect(&s->fr, 0, "");
    assert_string_equal(s->recorder.reason_text, "stopped");
    fake_runtime_start(&s->fr);
    blocked(s, NRI_EVENT_CREATE_CONTAINER);
    fake_runtime_disconnect(&s->fr, NRI_E_IO, "reading: out of luck");
    assert_string_equal(s->recorder.reason_text, "reading: out of luck");
}

static void test_a_shutdown_is_reason_enough(void **state)
{
    struct session *s = *state;
    MESSAGE(Empty) empty;
    start(s);
    blocked(s, NRI_EVENT_CREATE_CONTAINER);
    INIT(empty)(&empty);
    assert_success(fake_runtime_call(&s->fr, "Shutdown", &empty.base));
    expect_reason(s, "");
}

/* More within a few milliseconds than the log lets through. */
static void test_late_replies_do_not_flood_the_log(void **state)
{
    enum { ROUNDS = 2, COUNT = NRI_LOG_BURST - 4 };
    struct session *s = *state;
    start(s);
    s->fr.call_timeout = NRI_MSEC;
    s->recorder.result = NRI_PENDING;
    for (int round = 0; round < ROUNDS; round++) {
        s->recorder.held_count = 0;
        for (size_t i = 0; i < COUNT; i++)
            (void)fake_runtime_event(&s->fr, NRI_EVENT_START_CONTAINER);
        assert_int_equal(s->recorder.held_count, COUNT);
        s->fr.now += 2 * NRI_MSEC;
        for (size_t i = 0; i < COUNT; i++) {
            assert_int_equal(nri_request_complete(s->recorder.held[i], 0), 0);
            nri_request_unref(s->recorder.held[i]);
        }
        fake_runtime_run(&s->fr);
    }
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), NRI_LOG_BURST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_closed_while_an_overdue_request_waits),
        session_test(test_closed_just_before_the_deadline),
        session_test(test_closed_while_a_request_has_time),
        session_test(test_the_earliest_of_several_is_named),
        session_test(test_S49_an_event_without_objects),
        session_test(test_long_ids_leave_the_sentence_whole),
        session_test(test_a_late_reply_is_logged),
        session_test(test_a_late_completion_is_logged),
        session_test(test_a_reply_at_the_deadline_is_in_time),
        session_test(test_the_first_of_several_late_ones_is_named),
        session_test(test_a_late_reply_of_long_ago_is_no_reason),
        session_test(test_a_new_connection_knows_nothing_of_the_last),
        session_test(test_only_the_peer_closes_for_it),
        session_test(test_a_shutdown_is_reason_enough),
        session_test(test_late_replies_do_not_flood_the_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
