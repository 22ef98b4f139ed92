/* SPDX-License-Identifier: Apache-2.0 */
/* Configure: the event mask, narrowing it, clipping it, and refusing. */
#include "session.h"

static int32_t mask_of(const struct rpc_outcome *outcome)
{
    assert_success(outcome);
    return ((const MESSAGE(ConfigureResponse) *)outcome->message)->events;
}

/* Connects, and returns the outcome of Configure. */
static struct rpc_outcome *configure(struct session *s)
{
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    return fake_runtime_configure(&s->fr);
}

static uint64_t count(const struct session *s, enum nri_event_counter counter)
{
    return nri_core_count_event(s->fr.core, NRI_EVENT_CONFIGURE, counter);
}

static void check_end(struct session *s, int code, const char *part)
{
    struct nri_error error;
    assert_true(nri_core_should_close(s->fr.core));
    assert_int_equal(nri_core_close_reason(s->fr.core, &error), code);
    assert_contains(error.text, part);
}

static void test_mask_is_derived(void **state)
{
    struct session *s = *state;
    s->fr.ops.on_run_pod_sandbox = recorder_handler;
    s->fr.ops.on_create_container = recorder_handler;
    s->fr.ops.on_validate_adjustment = recorder_handler;
    assert_int_equal(mask_of(configure(s)), 0x2009);
    assert_int_equal(nri_core_events(s->fr.core), 0x2009);
}

static void test_mask_of_everything(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    assert_int_equal(mask_of(configure(s)), NRI_EVENTS_ALL);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CONFIGURE), 1);
}

static int narrow(struct recorder *recorder, nri_request *request)
{
    if (nri_request_event(request) != NRI_EVENT_CONFIGURE)
        return 0;
    return nri_request_set_events(request, *(const uint32_t *)recorder->data);
}

static void test_narrowed(void **state)
{
    struct session *s = *state;
    uint32_t mask = nri_event_bit(NRI_EVENT_CREATE_CONTAINER);
    recorder_all(&s->fr.ops);
    s->recorder.act = narrow;
    s->recorder.data = &mask;
    assert_int_equal(mask_of(configure(s)), mask);
    assert_int_equal(nri_core_events(s->fr.core), mask);
    /* What was narrowed away does not come, whatever the runtime sends. */
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_STOP_CONTAINER));
    assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_STOP_CONTAINER), 0);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CREATE_CONTAINER), 1);
    /* Narrowing is for one connection. */
    fake_runtime_disconnect(&s->fr, 0, "");
    s->recorder.act = NULL;
    assert_int_equal(mask_of(configure(s)), NRI_EVENTS_ALL);
}

static void test_S29_event_without_handler(void **state)
{
    struct session *s = *state;
    uint32_t mask =
        nri_event_bit(NRI_EVENT_RUN_POD_SANDBOX) | nri_event_bit(NRI_EVENT_STOP_POD_SANDBOX);
    recorder_own(&s->fr.ops);
    s->fr.ops.on_configure = recorder_handler;
    s->fr.ops.on_run_pod_sandbox = recorder_handler;
    s->recorder.act = narrow;
    s->recorder.data = &mask;
    const struct rpc_outcome *outcome = configure(s);
    assert_refusal(outcome, NRI_GRPC_INVALID_ARGUMENT, "StopPodSandbox");
    assert_null(strstr(outcome->text, "RunPodSandbox"));
    check_end(s, NRI_E_REJECTED, "StopPodSandbox");
    assert_int_not_equal(nri_core_state(s->fr.core), NRI_PLUGIN_READY);
}

static int narrow_and_return_0(struct recorder *recorder, nri_request *request)
{
    (void)narrow(recorder, request);
    return 0;
}

static void test_S29_sticks_though_0_is_returned(void **state)
{
    struct session *s = *state;
    uint32_t mask = nri_event_bit(NRI_EVENT_STOP_POD_SANDBOX);
    s->fr.ops.on_configure = recorder_handler;
    s->fr.ops.on_run_pod_sandbox = recorder_handler;
    s->recorder.act = narrow_and_return_0;
    s->recorder.data = &mask;
    assert_refusal(configure(s), NRI_GRPC_INVALID_ARGUMENT, "StopPodSandbox");
}

