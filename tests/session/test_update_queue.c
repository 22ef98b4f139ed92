/* SPDX-License-Identifier: Apache-2.0 */
/* Unsolicited updates that wait: for a runtime, or for the loop's turn after a call on the thread
 * of handlers, which these tests play themselves. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

#include "fail_alloc.h"
#include "plugin/task.h"

#define CALLS 128

struct told {
    size_t count;
    int codes[CALLS];
    char text[512];
    size_t failed;
    char failed_id[64];
    struct session *again; /* the callback calls once more */
    int again_code;
};

static nri_updates *update_of(const char *id)
{
    nri_updates *updates;
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, id), 99), 0);
    return updates;
}

static void on_told(nri_plugin *plugin, const nri_update_result *result, void *user);

static int call(struct session *s, struct told *told, const char *id, uint64_t timeout, bool waits)
{
    static const char *const metadata[] = {"key", "value"};
    const struct nri_update_options options = {
        .timeout = timeout, .metadata = metadata, .metadata_count = 1, .waits = waits};
    nri_updates *updates = update_of(id);
    nri_error_clear(&s->fr.error);
    const int code = nri_core_update_later(s->fr.core, updates, &options, on_told, told, s->fr.now,
                                           &s->fr.error);
    nri_updates_free(updates); /* it was packed */
    return code;
}

static void on_told(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct told *told = user;
    (void)plugin;
    if (told->count < CALLS)
        told->codes[told->count] = nri_update_result_code(result);
    told->count++;
    told->failed = nri_update_result_failed_count(result);
    (void)snprintf(told->text, sizeof told->text, "%s", nri_update_result_text(result));
    (void)snprintf(told->failed_id, sizeof told->failed_id, "%s",
                   nri_update_result_failed_id(result, 0));
    if (told->again != NULL) {
        struct session *s = told->again;
        told->again = NULL;
        told->again_code = call(s, told, "again", 0, true);
    }
}

/* A core without a connection yet. */
static void make(struct session *s)
{
    s->fr.ops.on_create_container = recorder_handler;
    assert_int_equal(nri_core_new(&s->fr.core, &s->fr.config, &s->fr.error), 0);
}

static const char *last_id(const struct session *s)
{
    return s->fr.last_update->update[0]->container_id;
}

static void test_T40_an_update_before_the_first_connection_waits_for_Configure(void **state)
{
    struct session *s = *state;
    struct told told = {0};
    make(s);
    assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, false), NRI_E_NO_SERVICE);
    assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, true), 0);
    nri_core_drain(s->fr.core, s->fr.now);
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    fake_runtime_run(&s->fr);
    /* Registered, not configured: a runtime would take it for an error. */
    assert_int_equal(s->fr.registrations, 1);
    assert_int_equal(s->fr.updates, 0);
    assert_success(fake_runtime_configure(&s->fr));
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.updates, 1);
    assert_string_equal(last_id(s), "ctr0");
    assert_int_equal(told.count, 1);
    assert_int_equal(told.codes[0], 0);
}

static void test_updates_wait_across_a_reconnection_in_their_order(void **state)
{
    struct session *s = *state;
    struct told told = {0};
    static const char *const fails[] = {"ctr2"};
    make(s);
    fake_runtime_start(&s->fr);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "gone");
    for (int i = 0; i < 3; i++) {
        char id[8];
        (void)snprintf(id, sizeof id, "ctr%d", i);
        assert_int_equal(call(s, &told, id, 60 * NRI_SEC, true), 0);
    }
    nri_core_drain(s->fr.core, s->fr.now);
    assert_int_equal(told.count, 0);
    s->fr.fail_updates = fails;
    s->fr.fail_updates_count = 1;
    fake_runtime_start(&s->fr);
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.updates, 3);
    assert_string_equal(last_id(s), "ctr2");
    assert_int_equal(told.count, 3);
    assert_int_equal(told.failed, 1);
    assert_string_equal(told.failed_id, "ctr2");
}

static void test_what_was_sent_is_not_sent_again(void **state)
{
    struct session *s = *state;
    struct told told = {0};
    make(s);
    s->fr.hold_updates = true;
    fake_runtime_start(&s->fr);
    assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, true), 0);
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.updates, 1);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "gone");
    assert_int_equal(told.count, 1);
    assert_int_equal(told.codes[0], NRI_E_CLOSED);
    s->fr.hold_updates = false;
    fake_runtime_start(&s->fr);
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.updates, 1);
    assert_int_equal(told.count, 1);
}

