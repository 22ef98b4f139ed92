/* SPDX-License-Identifier: Apache-2.0 */
/* Unsolicited updates: sent, answered, refused, too large, cut off. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

struct updated {
    size_t count;
    int code;
    char text[256];
    size_t failed_count;
    struct {
        char id[32], cpus[32];
        uint64_t shares;
        int64_t quota;
        bool has_shares, has_quota, ignored;
    } failed[4];
    nri_plugin *plugin;
    bool in_handler;
    struct fake_runtime *fr;
    bool again;              /* calls once more from the callback */
    enum nri_event sends_in; /* and in this handler */
    nri_updates *updates;
    int again_code;
};

static void keep_failed(struct updated *u, const nri_update_result *result, size_t i)
{
    const nri_resources *resources = nri_update_result_failed_resources(result, i);
    const char *cpus;
    (void)snprintf(u->failed[i].id, sizeof u->failed[i].id, "%s",
                   nri_update_result_failed_id(result, i));
    u->failed[i].ignored = nri_update_result_failed_ignored(result, i);
    u->failed[i].has_shares = nri_resources_cpu_shares(resources, &u->failed[i].shares);
    u->failed[i].has_quota = nri_resources_cpu_quota(resources, &u->failed[i].quota);
    (void)nri_resources_cpuset_cpus(resources, &cpus);
    (void)snprintf(u->failed[i].cpus, sizeof u->failed[i].cpus, "%s", cpus);
}

static void on_updated(nri_plugin *plugin, const nri_update_result *result, void *user);

static void send_again(struct updated *u)
{
    u->again_code = nri_core_update_containers(u->fr->core, u->updates, 0, NULL, 0, on_updated, u,
                                               u->fr->now, &u->fr->error);
}

static void on_updated(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct updated *u = user;
    u->count++;
    u->code = nri_update_result_code(result);
    u->plugin = plugin;
    u->failed_count = nri_update_result_failed_count(result);
    (void)snprintf(u->text, sizeof u->text, "%s", nri_update_result_text(result));
    memset(u->failed, 0, sizeof u->failed);
    for (size_t i = 0; i < 4; i++) /* past the end too: empty there */
        keep_failed(u, result, i);
    if (u->fr != NULL)
        u->in_handler = nri_core_in_handler(u->fr->core);
    if (u->again) {
        u->again = false;
        send_again(u);
    }
}

static nri_updates *one_update(void)
{
    nri_updates *updates;
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, "ctr0"), 99), 0);
    return updates;
}

static int send(struct session *s, const nri_updates *updates, struct updated *u)
{
    nri_error_clear(&s->fr.error);
    return nri_core_update_containers(s->fr.core, updates, 0, NULL, 0, on_updated, u, s->fr.now,
                                      &s->fr.error);
}

static void start(struct session *s)
{
    s->fr.ops.on_create_container = recorder_handler;
    recorder_own(&s->fr.ops);
    fake_runtime_start(&s->fr);
}

static void test_S52_update_succeeds(void **state)
{
    static const char *const pairs[] = {"who", "me"};
    struct session *s = *state;
    struct updated u = {.fr = &s->fr};
    nri_updates *updates = one_update();
    assert_int_equal(nri_updates_evict(updates, "ctr1", "too large"), 0);
    s->fr.config.plugin = (nri_plugin *)(void *)s; /* an address, never followed */
    start(s);
    assert_int_equal(nri_core_update_containers(s->fr.core, updates, 0, pairs, 1, on_updated, &u,
                                                s->fr.now, &s->fr.error),
                     0);
    nri_updates_free(updates); /* only read during the call */
    assert_int_equal(u.count, 0);
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.updates, 1);
    assert_int_equal(s->fr.last_update->n_update, 1);
    assert_string_equal(s->fr.last_update->update[0]->container_id, "ctr0");
    assert_int_equal(s->fr.last_update->n_evict, 1);
    assert_string_equal(s->fr.last_update->evict[0]->reason, "too large");
    assert_int_equal(u.count, 1);
    assert_int_equal(u.code, 0);
    assert_string_equal(u.text, "");
    assert_int_equal(u.failed_count, 0);
    assert_ptr_equal(u.plugin, s);
    assert_true(u.in_handler);
}

