/* SPDX-License-Identifier: Apache-2.0 */
/* Events: each reaches its handler once, by either way, with what it carries. */
#include "session.h"

#include "plugin/method.h"

#include <stdio.h>

static void test_methods_match_the_service(void **state)
{
    (void)state;
    const ProtobufCServiceDescriptor *service = &nri__pkg__api__v1alpha1__plugin__descriptor;
    assert_int_equal(service->n_methods, NRI_METHOD_COUNT);
    for (unsigned i = 0; i < service->n_methods; i++)
        assert_string_equal(service->methods[i].name, nri_methods[i].name);
    assert_string_equal(service->methods[NRI_METHOD_CONFIGURE].name, "Configure");
    assert_string_equal(service->methods[NRI_METHOD_SYNCHRONIZE].name, "Synchronize");
    assert_string_equal(service->methods[NRI_METHOD_STATE_CHANGE].name, "StateChange");
    /* Runtime's, which register.c and update.c call by their place. */
    const ProtobufCServiceDescriptor *runtime = &nri__pkg__api__v1alpha1__runtime__descriptor;
    assert_string_equal(runtime->methods[0].name, "RegisterPlugin");
    assert_string_equal(runtime->methods[1].name, "UpdateContainers");
}

static bool has_container(enum nri_event event)
{
    return strstr(nri_event_name(event), "Container") != NULL;
}

static void test_each_event_by_its_own_method(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    for (int event = 1; event <= 14; event++) {
        s->recorder.count = 0;
        assert_success(fake_runtime_event(&s->fr, (enum nri_event)event));
        assert_int_equal(s->recorder.count, 1);
        assert_int_equal(s->recorder.entries[0].event, event);
        assert_string_equal(s->recorder.entries[0].pod, "pod0");
        assert_string_equal(s->recorder.entries[0].container,
                            has_container((enum nri_event)event) ? "ctr0" : "");
    }
}

/* Each event reaches the handler that is named after it, and no other. */
static int number_of_handler(nri_request *request, void *user)
{
    struct recorder *recorder = user;
    recorder->count++;
    recorder->reason = nri_request_event(request) == (enum nri_event)recorder->result;
    return 0;
}

static void test_each_handler_alone(void **state)
{
    struct session *s = *state;
    for (size_t i = 0; i < NRI_METHOD_COUNT; i++) {
        const enum nri_event event = nri_methods[i].event;
        if (nri_event_bit(event) == 0)
            continue;
        nri_handler handler = number_of_handler;
        memset((char *)&s->fr.ops + sizeof(size_t), 0, sizeof s->fr.ops - sizeof(size_t));
        memcpy((char *)&s->fr.ops + nri_methods[i].handler, &handler, sizeof handler);
        fake_runtime_start(&s->fr);
        s->recorder.result = (int)event;
        s->recorder.count = 0;
        for (int other = 1; other <= 14; other++) {
            assert_success(fake_runtime_event(&s->fr, (enum nri_event)other));
            assert_success(fake_runtime_state_change(&s->fr, 100));
        }
        assert_int_equal(s->recorder.count, 1);
        assert_true(s->recorder.reason);
        fake_runtime_disconnect(&s->fr, 0, "");
        nri_core_free(s->fr.core);
        s->fr.core = NULL;
    }
}

static void test_S26_state_change(void **state)
{
    static const int events[] = {1, 2, 3, 5, 6, 7, 9, 11, 13};
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        s->recorder.count = 0;
        assert_success(fake_runtime_state_change(&s->fr, events[i]));
        assert_int_equal(s->recorder.count, 1);
        assert_int_equal(s->recorder.entries[0].event, events[i]);
        assert_string_equal(s->recorder.entries[0].pod, "pod0");
        assert_string_equal(s->recorder.entries[0].container, "ctr0");
    }
}

static void test_S26_state_change_without_a_meaning(void **state)
{
    static const int events[] = {0, 4, 8, 10, 12, 14};
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.count = 0;
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        assert_success(fake_runtime_state_change(&s->fr, events[i]));
    assert_int_equal(s->recorder.count, 0);
}

