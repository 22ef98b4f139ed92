/* SPDX-License-Identifier: Apache-2.0 */
/* NULL for the runtime side: the handle, its plugins, what operations get, outcomes, policies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <nri/nri.h>

static void posted(nri_runtime *runtime, void *argument)
{
    (void)runtime;
    (void)argument;
}

static void test_structures(void **state)
{
    struct nri_failure_policy policy;
    (void)state;
    nri_runtime_ops_init(NULL, sizeof(struct nri_runtime_ops));
    nri_runtime_options_init(NULL, sizeof(struct nri_runtime_options));
    nri_runtime_event_init(NULL, sizeof(struct nri_runtime_event));
    nri_failure_policy_init(NULL, sizeof policy);
    assert_int_equal(nri_failure_policy_preset(NULL, NRI_FAILURE_PRESET_STRICT), NRI_E_INVALID);
    nri_failure_policy_init(&policy, sizeof policy);
    assert_int_equal(policy.size, sizeof policy);
    assert_int_equal(nri_failure_policy_preset(&policy, NRI_FAILURE_PRESET_STRICT), 0);
    assert_int_equal(policy.on_timeout, NRI_FAILURE_FAIL);
}

static void test_no_runtime(void **state)
{
    char *text = NULL;
    size_t length = 7;
    (void)state;
    assert_int_equal(nri_runtime_new(NULL, NULL, NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_runtime_run(NULL), NRI_E_INVALID);
    assert_int_equal(nri_runtime_start(NULL, NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_runtime_fd(NULL), NRI_E_INVALID);
    assert_int_equal(nri_runtime_timeout(NULL), -1);
    assert_int_equal(nri_runtime_dispatch(NULL), NRI_E_INVALID);
    nri_runtime_stop(NULL);
    assert_int_equal(nri_runtime_post(NULL, posted, NULL), NRI_E_INVALID);
    nri_runtime_close(NULL, NULL, NULL);
    assert_int_equal(nri_error_get_code(nri_runtime_last_error(NULL)), NRI_E_INVALID);
    assert_int_equal(nri_runtime_attach_fd(NULL, 0), NRI_E_INVALID);
    assert_int_equal(nri_runtime_add_builtin(NULL, NULL, NULL, NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_runtime_drop_plugin(NULL, NULL), NRI_E_INVALID);
    assert_null(nri_runtime_next_plugin(NULL, NULL));
    assert_int_equal(nri_runtime_set_failure_policy(NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_runtime_call(NULL, NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_runtime_hold_sync(NULL), NRI_E_INVALID);
    assert_int_equal(nri_runtime_release_sync(NULL), NRI_E_INVALID);
    assert_int_equal(nri_runtime_metrics(NULL, &text, &length), NRI_E_INVALID);
    assert_null(text);
    assert_int_equal(nri_runtime_metrics(NULL, NULL, NULL), NRI_E_INVALID);
}

/* A runtime, and NULL for the rest. */
static void test_no_arguments(void **state)
{
    nri_runtime *runtime = NULL;
    (void)state;
    assert_int_equal(nri_runtime_new(&runtime, NULL, NULL, NULL, NULL), 0);
    assert_int_equal(nri_runtime_post(runtime, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_runtime_add_builtin(runtime, NULL, "name", "10", NULL, NULL),
                     NRI_E_INVALID);
    assert_string_not_equal(nri_error_get_text(nri_runtime_last_error(runtime)), "");
    const struct nri_plugin_ops ops = {.size = sizeof ops};
    assert_int_equal(nri_runtime_add_builtin(runtime, &ops, NULL, "10", NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_runtime_add_builtin(runtime, &ops, "name", NULL, NULL, NULL),
                     NRI_E_INVALID);
    assert_int_equal(nri_runtime_drop_plugin(runtime, NULL), NRI_E_INVALID);
    assert_null(nri_runtime_next_plugin(runtime, NULL));
    assert_int_equal(nri_runtime_set_failure_policy(runtime, NULL, NULL), 0);
    assert_int_equal(nri_runtime_call(runtime, NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_runtime_metrics(runtime, NULL, NULL), NRI_E_INVALID);
    nri_runtime_close(runtime, NULL, NULL);
}

static void test_no_plugin(void **state)
{
    (void)state;
    assert_string_equal(nri_runtime_plugin_name(NULL), "");
    assert_string_equal(nri_runtime_plugin_id(NULL), "");
    assert_string_equal(nri_runtime_plugin_index(NULL), "");
    assert_string_equal(nri_runtime_plugin_nri_version(NULL), "");
    (void)nri_runtime_plugin_origin(NULL);
    assert_int_equal(nri_runtime_plugin_pid(NULL), 0);
    assert_int_equal(nri_runtime_plugin_events(NULL), 0);
}

static void test_no_operation(void **state)
{
    (void)state;
    assert_int_equal(nri_enumeration_add_pod(NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_enumeration_add_container(NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_updates_count(nri_runtime_update_list(NULL)), 0);
    assert_null(nri_runtime_update_plugin(NULL));
    assert_false(nri_runtime_update_is_sync(NULL));
    assert_int_equal(nri_runtime_update_fail(NULL, NULL), NRI_E_INVALID);
    nri_runtime_update_complete(NULL, 0, NULL);
}

static void test_no_outcome(void **state)
{
    const char *key = NULL, *container = NULL, *other = NULL;
    enum nri_change_action action = NRI_CHANGE_DROPPED;
    int field = 7;
    char *text = NULL;
    (void)state;
    assert_null(nri_outcome_ref(NULL));
    assert_null(nri_outcome_unref(NULL));
    (void)nri_outcome_event(NULL);
    assert_int_equal(nri_outcome_code(NULL), 0);
    assert_string_equal(nri_outcome_text(NULL), "");
    assert_string_equal(nri_outcome_plugin(NULL), "");
    assert_int_equal(nri_adjustment_env_count(nri_outcome_adjustment(NULL)), 0);
    assert_int_equal(nri_updates_count(nri_outcome_updates(NULL)), 0);
    (void)nri_outcome_resources(NULL);
    assert_string_equal(nri_outcome_owner(NULL, 1, NULL), "");
    assert_int_equal(nri_outcome_step_count(NULL), 0);
    assert_string_equal(nri_outcome_step_plugin(NULL, 0), "");
    (void)nri_outcome_step_event(NULL, 0);
    (void)nri_outcome_step_result(NULL, 0);
    assert_int_equal(nri_outcome_step_code(NULL, 0), 0);
    assert_string_equal(nri_outcome_step_text(NULL, 0), "");
    assert_int_equal(nri_outcome_step_latency(NULL, 0), 0);
    assert_int_equal(nri_outcome_step_wait(NULL, 0), 0);
    assert_int_equal(nri_outcome_change_count(NULL, 0), 0);
    assert_false(nri_outcome_change_at(NULL, 0, 0, &field, &key, &container, &other, &action));
    assert_int_equal(field, 0);
    assert_string_equal(key, "");
    assert_string_equal(container, "");
    assert_string_equal(other, "");
    assert_int_equal(action, 0);
    assert_false(nri_outcome_change_at(NULL, 0, 0, NULL, NULL, NULL, NULL, NULL));
    assert_int_equal(nri_outcome_json(NULL, NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_outcome_table(NULL, NULL, NULL, NULL), NRI_E_INVALID);
    if (nri_outcome_json(NULL, NULL, &text, NULL) == 0)
        text = nri_outcome_text_free(text);
    if (nri_outcome_table(NULL, NULL, &text, NULL) == 0)
        text = nri_outcome_text_free(text);
    assert_null(nri_outcome_text_free(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structures),   cmocka_unit_test(test_no_runtime),
        cmocka_unit_test(test_no_arguments), cmocka_unit_test(test_no_plugin),
        cmocka_unit_test(test_no_operation), cmocka_unit_test(test_no_outcome),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
