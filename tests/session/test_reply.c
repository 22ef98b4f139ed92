/* SPDX-License-Identifier: Apache-2.0 */
/* Replies: what builders hold goes out, and what refuses, refuses with its text. */
#include "session.h"

#include <stdio.h>
#include <stdlib.h>

#include "rpc_raw.h"

static struct rpc_outcome *create(struct session *s, int (*act)(struct recorder *, nri_request *))
{
    if (s->fr.core == NULL) {
        recorder_all(&s->fr.ops);
        fake_runtime_start(&s->fr);
    }
    s->recorder.act = act;
    return fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER);
}

static uint64_t count(const struct session *s, enum nri_event event, enum nri_event_counter counter)
{
    return nri_core_count_event(s->fr.core, event, counter);
}

static int build_all(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    nri_adjustment *adjustment = nri_request_adjustment(request);
    nri_updates *updates = nri_request_updates(request);
    (void)nri_adjustment_add_env(adjustment, "HELLO", "nri");
    (void)nri_update_set_cpu_shares(nri_updates_container(updates, "other"), 512);
    return nri_updates_evict(updates, "third", "no room");
}

static void test_create_carries_everything(void **state)
{
    struct session *s = *state;
    const struct rpc_outcome *outcome = create(s, build_all);
    assert_success(outcome);
    const MESSAGE(CreateContainerResponse) *response =
        (const MESSAGE(CreateContainerResponse) *)outcome->message;
    assert_non_null(response->adjust);
    assert_int_equal(response->adjust->n_env, 1);
    assert_string_equal(response->adjust->env[0]->key, "HELLO");
    assert_int_equal(response->n_update, 1);
    assert_string_equal(response->update[0]->container_id, "other");
    assert_int_equal(response->update[0]->linux->resources->cpu->shares->value, 512);
    assert_int_equal(response->n_evict, 1);
    assert_string_equal(response->evict[0]->reason, "no room");
}

/* One annotation that fills a message of about `data` bytes. */
static int build_annotation(struct recorder *recorder, nri_request *request)
{
    const size_t *length = recorder->data;
    char *value = malloc(*length + 1);
    assert_non_null(value);
    memset(value, 'v', *length);
    value[*length] = '\0';
    const int code = nri_adjustment_add_annotation(nri_request_adjustment(request), "large", value);
    free(value);
    return code;
}

/* The request is small; the reply has memory of its own, up to the largest one. */
static void test_large_replies_at_defaults(void **state)
{
    static const size_t lengths[] = {70000, 1 << 20, 3 << 20, (4 << 20) - 64};
    struct session *s = *state;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        size_t length = lengths[i];
        s->recorder.data = &length;
        const struct rpc_outcome *outcome = create(s, build_annotation);
        assert_success(outcome);
        const MESSAGE(CreateContainerResponse) *response =
            (const MESSAGE(CreateContainerResponse) *)outcome->message;
        assert_int_equal(response->adjust->n_annotations, 1);
        assert_int_equal(strlen(response->adjust->annotations[0]->value), length);
    }
}

/* One that may not be sent is refused by its length, not for want of memory. */
static void test_reply_larger_than_may_be_sent_at_defaults(void **state)
{
    struct session *s = *state;
    size_t length = 4 << 20;
    s->recorder.data = &length;
    assert_refusal(create(s, build_annotation), NRI_GRPC_RESOURCE_EXHAUSTED,
                   "exceeds the limit of 4194304 bytes");
}

static int build_nothing(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    (void)nri_request_adjustment(request);
    return 0;
}

static void test_create_with_nothing_is_empty(void **state)
{
    struct session *s = *state;
    const struct rpc_outcome *outcome = create(s, build_nothing);
    assert_success(outcome);
    assert_int_equal(protobuf_c_message_get_packed_size(outcome->message), 0);
}

