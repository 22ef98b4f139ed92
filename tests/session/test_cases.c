/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public bug reports (tests/cases.md) whose exact outcome belongs to no other file here: what a
 * plugin does when its Synchronize fails or takes too long, and the edges of unsolicited updates.
 */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

#include "plugin/task.h"

/* ---- Synchronize ---- */

static void use_sync(struct session *s)
{
    recorder_own(&s->fr.ops);
    s->fr.ops.on_create_container = recorder_handler;
    s->fr.ops.on_synchronize = recorder_handler;
}

static int fail_sync(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    return nri_request_event(request) == NRI_EVENT_SYNCHRONIZE
               ? nri_request_fail(request, NRI_E_REJECTED, "not on this node")
               : 0;
}

/* S23: the runtime is told why; the plugin is not synchronised, and leaves the end to the runtime.
 * The next connection makes it good. */
static void test_S23_a_failed_Synchronize(void **state)
{
    struct session *s = *state;
    use_sync(s);
    fake_runtime_start(&s->fr);
    s->recorder.act = fail_sync;
    assert_refusal(fake_runtime_sync(&s->fr, 0, 1, 0, 1, false), NRI_GRPC_UNKNOWN,
                   "not on this node");
    assert_false(nri_core_is_synchronized(s->fr.core));
    assert_false(nri_core_should_close(s->fr.core));
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "the runtime closed the connection");
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CREATE_CONTAINER), 0);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_DISCONNECTED), 1);
    assert_int_equal(s->recorder.reason, NRI_E_CLOSED);

    s->recorder.act = NULL;
    fake_runtime_start(&s->fr);
    assert_false(nri_core_is_synchronized(s->fr.core));
    assert_success(fake_runtime_sync(&s->fr, 0, 1, 0, 1, false));
    assert_true(nri_core_is_synchronized(s->fr.core));
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CREATE_CONTAINER), 1);
}

/* The same by a handler that completes it later. */
static void test_S23_a_Synchronize_that_fails_later(void **state)
{
    struct session *s = *state;
    use_sync(s);
    fake_runtime_start(&s->fr);
    s->recorder.result = NRI_PENDING;
    const struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 0, 1, 0, 1, false);
    assert_int_equal(outcome->count, 0);
    assert_int_equal(nri_request_complete(s->recorder.held[0], NRI_E_REJECTED), 0);
    nri_request_unref(s->recorder.held[0]);
    fake_runtime_run(&s->fr);
    assert_refusal(outcome, NRI_GRPC_UNKNOWN, "");
    assert_false(nri_core_is_synchronized(s->fr.core));
}

#define TAKES (800 * NRI_MSEC) /* of the handler of Synchronize, in S49 */

static const struct rpc_outcome *synchronize_within(struct session *s, bool guard, uint64_t budget)
{
    s->fr.config.deadlines = (struct nri_deadline_settings){
        .guard = guard, .margin_percent = 10, .margin = 50 * NRI_MSEC, .slow_percent = 50};
    use_sync(s);
    fake_runtime_start(&s->fr);
    s->fr.call_timeout = (int64_t)budget;
    s->recorder.result = NRI_PENDING;
    const struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 0, 2, 0, 2, false);
    s->recorder.result = 0;
    assert_int_equal(outcome->count, 0);
    return outcome;
}

/* S49: 800 ms of 500 ms. Without the guard the runtime drops the plugin, which learns why. */
static void test_S49_a_Synchronize_that_takes_too_long_is_the_reason(void **state)
{
    struct session *s = *state;
    const struct rpc_outcome *outcome = synchronize_within(s, false, 500 * NRI_MSEC);
    fake_runtime_advance(&s->fr, TAKES);
    assert_int_equal(outcome->code, NRI_E_TIMEOUT); /* the runtime has given up */
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "the runtime closed the connection");
    assert_contains(s->recorder.reason_text, "Synchronize was not answered within 500 ms, which is "
                                             "why the runtime may have dropped the plugin");
    nri_request_unref(s->recorder.held[0]);
}