/* An old runtime, whose version nobody knows: what it sends still comes. */
static void test_S26_unknown_version(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    s->fr.ops.on_validate_adjustment = NULL;
    s->fr.name = "old";
    s->fr.nri_version = "";
    fake_runtime_start(&s->fr);
    s->recorder.count = 0;
    for (int event = 1; event <= 13; event++)
        assert_success(fake_runtime_state_change(&s->fr, event));
    assert_int_equal(s->recorder.count, 9);
}

static void test_T52_unknown_state_changes(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.count = 0;
    assert_success(fake_runtime_state_change(&s->fr, 15));
    assert_success(fake_runtime_state_change(&s->fr, 200));
    assert_success(fake_runtime_state_change(&s->fr, -1));
    assert_int_equal(s->recorder.count, 0);
}

static int keep_state(struct recorder *recorder, nri_request *request)
{
    *(int *)recorder->data = nri_container_get_state(nri_request_container(request));
    return 0;
}

static void test_T52_unknown_enum_value(void **state)
{
    struct session *s = *state;
    int seen = 0;
    MESSAGE(StartContainerRequest) message;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.act = keep_state;
    s->recorder.data = &seen;
    INIT(start_container_request)(&message);
    message.container = fake_container(&s->fr, "ctr0", "pod0", "c");
    message.container->state = (MESSAGE(ContainerState))99;
    assert_success(fake_runtime_call(&s->fr, "StartContainer", &message.base));
    assert_int_equal(seen, 99);
}

/* Every method of the service but Configure, with the one handler that is not asked for. */
static void test_T42_no_handler(void **state)
{
    struct session *s = *state;
    const ProtobufCServiceDescriptor *service = &nri__pkg__api__v1alpha1__plugin__descriptor;
    s->fr.ops.on_create_container = recorder_handler;
    fake_runtime_start(&s->fr);
    for (unsigned i = 1; i < service->n_methods; i++) {
        const ProtobufCMessageDescriptor *type = service->methods[i].input;
        union {
            ProtobufCMessage base;
            MESSAGE(ValidateContainerAdjustmentRequest) largest;
        } message;
        assert_true(type->sizeof_message <= sizeof message);
        protobuf_c_message_init(type, &message.base);
        const struct rpc_outcome *outcome =
            fake_runtime_call(&s->fr, service->methods[i].name, &message.base);
        assert_success(outcome);
        assert_int_equal(protobuf_c_message_get_packed_size(outcome->message), 0);
    }
    assert_int_equal(s->recorder.count, 1); /* CreateContainer */
}

static void test_T42_synchronize_echoes_more(void **state)
{
    struct session *s = *state;
    s->fr.ops.on_create_container = recorder_handler;
    fake_runtime_start(&s->fr);
    for (int more = 0; more < 2; more++) {
        const struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 0, 1, 0, 1, more == 1);
        assert_success(outcome);
        const MESSAGE(SynchronizeResponse) *response =
            (const MESSAGE(SynchronizeResponse) *)outcome->message;
        assert_int_equal(response->more, more);
        assert_int_equal(response->n_update, 0);
    }
}

static void test_S30_missing_pod_and_names(void **state)
{
    struct session *s = *state;
    MESSAGE(CreateContainerRequest) message;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.result = NRI_PENDING;
    INIT(create_container_request)(&message);
    (void)fake_runtime_call(&s->fr, "CreateContainer", &message.base);
    nri_request *request = s->recorder.held[0];
    assert_string_equal(nri_pod_id(nri_request_pod(request)), "");
    assert_string_equal(nri_pod_name(nri_request_pod(request)), "");
    assert_int_equal(nri_pod_label_count(nri_request_pod(request)), 0);
    assert_string_equal(nri_container_name(nri_request_container(request)), "");
    assert_int_equal(nri_text_length(nri_container_name(nri_request_container(request))), 0);
    assert_false(nri_container_label(nri_request_container(request), "a", NULL));
    assert_int_equal(nri_request_complete(request, 0), 0);
    nri_request_unref(request);
}

