/* SPDX-License-Identifier: Apache-2.0 */
/* Public bug reports (tests/cases.md) about plugins that are late, gone or refuse, and the end of
 * the runtime; and what is counted of it. */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

#define CREATE NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)
#define CALLS  10

static int hold(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    return nri_request_event(request) == NRI_EVENT_SYNCHRONIZE ? 0 : NRI_PENDING;
}

static int add_a(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    return nri_adjustment_add_env(nri_request_adjustment(request), "A", "1");
}

static int refuse(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    return nri_request_fail(request, NRI_E_REJECTED, "no GPU left");
}

/* Of a pod sandbox and a container of its own each. */
static struct rt_done *create(struct rt_fixture *fixture)
{
    char id[16];

    (void)snprintf(id, sizeof id, "%zu", fixture->pod_count);
    nri_pod *pod = fixture->pods[fixture->pod_count++] = rt_pod(id);
    nri_container *container = fixture->containers[fixture->container_count++] =
        rt_container(id, id);
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    return done;
}

/* 3 s of 500 ms. */
static void test_T14_a_late_plugin_is_left_out_and_closed(void **state)
{
    struct rt_fixture *fixture = *state;
    const char *name, *value;
    bool removed;

    fixture->config.request_timeout = 500 * NRI_MSEC;
    rt_start(fixture);
    struct rt_plugin *slow = rt_plugin(fixture, "10", "slow", CREATE, hold);
    (void)rt_plugin(fixture, "20", "ok", CREATE, add_a);
    rt_settle(fixture);
    struct rt_done *done = create(fixture);
    rt_pass(fixture, 490);
    assert_int_equal(done->count, 0);
    rt_pass(fixture, 10);
    assert_done(done, 0);
    const nri_adjustment *adjustment = nri_outcome_adjustment(done->outcome);
    assert_int_equal(nri_adjustment_env_count(adjustment), 1);
    assert_true(nri_adjustment_env_at(adjustment, 0, &name, &value, &removed));
    assert_string_equal(name, "A");
    assert_string_equal(value, "1");
    assert_null(slow->peer);
    rt_pass(fixture, 2500);
    rt_release(slow, 0); /* nobody's */
    rt_settle(fixture);
    assert_int_equal(done->count, 1);
    assert_done(create(fixture), 0);
    assert_string_equal(slow->seen, "Synchronize() CreateContainer(0) ");
}

static void test_T14_by_policy_it_stays(void **state)
{
    struct rt_fixture *fixture = *state;
    struct nri_failure_policy policy;

    nri_failure_policy_init(&policy, sizeof policy);
    policy.after_timeout = NRI_FATE_KEEP;
    fixture->config.request_timeout = 500 * NRI_MSEC;
    rt_start(fixture);
    assert_int_equal(nri_rt_set_failure_policy(fixture->rt, "slow", &policy, NULL), 0);
    struct rt_plugin *slow = rt_plugin(fixture, "10", "slow", CREATE, hold);
    rt_settle(fixture);
    struct rt_done *done = create(fixture);
    rt_pass(fixture, 500);
    assert_done(done, 0);
    assert_non_null(slow->peer);
    rt_release(slow, 0);
    rt_settle(fixture);
    slow->handler = add_a;
    done = create(fixture);
    assert_done(done, 0);
    assert_string_equal(nri_outcome_owner(done->outcome, NRI_FIELD_ENV, "A"), "10-slow");
}

/* Without any time passing: each callback comes once, with the loss in its record. */
static void test_T33_calls_under_way_when_the_plugin_goes(void **state)
{
    struct rt_fixture *fixture = *state;
    struct nri_failure_policy policy;
    struct rt_done *done[CALLS];

    for (int strict = 0; strict < 2; strict++) {
        fixture->config.max_outstanding = CALLS;
        if (strict == 0)
            rt_start(fixture);
        struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, hold);
        rt_settle(fixture);
        nri_failure_policy_init(&policy, sizeof policy);
        policy.on_loss = strict != 0 ? NRI_FAILURE_FAIL : NRI_FAILURE_SKIP;
        assert_int_equal(nri_rt_set_failure_policy(fixture->rt, "one", &policy, NULL), 0);
        for (size_t i = 0; i < CALLS; i++)
            done[i] = create(fixture);
        assert_int_equal(plugin->held_count, CALLS);
        const uint64_t before = fixture->now;
        rt_kill(plugin);
        rt_settle(fixture);
        assert_int_equal(fixture->now, before);
        for (size_t i = 0; i < CALLS; i++) {
            assert_done(done[i], strict != 0 ? NRI_E_CLOSED : 0);
            assert_int_equal(nri_outcome_step_code(done[i]->outcome, 0), NRI_E_CLOSED);
        }
    }
}