static int build_updates(struct recorder *recorder, nri_request *request)
{
    nri_updates *updates = nri_request_updates(request);
    (void)nri_update_set_memory_limit(nri_updates_container(updates, "a"), 1 << 20);
    if (recorder->data != NULL)
        (void)nri_updates_evict(updates, "b", NULL);
    return 0;
}

static void test_update_and_stop_carry_updates(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.act = build_updates;
    s->recorder.data = s; /* evict too */
    const struct rpc_outcome *outcome = fake_runtime_event(&s->fr, NRI_EVENT_UPDATE_CONTAINER);
    assert_success(outcome);
    const MESSAGE(UpdateContainerResponse) *update =
        (const MESSAGE(UpdateContainerResponse) *)outcome->message;
    assert_int_equal(update->n_update, 1);
    assert_int_equal(update->n_evict, 1);
    s->recorder.data = NULL;
    outcome = fake_runtime_event(&s->fr, NRI_EVENT_STOP_CONTAINER);
    assert_success(outcome);
    assert_int_equal(((const MESSAGE(StopContainerResponse) *)outcome->message)->n_update, 1);
    s->recorder.data = s;
    assert_refusal(fake_runtime_event(&s->fr, NRI_EVENT_STOP_CONTAINER),
                   NRI_GRPC_FAILED_PRECONDITION, "");
}

static int fail_with_text(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    return nri_request_fail(request, NRI_E_REJECTED, "no GPU left");
}

static void test_refusal_has_the_handlers_text(void **state)
{
    struct session *s = *state;
    const struct rpc_outcome *outcome = create(s, fail_with_text);
    assert_refusal(outcome, NRI_GRPC_UNKNOWN, "");
    assert_string_equal(outcome->text, "no GPU left");
}

static int fail_then_succeed(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    (void)nri_request_fail(request, NRI_E_REJECTED, "first");
    (void)nri_request_fail(request, NRI_E_LIMIT, "second");
    return 0;
}

static void test_the_first_refusal_sticks(void **state)
{
    struct session *s = *state;
    assert_refusal(create(s, fail_then_succeed), NRI_GRPC_UNKNOWN, "first");
}

static int fail_with_success(struct recorder *recorder, nri_request *request)
{
    *(int *)recorder->data = nri_request_fail(request, 0, NULL);
    return 0;
}

static void test_fail_with_no_code_is_rejected(void **state)
{
    struct session *s = *state;
    int code = 0;
    s->recorder.data = &code;
    assert_refusal(create(s, fail_with_success), NRI_GRPC_UNKNOWN, "rejected");
    assert_int_equal(code, NRI_E_REJECTED);
}

static int return_data(struct recorder *recorder, nri_request *request)
{
    (void)request;
    return *(const int *)recorder->data;
}

/* UNIMPLEMENTED would make a runtime send the event once more. */
static void test_no_code_is_sent_as_unimplemented(void **state)
{
    struct session *s = *state;
    for (int code = -1; code >= -40; code--) {
        s->recorder.data = &code;
        const struct rpc_outcome *outcome = create(s, return_data);
        assert_int_equal(outcome->count, 1);
        assert_int_not_equal(outcome->grpc, NRI_GRPC_OK);
        assert_int_not_equal(outcome->grpc, NRI_GRPC_UNIMPLEMENTED);
        assert_int_not_equal(outcome->grpc, NRI_GRPC_DEADLINE_EXCEEDED);
        assert_int_not_equal(outcome->grpc, NRI_GRPC_UNAVAILABLE);
        if (nri_error_is_code(code))
            assert_contains(outcome->text, nri_strerror(code));
        else
            assert_contains(outcome->text, "which is no code");
    }
}

static int bad_env(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    nri_adjustment *adjustment = nri_request_adjustment(request);
    (void)nri_adjustment_add_env(adjustment, NULL, "x");
    (void)nri_adjustment_add_env(adjustment, "GOOD", "x");
    return 0;
}

static void test_T51_builder_error_sticks(void **state)
{
    struct session *s = *state;
    assert_refusal(create(s, bad_env), NRI_GRPC_INVALID_ARGUMENT, "env");
}

