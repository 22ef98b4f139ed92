/* SPDX-License-Identifier: Apache-2.0 */
/* A state cache behind a handler that does not return: what no handler sees, the state is told all
 * the same, in its turn. These tests play the thread of handlers. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

#include "fail_alloc.h"
#include "plugin/internal.h"
#include "plugin/state.h"

#define BUDGET  (2 * NRI_SEC)
#define MOST    2u /* max_in_flight */
#define WAITING "waiting"

struct tasks {
    struct nri_task *first, **end;
    size_t count;
};

struct kept {
    struct session session; /* first: session.h's tests get one */
    nri_state *state;
    struct fail_alloc memory;
    struct tasks tasks;
    char told[512];
};

static void keep_task(void *user, struct nri_task *task)
{
    struct tasks *tasks = user;
    task->next = NULL;
    *tasks->end = task;
    tasks->end = &task->next;
    tasks->count++;
}

static void run_task(struct tasks *tasks)
{
    struct nri_task *task = tasks->first;
    assert_non_null(task);
    tasks->first = task->next;
    if (tasks->first == NULL)
        tasks->end = &tasks->first;
    tasks->count--;
    task->run(task);
}

static void run_tasks(struct tasks *tasks)
{
    while (tasks->first != NULL)
        run_task(tasks);
}

static void tell(struct kept *kept, const char *what, const char *id)
{
    const size_t used = strlen(kept->told);
    (void)snprintf(kept->told + used, sizeof kept->told - used, "%s%s ", what, id);
}

static void added(nri_state *state, nri_state_container *container, enum nri_state_cause cause,
                  void *user)
{
    (void)state;
    (void)cause;
    tell(user, "+", nri_container_id(nri_state_container_get(container)));
}

static void changed(nri_state *state, nri_state_container *container, enum nri_state_cause cause,
                    void *user)
{
    (void)state;
    (void)cause;
    tell(user, "~", nri_container_id(nri_state_container_get(container)));
}

static void removed(nri_state *state, nri_state_container *container, enum nri_state_cause cause,
                    void *user)
{
    (void)state;
    tell(user, cause == NRI_STATE_POD_REMOVED ? "--" : "-",
         nri_container_id(nri_state_container_get(container)));
}

static int setup(void **state)
{
    struct kept *kept = calloc(1, sizeof *kept);
    if (kept == NULL)
        return 1;
    struct session *s = &kept->session;
    fake_runtime_init(&s->fr, &s->recorder);
    fail_alloc_init(&kept->memory, NULL);
    const struct nri_state_config config = {
        .ops = {.container_added = added,
                .container_changed = changed,
                .container_removed = removed},
        .user = kept,
        .alloc = fail_alloc_resolved(&kept->memory),
        .host = &s->fr.host,
        .max_note_bytes = 64,
        .max_checkpoint_bytes = 4096,
    };
    if (nri_state_make(&kept->state, &config, NULL) != 0)
        return 1;
    kept->tasks.end = &kept->tasks.first;
    s->fr.config.state = kept->state;
    s->fr.config.queue = keep_task;
    s->fr.config.queue_user = &kept->tasks;
    s->fr.config.alloc = config.alloc;
    s->fr.config.limits.max_in_flight = MOST;
    s->fr.config.deadlines =
        (struct nri_deadline_settings){.guard = true, .margin_percent = 10, .margin = NRI_MSEC};
    s->fr.ops.on_create_container = s->fr.ops.on_synchronize = recorder_handler;
    *state = kept;
    return 0;
}

static int teardown(void **state)
{
    struct kept *kept = *state;
    fail_alloc_arm(&kept->memory, 0);
    fake_runtime_disconnect(&kept->session.fr, 0, "");
    run_tasks(&kept->tasks);
    fake_runtime_fini(&kept->session.fr);
    run_tasks(&kept->tasks);
    nri_state_free(kept->state);
    assert_int_equal(kept->memory.live_blocks, 0);
    free(kept);
    return 0;
}

#define missed_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

/* READY and synchronised, with pod0, ctr0 and ctr1. */
static void start(struct kept *kept)
{
    struct fake_runtime *fr = &kept->session.fr;
    assert_int_equal(fake_runtime_connect(fr), 0);
    (void)fake_runtime_configure(fr);
    run_tasks(&kept->tasks);
    fake_runtime_run(fr);
    struct rpc_outcome *outcome = fake_runtime_sync(fr, 0, 1, 0, 2, false);
    run_tasks(&kept->tasks);
    fake_runtime_run(fr);
    assert_success(outcome);
    assert_true(nri_state_is_synchronized(kept->state));
    kept->told[0] = '\0';
}

