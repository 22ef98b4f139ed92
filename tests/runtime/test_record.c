/* SPDX-License-Identifier: Apache-2.0 */
/* The record of an event as JSON and as a table; counters; names without end. */
#include <stdio.h>

#include "fixture.h"
#include "runtime/stats.h"

#define CREATE NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)

static int adjust(nri_request *request, struct rt_fixture *fixture)
{
    nri_adjustment *adjustment = nri_request_adjustment(request);

    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    (void)nri_adjustment_add_env(adjustment, "A", "1");
    return nri_adjustment_set_cpu_shares(adjustment, 10);
}

static int refuse(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    if (nri_request_event(request) == NRI_EVENT_SYNCHRONIZE)
        return 0;
    return nri_request_fail(request, NRI_E_REJECTED, "no \"GPU\" left");
}

static struct rt_done *create(struct rt_fixture *fixture)
{
    rt_start(fixture);
    (void)rt_plugin(fixture, "10", "one", CREATE, adjust);
    (void)rt_plugin(fixture, "20", "two", CREATE, refuse);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    assert_int_equal(nri_pod_set_name(pod, "web"), 0);
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    /* The outcome outlives them. Where freed memory still reads well, the new names do not. */
    assert_int_equal(nri_pod_set_id(pod, "q"), 0);
    assert_int_equal(nri_pod_set_name(pod, "other"), 0);
    assert_int_equal(nri_container_set_id(container, "d"), 0);
    nri_container_free(container);
    nri_pod_free(pod);
    return done;
}

static void test_json(void **state)
{
    nri_document *document;
    size_t length;
    char *text;

    struct rt_done *done = create(*state);
    assert_done(done, NRI_E_REJECTED);
    assert_int_equal(nri_outcome_json(done->outcome, NULL, &text, &length), 0);
    assert_int_equal(strlen(text), length);
    assert_int_equal(nri_document_parse(text, length, NULL, &document, NULL), 0);
    const nri_value *root = nri_document_root(document);
    assert_string_equal(nri_value_text(nri_value_member(root, "event"), NULL), "CreateContainer");
    assert_string_equal(nri_value_text(nri_value_member(root, "pod_name"), NULL), "web");
    assert_string_equal(nri_value_text(nri_value_member(root, "plugin"), NULL), "20-two");
    const nri_value *steps = nri_value_member(root, "steps");
    assert_int_equal(nri_value_count(steps), 2);
    const nri_value *changes = nri_value_member(nri_value_at(steps, 0), "changes");
    assert_int_equal(nri_value_count(changes), 2);
    const nri_value *env = nri_value_at(changes, 0);
    assert_string_equal(nri_value_text(nri_value_member(env, "action"), NULL), "set");
    assert_string_equal(nri_value_text(nri_value_member(env, "field"), NULL), "Env");
    assert_string_equal(nri_value_text(nri_value_member(env, "key"), NULL), "A");
    assert_string_equal(nri_value_text(nri_value_member(nri_value_at(steps, 1), "text"), NULL),
                        "no \"GPU\" left");
    nri_document_free(document);
    nri_outcome_text_free(text);
}

static void test_table(void **state)
{
    char *text;

    struct rt_done *done = create(*state);
    assert_int_equal(nri_outcome_table(done->outcome, NULL, &text, NULL), 0);
    assert_contains(text, "CreateContainer, pod sandbox p, container c: plugin \"20-two\": no");
    assert_contains(text, "10-one");
    assert_contains(text, "set       Env A\n"); /* of the container that the event is about */
    assert_contains(text, "set       CPUShares");
    assert_contains(text, "failed    no \"GPU\" left");
    nri_outcome_text_free(text);
    assert_int_equal(nri_outcome_table(NULL, NULL, &text, NULL), NRI_E_INVALID);
    assert_null(text);
}

static int odd_keys(nri_request *request, struct rt_fixture *fixture)
{
    nri_adjustment *adjustment = nri_request_adjustment(request);

    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    (void)nri_adjustment_remove_env(adjustment, "GONE");
    (void)nri_adjustment_add_annotation(adjustment, "a\x1b[2Jb", "1");
    /* The cut of a column is in the middle of the last character. */
    return nri_adjustment_add_annotation(
        adjustment,
        "123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890"
        "123456789\xc3\xa4",
        "1");
}

/* What a plugin chooses does nothing to the terminal of who looks at the table. */
static void test_odd_keys(void **state)
{
    struct rt_fixture *fixture = *state;
    char *text;

    rt_start(fixture);
    (void)rt_plugin(fixture, "10", "one", CREATE, odd_keys);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    nri_container_free(container);
    nri_pod_free(pod);
    assert_done(done, 0);
    assert_int_equal(nri_outcome_table(done->outcome, NULL, &text, NULL), 0);
    assert_contains(text, "Annotations a [2Jb\n");
    assert_contains(text, "9?\n");
    nri_outcome_text_free(text);
    /* Nobody set what somebody removed. */
    assert_string_equal(nri_outcome_owner(done->outcome, NRI_FIELD_ENV, "GONE"), "");
}

