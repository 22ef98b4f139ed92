/* SPDX-License-Identifier: Apache-2.0 */
/* Each allocation of a runtime's life fails once: nothing crashes, leaks or stays without answer.
 */
#include "fixture.h"

/* What the administrator forbids, and who must have been asked. */
#define RULES "{\"reject_sysctl_adjustment\": true, \"required_plugins\": [\"one\"]}"

struct life {
    struct rt_fixture *fixture;
    struct nri_allocator allocator; /* the fixture's */
    struct nri_default_validator *validator;
    const nri_pod *pod;
    const nri_container *container, *forbidden; /* the latter is adjusted as it may not be */
    size_t called, done;
};

static int on_create(nri_request *request, void *user)
{
    nri_adjustment *adjustment = nri_request_adjustment(request);

    (void)nri_adjustment_add_env(adjustment, user, "1");
    (void)nri_adjustment_add_annotation(adjustment, user, "1");
    (void)nri_adjustment_remove_env(adjustment, "GONE");
    if (strcmp(nri_container_id(nri_request_container(request)), "forbidden") == 0)
        return nri_adjustment_set_sysctl(adjustment, "net.core.somaxconn", "1");
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

/* Whole or nothing. */
static void check_text(int code, char *text)
{
    if (code == 0) {
        assert_true(strlen(text) > 10);
        nri_outcome_text_free(text);
        return;
    }
    assert_int_equal(code, NRI_E_NOMEM);
    assert_null(text);
}

/* What fails says why. */
static void on_done(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct life *life = user;
    const int code = nri_outcome_code(outcome);
    char *text = NULL;

    (void)runtime;
    life->done++;
    if (code != 0)
        assert_true(strlen(nri_outcome_text(outcome)) > 0);
    int made = nri_outcome_json(outcome, &life->allocator, &text, NULL);
    check_text(made, text);
    text = NULL;
    made = nri_outcome_table(outcome, &life->allocator, &text, NULL);
    check_text(made, text);
}

/* No container is created as the administrator forbids it. */
static void on_forbidden(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    assert_int_not_equal(nri_outcome_code(outcome), 0);
    on_done(runtime, outcome, user);
}

static void settle(struct rt_fixture *fixture)
{
    for (size_t i = 0; i < 600; i++) {
        fixture->now += 10 * NRI_MSEC;
        nri_rt_tick(fixture->rt, fixture->now);
        nri_rt_process(fixture->rt, fixture->now);
    }
}

static void call(struct life *life, enum nri_event event, const nri_container *container)
{
    const struct nri_runtime_event e = {
        .size = sizeof e, .event = event, .pod = life->pod, .container = container};

    const nri_runtime_done done = container == life->forbidden ? on_forbidden : on_done;

    if (nri_rt_call(life->fixture->rt, &e, done, life, life->fixture->now, NULL) == 0)
        life->called++;
}

/* Settings that are copied. */
static void require_one(const struct life *life)
{
    struct nri_failure_policy policy;
    struct nri_error error;

    nri_error_clear(&error);
    nri_failure_policy_init(&policy, sizeof policy);
    policy.required = 1;
    const int code = nri_rt_set_failure_policy(life->fixture->rt, "one", &policy, &error);
    if (code == 0)
        return;
    assert_int_equal(code, NRI_E_NOMEM);
    assert_true(strlen(error.text) > 0);
}

static void look(const struct life *life)
{
    char *text = NULL;
    const int code = nri_rt_metrics(life->fixture->rt, &text, NULL);

    if (code == 0) {
        assert_true(strlen(text) > 10);
        nri_metrics_free(text);
        return;
    }
    assert_int_equal(code, NRI_E_NOMEM);
    assert_null(text);
}

static void have_events(struct life *life)
{
    struct rt_fixture *fixture = life->fixture;
    static const struct nri_plugin_ops one = {.size = sizeof one,
                                              .on_synchronize = on_other,
                                              .on_create_container = on_create,
                                              .on_update_container = on_update,
                                              .on_start_container = on_other};
    static const struct nri_plugin_ops two = {.size = sizeof two,
                                              .on_create_container = on_create,
                                              .on_start_container = on_other,
                                              .on_stop_container = on_update,
                                              .on_validate_adjustment = on_other};
    char a[] = "A", b[] = "B";

    require_one(life);
    (void)nri_rt_add_builtin(fixture->rt, &one, "one", "10", "c", a, fixture->now, NULL);
    settle(fixture);
    (void)nri_rt_add_builtin(fixture->rt, &two, "two", "20", NULL, b, fixture->now, NULL);
    call(life, NRI_EVENT_START_CONTAINER, life->container);
    settle(fixture);
    call(life, NRI_EVENT_CREATE_CONTAINER, life->container);
    call(life, NRI_EVENT_CREATE_CONTAINER, life->forbidden);
    call(life, NRI_EVENT_UPDATE_CONTAINER, life->container);
    settle(fixture);
    look(life);
    call(life, NRI_EVENT_STOP_CONTAINER, life->container);
    settle(fixture);
    assert_int_equal(life->done, life->called);
    look(life);
    nri_rt_shutdown(fixture->rt, NRI_SEC, fixture->now);
    settle(fixture);
    assert_int_equal(nri_rt_plugin_count(fixture->rt), 0);
    nri_rt_free(fixture->rt);
    fixture->rt = NULL;
}

static void live(struct life *life)
{
    struct rt_fixture *fixture = life->fixture;
    const struct nri_alloc alloc = fixture->config.alloc;
    struct nri_error error;

    nri_error_clear(&error);
    life->allocator = (struct nri_allocator){.size = sizeof life->allocator,
                                             .user = alloc.user,
                                             .allocate = alloc.allocate,
                                             .resize = alloc.resize,
                                             .release = alloc.release};
    life->called = life->done = 0;
    life->validator = NULL;
    int code = nri_default_validator_new(&life->validator, &life->allocator, RULES, &error);
    if (code == 0) {
        fixture->config.validator = life->validator;
        code = nri_rt_new(&fixture->rt, &fixture->config, &error);
        if (code == 0)
            have_events(life);
        nri_default_validator_free(life->validator);
        fixture->config.validator = NULL;
    }
    if (code != 0) {
        assert_int_equal(code, NRI_E_NOMEM);
        assert_true(strlen(error.text) > 0);
    }
}

static void begin(struct rt_fixture *fixture, struct life *life)
{
    nri_pod *pod = rt_pod("p");

    *life = (struct life){.fixture = fixture, .pod = pod, .container = rt_container("c", "p")};
    life->forbidden = rt_container("forbidden", "p");
    assert_int_equal(
        nri_pod_set_annotation(pod, "required-plugins.noderesource.dev/pod", "[ one, 20-two ]"), 0);
}

static void end(const struct life *life)
{
    nri_container_free((nri_container *)(uintptr_t)life->container);
    nri_container_free((nri_container *)(uintptr_t)life->forbidden);
    nri_pod_free((nri_pod *)(uintptr_t)life->pod);
}

static void forget(struct rt_fixture *fixture)
{
    fixture->log_text[0] = fixture->connected[0] = fixture->lost[0] = '\0';
    fixture->evicted[0] = '\0';
}

static void test_one_fails(void **state)
{
    struct rt_fixture *fixture = *state;
    struct life life;
    bool fired;
    size_t n = 0;

    begin(fixture, &life);
    do {
        n++;
        fail_alloc_arm(&fixture->alloc, n);
        forget(fixture);
        live(&life);
        fired = fixture->alloc.fired;
        if (fixture->alloc.live_blocks != 0)
            fail_msg("allocation %zu: %zu blocks are left", n, (size_t)fixture->alloc.live_blocks);
    } while (fired);
    fail_alloc_arm(&fixture->alloc, 0);
    print_message("%zu allocations failed one by one\n", n - 1);
    assert_true(n > 100);
    assert_int_equal(life.called, 5);
    end(&life);
}

static void test_memory_ends(void **state)
{
    struct rt_fixture *fixture = *state;
    struct life life;

    begin(fixture, &life);
    for (size_t n = 0; n < 400; n++) {
        fail_alloc_end_after(&fixture->alloc, n);
        forget(fixture);
        live(&life);
        if (fixture->alloc.live_blocks != 0)
            fail_msg("after %zu: %zu blocks are left", n, (size_t)fixture->alloc.live_blocks);
    }
    fail_alloc_end_after(&fixture->alloc, SIZE_MAX);
    end(&life);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_one_fails),
        rt_test(test_memory_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