#define CALL(kept, Method, method, id, pod_id, name)                                               \
    do {                                                                                           \
        struct fake_runtime *fr_ = &(kept)->session.fr;                                            \
        MESSAGE(Method##Request) request_;                                                         \
        INIT(method##_request)(&request_);                                                         \
        request_.pod = fake_pod(fr_, pod_id, "pod-name");                                          \
        request_.container = fake_container(fr_, id, pod_id, name);                                \
        outcome = fake_runtime_call(fr_, #Method, &request_.base);                                 \
    } while (0)

static struct rpc_outcome *create(struct kept *kept, const char *id, const char *pod)
{
    struct rpc_outcome *outcome;
    CALL(kept, CreateContainer, create_container, id, pod, id);
    return outcome;
}

/* A change of state, which the runtime tells of a container with a new name. */
static struct rpc_outcome *change(struct kept *kept, enum nri_event event, const char *id,
                                  const char *pod, const char *name)
{
    struct fake_runtime *fr = &kept->session.fr;
    MESSAGE(StateChangeEvent) message;
    INIT(state_change_event)(&message);
    message.event = (MESSAGE(Event))event;
    message.pod = fake_pod(fr, pod, "pod-name");
    if (id != NULL)
        message.container = fake_container(fr, id, pod, name);
    return fake_runtime_call(fr, "StateChange", &message.base);
}

/* As many handlers as may wait do, and the guard has answered their requests. */
static void fill(struct kept *kept)
{
    for (unsigned i = 0; i < MOST; i++)
        assert_int_equal(create(kept, WAITING, "pod0")->count, 0);
    fake_runtime_advance(&kept->session.fr, BUDGET);
    assert_int_equal(kept->tasks.count, MOST);
}

static const char *name_of(struct kept *kept, const char *id)
{
    return nri_container_name(nri_state_container_get(nri_state_find_container(kept->state, id)));
}

static void test_the_state_learns_of_what_no_handler_sees(void **state)
{
    struct kept *kept = *state;
    struct recorder *recorder = &kept->session.recorder;
    start(kept);
    fill(kept);
    assert_success(create(kept, "new", "pod1"));
    assert_success(change(kept, NRI_EVENT_POST_START_CONTAINER, "new", "pod1", "started"));
    assert_success(change(kept, NRI_EVENT_REMOVE_CONTAINER, "ctr1", "pod0", "ctr1"));
    assert_success(create(kept, "short", "pod0"));
    assert_success(change(kept, NRI_EVENT_REMOVE_CONTAINER, "short", "pod0", "short"));
    /* A late one brings nothing back. */
    assert_success(change(kept, NRI_EVENT_POST_START_CONTAINER, "short", "pod0", "late"));
    assert_int_equal(kept->tasks.count, MOST + 1); /* one batch for all */
    assert_string_equal(kept->told, "");
    run_tasks(&kept->tasks);
    assert_string_equal(kept->told, "+" WAITING " -ctr1 +new ");
    assert_string_equal(name_of(kept, "new"), "started");
    assert_null(nri_state_find_container(kept->state, "ctr1"));
    assert_null(nri_state_find_container(kept->state, "short"));
    assert_non_null(nri_state_container_pod(nri_state_find_container(kept->state, "new")));
    assert_int_equal(nri_state_pod_count(kept->state), 2);
    assert_true(nri_state_is_synchronized(kept->state));
    assert_int_equal(recorder_seen(recorder, NRI_EVENT_CREATE_CONTAINER), MOST);
}

static void test_a_pod_takes_its_containers_with_it(void **state)
{
    struct kept *kept = *state;
    start(kept);
    fill(kept);
    assert_success(create(kept, "a", "pod1"));
    assert_success(create(kept, "b", "pod0"));
    assert_success(change(kept, NRI_EVENT_REMOVE_POD_SANDBOX, NULL, "pod0", NULL));
    assert_success(change(kept, NRI_EVENT_POST_START_CONTAINER, "b", "pod0", "late"));
    run_tasks(&kept->tasks);
    assert_string_equal(kept->told, "+" WAITING " --ctr0 --ctr1 --" WAITING " +a ");
    assert_int_equal(nri_state_pod_count(kept->state), 1);
    assert_int_equal(nri_state_container_count(kept->state), 1);
}

/* What is missed before a handler is queued is told before it runs, what is missed later after. */
static void test_the_order_of_handlers_and_batches(void **state)
{
    struct kept *kept = *state;
    start(kept);
    fill(kept);
    assert_success(change(kept, NRI_EVENT_POST_START_CONTAINER, "ctr0", "pod0", "first"));
    run_task(&kept->tasks); /* one handler returns: there is a place */
    assert_int_equal(create(kept, "again", "pod0")->count, 0);
    fake_runtime_advance(&kept->session.fr, BUDGET);
    assert_success(change(kept, NRI_EVENT_POST_START_CONTAINER, "ctr0", "pod0", "second"));
    assert_success(change(kept, NRI_EVENT_REMOVE_CONTAINER, "again", "pod0", "again"));
    assert_int_equal(kept->tasks.count, MOST + 2);
    run_tasks(&kept->tasks);
    assert_string_equal(kept->told, "+" WAITING " ~ctr0 +again -again ~ctr0 ");
    assert_string_equal(name_of(kept, "ctr0"), "second");
}

/* However long the handler stays away. */
static void test_a_batch_is_as_large_as_what_lives(void **state)
{
    struct kept *kept = *state;
    size_t blocks = 0;
    start(kept);
    fill(kept);
    for (int i = 0; i < 1000; i++) {
        assert_success(change(kept, NRI_EVENT_POST_UPDATE_CONTAINER, "ctr0", "pod0",
                              i % 2 == 0 ? "even" : "odd"));
        if (i == 10)
            blocks = kept->memory.live_blocks;
    }
    assert_int_equal(kept->memory.live_blocks, blocks);
    run_tasks(&kept->tasks);
    assert_string_equal(kept->told, "+" WAITING " ~ctr0 ");
    assert_string_equal(name_of(kept, "ctr0"), "odd");
}

static void test_a_Synchronize_that_nobody_can_take_in_ends_the_connection(void **state)
{
    struct kept *kept = *state;
    struct fake_runtime *fr = &kept->session.fr;
    struct nri_error error;
    start(kept);
    fill(kept);
    assert_refusal(fake_runtime_sync(fr, 0, 0, 0, 0, false), 8, "max_in_flight");
    assert_int_equal(nri_core_close_reason(fr->core, &error), NRI_E_LIMIT);
    fake_runtime_disconnect(fr, error.code, error.text);
    run_tasks(&kept->tasks);
    assert_int_equal(nri_state_container_count(kept->state), 3); /* nothing went for it */
    start(kept);
}

static void test_without_memory_the_state_does_not_pass_for_right(void **state)
{
    for (size_t n = 1;; n++) {
        struct kept *kept;
        assert_int_equal(setup((void **)&kept), 0);
        start(kept);
        fill(kept);
        fail_alloc_arm(&kept->memory, n);
        struct rpc_outcome *outcome = create(kept, "new", "pod1");
        run_tasks(&kept->tasks);
        const bool fired = kept->memory.fired;
        fail_alloc_arm(&kept->memory, 0);
        assert_int_equal(outcome->count, 1); /* whether refused or passed */
        const bool known = nri_state_find_container(kept->state, "new") != NULL;
        assert_true(known || !nri_state_is_synchronized(kept->state));
        assert_int_equal(teardown((void **)&kept), 0);
        if (!fired)
            break;
    }
    (void)state;
}

/* There is no place for it even in the queue, so that nothing in the plugin sees what it was. */
static void test_what_finds_no_place_in_the_queue_is_lost(void **state)
{
    struct kept *kept = *state;
    struct fake_runtime *fr = &kept->session.fr;
    fr->config.limits.max_queued_bytes = 1;
    start(kept);
    for (unsigned i = 0; i < MOST; i++)
        assert_int_equal(create(kept, WAITING, "pod0")->count, 0);
    assert_true(nri_state_is_synchronized(kept->state));
    assert_refusal(create(kept, "new", "pod1"), NRI_GRPC_RESOURCE_EXHAUSTED, "exceed");
    assert_false(nri_state_is_synchronized(kept->state));
    const struct fake_record *record = fake_runtime_find_record(fr, "the state cache is not right");
    assert_non_null(record);
    assert_int_equal(record->level, NRI_LOG_ERROR);
    const size_t errors = fake_runtime_logged(fr, NRI_LOG_ERROR);
    assert_refusal(create(kept, "new", "pod1"), NRI_GRPC_RESOURCE_EXHAUSTED, "exceed");
    assert_int_equal(fake_runtime_logged(fr, NRI_LOG_ERROR), errors);
    run_tasks(&kept->tasks);
    fake_runtime_run(fr);
    assert_false(nri_state_is_synchronized(kept->state));
    fake_runtime_disconnect(fr, NRI_E_CLOSED, "");
    start(kept); /* the next Synchronize mends it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        missed_test(test_the_state_learns_of_what_no_handler_sees),
        missed_test(test_a_pod_takes_its_containers_with_it),
        missed_test(test_the_order_of_handlers_and_batches),
        missed_test(test_a_batch_is_as_large_as_what_lives),
        missed_test(test_a_Synchronize_that_nobody_can_take_in_ends_the_connection),
        missed_test(test_what_finds_no_place_in_the_queue_is_lost),
        cmocka_unit_test(test_without_memory_the_state_does_not_pass_for_right),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
