/* SPDX-License-Identifier: Apache-2.0 */
/* What plugins ask for on their own account; UpdateContainer and StopContainer; built-in plugins.
 */
#include <stdio.h>

#include "fixture.h"

#define CREATE NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)
#define UPDATE NRI_EVENT_BIT(NRI_EVENT_UPDATE_CONTAINER)
#define LITTLE 2048 /* for two updates, and not for finding them by id */
#define STOP   NRI_EVENT_BIT(NRI_EVENT_STOP_CONTAINER)

struct result {
    size_t count, failed;
    int code;
    char first[32];
};

static void on_result(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct result *out = user;

    (void)plugin;
    out->count++;
    out->code = nri_update_result_code(result);
    out->failed = nri_update_result_failed_count(result);
    if (out->failed > 0)
        (void)strncpy(out->first, nri_update_result_failed_id(result, 0), sizeof out->first - 1);
}

static nri_updates *two_updates(void)
{
    nri_updates *updates;

    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    assert_int_equal(nri_resources_set_cpu_shares(
                         nri_update_edit_resources(nri_updates_container(updates, "a")), 100),
                     0);
    assert_int_equal(nri_resources_set_cpu_shares(
                         nri_update_edit_resources(nri_updates_container(updates, "b")), 100),
                     0);
    assert_int_equal(nri_updates_evict(updates, "x", "too hot"), 0);
    return updates;
}

static struct rt_plugin *begin(struct rt_fixture *fixture)
{
    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, NULL);
    rt_settle(fixture);
    return plugin;
}

static void send(struct rt_plugin *plugin, struct result *result)
{
    nri_updates *updates = two_updates();

    assert_int_equal(nri_core_update_containers(plugin->core, updates, 0, NULL, 0, on_result,
                                                result, plugin->fixture->now, NULL),
                     0);
    nri_updates_free(updates);
    rt_settle(plugin->fixture);
}

static void test_unsolicited(void **state)
{
    struct rt_fixture *fixture = *state;
    struct rt_plugin *plugin = begin(fixture);
    struct result result = {0};

    fixture->update_fails = "b";
    send(plugin, &result);
    assert_int_equal(result.count, 1);
    assert_int_equal(result.code, 0);
    assert_int_equal(result.failed, 1);
    assert_string_equal(result.first, "b");
    assert_string_equal(fixture->updated, "a b ");
    assert_string_equal(fixture->evicted, "10-one:x:too hot ");
}

static void test_unsolicited_refused(void **state)
{
    struct rt_fixture *fixture = *state;
    struct rt_plugin *plugin = begin(fixture);
    struct result result = {0};

    fixture->update_code = NRI_E_BUSY;
    send(plugin, &result);
    assert_int_equal(result.count, 1);
    assert_int_not_equal(result.code, 0);
}

static void test_unsolicited_later(void **state)
{
    struct rt_fixture *fixture = *state;
    struct rt_plugin *plugin = begin(fixture);
    struct result result = {0};

    fixture->update_code = NRI_PENDING;
    send(plugin, &result);
    assert_int_equal(result.count, 0);
    assert_int_equal(nri_runtime_update_fail(fixture->pending_update, "a"), 0);
    assert_int_equal(nri_runtime_update_fail(fixture->pending_update, "z"), NRI_E_NOT_FOUND);
    nri_runtime_update_complete(fixture->pending_update, 0, NULL);
    rt_settle(fixture);
    assert_int_equal(result.count, 1);
    assert_string_equal(result.first, "a");
}

static void test_unsolicited_and_gone(void **state)
{
    struct rt_fixture *fixture = *state;
    struct rt_plugin *plugin = begin(fixture);
    struct result result = {0};

    fixture->update_code = NRI_PENDING;
    send(plugin, &result);
    rt_kill(plugin);
    rt_settle(fixture);
    assert_null(nri_runtime_update_plugin(fixture->pending_update));
    nri_runtime_update_complete(fixture->pending_update, 0, NULL);
    rt_settle(fixture);
}

/* Whatever the operation returns then. */
static int answers_itself(nri_runtime *runtime, nri_runtime_update *update, void *user)
{
    const struct rt_fixture *fixture = user;

    (void)runtime;
    nri_runtime_update_complete(update, NRI_E_REJECTED, "not today");
    assert_int_equal(nri_updates_count(nri_runtime_update_list(update)), 2);
    return fixture->update_code;
}

