/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a request: completed later, twice, never, too late; kept beyond its connection. */
#include "session.h"

static nri_request *pending(struct session *s, enum nri_event event, struct rpc_outcome **outcome)
{
    if (s->fr.core == NULL) {
        recorder_all(&s->fr.ops);
        fake_runtime_start(&s->fr);
        s->recorder.result = NRI_PENDING;
    }
    *outcome = fake_runtime_event(&s->fr, event);
    assert_int_equal((*outcome)->count, 0);
    return s->recorder.held[s->recorder.held_count - 1];
}

static void test_completed_later(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER, &outcome);
    assert_int_equal(nri_adjustment_add_env(nri_request_adjustment(request), "A", "1"), 0);
    const size_t wakes = s->fr.wakes;
    assert_int_equal(nri_request_complete(request, 0), 0);
    assert_true(s->fr.wakes > wakes);
    assert_null(nri_request_unref(request));
    assert_int_equal(outcome->count, 0); /* the loop's thread sends it */
    fake_runtime_run(&s->fr);
    assert_success(outcome);
    const MESSAGE(CreateContainerResponse) *response =
        (const MESSAGE(CreateContainerResponse) *)outcome->message;
    assert_int_equal(response->adjust->n_env, 1);
}

static void test_refused_later(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER, &outcome);
    assert_int_equal(nri_request_complete(request, NRI_E_BUSY), 0);
    nri_request_unref(request);
    fake_runtime_run(&s->fr);
    assert_refusal(outcome, NRI_GRPC_RESOURCE_EXHAUSTED, "busy");
}

static void test_completed_out_of_order(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *first, *second;
    nri_request *a = pending(s, NRI_EVENT_CREATE_CONTAINER, &first);
    nri_request *b = pending(s, NRI_EVENT_START_CONTAINER, &second);
    assert_int_equal(nri_request_complete(b, 0), 0);
    fake_runtime_run(&s->fr);
    assert_success(second);
    assert_int_equal(first->count, 0);
    assert_int_equal(nri_request_complete(a, 0), 0);
    fake_runtime_run(&s->fr);
    assert_success(first);
    nri_request_unref(a);
    nri_request_unref(b);
}

static void test_completed_twice(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER, &outcome);
    assert_int_equal(nri_request_complete(request, NRI_E_REJECTED), 0);
    assert_int_equal(nri_request_complete(request, 0), NRI_E_LATE);
    fake_runtime_run(&s->fr);
    assert_int_equal(nri_request_complete(request, 0), NRI_E_LATE);
    assert_refusal(outcome, NRI_GRPC_UNKNOWN, "rejected");
    nri_request_unref(request);
    fake_runtime_run(&s->fr);
    assert_int_equal(outcome->count, 1);
}

static void test_completed_with_no_code(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER, &outcome);
    assert_int_equal(nri_request_complete(request, 7), 0);
    nri_request_unref(request);
    fake_runtime_run(&s->fr);
    assert_refusal(outcome, NRI_GRPC_INTERNAL, "with 7");
}

static void test_builders_are_sealed_by_completion(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER, &outcome);
    assert_int_equal(nri_request_complete(request, 0), 0);
    assert_int_equal(nri_adjustment_add_env(nri_request_adjustment(request), "A", "1"),
                     NRI_E_STATE);
    assert_int_equal(nri_request_fail(request, NRI_E_REJECTED, "too late"), NRI_E_REJECTED);
    fake_runtime_run(&s->fr);
    assert_success(outcome);
    assert_int_equal(protobuf_c_message_get_packed_size(outcome->message), 0);
    nri_request_unref(request);
}

static void test_dropped_without_an_answer(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER, &outcome);
    nri_request_ref(request);
    nri_request_unref(request);
    fake_runtime_run(&s->fr);
    assert_int_equal(outcome->count, 0);
    nri_request_unref(request);
    fake_runtime_run(&s->fr);
    assert_refusal(outcome, NRI_GRPC_INTERNAL, "without an answer");
}

static void test_dropped_after_fail(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER, &outcome);
    (void)nri_request_fail(request, NRI_E_REJECTED, "the real reason");
    nri_request_unref(request);
    fake_runtime_run(&s->fr);
    assert_refusal(outcome, NRI_GRPC_UNKNOWN, "the real reason");
}

static int complete_at_once(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    (void)nri_adjustment_add_env(nri_request_adjustment(request), "A", "1");
    (void)nri_request_complete(request, 0);
    nri_request_unref(request);
    return NRI_PENDING;
}