static void test_S50_failed_ids(void **state)
{
    static const char *const failed[] = {"ctr0", "ctr7"};
    struct session *s = *state;
    struct updated u = {0};
    nri_updates *updates = one_update();
    start(s);
    s->fr.fail_updates = failed;
    s->fr.fail_updates_count = 2;
    assert_int_equal(send(s, updates, &u), 0);
    fake_runtime_run(&s->fr);
    assert_int_equal(u.code, 0);
    assert_int_equal(u.failed_count, 2);
    assert_string_equal(u.failed[0].id, "ctr0");
    assert_string_equal(u.failed[1].id, "ctr7");
    assert_false(u.failed[0].has_shares); /* nothing was sent back of it */
    assert_string_equal(u.failed[2].id, "");
    nri_updates_free(updates);
}

static nri_updates *two_updates(void)
{
    nri_updates *updates;
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, "c1"), 11), 0);
    nri_update *second = nri_updates_container(updates, "c2");
    assert_int_equal(nri_update_set_cpu_shares(second, 22), 0);
    assert_int_equal(nri_update_set_cpuset_cpus(second, "2-3"), 0);
    assert_int_equal(nri_update_set_ignore_failure(second, true), 0);
    return updates;
}

static void test_S17_failed_updates_with_their_resources(void **state)
{
    struct session *s = *state;
    struct updated u = {0};
    nri_updates *updates = two_updates();
    s->fr.hold_updates = true;
    start(s);
    assert_int_equal(send(s, updates, &u), 0);
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.last_update->n_update, 2);
    session_answer_failed(s, 1);
    assert_int_equal(u.count, 1);
    assert_int_equal(u.code, 0);
    assert_string_equal(u.text, "");
    assert_int_equal(u.failed_count, 1);
    assert_string_equal(u.failed[0].id, "c2");
    assert_true(u.failed[0].has_shares);
    assert_int_equal(u.failed[0].shares, 22);
    assert_false(u.failed[0].has_quota);
    assert_string_equal(u.failed[0].cpus, "2-3");
    assert_true(u.failed[0].ignored);
    /* Past the end there is nothing, and nothing crashes. */
    assert_string_equal(u.failed[1].id, "");
    assert_false(u.failed[1].has_shares);
    assert_string_equal(u.failed[1].cpus, "");
    assert_false(u.failed[1].ignored);
    nri_updates_free(updates);
}

static void test_S17_an_error_has_no_list(void **state)
{
    struct session *s = *state;
    struct updated u = {0};
    nri_updates *updates = two_updates();
    s->fr.hold_updates = true;
    start(s);
    assert_int_equal(send(s, updates, &u), 0);
    fake_runtime_run(&s->fr);
    session_refuse(s, NRI_GRPC_UNKNOWN, "no");
    assert_int_equal(u.count, 1);
    assert_int_equal(u.code, NRI_E_REJECTED);
    assert_string_equal(u.text, "no");
    assert_int_equal(u.failed_count, 0);
    assert_string_equal(u.failed[0].id, "");
    assert_false(u.failed[0].has_shares);
    nri_updates_free(updates);
}

static void test_null_result(void **state)
{
    (void)state;
    assert_int_equal(nri_update_result_code(NULL), NRI_E_INVALID);
    assert_string_equal(nri_update_result_text(NULL), "");
    assert_int_equal(nri_update_result_failed_count(NULL), 0);
    assert_string_equal(nri_update_result_failed_id(NULL, 0), "");
    assert_false(nri_resources_cpu_shares(nri_update_result_failed_resources(NULL, 0), NULL));
    assert_false(nri_update_result_failed_ignored(NULL, 0));
}