static void test_unsolicited_answered_within(void **state)
{
    static const int codes[] = {NRI_PENDING, 0, NRI_E_INVALID};
    struct rt_fixture *fixture = *state;

    fixture->config.ops.update = answers_itself;
    struct rt_plugin *plugin = begin(fixture);
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        struct result result = {0};
        fixture->update_code = codes[i];
        send(plugin, &result);
        assert_int_equal(result.count, 1);
        assert_int_not_equal(result.code, 0);
    }
}

#define MANY 20000

/* Each fails by itself: in any order, and said again. */
static int fails_each(nri_runtime *runtime, nri_runtime_update *update, void *user)
{
    const nri_updates *list = nri_runtime_update_list(update);

    (void)runtime;
    (void)user;
    assert_int_equal(nri_updates_count(list), MANY);
    for (size_t i = 0; i < 2 * MANY; i++)
        assert_int_equal(nri_runtime_update_fail(
                             update, nri_update_container_id(nri_updates_at(list, i % MANY))),
                         0);
    assert_int_equal(nri_runtime_update_fail(update, "none"), NRI_E_NOT_FOUND);
    return 0;
}

static void test_many_fail(void **state)
{
    struct rt_fixture *fixture = *state;
    struct result result = {0};
    nri_updates *updates;
    char id[80];

    fixture->config.ops.update = fails_each;
    fixture->config.max_merge_bytes = (size_t)128 << 20;
    struct rt_plugin *plugin = begin(fixture);
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(id, sizeof id, "%064zu", i);
        assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, id), 2), 0);
    }
    assert_int_equal(nri_core_update_containers(plugin->core, updates, 0, NULL, 0, on_result,
                                                &result, fixture->now, NULL),
                     0);
    nri_updates_free(updates);
    rt_settle(fixture);
    assert_int_equal(result.count, 1);
    assert_int_equal(result.code, 0);
    assert_int_equal(result.failed, MANY);
}

/* With too little memory for that the plugin hears that all of it failed. */
static int cannot_say(nri_runtime *runtime, nri_runtime_update *update, void *user)
{
    const nri_updates *list = nri_runtime_update_list(update);

    (void)runtime;
    (void)user;
    assert_int_equal(
        nri_runtime_update_fail(update, nri_update_container_id(nri_updates_at(list, 0))),
        NRI_E_LIMIT);
    return 0;
}

static void test_failures_have_a_limit(void **state)
{
    struct rt_fixture *fixture = *state;
    struct result result = {0};

    fixture->config.ops.update = cannot_say;
    fixture->config.max_merge_bytes = LITTLE;
    send(begin(fixture), &result);
    assert_int_equal(result.count, 1);
    assert_int_equal(result.code, NRI_E_LIMIT);
}

/* One that asks, goes and comes again piles nothing up. */
static void test_abandoned_have_a_limit(void **state)
{
    struct rt_fixture *fixture = *state;
    struct result result = {0};

    fixture->update_code = NRI_PENDING;
    fixture->config.limits.max_request_bytes = 1;
    send(begin(fixture), &result);
    nri_runtime_update *first = fixture->pending_update;
    rt_kill(&fixture->plugins[0]);
    rt_settle(fixture);
    struct rt_plugin *again = rt_plugin(fixture, "10", "one", CREATE, NULL);
    rt_settle(fixture);
    memset(&result, 0, sizeof result);
    send(again, &result);
    assert_int_equal(result.count, 1);
    assert_int_equal(result.code, NRI_E_LIMIT);
    nri_runtime_update_complete(first, 0, NULL);
    memset(&result, 0, sizeof result);
    fixture->update_code = 0;
    send(again, &result);
    assert_int_equal(result.count, 1);
    assert_int_equal(result.code, 0);
}

/* ---- UpdateContainer ---- */

static int set_quota(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_UPDATE_CONTAINER)
        return 0;
    nri_updates *updates = nri_request_updates(request);
    const char *id = nri_container_id(nri_request_container(request));
    int code = nri_resources_set_cpu_quota(
        nri_update_edit_resources(nri_updates_container(updates, id)), 5000);
    if (code == 0)
        code = nri_resources_set_cpu_shares(
            nri_update_edit_resources(nri_updates_container(updates, "other")), 7);
    return code;
}

