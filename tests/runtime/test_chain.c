/* SPDX-License-Identifier: Apache-2.0 */
/* Order, merging along the chain, ownership, overlap of events, validators. */
#include "fixture.h"

#define CREATE   NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)
#define START    NRI_EVENT_BIT(NRI_EVENT_START_CONTAINER)
#define STOP     NRI_EVENT_BIT(NRI_EVENT_STOP_CONTAINER)
#define VALIDATE NRI_EVENT_BIT(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)

static int hold(nri_request *request, struct rt_fixture *fixture)
{
    (void)request;
    (void)fixture;
    return nri_request_event(request) == NRI_EVENT_SYNCHRONIZE ? 0 : NRI_PENDING;
}

static int add_a(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    return nri_adjustment_add_env(nri_request_adjustment(request), "A", "1");
}

/* Adds B only if it sees A, which a plugin before it set. */
static int add_b_after_a(nri_request *request, struct rt_fixture *fixture)
{
    const char *value = "";

    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER)
        return 0;
    const nri_container *container = nri_request_container(request);
    for (size_t i = 0; i < nri_container_env_count(container); i++) {
        if (strcmp(nri_container_env_at(container, i), "A=1") == 0)
            value = "seen";
    }
    return nri_adjustment_add_env(nri_request_adjustment(request), "B", value);
}

static void test_order_and_what_is_seen(void **state)
{
    struct rt_fixture *fixture = *state;
    const char *name, *value;
    bool removed;

    rt_start(fixture);
    struct rt_plugin *late = rt_plugin(fixture, "90", "late", CREATE, add_b_after_a);
    struct rt_plugin *early = rt_plugin(fixture, "10", "early", CREATE, add_a);
    rt_settle(fixture);
    assert_string_equal(fixture->connected, "10-early 90-late ");
    assert_int_equal(early->syncs, 1);
    assert_int_equal(late->syncs, 1);

    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    assert_done(done, 0);
    const nri_adjustment *adjustment = nri_outcome_adjustment(done->outcome);
    assert_int_equal(nri_adjustment_env_count(adjustment), 2);
    assert_true(nri_adjustment_env_at(adjustment, 1, &name, &value, &removed));
    assert_string_equal(name, "B");
    assert_string_equal(value, "seen");
    assert_string_equal(nri_outcome_owner(done->outcome, NRI_FIELD_ENV, "A"), "10-early");
    assert_string_equal(nri_outcome_owner(done->outcome, NRI_FIELD_ENV, "B"), "90-late");
    assert_int_equal(nri_outcome_step_count(done->outcome), 2);
    assert_string_equal(nri_outcome_step_plugin(done->outcome, 0), "10-early");
    assert_int_equal(nri_outcome_change_count(done->outcome, 0), 1);
    /* What was told is as it was. */
    assert_int_equal(nri_container_env_count(container), 0);
    nri_container_free(container);
    nri_pod_free(pod);
}

static void test_conflict(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    (void)rt_plugin(fixture, "10", "one", CREATE, add_a);
    (void)rt_plugin(fixture, "20", "two", CREATE, add_a);
    struct rt_plugin *three = rt_plugin(fixture, "30", "three", CREATE, NULL);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    assert_done(done, NRI_E_CONFLICT);
    assert_string_equal(nri_outcome_text(done->outcome),
                        "plugins \"20-two\" and \"10-one\" both tried to set Env A");
    assert_string_equal(nri_outcome_plugin(done->outcome), "20-two");
    assert_string_equal(three->seen, "Synchronize() ");
    nri_container_free(container);
    nri_pod_free(pod);
}

static void test_same_index_goes_by_coming(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    (void)rt_plugin(fixture, "50", "z", CREATE, add_a);
    rt_settle(fixture);
    (void)rt_plugin(fixture, "50", "a", CREATE, add_b_after_a);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    assert_done(done, 0);
    assert_string_equal(nri_outcome_step_plugin(done->outcome, 0), "50-z");
    assert_string_equal(nri_outcome_step_plugin(done->outcome, 1), "50-a");
    nri_container_free(container);
    nri_pod_free(pod);
}