static void test_without_a_callback(void **state)
{
    struct session *s = *state;
    nri_updates *updates = one_update();
    start(s);
    assert_int_equal(nri_core_update_containers(s->fr.core, updates, 0, NULL, 0, NULL, NULL,
                                                s->fr.now, &s->fr.error),
                     0);
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.updates, 1);
    nri_updates_free(updates);
}

static void expect_no_service(struct session *s, const nri_updates *updates, struct updated *u)
{
    assert_int_equal(send(s, updates, u), NRI_E_NO_SERVICE);
    assert_contains(s->fr.error.text, "no runtime has configured");
    assert_int_equal(u->count, 0);
}

static void test_T41_no_service(void **state)
{
    struct session *s = *state;
    struct updated u = {0};
    nri_updates *updates = one_update();
    s->fr.ops.on_create_container = recorder_handler;
    assert_int_equal(nri_core_new(&s->fr.core, &s->fr.config, &s->fr.error), 0);
    expect_no_service(s, updates, &u); /* never started */
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    expect_no_service(s, updates, &u); /* registered, but not configured */
    fake_runtime_disconnect(&s->fr, 0, "");
    expect_no_service(s, updates, &u); /* stopped */
    assert_int_equal(s->fr.updates, 0);
    nri_updates_free(updates);
}

static void test_bad_lists(void **state)
{
    struct session *s = *state;
    struct updated u = {0};
    nri_updates *updates = one_update();
    start(s);
    assert_int_equal(send(s, NULL, &u), NRI_E_INVALID);
    (void)nri_updates_container(updates, "");
    assert_int_equal(send(s, updates, &u), NRI_E_INVALID);
    assert_contains(s->fr.error.text, "container");
    fake_runtime_run(&s->fr);
    assert_int_equal(u.count + s->fr.updates, 0);
    nri_updates_free(updates);
}

static void test_U12_refused(void **state)
{
    struct session *s = *state;
    struct updated u = {0};
    nri_updates *updates = one_update();
    start(s);
    s->fr.hold_updates = true;
    static const struct {
        int grpc, code;
    } cases[] = {
        {NRI_GRPC_UNKNOWN, NRI_E_REJECTED},
        {NRI_GRPC_INTERNAL, NRI_E_REJECTED},
        {NRI_GRPC_UNIMPLEMENTED, NRI_E_UNSUPPORTED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        u.count = 0;
        assert_int_equal(send(s, updates, &u), 0);
        fake_runtime_run(&s->fr);
        session_refuse(s, cases[i].grpc, "no such container");
        assert_int_equal(u.count, 1);
        assert_int_equal(u.code, cases[i].code);
        assert_string_equal(u.text, "no such container");
    }
    nri_updates_free(updates);
}

/* The time-out: the call's, else the options', else Configure's, else 2 s. */
static void expect_timeout(struct session *s, const nri_updates *updates, uint64_t given,
                           uint64_t expected)
{
    struct updated u = {0};
    assert_int_equal(nri_core_update_containers(s->fr.core, updates, given, NULL, 0, on_updated, &u,
                                                s->fr.now, &s->fr.error),
                     0);
    fake_runtime_run(&s->fr);
    assert_int_equal(nri_core_deadline(s->fr.core), s->fr.now + expected);
    fake_runtime_advance(&s->fr, expected - 1);
    assert_int_equal(u.count, 0);
    fake_runtime_advance(&s->fr, 1);
    assert_int_equal(u.count, 1);
    assert_int_equal(u.code, NRI_E_TIMEOUT);
}

static void test_timeouts(void **state)
{
    struct session *s = *state;
    nri_updates *updates = one_update();
    s->fr.hold_updates = true;
    start(s);
    expect_timeout(s, updates, 0, 2 * NRI_SEC);
    expect_timeout(s, updates, 300 * NRI_MSEC, 300 * NRI_MSEC);
    fake_runtime_disconnect(&s->fr, 0, "");
    s->fr.request_timeout = 700;
    fake_runtime_start(&s->fr);
    expect_timeout(s, updates, 0, 700 * NRI_MSEC);
    fake_runtime_disconnect(&s->fr, 0, "");
    nri_core_free(s->fr.core);
    s->fr.core = NULL;
    s->fr.config.call_timeout = 100 * NRI_MSEC;
    fake_runtime_start(&s->fr);
    expect_timeout(s, updates, 0, 100 * NRI_MSEC);
    nri_updates_free(updates);
}

static void test_T33_late_reply(void **state)
{
    struct session *s = *state;
    struct updated u = {0};
    nri_updates *updates = one_update();
    s->fr.hold_updates = true;
    start(s);
    assert_int_equal(send(s, updates, &u), 0);
    fake_runtime_run(&s->fr);
    fake_runtime_advance(&s->fr, 2 * NRI_SEC + 100 * NRI_MSEC);
    assert_int_equal(u.count, 1);
    assert_int_equal(u.code, NRI_E_TIMEOUT);
    session_answer(s);
    assert_int_equal(u.count, 1);
    s->fr.hold_updates = false;
    assert_int_equal(send(s, updates, &u), 0);
    fake_runtime_run(&s->fr);
    assert_int_equal(u.count, 2);
    assert_int_equal(u.code, 0);
    nri_updates_free(updates);
}

static void test_T33_pending_calls_at_the_end(void **state)
{
    struct session *s = *state;
    struct updated u[10];
    nri_updates *updates = one_update();
    memset(u, 0, sizeof u);
    s->fr.hold_updates = true;
    start(s);
    for (size_t i = 0; i < 10; i++)
        assert_int_equal(send(s, updates, &u[i]), 0);
    fake_runtime_run(&s->fr);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "the runtime closed the connection");
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(u[i].count, 1);
        assert_int_equal(u[i].code, NRI_E_CLOSED);
        assert_string_equal(u[i].text, "the runtime closed the connection");
    }
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_DISCONNECTED), 1);
    nri_updates_free(updates);
}

