/* SPDX-License-Identifier: Apache-2.0 */
/* Public bug reports (tests/cases.md) about the chain of plugins: their order, what each is told,
 * and what validators see. */
#include <stdio.h>

#include "fixture.h"
#include "proto/nri.pb-c.h"
#include "proto/ttrpc.pb-c.h"

#define CREATE   NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)
#define STOP     NRI_EVENT_BIT(NRI_EVENT_STOP_CONTAINER)
#define RUN_POD  NRI_EVENT_BIT(NRI_EVENT_RUN_POD_SANDBOX)
#define REMOVE   NRI_EVENT_BIT(NRI_EVENT_REMOVE_POD_SANDBOX)
#define VALIDATE NRI_EVENT_BIT(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)

#define REQUEST  1

/* What handlers tell the tests, which run one at a time. */
static char told[512];

static void tell(const char *text)
{
    const size_t used = strlen(told);

    (void)snprintf(told + used, sizeof told - used, "%s ", text);
}

static nri_pod *keep_pod(struct rt_fixture *fixture, const char *id)
{
    return fixture->pods[fixture->pod_count++] = rt_pod(id);
}

static nri_container *keep_container(struct rt_fixture *fixture, const char *id)
{
    return fixture->containers[fixture->container_count++] = rt_container(id, "p");
}

static struct rt_done *call(struct rt_fixture *fixture, enum nri_event event)
{
    if (fixture->pod_count == 0) {
        (void)keep_pod(fixture, "p");
        (void)keep_container(fixture, "ctr0");
    }
    struct rt_done *done = rt_call(fixture, event, fixture->pods[0], fixture->containers[0]);
    rt_settle(fixture);
    return done;
}

static bool is_create(nri_request *request)
{
    return nri_request_event(request) == NRI_EVENT_CREATE_CONTAINER;
}

/* ---- order ---- */

static int tell_name(nri_request *request, struct rt_fixture *fixture)
{
    if (nri_request_event(request) != NRI_EVENT_SYNCHRONIZE)
        tell(fixture->current->name);
    return 0;
}

static void test_S20_in_the_order_of_their_indexes(void **state)
{
    struct rt_fixture *fixture = *state;
    static const char *const names[][2] = {{"90", "z"}, {"05", "a"}, {"50", "m"}, {"05", "b"}};

    told[0] = '\0';
    rt_start(fixture);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        (void)rt_plugin(fixture, names[i][0], names[i][1], CREATE | STOP, tell_name);
        rt_settle(fixture);
    }
    assert_done(call(fixture, NRI_EVENT_CREATE_CONTAINER), 0);
    assert_string_equal(told, "a b m z ");
    assert_done(call(fixture, NRI_EVENT_STOP_CONTAINER), 0);
    assert_string_equal(told, "a b m z a b m z ");
}

static int hold_run(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    return nri_request_event(request) == NRI_EVENT_RUN_POD_SANDBOX ? NRI_PENDING : 0;
}

/* 300 ms in RunPodSandbox, the removal after 100. */
static void test_S37_a_removal_waits_for_the_run(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", RUN_POD | REMOVE, hold_run);
    struct rt_plugin *other = rt_plugin(fixture, "20", "two", RUN_POD | REMOVE, NULL);
    struct rt_plugin *idle = rt_plugin(fixture, "05", "idle", REMOVE, NULL);
    rt_settle(fixture);
    nri_pod *pod = keep_pod(fixture, "p");
    struct rt_done *run = rt_call(fixture, NRI_EVENT_RUN_POD_SANDBOX, pod, NULL);
    rt_pass(fixture, 100);
    struct rt_done *removal = rt_call(fixture, NRI_EVENT_REMOVE_POD_SANDBOX, pod, NULL);
    rt_pass(fixture, 200);
    assert_int_equal(removal->count, 0);
    assert_string_equal(plugin->seen, "Synchronize() RunPodSandbox(p) ");
    assert_string_equal(other->seen, "Synchronize() ");
    assert_string_equal(idle->seen, "Synchronize() "); /* though it has nothing else to do */
    rt_release(plugin, 0);
    rt_settle(fixture);
    assert_done(run, 0);
    assert_done(removal, 0);
    assert_string_equal(plugin->seen, "Synchronize() RunPodSandbox(p) RemovePodSandbox(p) ");
    assert_string_equal(other->seen, plugin->seen);
    assert_string_equal(idle->seen, "Synchronize() RemovePodSandbox(p) ");
}

/* ---- what plugins are told ---- */

