/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of events and plugins when a plugin fails: by default, by policy, by preset. */
#include "fixture.h"

#define CREATE   NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)
#define START    NRI_EVENT_BIT(NRI_EVENT_START_CONTAINER)
#define VALIDATE NRI_EVENT_BIT(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)

struct stage {
    struct rt_fixture *fixture;
    struct rt_plugin *bad, *good;
    nri_pod *pod;
    nri_container *container;
};

static int hold(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    return nri_request_event(request) == NRI_EVENT_SYNCHRONIZE ? 0 : NRI_PENDING;
}

static int refuse(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    if (nri_request_event(request) == NRI_EVENT_SYNCHRONIZE)
        return 0;
    return nri_request_fail(request, NRI_E_REJECTED, "no GPU left");
}

static int add_a(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    return nri_adjustment_add_env(nri_request_adjustment(request), "A", "1");
}

static struct stage begin(void **state, uint32_t events, rt_handler handler)
{
    struct stage stage = {.fixture = *state};

    rt_start(stage.fixture);
    stage.bad = rt_plugin(stage.fixture, "10", "bad", events, handler);
    stage.good = rt_plugin(stage.fixture, "20", "good", CREATE | START, add_a);
    rt_settle(stage.fixture);
    stage.pod = rt_pod("p");
    stage.container = rt_container("c", "p");
    return stage;
}

static struct rt_done *create(struct stage *stage)
{
    struct rt_done *done =
        rt_call(stage->fixture, NRI_EVENT_CREATE_CONTAINER, stage->pod, stage->container);

    rt_settle(stage->fixture);
    return done;
}

static void end(struct stage *stage)
{
    nri_container_free(stage->container);
    nri_pod_free(stage->pod);
}

static void set_policy(struct stage *stage, const char *plugin, enum nri_failure_preset preset)
{
    struct nri_failure_policy policy;

    nri_failure_policy_init(&policy, sizeof policy);
    assert_int_equal(nri_failure_policy_preset(&policy, preset), 0);
    assert_int_equal(nri_rt_set_failure_policy(stage->fixture->rt, plugin, &policy, NULL), 0);
}

static void test_timeout_skips_and_drops(void **state)
{
    struct stage stage = begin(state, CREATE, hold);
    struct rt_done *done = create(&stage);

    rt_pass(stage.fixture, 1900);
    assert_int_equal(done->count, 0);
    rt_pass(stage.fixture, 200);
    assert_done(done, 0);
    assert_string_equal(nri_outcome_owner(done->outcome, NRI_FIELD_ENV, "A"), "20-good");
    assert_int_equal(nri_outcome_step_result(done->outcome, 0), NRI_STEP_SKIPPED);
    assert_int_equal(nri_outcome_step_code(done->outcome, 0), NRI_E_TIMEOUT);
    assert_null(stage.bad->peer);
    assert_contains(stage.fixture->lost, "10-bad:NRI_E_TIMEOUT");
    end(&stage);
}

static void test_timeout_may_keep_the_plugin(void **state)
{
    struct stage stage = begin(state, CREATE, hold);

    set_policy(&stage, "bad", NRI_FAILURE_PRESET_PERMISSIVE);
    struct rt_done *done = create(&stage);
    rt_pass(stage.fixture, 2100);
    assert_done(done, 0);
    assert_non_null(stage.bad->peer);
    /* The late reply is nobody's. */
    rt_release(stage.bad, 0);
    rt_settle(stage.fixture);
    assert_int_equal(done->count, 1);
    stage.bad->handler = NULL;
    done = create(&stage);
    assert_done(done, 0);
    assert_int_equal(nri_outcome_step_result(done->outcome, 0), NRI_STEP_ANSWERED);
    end(&stage);
}

static void test_timeout_may_fail(void **state)
{
    struct stage stage = begin(state, CREATE, hold);

    set_policy(&stage, NULL, NRI_FAILURE_PRESET_STRICT);
    struct rt_done *done = create(&stage);
    rt_pass(stage.fixture, 2100);
    assert_done(done, NRI_E_TIMEOUT);
    assert_string_equal(nri_outcome_plugin(done->outcome), "10-bad");
    assert_contains(nri_outcome_text(done->outcome), "plugin \"10-bad\": CreateContainer");
    assert_string_equal(stage.good->seen, "Synchronize() ");
    end(&stage);
}

static void test_error_fails_by_default(void **state)
{
    struct stage stage = begin(state, CREATE, refuse);
    struct rt_done *done = create(&stage);

    assert_done(done, NRI_E_REJECTED);
    assert_contains(nri_outcome_text(done->outcome), "no GPU left");
    assert_non_null(stage.bad->peer);
    set_policy(&stage, "10-bad", NRI_FAILURE_PRESET_PERMISSIVE);
    done = create(&stage);
    assert_done(done, 0);
    assert_int_equal(nri_outcome_step_result(done->outcome, 0), NRI_STEP_SKIPPED);
    assert_string_equal(nri_outcome_step_text(done->outcome, 0), "no GPU left");
    end(&stage);
}

