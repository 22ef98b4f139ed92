/* SPDX-License-Identifier: Apache-2.0 */
/* Public bug reports (tests/cases.md) about updates: what plugins ask for on their own account, in
 * their answer to Synchronize, and of a container that is being updated. */
#include <stdio.h>

#include "fixture.h"

#define CREATE NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)
#define UPDATE NRI_EVENT_BIT(NRI_EVENT_UPDATE_CONTAINER)

struct told {
    size_t count, failed;
    int code;
    char text[256], ids[128];
};

static void append(char *text, size_t room, const char *more)
{
    const size_t used = strlen(text);

    (void)snprintf(text + used, room - used, "%s ", more);
}

static void on_told(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct told *told = user;

    (void)plugin;
    told->count++;
    told->code = nri_update_result_code(result);
    told->failed = nri_update_result_failed_count(result);
    (void)snprintf(told->text, sizeof told->text, "%s", nri_update_result_text(result));
    for (size_t i = 0; i < told->failed; i++)
        append(told->ids, sizeof told->ids, nri_update_result_failed_id(result, i));
}

static nri_updates *new_updates(void)
{
    nri_updates *updates;

    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    return updates;
}

/* Sends them, and frees them. */
static struct told send(struct rt_plugin *plugin, nri_updates *updates)
{
    struct told told = {0};

    assert_int_equal(nri_core_update_containers(plugin->core, updates, 0, NULL, 0, on_told, &told,
                                                plugin->fixture->now, NULL),
                     0);
    nri_updates_free(updates);
    rt_settle(plugin->fixture);
    assert_int_equal(told.count, 1);
    return told;
}

static nri_updates *shares_of(const char *id)
{
    nri_updates *updates = new_updates();

    assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, id), 512), 0);
    return updates;
}

static nri_updates *eviction_of(const char *id)
{
    nri_updates *updates = new_updates();

    assert_int_equal(nri_updates_evict(updates, id, "mem"), 0);
    return updates;
}

static struct rt_plugin *begin(struct rt_fixture *fixture, uint32_t events, rt_handler handler)
{
    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", events, handler);
    rt_settle(fixture);
    assert_non_null(plugin->peer);
    return plugin;
}

/* ---- of their own account ---- */

/* T40 (c) */
static void test_T40_a_list_of_nothing_is_answered_without_the_operation(void **state)
{
    struct rt_fixture *fixture = *state;
    struct rt_plugin *plugin = begin(fixture, CREATE, NULL);

    fixture->update_code = NRI_E_IO; /* if it were called */
    const struct told told = send(plugin, new_updates());
    assert_int_equal(told.code, 0);
    assert_int_equal(told.failed, 0);
    assert_string_equal(fixture->updated, "");
}

/* T40 (a): where other runtimes refuse to start without an operation, or crash, libnri's answers.
 */
static void test_T40_U12_a_runtime_without_the_operation(void **state)
{
    struct rt_fixture *fixture = *state;

    fixture->config.ops.update = NULL;
    struct rt_plugin *plugin = begin(fixture, CREATE, NULL);
    struct told told = send(plugin, shares_of("c1"));
    assert_int_equal(told.code, NRI_E_UNSUPPORTED);
    assert_contains(told.text, "this runtime updates no containers for plugins");
    assert_int_equal(told.failed, 0);
    /* Nothing of it is done, and the connection goes on. */
    nri_updates *both = shares_of("c1");
    assert_int_equal(nri_updates_evict(both, "c2", "mem"), 0);
    assert_int_equal(send(plugin, both).code, NRI_E_UNSUPPORTED);
    assert_string_equal(fixture->evicted, "");
    assert_int_equal(send(plugin, new_updates()).code, 0);
    assert_int_equal(send(plugin, eviction_of("c2")).code, 0);
    assert_string_equal(fixture->evicted, "10-one:c2:mem ");
    assert_contains(fixture->log_text, "plugin 10-one: what it asked for is not done");
}

static void test_S52_evictions_of_their_own_account(void **state)
{
    struct rt_fixture *fixture = *state;
    struct rt_plugin *plugin = begin(fixture, CREATE, NULL);

    assert_int_equal(send(plugin, eviction_of("c1")).code, 0);
    assert_string_equal(fixture->evicted, "10-one:c1:mem ");
}