/* The calls that a reader along the wire has of one method. */
static Ttrpc__Request *find_call(const struct go_reader *tap, const char *method)
{
    struct go_message message;

    for (size_t i = 0; go_reader_message(tap, i, &message); i++) {
        Ttrpc__Request *found = message.type != REQUEST
                                    ? NULL
                                    : ttrpc__request__unpack(NULL, message.length, message.data);
        if (found != NULL && strcmp(found->method, method) == 0)
            return found;
        ttrpc__request__free_unpacked(found, NULL);
    }
    fail_msg("no %s", method);
    return NULL;
}

static void test_T43_the_time_outs_are_told(void **state)
{
    struct rt_fixture *fixture = *state;
    struct go_reader tap;

    fixture->config.registration_timeout = 7 * NRI_SEC;
    fixture->config.request_timeout = 3 * NRI_SEC;
    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, NULL);
    go_reader_init(&tap);
    plugin->tap = &tap;
    rt_settle(fixture);
    Ttrpc__Request *found = find_call(&tap, "Configure");
    Nri__Pkg__Api__V1alpha1__ConfigureRequest *configure =
        nri__pkg__api__v1alpha1__configure_request__unpack(NULL, found->payload.len,
                                                           found->payload.data);
    assert_non_null(configure);
    assert_int_equal(configure->registration_timeout, 7000);
    assert_int_equal(configure->request_timeout, 3000);
    nri__pkg__api__v1alpha1__configure_request__free_unpacked(configure, NULL);
    ttrpc__request__free_unpacked(found, NULL);
    plugin->tap = NULL;
    go_reader_fini(&tap);
}

static int hold_create(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    return is_create(request) ? NRI_PENDING : 0;
}

static void test_T44_the_time_left_travels_with_the_request(void **state)
{
    struct rt_fixture *fixture = *state;
    struct go_reader tap;

    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, hold_create);
    go_reader_init(&tap);
    plugin->tap = &tap;
    rt_settle(fixture);
    struct rt_done *done = call(fixture, NRI_EVENT_CREATE_CONTAINER);
    Ttrpc__Request *found = find_call(&tap, "CreateContainer");
    assert_int_equal(found->timeout_nano, 2 * NRI_SEC); /* no time has passed here */
    ttrpc__request__free_unpacked(found, NULL);
    rt_pass(fixture, 500);
    assert_int_equal(nri_request_time_left(plugin->held[0]), 1500 * NRI_MSEC);
    assert_false(nri_request_deadline_is_assumed(plugin->held[0]));
    rt_release(plugin, 0);
    rt_settle(fixture);
    assert_done(done, 0);
    plugin->tap = NULL;
    go_reader_fini(&tap);
}

/* The plugin's time begins when it is asked, not while the request waits for its turn. */
static void test_T44_also_of_one_that_waited_for_its_turn(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, hold_create);
    rt_settle(fixture);
    (void)call(fixture, NRI_EVENT_CREATE_CONTAINER);
    nri_pod *pod = keep_pod(fixture, "q");
    nri_container *container = keep_container(fixture, "ctr1");
    (void)rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, pod, container);
    rt_pass(fixture, 500);
    rt_release(plugin, 0);
    rt_settle(fixture);
    assert_int_equal(plugin->held_count, 1);
    assert_int_equal(nri_request_time_left(plugin->held[0]), 2 * NRI_SEC);
    rt_release(plugin, 0);
    rt_settle(fixture);
}

static void tell_unified(const nri_resources *resources)
{
    const char *key, *value;
    char text[64];

    for (size_t i = 0; nri_resources_unified_at(resources, i, &key, &value); i++) {
        (void)snprintf(text, sizeof text, "%s=%s", key, value);
        tell(text);
    }
}

static int look_at_unified(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    if (!is_create(request))
        return 0;
    tell_unified(nri_pod_pod_resources(nri_request_pod(request)));
    tell("|");
    tell_unified(nri_container_resources(nri_request_container(request)));
    return 0;
}

static void set_unified(nri_resources *resources)
{
    assert_int_equal(nri_resources_set_unified(resources, "io.weight", "2"), 0);
    assert_int_equal(nri_resources_set_unified(resources, "memory.high", "1"), 0);
}

