/* SPDX-License-Identifier: Apache-2.0 */
/* Synchronisation: parts, what happens meanwhile, holds. */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"

#define CREATE NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)
#define START  NRI_EVENT_BIT(NRI_EVENT_START_CONTAINER)

static int hold_all(nri_request *request, struct rt_fixture *fixture)
{
    (void)request;
    (void)fixture;
    return NRI_PENDING;
}

static int hold_events(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    return nri_request_event(request) == NRI_EVENT_SYNCHRONIZE ? 0 : NRI_PENDING;
}

static void add_container(struct rt_fixture *fixture, size_t bytes)
{
    char id[32];
    char *value = malloc(bytes + 1);

    assert_non_null(value);
    memset(value, 'v', bytes);
    value[bytes] = '\0';
    (void)snprintf(id, sizeof id, "c%zu", fixture->container_count);
    nri_container *container = rt_container(id, "p");
    assert_int_equal(nri_container_set_annotation(container, "filler", value), 0);
    fixture->containers[fixture->container_count++] = container;
    free(value);
}

static void test_parts(void **state)
{
    struct rt_fixture *fixture = *state;

    fixture->pods[fixture->pod_count++] = rt_pod("p");
    for (size_t i = 0; i < 30; i++)
        add_container(fixture, (size_t)1 << 20);
    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, NULL);
    rt_settle(fixture);
    assert_string_equal(fixture->connected, "10-one ");
    assert_int_equal(plugin->syncs, 1);
    assert_int_equal(plugin->synced_pods, 1);
    assert_int_equal(plugin->synced_containers, 30);
}

static void test_too_large_for_a_message(void **state)
{
    struct rt_fixture *fixture = *state;

    add_container(fixture, (size_t)5 << 20);
    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, NULL);
    rt_settle(fixture);
    assert_null(plugin->peer);
    assert_contains(fixture->log_text, "Synchronize: container c0 has 52");
}

static void test_enumerate_fails(void **state)
{
    struct rt_fixture *fixture = *state;

    fixture->enumerate_code = NRI_E_IO;
    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, NULL);
    rt_settle(fixture);
    assert_null(plugin->peer);
    assert_contains(fixture->log_text, "could not tell its containers: system error");
}

static void test_together(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    nri_rt_hold_sync(fixture->rt, true, fixture->now);
    (void)rt_plugin(fixture, "20", "two", CREATE, NULL);
    (void)rt_plugin(fixture, "10", "one", CREATE, NULL);
    rt_settle(fixture);
    assert_int_equal(fixture->enumerations, 0);
    assert_int_equal(nri_rt_release_sync(fixture->rt, true), 0);
    rt_settle(fixture);
    assert_int_equal(fixture->enumerations, 1);
    assert_string_equal(fixture->connected, "10-one 20-two ");
}

/* Notifications come after the sync, in order; the chain does not wait for them. */
static void test_notifications_meanwhile(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", START, hold_all);
    rt_settle(fixture);
    assert_int_equal(one->held_count, 1);
    nri_pod *pod = rt_pod("p");
    nri_container *c = rt_container("c", "p"), *d = rt_container("d", "p");
    struct rt_done *first = rt_call(fixture, NRI_EVENT_START_CONTAINER, pod, c);
    struct rt_done *second = rt_call(fixture, NRI_EVENT_START_CONTAINER, pod, d);
    rt_settle(fixture);
    assert_done(first, 0);
    assert_done(second, 0);
    assert_int_equal(nri_outcome_step_result(first->outcome, 0), NRI_STEP_QUEUED);
    nri_container_free(c);
    nri_container_free(d);
    nri_pod_free(pod);
    one->handler = NULL;
    rt_release(one, 0);
    rt_settle(fixture);
    assert_string_equal(one->seen, "Synchronize() StartContainer(c) StartContainer(d) ");
}

/* A creation waits at the turn of a plugin that is being synchronised. */
static void test_create_waits(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", CREATE, hold_all);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    assert_int_equal(done->count, 0);
    one->handler = NULL;
    rt_release(one, 0);
    rt_settle(fixture);
    assert_done(done, 0);
    assert_string_equal(one->seen, "Synchronize() CreateContainer(c) ");
    nri_container_free(container);
    nri_pod_free(pod);
}

/* It does not wait longer than one request time-out, and the plugin is not to blame for it. */
static void test_create_goes_on(void **state)
{
    struct rt_fixture *fixture = *state;

    fixture->config.request_timeout = 10 * NRI_SEC;
    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", CREATE, hold_all);
    rt_settle(fixture);
    rt_pass(fixture, 5000);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_pass(fixture, 10100);
    assert_done(done, 0);
    (void)one;
    nri_container_free(container);
    nri_pod_free(pod);
}

