/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests completed and dropped by four threads while the loop's thread answers, disconnects and
 * frees the core. Made for ThreadSanitizer; without it, it checks that each call is answered once
 * and that nothing is woken after its end.
 */
#include "session.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "plugin/internal.h"

#define WORKERS 4
#define CALLS   48
#define ROUNDS  60

struct crew {
    struct fake_runtime fr;
    pthread_mutex_t mutex;
    pthread_cond_t more;
    nri_request *queue[CALLS];
    size_t first, last;
    bool open; /* workers may begin: all calls are there */
    bool closing;
    pthread_t threads[WORKERS];
    atomic_size_t done;  /* requests that workers are through with */
    atomic_bool ended;   /* the core is freed: nothing may be woken */
    atomic_size_t after; /* wakes in spite of that */
    atomic_size_t bad;   /* results that cannot be */
    atomic_size_t seeds;
};

static int take_request(nri_request *request, void *user)
{
    struct crew *crew = user;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    pthread_mutex_lock(&crew->mutex);
    crew->queue[crew->last++] = request;
    pthread_cond_signal(&crew->more);
    pthread_mutex_unlock(&crew->mutex);
    return NRI_PENDING;
}

static void on_wake(void *user)
{
    struct crew *crew = user;
    if (atomic_load(&crew->ended))
        atomic_fetch_add(&crew->after, 1);
    atomic_fetch_add(&crew->fr.wakes, 1);
}

static void check_complete(struct crew *crew, nri_request *request, int code)
{
    const int result = nri_request_complete(request, code);
    if (result != 0 && result != NRI_E_CLOSED)
        atomic_fetch_add(&crew->bad, 1);
    const int again = nri_request_complete(request, code);
    if (again != NRI_E_LATE && again != NRI_E_CLOSED)
        atomic_fetch_add(&crew->bad, 1);
}

static void work_on(struct crew *crew, nri_request *request, unsigned choice)
{
    (void)nri_request_time_left(request);
    (void)nri_request_plugin(request);
    if (choice % 4 != 0)
        (void)nri_adjustment_add_env(nri_request_adjustment(request), "A", "1");
    switch (choice % 4) {
    case 0: /* dropped */
        break;
    case 1:
        check_complete(crew, request, 0);
        break;
    case 2:
        (void)nri_request_fail(request, NRI_E_REJECTED, "by a worker");
        check_complete(crew, request, NRI_E_REJECTED);
        break;
    default:
        nri_request_ref(request);
        check_complete(crew, request, 0);
        /* Late, and harmless. */
        (void)nri_adjustment_add_env(nri_request_adjustment(request), "B", "2");
        (void)nri_request_fail(request, NRI_E_REJECTED, "late");
        nri_request_unref(request);
        break;
    }
    if (strcmp(nri_pod_name(nri_request_pod(request)), "pod-name") != 0)
        atomic_fetch_add(&crew->bad, 1);
    nri_request_unref(request);
    atomic_fetch_add(&crew->done, 1);
}

static void *worker(void *user)
{
    struct crew *crew = user;
    unsigned choice = (unsigned)atomic_fetch_add(&crew->seeds, 1);
    for (;;) {
        pthread_mutex_lock(&crew->mutex);
        while (!crew->closing && (!crew->open || crew->first == crew->last))
            pthread_cond_wait(&crew->more, &crew->mutex);
        nri_request *request = crew->first == crew->last ? NULL : crew->queue[crew->first++];
        pthread_mutex_unlock(&crew->mutex);
        if (request == NULL)
            return NULL;
        work_on(crew, request, choice++);
    }
}

static void open_crew(struct crew *crew)
{
    pthread_mutex_lock(&crew->mutex);
    crew->open = true;
    pthread_cond_broadcast(&crew->more);
    pthread_mutex_unlock(&crew->mutex);
}

static void close_crew(struct crew *crew)
{
    pthread_mutex_lock(&crew->mutex);
    crew->closing = true;
    pthread_cond_broadcast(&crew->more);
    pthread_mutex_unlock(&crew->mutex);
    for (size_t i = 0; i < WORKERS; i++)
        pthread_join(crew->threads[i], NULL);
}

/* One connection with CALLS calls; workers are through with `answer` of them before it ends, and
 * then the core is freed at once. */
