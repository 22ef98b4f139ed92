/* SPDX-License-Identifier: Apache-2.0 */
/* What a runtime ignores of a reply is said once, or refused with strict_features. */
#include "session.h"

static struct rpc_outcome *create(struct session *s, int (*act)(struct recorder *, nri_request *))
{
    if (s->fr.core == NULL) {
        recorder_all(&s->fr.ops);
        fake_runtime_start(&s->fr);
    }
    s->recorder.act = act;
    return fake_runtime_event(&s->fr, NRI_EVENT_CREATE_CONTAINER);
}

static int use_env(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    return nri_adjustment_add_env(nri_request_adjustment(request), "HELLO", "nri");
}

static int use_args(struct recorder *recorder, nri_request *request)
{
    static const char *const args[] = {"sleep", "1"};
    (void)recorder;
    return nri_adjustment_set_args(nri_request_adjustment(request), args, 2);
}

static void start_old(struct session *s, const char *version)
{
    recorder_all(&s->fr.ops);
    s->fr.ops.on_validate_adjustment = NULL;
    s->fr.nri_version = version;
    fake_runtime_start(&s->fr);
}

static void test_feature_of_a_newer_runtime_is_logged_once(void **state)
{
    struct session *s = *state;
    start_old(s, "v0.9.0");
    const size_t before = fake_runtime_logged(&s->fr, NRI_LOG_WARN);
    for (int i = 0; i < 3; i++)
        assert_success(create(s, use_args));
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), before + 1);
    const struct fake_record *record = fake_runtime_find_record(&s->fr, "args");
    assert_non_null(record);
    assert_contains(record->text, "v0.9.0");
    /* And again for the next connection, which may be another runtime. */
    fake_runtime_disconnect(&s->fr, 0, "");
    s->recorder.act = NULL;
    fake_runtime_start(&s->fr);
    const size_t again = fake_runtime_logged(&s->fr, NRI_LOG_WARN);
    assert_success(create(s, use_args));
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), again + 1);
}

static void test_feature_that_the_runtime_has(void **state)
{
    struct session *s = *state;
    assert_success(create(s, use_args));
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), 0);
}

static void test_strict_features_refuse(void **state)
{
    struct session *s = *state;
    s->fr.config.strict_features = true;
    start_old(s, "v0.9.0");
    const struct rpc_outcome *outcome = create(s, use_args);
    assert_refusal(outcome, NRI_GRPC_UNKNOWN, "args");
    assert_contains(outcome->text, "v0.9.0");
    assert_success(create(s, use_env));
}

static int set_rlimit(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    return nri_adjustment_add_rlimit(nri_request_adjustment(request), "RLIMIT_CPU", 1, 1);
}

static void start_as(struct session *s, const char *name, const char *version, const char *nri)
{
    recorder_all(&s->fr.ops);
    s->fr.ops.on_validate_adjustment = NULL;
    s->fr.name = name;
    s->fr.version = version;
    s->fr.nri_version = nri;
    fake_runtime_start(&s->fr);
}

/* The NRI inside is inferred; what the runtime does with it is known too. */
static void test_feature_that_a_runtime_ignores(void **state)
{
    struct session *s = *state;
    start_as(s, "containerd", "2.1.9", "");
    size_t before = fake_runtime_logged(&s->fr, NRI_LOG_WARN);
    for (int i = 0; i < 2; i++)
        assert_success(create(s, use_args));
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), before + 1);
    assert_non_null(fake_runtime_find_record(
        &s->fr, "args: containerd 2.1.9 has NRI 0.8.0, which ignores this"));
}

/* Its NRI has rlimits, and Docker takes none. */
static void test_feature_that_docker_lacks(void **state)
{
    struct session *s = *state;
    start_as(s, "docker", "29.7.0", "v0.12.1");
    size_t before = fake_runtime_logged(&s->fr, NRI_LOG_WARN);
    assert_success(create(s, set_rlimit));
    assert_int_equal(fake_runtime_logged(&s->fr, NRI_LOG_WARN), before + 1);
    assert_non_null(fake_runtime_find_record(
        &s->fr, "rlimits: docker 29.7.0 has NRI v0.12.1, and refuses this"));
}

static void test_strict_features_of_docker(void **state)
{
    struct session *s = *state;
    s->fr.config.strict_features = true;
    start_as(s, "docker", "29.7.0", "v0.12.1");
    for (int i = 0; i < 2; i++)
        assert_refusal(
            create(s, set_rlimit), NRI_GRPC_UNKNOWN,
            "rlimits: docker 29.7.0 has NRI v0.12.1, and refuses this (strict_features)");
}

static void test_strict_features_of_an_unknown_version(void **state)
{
    struct session *s = *state;
    s->fr.config.strict_features = true;
    s->fr.name = "another";
    start_old(s, "");
    assert_success(create(s, use_args));
    assert_non_null(fake_runtime_find_record(&s->fr, "may ignore"));
}

static int remove_env(struct recorder *recorder, nri_request *request)
{
    (void)recorder;
    return nri_adjustment_remove_env(nri_request_adjustment(request), "HELLO");
}

/* It takes effect when another plugin set the variable, so that it is no reason to refuse. */
static void test_removal_is_never_refused(void **state)
{
    struct session *s = *state;
    s->fr.config.strict_features = true;
    start_as(s, "containerd", "2.3.0", "v0.12.0");
    for (int i = 0; i < 2; i++)
        assert_success(create(s, remove_env));
    assert_non_null(fake_runtime_find_record(
        &s->fr, "remove-env: containerd 2.3.0 with NRI v0.12.0 acts on this only where another "
                "plugin set it"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        session_test(test_feature_of_a_newer_runtime_is_logged_once),
        session_test(test_feature_that_the_runtime_has),
        session_test(test_strict_features_refuse),
        session_test(test_feature_that_a_runtime_ignores),
        session_test(test_feature_that_docker_lacks),
        session_test(test_strict_features_of_docker),
        session_test(test_removal_is_never_refused),
        session_test(test_strict_features_of_an_unknown_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
