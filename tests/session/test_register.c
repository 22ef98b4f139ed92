/* SPDX-License-Identifier: Apache-2.0 */
/* Registration: both orders, refusals, time-outs, and what the handshake tells the plugin. */
#include "session.h"

static void use_one_handler(struct session *s)
{
    recorder_own(&s->fr.ops);
    s->fr.ops.on_create_container = recorder_handler;
}

static void test_register_sends_identity(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    fake_runtime_start(&s->fr);
    assert_int_equal(s->fr.registrations, 1);
    assert_string_equal(s->fr.registered_name, "test");
    assert_string_equal(s->fr.registered_index, "10");
    assert_string_equal(s->fr.registered_version, "v0.12.2");
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CONNECTED), 1);
}

static void test_configure_before_register_reply(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    s->fr.hold_register = true;
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    assert_success(fake_runtime_configure(&s->fr));
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_REGISTERING);
    session_answer(s);
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_READY);
}

static void test_configure_after_register_reply(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_REGISTERING);
    assert_success(fake_runtime_configure(&s->fr));
    assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_READY);
    assert_int_equal(nri_core_deadline(s->fr.core), NRI_NEVER);
}

/* Fails at 300 ms exactly, not before, and says what is missing. */
static void check_timeout(struct session *s, const char *missing)
{
    assert_int_equal(nri_core_deadline(s->fr.core), s->fr.now + 300 * NRI_MSEC);
    fake_runtime_advance(&s->fr, 300 * NRI_MSEC - 1);
    assert_false(nri_core_should_close(s->fr.core));
    fake_runtime_advance(&s->fr, 1);
    assert_true(nri_core_should_close(s->fr.core));
    struct nri_error error;
    assert_int_equal(nri_core_close_reason(s->fr.core, &error), NRI_E_TIMEOUT);
    assert_contains(error.text, "registration");
    assert_contains(error.text, "300 ms");
    assert_contains(error.text, FAKE_PEER);
    assert_contains(error.text, missing);
    fake_runtime_disconnect(&s->fr, error.code, error.text);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_DISCONNECTED), 1);
    assert_int_equal(s->recorder.reason, NRI_E_TIMEOUT);
    assert_string_equal(s->recorder.reason_text, error.text);
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_ERROR), 1);
}

static void test_T12_no_reply_to_register(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    s->fr.config.registration_timeout = 300 * NRI_MSEC;
    s->fr.hold_register = true;
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    check_timeout(s, "did not answer RegisterPlugin");
}

static void test_T12_no_configure(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    s->fr.config.registration_timeout = 300 * NRI_MSEC;
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    check_timeout(s, "sent no Configure");
    assert_null(strstr(s->recorder.reason_text, "RegisterPlugin"));
}

static void test_T12_configure_but_no_reply(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    s->fr.config.registration_timeout = 300 * NRI_MSEC;
    s->fr.hold_register = true;
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    assert_success(fake_runtime_configure(&s->fr));
    check_timeout(s, "did not answer RegisterPlugin");
    assert_null(strstr(s->recorder.reason_text, "sent no Configure"));
}

static void test_T12_on_configure_pending(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    s->fr.ops.on_configure = recorder_handler;
    s->recorder.result = NRI_PENDING;
    s->fr.config.registration_timeout = 300 * NRI_MSEC;
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    assert_int_equal(fake_runtime_configure(&s->fr)->count, 0);
    check_timeout(s, "on_configure");
    s->recorder.held[0] = nri_request_unref(s->recorder.held[0]);
}

static void test_register_refused(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    s->fr.refuse_register = NRI_GRPC_UNKNOWN;
    s->fr.refusal = "invalid plugin index \"1x\", must be 2 digits";
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    struct nri_error error;
    assert_true(nri_core_should_close(s->fr.core));
    assert_int_equal(nri_core_close_reason(s->fr.core, &error), NRI_E_REJECTED);
    assert_contains(error.text, s->fr.refusal);
    assert_contains(error.text, "10-test");
    assert_contains(error.text, FAKE_PEER);
    /* What comes on is not handled any more. */
    (void)fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CREATE_CONTAINER), 0);
}

static void test_register_unimplemented(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    s->fr.refuse_register = NRI_GRPC_UNIMPLEMENTED;
    s->fr.refusal = "service nri.pkg.api.v1alpha1.Runtime";
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    assert_int_equal(nri_core_close_reason(s->fr.core, NULL), NRI_E_UNSUPPORTED);
}

static void test_register_again_after_the_end(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    for (int i = 0; i < 3; i++) {
        fake_runtime_start(&s->fr);
        assert_success(fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER));
        fake_runtime_disconnect(&s->fr, NRI_E_CLOSED, "the runtime closed the connection");
        assert_int_equal(nri_core_state(s->fr.core), NRI_PLUGIN_IDLE);
    }
    assert_int_equal(s->fr.registrations, 3);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CONNECTED), 3);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CREATE_CONTAINER), 3);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_DISCONNECTED), 3);
}

static void test_register_again_after_failure(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    s->fr.refuse_register = NRI_GRPC_UNKNOWN;
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    fake_runtime_disconnect(&s->fr, NRI_E_REJECTED, "refused");
    s->fr.refuse_register = 0;
    fake_runtime_start(&s->fr);
    assert_false(nri_core_should_close(s->fr.core));
}