static void test_completed_within_the_handler(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    s->recorder.act = complete_at_once;
    fake_runtime_start(&s->fr);
    s->recorder.held_count = 0;
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
}

static int complete_and_return_0(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    if (nri_request_event(request) == NRI_EVENT_CREATE_CONTAINER)
        (void)nri_request_complete(request, NRI_E_REJECTED);
    return 0;
}

static void test_the_first_answer_wins(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    s->recorder.act = complete_and_return_0;
    fake_runtime_start(&s->fr);
    const struct rpc_outcome *outcome = fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER);
    assert_refusal(outcome, NRI_GRPC_UNKNOWN, "rejected");
}

static int keep_a_reference(struct recorder *recorder, nri_request *request)
{
    *(nri_request **)recorder->data = nri_request_ref(request);
    return 0;
}

static void test_kept_after_the_answer(void **state)
{
    struct session *s = *state;
    nri_request *kept = NULL;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.act = keep_a_reference;
    s->recorder.data = &kept;
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    s->recorder.act = NULL;
    for (int i = 0; i < 20; i++)
        assert_success(fake_runtime_event(&s->fr, NRI_EVENT_START_CONTAINER));
    assert_string_equal(nri_pod_name(nri_request_pod(kept)), "pod-name");
    assert_int_equal(nri_request_complete(kept, 0), NRI_E_LATE);
    nri_request_unref(kept);
}

static void test_completed_after_the_end(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER, &outcome);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "gone");
    assert_int_equal(nri_request_complete(request, 0), NRI_E_CLOSED);
    assert_string_equal(nri_container_id(nri_request_container(request)), "ctr0");
    /* Also when the core is connected again: the request is the old connection's. */
    s->recorder.result = 0;
    fake_runtime_start(&s->fr);
    assert_int_equal(nri_request_complete(request, 0), NRI_E_CLOSED);
    nri_request_unref(request);
}

static void test_queued_at_the_end(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER, &outcome);
    assert_int_equal(nri_request_complete(request, 0), 0);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "gone");
    assert_int_equal(nri_request_complete(request, 0), NRI_E_CLOSED);
    nri_request_unref(request);
}

static void test_dropped_after_the_end(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    nri_request *a = pending(s, NRI_EVENT_CREATE_CONTAINER, &outcome);
    nri_request *b = pending(s, NRI_EVENT_CREATE_CONTAINER, &outcome);
    nri_request_unref(a); /* in the queue when the connection goes */
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "gone");
    nri_request_unref(b);
}

static void test_kept_beyond_the_core(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    s->fr.config.plugin = (nri_plugin *)(void *)s; /* an address, never followed */
    nri_request *request = pending(s, NRI_EVENT_CREATE_CONTAINER, &outcome);
    assert_ptr_equal(nri_request_plugin(request), s);
    assert_true(nri_request_time_left(request) > 0);
    fake_runtime_disconnect(&s->fr, 0, "");
    nri_core_free(s->fr.core);
    s->fr.core = NULL;
    assert_null(nri_request_plugin(request));
    assert_int_equal(nri_request_time_left(request), 0);
    assert_int_equal(nri_request_event(request), NRI_EVENT_CREATE_CONTAINER);
    assert_string_equal(nri_pod_name(nri_request_pod(request)), "pod-name");
    assert_int_equal(nri_adjustment_add_env(nri_request_adjustment(request), "A", "1"), 0);
    const size_t wakes = s->fr.wakes;
    assert_int_equal(nri_request_complete(request, 0), NRI_E_CLOSED);
    nri_request_unref(request);
    assert_int_equal(s->fr.wakes, wakes);
}

/* ---- beyond max_in_flight ---- */

static void test_more_than_max_in_flight(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcomes[6];
    recorder_all(&s->fr.ops);
    s->fr.config.limits.max_in_flight = 2;
    fake_runtime_start(&s->fr);
    s->recorder.result = NRI_PENDING;
    for (size_t i = 0; i < 6; i++)
        outcomes[i] = fake_runtime_event(&s->fr, NRI_EVENT_START_CONTAINER);
    assert_int_equal(s->recorder.held_count, 2);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(nri_request_complete(s->recorder.held[i], 0), 0);
        nri_request_unref(s->recorder.held[i]);
        fake_runtime_run(&s->fr);
        assert_success(outcomes[i]);
    }
    assert_int_equal(s->recorder.held_count, 6);
}

/* ---- the library's own events ---- */

