/* SPDX-License-Identifier: Apache-2.0 */
/* Public bug reports (tests/cases.md) about what plugins are told when they come: sizes, time, and
 * that it comes before anything else. */
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "proto/nri.pb-c.h"
#include "proto/ttrpc.pb-c.h"

#define CREATE      NRI_EVENT_BIT(NRI_EVENT_CREATE_CONTAINER)
#define START       NRI_EVENT_BIT(NRI_EVENT_START_CONTAINER)
#define REMOVE      NRI_EVENT_BIT(NRI_EVENT_REMOVE_POD_SANDBOX)

#define MIB         ((size_t)1 << 20)
#define MOST        ((size_t)4194304) /* of ttRPC's data, in what any peer reads */
#define REQUEST     1
#define PODS        150
#define FAT_VALUE   ((size_t)65536)
#define TEXT_OF_IDS 8192

/* A text of so many bytes; free(). */
static char *filler(size_t bytes)
{
    char *text = malloc(bytes + 1);

    assert_non_null(text);
    memset(text, 'v', bytes);
    text[bytes] = '\0';
    return text;
}

static void add_container(struct rt_fixture *fixture, size_t bytes)
{
    char id[32];
    char *value = filler(bytes);

    (void)snprintf(id, sizeof id, "c%zu", fixture->container_count);
    nri_container *container = rt_container(id, "p0");
    assert_int_equal(nri_container_set_annotation(container, "filler", value), 0);
    fixture->containers[fixture->container_count++] = container;
    free(value);
}

static void add_pod(struct rt_fixture *fixture, size_t bytes)
{
    char id[32];
    char *value = filler(bytes);

    (void)snprintf(id, sizeof id, "p%zu", fixture->pod_count);
    nri_pod *pod = rt_pod(id);
    assert_int_equal(nri_pod_set_annotation(pod, "filler", value), 0);
    fixture->pods[fixture->pod_count++] = pod;
    free(value);
}

/* ---- what stands on the wire ---- */

struct parts {
    size_t count, largest, last; /* last: those with more=false */
    char ids[TEXT_OF_IDS];       /* pods, then containers, of all parts in order */
    char containers[TEXT_OF_IDS];
};

static void append(char text[TEXT_OF_IDS], const char *id)
{
    const size_t used = strlen(text);

    (void)snprintf(text + used, TEXT_OF_IDS - used, "%s ", id);
}

static void add_part(struct parts *parts, const struct go_message *message)
{
    Ttrpc__Request *call = ttrpc__request__unpack(NULL, message->length, message->data);

    assert_non_null(call);
    if (strcmp(call->method, "Synchronize") == 0) {
        Nri__Pkg__Api__V1alpha1__SynchronizeRequest *part =
            nri__pkg__api__v1alpha1__synchronize_request__unpack(NULL, call->payload.len,
                                                                 call->payload.data);
        assert_non_null(part);
        assert_int_equal(parts->last, 0); /* nothing comes after the last one */
        parts->count++;
        parts->last += part->more ? 0 : 1;
        if (message->length > parts->largest)
            parts->largest = message->length;
        for (size_t i = 0; i < part->n_pods; i++)
            append(parts->ids, part->pods[i]->id);
        for (size_t i = 0; i < part->n_containers; i++)
            append(parts->containers, part->containers[i]->id);
        nri__pkg__api__v1alpha1__synchronize_request__free_unpacked(part, NULL);
    }
    ttrpc__request__free_unpacked(call, NULL);
}

/* What a plugin was told, from a reader along its wire. */
static void read_parts(const struct go_reader *tap, struct parts *parts)
{
    struct go_message message;

    *parts = (struct parts){0};
    for (size_t i = 0; go_reader_message(tap, i, &message); i++) {
        if (message.type == REQUEST)
            add_part(parts, &message);
    }
}

static void test_T01_a_node_larger_than_a_message(void **state)
{
    struct rt_fixture *fixture = *state;
    static char pods[TEXT_OF_IDS], containers[TEXT_OF_IDS];
    static struct parts parts;
    struct go_reader tap;

    for (size_t i = 0; i < PODS; i++) {
        add_pod(fixture, FAT_VALUE);
        append(pods, nri_pod_id(fixture->pods[i]));
        add_container(fixture, 1);
        append(containers, nri_container_id(fixture->containers[i]));
    }
    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, NULL);
    go_reader_init(&tap);
    plugin->tap = &tap;
    rt_settle(fixture);
    read_parts(&tap, &parts);
    assert_true(parts.count >= 3);
    assert_true(parts.largest <= MOST);
    assert_int_equal(parts.last, 1);
    assert_string_equal(parts.ids, pods);
    assert_string_equal(parts.containers, containers);
    assert_non_null(plugin->peer);
    assert_string_equal(fixture->connected, "10-one ");
    assert_int_equal(plugin->synced_pods, PODS);
    assert_int_equal(plugin->synced_containers, PODS);
    plugin->tap = NULL;
    go_reader_fini(&tap);
}

/* It is said at once, the plugin goes, and the runtime goes on. */
static void test_T03_a_container_larger_than_a_message(void **state)
{
    struct rt_fixture *fixture = *state;

    add_pod(fixture, 1);
    add_container(fixture, 5 * MIB);
    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, NULL);
    const uint64_t began = fixture->now;
    rt_settle(fixture);
    assert_true(fixture->now - began < 2 * NRI_SEC);
    assert_null(plugin->peer);
    assert_string_equal(fixture->connected, "");
    assert_contains(fixture->log_text, "Synchronize: container c0 has 52");
    assert_int_equal(nri_error_grpc(NRI_E_LIMIT), NRI_GRPC_RESOURCE_EXHAUSTED);
    nri_container *container = rt_container("new", "p0");
    struct rt_done *done =
        rt_call(fixture, NRI_EVENT_CREATE_CONTAINER, fixture->pods[0], container);
    rt_settle(fixture);
    assert_done(done, 0);
    nri_container_free(container);
}

