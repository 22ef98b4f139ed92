/* SPDX-License-Identifier: Apache-2.0 */
/* The deadline guard: what is pending shortly before its deadline is answered in the plugin's
 * place, and what comes later comes too late. The clock is the test's. */
#include "session.h"

#include "plugin/internal.h"

#define BUDGET (2 * NRI_SEC) /* assumed when nobody says */
#define MARGIN (BUDGET / 10) /* what the options below make of it */
#define CREATE NRI_EVENT_CREATE_CONTAINER

static void start(struct session *s)
{
    s->fr.config.deadlines = (struct nri_deadline_settings){
        .guard = true,
        .margin_percent = 10,
        .margin = 50 * NRI_MSEC,
        .refused = NRI_EVENT_BIT(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT),
        .slow_percent = 50,
    };
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
}

static nri_request *hold(struct session *s, enum nri_event event, struct rpc_outcome **outcome)
{
    s->recorder.result = NRI_PENDING;
    *outcome = fake_runtime_event(&s->fr, event);
    s->recorder.result = 0;
    assert_int_equal((*outcome)->count, 0);
    return s->recorder.held[s->recorder.held_count - 1];
}

static uint64_t count(const struct session *s, enum nri_event event, enum nri_event_counter counter)
{
    return nri_core_count_event(s->fr.core, event, counter);
}

static void test_T14_a_pending_request_passes_unchanged(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    start(s);
    nri_request *request = hold(s, CREATE, &outcome);
    assert_int_equal(nri_adjustment_add_env(nri_request_adjustment(request), "HALF", "built"), 0);
    assert_int_equal(nri_core_deadline(s->fr.core), s->fr.now + BUDGET - MARGIN);
    fake_runtime_advance(&s->fr, BUDGET - MARGIN - 1);
    assert_int_equal(outcome->count, 0);
    fake_runtime_advance(&s->fr, 1);
    assert_success(outcome);
    const MESSAGE(CreateContainerResponse) *reply = (const void *)outcome->message;
    assert_null(reply->adjust); /* what was half built is not sent */
    assert_int_equal(nri_request_complete(request, 0), NRI_E_LATE);
    assert_int_equal(nri_request_complete(request, NRI_E_REJECTED), NRI_E_LATE);
    /* Its builder still stands, and does nothing. */
    assert_int_equal(nri_adjustment_add_env(nri_request_adjustment(request), "LATER", "1"), 0);
    assert_string_equal(nri_pod_id(nri_request_pod(request)), "pod0");
    nri_request_unref(request);
    assert_int_equal(count(s, CREATE, NRI_COUNT_GUARDED), 1);
    assert_int_equal(count(s, CREATE, NRI_COUNT_LATE), 2);
    assert_int_equal(count(s, CREATE, NRI_COUNT_REPLIES), 0);
    const struct fake_record *record = fake_runtime_find_record(&s->fr, "lets it pass unchanged");
    assert_non_null(record);
    assert_int_equal(record->level, NRI_LOG_WARN);
    assert_string_equal(record->container, "ctr0");
    /* The connection lives. */
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_READY);
    assert_success(fake_runtime_event(&s->fr, CREATE));
}

static void test_policies(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    start(s);
    nri_request *request = hold(s, NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT, &outcome);
    fake_runtime_advance(&s->fr, BUDGET - MARGIN);
    assert_success(outcome); /* a veto is a success that says so */
    const MESSAGE(ValidateContainerAdjustmentResponse) *veto = (const void *)outcome->message;
    assert_true(veto->reject);
    assert_string_equal(veto->reason, "the plugin has not answered in time");
    nri_request_unref(request);
    request = hold(s, NRI_EVENT_STOP_CONTAINER, &outcome);
    fake_runtime_advance(&s->fr, BUDGET - MARGIN);
    assert_success(outcome);
    nri_request_unref(request);
}