static int bad_mount(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    return nri_adjustment_add_mount(nri_request_adjustment(request), "", "bind", "/x", NULL, 0);
}

static void test_T51_mount_without_destination(void **state)
{
    struct session *s = *state;
    assert_refusal(create(s, bad_mount), NRI_GRPC_INVALID_ARGUMENT, "destination");
    /* The plugin lives. */
    assert_success(create(s, build_all));
}

static int bad_env_cleared(struct recorder *recorder, nri_request *request)
{
    (void)bad_env(recorder, request);
    nri_adjustment_clear_error(nri_request_adjustment(request));
    return 0;
}

static void test_cleared_builder_error(void **state)
{
    struct session *s = *state;
    const struct rpc_outcome *outcome = create(s, bad_env_cleared);
    assert_success(outcome);
    const MESSAGE(CreateContainerResponse) *response =
        (const MESSAGE(CreateContainerResponse) *)outcome->message;
    assert_int_equal(response->adjust->n_env, 1);
    assert_string_equal(response->adjust->env[0]->key, "GOOD");
}

static int bad_update(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    (void)nri_updates_container(nri_request_updates(request), "");
    return 0;
}

static void test_updates_error_sticks(void **state)
{
    struct session *s = *state;
    assert_refusal(create(s, bad_update), NRI_GRPC_INVALID_ARGUMENT, "container");
}

static int adjust_in_start(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    return nri_adjustment_add_env(nri_request_adjustment(request), "A", "1");
}

static void test_builder_where_there_is_none(void **state)
{
    struct session *s = *state;
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.act = adjust_in_start;
    assert_refusal(fake_runtime_event(&s->fr, NRI_EVENT_START_CONTAINER),
                   NRI_GRPC_FAILED_PRECONDITION, "only CreateContainer");
}

static int fail_with_data(struct recorder *recorder, nri_request *request)
{
    return nri_request_fail(request, NRI_E_REJECTED, recorder->data);
}

/* Sends an event by hand, and reads the answer by hand: outcomes keep less text. */
static void answer_of_event(struct session *s, const char *method, struct raw_responses *responses)
{
    const uint8_t *out;
    size_t count;
    struct nri_buf bytes;
    raw_init(&bytes);
    raw_request(&bytes, 1, 1001, "nri.pkg.api.v1alpha1.Plugin", method, "", 0);
    nri_core_input(s->fr.core, bytes.data + bytes.start, nri_buf_size(&bytes), s->fr.now);
    nri_buf_reset(&bytes, 0);
    nri_core_output(s->fr.core, &out, &count);
    assert_int_equal(nri_buf_append(&bytes, out, count), 0);
    nri_core_written(s->fr.core, count);
    raw_responses(&bytes, responses);
    assert_int_equal(responses->count, 1);
    nri_buf_fini(&bytes);
}

/* A two-byte character stands across the limit. */
static void test_long_text_is_cut_between_characters(void **state)
{
    enum { LIMIT = 4000 };
    struct session *s = *state;
    struct raw_responses responses;
    char text[2 * LIMIT + 1];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    text[LIMIT - 1] = '\xc3';
    text[LIMIT] = '\xa9';
    recorder_all(&s->fr.ops);
    fake_runtime_start(&s->fr);
    s->recorder.act = fail_with_data;
    s->recorder.data = text;
    answer_of_event(s, "CreateContainer", &responses);
    assert_int_equal(responses.all[0].grpc, NRI_GRPC_UNKNOWN);
    assert_int_equal(strlen(responses.all[0].text), LIMIT - 1);
    assert_memory_equal(responses.all[0].text, text, LIMIT - 1);
    raw_responses_free(&responses);
}

static void test_text_that_is_no_utf8(void **state)
{
    struct session *s = *state;
    char text[] = "caf\xe9 \xff\xfe and \xc3\xa9";
    s->recorder.data = text;
    const struct rpc_outcome *outcome = create(s, fail_with_data);
    assert_string_equal(outcome->text, "caf? ?? and \xc3\xa9");
}