static void test_the_time_out_counts_from_the_call(void **state)
{
    struct session *s = *state;
    struct told told = {0};
    make(s);
    s->fr.hold_updates = true;
    assert_int_equal(call(s, &told, "ctr0", 300 * NRI_MSEC, true), 0);
    assert_int_equal(call(s, &told, "ctr1", 900 * NRI_MSEC, true), 0);
    assert_int_equal(call(s, &told, "ctr2", 0, true), 0); /* the default, 2 s */
    nri_core_drain(s->fr.core, s->fr.now);
    assert_int_equal(nri_core_deadline(s->fr.core), s->fr.now + 300 * NRI_MSEC);
    s->fr.now += 300 * NRI_MSEC - 1;
    nri_core_drain(s->fr.core, s->fr.now);
    assert_int_equal(told.count, 0);
    s->fr.now += 1;
    nri_core_drain(s->fr.core, s->fr.now);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.codes[0], NRI_E_TIMEOUT);
    assert_string_equal(told.text, "UpdateContainers: no runtime has taken the call within 300 ms");
    /* What is left of it goes along with the call. */
    fake_runtime_start(&s->fr);
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.updates, 2);
    assert_int_equal(nri_core_deadline(s->fr.core), s->fr.now + 600 * NRI_MSEC);
    fake_runtime_advance(&s->fr, 600 * NRI_MSEC);
    assert_int_equal(told.count, 2);
    assert_int_equal(told.codes[1], NRI_E_TIMEOUT);
    fake_runtime_advance(&s->fr, 1100 * NRI_MSEC);
    assert_int_equal(told.count, 3);
    assert_int_equal(nri_core_deadline(s->fr.core), NRI_NEVER);
}

static void test_only_so_many_wait(void **state)
{
    struct session *s = *state;
    struct told told = {0};
    s->fr.config.max_queued_updates = 3;
    make(s);
    for (int i = 0; i < 3; i++)
        assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, true), 0);
    assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, true), NRI_E_BUSY);
    assert_contains(s->fr.error.text, "3 updates wait, which max_queued_updates allows");
    fake_runtime_start(&s->fr);
    fake_runtime_run(&s->fr);
    assert_int_equal(told.count, 3);
    for (int i = 0; i < 1000; i++) { /* no place is lost */
        assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, true), 0);
        fake_runtime_run(&s->fr);
    }
    assert_int_equal(told.count, 1003);
}

/* More than may be pending at the runtime: replies make room. */
static void test_more_than_may_be_pending_are_all_sent(void **state)
{
    struct session *s = *state;
    struct told told = {0};
    s->fr.config.limits.max_pending_calls = 4;
    make(s);
    for (int i = 0; i < 50; i++)
        assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, true), 0);
    fake_runtime_start(&s->fr);
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.updates, 50);
    assert_int_equal(told.count, 50);
    for (size_t i = 0; i < told.count; i++)
        assert_int_equal(told.codes[i], 0);
}

static void test_errors_of_the_call_are_told_at_once(void **state)
{
    struct session *s = *state;
    struct told told = {0};
    const struct nri_update_options options = {.waits = true};
    nri_updates *updates = update_of("ctr0");
    s->fr.config.limits.max_send = 1024;
    make(s);
    assert_int_equal(
        nri_core_update_later(s->fr.core, NULL, &options, on_told, &told, s->fr.now, &s->fr.error),
        NRI_E_INVALID);
    for (int i = 0; i < 100; i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "container-%d", i);
        (void)nri_update_set_cpu_shares(nri_updates_container(updates, id), 99);
    }
    assert_int_equal(nri_core_update_later(s->fr.core, updates, &options, on_told, &told, s->fr.now,
                                           &s->fr.error),
                     NRI_E_LIMIT);
    assert_contains(s->fr.error.text, "exceeds the limit of 1024 bytes");
    nri_updates_free(updates);

    updates = update_of("ctr0");
    assert_int_equal(nri_update_set_cpu_shares(NULL, 1), NRI_E_INVALID);
    assert_int_not_equal(nri_update_set_cpuset_cpus(nri_updates_container(updates, "c"), "x"), 0);
    assert_int_equal(nri_core_update_later(s->fr.core, updates, &options, on_told, &told, s->fr.now,
                                           &s->fr.error),
                     nri_updates_error(updates));
    nri_updates_free(updates);
    assert_int_equal(told.count, 0);
    /* None of them took a place. */
    nri_core_end_updates(s->fr.core, s->fr.now);
    assert_int_equal(told.count, 0);
}