static void test_an_event_can_be_refused_instead(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    start(s);
    s->fr.core->config.deadlines.refused = nri_event_bit(CREATE);
    nri_request *request = hold(s, CREATE, &outcome);
    fake_runtime_advance(&s->fr, BUDGET - MARGIN);
    assert_refusal(outcome, 2, "the plugin has not answered in time");
    assert_int_equal(nri_request_complete(request, 0), NRI_E_LATE);
    nri_request_unref(request);
}

/* The margin is a part of the time and at least 50 ms, but never more than half of it. */
static void test_margins(void **state)
{
    static const struct {
        int64_t timeout;
        uint64_t at; /* after the request came */
    } cases[] = {
        {(int64_t)(10 * NRI_SEC), 9 * NRI_SEC},        {(int64_t)(100 * NRI_MSEC), 50 * NRI_MSEC},
        {(int64_t)(60 * NRI_MSEC), 30 * NRI_MSEC},     {2, 1},
        {INT64_MAX, INT64_MAX - INT64_MAX / 100 * 10},
    };
    struct session *s = *state;
    start(s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct rpc_outcome *outcome;
        s->fr.call_timeout = cases[i].timeout;
        nri_request *request = hold(s, CREATE, &outcome);
        assert_int_equal(request->guard_at - s->fr.now, cases[i].at);
        assert_int_equal(nri_core_deadline(s->fr.core), request->guard_at);
        assert_int_equal(nri_request_complete(request, 0), 0);
        nri_request_unref(request);
        fake_runtime_run(&s->fr);
        assert_success(outcome);
        assert_int_equal(nri_core_deadline(s->fr.core), NRI_NEVER);
    }
}

/* Many at once, with different deadlines: each at its own time, once. */
static void test_many_pending(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcomes[40];
    nri_request *requests[40];
    start(s);
    for (size_t i = 0; i < 40; i++) {
        s->fr.call_timeout = (int64_t)((1 + (i * 7) % 40) * NRI_SEC);
        requests[i] = hold(s, CREATE, &outcomes[i]);
    }
    /* Completed before its time: the guard leaves it alone. */
    assert_int_equal(nri_request_complete(requests[5], 0), 0);
    for (uint64_t tenths = 0; tenths <= 400; tenths++) {
        for (size_t i = 0; i < 40; i++)
            assert_int_equal(outcomes[i]->count,
                             9 * (1 + (i * 7) % 40) <= tenths || (i == 5 && tenths > 0));
        fake_runtime_advance(&s->fr, NRI_SEC / 10);
    }
    for (size_t i = 0; i < 40; i++) {
        assert_success(outcomes[i]);
        assert_int_equal(nri_request_complete(requests[i], 0), NRI_E_LATE);
        nri_request_unref(requests[i]);
    }
    assert_int_equal(count(s, CREATE, NRI_COUNT_GUARDED), 39);
}

static void test_synchronize_passes_and_configure_has_no_guard(void **state)
{
    struct session *s = *state;
    start(s);
    s->recorder.result = NRI_PENDING;
    struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 0, 1, 0, 1, false);
    s->recorder.result = 0;
    fake_runtime_advance(&s->fr, BUDGET - MARGIN);
    assert_success(outcome);
    assert_int_equal(((const MESSAGE(SynchronizeResponse) *)(const void *)outcome->message)->more,
                     0);
    /* It was answered, and the runtime goes on. */
    assert_true(nri_core_is_synchronized(s->fr.core));
    assert_int_equal(nri_core_count(s->fr.core, NRI_COUNT_SYNCHRONIZATIONS), 1);
    nri_request_unref(s->recorder.held[0]);
}

static void test_without_the_guard_nothing_is_answered(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    start(s);
    s->fr.core->config.deadlines.guard = false;
    nri_request *request = hold(s, CREATE, &outcome);
    assert_int_equal(nri_core_deadline(s->fr.core), NRI_NEVER);
    fake_runtime_advance(&s->fr, 10 * BUDGET);
    assert_int_equal(outcome->count, 0);
    assert_int_equal(nri_request_complete(request, 0), 0);
    fake_runtime_run(&s->fr);
    assert_success(outcome);
    nri_request_unref(request);
}