static void test_S52_a_runtime_that_does_not_evict_says_so(void **state)
{
    struct rt_fixture *fixture = *state;

    fixture->config.ops.evict = NULL;
    struct rt_plugin *plugin = begin(fixture, CREATE, NULL);
    const struct told told = send(plugin, eviction_of("c1"));
    assert_int_equal(told.code, NRI_E_UNSUPPORTED);
    assert_contains(told.text, "this runtime evicts no containers for plugins");
    assert_int_equal(send(plugin, shares_of("c1")).code, 0);
    assert_string_equal(fixture->updated, "c1 ");
}

/* s and u cannot be updated, s2 neither, but its failure is to be ignored. */
static int some_fail(nri_runtime *runtime, nri_runtime_update *update, void *user)
{
    (void)runtime;
    (void)user;
    assert_int_equal(nri_updates_count(nri_runtime_update_list(update)), 4);
    assert_int_equal(nri_runtime_update_fail(update, "s2"), 0);
    assert_int_equal(nri_runtime_update_fail(update, "u"), 0);
    assert_int_equal(nri_runtime_update_fail(update, "s"), 0);
    return 0;
}

static void test_S50_what_failed_comes_back_in_order(void **state)
{
    struct rt_fixture *fixture = *state;

    fixture->config.ops.update = some_fail;
    struct rt_plugin *plugin = begin(fixture, CREATE, NULL);
    nri_updates *updates = shares_of("r");
    assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, "s"), 2), 0);
    assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, "u"), 2), 0);
    nri_update *ignored = nri_updates_container(updates, "s2");
    assert_int_equal(nri_update_set_cpu_shares(ignored, 2), 0);
    assert_int_equal(nri_update_set_ignore_failure(ignored, true), 0);
    const struct told told = send(plugin, updates);
    assert_int_equal(told.code, 0);
    assert_string_equal(told.ids, "s u ");
}

/* ---- in the answer to Synchronize ---- */

static int note_sync(nri_runtime *runtime, nri_runtime_update *update, void *user)
{
    struct rt_fixture *fixture = user;
    const nri_updates *list = nri_runtime_update_list(update);

    (void)runtime;
    assert_true(nri_runtime_update_is_sync(update));
    append(fixture->updated, sizeof fixture->updated, "|");
    for (size_t i = 0; i < nri_updates_count(list); i++) {
        const nri_update *one = nri_updates_at(list, i);
        const char *cpus;
        char text[64];
        assert_true(nri_resources_cpuset_cpus(nri_update_resources(one), &cpus));
        (void)snprintf(text, sizeof text, "%s=%s", nri_update_container_id(one), cpus);
        append(fixture->updated, sizeof fixture->updated, text);
    }
    return 0;
}

static int repair(nri_request *request, struct rt_fixture *fixture)
{
    nri_updates *updates = nri_request_updates(request);

    if (nri_request_event(request) != NRI_EVENT_SYNCHRONIZE)
        return 0;
    if (fixture->current->name[0] == 't') /* "two" */
        return nri_update_set_cpuset_cpus(nri_updates_container(updates, "c3"), "3");
    (void)nri_update_set_cpuset_cpus(nri_updates_container(updates, "c1"), "0-1");
    return nri_update_set_cpuset_cpus(nri_updates_container(updates, "c2"), "2");
}

static void add_large_container(struct rt_fixture *fixture)
{
    static char value[((size_t)3 << 20) + 1];

    memset(value, 'v', sizeof value - 1);
    nri_container *container = rt_container("c", "p");
    assert_int_equal(nri_container_set_annotation(container, "filler", value), 0);
    fixture->containers[fixture->container_count++] = container;
}

/* Of a split Synchronize, and of two plugins that were launched. */
static void test_S51_updates_after_Synchronize_are_applied_once(void **state)
{
    struct rt_fixture *fixture = *state;

    add_large_container(fixture);
    add_large_container(fixture);
    fixture->config.ops.update = note_sync;
    rt_start(fixture);
    struct rt_plugin *one = rt_plugin_of(fixture, NRI_ORIGIN_LAUNCHED, "10", "one", CREATE, repair);
    struct rt_plugin *two = rt_plugin_of(fixture, NRI_ORIGIN_LAUNCHED, "20", "two", CREATE, repair);
    rt_settle(fixture);
    assert_int_equal(one->synced_containers, 2);
    assert_int_equal(two->synced_containers, 2);
    assert_string_equal(fixture->updated, "| c1=0-1 c2=2 | c3=3 ");
    assert_string_equal(fixture->connected, "10-one 20-two ");
}

/* ---- UpdateContainer ---- */

static int only_shares(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_UPDATE_CONTAINER)
        return 0;
    return nri_update_set_cpu_shares(nri_updates_container(nri_request_updates(request), "c1"),
                                     512);
}

