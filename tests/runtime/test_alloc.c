/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of a runtime's life fails once: nothing crashes, leaks or stays without answer.
 */
#include "fixture.h"

struct life {
    struct rt_fixture *fixture;
    size_t called, done;
};

static int on_create(nri_request *request, void *user)
{
    nri_adjustment *adjustment = nri_request_adjustment(request);

    (void)nri_adjustment_add_env(adjustment, user, "1");
    (void)nri_adjustment_add_annotation(adjustment, user, "1");
    (void)nri_adjustment_remove_env(adjustment, "GONE");
    return 0;
}

static int on_other(nri_request *request, void *user)
{
    (void)request;
    (void)user;
    return 0;
}

static int on_update(nri_request *request, void *user)
{
    nri_updates *updates = nri_request_updates(request);

    (void)user;
    (void)nri_update_set_cpu_shares(nri_updates_container(updates, "other"), 10);
    (void)nri_updates_evict(updates, "x", "y");
    return 0;
}

static void on_done(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct life *life = user;
    char *text;

    (void)runtime;
    life->done++;
    if (nri_outcome_json(outcome, NULL, &text, NULL) == 0)
        nri_outcome_text_free(text);
    if (nri_outcome_table(outcome, NULL, &text, NULL) == 0)
        nri_outcome_text_free(text);
}

static void settle(struct rt_fixture *fixture)
{
    for (size_t i = 0; i < 600; i++) {
        fixture->now += 10 * NRI_MSEC;
        nri_rt_tick(fixture->rt, fixture->now);
        nri_rt_process(fixture->rt, fixture->now);
    }
}

static void call(struct life *life, enum nri_event event, const nri_pod *pod,
                 const nri_container *container)
{
    const struct nri_runtime_event e = {
        .size = sizeof e, .event = event, .pod = pod, .container = container};

    if (nri_rt_call(life->fixture->rt, &e, on_done, life, life->fixture->now, NULL) == 0)
        life->called++;
}

static void live(struct rt_fixture *fixture, const nri_pod *pod, const nri_container *container)
{
    const struct nri_plugin_ops one = {.size = sizeof one,
                                       .on_synchronize = on_other,
                                       .on_create_container = on_create,
                                       .on_update_container = on_update,
                                       .on_start_container = on_other};
    const struct nri_plugin_ops two = {.size = sizeof two,
                                       .on_create_container = on_create,
                                       .on_stop_container = on_update,
                                       .on_validate_adjustment = on_other};
    char a[] = "A", b[] = "B";
    struct life life = {.fixture = fixture};

    if (nri_rt_new(&fixture->rt, &fixture->config, NULL) != 0)
        return;
    (void)nri_rt_add_builtin(fixture->rt, &one, "one", "10", "c", a, fixture->now, NULL);
    settle(fixture);
    (void)nri_rt_add_builtin(fixture->rt, &two, "two", "20", NULL, b, fixture->now, NULL);
    call(&life, NRI_EVENT_START_CONTAINER, pod, container);
    settle(fixture);
    call(&life, NRI_EVENT_CREATE_CONTAINER, pod, container);
    call(&life, NRI_EVENT_UPDATE_CONTAINER, pod, container);
    settle(fixture);
    call(&life, NRI_EVENT_STOP_CONTAINER, pod, container);
    settle(fixture);
    assert_int_equal(life.done, life.called);
    nri_rt_shutdown(fixture->rt, NRI_SEC, fixture->now);
    settle(fixture);
    assert_int_equal(nri_rt_plugin_count(fixture->rt), 0);
    nri_rt_free(fixture->rt);
    fixture->rt = NULL;
}

static void test_one_fails(void **state)
{
    struct rt_fixture *fixture = *state;
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    bool fired;
    size_t n = 0;

    do {
        n++;
        fail_alloc_arm(&fixture->alloc, n);
        fixture->log_text[0] = fixture->connected[0] = fixture->lost[0] = '\0';
        fixture->evicted[0] = '\0';
        live(fixture, pod, container);
        fired = fixture->alloc.fired;
        if (fixture->alloc.live_blocks != 0)
            fail_msg("allocation %zu: %zu blocks are left", n, (size_t)fixture->alloc.live_blocks);
    } while (fired);
    fail_alloc_arm(&fixture->alloc, 0);
    assert_true(n > 50);
    nri_container_free(container);
    nri_pod_free(pod);
}

static void test_memory_ends(void **state)
{
    struct rt_fixture *fixture = *state;
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");

    for (size_t n = 0; n < 400; n++) {
        fail_alloc_end_after(&fixture->alloc, n);
        fixture->log_text[0] = fixture->connected[0] = fixture->lost[0] = '\0';
        fixture->evicted[0] = '\0';
        live(fixture, pod, container);
        if (fixture->alloc.live_blocks != 0)
            fail_msg("after %zu: %zu blocks are left", n, (size_t)fixture->alloc.live_blocks);
    }
    fail_alloc_end_after(&fixture->alloc, SIZE_MAX);
    nri_container_free(container);
    nri_pod_free(pod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_one_fails),
        rt_test(test_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
