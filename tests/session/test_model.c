/* SPDX-License-Identifier: Apache-2.0 */
/* What a plugin reads of a request, from the bytes of the wire to the readers; and what a validator
 * is asked about. */
#include "session.h"

#include <stdlib.h>

#include "golden.h"
#include "golden_check.h"
#include "model/model.h"
#include "wire/message.h"

#define TYPE(name) (&nri__pkg__api__v1alpha1__##name##__descriptor)

static void start(struct session *s, int (*act)(struct recorder *, nri_request *))
{
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.act = act;
    s->recorder.count = 0;
}

/* The readers' objects are the decoded messages: these are their bytes. */
static void check_bytes(const void *decoded, const ProtobufCMessage *sent)
{
    struct nri_error error;
    size_t sent_size = 0, size = 0;
    assert_int_equal(nri_message_size(sent, &sent_size, &error), 0);
    assert_int_equal(nri_message_size(decoded, &size, &error), 0);
    assert_int_equal(size, sent_size);
    uint8_t *bytes = malloc(2 * size);
    assert_non_null(bytes);
    nri_message_encode(sent, bytes);
    nri_message_encode(decoded, bytes + size);
    const int difference = memcmp(bytes, bytes + size, size);
    free(bytes);
    assert_int_equal(difference, 0);
}

/* ---- S32: every field ---- */

struct golden {
    MESSAGE(PodSandbox) * pod;
    MESSAGE(Container) * container;
};

static struct golden make_golden(struct session *s)
{
    return (struct golden){golden_message(&s->fr.arena, TYPE(pod_sandbox), "pod"),
                           golden_message(&s->fr.arena, TYPE(container), "ctr")};
}

static int check_golden(struct recorder *recorder, nri_request *request)
{
    const struct golden *golden = recorder->data;
    const bool sync = nri_request_event(request) == NRI_EVENT_SYNCHRONIZE;
    const nri_pod *pod = sync ? nri_request_pod_at(request, 0) : nri_request_pod(request);
    const nri_container *container =
        sync ? nri_request_container_at(request, 0) : nri_request_container(request);
    golden_check_pod(pod, "pod");
    golden_check_container(container, "ctr");
    check_bytes(pod, &golden->pod->base);
    check_bytes(container, &golden->container->base);
    return 0;
}

static void test_S32_every_field_by_CreateContainer(void **state)
{
    struct session *s = *state;
    MESSAGE(CreateContainerRequest) message;
    start(s, check_golden);
    struct golden golden = make_golden(s);
    s->recorder.data = &golden;
    INIT(create_container_request)(&message);
    message.pod = golden.pod;
    message.container = golden.container;
    assert_success(fake_runtime_call(&s->fr, "CreateContainer", &message.base));
    assert_int_equal(s->recorder.count, 1);
}

static void test_S32_every_field_by_Synchronize(void **state)
{
    struct session *s = *state;
    MESSAGE(SynchronizeRequest) message;
    start(s, check_golden);
    struct golden golden = make_golden(s);
    s->recorder.data = &golden;
    INIT(synchronize_request)(&message);
    message.pods = &golden.pod;
    message.containers = &golden.container;
    message.n_pods = message.n_containers = 1;
    assert_success(fake_runtime_call(&s->fr, "Synchronize", &message.base));
    assert_int_equal(s->recorder.count, 1);
}

/* ---- S30: what is missing reads as "" ---- */

static int check_nameless(struct recorder *recorder, nri_request *request)
{
    const nri_pod *pod = nri_request_pod(request);
    const nri_container *container = nri_request_container(request);
    (void)recorder;
    assert_non_null(pod);
    assert_string_equal(nri_pod_name(pod), "");
    assert_string_equal(nri_pod_id(pod), "");
    assert_false(nri_resources_is_present(nri_pod_overhead(pod)));
    assert_int_equal(nri_pod_namespace_count(pod), 0);
    assert_string_equal(nri_container_id(container), "ctr0");
    assert_string_equal(nri_container_name(container), "");
    assert_string_equal(nri_container_pod_sandbox_id(container), "");
    return 0;
}