static void test_the_end_of_the_run_completes_what_waits(void **state)
{
    struct session *s = *state;
    struct told told = {.again = s};
    make(s);
    for (int i = 0; i < 3; i++)
        assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, true), 0);
    nri_core_end_updates(s->fr.core, s->fr.now);
    assert_int_equal(told.count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(told.codes[i], NRI_E_CLOSED);
    assert_int_equal(told.again_code, NRI_E_NO_SERVICE);
    assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, true), NRI_E_NO_SERVICE);
    nri_core_allow_updates(s->fr.core);
    assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, true), 0);
    nri_core_free(s->fr.core); /* as well */
    s->fr.core = NULL;
    assert_int_equal(told.count, 4);
    assert_int_equal(told.codes[3], NRI_E_CLOSED);
}

static void test_a_callback_may_call_again(void **state)
{
    struct session *s = *state;
    struct told told = {.again = s};
    make(s);
    assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, true), 0);
    fake_runtime_start(&s->fr);
    fake_runtime_run(&s->fr);
    fake_runtime_run(&s->fr);
    assert_int_equal(told.again_code, 0);
    assert_int_equal(told.count, 2);
    assert_string_equal(last_id(s), "again");
}

/* ---- the end of the run, just then ---- */

/* An allocator in which the loop's thread ends the run: between the check and the posting. */
struct ending {
    struct nri_core *core;
    bool armed;
};

static void *allocate(size_t bytes, void *user)
{
    struct ending *ending = user;
    if (ending->armed) {
        ending->armed = false;
        nri_core_end_updates(ending->core, 0);
    }
    return malloc(bytes);
}

static void *resize(void *block, size_t bytes, void *user)
{
    (void)user;
    return realloc(block, bytes);
}

static void release(void *block, void *user)
{
    (void)user;
    free(block);
}

static void test_the_run_ends_while_a_call_is_made(void **state)
{
    static struct ending ending; /* the core's until it is freed */
    static struct told told;
    struct session *s = *state;
    struct nri_allocator allocator;
    nri_allocator_init(&allocator, sizeof allocator);
    allocator.allocate = allocate;
    allocator.resize = resize;
    allocator.release = release;
    allocator.user = &ending;
    assert_int_equal(nri_alloc_resolve(&s->fr.config.alloc, &allocator), 0);
    make(s);
    ending.core = s->fr.core;
    ending.armed = true;
    /* Nobody looks after what is posted now: it must be refused. */
    assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, true), NRI_E_NO_SERVICE);
    nri_core_drain(s->fr.core, s->fr.now);
    assert_int_equal(told.count, 0);
    nri_core_allow_updates(s->fr.core);
    assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, true), 0);
}

/* In a handler on the loop's thread, before the queue had its turn: an older update must not come
 * after a newer one and undo it. */
struct newer {
    struct session *session;
    struct told told;
    int code;
};

static int update_directly(struct recorder *recorder, nri_request *request)
{
    struct newer *newer = recorder->data;
    struct fake_runtime *fr = &newer->session->fr;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    nri_updates *updates = update_of("new");
    newer->code = nri_core_update_containers(fr->core, updates, NRI_SEC, NULL, 0, on_told,
                                             &newer->told, fr->now, &fr->error);
    nri_updates_free(updates);
    return 0;
}

static void test_a_newer_update_does_not_overtake_those_that_wait(void **state)
{
    struct session *s = *state;
    struct told told = {0};
    struct newer newer = {.session = s, .code = 1};
    make(s);
    fake_runtime_start(&s->fr);
    s->recorder.data = &newer;
    s->recorder.act = update_directly;
    assert_int_equal(call(s, &told, "old", 60 * NRI_SEC, true), 0);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    fake_runtime_run(&s->fr);
    assert_int_equal(newer.code, 0);
    assert_int_equal(told.count, 1);
    assert_int_equal(newer.told.count, 1);
    assert_int_equal(newer.told.codes[0], 0);
    assert_int_equal(s->fr.updates, 2);
    assert_string_equal(last_id(s), "new");
}

/* ---- a thread of handlers ---- */

struct tasks {
    struct nri_task *first, **end;
    size_t queued;
};

static void keep_task(void *user, struct nri_task *task)
{
    struct tasks *tasks = user;
    task->next = NULL;
    *tasks->end = task;
    tasks->end = &task->next;
    tasks->queued++;
}

static void run_tasks(struct tasks *tasks)
{
    while (tasks->first != NULL) {
        struct nri_task *task = tasks->first;
        tasks->first = task->next;
        if (tasks->first == NULL)
            tasks->end = &tasks->first;
        task->run(task);
    }
}

/* Configure's reply comes from the thread of handlers as well. */
static void start_with_tasks(struct session *s, struct tasks *tasks)
{
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    (void)fake_runtime_configure(&s->fr);
    run_tasks(tasks);
    fake_runtime_run(&s->fr);
    assert_true(nri_core_serves(s->fr.core));
}