/* Readers of what the event has not. */
static void test_readers_give_empties(void **state)
{
    struct session *s = *state;
    const char *a = "x", *b = "x";
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.result = NRI_PENDING;
    (void)fake_runtime_event(&s->fr, NRI_EVENT_RUN_POD_SANDBOX);
    nri_request *request = s->recorder.held[0];
    assert_string_equal(nri_container_id(nri_request_container(request)), "");
    assert_non_null(nri_request_resources(request));
    assert_non_null(nri_request_overhead(request));
    assert_int_equal(nri_request_pod_count(request), 0);
    assert_string_equal(nri_pod_id(nri_request_pod_at(request, 0)), "");
    assert_string_equal(nri_container_id(nri_request_container_at(request, 7)), "");
    assert_false(nri_request_more(request));
    assert_string_equal(nri_request_config(request), "");
    assert_int_equal(nri_request_metadata_count(request), 0);
    assert_false(nri_request_metadata_at(request, 0, &a, &b));
    assert_string_equal(a, "");
    assert_string_equal(b, "");
    assert_int_equal(nri_request_plugin_count(request), 0);
    assert_false(nri_request_plugin_at(request, 0, &a, &b));
    assert_false(nri_request_owner(request, "ctr0", 6, &a));
    assert_string_equal(a, "");
    assert_false(nri_request_key_owner(request, "ctr0", 6, "A", NULL));
    assert_int_equal(nri_request_reason(request), 0);
    assert_string_equal(nri_request_reason_text(request), "");
    assert_int_equal(nri_adjustment_add_env(nri_request_adjustment(request), "A", "1"),
                     NRI_E_EVENT);
    assert_int_equal(
        nri_update_set_cpu_shares(nri_updates_container(nri_request_updates(request), "ctr0"), 5),
        NRI_E_EVENT);
    nri_request_unref(request);
}

static void test_metadata(void **state)
{
    static const char *const pairs[] = {
        "containerd-namespace-ttrpc", "k8s.io", "Trace", "a", "trace", "b"};
    struct session *s = *state;
    const char *key, *value;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->fr.metadata = pairs;
    s->fr.metadata_count = 3;
    s->recorder.result = NRI_PENDING;
    (void)fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER);
    nri_request *request = s->recorder.held[0];
    assert_int_equal(nri_request_metadata_count(request), 3);
    assert_true(nri_request_metadata_at(request, 2, &key, &value));
    assert_string_equal(key, "trace");
    assert_string_equal(value, "b");
    assert_int_equal(nri_text_length(value), 1);
    assert_true(nri_request_metadata(request, "TRACE", &value));
    assert_string_equal(value, "a");
    assert_true(nri_request_metadata(request, "containerd-namespace-ttrpc", NULL));
    assert_false(nri_request_metadata(request, "trac", &value));
    assert_string_equal(value, "");
    nri_request_unref(request);
}

static void test_T44_deadline_of_the_call(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.result = NRI_PENDING;
    s->fr.call_timeout = (int64_t)(2 * NRI_SEC);
    (void)fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER);
    nri_request *request = s->recorder.held[0];
    assert_int_equal(nri_request_deadline(request), s->fr.now + 2 * NRI_SEC);
    assert_int_equal(nri_request_time_left(request), 2 * NRI_SEC);
    s->fr.now += 500 * NRI_MSEC;
    assert_int_equal(nri_request_time_left(request), 1500 * NRI_MSEC);
    s->fr.now += 1500 * NRI_MSEC;
    assert_int_equal(nri_request_time_left(request), 0);
    s->fr.now += NRI_SEC;
    assert_int_equal(nri_request_time_left(request), 0);
    assert_false(nri_request_deadline_is_assumed(request));
    nri_request_unref(request);
}

static void test_T44_deadline_of_configure(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    s->fr.request_timeout = 700;
    fake_runtime_start(&s->fr);
    s->recorder.result = NRI_PENDING;
    (void)fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER);
    nri_request *request = s->recorder.held[0];
    assert_int_equal(nri_request_time_left(request), 700 * NRI_MSEC);
    assert_false(nri_request_deadline_is_assumed(request));
    nri_request_unref(request);
}

