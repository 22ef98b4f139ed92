/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>

#include "base/lock.h"
#include "base/refcount.h"

enum { THREADS = 4, ROUNDS = 5000 };

struct shared {
    struct nri_lock lock;
    struct nri_refcount refcount;
    size_t counter;          /* under the lock */
    size_t written[THREADS]; /* each by its thread, all read by the last one */
    atomic_size_t last, sum;
};

struct worker {
    struct shared *shared;
    size_t index;
    pthread_t thread;
};

static void *work(void *argument)
{
    struct worker *worker = argument;
    struct shared *shared = worker->shared;
    for (size_t i = 0; i < ROUNDS; i++) {
        nri_lock_take(&shared->lock);
        shared->counter++;
        nri_lock_give(&shared->lock);
        nri_refcount_ref(&shared->refcount);
        if (nri_refcount_unref(&shared->refcount))
            atomic_fetch_add(&shared->last, 1000); /* a reference is still held */
    }
    shared->written[worker->index] = worker->index + 1;
    if (nri_refcount_unref(&shared->refcount)) {
        atomic_fetch_add(&shared->last, 1);
        for (size_t i = 0; i < THREADS; i++)
            atomic_fetch_add(&shared->sum, shared->written[i]);
    }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct shared shared = {.counter = 0};
    struct worker workers[THREADS];
    atomic_init(&shared.last, 0);
    atomic_init(&shared.sum, 0);
    assert_int_equal(nri_lock_init(&shared.lock), 0);
    nri_refcount_init(&shared.refcount);
    for (size_t i = 1; i < THREADS; i++)
        nri_refcount_ref(&shared.refcount); /* one a thread */
    for (size_t i = 0; i < THREADS; i++) {
        workers[i] = (struct worker){.shared = &shared, .index = i};
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    assert_int_equal(shared.counter, THREADS * ROUNDS);
    assert_int_equal(shared.last, 1);
    assert_int_equal(shared.sum, 1 + 2 + 3 + 4);
    nri_lock_fini(&shared.lock);
}

static void test_refcount(void **state)
{
    (void)state;
    struct nri_refcount refcount;
    nri_refcount_init(&refcount);
    nri_refcount_ref(&refcount);
    assert_false(nri_refcount_unref(&refcount));
    assert_true(nri_refcount_unref(&refcount));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_refcount),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