/* ---- ValidateContainerAdjustment ---- */

static struct rpc_outcome *validate(struct session *s, int (*act)(struct recorder *, nri_request *))
{
    if (s->fr.core == NULL) {
        recorder_all(&s->fr.ops);
        fake_runtime_start(&s->fr);
    }
    s->recorder.act = act;
    return fake_runtime_event(&s->fr, NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT);
}

static void test_validate_refused_is_a_veto(void **state)
{
    struct session *s = *state;
    const struct rpc_outcome *outcome = validate(s, fail_with_text);
    assert_success(outcome);
    const MESSAGE(ValidateContainerAdjustmentResponse) *response =
        (const MESSAGE(ValidateContainerAdjustmentResponse) *)outcome->message;
    assert_true(response->reject);
    assert_string_equal(response->reason, "no GPU left");
}

static void test_veto_that_is_no_utf8(void **state)
{
    struct session *s = *state;
    char text[] = "caf\xe9 \xff";
    s->recorder.data = text;
    const struct rpc_outcome *outcome = validate(s, fail_with_data);
    assert_success(outcome);
    assert_string_equal(
        ((const MESSAGE(ValidateContainerAdjustmentResponse) *)outcome->message)->reason, "caf? ?");
}

static void test_validate_code_alone_is_a_veto(void **state)
{
    struct session *s = *state;
    int code = NRI_E_REJECTED;
    s->recorder.data = &code;
    const struct rpc_outcome *outcome = validate(s, return_data);
    const MESSAGE(ValidateContainerAdjustmentResponse) *response =
        (const MESSAGE(ValidateContainerAdjustmentResponse) *)outcome->message;
    assert_true(response->reject);
    assert_contains(response->reason, nri_strerror(NRI_E_REJECTED));
}

static int policy_without_default(struct recorder *recorder, nri_request *request)
{
    nri_seccomp *policy = nri_adjustment_edit_seccomp_policy(nri_request_adjustment(request));
    (void)recorder;
    return nri_seccomp_add_flag(policy, "SECCOMP_FILTER_FLAG_LOG");
}

static int whole_policy(struct recorder *recorder, nri_request *request)
{
    nri_seccomp *policy = nri_adjustment_edit_seccomp_policy(nri_request_adjustment(request));
    (void)recorder;
    return nri_seccomp_set_default_action(policy, "SCMP_ACT_ERRNO");
}

/* What only the whole can tell is asked when the handler is done. */
static void test_seccomp_policy_without_default_action(void **state)
{
    struct session *s = *state;
    assert_refusal(create(s, policy_without_default), NRI_GRPC_INVALID_ARGUMENT, "default action");
    const struct rpc_outcome *outcome = create(s, whole_policy);
    assert_success(outcome);
    const MESSAGE(CreateContainerResponse) *response =
        (const MESSAGE(CreateContainerResponse) *)outcome->message;
    assert_string_equal(response->adjust->linux->seccomp_policy->default_action, "SCMP_ACT_ERRNO");
}

static void test_validate_accepts(void **state)
{
    struct session *s = *state;
    const struct rpc_outcome *outcome = validate(s, NULL);
    assert_success(outcome);
    assert_int_equal(protobuf_c_message_get_packed_size(outcome->message), 0);
}

/* ---- too large ---- */

static int build_large(struct recorder *recorder, nri_request *request)
{
    char name[32];
    for (int i = 0; i < 40; i++) {
        (void)snprintf(name, sizeof name, "NAME%d", i);
        (void)nri_adjustment_add_env(nri_request_adjustment(request), name, recorder->data);
    }
    return 0;
}

