/* SPDX-License-Identifier: Apache-2.0 */
/* A whole session with each of its allocations failing once, and the steady state that makes none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "scenario.h"

/* What holds in every run, whatever failed. */
static void check_invariants(const struct scenario *s)
{
    assert_int_equal(s->connected, s->disconnected);
    assert_true(s->connected <= 1);
    assert_int_equal(s->calls_sent, s->calls_told);
    assert_int_equal(s->memory.live_blocks, 0);
}

static void test_allocation_failure_at_every_point(void **state)
{
    struct scenario *s = malloc(sizeof *s);
    size_t points = 0, starts = 0;
    (void)state;
    assert_non_null(s);
    for (size_t n = 1;; n++) {
        scenario_run(s, scenario_steps(), n, 0, NRI_E_CLOSED);
        check_invariants(s);
        if (!s->memory.fired)
            break;
        points++;
        starts += s->connected;
    }
    /* The run that nothing failed in got everything. */
    assert_int_equal(s->connected, 1);
    assert_int_equal(s->calls_sent, 2);
    assert_int_equal(s->events, 1 + 1 + 14 + 1 + 2 + 1);
    /* StopPodSandbox says no, two StartContainers are refused later or dropped, one is open. The
     * veto of a validator is a success. */
    assert_int_equal(s->refused, 3);
    assert_int_equal(s->lost, 1);
    assert_int_equal(s->succeeded, s->outcome_count - 4);
    print_message("%zu points of failure, %zu of them after the connection stood\n", points,
                  starts);
    assert_true(points >= 20);
    assert_true(starts >= 10);
    free(s);
}

/* Memory runs out and does not come back: the end is told all the same. */
static void test_no_memory_from_every_point_on(void **state)
{
    struct scenario *s = malloc(sizeof *s);
    size_t points = 0;
    (void)state;
    assert_non_null(s);
    do {
        scenario_run(s, scenario_steps(), 0, ++points, NRI_E_CLOSED);
        check_invariants(s);
    } while (s->asked >= points);
    assert_int_equal(s->connected, 1);
    assert_int_equal(s->calls_sent, 2);
    print_message("memory ran out at %zu points\n", points - 1);
    free(s);
}

/* 1000 containers are created, adjusted and answered without one allocation. */

static int adjust(nri_request *request, void *user)
{
    nri_adjustment *adjustment = nri_request_adjustment(request);
    (*(size_t *)user)++;
    (void)nri_adjustment_add_annotation(adjustment, "key", "value");
    (void)nri_adjustment_set_cpu_shares(adjustment, 1024);
    return nri_adjustment_add_env(adjustment, "HELLO", "nri");
}

static int adjust_later(nri_request *request, void *user)
{
    const int code = adjust(request, user);
    (void)nri_request_complete(request, code);
    nri_request_unref(request);
    return NRI_PENDING;
}

static void check_steady_state(nri_handler handler)
{
    static const char *const metadata[] = {"containerd-namespace-ttrpc", "k8s.io"};
    struct fake_runtime fr;
    struct fail_alloc memory;
    size_t events = 0;
    fake_runtime_init(&fr, &events);
    fail_alloc_init(&memory, NULL);
    fr.config.alloc = fail_alloc_resolved(&memory);
    fr.log.level = NRI_LOG_INFO;
    fr.metadata = metadata;
    fr.metadata_count = 1;
    fr.ops.on_create_container = handler;
    fake_runtime_start(&fr);
    for (int i = 0; i < 10; i++)
        (void)fake_runtime_event(&fr, NRI_EVENT_CREATE_CONTAINER);
    const size_t before = memory.calls;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(fake_runtime_event(&fr, NRI_EVENT_CREATE_CONTAINER)->code, 0);
    assert_int_equal(memory.calls, before);
    assert_int_equal(events, 1010);
    fake_runtime_fini(&fr);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_steady_state_allocates_nothing(void **state)
{
    (void)state;
    check_steady_state(adjust);
}

static void test_steady_state_of_completions_allocates_nothing(void **state)
{
    (void)state;
    check_steady_state(adjust_later);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocation_failure_at_every_point),
        cmocka_unit_test(test_no_memory_from_every_point_on),
        cmocka_unit_test(test_steady_state_allocates_nothing),
        cmocka_unit_test(test_steady_state_of_completions_allocates_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