static void test_update_container(void **state)
{
    struct rt_fixture *fixture = *state;
    uint64_t shares;
    int64_t quota;

    rt_start(fixture);
    (void)rt_plugin(fixture, "10", "one", UPDATE, set_quota);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    nri_resources *resources = nri_container_edit_resources(container);
    assert_int_equal(nri_resources_set_cpu_shares(resources, 200), 0);
    const struct nri_runtime_event event = {.size = sizeof event,
                                            .event = NRI_EVENT_UPDATE_CONTAINER,
                                            .pod = pod,
                                            .container = container,
                                            .resources = nri_container_resources(container)};
    struct rt_done *done = rt_call_with(fixture, &event);
    rt_settle(fixture);
    assert_done(done, 0);
    const nri_resources *merged = nri_outcome_resources(done->outcome);
    assert_true(nri_resources_cpu_shares(merged, &shares));
    assert_int_equal(shares, 200);
    assert_true(nri_resources_cpu_quota(merged, &quota));
    assert_int_equal(quota, 5000);
    const nri_updates *updates = nri_outcome_updates(done->outcome);
    assert_int_equal(nri_updates_count(updates), 1);
    assert_string_equal(nri_update_container_id(nri_updates_at(updates, 0)), "other");
    assert_string_equal(nri_outcome_owner(done->outcome, NRI_FIELD_CPU_QUOTA, NULL), "10-one");
    nri_container_free(container);
    nri_pod_free(pod);
}

/* ---- built in ---- */

static int builtin_create(nri_request *request, void *user)
{
    (void)user;
    assert_null(nri_request_plugin(request));
    return nri_adjustment_add_env(nri_request_adjustment(request), "BUILTIN", "1");
}

static int builtin_configure(nri_request *request, void *user)
{
    (void)strncpy(user, nri_request_config(request), 15);
    return 0;
}

static void test_builtin(void **state)
{
    struct rt_fixture *fixture = *state;
    char config[16] = "";
    const struct nri_plugin_ops ops = {.size = sizeof ops,
                                       .on_configure = builtin_configure,
                                       .on_create_container = builtin_create};

    rt_start(fixture);
    assert_int_equal(
        nri_rt_add_builtin(fixture->rt, &ops, "inside", "07", "a: b", config, fixture->now, NULL),
        0);
    assert_int_equal(
        nri_rt_add_builtin(fixture->rt, &ops, "inside", "7", NULL, config, fixture->now, NULL),
        NRI_E_INVALID);
    rt_settle(fixture);
    assert_string_equal(fixture->connected, "07-inside ");
    assert_string_equal(config, "a: b");
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    assert_done(done, 0);
    assert_string_equal(nri_outcome_owner(done->outcome, NRI_FIELD_ENV, "BUILTIN"), "07-inside");
    nri_rt_shutdown(fixture->rt, NRI_SEC, fixture->now);
    rt_settle(fixture);
    assert_int_equal(nri_rt_plugin_count(fixture->rt), 0);
    nri_container_free(container);
    nri_pod_free(pod);
}

struct slow {
    struct rt_fixture *fixture;
    nri_pod *pod, *other;
    nri_container *container;
    struct rt_done *stop; /* of an event that the handler calls */
};

static int slow_create(nri_request *request, void *user)
{
    struct slow *slow = user;

    (void)request;
    slow->fixture->now += 7 * NRI_MSEC;
    slow->stop = rt_call(slow->fixture, NRI_EVENT_STOP_POD_SANDBOX, slow->other, NULL);
    slow->fixture->now += 2 * NRI_MSEC;
    return 0;
}

static int quick_stop(nri_request *request, void *user)
{
    (void)request;
    (void)user;
    return 0;
}

static uint64_t latency_in(const struct rt_fixture *fixture, const char *id, const char *event)
{
    char wanted[128], *text;
    unsigned nanoseconds = 0;

    (void)snprintf(wanted, sizeof wanted, "latency_seconds_sum{plugin=\"%s\",event=\"%s\"}", id,
                   event);
    assert_int_equal(nri_rt_metrics(fixture->rt, &text, NULL), 0);
    const char *found = strstr(text, wanted);
    assert_non_null(found);
    assert_int_equal(sscanf(found + strlen(wanted), " 0.%9u", &nanoseconds), 1);
    nri_metrics_free(text);
    return nanoseconds;
}