/* A sink at whose first warning the handler comes to its end, as it may on another thread: between
 * the guard's taking over and its answer. */
struct last_moment {
    nri_request *request;
    int code;
};

static void end_handler(void *user, const nri_log_record *record)
{
    struct last_moment *moment = user;
    if (moment->request == NULL || nri_log_record_level(record) != NRI_LOG_WARN)
        return;
    moment->code = nri_request_complete(moment->request, 0);
    moment->request = nri_request_unref(moment->request);
}

static void test_a_handler_ends_while_the_guard_answers(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    struct last_moment moment = {.code = 1};
    start(s);
    moment.request = hold(s, CREATE, &outcome);
    const nri_log_fn fn = s->fr.log.fn;
    void *user = s->fr.log.user;
    s->fr.log.fn = end_handler;
    s->fr.log.user = &moment;
    fake_runtime_advance(&s->fr, BUDGET - MARGIN);
    s->fr.log.fn = fn;
    s->fr.log.user = user;
    assert_int_equal(moment.code, NRI_E_LATE);
    assert_success(outcome); /* the guard's, and not that of a request without an answer */
    assert_int_equal(count(s, CREATE, NRI_COUNT_GUARDED), 1);
    assert_success(fake_runtime_event(&s->fr, CREATE));
    assert_int_equal(nri_core_has_open(s->fr.core), false);
}

/* A handler that takes its time. */
static int take_time(struct recorder *recorder, nri_request *request)
{
    struct session *s = recorder->data;
    (void)request;
    s->fr.now += BUDGET / 2 + NRI_MSEC;
    return 0;
}

static void test_slow_handlers_are_named(void **state)
{
    struct session *s = *state;
    start(s);
    assert_success(fake_runtime_event(&s->fr, CREATE));
    assert_null(fake_runtime_find_record(&s->fr, "slowly"));
    s->recorder.data = s;
    s->recorder.act = take_time;
    assert_success(fake_runtime_event(&s->fr, CREATE));
    const struct fake_record *record = fake_runtime_find_record(&s->fr, "slowly");
    assert_non_null(record);
    assert_string_equal(record->text,
                        "CreateContainer (pod pod0, container ctr0) was answered slowly: after "
                        "1001 ms of its 2000 ms (assumed)");
    assert_int_equal(count(s, CREATE, NRI_COUNT_SLOW), 1);
    assert_int_equal(count(s, CREATE, NRI_COUNT_REPLIES), 2);
}

/* ---- handlers that do not return ---- */

static int ask_whether_stuck(struct recorder *recorder, nri_request *request)
{
    struct session *s = recorder->data;
    const uint64_t whole = nri_request_deadline(request) - s->fr.now;
    assert_false(nri_core_is_wedged(s->fr.core, s->fr.now));
    if (whole < NRI_NEVER / 4) {
        assert_false(nri_core_is_wedged(s->fr.core, s->fr.now + 2 * whole));
        assert_true(nri_core_is_wedged(s->fr.core, s->fr.now + 2 * whole + 1));
    }
    return 0;
}

/* Twice the request's time, also when that is as long as can be said. */
static void test_when_a_handler_counts_as_stuck(void **state)
{
    static const int64_t timeouts[] = {2, (int64_t)NRI_SEC, INT64_MAX};
    struct session *s = *state;
    start(s);
    s->recorder.data = s;
    s->recorder.act = ask_whether_stuck;
    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
        s->fr.call_timeout = timeouts[i];
        assert_success(fake_runtime_event(&s->fr, CREATE));
        assert_false(nri_core_is_wedged(s->fr.core, NRI_NEVER));
    }
}