static void test_T44_deadline_assumed(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.result = NRI_PENDING;
    (void)fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER);
    nri_request *request = s->recorder.held[0];
    assert_int_equal(nri_request_time_left(request), 2 * NRI_SEC);
    assert_true(nri_request_deadline_is_assumed(request));
    nri_request_unref(request);
}

static MESSAGE(LinuxResources) * shares(struct session *s, uint64_t value)
{
    MESSAGE(LinuxResources) *resources = nri_arena_zero(&s->fr.arena, sizeof *resources);
    MESSAGE(LinuxCPU) *cpu = nri_arena_zero(&s->fr.arena, sizeof *cpu);
    MESSAGE(OptionalUInt64) *shares = nri_arena_zero(&s->fr.arena, sizeof *shares);
    fake_require(resources != NULL && cpu != NULL && shares != NULL);
    INIT(linux_resources)(resources);
    INIT(linux_cpu)(cpu);
    INIT(optional_uint64)(shares);
    shares->value = value;
    cpu->shares = shares;
    resources->cpu = cpu;
    return resources;
}

static void test_resources_of_updates(void **state)
{
    struct session *s = *state;
    MESSAGE(UpdatePodSandboxRequest) pod;
    MESSAGE(UpdateContainerRequest) container;
    uint64_t value = 0;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.result = NRI_PENDING;
    INIT(update_pod_sandbox_request)(&pod);
    pod.pod = fake_pod(&s->fr, "pod0", "p");
    pod.overhead_linux_resources = shares(s, 11);
    pod.linux_resources = shares(s, 22);
    INIT(update_container_request)(&container);
    container.container = fake_container(&s->fr, "ctr0", "pod0", "c");
    container.linux_resources = shares(s, 33);
    (void)fake_runtime_call(&s->fr, "UpdatePodSandbox", &pod.base);
    (void)fake_runtime_call(&s->fr, "UpdateContainer", &container.base);
    nri_request **held = s->recorder.held;
    assert_true(nri_resources_cpu_shares(nri_request_overhead(held[0]), &value));
    assert_int_equal(value, 11);
    assert_true(nri_resources_cpu_shares(nri_request_resources(held[0]), &value));
    assert_int_equal(value, 22);
    assert_true(nri_resources_cpu_shares(nri_request_resources(held[1]), &value));
    assert_int_equal(value, 33);
    assert_false(nri_resources_cpu_shares(nri_request_overhead(held[1]), &value));
    nri_request_unref(held[0]);
    nri_request_unref(held[1]);
}

/* ---- ValidateContainerAdjustment ---- */

#define ALLOCATE(s, pointer)                                                                       \
    do {                                                                                           \
        (pointer) = nri_arena_zero(&(s)->fr.arena, sizeof *(pointer));                             \
        fake_require((pointer) != NULL);                                                           \
    } while (0)
#define LIST_OF_ONE(s, list, count, item)                                                          \
    do {                                                                                           \
        ALLOCATE(s, list);                                                                         \
        (list)[0] = (item);                                                                        \
        (count) = 1;                                                                               \
    } while (0)

static MESSAGE(OwningPlugins) * make_owners(struct session *s)
{
    MESSAGE(CompoundFieldOwners__OwnersEntry) * key;
    MESSAGE(CompoundFieldOwners) * keys;
    MESSAGE(FieldOwners__CompoundEntry) * compound;
    MESSAGE(FieldOwners__SimpleEntry) * simple;
    MESSAGE(FieldOwners) * fields;
    MESSAGE(OwningPlugins__OwnersEntry) * container;
    MESSAGE(OwningPlugins) * owners;

    ALLOCATE(s, key);
    INIT(compound_field_owners__owners_entry)(key);
    key->key = fake_text(&s->fr, "PATH");
    key->value = fake_text(&s->fr, "20-bar");
    ALLOCATE(s, keys);
    INIT(compound_field_owners)(keys);
    LIST_OF_ONE(s, keys->owners, keys->n_owners, key);
    ALLOCATE(s, compound);
    INIT(field_owners__compound_entry)(compound);
    compound->key = 6;
    compound->value = keys;
    ALLOCATE(s, simple);
    INIT(field_owners__simple_entry)(simple);
    simple->key = 7;
    simple->value = fake_text(&s->fr, "10-foo");
    ALLOCATE(s, fields);
    INIT(field_owners)(fields);
    LIST_OF_ONE(s, fields->simple, fields->n_simple, simple);
    LIST_OF_ONE(s, fields->compound, fields->n_compound, compound);
    ALLOCATE(s, container);
    INIT(owning_plugins__owners_entry)(container);
    container->key = fake_text(&s->fr, "ctr0");
    container->value = fields;
    ALLOCATE(s, owners);
    INIT(owning_plugins)(owners);
    LIST_OF_ONE(s, owners->owners, owners->n_owners, container);
    return owners;
}

