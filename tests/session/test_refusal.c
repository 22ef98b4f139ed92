/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whose a refusal is: runtimes add no plugin's name, so texts of the library's own begin with it,
 * and those of the plugin's author are left as they are.
 */
#include "session.h"

#include <stdlib.h>

static const char *refused(struct session *s, enum nri_event event,
                           int (*act)(struct recorder *, nri_request *), int grpc)
{
    if (s->fr.core == NULL) {
        recorder_all(&s->fr.ops);
        fake_runtime_start(&s->fr);
    }
    s->recorder.act = act;
    const struct rpc_outcome *outcome = fake_runtime_event(&s->fr, event);
    assert_int_equal(outcome->count, 1);
    assert_int_equal(outcome->grpc, grpc);
    return outcome->text;
}

static int return_data(struct recorder *recorder, nri_request *request)
{
    (void)request;
    return *(const int *)recorder->data;
}

static void test_a_code_alone(void **state)
{
    struct session *s = *state;
    int code = NRI_E_REJECTED;
    s->recorder.data = &code;
    assert_string_equal(refused(s, NRI_EVENT_CREATE_CONTAINER, return_data, NRI_GRPC_UNKNOWN),
                        "10-test refused CreateContainer: rejected");
    assert_string_equal(refused(s, NRI_EVENT_STOP_POD_SANDBOX, return_data, NRI_GRPC_UNKNOWN),
                        "10-test refused StopPodSandbox: rejected");
}

static void test_results_that_are_no_codes(void **state)
{
    struct session *s = *state;
    int code = 42;
    s->recorder.data = &code;
    assert_string_equal(refused(s, NRI_EVENT_CREATE_CONTAINER, return_data, NRI_GRPC_INTERNAL),
                        "10-test: the handler of CreateContainer returned 42, which is no code");
    code = -77;
    assert_string_equal(refused(s, NRI_EVENT_CREATE_CONTAINER, return_data, NRI_GRPC_INTERNAL),
                        "10-test: the handler of CreateContainer returned -77, which is no code");
}

static int complete_with_data(struct recorder *recorder, nri_request *request)
{
    assert_int_equal(nri_request_complete(request, *(const int *)recorder->data), 0);
    nri_request_unref(request);
    recorder->held_count = 0;
    return NRI_PENDING;
}

static void test_completions_that_are_no_codes(void **state)
{
    struct session *s = *state;
    int code = 7;
    s->recorder.data = &code;
    assert_string_equal(
        refused(s, NRI_EVENT_START_CONTAINER, complete_with_data, NRI_GRPC_INTERNAL),
        "10-test: the plugin completed StartContainer with 7, which is no code");
    code = -77;
    assert_string_equal(
        refused(s, NRI_EVENT_START_CONTAINER, complete_with_data, NRI_GRPC_INTERNAL),
        "10-test: the plugin completed StartContainer with -77, which is no code");
}

static int drop(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    nri_request_unref(request);
    return NRI_PENDING;
}

static void test_a_dropped_request(void **state)
{
    struct session *s = *state;
    assert_string_equal(refused(s, NRI_EVENT_CREATE_CONTAINER, drop, NRI_GRPC_INTERNAL),
                        "10-test: the plugin dropped the request without an answer");
}

/* ---- nri_request_fail() ---- */

static int fail_with_a_text(struct recorder *recorder, nri_request *request)
{
    return nri_request_fail(request, *(const int *)recorder->data, "no GPU left");
}

static void test_the_authors_text_is_left_alone(void **state)
{
    struct session *s = *state;
    int code = NRI_E_LIMIT;
    s->recorder.data = &code;
    assert_string_equal(
        refused(s, NRI_EVENT_CREATE_CONTAINER, fail_with_a_text, NRI_GRPC_RESOURCE_EXHAUSTED),
        "no GPU left");
    code = -77;
    assert_string_equal(refused(s, NRI_EVENT_CREATE_CONTAINER, fail_with_a_text, NRI_GRPC_UNKNOWN),
                        "no GPU left");
}

static int fail_without_a_text(struct recorder *recorder, nri_request *request)
{
    return nri_request_fail(request, *(const int *)recorder->data, NULL);
}

static int fail_with_an_empty_text(struct recorder *recorder, nri_request *request)
{
    return nri_request_fail(request, *(const int *)recorder->data, "");
}

static void test_an_author_without_a_text(void **state)
{
    static const char text[] = "10-test refused RunPodSandbox: limit exceeded";
    struct session *s = *state;
    int code = NRI_E_LIMIT;
    s->recorder.data = &code;
    assert_string_equal(
        refused(s, NRI_EVENT_RUN_POD_SANDBOX, fail_without_a_text, NRI_GRPC_RESOURCE_EXHAUSTED),
        text);
    assert_string_equal(
        refused(s, NRI_EVENT_RUN_POD_SANDBOX, fail_with_an_empty_text, NRI_GRPC_RESOURCE_EXHAUSTED),
        text);
    code = -77;
    assert_string_equal(
        refused(s, NRI_EVENT_RUN_POD_SANDBOX, fail_without_a_text, NRI_GRPC_INTERNAL),
        "10-test: the plugin refused RunPodSandbox with -77, which is no code");
}