/* With the guard the plugin stays, and gets all events. */
static void test_S49_the_guard_keeps_the_plugin(void **state)
{
    struct session *s = *state;
    const struct rpc_outcome *outcome = synchronize_within(s, true, 500 * NRI_MSEC);
    fake_runtime_advance(&s->fr, 450 * NRI_MSEC - 1);
    assert_int_equal(outcome->count, 0);
    fake_runtime_advance(&s->fr, 1);
    assert_success(outcome);
    fake_runtime_advance(&s->fr, TAKES - 450 * NRI_MSEC);
    assert_int_equal(nri_request_complete(s->recorder.held[0], 0), NRI_E_LATE);
    nri_request_unref(s->recorder.held[0]);
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_READY);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CREATE_CONTAINER), 1);
}

/* With 2 s for it nothing is late. */
static void test_S49_in_time(void **state)
{
    struct session *s = *state;
    const struct rpc_outcome *outcome = synchronize_within(s, true, 2 * NRI_SEC);
    fake_runtime_advance(&s->fr, TAKES);
    assert_int_equal(nri_request_complete(s->recorder.held[0], 0), 0);
    nri_request_unref(s->recorder.held[0]);
    fake_runtime_run(&s->fr);
    assert_success(outcome);
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), 0);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CREATE_CONTAINER), 1);
}

static int repair_cpusets(struct recorder *recorder, nri_request *request)
{
    nri_updates *updates = nri_request_updates(request);
    (void)recorder;
    (void)nri_update_set_cpuset_cpus(nri_updates_container(updates, "c1"), "0-1");
    (void)nri_update_set_cpuset_cpus(nri_updates_container(updates, "c2"), "2");
    return 0;
}

/* S51: the updates go with the answer to the last part, in the order they were made, once. */
static void test_S51_updates_of_a_split_Synchronize(void **state)
{
    struct session *s = *state;
    use_sync(s);
    fake_runtime_start(&s->fr);
    s->recorder.act = repair_cpusets;
    const struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 0, 1, 0, 1, true);
    assert_success(outcome);
    const MESSAGE(SynchronizeResponse) *part = (const void *)outcome->message;
    assert_true(part->more);
    assert_int_equal(part->n_update, 0);
    outcome = fake_runtime_sync(&s->fr, 1, 1, 1, 1, false);
    assert_success(outcome);
    const MESSAGE(SynchronizeResponse) *last = (const void *)outcome->message;
    assert_false(last->more);
    assert_int_equal(last->n_update, 2);
    assert_string_equal(last->update[0]->container_id, "c1");
    assert_string_equal(last->update[0]->linux->resources->cpu->cpus, "0-1");
    assert_string_equal(last->update[1]->container_id, "c2");
    assert_string_equal(last->update[1]->linux->resources->cpu->cpus, "2");
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 1);
}

/* ---- updates ---- */

struct told {
    int count, code;
    size_t failed;
    char id[32], cpus[32];
    uint64_t shares;
};

static void on_told(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct told *told = user;
    const nri_resources *resources = nri_update_result_failed_resources(result, 0);
    const char *cpus;
    (void)plugin;
    told->count++;
    told->code = nri_update_result_code(result);
    told->failed = nri_update_result_failed_count(result);
    (void)nri_resources_cpu_shares(resources, &told->shares);
    (void)nri_resources_cpuset_cpus(resources, &cpus);
    (void)snprintf(told->cpus, sizeof told->cpus, "%s", cpus);
    (void)snprintf(told->id, sizeof told->id, "%s", nri_update_result_failed_id(result, 0));
}

static int send_later(struct session *s, const nri_updates *updates, struct told *told)
{
    const struct nri_update_options options = {.timeout = 60 * NRI_SEC};
    nri_error_clear(&s->fr.error);
    return nri_core_update_later(s->fr.core, updates, &options, on_told, told, s->fr.now,
                                 &s->fr.error);
}

static void start(struct session *s)
{
    s->fr.ops.on_create_container = recorder_handler;
    fake_runtime_start(&s->fr);
}

/* T40 (c): a list of nothing is sent as any other, and the runtime's answer counts. */
static void test_T40_an_empty_list(void **state)
{
    struct session *s = *state;
    struct told told = {.code = 1};
    nri_updates *updates;
    start(s);
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    assert_int_equal(nri_core_update_containers(s->fr.core, updates, 0, NULL, 0, on_told, &told,
                                                s->fr.now, &s->fr.error),
                     0);
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.updates, 1);
    assert_int_equal(s->fr.last_update->n_update + s->fr.last_update->n_evict, 0);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.code, 0);
    assert_int_equal(send_later(s, updates, &told), 0);
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.updates, 2);
    assert_int_equal(s->fr.last_update->n_update + s->fr.last_update->n_evict, 0);
    assert_int_equal(told.count, 2);
    assert_int_equal(told.code, 0);
    assert_int_equal(told.failed, 0);
    nri_updates_free(updates);
}