static int shares_and_quota(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    if (nri_request_event(request) != NRI_EVENT_UPDATE_CONTAINER)
        return 0;
    nri_updates *updates = nri_request_updates(request);
    (void)nri_update_set_cpu_shares(nri_updates_container(updates, "c1"), 20);
    return nri_update_set_cpu_quota(nri_updates_container(updates, "c2"), 5000);
}

/* Of c1, with {shares = 10, limit = 100} or nothing. */
static struct rt_done *update_c1(struct rt_fixture *fixture, bool asks)
{
    nri_pod *pod = fixture->pods[fixture->pod_count++] = rt_pod("p");
    nri_container *container = fixture->containers[fixture->container_count++] =
        rt_container("c1", "p");
    nri_resources *resources = nri_container_edit_resources(container);

    if (asks) {
        assert_int_equal(nri_resources_set_cpu_shares(resources, 10), 0);
        assert_int_equal(nri_resources_set_memory_limit(resources, 100), 0);
    }
    const struct nri_runtime_event event = {.size = sizeof event,
                                            .event = NRI_EVENT_UPDATE_CONTAINER,
                                            .pod = pod,
                                            .container = container,
                                            .resources = nri_container_resources(container)};
    struct rt_done *done = rt_call_with(fixture, &event);
    rt_settle(fixture);
    assert_done(done, 0);
    return done;
}

static void test_S11_an_update_of_the_CPU_alone(void **state)
{
    struct rt_fixture *fixture = *state;
    uint64_t shares, swappiness;
    int64_t bytes;
    bool flag;

    (void)begin(fixture, UPDATE, only_shares);
    const nri_resources *merged = nri_outcome_resources(update_c1(fixture, false)->outcome);
    assert_true(nri_resources_cpu_shares(merged, &shares));
    assert_int_equal(shares, 512);
    assert_false(nri_resources_memory_limit(merged, &bytes));
    assert_false(nri_resources_memory_reservation(merged, &bytes));
    assert_false(nri_resources_memory_swap(merged, &bytes));
    assert_false(nri_resources_memory_kernel(merged, &bytes));
    assert_false(nri_resources_memory_kernel_tcp(merged, &bytes));
    assert_false(nri_resources_memory_swappiness(merged, &swappiness));
    assert_false(nri_resources_memory_disable_oom_killer(merged, &flag));
    assert_false(nri_resources_memory_use_hierarchy(merged, &flag));
}

static void test_S55_the_plugins_answer_supersedes_what_was_asked_for(void **state)
{
    struct rt_fixture *fixture = *state;
    uint64_t shares;
    int64_t number;

    struct rt_plugin *one = begin(fixture, UPDATE, shares_and_quota);
    (void)rt_plugin(fixture, "20", "two", UPDATE, NULL);
    rt_settle(fixture);
    struct rt_done *done = update_c1(fixture, true);
    const nri_resources *own = nri_outcome_resources(done->outcome);
    assert_true(nri_resources_cpu_shares(own, &shares));
    assert_int_equal(shares, 20);
    assert_true(nri_resources_memory_limit(own, &number));
    assert_int_equal(number, 100);
    const nri_updates *others = nri_outcome_updates(done->outcome);
    assert_int_equal(nri_updates_count(others), 1);
    const nri_update *other = nri_updates_at(others, 0);
    assert_string_equal(nri_update_container_id(other), "c2");
    assert_true(nri_resources_cpu_quota(nri_update_resources(other), &number));
    assert_int_equal(number, 5000);
    /* Nobody answers: what was asked for, and no entry. */
    one->handler = NULL;
    done = update_c1(fixture, true);
    own = nri_outcome_resources(done->outcome);
    assert_true(nri_resources_cpu_shares(own, &shares));
    assert_int_equal(shares, 10);
    assert_true(nri_resources_memory_limit(own, &number));
    assert_int_equal(number, 100);
    assert_int_equal(nri_updates_count(nri_outcome_updates(done->outcome)), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_T40_a_list_of_nothing_is_answered_without_the_operation),
        rt_test(test_T40_U12_a_runtime_without_the_operation),
        rt_test(test_S52_evictions_of_their_own_account),
        rt_test(test_S52_a_runtime_that_does_not_evict_says_so),
        rt_test(test_S50_what_failed_comes_back_in_order),
        rt_test(test_S51_updates_after_Synchronize_are_applied_once),
        rt_test(test_S11_an_update_of_the_CPU_alone),
        rt_test(test_S55_the_plugins_answer_supersedes_what_was_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