/* The resources are those that were asked for, whatever becomes of the caller's. */
static void check_update_outlives(struct rt_fixture *fixture, const char *owner)
{
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    nri_resources *resources = nri_container_edit_resources(container);
    const char *cpus;
    uint64_t shares;
    int64_t limit;

    assert_int_equal(nri_resources_set_cpu_shares(resources, 5), 0);
    assert_int_equal(nri_resources_set_cpuset_cpus(resources, "0-3"), 0);
    struct nri_runtime_event event = {.size = sizeof event,
                                      .event = NRI_EVENT_UPDATE_CONTAINER,
                                      .pod = pod,
                                      .container = container,
                                      .resources = resources};
    struct rt_done *done = rt_call_with(fixture, &event);
    rt_settle(fixture);
    assert_done(done, 0);
    assert_int_equal(nri_resources_set_cpu_shares(resources, 7), 0);
    assert_int_equal(nri_resources_set_cpuset_cpus(resources, "9"), 0);
    assert_int_equal(nri_container_set_id(container, "d"), 0);
    nri_container_free(container);
    nri_pod_free(pod);
    const nri_resources *told = nri_outcome_resources(done->outcome);
    assert_true(nri_resources_cpu_shares(told, &shares));
    assert_int_equal(shares, 5);
    assert_true(nri_resources_cpuset_cpus(told, &cpus));
    assert_string_equal(cpus, "0-3");
    assert_int_equal(nri_resources_memory_limit(told, &limit), owner[0] != '\0');
    assert_string_equal(nri_outcome_owner(done->outcome, NRI_FIELD_MEM_LIMIT, NULL), owner);
}

static int limit_memory(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_UPDATE_CONTAINER)
        return 0;
    return nri_update_set_memory_limit(nri_updates_container(nri_request_updates(request), "c"),
                                       1 << 20);
}

static void test_update_outlives(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    check_update_outlives(fixture, ""); /* nobody is asked */
    (void)rt_plugin(fixture, "10", "one", NRI_EVENT_BIT(NRI_EVENT_UPDATE_CONTAINER), limit_memory);
    rt_settle(fixture);
    check_update_outlives(fixture, "10-one");
}

static int accept_all(nri_request *request, struct rt_fixture *fixture)
{
    (void)request;
    (void)fixture;
    return 0;
}

/* A plugin that was asked twice has two lines, which say what for. */
static void test_table_tells_validators(void **state)
{
    struct rt_fixture *fixture = *state;
    char *text;

    rt_start(fixture);
    (void)rt_plugin(fixture, "10", "one",
                    NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER) |
                        NRI_EVENT_BIT(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT),
                    accept_all);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    nri_container_free(container);
    nri_pod_free(pod);
    assert_int_equal(nri_outcome_table(done->outcome, NULL, &text, NULL), 0);
    assert_contains(text, "us  answered");
    assert_contains(text, "us  validated");
    nri_outcome_text_free(text);
}

static void test_metrics(void **state)
{
    struct rt_fixture *fixture = *state;
    char *text;

    (void)create(fixture);
    assert_int_equal(nri_rt_metrics(fixture->rt, &text, NULL), 0);
    assert_contains(
        text, "nri_runtime_invocations_total{plugin=\"10-one\",event=\"CreateContainer\"} 1\n");
    assert_contains(text,
                    "nri_runtime_failures_total{plugin=\"20-two\",event=\"CreateContainer\"} 1\n");
    assert_contains(
        text, "nri_runtime_adjustments_total{plugin=\"10-one\",event=\"CreateContainer\"} 2\n");
    assert_contains(text, "nri_runtime_latency_seconds_bucket{plugin=\"10-one\","
                          "event=\"CreateContainer\",le=\"+Inf\"} 1\n");
    assert_contains(text, "nri_runtime_plugins 2\n# EOF\n");
    assert_contains(text,
                    "nri_runtime_invocations_total{plugin=\"10-one\",event=\"Synchronize\"} 1\n");
    assert_contains(text,
                    "nri_runtime_updates_total{plugin=\"10-one\",event=\"CreateContainer\"} 0\n");
    nri_metrics_free(text);
}

static int update_and_evict(nri_request *request, struct rt_fixture *fixture)
{
    nri_updates *updates = nri_request_updates(request);

    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    (void)nri_adjustment_add_env(nri_request_adjustment(request), "A", "2");
    (void)nri_update_set_memory_limit(nri_updates_container(updates, "x"), 1 << 20);
    (void)nri_update_set_memory_limit(nri_updates_container(updates, "y"), 1 << 20);
    return nri_updates_evict(updates, "z", "too hot");
}