static void test_validate_owners_and_plugins(void **state)
{
    struct session *s = *state;
    MESSAGE(ValidateContainerAdjustmentRequest) message;
    MESSAGE(PluginInstance) * plugin;
    const char *a, *b;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.result = NRI_PENDING;
    INIT(validate_container_adjustment_request)(&message);
    message.owners = make_owners(s);
    ALLOCATE(s, plugin);
    INIT(plugin_instance)(plugin);
    plugin->name = fake_text(&s->fr, "foo");
    plugin->index = fake_text(&s->fr, "10");
    LIST_OF_ONE(s, message.plugins, message.n_plugins, plugin);
    (void)fake_runtime_call(&s->fr, "ValidateContainerAdjustment", &message.base);
    nri_request *request = s->recorder.held[0];
    assert_int_equal(nri_request_plugin_count(request), 1);
    assert_true(nri_request_plugin_at(request, 0, &a, &b));
    assert_string_equal(a, "foo");
    assert_string_equal(b, "10");
    assert_false(nri_request_plugin_at(request, 1, NULL, NULL));
    assert_true(nri_request_owner(request, "ctr0", 7, &a));
    assert_string_equal(a, "10-foo");
    assert_true(nri_request_owner(request, "ctr0", 7, NULL));
    assert_false(nri_request_owner(request, "ctr0", 6, &a));
    assert_string_equal(a, "");
    assert_false(nri_request_owner(request, "ctr", 7, &a));
    assert_true(nri_request_key_owner(request, "ctr0", 6, "PATH", &a));
    assert_string_equal(a, "20-bar");
    assert_false(nri_request_key_owner(request, "ctr0", 6, "PAT", &a));
    assert_false(nri_request_key_owner(request, "ctr0", 7, "PATH", &a));
    assert_int_equal(nri_request_complete(request, 0), 0);
    nri_request_unref(request);
}

static void test_log_names_event_pod_and_container(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_START_CONTAINER));
    const struct fake_record *record = fake_runtime_find_record(&s->fr, "StartContainer received");
    assert_non_null(record);
    assert_int_equal(record->level, NRI_LOG_DEBUG);
    assert_string_equal(record->event, "StartContainer");
    assert_string_equal(record->pod, "pod0");
    assert_string_equal(record->container, "ctr0");
}

/* containerd 1.7 never synchronises a plugin that it started itself. */
static void test_events_without_any_synchronize(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_RUN_POD_SANDBOX));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_SYNCHRONIZE), 0);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_RUN_POD_SANDBOX), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_methods_match_the_service),
        session_test(test_each_event_by_its_own_method),
        session_test(test_each_handler_alone),
        session_test(test_S26_state_change),
        session_test(test_S26_state_change_without_a_meaning),
        session_test(test_S26_unknown_version),
        session_test(test_T52_unknown_state_changes),
        session_test(test_T52_unknown_enum_value),
        session_test(test_T42_no_handler),
        session_test(test_T42_synchronize_echoes_more),
        session_test(test_S30_missing_pod_and_names),
        session_test(test_readers_give_empties),
        session_test(test_metadata),
        session_test(test_T44_deadline_of_the_call),
        session_test(test_T44_deadline_of_configure),
        session_test(test_T44_deadline_assumed),
        session_test(test_resources_of_updates),
        session_test(test_validate_owners_and_plugins),
        session_test(test_log_names_event_pod_and_container),
        session_test(test_events_without_any_synchronize),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