static void run_round(size_t round, size_t answer, size_t *answered)
{
    struct crew *crew = calloc(1, sizeof *crew);
    struct rpc_outcome *outcomes[CALLS];
    assert_non_null(crew);
    fake_runtime_init(&crew->fr, crew);
    crew->fr.config.wake = on_wake;
    crew->fr.config.wake_user = crew;
    crew->fr.log.fn = NULL;
    crew->fr.ops.on_create_container = take_request;
    atomic_store(&crew->seeds, round);
    assert_int_equal(pthread_mutex_init(&crew->mutex, NULL), 0);
    assert_int_equal(pthread_cond_init(&crew->more, NULL), 0);
    fake_runtime_start(&crew->fr);
    for (size_t i = 0; i < WORKERS; i++)
        assert_int_equal(pthread_create(&crew->threads[i], NULL, worker, crew), 0);
    for (size_t i = 0; i < CALLS; i++)
        outcomes[i] = fake_runtime_event(&crew->fr, NRI_EVENT_CREATE_CONTAINER);
    open_crew(crew);
    while (atomic_load(&crew->done) < answer)
        fake_runtime_run(&crew->fr);
    if (answer == CALLS)
        fake_runtime_run(&crew->fr); /* else right into the work */
    size_t count = 0;
    for (size_t i = 0; i < CALLS; i++)
        count += outcomes[i]->count;
    *answered += count;
    fake_runtime_disconnect(&crew->fr, 0, "");
    for (size_t i = 0; i < CALLS; i++)
        assert_int_equal(outcomes[i]->count, 1);
    nri_core_free(crew->fr.core);
    crew->fr.core = NULL;
    atomic_store(&crew->ended, true);
    close_crew(crew);
    assert_int_equal(atomic_load(&crew->done), CALLS);
    assert_int_equal(atomic_load(&crew->bad), 0);
    assert_int_equal(atomic_load(&crew->after), 0);
    pthread_cond_destroy(&crew->more);
    pthread_mutex_destroy(&crew->mutex);
    fake_runtime_fini(&crew->fr);
    free(crew);
}

static void test_completions_race_with_the_end(void **state)
{
    size_t answered = 0;
    (void)state;
    for (size_t round = 0; round < ROUNDS; round++)
        run_round(round, round % 4 * CALLS / 4, &answered);
    print_message("%d rounds of %d calls: %zu answered before the end\n", ROUNDS, CALLS, answered);
}

static void test_all_are_answered(void **state)
{
    size_t answered = 0;
    (void)state;
    for (size_t round = 0; round < 10; round++)
        run_round(round, CALLS, &answered);
    assert_int_equal(answered, (size_t)10 * CALLS);
}

/* ---- a Synchronize that another thread releases ---- */

static int hold_sync(nri_request *request, void *user)
{
    *(nri_request **)user = request;
    return NRI_PENDING;
}

static void *answer_and_release(void *user)
{
    nri_request *request = user;
    (void)nri_request_complete(request, 0);
    nri_request_unref(request);
    return NULL;
}

/* What it held of max_sync_bytes comes back while the loop's thread counts the next one. */
static void test_released_syncs_are_counted_down(void **state)
{
    struct fake_runtime fr;
    nri_request *request = NULL;
    pthread_t thread;
    (void)state;
    fake_runtime_init(&fr, &request);
    fr.config.max_sync_bytes = 200000; /* two of them */
    fr.ops.on_synchronize = hold_sync;
    fr.ops.on_create_container = hold_sync; /* one of the 14 there must be */
    fake_runtime_start(&fr);
    for (int round = 0; round < 200; round++) {
        const struct rpc_outcome *held = fake_runtime_sync(&fr, 0, 20, 0, 20, false);
        assert_non_null(request);
        assert_true(atomic_load(&fr.core->shared->sync_bytes) > 0);
        assert_int_equal(pthread_create(&thread, NULL, answer_and_release, request), 0);
        const struct rpc_outcome *part = fake_runtime_sync(&fr, 0, 20, 0, 20, true);
        pthread_join(thread, NULL);
        request = NULL;
        fake_runtime_run(&fr);
        assert_success(held);
        assert_success(part);
        assert_int_equal(atomic_load(&fr.core->shared->sync_bytes), 0);
    }
    fake_runtime_fini(&fr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_completions_race_with_the_end),
        cmocka_unit_test(test_all_are_answered),
        cmocka_unit_test(test_released_syncs_are_counted_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