static void test_T03_two_that_fit_a_message_each(void **state)
{
    struct rt_fixture *fixture = *state;
    static struct parts parts;
    struct go_reader tap;

    add_container(fixture, 3 * MIB);
    add_container(fixture, 3 * MIB);
    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "one", CREATE, NULL);
    go_reader_init(&tap);
    plugin->tap = &tap;
    rt_settle(fixture);
    read_parts(&tap, &parts);
    assert_int_equal(parts.count, 2);
    assert_string_equal(parts.containers, "c0 c1 ");
    assert_string_equal(fixture->connected, "10-one ");
    plugin->tap = NULL;
    go_reader_fini(&tap);
}

/* ---- before anything else ---- */

static int look_at_pods(nri_request *request, struct rt_fixture *fixture)
{
    if (nri_request_event(request) == NRI_EVENT_SYNCHRONIZE) {
        assert_int_equal(fixture->current->configured, 1);
        assert_int_equal(nri_request_pod_count(request), 2);
        assert_string_equal(nri_pod_id(nri_request_pod_at(request, 0)), "p0");
        assert_string_equal(nri_pod_id(nri_request_pod_at(request, 1)), "p1");
    }
    return 0;
}

static void test_S22_each_plugin_is_told_the_node_before_any_event(void **state)
{
    struct rt_fixture *fixture = *state;
    static const enum nri_plugin_origin origins[] = {NRI_ORIGIN_LAUNCHED, NRI_ORIGIN_EXTERNAL};
    struct rt_plugin *plugins[2];

    add_pod(fixture, 1);
    add_pod(fixture, 1);
    rt_start(fixture);
    plugins[0] = rt_plugin_of(fixture, origins[0], "10", "one", REMOVE, look_at_pods);
    plugins[1] = rt_plugin_of(fixture, origins[1], "20", "two", REMOVE, look_at_pods);
    /* Of a pod sandbox from before the restart, while they come. */
    (void)rt_call(fixture, NRI_EVENT_REMOVE_POD_SANDBOX, fixture->pods[0], NULL);
    rt_settle(fixture);
    (void)rt_call(fixture, NRI_EVENT_REMOVE_POD_SANDBOX, fixture->pods[1], NULL);
    rt_settle(fixture);
    for (size_t i = 0; i < 2; i++)
        assert_string_equal(plugins[i]->seen, "Synchronize() RemovePodSandbox(p1) ");
}

/* ---- time ---- */

static int hold_sync(nri_request *request, struct rt_fixture *fixture)
{
    (void)fixture;
    return nri_request_event(request) == NRI_EVENT_SYNCHRONIZE ? NRI_PENDING : 0;
}

static struct rt_done *start_container(struct rt_fixture *fixture)
{
    add_pod(fixture, 1);
    add_container(fixture, 1);
    struct rt_done *done =
        rt_call(fixture, NRI_EVENT_START_CONTAINER, fixture->pods[0], fixture->containers[0]);
    rt_settle(fixture);
    return done;
}

/* 800 ms of 500 ms. */
static void test_S49_a_Synchronize_over_its_time_is_named(void **state)
{
    struct rt_fixture *fixture = *state;

    fixture->config.request_timeout = 500 * NRI_MSEC;
    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "slow", START, hold_sync);
    rt_settle(fixture);
    rt_pass(fixture, 490);
    assert_non_null(plugin->peer);
    rt_pass(fixture, 10);
    assert_null(plugin->peer);
    assert_contains(fixture->log_text,
                    "plugin 10-slow: connection closed: Synchronize, part 1 of 1: Synchronize: no "
                    "reply within 500 ms");
    rt_pass(fixture, 300);
    rt_release(plugin, 0); /* nobody listens */
    rt_settle(fixture);
    assert_string_equal(fixture->connected, "");
    assert_done(start_container(fixture), 0);
    assert_string_equal(plugin->seen, "Synchronize() ");
}

/* 800 ms of 2 s. */
static void test_S49_a_slow_Synchronize_in_time(void **state)
{
    struct rt_fixture *fixture = *state;

    rt_start(fixture);
    struct rt_plugin *plugin = rt_plugin(fixture, "10", "slow", START, hold_sync);
    rt_settle(fixture);
    rt_pass(fixture, 400);
    struct rt_done *early = start_container(fixture);
    rt_pass(fixture, 400);
    rt_release(plugin, 0);
    rt_settle(fixture);
    assert_done(early, 0);
    assert_done(start_container(fixture), 0);
    assert_string_equal(fixture->connected, "10-slow ");
    assert_string_equal(plugin->seen, "Synchronize() StartContainer(c0) StartContainer(c0) ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        rt_test(test_T01_a_node_larger_than_a_message),
        rt_test(test_T03_a_container_larger_than_a_message),
        rt_test(test_T03_two_that_fit_a_message_each),
        rt_test(test_S22_each_plugin_is_told_the_node_before_any_event),
        rt_test(test_S49_a_Synchronize_over_its_time_is_named),
        rt_test(test_S49_a_slow_Synchronize_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