static void test_S12_unified_values_are_told(void **state)
{
    struct rt_fixture *fixture = *state;

    told[0] = '\0';
    set_unified(nri_pod_edit_pod_resources(keep_pod(fixture, "p")));
    set_unified(nri_container_edit_resources(keep_container(fixture, "ctr0")));
    rt_start(fixture);
    (void)rt_plugin(fixture, "10", "one", CREATE, look_at_unified);
    rt_settle(fixture);
    assert_done(call(fixture, NRI_EVENT_CREATE_CONTAINER), 0);
    assert_string_equal(told, "io.weight=2 memory.high=1 | io.weight=2 memory.high=1 ");
}

/* ---- what they answer ---- */

static int update_its_own(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    if (!is_create(request))
        return 0;
    (void)nri_adjustment_add_env(nri_request_adjustment(request), "A", "1");
    return nri_update_set_cpu_shares(nri_updates_container(nri_request_updates(request), "ctr0"),
                                     1);
}

static void test_S18_an_update_of_the_container_that_is_created(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    (void)rt_plugin(fixture, "10", "foo", CREATE, update_its_own);
    rt_settle(fixture);
    struct rt_done *done = call(fixture, NRI_EVENT_CREATE_CONTAINER);
    assert_int_not_equal(done->code, 0);
    assert_int_equal(done->count, 1);
    assert_contains(nri_outcome_text(done->outcome), "\"10-foo\"");
    assert_contains(nri_outcome_text(done->outcome), "\"ctr0\"");
    assert_null(nri_outcome_adjustment(done->outcome));
}

/* ---- validators ---- */

static int set_a_and_hook(nri_request *request, struct rt_fixture *fixture)
{
    if (!is_create(request))
        return 0;
    tell(fixture->current->name);
    nri_adjustment *adjustment = nri_request_adjustment(request);
    if (strcmp(fixture->current->name, "a") == 0)
        (void)nri_adjustment_add_env(adjustment, "A", "2");
    const char *const args[] = {fixture->current->name};
    return nri_adjustment_add_hook(adjustment, NRI_HOOK_PRESTART, "/hook", args, 1, NULL, 0, NULL);
}

static int judge(nri_request *request, struct rt_fixture *fixture)
{
    const nri_container *container = nri_request_container(request);
    const char *name, *value, *index;
    bool removed;

    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)
        return 0;
    tell("judge:");
    for (size_t i = 0; i < nri_container_env_count(container); i++)
        tell(nri_container_env_at(container, i));
    const nri_adjustment *adjustment = nri_request_adjustment(request);
    for (size_t i = 0; nri_adjustment_env_at(adjustment, i, &name, &value, &removed); i++) {
        tell(name);
        tell(value);
    }
    (void)nri_request_key_owner(request, "ctr0", NRI_FIELD_ENV, "A", &value);
    tell(value);
    (void)nri_request_owner(request, "ctr0", NRI_FIELD_OCI_HOOKS, &value);
    tell(value);
    for (size_t i = 0; nri_request_plugin_at(request, i, &name, &index); i++) {
        tell(index);
        tell(name);
    }
    return nri_request_fail(request, NRI_E_REJECTED, "no");
}

static void test_S41_S10_validators_see_all_and_may_refuse(void **state)
{
    struct rt_fixture *fixture = *state;

    told[0] = '\0';
    (void)keep_pod(fixture, "p");
    assert_int_equal(nri_container_set_env(keep_container(fixture, "ctr0"), "A", "1"), 0);
    rt_start(fixture);
    (void)rt_plugin(fixture, "05", "judge", VALIDATE, judge);
    (void)rt_plugin(fixture, "10", "a", CREATE, set_a_and_hook);
    (void)rt_plugin(fixture, "20", "b", CREATE, set_a_and_hook);
    rt_settle(fixture);
    struct rt_done *done = call(fixture, NRI_EVENT_CREATE_CONTAINER);
    assert_done(done, NRI_E_REJECTED);
    assert_contains(nri_outcome_text(done->outcome), "\"05-judge\"");
    assert_contains(nri_outcome_text(done->outcome), ": no");
    /* After all mutators; the container as it was; what A becomes; its owner and the hooks'; who
     * was consulted. */
    assert_string_equal(told, "a b judge: A=1 A 2 10-a 10-a,20-b 10 a 20 b ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_S20_in_the_order_of_their_indexes),
        rt_test(test_S37_a_removal_waits_for_the_run),
        rt_test(test_T43_the_time_outs_are_told),
        rt_test(test_T44_the_time_left_travels_with_the_request),
        rt_test(test_T44_also_of_one_that_waited_for_its_turn),
        rt_test(test_S12_unified_values_are_told),
        rt_test(test_S18_an_update_of_the_container_that_is_created),
        rt_test(test_S41_S10_validators_see_all_and_may_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