/* One question a plugin at a time; other containers move along behind. */
static void test_overlap(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", CREATE, hold);
    struct rt_plugin *two = rt_plugin(fixture, "20", "two", CREATE, hold);
    rt_settle(fixture);
    nri_pod *p = rt_pod("p"), *q = rt_pod("q");
    nri_container *c = rt_container("c", "p"), *d = rt_container("d", "q");
    struct rt_done *first = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, p, c);
    struct rt_done *second = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, q, d);
    rt_settle(fixture);
    assert_int_equal(one->held_count, 1);
    rt_release(one, 0);
    rt_settle(fixture);
    /* The first is with the second plugin, the second with the first. */
    assert_int_equal(one->held_count, 1);
    assert_int_equal(two->held_count, 1);
    rt_release(one, 0);
    rt_settle(fixture);
    assert_int_equal(two->held_count, 1);
    rt_release(two, 0);
    rt_settle(fixture);
    assert_int_equal(first->count, 1);
    assert_int_equal(second->count, 0);
    rt_release(two, 0);
    rt_settle(fixture);
    assert_done(second, 0);
    nri_container_free(c);
    nri_container_free(d);
    nri_pod_free(p);
    nri_pod_free(q);
}

/* Events of one container never overlap, whoever is subscribed to them. */
static void test_one_container_keeps_its_order(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", CREATE, hold);
    struct rt_plugin *two = rt_plugin(fixture, "20", "two", CREATE | STOP, NULL);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *create = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    struct rt_done *stop = rt_call(fixture, NRI_EVENT_STOP_CONTAINER, pod, container);
    rt_settle(fixture);
    assert_string_equal(two->seen, "Synchronize() ");
    rt_release(one, 0);
    rt_settle(fixture);
    assert_done(create, 0);
    assert_done(stop, 0);
    assert_string_equal(two->seen, "Synchronize() CreateContainer(c) StopContainer(c) ");
    nri_container_free(container);
    nri_pod_free(pod);
}

/* An event of a pod sandbox alone waits for all before it of its containers, and all behind it wait
 * for it; other pod sandboxes do not. Nobody is subscribed to but creations. */
static void test_pod_and_its_containers(void **state)
{
    struct rt_fixture *fixture = *state;

    fixture->config.max_outstanding = 4;
    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", CREATE, hold);
    rt_settle(fixture);
    nri_pod *p = rt_pod("p"), *q = rt_pod("q");
    nri_container *c = rt_container("c", "p"), *d = rt_container("d", "p"),
                  *e = rt_container("c", "q");
    struct rt_done *create = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, p, c);
    struct rt_done *same = rt_call(fixture, NRI_EVENT_START_CONTAINER, p, c);
    struct rt_done *beside = rt_call(fixture, NRI_EVENT_START_CONTAINER, p, d);
    struct rt_done *whole = rt_call(fixture, NRI_EVENT_UPDATE_POD_SANDBOX, p, NULL);
    struct rt_done *behind = rt_call(fixture, NRI_EVENT_START_CONTAINER, p, d);
    struct rt_done *held = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, p, d);
    struct rt_done *stop = rt_call(fixture, NRI_EVENT_STOP_POD_SANDBOX, p, NULL);
    struct rt_done *last = rt_call(fixture, NRI_EVENT_STOP_CONTAINER, p, c);
    struct rt_done *other = rt_call(fixture, NRI_EVENT_START_CONTAINER, q, e);
    struct rt_done *other_pod = rt_call(fixture, NRI_EVENT_UPDATE_POD_SANDBOX, q, NULL);
    rt_settle(fixture);
    assert_done(beside, 0);
    assert_done(other, 0);
    assert_done(other_pod, 0);
    assert_int_equal(create->count + same->count + whole->count + behind->count, 0);
    rt_release(one, 0);
    rt_settle(fixture);
    assert_done(create, 0);
    assert_done(same, 0);
    assert_done(whole, 0);
    assert_done(behind, 0);
    assert_int_equal(held->count + stop->count + last->count, 0);
    rt_release(one, 0);
    rt_settle(fixture);
    assert_done(held, 0);
    assert_done(stop, 0);
    assert_done(last, 0);
    nri_container_free(c);
    nri_container_free(d);
    nri_container_free(e);
    nri_pod_free(p);
    nri_pod_free(q);
}