/* The first handler takes as long as three requests may; the other is asked whether it is stuck. */
static int ask_after_a_slow_one(struct recorder *recorder, nri_request *request)
{
    struct session *s = recorder->data;
    (void)request;
    if (recorder_seen(recorder, NRI_EVENT_START_CONTAINER) == 1) {
        s->fr.now += 3 * BUDGET;
        return 0;
    }
    assert_false(nri_core_is_wedged(s->fr.core, s->fr.now));
    assert_false(nri_core_is_wedged(s->fr.core, s->fr.now + 2 * BUDGET));
    assert_true(nri_core_is_wedged(s->fr.core, s->fr.now + 2 * BUDGET + 1));
    return 0;
}

/* Its time begins when it does, not when what was read with it came. */
static void test_a_handler_is_not_stuck_because_one_before_it_was_slow(void **state)
{
    struct session *s = *state;
    struct rpc_outcome outcomes[2] = {{.arena = &s->fr.arena}, {.arena = &s->fr.arena}};
    MESSAGE(StateChangeEvent) message;
    start(s);
    s->recorder.data = s;
    s->recorder.act = ask_after_a_slow_one;
    INIT(state_change_event)(&message);
    message.event = (MESSAGE(Event))NRI_EVENT_START_CONTAINER;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(nri_rpc_invoke(s->fr.peer.rpc, NRI_METHOD_STATE_CHANGE, &message.base,
                                        s->fr.now, 0, NULL, 0, rpc_outcome_done, &outcomes[i],
                                        &s->fr.error),
                         0);
    fake_runtime_run(&s->fr);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_START_CONTAINER), 2);
    assert_success(&outcomes[1]);
}

/* ---- requests that were answered and are kept all the same ---- */

#define MOST 4u

static void start_with_limits(struct session *s, size_t in_flight, size_t bytes)
{
    s->fr.config.limits.max_in_flight = in_flight;
    s->fr.config.limits.max_request_bytes = bytes;
    start(s);
}

static size_t answered_without_the_plugin(const struct session *s)
{
    size_t seen = 0;
    for (size_t i = 0; i < s->fr.record_count; i++)
        seen += strstr(s->fr.records[i].text, "events are answered without it") != NULL;
    return seen;
}

/* Holds one and has the guard answer it. */
static void keep_one(struct session *s)
{
    struct rpc_outcome *outcome;
    (void)hold(s, CREATE, &outcome);
    fake_runtime_advance(&s->fr, BUDGET);
    assert_int_equal(outcome->count, 1);
}

static void drop_all(struct session *s)
{
    while (s->recorder.held_count > 0)
        nri_request_unref(s->recorder.held[--s->recorder.held_count]);
}

static void test_kept_requests_are_bounded(void **state)
{
    struct session *s = *state;
    start_with_limits(s, MOST, (size_t)256 << 20);
    for (size_t round = 0; round < 3; round++) {
        for (size_t i = 0; i < MOST + 1; i++)
            keep_one(s);
        /* No handler sees what comes now, and nobody waits for the guard. */
        const size_t seen = recorder_seen(&s->recorder, CREATE);
        for (size_t i = 0; i < 10; i++) {
            assert_success(fake_runtime_event(&s->fr, CREATE));
            struct rpc_outcome *outcome =
                fake_runtime_event(&s->fr, NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT);
            assert_success(outcome);
            assert_true(((const MESSAGE(
                             ValidateContainerAdjustmentResponse) *)(const void *)outcome->message)
                            ->reject);
        }
        assert_int_equal(recorder_seen(&s->recorder, CREATE), seen);
        assert_int_equal(s->fr.core->shared->held_count, MOST + 1);
        assert_int_equal(answered_without_the_plugin(s), round + 1); /* once an episode */
        /* A Synchronize is never passed over. */
        assert_success(fake_runtime_sync(&s->fr, 0, 1, 0, 1, false));
        assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), round + 1);
        /* One is let go, and another one kept: the episode is the same. */
        nri_request_unref(s->recorder.held[--s->recorder.held_count]);
        keep_one(s);
        assert_success(fake_runtime_event(&s->fr, CREATE));
        assert_int_equal(answered_without_the_plugin(s), round + 1);
        drop_all(s);
        assert_int_equal(s->fr.core->shared->held_count, 0);
        assert_int_equal(s->fr.core->shared->held_bytes, 0);
        const size_t before = recorder_seen(&s->recorder, CREATE);
        assert_success(fake_runtime_event(&s->fr, CREATE));
        assert_int_equal(recorder_seen(&s->recorder, CREATE), before + 1);
    }
}