static void test_T33_a_late_reply_is_dropped_and_the_next_call_works(void **state)
{
    struct rt_fixture *fixture = *state;
    struct nri_failure_policy policy;

    rt_start(fixture);
    nri_failure_policy_init(&policy, sizeof policy);
    policy.after_timeout = NRI_FATE_KEEP;
    assert_int_equal(nri_rt_set_failure_policy(fixture->rt, "one", &policy, NULL), 0);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, hold);
    rt_settle(fixture);
    struct rt_done *late = create(fixture);
    rt_pass(fixture, 2100); /* 100 ms after its time-out */
    assert_done(late, 0);
    rt_release(plugin, 0);
    rt_settle(fixture);
    assert_int_equal(late->count, 1);
    plugin->handler = add_a;
    struct rt_done *next = create(fixture);
    assert_done(next, 0);
    assert_int_equal(nri_outcome_step_result(next->outcome, 0), NRI_STEP_ANSWERED);
    assert_int_equal(nri_adjustment_env_count(nri_outcome_adjustment(next->outcome)), 1);
}

/* ---- the end ---- */

static void test_T20_each_plugin_is_told_of_the_end_once(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *polite = rt_plugin(fixture, "10", "polite", CREATE, NULL);
    struct rt_plugin *deaf = rt_plugin(fixture, "20", "deaf", CREATE, NULL);
    deaf->deaf = true;
    rt_settle(fixture);
    const uint64_t began = fixture->now;
    nri_rt_shutdown(fixture->rt, 500 * NRI_MSEC, fixture->now);
    rt_settle(fixture);
    assert_null(polite->peer); /* it has answered */
    assert_non_null(deaf->peer);
    while (nri_rt_plugin_count(fixture->rt) > 0 && fixture->now - began < 2 * NRI_SEC)
        rt_pass(fixture, 10);
    assert_int_equal(fixture->now - began, 500 * NRI_MSEC);
    assert_string_equal(polite->seen, "Synchronize() Shutdown() ");
    assert_string_equal(deaf->seen, "Synchronize() Shutdown() ");
}

/* ---- what is counted ---- */

/* The number behind a line's labels. */
static double counted(const char *text, const char *name, const char *plugin)
{
    char line[160];

    (void)snprintf(line, sizeof line, "nri_runtime_%s{plugin=\"%s\",event=\"CreateContainer\"} ",
                   name, plugin);
    const char *found = strstr(text, line);
    if (found == NULL)
        fail_msg("no %s in:\n%s", line, text);
    return strtod(found + strlen(line), NULL);
}

/* Three creations, of which the second plugin adjusts one, refuses one and sleeps in one. */
static void test_U02_counters_by_plugin_and_event(void **state)
{
    struct rt_fixture *fixture = *state;
    char *text;

    rt_start(fixture);
    (void)rt_plugin(fixture, "10", "one", CREATE, NULL);
    struct rt_plugin *two = rt_plugin(fixture, "20", "two", CREATE, add_a);
    rt_settle(fixture);
    assert_done(create(fixture), 0);
    two->handler = refuse;
    assert_done(create(fixture), NRI_E_REJECTED);
    assert_int_equal(nri_rt_metrics(fixture->rt, &text, NULL), 0);
    assert_true(counted(text, "failures_total", "20-two") == 1);
    assert_contains(text, "\nnri_runtime_plugins 2\n");
    nri_metrics_free(text);
    two->handler = hold;
    struct rt_done *late = create(fixture);
    rt_pass(fixture, 2100);
    assert_done(late, 0);
    assert_int_equal(nri_rt_metrics(fixture->rt, &text, NULL), 0);
    assert_true(counted(text, "invocations_total", "10-one") == 3);
    assert_true(counted(text, "failures_total", "10-one") == 0);
    assert_true(counted(text, "adjustments_total", "10-one") == 0);
    assert_true(counted(text, "invocations_total", "20-two") == 3);
    assert_true(counted(text, "failures_total", "20-two") == 2); /* the refusal, the time-out */
    assert_true(counted(text, "adjustments_total", "20-two") == 1);
    assert_true(counted(text, "latency_seconds_count", "20-two") == 3);
    assert_true(counted(text, "latency_seconds_sum", "20-two") >= 2);
    assert_contains(text, "\nnri_runtime_plugins 1\n");
    nri_metrics_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_T14_a_late_plugin_is_left_out_and_closed),
        rt_test(test_T14_by_policy_it_stays),
        rt_test(test_T33_calls_under_way_when_the_plugin_goes),
        rt_test(test_T33_a_late_reply_is_dropped_and_the_next_call_works),
        rt_test(test_T20_each_plugin_is_told_of_the_end_once),
        rt_test(test_U02_counters_by_plugin_and_event),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