/* Refused, with both lengths in the text; returns the request's. */
static size_t refused_length(struct session *s, size_t size, size_t limit, struct told *told)
{
    nri_updates *updates = session_eviction(size);
    char both[96];
    size_t length = 0;
    assert_int_equal(send_later(s, updates, told), NRI_E_LIMIT);
    const char *at = strstr(s->fr.error.text, "request of ");
    assert_non_null(at);
    length = strtoul(at + strlen("request of "), NULL, 10);
    (void)snprintf(both, sizeof both, "request of %zu bytes exceeds the limit of %zu bytes", length,
                   limit);
    assert_contains(s->fr.error.text, both);
    nri_updates_free(updates);
    return length;
}

/* T36, of a call that waits for the loop's turn: exactly the limit goes out, a byte more fails on
 * the caller's side, with nothing on the wire and no place lost. */
static void test_T36_the_largest_that_waits_its_turn(void **state)
{
    static const size_t limits[] = {4194304, 4096};
    struct session *s = *state;
    for (size_t i = 0; i < 2; i++) {
        const size_t limit = limits[i];
        struct told told = {.code = 1};
        s->fr.config.limits.max_send = limit;
        start(s);
        const size_t before = s->fr.updates;
        const size_t size = limit - (refused_length(s, limit, limit, &told) - limit);
        for (int tries = 0; tries < (i == 0 ? 10 : 10000); tries++)
            assert_int_equal(refused_length(s, size + 1, limit, &told), limit + 1);
        fake_runtime_run(&s->fr);
        assert_int_equal(s->fr.updates, before);
        assert_int_equal(told.count, 0);
        nri_updates *largest = session_eviction(size);
        assert_int_equal(send_later(s, largest, &told), 0);
        nri_updates_free(largest);
        fake_runtime_run(&s->fr);
        assert_int_equal(s->fr.updates, before + 1);
        assert_int_equal(told.count, 1);
        assert_int_equal(told.code, 0);
        fake_runtime_disconnect(&s->fr, 0, "");
        nri_core_free(s->fr.core);
        s->fr.core = NULL;
    }
}

static void keep_task(void *user, struct nri_task *task)
{
    *(struct nri_task **)user = task;
}

/* S17, of a callback on the thread of handlers: the list of what failed is whole there, with its
 * resources, also when the connection that it came by is gone. */
static void test_S17_the_failed_list_outlives_its_connection(void **state)
{
    struct session *s = *state;
    struct nri_task *task = NULL;
    struct told told = {.code = 1};
    nri_updates *updates;
    s->fr.hold_updates = true;
    s->fr.ops.on_create_container = recorder_handler;
    s->fr.config.queue = keep_task;
    s->fr.config.queue_user = (void *)&task;
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    (void)fake_runtime_configure(&s->fr);
    if (task != NULL)
        task->run(task);
    task = NULL;
    fake_runtime_run(&s->fr);
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, "c1"), 11), 0);
    nri_update *second = nri_updates_container(updates, "c2");
    assert_int_equal(nri_update_set_cpu_shares(second, 22), 0);
    assert_int_equal(nri_update_set_cpuset_cpus(second, "2-3"), 0);
    assert_int_equal(send_later(s, updates, &told), 0);
    nri_updates_free(updates);
    fake_runtime_run(&s->fr);
    session_answer_failed(s, 1);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "gone");
    assert_int_equal(told.count, 0);
    assert_non_null(task);
    task->run(task);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.code, 0);
    assert_int_equal(told.failed, 1);
    assert_string_equal(told.id, "c2");
    assert_int_equal(told.shares, 22);
    assert_string_equal(told.cpus, "2-3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_S23_a_failed_Synchronize),
        session_test(test_S23_a_Synchronize_that_fails_later),
        session_test(test_S49_a_Synchronize_that_takes_too_long_is_the_reason),
        session_test(test_S49_the_guard_keeps_the_plugin),
        session_test(test_S49_in_time),
        session_test(test_S51_updates_of_a_split_Synchronize),
        session_test(test_T40_an_empty_list),
        session_test(test_T36_the_largest_that_waits_its_turn),
        session_test(test_S17_the_failed_list_outlives_its_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