static void test_kept_bytes_are_bounded(void **state)
{
    struct session *s = *state;
    start_with_limits(s, 64, 1);
    keep_one(s);
    assert_true(s->fr.core->shared->held_bytes > 1);
    assert_success(fake_runtime_event(&s->fr, CREATE));
    assert_int_equal(recorder_seen(&s->recorder, CREATE), 1);
    const struct fake_record *record = fake_runtime_find_record(&s->fr, "max_request_bytes");
    assert_non_null(record);
    assert_int_equal(record->level, NRI_LOG_WARN);
    assert_contains(record->text, "holds 1 requests with ");
    assert_contains(record->text, "may hold 64 (max_in_flight) with 1 bytes");
    drop_all(s);
    assert_success(fake_runtime_event(&s->fr, CREATE));
    assert_int_equal(recorder_seen(&s->recorder, CREATE), 2);
}

/* Reconnects must not be a way around it. */
static void test_kept_requests_of_earlier_connections_count(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    start_with_limits(s, 1, (size_t)256 << 20);
    for (size_t i = 0; i < 2; i++) {
        (void)hold(s, CREATE, &outcome);
        fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "gone");
        fake_runtime_start(&s->fr);
    }
    assert_int_equal(s->fr.core->shared->held_count, 2);
    assert_success(fake_runtime_event(&s->fr, CREATE));
    assert_int_equal(recorder_seen(&s->recorder, CREATE), 2);
    drop_all(s);
    assert_int_equal(s->fr.core->shared->held_count, 0);
    assert_int_equal(s->fr.core->shared->held_bytes, 0);
    assert_success(fake_runtime_event(&s->fr, CREATE));
    assert_int_equal(recorder_seen(&s->recorder, CREATE), 3);
}

/* Parts that are kept leave no room for others, as whole ones do. */
static void test_kept_parts_of_synchronize_are_bounded(void **state)
{
    struct session *s = *state;
    recorder_own(&s->fr.ops);
    s->fr.ops.on_create_container = s->fr.ops.on_synchronize_part = recorder_handler;
    s->fr.config.max_sync_bytes = 4096;
    s->fr.config.deadlines = (struct nri_deadline_settings){.guard = true, .margin_percent = 10};
    fake_runtime_start(&s->fr);
    s->recorder.result = NRI_PENDING;
    struct rpc_outcome *outcome = NULL;
    for (size_t i = 0; i < 10 && (outcome == NULL || outcome->code == 0); i++) {
        outcome = fake_runtime_sync(&s->fr, 0, 4, 0, 4, true);
        fake_runtime_advance(&s->fr, BUDGET);
    }
    assert_refusal(outcome, 8, "max_sync_bytes");
    drop_all(s);
    s->recorder.result = 0;
    assert_success(fake_runtime_sync(&s->fr, 0, 4, 0, 4, false));
}

/* ---- offloaded work ---- */

static int count_offer(void *user, struct nri_task *task)
{
    (void)task;
    ++*(size_t *)user;
    return NRI_E_BUSY;
}

static int no_work(nri_request *request, void *user)
{
    (void)request;
    (void)user;
    return 0;
}