static void test_busy(void **state)
{
    struct session *s = *state;
    struct updated u = {0};
    nri_updates *updates = one_update();
    s->fr.config.limits.max_pending_calls = 3;
    s->fr.hold_updates = true;
    start(s);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(send(s, updates, &u), 0);
    assert_int_equal(send(s, updates, &u), NRI_E_BUSY);
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.updates, 3);
    session_answer(s);
    assert_int_equal(u.count, 1);
    assert_int_equal(send(s, updates, &u), 0);
    fake_runtime_disconnect(&s->fr, 0, "");
    assert_int_equal(u.count, 4);
    nri_updates_free(updates);
}

static void test_again_from_the_callback(void **state)
{
    struct session *s = *state;
    struct updated u = {.fr = &s->fr, .again = true};
    u.updates = one_update();
    start(s);
    assert_int_equal(send(s, u.updates, &u), 0);
    fake_runtime_run(&s->fr);
    assert_int_equal(u.again_code, 0);
    assert_int_equal(u.count, 2);
    assert_int_equal(s->fr.updates, 2);
    /* But not when the connection is what ended the call. */
    s->fr.hold_updates = true;
    u.again = true;
    assert_int_equal(send(s, u.updates, &u), 0);
    fake_runtime_run(&s->fr);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "gone");
    assert_int_equal(u.again_code, NRI_E_NO_SERVICE);
    nri_updates_free(u.updates);
}

static int send_in_handler(struct recorder *recorder, nri_request *request)
{
    struct updated *u = recorder->data;
    if (nri_request_event(request) == u->sends_in)
        send_again(u);
    return 0;
}

static void test_sent_within_a_handler(void **state)
{
    struct session *s = *state;
    struct updated u = {.fr = &s->fr, .sends_in = NRI_EVENT_CREATE_CONTAINER};
    u.updates = one_update();
    s->recorder.act = send_in_handler;
    s->recorder.data = &u;
    start(s);
    const struct rpc_outcome *outcome = fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER);
    assert_success(outcome);
    assert_int_equal(u.again_code, 0);
    assert_int_equal(u.count, 1);
    nri_updates_free(u.updates);
}