static void test_S30_no_name_and_no_pod(void **state)
{
    struct session *s = *state;
    MESSAGE(StateChangeEvent) message;
    MESSAGE(StopContainerRequest) stop;
    start(s, check_nameless);
    INIT(state_change_event)(&message);
    message.event = NRI__PKG__API__V1ALPHA1__EVENT__START_CONTAINER;
    message.container = fake_container(&s->fr, "ctr0", "", "");
    assert_success(fake_runtime_call(&s->fr, "StateChange", &message.base));
    INIT(stop_container_request)(&stop);
    stop.container = message.container;
    assert_success(fake_runtime_call(&s->fr, "StopContainer", &stop.base));
    assert_int_equal(s->recorder.count, 2);
}

/* ---- S33, S12, S48 ---- */

static int check_exit(struct recorder *recorder, nri_request *request)
{
    const nri_container *container = nri_request_container(request);
    (void)recorder;
    assert_int_equal(nri_container_exit_code(container), -1);
    assert_int_equal(nri_container_finished_at(container), 1);
    assert_int_equal(nri_container_pid(container), 0);
    return 0;
}

static void test_S33_exit_status_of_StopContainer(void **state)
{
    struct session *s = *state;
    MESSAGE(StopContainerRequest) message;
    start(s, check_exit);
    INIT(stop_container_request)(&message);
    message.container = fake_container(&s->fr, "ctr0", "pod0", "name");
    message.container->exit_code = -1;
    message.container->finished_at = 1;
    assert_success(fake_runtime_call(&s->fr, "StopContainer", &message.base));
    assert_int_equal(s->recorder.count, 1);
}

static void check_unified(const nri_resources *resources)
{
    const char *value = NULL;
    assert_int_equal(nri_resources_unified_count(resources), 2);
    assert_true(nri_resources_unified(resources, "memory.high", &value));
    assert_string_equal(value, "1");
    assert_true(nri_resources_unified(resources, "io.weight", &value));
    assert_string_equal(value, "2");
}

static int check_unified_and_classes(struct recorder *recorder, nri_request *request)
{
    const nri_resources *resources = nri_container_resources(nri_request_container(request));
    const char *name = NULL;
    (void)recorder;
    check_unified(resources);
    check_unified(nri_pod_pod_resources(nri_request_pod(request)));
    assert_true(nri_resources_blockio_class(resources, &name));
    assert_string_equal(name, "slow");
    assert_true(nri_resources_rdt_class(resources, &name));
    assert_string_equal(name, "gold");
    assert_int_equal(nri_resources_set_blockio_class(
                         nri_adjustment_edit_resources(nri_request_adjustment(request)), ""),
                     0);
    return 0;
}

static MESSAGE(LinuxResources) * make_resources(struct session *s)
{
    static const char *const pairs[][2] = {{"memory.high", "1"}, {"io.weight", "2"}};
    MESSAGE(LinuxResources) *resources = nri_arena_zero(&s->fr.arena, sizeof *resources);
    MESSAGE(LinuxResources__UnifiedEntry) *entries =
        nri_arena_zero(&s->fr.arena, sizeof *entries * 2);
    MESSAGE(OptionalString) *classes = nri_arena_zero(&s->fr.arena, sizeof *classes * 2);
    fake_require(resources != NULL && entries != NULL && classes != NULL);
    INIT(linux_resources)(resources);
    resources->unified = nri_arena_array(&s->fr.arena, 2, sizeof(void *));
    fake_require(resources->unified != NULL);
    for (size_t i = 0; i < 2; i++) {
        INIT(linux_resources__unified_entry)(&entries[i]);
        INIT(optional_string)(&classes[i]);
        entries[i].key = fake_text(&s->fr, pairs[i][0]);
        entries[i].value = fake_text(&s->fr, pairs[i][1]);
        resources->unified[i] = &entries[i];
    }
    resources->n_unified = 2;
    classes[0].value = fake_text(&s->fr, "slow");
    classes[1].value = fake_text(&s->fr, "gold");
    resources->blockio_class = &classes[0];
    resources->rdt_class = &classes[1];
    return resources;
}