static void test_narrowed_to_nothing(void **state)
{
    struct session *s = *state;
    uint32_t mask = 0;
    recorder_all(&s->fr.ops);
    s->recorder.act = narrow_and_return_0;
    s->recorder.data = &mask;
    assert_refusal(configure(s), NRI_GRPC_INVALID_ARGUMENT, "0 means all");
    check_end(s, NRI_E_REJECTED, "0 means all");
}

static int set_events_in_create(struct recorder *recorder, nri_request *request)
{
    if (nri_request_event(request) == NRI_EVENT_CREATE_CONTAINER)
        *(int *)recorder->data = nri_request_set_events(request, 1);
    return 0;
}

static void test_set_events_elsewhere(void **state)
{
    struct session *s = *state;
    int code = 0;
    recorder_all(&s->fr.ops);
    s->recorder.act = set_events_in_create;
    s->recorder.data = &code;
    fake_runtime_start(&s->fr);
    assert_refusal(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER),
                   NRI_GRPC_FAILED_PRECONDITION, "on_configure");
    assert_int_equal(code, NRI_E_EVENT);
}

static void test_clipped_to_what_is_told(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    s->fr.ops.on_validate_adjustment = NULL;
    s->fr.nri_version = "v0.9.0";
    assert_int_equal(mask_of(configure(s)), NRI_EVENTS_CLASSIC);
    assert_int_equal(nri_core_events(s->fr.core), NRI_EVENTS_CLASSIC);
    const struct fake_record *record = fake_runtime_find_record(&s->fr, "does not know");
    assert_non_null(record);
    assert_int_equal(record->level, NRI_LOG_WARN);
    assert_contains(record->text, "UpdatePodSandbox,PostUpdatePodSandbox");
    assert_null(strstr(record->text, "RunPodSandbox"));
}

static void test_clipped_to_what_is_inferred(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    s->fr.ops.on_validate_adjustment = NULL;
    s->fr.nri_version = "";
    s->fr.version = "2.1.9+unknown";
    assert_int_equal(mask_of(configure(s)), NRI_EVENTS_CLASSIC);
    fake_runtime_disconnect(&s->fr, 0, "");
    s->fr.version = "2.2.0";
    assert_int_equal(mask_of(configure(s)),
                     NRI_EVENTS_ALL & ~nri_event_bit(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT));
}

static void test_unknown_version_gets_the_classic_events(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    s->fr.ops.on_validate_adjustment = NULL;
    s->fr.name = "another";
    s->fr.nri_version = "";
    assert_int_equal(mask_of(configure(s)), NRI_EVENTS_CLASSIC);
}

static void test_nothing_clipped_nothing_said(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    assert_int_equal(mask_of(configure(s)), NRI_EVENTS_ALL);
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), 0);
}

static void test_clipped_validate_fails(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    s->fr.nri_version = "v0.9.0";
    assert_refusal(configure(s), NRI_GRPC_UNKNOWN, "ValidateContainerAdjustment");
    check_end(s, NRI_E_UNSUPPORTED, "ValidateContainerAdjustment");
    /* Its handler succeeded, and the library refused. */
    assert_int_equal(count(s, NRI_COUNT_REPLIES), 0);
    assert_int_equal(count(s, NRI_COUNT_REFUSED), 0);
    assert_int_equal(count(s, NRI_COUNT_ERRORS), 1);
}

static void test_clipped_validate_allowed(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    s->fr.nri_version = "v0.9.0";
    s->fr.config.allow_missing_validate = true;
    assert_int_equal(mask_of(configure(s)), NRI_EVENTS_CLASSIC);
    assert_non_null(fake_runtime_find_record(&s->fr, "ValidateContainerAdjustment"));
}