/* The clock goes on while a handler of this program runs. */
static void test_builtin_latency(void **state)
{
    struct rt_fixture *fixture = *state;
    struct slow slow = {.fixture = fixture};
    const struct nri_plugin_ops ops = {
        .size = sizeof ops, .on_create_container = slow_create, .on_stop_pod_sandbox = quick_stop};

    rt_start(fixture);
    assert_int_equal(
        nri_rt_add_builtin(fixture->rt, &ops, "inside", "07", NULL, &slow, fixture->now, NULL), 0);
    rt_settle(fixture);
    slow.pod = rt_pod("p");
    slow.other = rt_pod("q");
    slow.container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, slow.pod, slow.container);
    rt_settle(fixture);
    assert_done(done, 0);
    assert_int_equal(nri_outcome_step_latency(done->outcome, 0), 9 * NRI_MSEC);
    assert_int_equal(latency_in(fixture, "07-inside", "CreateContainer"), 9 * NRI_MSEC);
    assert_done(slow.stop, 0);
    assert_int_equal(nri_outcome_step_latency(slow.stop->outcome, 0), 0);
    assert_in_range(nri_outcome_step_wait(slow.stop->outcome, 0), 0, 2 * NRI_MSEC);
    assert_int_equal(latency_in(fixture, "07-inside", "StopPodSandbox"), 0);
    nri_container_free(slow.container);
    nri_pod_free(slow.other);
    nri_pod_free(slow.pod);
}

static int late_create(nri_request *request, void *user)
{
    struct rt_fixture *fixture = user;

    (void)request;
    fixture->now += 9 * NRI_MSEC;
    return 0;
}

/* The driver tells of an end with a time that it read before a handler ran. */
static void test_time_never_goes_back(void **state)
{
    struct rt_fixture *fixture = *state;
    const struct nri_plugin_ops ops = {.size = sizeof ops, .on_create_container = late_create};

    rt_start(fixture);
    assert_int_equal(
        nri_rt_add_builtin(fixture->rt, &ops, "inside", "07", NULL, fixture, fixture->now, NULL),
        0);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, NULL);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    nri_rt_process(fixture->rt, fixture->now);
    fixture->now -= 9 * NRI_MSEC;
    rt_kill(plugin);
    rt_settle(fixture);
    assert_done(done, 0);
    assert_int_equal(nri_outcome_step_count(done->outcome), 2);
    assert_int_equal(nri_outcome_step_latency(done->outcome, 0), 9 * NRI_MSEC);
    assert_int_equal(nri_outcome_step_code(done->outcome, 1), NRI_E_CLOSED);
    assert_int_equal(nri_outcome_step_latency(done->outcome, 1), 0);
    nri_container_free(container);
    nri_pod_free(pod);
}

static int slow_enumerate(nri_runtime *runtime, nri_enumeration *list, void *user)
{
    struct rt_fixture *fixture = user;

    (void)runtime;
    (void)list;
    fixture->now += 3 * NRI_MSEC;
    return 0;
}

static void slow_audit(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct rt_fixture *fixture = user;

    (void)runtime;
    (void)outcome;
    fixture->now += 3 * NRI_MSEC;
}

/* The time that the program's own functions take is not that of the plugin that is asked next. */
static void test_slow_functions_of_the_user(void **state)
{
    struct rt_fixture *fixture = *state;

    fixture->config.ops.enumerate = slow_enumerate;
    fixture->config.ops.audit = slow_audit;
    rt_start(fixture);
    (void)rt_plugin(fixture, "10", "one", CREATE, NULL);
    rt_settle(fixture);
    assert_int_equal(latency_in(fixture, "10-one", "Synchronize"), 0);
    nri_pod *pods[] = {rt_pod("p"), rt_pod("q")};
    nri_container *containers[] = {rt_container("c", "p"), rt_container("d", "q")};
    struct rt_done *first = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pods[0], containers[0]);
    struct rt_done *second = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pods[1], containers[1]);
    rt_settle(fixture);
    assert_done(first, 0);
    assert_done(second, 0);
    assert_int_equal(latency_in(fixture, "10-one", "CreateContainer"), 0);
    assert_int_equal(nri_outcome_step_wait(second->outcome, 0), 3 * NRI_MSEC);
    for (size_t i = 0; i < 2; i++) {
        nri_container_free(containers[i]);
        nri_pod_free(pods[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_unsolicited),
        rt_test(test_unsolicited_refused),
        rt_test(test_unsolicited_later),
        rt_test(test_unsolicited_and_gone),
        rt_test(test_update_container),
        rt_test(test_unsolicited_answered_within),
        rt_test(test_many_fail),
        rt_test(test_failures_have_a_limit),
        rt_test(test_abandoned_have_a_limit),
        rt_test(test_builtin),
        rt_test(test_builtin_latency),
        rt_test(test_time_never_goes_back),
        rt_test(test_slow_functions_of_the_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