static void test_loss_skips_by_default(void **state)
{
    struct stage stage = begin(state, CREATE, hold);
    struct rt_done *done = create(&stage);

    assert_int_equal(stage.bad->held_count, 1);
    rt_kill(stage.bad);
    rt_settle(stage.fixture);
    assert_done(done, 0);
    assert_int_equal(nri_outcome_step_code(done->outcome, 0), NRI_E_CLOSED);
    end(&stage);
}

static void test_loss_may_fail(void **state)
{
    struct stage stage = begin(state, CREATE, hold);

    set_policy(&stage, "bad", NRI_FAILURE_PRESET_STRICT);
    struct rt_done *done = create(&stage);
    rt_kill(stage.bad);
    rt_settle(stage.fixture);
    assert_done(done, NRI_E_CLOSED);
    assert_string_equal(nri_outcome_plugin(done->outcome), "10-bad");
    end(&stage);
}

static void test_required_plugin(void **state)
{
    struct stage stage = begin(state, CREATE, NULL);
    struct nri_failure_policy policy;

    nri_failure_policy_init(&policy, sizeof policy);
    policy.required = 1;
    assert_int_equal(nri_rt_set_failure_policy(stage.fixture->rt, "bad", &policy, NULL), 0);
    assert_done(create(&stage), 0);
    rt_kill(stage.bad);
    rt_settle(stage.fixture);
    struct rt_done *done = create(&stage);
    assert_done(done, NRI_E_NOT_FOUND);
    assert_string_equal(nri_outcome_text(done->outcome),
                        "the required plugin \"bad\" is not connected");
    end(&stage);
}

/* Whatever its other choices are: it has to answer. */
static void require(struct stage *stage, const char *plugin)
{
    struct nri_failure_policy policy;

    nri_failure_policy_init(&policy, sizeof policy);
    assert_int_equal(nri_failure_policy_preset(&policy, NRI_FAILURE_PRESET_PERMISSIVE), 0);
    policy.required = 1;
    assert_int_equal(nri_rt_set_failure_policy(stage->fixture->rt, plugin, &policy, NULL), 0);
}

static void test_required_plugin_times_out(void **state)
{
    struct stage stage = begin(state, CREATE | START, hold);

    require(&stage, "10-bad");
    struct rt_done *done = create(&stage);
    rt_pass(stage.fixture, 2100);
    assert_done(done, NRI_E_TIMEOUT);
    assert_string_equal(nri_outcome_plugin(done->outcome), "10-bad");
    /* It is about creations alone. */
    done = rt_call(stage.fixture, NRI_EVENT_START_CONTAINER, stage.pod, stage.container);
    rt_pass(stage.fixture, 2100);
    assert_done(done, 0);
    end(&stage);
}

static void test_required_plugin_refuses(void **state)
{
    struct stage stage = begin(state, CREATE, refuse);

    require(&stage, "bad");
    assert_done(create(&stage), NRI_E_REJECTED);
    end(&stage);
}

static void test_required_plugin_goes(void **state)
{
    struct stage stage = begin(state, CREATE, hold);

    require(&stage, "bad");
    struct rt_done *done = create(&stage);
    rt_kill(stage.bad);
    rt_settle(stage.fixture);
    assert_done(done, NRI_E_CLOSED);
    end(&stage);
}

/* The last in the chain goes before its turn. */
static void test_required_plugin_goes_first(void **state)
{
    struct stage stage = begin(state, CREATE, hold);

    require(&stage, "20-good");
    struct rt_done *done = create(&stage);
    rt_kill(stage.good);
    rt_release(stage.bad, 0);
    rt_settle(stage.fixture);
    assert_done(done, NRI_E_NOT_FOUND);
    assert_string_equal(nri_outcome_text(done->outcome),
                        "the required plugin \"20-good\" did not take part");
    end(&stage);
}

/* One that a hold keeps from being synchronised is passed by: it is not there yet. */
static void test_required_plugin_is_held(void **state)
{
    struct stage stage = begin(state, START, NULL);

    require(&stage, "late");
    nri_rt_hold_sync(stage.fixture->rt, false, stage.fixture->now);
    (void)rt_plugin(stage.fixture, "30", "late", CREATE, NULL);
    rt_settle(stage.fixture);
    assert_done(create(&stage), NRI_E_NOT_FOUND);
    assert_int_equal(nri_rt_release_sync(stage.fixture->rt, false), 0);
    rt_settle(stage.fixture);
    assert_done(create(&stage), 0);
    end(&stage);
}

/* One that creations are not told to has only to be there. */
static void test_required_plugin_is_not_asked(void **state)
{
    struct stage stage = begin(state, START, NULL);

    require(&stage, "bad");
    assert_done(create(&stage), 0);
    end(&stage);
}