static void test_several_outstanding(void **state)
{
    struct rt_fixture *fixture = *state;

    fixture->config.max_outstanding = 4;
    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", CREATE | START, hold);
    rt_settle(fixture);
    nri_pod *p = rt_pod("p"), *q = rt_pod("q");
    nri_container *c = rt_container("c", "p"), *d = rt_container("d", "p"),
                  *e = rt_container("e", "q");
    (void)rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, p, c);
    (void)rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, p, d);
    (void)rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, q, e);
    rt_settle(fixture);
    /* Not two of one pod sandbox. */
    assert_string_equal(one->seen, "Synchronize() CreateContainer(c) CreateContainer(e) ");
    while (one->held_count > 0) {
        rt_release(one, 0);
        rt_settle(fixture);
    }
    assert_string_equal(one->seen, "Synchronize() CreateContainer(c) CreateContainer(e) "
                                   "CreateContainer(d) ");
    nri_container_free(c);
    nri_container_free(d);
    nri_container_free(e);
    nri_pod_free(p);
    nri_pod_free(q);
}

/* ---- validators ---- */

static int refuse_a(nri_request *request, struct rt_fixture *fixture)
{
    const char *owner;

    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)
        return 0;
    if (!nri_request_key_owner(request, nri_container_id(nri_request_container(request)),
                               NRI_FIELD_ENV, "A", &owner))
        return 0;
    return nri_request_fail(request, NRI_E_REJECTED, owner);
}