static void test_clipped_to_nothing_fails(void **state)
{
    struct session *s = *state;
    s->fr.ops.on_update_pod_sandbox = recorder_handler;
    s->fr.nri_version = "v0.9.0";
    assert_refusal(configure(s), NRI_GRPC_UNKNOWN, "UpdatePodSandbox");
    check_end(s, NRI_E_UNSUPPORTED, "UpdatePodSandbox");
}

static int refuse(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    return nri_request_fail(request, NRI_E_SYNTAX, "line 3: no such colour");
}

static void test_on_configure_refuses(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    s->recorder.act = refuse;
    assert_refusal(configure(s), NRI_GRPC_INVALID_ARGUMENT, "line 3: no such colour");
    check_end(s, NRI_E_REJECTED, "line 3: no such colour");
}

/* The reply stands in the output before the driver hears that it is to close. */
static void test_refusal_goes_out_before_the_close(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    s->recorder.result = NRI_PENDING;
    const struct rpc_outcome *outcome = configure(s);
    assert_int_equal(outcome->count, 0);
    (void)nri_request_fail(s->recorder.held[0], NRI_E_REJECTED, "later");
    assert_int_equal(nri_request_complete(s->recorder.held[0], 0), 0);
    nri_core_drain(s->fr.core, s->fr.now);
    assert_true(nri_core_should_close(s->fr.core));
    const uint8_t *bytes;
    size_t count;
    nri_core_output(s->fr.core, &bytes, &count);
    assert_true(count > 0);
    fake_runtime_run(&s->fr);
    assert_refusal(outcome, NRI_GRPC_UNKNOWN, "later");
    s->recorder.held[0] = nri_request_unref(s->recorder.held[0]);
}

static void test_pending_on_configure(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    s->recorder.result = NRI_PENDING;
    const struct rpc_outcome *outcome = configure(s);
    assert_int_equal(outcome->count, 0);
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_REGISTERING);
    assert_int_equal(nri_request_set_events(s->recorder.held[0], 1), 0);
    assert_int_equal(nri_request_complete(s->recorder.held[0], 0), 0);
    s->recorder.held[0] = nri_request_unref(s->recorder.held[0]);
    fake_runtime_run(&s->fr);
    assert_int_equal(mask_of(outcome), 1);
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_READY);
}

static int read_config(struct recorder *recorder, nri_request *request)
{
    const char **texts = recorder->data;
    texts[nri_request_event(request) == NRI_EVENT_CONFIGURE ? 0 : 1] = nri_request_config(request);
    return NRI_PENDING;
}

static void test_config_text(void **state)
{
    struct session *s = *state;
    const char *texts[2] = {NULL, NULL};
    s->fr.ops.on_configure = recorder_handler;
    s->fr.ops.on_create_container = recorder_handler;
    s->fr.config_text = "colour: \xc3\xa9\n";
    s->recorder.act = read_config;
    s->recorder.data = texts;
    (void)configure(s);
    (void)fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER);
    assert_string_equal(texts[0], "colour: \xc3\xa9\n");
    assert_int_equal(nri_text_length(texts[0]), 11);
    assert_string_equal(texts[1], "");
    for (size_t i = 0; i < s->recorder.held_count; i++)
        nri_request_unref(s->recorder.held[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_mask_is_derived),
        session_test(test_mask_of_everything),
        session_test(test_narrowed),
        session_test(test_S29_event_without_handler),
        session_test(test_S29_sticks_though_0_is_returned),
        session_test(test_narrowed_to_nothing),
        session_test(test_set_events_elsewhere),
        session_test(test_clipped_to_what_is_told),
        session_test(test_clipped_to_what_is_inferred),
        session_test(test_unknown_version_gets_the_classic_events),
        session_test(test_nothing_clipped_nothing_said),
        session_test(test_clipped_validate_fails),
        session_test(test_clipped_validate_allowed),
        session_test(test_clipped_to_nothing_fails),
        session_test(test_on_configure_refuses),
        session_test(test_refusal_goes_out_before_the_close),
        session_test(test_pending_on_configure),
        session_test(test_config_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