static int evict_only(nri_request *request, struct rt_fixture *fixture)
{
    nri_updates *updates = nri_request_updates(request);

    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    (void)nri_updates_evict(updates, "z", "mine, too");
    return nri_updates_evict(updates, "y", "");
}

/* What a plugin asks for in its reply counts; that it conflicts with another's is not its failure.
 */
static void test_metrics_of_updates(void **state)
{
    struct rt_fixture *fixture = *state;
    char *text;

    rt_start(fixture);
    (void)rt_plugin(fixture, "10", "one", CREATE, adjust);
    (void)rt_plugin(fixture, "20", "two", CREATE, update_and_evict);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    nri_container_free(container);
    nri_pod_free(pod);
    assert_done(done, NRI_E_CONFLICT);
    assert_int_equal(nri_rt_metrics(fixture->rt, &text, NULL), 0);
    assert_contains(text,
                    "nri_runtime_failures_total{plugin=\"20-two\",event=\"CreateContainer\"} 0\n");
    assert_contains(text,
                    "nri_runtime_updates_total{plugin=\"20-two\",event=\"CreateContainer\"} 2\n");
    assert_contains(text,
                    "nri_runtime_evictions_total{plugin=\"20-two\",event=\"CreateContainer\"} 1\n");
    nri_metrics_free(text);
}

/* Who wants what evicted is told, and why: of two the first. */
static void test_evictions(void **state)
{
    struct rt_fixture *fixture = *state;
    const char *key, *id, *other;
    enum nri_change_action action;
    int field = -1;
    char *text;

    rt_start(fixture);
    (void)rt_plugin(fixture, "10", "one", CREATE, update_and_evict);
    (void)rt_plugin(fixture, "20", "two", CREATE, evict_only);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    nri_container_free(container);
    nri_pod_free(pod);
    assert_done(done, 0);
    const size_t last = nri_outcome_change_count(done->outcome, 0) - 1;
    assert_true(nri_outcome_change_at(done->outcome, 0, last, &field, &key, &id, &other, &action));
    assert_int_equal(action, NRI_CHANGE_EVICTED);
    assert_int_equal(field, NRI_FIELD_NONE);
    assert_string_equal(key, "too hot");
    assert_string_equal(id, "z");
    assert_string_equal(other, "");
    assert_int_equal(nri_outcome_change_count(done->outcome, 1), 1);
    assert_true(nri_outcome_change_at(done->outcome, 1, 0, NULL, &key, &id, NULL, &action));
    assert_int_equal(action, NRI_CHANGE_EVICTED);
    assert_string_equal(id, "y");
    assert_string_equal(key, "");
    assert_int_equal(nri_outcome_json(done->outcome, NULL, &text, NULL), 0);
    assert_contains(
        text,
        "{\"action\":\"evicted\",\"field\":\"None\",\"key\":\"too hot\",\"container\":\"z\"}");
    nri_outcome_text_free(text);
    assert_int_equal(nri_outcome_table(done->outcome, NULL, &text, NULL), 0);
    assert_contains(text, "evicted   for too hot, container z");
    assert_contains(text, "evicted   for no reason, container y");
    nri_outcome_text_free(text);
}

/* A plugin that comes again and again under other names takes no memory without end. */
static void test_names_are_bounded(void **state)
{
    struct rt_fixture *fixture = *state;
    const struct nri_alloc alloc = fail_alloc_resolved(&fixture->alloc);
    struct nri_rt_stats stats;
    char name[32];

    nri_rt_stats_init(&stats, &alloc);
    for (size_t i = 0; i < 2 * NRI_RT_STATS_PLUGINS; i++) {
        (void)snprintf(name, sizeof name, "10-p%zu", i);
        struct nri_rt_event_stats *row = nri_rt_stats_of(&stats, name, NRI_EVENT_CREATE_CONTAINER);
        assert_non_null(row);
        row->invocations++;
    }
    assert_int_equal(stats.count, NRI_RT_STATS_PLUGINS + 1);
    assert_int_equal(nri_rt_stats_of(&stats, "10-new", NRI_EVENT_CREATE_CONTAINER)->invocations,
                     NRI_RT_STATS_PLUGINS);
    assert_null(nri_rt_stats_of(&stats, "10-p1", NRI_EVENT_CONFIGURE));
    nri_rt_stats_fini(&stats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_json),
        rt_test(test_table),
        rt_test(test_table_tells_validators),
        rt_test(test_update_outlives),
        rt_test(test_odd_keys),
        rt_test(test_metrics),
        rt_test(test_metrics_of_updates),
        rt_test(test_evictions),
        rt_test(test_names_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