static int own_event(nri_request *request, void *user)
{
    struct recorder *recorder = user;
    recorder->entries[recorder->count++].event = nri_request_event(request);
    recorder->held[recorder->held_count++] = nri_request_ref(request);
    /* Readers give empties, builders are blocked, nothing can be completed. */
    recorder->result += nri_pod_id(nri_request_pod(request))[0] != '\0';
    recorder->result += nri_request_metadata_count(request) != 0;
    recorder->result += nri_request_config(request)[0] != '\0';
    recorder->result += nri_request_time_left(request) != 0;
    recorder->result +=
        nri_adjustment_add_env(nri_request_adjustment(request), "A", "1") != NRI_E_EVENT;
    recorder->result += nri_updates_evict(nri_request_updates(request), "a", NULL) != NRI_E_EVENT;
    recorder->result += nri_request_complete(request, 0) != NRI_E_LATE;
    recorder->result += nri_request_set_events(request, 1) != NRI_E_EVENT;
    return NRI_E_REJECTED; /* the result is ignored */
}

static void test_own_events(void **state)
{
    struct session *s = *state;
    s->fr.ops.on_create_container = recorder_handler;
    s->fr.ops.on_connected = own_event;
    s->fr.ops.on_disconnected = own_event;
    fake_runtime_start(&s->fr);
    fake_runtime_disconnect(&s->fr, NRI_E_IO, "read: out of luck");
    assert_int_equal(s->recorder.count, 2);
    assert_int_equal(s->recorder.entries[0].event, NRI_EVENT_CONNECTED);
    assert_int_equal(s->recorder.entries[1].event, NRI_EVENT_DISCONNECTED);
    assert_int_equal(s->recorder.result, 0);
    nri_request *kept = s->recorder.held[1];
    assert_int_equal(nri_request_reason(s->recorder.held[0]), 0);
    assert_string_equal(nri_request_reason_text(s->recorder.held[0]), "");
    assert_int_equal(nri_request_reason(kept), NRI_E_IO);
    assert_string_equal(nri_request_reason_text(kept), "read: out of luck");
    assert_int_equal(nri_text_length(nri_request_reason_text(kept)), 17);
    nri_core_free(s->fr.core);
    s->fr.core = NULL;
    assert_string_equal(nri_request_reason_text(kept), "read: out of luck");
    assert_null(nri_request_plugin(kept));
    nri_request_unref(s->recorder.held[0]);
    nri_request_unref(kept);
}

static int own_pending(nri_request *request, void *user)
{
    struct recorder *recorder = user;
    recorder->held[recorder->held_count++] = request;
    return NRI_PENDING;
}

static void test_own_event_returns_pending(void **state)
{
    struct session *s = *state;
    s->fr.ops.on_create_container = recorder_handler;
    s->fr.ops.on_connected = own_pending;
    s->fr.ops.on_disconnected = own_pending;
    fake_runtime_start(&s->fr);
    fake_runtime_disconnect(&s->fr, 0, "");
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), 2);
    nri_core_free(s->fr.core);
    s->fr.core = NULL;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(nri_request_complete(s->recorder.held[i], 0), NRI_E_LATE);
        nri_request_unref(s->recorder.held[i]);
    }
}

static int own_unref(nri_request *request, void *user)
{
    (void)user;
    nri_request_unref(request); /* one that it does not hold */
    return 0;
}

static void test_own_event_unrefs_what_it_does_not_hold(void **state)
{
    struct session *s = *state;
    s->fr.ops.on_create_container = recorder_handler;
    s->fr.ops.on_connected = own_unref;
    s->fr.ops.on_disconnected = own_unref;
    for (int i = 0; i < 3; i++) {
        fake_runtime_start(&s->fr);
        fake_runtime_disconnect(&s->fr, 0, "");
    }
}

static void test_unref_of_nothing(void **state)
{
    (void)state;
    assert_null(nri_request_unref(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_completed_later),
        session_test(test_refused_later),
        session_test(test_completed_out_of_order),
        session_test(test_completed_twice),
        session_test(test_completed_with_no_code),
        session_test(test_builders_are_sealed_by_completion),
        session_test(test_dropped_without_an_answer),
        session_test(test_dropped_after_fail),
        session_test(test_completed_within_the_handler),
        session_test(test_the_first_answer_wins),
        session_test(test_kept_after_the_answer),
        session_test(test_completed_after_the_end),
        session_test(test_queued_at_the_end),
        session_test(test_dropped_after_the_end),
        session_test(test_kept_beyond_the_core),
        session_test(test_more_than_max_in_flight),
        session_test(test_own_events),
        session_test(test_own_event_returns_pending),
        session_test(test_own_event_unrefs_what_it_does_not_hold),
        session_test(test_unref_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