static void test_connected_twice_is_an_error(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    fake_runtime_start(&s->fr);
    assert_int_equal(nri_core_connected(s->fr.core, s->fr.now, &s->fr.error), NRI_E_STATE);
    assert_int_equal(recorder_seen(&s->recorder, NRI_EVENT_CONNECTED), 1);
}

static void test_ops_without_event_handlers(void **state)
{
    struct session *s = *state;
    recorder_own(&s->fr.ops);
    s->fr.ops.on_configure = recorder_handler;
    s->fr.ops.on_synchronize = recorder_handler;
    assert_int_equal(fake_runtime_connect(&s->fr), NRI_E_INVALID);
    assert_contains(s->fr.error.text, "14 events");
}

static void test_ops_with_both_synchronize(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    s->fr.ops.on_synchronize = recorder_handler;
    s->fr.ops.on_synchronize_part = recorder_handler;
    assert_int_equal(fake_runtime_connect(&s->fr), NRI_E_INVALID);
    assert_contains(s->fr.error.text, "on_synchronize_part");
}

static void test_T43_configured_timeouts(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    assert_int_equal(fake_runtime_connect(&s->fr), 0);
    assert_int_equal(nri_core_registration_timeout_ms(s->fr.core), 5000);
    assert_int_equal(nri_core_request_timeout_ms(s->fr.core), 2000);
    s->fr.registration_timeout = 7000;
    s->fr.request_timeout = 3000;
    assert_success(fake_runtime_configure(&s->fr));
    assert_int_equal(nri_core_registration_timeout_ms(s->fr.core), 7000);
    assert_int_equal(nri_core_request_timeout_ms(s->fr.core), 3000);
}

static void test_T43_odd_timeouts_count_as_none(void **state)
{
    struct session *s = *state;
    use_one_handler(s);
    s->fr.registration_timeout = -1;
    s->fr.request_timeout = INT64_MAX;
    fake_runtime_start(&s->fr);
    assert_int_equal(nri_core_registration_timeout_ms(s->fr.core), 5000);
    assert_int_equal(nri_core_request_timeout_ms(s->fr.core), 2000);
}

struct naming {
    const char *name, *version, *told, *seen;
    bool inferred;
};

static void test_U13_runtime_names(void **state)
{
    static const struct naming cases[] = {
        {"v2", "2.0.3", "", "0.8.0", true},
        {"", "", "", "unknown", false},
        {"", "2.0.3", "", "unknown", false},
        {"containerd", "2.1.9+unknown", "", "0.8.0", true},
        {"containerd", "1.7.24~ds1", "", "0.6.1", true},
        {"some runtime", "1", "v0.12.2", "v0.12.2", false},
        {"some runtime", "1", "0.10.0", "0.10.0", false},
        {"some runtime", "1", "(devel)", "unknown", false},
        {"containerd", "2.2.0", "0.0.0-unknown", "0.10.0", true},
    };
    struct session *s = *state;
    use_one_handler(s);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        s->fr.name = cases[i].name;
        s->fr.version = cases[i].version;
        s->fr.nri_version = cases[i].told;
        fake_runtime_start(&s->fr);
        assert_string_equal(nri_core_runtime_name(s->fr.core), cases[i].name);
        assert_string_equal(nri_core_runtime_version(s->fr.core), cases[i].version);
        assert_string_equal(nri_core_nri_version(s->fr.core), cases[i].seen);
        assert_int_equal(nri_core_nri_version_inferred(s->fr.core), cases[i].inferred);
        fake_runtime_disconnect(&s->fr, 0, "");
        /* Still there to be read. */
        assert_string_equal(nri_core_runtime_name(s->fr.core), cases[i].name);
    }
}

static void test_U01_log_of_one_core_only(void **state)
{
    struct session *s = *state;
    struct session *other;
    assert_int_equal(session_setup((void **)&other), 0);
    use_one_handler(s);
    use_one_handler(other);
    other->fr.log.fn = NULL; /* silent */
    fake_runtime_start(&s->fr);
    const size_t count = s->fr.record_count;
    assert_true(count > 0);
    fake_runtime_start(&other->fr);
    assert_int_equal(s->fr.record_count, count);
    assert_int_equal(other->fr.record_count, 0);
    session_teardown((void **)&other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_register_sends_identity),
        session_test(test_configure_before_register_reply),
        session_test(test_configure_after_register_reply),
        session_test(test_T12_no_reply_to_register),
        session_test(test_T12_no_configure),
        session_test(test_T12_configure_but_no_reply),
        session_test(test_T12_on_configure_pending),
        session_test(test_register_refused),
        session_test(test_register_unimplemented),
        session_test(test_register_again_after_the_end),
        session_test(test_register_again_after_failure),
        session_test(test_connected_twice_is_an_error),
        session_test(test_ops_without_event_handlers),
        session_test(test_ops_with_both_synchronize),
        session_test(test_T43_configured_timeouts),
        session_test(test_T43_odd_timeouts_count_as_none),
        session_test(test_U13_runtime_names),
        session_test(test_U01_log_of_one_core_only),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