/* ---- builders and features ---- */

static int bad_env(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    return nri_adjustment_add_env(nri_request_adjustment(request), "A=B", "1");
}

static void test_a_builders_error(void **state)
{
    struct session *s = *state;
    assert_string_equal(refused(s, NRI_EVENT_CREATE_CONTAINER, bad_env, NRI_GRPC_INVALID_ARGUMENT),
                        "10-test: env name \"A=B\": must not contain \"=\"");
}

static int bad_update(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    (void)nri_updates_container(nri_request_updates(request), "");
    return 0;
}

static void test_an_error_of_the_updates(void **state)
{
    struct session *s = *state;
    const char *text =
        refused(s, NRI_EVENT_UPDATE_CONTAINER, bad_update, NRI_GRPC_INVALID_ARGUMENT);
    assert_int_equal(strncmp(text, "10-test: ", 9), 0);
    assert_contains(text, "container");
}

static int use_args(struct recorder *recorder, nri_request *request)
{
    static const char *const args[] = {"sleep", "1"};
    (void)recorder;
    return nri_adjustment_set_args(nri_request_adjustment(request), args, 2);
}

static void test_a_feature_in_strict_mode(void **state)
{
    struct session *s = *state;
    s->fr.config.strict_features = true;
    s->fr.config.allow_missing_validate = true;
    s->fr.nri_version = "v0.9.0";
    const char *text = refused(s, NRI_EVENT_CREATE_CONTAINER, use_args, NRI_GRPC_UNKNOWN);
    assert_int_equal(strncmp(text, "10-test: ", 9), 0);
    assert_contains(text, "(strict_features)");
}

/* ---- elsewhere ---- */

static void test_a_veto(void **state)
{
    struct session *s = *state;
    int code = NRI_E_REJECTED;
    s->recorder.data = &code;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.act = return_data;
    const struct rpc_outcome *outcome =
        fake_runtime_event(&s->fr, NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT);
    assert_success(outcome);
    assert_string_equal(
        ((const MESSAGE(ValidateContainerAdjustmentResponse) *)outcome->message)->reason,
        "10-test refused ValidateContainerAdjustment: rejected");
}

static void test_what_the_library_refuses_before_a_handler(void **state)
{
    struct session *s = *state;
    s->fr.config.max_sync_bytes = 100;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    const struct rpc_outcome *outcome = fake_runtime_sync(&s->fr, 0, 5, 0, 5, false);
    assert_refusal(outcome, NRI_GRPC_RESOURCE_EXHAUSTED, "max_sync_bytes");
    assert_int_equal(strncmp(outcome->text, "10-test: Synchronize: ", 22), 0);
}

/* The runtime reads the name, the plugin's own error needs none. */
static void test_a_refused_configure(void **state)
{
    struct session *s = *state;
    struct nri_error error;
    int code = NRI_E_REJECTED;
    s->recorder.data = &code;
    s->recorder.act = return_data;
    recorder_all(&s->fr.ops);
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    const struct rpc_outcome *outcome = fake_runtime_configure(&s->fr);
    assert_string_equal(outcome->text, "10-test refused Configure: rejected");
    assert_int_equal(nri_core_close_reason(s->fr.core, &error), NRI_E_REJECTED);
    assert_string_equal(error.text, "on_configure refused: rejected");
}

static int build_large(struct recorder *recorder, nri_request *request)
{
    return nri_adjustment_add_env(nri_request_adjustment(request), "LARGE", recorder->data);
}

static void test_a_reply_over_max_send(void **state)
{
    struct session *s = *state;
    char value[4096];
    memset(value, 'x', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    s->recorder.data = value;
    s->fr.config.limits.max_send = 2048;
    const char *text =
        refused(s, NRI_EVENT_CREATE_CONTAINER, build_large, NRI_GRPC_RESOURCE_EXHAUSTED);
    assert_int_equal(strncmp(text, "10-test: CreateContainer: reply of ", 35), 0);
}

/* NRI has no limit for names; the text must not get lost behind one. */
static void test_a_long_name_is_cut(void **state)
{
    struct session *s = *state;
    char name[3001];
    int code = NRI_E_REJECTED;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    s->fr.config.name = name;
    s->recorder.data = &code;
    const char *text = refused(s, NRI_EVENT_CREATE_CONTAINER, return_data, NRI_GRPC_UNKNOWN);
    assert_int_equal(strncmp(text, "10-nnnnnnnn", 11), 0);
    assert_contains(text, "n refused CreateContainer: rejected");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_a_code_alone),
        session_test(test_results_that_are_no_codes),
        session_test(test_completions_that_are_no_codes),
        session_test(test_a_dropped_request),
        session_test(test_the_authors_text_is_left_alone),
        session_test(test_an_author_without_a_text),
        session_test(test_a_builders_error),
        session_test(test_an_error_of_the_updates),
        session_test(test_a_feature_in_strict_mode),
        session_test(test_a_veto),
        session_test(test_what_the_library_refuses_before_a_handler),
        session_test(test_a_refused_configure),
        session_test(test_a_reply_over_max_send),
        session_test(test_a_long_name_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