/* A Go runtime may write its reply to RegisterPlugin after all that follows. */
static void test_sent_before_the_reply_to_RegisterPlugin(void **state)
{
    struct session *s = *state;
    struct updated u = {.fr = &s->fr, .again_code = 1, .sends_in = NRI_EVENT_SYNCHRONIZE};
    u.updates = one_update();
    s->recorder.act = send_in_handler;
    s->recorder.data = &u;
    s->fr.ops.on_synchronize = recorder_handler;
    s->fr.ops.on_create_container = recorder_handler;
    s->fr.hold_register = true;
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    assert_int_equal(send(s, u.updates, &u), NRI_E_NO_SERVICE);
    assert_success(fake_runtime_configure(&s->fr));
    assert_success(fake_runtime_sync(&s->fr, 0, 1, 0, 1, false));
    assert_int_equal(u.again_code, 0);
    assert_int_equal(s->fr.updates, 1);
    assert_int_equal(u.count, 1);
    assert_int_equal(u.code, 0);
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_REGISTERING);
    session_answer(s);
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_READY);
    assert_int_equal(send(s, u.updates, &u), 0);
    fake_runtime_run(&s->fr);
    assert_int_equal(u.count, 2);
    nri_updates_free(u.updates);
}

/* ---- T36: the largest that may be sent ---- */

static size_t queued(struct session *s)
{
    const uint8_t *bytes;
    size_t count;
    nri_core_output(s->fr.core, &bytes, &count);
    return count;
}

#define LARGEST ((size_t)4194304)

/* The reason's length that makes the ttRPC data exactly LARGEST bytes. */
static size_t length_of_largest(struct session *s)
{
    struct updated u = {0};
    nri_updates *updates = session_eviction(LARGEST - 1000);
    assert_int_equal(send(s, updates, &u), 0);
    /* Two mux headers and the ttRPC header are not data. */
    const size_t data = queued(s) - 2 * 8 - 10;
    fake_runtime_run(&s->fr);
    nri_updates_free(updates);
    return LARGEST - 1000 + (LARGEST - data);
}

static void test_T36_exactly_the_limit_and_one_over(void **state)
{
    struct session *s = *state;
    struct updated u = {0};
    char number[32];
    start(s);
    const size_t length = length_of_largest(s);
    nri_updates *largest = session_eviction(length), *over = session_eviction(length + 1);
    assert_int_equal(send(s, largest, &u), 0);
    assert_int_equal(queued(s), LARGEST + 2 * 8 + 10);
    fake_runtime_run(&s->fr);
    assert_int_equal(u.count, 1);
    assert_int_equal(u.code, 0);
    assert_int_equal(s->fr.updates, 2);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(send(s, over, &u), NRI_E_LIMIT);
    (void)snprintf(number, sizeof number, "%zu", LARGEST);
    assert_contains(s->fr.error.text, number);
    (void)snprintf(number, sizeof number, "%zu", LARGEST + 1);
    assert_contains(s->fr.error.text, number);
    assert_int_equal(queued(s), 0);
    assert_int_equal(u.count, 1);
    nri_updates *small = one_update();
    assert_int_equal(send(s, small, &u), 0);
    fake_runtime_run(&s->fr);
    assert_int_equal(u.count, 2);
    assert_int_equal(u.code, 0);
    nri_updates_free(small);
    nri_updates_free(largest);
    nri_updates_free(over);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_S52_update_succeeds),
        session_test(test_S50_failed_ids),
        session_test(test_S17_failed_updates_with_their_resources),
        session_test(test_S17_an_error_has_no_list),
        cmocka_unit_test(test_null_result),
        session_test(test_without_a_callback),
        session_test(test_T41_no_service),
        session_test(test_bad_lists),
        session_test(test_U12_refused),
        session_test(test_timeouts),
        session_test(test_T33_late_reply),
        session_test(test_T33_pending_calls_at_the_end),
        session_test(test_busy),
        session_test(test_again_from_the_callback),
        session_test(test_sent_within_a_handler),
        session_test(test_sent_before_the_reply_to_RegisterPlugin),
        session_test(test_T36_exactly_the_limit_and_one_over),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