static void test_wrong_policies(void **state)
{
    struct stage stage = begin(state, START, NULL);
    struct nri_failure_policy policy;
    struct nri_error error;

    nri_failure_policy_init(&policy, sizeof policy);
    assert_int_equal(nri_rt_set_failure_policy(stage.fixture->rt, "a b", &policy, &error),
                     NRI_E_INVALID);
    assert_contains(error.text, "a b");
    assert_int_equal(nri_rt_set_failure_policy(stage.fixture->rt, "", &policy, NULL),
                     NRI_E_INVALID);
    policy.required = 1;
    assert_int_equal(nri_rt_set_failure_policy(stage.fixture->rt, NULL, &policy, &error),
                     NRI_E_INVALID);
    assert_contains(error.text, "required is for one plugin");
    end(&stage);
}

static void test_validator_never_passes_by_silence(void **state)
{
    struct stage stage = begin(state, VALIDATE, hold);

    set_policy(&stage, NULL, NRI_FAILURE_PRESET_PERMISSIVE);
    struct rt_done *done = create(&stage);
    rt_pass(stage.fixture, 2100);
    assert_done(done, NRI_E_TIMEOUT);
    assert_contains(nri_outcome_text(done->outcome), "validator \"10-bad\"");
    done = create(&stage);
    assert_int_equal(stage.bad->held_count, 2);
    rt_kill(stage.bad);
    rt_settle(stage.fixture);
    assert_done(done, NRI_E_CLOSED);
    end(&stage);
}

static void test_garbage_ends_one_plugin_alone(void **state)
{
    static const uint8_t garbage[] = {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff, 1, 2, 3};
    struct stage stage = begin(state, CREATE, hold);
    struct rt_done *done = create(&stage);

    nri_rt_input(stage.bad->peer, garbage, sizeof garbage, stage.fixture->now);
    rt_settle(stage.fixture);
    assert_null(stage.bad->peer);
    assert_done(done, 0);
    assert_string_equal(nri_outcome_owner(done->outcome, NRI_FIELD_ENV, "A"), "20-good");
    end(&stage);
}

/* A whole reply whose message is none: stream 5 is the third request, after Configure and
 * Synchronize. */
static void test_unreadable_reply_counts_as_loss(void **state)
{
    static const uint8_t reply[] = {0, 0, 0, 1, 0, 0, 0, 14,   0, 0,    0,
                                    4, 0, 0, 0, 5, 2, 0, 0x12, 2, 0xff, 0xff};
    struct stage stage = begin(state, CREATE, hold);
    struct rt_done *done = create(&stage);

    assert_int_equal(done->count, 0);
    nri_rt_input(stage.bad->peer, reply, sizeof reply, stage.fixture->now);
    rt_settle(stage.fixture);
    assert_null(stage.bad->peer);
    assert_done(done, 0);
    assert_int_equal(nri_outcome_step_result(done->outcome, 0), NRI_STEP_SKIPPED);
    assert_int_equal(nri_outcome_step_code(done->outcome, 0), NRI_E_PROTOCOL);
    assert_string_equal(nri_outcome_owner(done->outcome, NRI_FIELD_ENV, "A"), "20-good");
    assert_contains(stage.fixture->lost, "10-bad:NRI_E_PROTOCOL");
    end(&stage);
}

static void test_registration_times_out(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *silent = rt_plugin(fixture, "10", "silent", CREATE, NULL);
    struct rt_plugin *other = rt_plugin(fixture, "20", "other", CREATE, NULL);
    silent->stalled = true;
    rt_settle(fixture);
    assert_string_equal(fixture->connected, "20-other ");
    assert_int_equal(other->syncs, 1);
    rt_pass(fixture, 5100);
    assert_null(silent->peer);
    assert_contains(fixture->log_text, "it did not register within 5000 ms");
    assert_string_equal(fixture->lost, ""); /* it was never connected */
}

static void test_stop(void **state)
{
    struct stage stage = begin(state, CREATE, hold);
    struct rt_done *done = create(&stage);

    nri_rt_shutdown(stage.fixture->rt, NRI_SEC, stage.fixture->now);
    rt_settle(stage.fixture);
    rt_pass(stage.fixture, 1100);
    assert_done(done, NRI_E_STATE);
    assert_null(stage.bad->peer);
    assert_null(stage.good->peer);
    assert_contains(stage.good->seen, "Shutdown()");
    assert_contains(stage.fixture->lost, "20-good:NRI_OK");
    assert_int_equal(nri_rt_plugin_count(stage.fixture->rt), 0);
    end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_timeout_skips_and_drops),
        rt_test(test_timeout_may_keep_the_plugin),
        rt_test(test_timeout_may_fail),
        rt_test(test_error_fails_by_default),
        rt_test(test_loss_skips_by_default),
        rt_test(test_loss_may_fail),
        rt_test(test_required_plugin),
        rt_test(test_required_plugin_times_out),
        rt_test(test_required_plugin_refuses),
        rt_test(test_required_plugin_goes),
        rt_test(test_required_plugin_goes_first),
        rt_test(test_required_plugin_is_held),
        rt_test(test_required_plugin_is_not_asked),
        rt_test(test_wrong_policies),
        rt_test(test_validator_never_passes_by_silence),
        rt_test(test_garbage_ends_one_plugin_alone),
        rt_test(test_unreadable_reply_counts_as_loss),
        rt_test(test_registration_times_out),
        rt_test(test_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