static void test_validators(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *one = rt_plugin(fixture, "10", "one", CREATE, add_a);
    struct rt_plugin *judge = rt_plugin(fixture, "00", "judge", VALIDATE, refuse_a);
    struct rt_plugin *other = rt_plugin(fixture, "99", "other", VALIDATE, NULL);
    rt_settle(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    assert_done(done, NRI_E_REJECTED);
    assert_contains(nri_outcome_text(done->outcome), "validator \"00-judge\" rejected");
    assert_contains(nri_outcome_text(done->outcome), "10-one");
    /* Both were asked. */
    assert_contains(judge->seen, "ValidateContainerAdjustment(c)");
    assert_contains(other->seen, "ValidateContainerAdjustment(c)");
    one->handler = NULL;
    done = rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_settle(fixture);
    assert_done(done, 0);
    nri_container_free(container);
    nri_pod_free(pod);
}

static void test_no_plugins(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    nri_pod *pod = rt_pod("p");
    struct rt_done *done = rt_call(fixture, NRI_EVENT_RUN_POD_SANDBOX, pod, NULL);
    assert_int_equal(done->count, 0); /* never inside of the call */
    rt_settle(fixture);
    assert_done(done, 0);
    nri_pod_free(pod);
}

struct endless {
    struct rt_fixture *fixture;
    struct nri_runtime_event event;
    size_t count;
};

#define ENDLESS 100000

static void call_again(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct endless *endless = user;
    struct rt_fixture *fixture = endless->fixture;

    (void)runtime;
    (void)outcome;
    if (++endless->count < ENDLESS)
        assert_int_equal(
            nri_rt_call(fixture->rt, &endless->event, call_again, endless, fixture->now, NULL), 0);
}

/* Who calls an event whenever one is done does not keep the loop from everything else. */
static void test_turns_end(void **state)
{
    struct rt_fixture *fixture = *state;
    nri_pod *pod = rt_pod("p");
    struct endless endless = {.fixture = fixture};
    size_t turns = 0;

    rt_start(fixture);
    nri_runtime_event_init(&endless.event, sizeof endless.event);
    endless.event.event = NRI_EVENT_RUN_POD_SANDBOX;
    endless.event.pod = pod;
    assert_int_equal(
        nri_rt_call(fixture->rt, &endless.event, call_again, &endless, fixture->now, NULL), 0);
    for (; endless.count < ENDLESS; turns++)
        nri_rt_process(fixture->rt, fixture->now);
    assert_true(turns > 1);
    nri_pod_free(pod);
}

static void assert_refused(struct rt_fixture *fixture, const struct nri_runtime_event *event,
                           const char *text)
{
    struct nri_error error;

    assert_int_equal(nri_rt_call(fixture->rt, event, NULL, NULL, fixture->now, &error),
                     NRI_E_INVALID);
    assert_string_equal(error.text, text);
}

static void wrong_resources(struct rt_fixture *fixture, const struct nri_runtime_event *event)
{
    struct nri_runtime_event wrong = *event;
    nri_container *other = rt_container("d", "p");

    wrong.resources = nri_container_edit_resources(other);
    assert_refused(fixture, &wrong,
                   "CreateContainer: resources are of UpdateContainer and UpdatePodSandbox: must "
                   "be NULL");
    wrong.event = NRI_EVENT_UPDATE_CONTAINER;
    wrong.overhead = wrong.resources;
    assert_refused(fixture, &wrong,
                   "UpdateContainer: overhead is of UpdatePodSandbox: must be NULL");
    nri_container_free(other);
}

static void wrong_metadata(struct rt_fixture *fixture, const struct nri_runtime_event *event)
{
    static const char *const gap[] = {"a", "b", "c", NULL};
    static const char *const bytes[] = {"a\xff", "b"};
    static const char *many[2 * 257];
    struct nri_runtime_event wrong = *event;

    wrong.metadata_count = 1;
    assert_refused(fixture, &wrong, "CreateContainer: metadata is NULL");
    wrong.metadata = gap;
    wrong.metadata_count = 2;
    assert_refused(fixture, &wrong, "CreateContainer: metadata: the value of pair 1 is NULL");
    wrong.metadata = bytes;
    wrong.metadata_count = 1;
    assert_refused(fixture, &wrong, "CreateContainer: metadata: the key of pair 0 is not UTF-8");
    for (size_t i = 0; i < sizeof many / sizeof *many; i++)
        many[i] = "x";
    wrong.metadata = many;
    wrong.metadata_count = 257;
    assert_refused(fixture, &wrong, "CreateContainer: metadata has 257 pairs: must be at most 256");
}

static void test_wrong_calls(void **state)
{
    struct rt_fixture *fixture = *state;
    struct nri_runtime_event event;

    rt_start(fixture);
    nri_pod *pod = rt_pod("p");
    nri_container *container = rt_container("c", "p");
    nri_runtime_event_init(&event, sizeof event);
    event.event = NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT;
    event.pod = pod;
    event.container = container;
    assert_int_equal(nri_rt_call(fixture->rt, &event, NULL, NULL, fixture->now, NULL), NRI_E_EVENT);
    event.event = NRI_EVENT_RUN_POD_SANDBOX;
    assert_int_equal(nri_rt_call(fixture->rt, &event, NULL, NULL, fixture->now, NULL),
                     NRI_E_INVALID);
    event.event = NRI_EVENT_CREATE_CONTAINER;
    event.pod = NULL;
    assert_int_equal(nri_rt_call(fixture->rt, &event, NULL, NULL, fixture->now, NULL),
                     NRI_E_INVALID);
    event.pod = pod;
    wrong_resources(fixture, &event);
    wrong_metadata(fixture, &event);
    for (size_t i = 0; i < fixture->config.max_calls; i++)
        assert_int_equal(nri_rt_call(fixture->rt, &event, NULL, NULL, fixture->now, NULL), 0);
    assert_int_equal(nri_rt_call(fixture->rt, &event, NULL, NULL, fixture->now, NULL), NRI_E_BUSY);
    rt_settle(fixture);
    assert_int_equal(nri_rt_call(fixture->rt, &event, NULL, NULL, fixture->now, NULL), 0);
    rt_settle(fixture);
    nri_container_free(container);
    nri_pod_free(pod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_order_and_what_is_seen),
        rt_test(test_conflict),
        rt_test(test_same_index_goes_by_coming),
        rt_test(test_overlap),
        rt_test(test_one_container_keeps_its_order),
        rt_test(test_pod_and_its_containers),
        rt_test(test_several_outstanding),
        rt_test(test_validators),
        rt_test(test_no_plugins),
        rt_test(test_wrong_calls),
        rt_test(test_turns_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