static void test_S17_the_callback_runs_on_the_thread_of_handlers(void **state)
{
    struct session *s = *state;
    struct told told = {0};
    struct tasks tasks = {.end = &tasks.first};
    static const char *const fails[] = {"ctr0"};
    s->fr.config.queue = keep_task;
    s->fr.config.queue_user = &tasks;
    s->fr.fail_updates = fails;
    s->fr.fail_updates_count = 1;
    make(s);
    start_with_tasks(s, &tasks);
    assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, false), 0);
    /* Whatever happens to the connection: the result is the task's own. */
    fake_runtime_run(&s->fr);
    assert_int_equal(s->fr.updates, 1);
    assert_int_equal(told.count, 0);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "gone");
    run_tasks(&tasks);
    assert_int_equal(told.count, 1);
    assert_int_equal(told.codes[0], 0);
    assert_int_equal(told.failed, 1);
    assert_string_equal(told.failed_id, "ctr0");
}

/* One that was made while connected, and that the loop finds when it is not. */
static void test_a_call_that_does_not_wait_is_told_that_the_runtime_is_gone(void **state)
{
    struct session *s = *state;
    struct told told = {0};
    make(s);
    fake_runtime_start(&s->fr);
    assert_int_equal(call(s, &told, "ctr0", 60 * NRI_SEC, false), 0);
    assert_int_equal(call(s, &told, "ctr1", 60 * NRI_SEC, true), 0);
    fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "gone");
    assert_int_equal(told.count, 1);
    assert_int_equal(told.codes[0], NRI_E_NO_SERVICE);
    fake_runtime_start(&s->fr);
    fake_runtime_run(&s->fr);
    assert_int_equal(told.count, 2);
    assert_int_equal(told.codes[1], 0);
    assert_string_equal(last_id(s), "ctr1");
}

static void test_every_allocation_fails_once(void **state)
{
    struct session *s = *state;
    size_t points = 0;
    (void)s;
    for (size_t n = 1;; n++) {
        struct session own;
        struct session *other = &own;
        struct told told = {0};
        struct tasks tasks = {.end = &tasks.first};
        struct fail_alloc memory;
        struct nri_allocator allocator;
        fail_alloc_init(&memory, &allocator);
        fake_runtime_init(&own.fr, &own.recorder);
        memset(&own.recorder, 0, sizeof own.recorder);
        own.fr.ops.on_create_container = recorder_handler;
        assert_int_equal(nri_alloc_resolve(&own.fr.config.alloc, &allocator), 0);
        own.fr.config.queue = keep_task;
        own.fr.config.queue_user = &tasks;
        make(other);
        start_with_tasks(other, &tasks);
        fail_alloc_arm(&memory, n);
        const int code = call(other, &told, "ctr0", 60 * NRI_SEC, false);
        if (code == 0) {
            fake_runtime_run(&own.fr);
            run_tasks(&tasks);
        }
        const bool fired = memory.fired;
        fail_alloc_arm(&memory, 0);
        if (code == 0 && told.count == 0) { /* the reply could not be read: the connection ends */
            fake_runtime_disconnect(&own.fr, NRI_E_NOMEM, "");
            run_tasks(&tasks);
        }
        assert_int_equal(told.count, code == 0 ? 1 : 0);
        assert_true(code == 0 || code == NRI_E_NOMEM);
        fake_runtime_fini(&own.fr);
        run_tasks(&tasks);
        assert_int_equal(memory.live_blocks, 0);
        if (!fired)
            break;
        points++;
    }
    assert_true(points >= 3);
    print_message("%zu allocations failed one by one\n", points);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_T40_an_update_before_the_first_connection_waits_for_Configure),
        session_test(test_updates_wait_across_a_reconnection_in_their_order),
        session_test(test_what_was_sent_is_not_sent_again),
        session_test(test_the_time_out_counts_from_the_call),
        session_test(test_only_so_many_wait),
        session_test(test_more_than_may_be_pending_are_all_sent),
        session_test(test_errors_of_the_call_are_told_at_once),
        session_test(test_the_end_of_the_run_completes_what_waits),
        session_test(test_a_callback_may_call_again),
        session_test(test_the_run_ends_while_a_call_is_made),
        session_test(test_a_newer_update_does_not_overtake_those_that_wait),
        session_test(test_S17_the_callback_runs_on_the_thread_of_handlers),
        session_test(test_a_call_that_does_not_wait_is_told_that_the_runtime_is_gone),
        session_test(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