static void test_S12_S48_unified_and_classes(void **state)
{
    struct session *s = *state;
    MESSAGE(CreateContainerRequest) message;
    MESSAGE(LinuxPodSandbox) pod_linux;
    MESSAGE(LinuxContainer) container_linux;
    start(s, check_unified_and_classes);
    INIT(create_container_request)(&message);
    INIT(linux_pod_sandbox)(&pod_linux);
    INIT(linux_container)(&container_linux);
    message.pod = fake_pod(&s->fr, "pod0", "pod");
    message.pod->linux = &pod_linux;
    pod_linux.pod_resources = make_resources(s);
    message.container = fake_container(&s->fr, "ctr0", "pod0", "name");
    message.container->linux = &container_linux;
    container_linux.resources = make_resources(s);
    const struct rpc_outcome *outcome = fake_runtime_call(&s->fr, "CreateContainer", &message.base);
    assert_success(outcome);
    /* What the plugin answers goes to a validator: present and empty, and absent. */
    const MESSAGE(CreateContainerResponse) *response =
        (const MESSAGE(CreateContainerResponse) *)outcome->message;
    nri_adjustment *view =
        nri_adjustment_view(&s->fr.arena, response->adjust, NRI_E_EVENT, "to be read");
    const nri_resources *resources = nri_adjustment_resources(view);
    const char *name = NULL;
    assert_true(nri_resources_blockio_class(resources, &name));
    assert_string_equal(name, "");
    assert_false(nri_resources_rdt_class(resources, &name));
    static const uint8_t wire[] = {0x22, 0x00};
    uint8_t bytes[sizeof wire];
    struct nri_error error;
    size_t size = 0;
    const ProtobufCMessage *sent = &response->adjust->linux->resources->base;
    assert_int_equal(nri_message_size(sent, &size, &error), 0);
    assert_int_equal(size, sizeof wire);
    nri_message_encode(sent, bytes);
    assert_memory_equal(bytes, wire, sizeof wire);
}

/* ---- ValidateContainerAdjustment ---- */

static int check_proposed(struct recorder *recorder, nri_request *request)
{
    const nri_updates *updates = nri_request_updates(request);
    (void)recorder;
    golden_check_adjustment(nri_request_adjustment(request), "adjust");
    assert_int_equal(nri_updates_count(updates), 2);
    golden_check_update(nri_updates_at(updates, 0), "update0");
    golden_check_update(nri_updates_at(updates, 1), "update1");
    assert_int_equal(nri_adjustment_error(nri_request_adjustment(request)), 0);
    return 0;
}

static struct rpc_outcome *validate_golden(struct session *s)
{
    MESSAGE(ValidateContainerAdjustmentRequest) message;
    MESSAGE(ContainerUpdate) *
        updates[] = {golden_message(&s->fr.arena, TYPE(container_update), "update0"),
                     golden_message(&s->fr.arena, TYPE(container_update), "update1")};
    INIT(validate_container_adjustment_request)(&message);
    message.adjust = golden_message(&s->fr.arena, TYPE(container_adjustment), "adjust");
    message.update = updates;
    message.n_update = 2;
    return fake_runtime_call(&s->fr, "ValidateContainerAdjustment", &message.base);
}

static void test_validator_reads_what_is_proposed(void **state)
{
    struct session *s = *state;
    start(s, check_proposed);
    const struct rpc_outcome *outcome = validate_golden(s);
    assert_success(outcome);
    assert_int_equal(s->recorder.count, 1);
    assert_false(((const MESSAGE(ValidateContainerAdjustmentResponse) *)outcome->message)->reject);
}