/* Nor for all that a plugin is told of what happened during its Synchronize. */
static void test_create_passes_what_was_missed(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", START | CREATE, hold_all);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p"), *other = rt_pod("q");
    nri_container *c = rt_container("c", "p"), *d = rt_container("d", "q");
    for (size_t i = 0; i < 3; i++)
        (void)rt_call(fixture, NRI_EVENT_START_CONTAINER, pod, c);
    rt_settle(fixture);
    rt_release(one, 0);
    rt_settle(fixture);
    assert_int_equal(one->held_count, 1); /* the first start */
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, other, d);
    rt_pass(fixture, 1500);
    rt_release(one, 0);
    rt_settle(fixture);
    assert_int_equal(one->held_count, 1); /* the second, which is in time */
    assert_int_equal(done->count, 0);
    rt_pass(fixture, 600);
    assert_done(done, 0);
    assert_int_equal(nri_outcome_step_result(done->outcome, 0), NRI_STEP_SKIPPED);
    assert_string_equal(nri_outcome_step_text(done->outcome, 0),
                        "it is still being told what it missed");
    assert_non_null(one->peer);
    one->handler = NULL;
    rt_release(one, 0);
    rt_settle(fixture);
    assert_string_equal(one->seen,
                        "Synchronize() StartContainer(c) StartContainer(c) StartContainer(c) ");
    nri_container_free(c);
    nri_container_free(d);
    nri_pod_free(pod);
    nri_pod_free(other);
}

/* A plugin that comes while an event is under way is told of the node after it. */
static void test_older_events_first(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", CREATE, hold_events);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    struct rt_plugin *two = rt_plugin(fixture, "20", "two", CREATE, NULL);
    rt_settle(fixture);
    assert_int_equal(two->syncs, 0);
    rt_release(one, 0);
    rt_settle(fixture);
    assert_done(done, 0);
    assert_string_equal(two->seen, "Synchronize() ");
    nri_container_free(container);
    nri_pod_free(pod);
}

/* What was over before the node was told is in there: it is not told again after it. */
static void test_told_already(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", CREATE, hold_events);
    rt_settle(fixture);
    nri_pod *p = rt_pod("p"), *q = rt_pod("q");
    nri_container *c = rt_container("c", "p"), *d = rt_container("d", "q");
    (void)rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, p, c);
    rt_settle(fixture);
    struct rt_plugin *two = rt_plugin(fixture, "20", "two", START, NULL);
    rt_settle(fixture);
    struct rt_done *start = rt_call(fixture, NRI_EVENT_START_CONTAINER, q, d);
    rt_settle(fixture);
    assert_done(start, 0);
    assert_int_equal(nri_outcome_step_result(start->outcome, 0), NRI_STEP_QUEUED);
    rt_release(one, 0);
    rt_settle(fixture);
    assert_string_equal(two->seen, "Synchronize() ");
    nri_container_free(c);
    nri_container_free(d);
    nri_pod_free(p);
    nri_pod_free(q);
}

/* A hold is for what is under way: that goes on without the plugins that wait, at once. */
static void test_hold_lets_go(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", START, hold_events);
    rt_settle(fixture);
    nri_pod *p = rt_pod("p"), *q = rt_pod("q");
    nri_container *c = rt_container("c", "p"), *d = rt_container("d", "q");
    (void)rt_call(fixture, NRI_EVENT_START_CONTAINER, p, c);
    rt_settle(fixture);
    struct rt_plugin *two = rt_plugin(fixture, "20", "two", CREATE, NULL);
    rt_settle(fixture);
    struct rt_done *create = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, q, d);
    rt_settle(fixture);
    assert_int_equal(create->count, 0);
    nri_rt_hold_sync(fixture->rt, false, fixture->now);
    rt_settle(fixture);
    assert_done(create, 0);
    assert_int_equal(nri_rt_release_sync(fixture->rt, false), 0);
    rt_release(one, 0);
    rt_settle(fixture);
    assert_string_equal(two->seen, "Synchronize() ");
    nri_container_free(c);
    nri_container_free(d);
    nri_pod_free(p);
    nri_pod_free(q);
}

static void test_hold(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    nri_rt_hold_sync(fixture->rt, false, fixture->now);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", CREATE | START, NULL);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    /* What is created in a hold goes on without the plugin, and is told by the sync. */
    assert_done(done, 0);
    assert_int_equal(nri_outcome_step_count(done->outcome), 0);
    fixture->containers[fixture->container_count++] = container;
    assert_int_equal(nri_rt_release_sync(fixture->rt, false), 0);
    rt_settle(fixture);
    assert_int_equal(one->synced_containers, 1);
    assert_string_equal(one->seen, "Synchronize() ");
    assert_int_equal(nri_rt_release_sync(fixture->rt, false), NRI_E_STATE);
    nri_pod_free(pod);
}

static void test_hold_for_ever(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    nri_rt_hold_sync(fixture->rt, false, fixture->now);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", CREATE, NULL);
    rt_settle(fixture);
    rt_pass(fixture, 4900);
    assert_int_equal(one->syncs, 0);
    rt_pass(fixture, 200);
    assert_int_equal(one->syncs, 1);
    assert_contains(fixture->log_text, "nri_runtime_hold_sync() has lasted longer");
}

static void test_sync_times_out(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", CREATE, hold_all);
    rt_settle(fixture);
    rt_pass(fixture, 2100);
    assert_null(one->peer);
    assert_contains(fixture->log_text, "Synchronize, part 1 of 1: Synchronize: no reply within");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_parts),
        rt_test(test_too_large_for_a_message),
        rt_test(test_enumerate_fails),
        rt_test(test_together),
        rt_test(test_notifications_meanwhile),
        rt_test(test_create_waits),
        rt_test(test_create_goes_on),
        rt_test(test_create_passes_what_was_missed),
        rt_test(test_older_events_first),
        rt_test(test_told_already),
        rt_test(test_hold_lets_go),
        rt_test(test_hold),
        rt_test(test_hold_for_ever),
        rt_test(test_sync_times_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