/* A request may outlive its plugin, and with that the pool of threads. */
static void test_nothing_is_offloaded_once_the_plugin_ends(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    size_t offers = 0;
    s->fr.config.offload = count_offer;
    s->fr.config.offload_user = &offers;
    start(s);
    nri_request *request = hold(s, CREATE, &outcome);
    assert_int_equal(nri_request_offload(request, no_work, NULL), NRI_E_BUSY);
    assert_int_equal(offers, 1);
    fake_runtime_disconnect(&s->fr, 0, "");
    nri_core_free(s->fr.core);
    s->fr.core = NULL;
    assert_int_equal(nri_request_offload(request, no_work, NULL), NRI_E_STATE);
    assert_int_equal(offers, 1);
    nri_request_unref(request);
}

struct offers {
    struct nri_task *task;
    size_t count;
};

static int keep_offer(void *user, struct nri_task *task)
{
    struct offers *offers = user;
    offers->task = task;
    offers->count++;
    return 0;
}

/* It would be in the pool's queue twice, and one of the two would answer for a request that the
 * other gave up. */
static void test_a_request_is_offloaded_once(void **state)
{
    struct session *s = *state;
    struct rpc_outcome *outcome;
    struct offers offers = {0};
    s->fr.config.offload = keep_offer;
    s->fr.config.offload_user = &offers;
    start(s);
    nri_request *request = hold(s, CREATE, &outcome);
    (void)nri_request_ref(request);
    assert_int_equal(nri_request_offload(request, no_work, NULL), NRI_PENDING);
    assert_int_equal(nri_request_offload(request, no_work, NULL), NRI_E_STATE);
    assert_int_equal(offers.count, 1);
    offers.task->run(offers.task);
    fake_runtime_run(&s->fr);
    assert_success(outcome);
    assert_int_equal(nri_request_offload(request, no_work, NULL), NRI_E_STATE);
    assert_int_equal(offers.count, 1);
    nri_request_unref(request);
}

/* ---- the bypass ---- */

static void test_bypass(void **state)
{
    struct session *s = *state;
    start(s);
    const size_t before = recorder_seen(&s->recorder, CREATE);
    nri_core_set_bypass(s->fr.core, true);
    nri_core_set_bypass(s->fr.core, true);
    assert_non_null(fake_runtime_find_record(&s->fr, "bypass on"));
    const size_t warnings = fake_runtime_logged(&s->fr, NRI_LOG_WARN);
    s->recorder.result = NRI_E_REJECTED;
    assert_success(fake_runtime_event(&s->fr, CREATE));
    assert_success(fake_runtime_state_change(&s->fr, NRI_EVENT_START_CONTAINER));
    s->recorder.result = 0;
    assert_int_equal(recorder_seen(&s->recorder, CREATE), before);
    assert_int_equal(count(s, CREATE, NRI_COUNT_BYPASSED), 1);
    assert_int_equal(count(s, NRI_EVENT_START_CONTAINER, NRI_COUNT_BYPASSED), 1);
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), warnings);
    nri_core_set_bypass(s->fr.core, false);
    assert_success(fake_runtime_event(&s->fr, CREATE));
    assert_int_equal(recorder_seen(&s->recorder, CREATE), before + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_T14_a_pending_request_passes_unchanged),
        session_test(test_policies),
        session_test(test_an_event_can_be_refused_instead),
        session_test(test_margins),
        session_test(test_many_pending),
        session_test(test_synchronize_passes_and_configure_has_no_guard),
        session_test(test_without_the_guard_nothing_is_answered),
        session_test(test_a_handler_ends_while_the_guard_answers),
        session_test(test_slow_handlers_are_named),
        session_test(test_when_a_handler_counts_as_stuck),
        session_test(test_a_handler_is_not_stuck_because_one_before_it_was_slow),
        session_test(test_kept_requests_are_bounded),
        session_test(test_kept_bytes_are_bounded),
        session_test(test_kept_requests_of_earlier_connections_count),
        session_test(test_kept_parts_of_synchronize_are_bounded),
        session_test(test_nothing_is_offloaded_once_the_plugin_ends),
        session_test(test_a_request_is_offloaded_once),
        session_test(test_bypass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