static int check_nothing_proposed(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    assert_non_null(nri_request_adjustment(request));
    assert_true(nri_adjustment_is_empty(nri_request_adjustment(request)));
    assert_int_equal(nri_adjustment_env_count(nri_request_adjustment(request)), 0);
    assert_non_null(nri_request_updates(request));
    assert_int_equal(nri_updates_count(nri_request_updates(request)), 0);
    return 0;
}

static void test_validator_of_nothing(void **state)
{
    struct session *s = *state;
    start(s, check_nothing_proposed);
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT));
    assert_int_equal(s->recorder.count, 1);
}

static int change_proposed(struct recorder *recorder, nri_request *request)
{
    nri_adjustment *adjustment = nri_request_adjustment(request);
    nri_updates *updates = nri_request_updates(request);
    (void)recorder;
    assert_int_equal(nri_adjustment_add_env(adjustment, "A", "1"), NRI_E_EVENT);
    assert_int_equal(nri_adjustment_remove_device(adjustment, "/dev/null"), NRI_E_EVENT);
    assert_null(nri_adjustment_edit_resources(adjustment));
    assert_int_equal(nri_updates_evict(updates, "c", NULL), NRI_E_EVENT);
    assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, "c"), 2),
                     NRI_E_EVENT);
    golden_check_adjustment(adjustment, "adjust");
    assert_int_equal(nri_updates_count(updates), 2);
    return 0;
}

static void test_validator_that_changes_what_is_proposed(void **state)
{
    struct session *s = *state;
    start(s, change_proposed);
    const struct rpc_outcome *outcome = validate_golden(s);
    assert_success(outcome);
    const MESSAGE(ValidateContainerAdjustmentResponse) *response =
        (const MESSAGE(ValidateContainerAdjustmentResponse) *)outcome->message;
    assert_true(response->reject); /* a failed call sticks */
    assert_contains(response->reason, "what is validated can be read but not changed");
}

/* What is proposed is readable after the answer, as all of a kept request is. */
static void test_validator_keeps_the_request(void **state)
{
    struct session *s = *state;
    start(s, NULL);
    s->recorder.result = NRI_PENDING;
    const struct rpc_outcome *outcome = validate_golden(s);
    nri_request *request = s->recorder.held[0];
    assert_int_equal(nri_request_complete(request, 0), 0);
    fake_runtime_run(&s->fr);
    assert_success(outcome);
    golden_check_adjustment(nri_request_adjustment(request), "adjust");
    golden_check_update(nri_updates_at(nri_request_updates(request), 1), "update1");
    nri_request_unref(request);
}

static int check_not_proposed(struct recorder *recorder, nri_request *request)
{
    nri_adjustment *adjustment = nri_request_adjustment(request);
    (void)recorder;
    assert_true(nri_adjustment_is_empty(adjustment));
    assert_int_equal(nri_updates_count(nri_request_updates(request)), 0);
    if (nri_request_event(request) == NRI_EVENT_CREATE_CONTAINER) {
        assert_int_equal(nri_adjustment_remove_env(adjustment, "A"), 0);
        assert_int_equal(nri_adjustment_env_count(adjustment), 1);
    }
    return 0;
}

static void test_other_events_have_an_empty_adjustment(void **state)
{
    struct session *s = *state;
    start(s, check_not_proposed);
    for (int event = 1; event <= 14; event++)
        assert_success(fake_runtime_event(&s->fr, (enum nri_event)event));
    assert_int_equal(s->recorder.count, 14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_S32_every_field_by_CreateContainer),
        session_test(test_S32_every_field_by_Synchronize),
        session_test(test_S30_no_name_and_no_pod),
        session_test(test_S33_exit_status_of_StopContainer),
        session_test(test_S12_S48_unified_and_classes),
        session_test(test_validator_reads_what_is_proposed),
        session_test(test_validator_of_nothing),
        session_test(test_validator_that_changes_what_is_proposed),
        session_test(test_validator_keeps_the_request),
        session_test(test_other_events_have_an_empty_adjustment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