static void test_reply_over_max_send(void **state)
{
    struct session *s = *state;
    static char value[512];
    memset(value, 'x', sizeof value - 1);
    s->recorder.data = value;
    s->fr.config.limits.max_send = 16384;
    const struct rpc_outcome *outcome = create(s, build_large);
    assert_refusal(outcome, NRI_GRPC_RESOURCE_EXHAUSTED, "16384");
    assert_non_null(fake_runtime_find_record(&s->fr, "could not be sent"));
    assert_int_equal(count(s, NRI_EVENT_CREATE_CONTAINER, NRI_COUNT_REPLIES), 0);
    assert_int_equal(count(s, NRI_EVENT_CREATE_CONTAINER, NRI_COUNT_ERRORS), 1);
    assert_success(create(s, build_all));
    assert_int_equal(count(s, NRI_EVENT_CREATE_CONTAINER, NRI_COUNT_REPLIES), 1);
}

static int update_many(struct recorder *recorder, nri_request *request)
{
    nri_updates *updates = nri_request_updates(request);
    char id[512];
    (void)recorder;
    if (nri_request_event(request) != NRI_EVENT_SYNCHRONIZE)
        return 0;
    for (int i = 0; i < 40; i++) {
        (void)snprintf(id, sizeof id, "%0500d", i);
        (void)nri_update_set_cpu_shares(nri_updates_container(updates, id), 2);
    }
    return 0;
}

/* An answer that did not go out has synchronised nothing. */
static void test_synchronize_over_max_send(void **state)
{
    struct session *s = *state;
    s->fr.config.limits.max_send = 16384;
    assert_success(create(s, NULL));
    s->recorder.act = update_many;
    assert_refusal(fake_runtime_sync(&s->fr, 0, 1, 0, 1, false), NRI_GRPC_RESOURCE_EXHAUSTED,
                   "16384");
    assert_int_equal(count(s, NRI_EVENT_SYNCHRONIZE, NRI_COUNT_REPLIES), 0);
    assert_int_equal(count(s, NRI_EVENT_SYNCHRONIZE, NRI_COUNT_ERRORS), 1);
    assert_int_equal(nri_core_count(s->fr.core, NRI_COUNT_SYNCHRONIZATIONS), 0);
    assert_false(nri_core_is_synchronized(s->fr.core));
}

/* Builders are bounded like everything else. */
static int build_without_end(struct recorder *recorder, nri_request *request)
{
    char name[32];
    for (int i = 0; i < 100000; i++) {
        (void)snprintf(name, sizeof name, "NAME%d", i);
        if (nri_adjustment_add_env(nri_request_adjustment(request), name, recorder->data) != 0)
            return 0;
    }
    return 0;
}

static void test_builder_over_the_request_memory(void **state)
{
    struct session *s = *state;
    static char value[512];
    memset(value, 'x', sizeof value - 1);
    s->recorder.data = value;
    assert_refusal(create(s, build_without_end), NRI_GRPC_RESOURCE_EXHAUSTED, "env");
    assert_success(create(s, build_all));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_create_carries_everything),
        session_test(test_large_replies_at_defaults),
        session_test(test_reply_larger_than_may_be_sent_at_defaults),
        session_test(test_create_with_nothing_is_empty),
        session_test(test_update_and_stop_carry_updates),
        session_test(test_refusal_has_the_handlers_text),
        session_test(test_the_first_refusal_sticks),
        session_test(test_fail_with_no_code_is_rejected),
        session_test(test_no_code_is_sent_as_unimplemented),
        session_test(test_T51_builder_error_sticks),
        session_test(test_T51_mount_without_destination),
        session_test(test_cleared_builder_error),
        session_test(test_seccomp_policy_without_default_action),
        session_test(test_updates_error_sticks),
        session_test(test_builder_where_there_is_none),
        session_test(test_long_text_is_cut_between_characters),
        session_test(test_text_that_is_no_utf8),
        session_test(test_validate_refused_is_a_veto),
        session_test(test_veto_that_is_no_utf8),
        session_test(test_validate_code_alone_is_a_veto),
        session_test(test_validate_accepts),
        session_test(test_reply_over_max_send),
        session_test(test_synchronize_over_max_send),
        session_test(test_builder_over_the_request_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
