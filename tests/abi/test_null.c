/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every public function that takes a handle takes NULL for it too: readers give nothing, functions
 * that return a code NRI_E_INVALID, and none crashes. null.sh checks that none is left out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nri/nri.h>

#define is_empty(call)   assert_string_equal(call, "")
#define is_zero(call)    assert_int_equal(call, 0)
#define is_null(call)    assert_null(call)
#define is_invalid(call) assert_int_equal(call, NRI_E_INVALID)

static void never(nri_plugin *plugin, void *arg)
{
    (void)plugin;
    (void)arg;
    fail();
}

static void test_plugin(void **state)
{
    (void)state;
    is_invalid(nri_plugin_new(NULL, NULL, NULL, NULL, NULL));
    is_invalid(nri_plugin_run(NULL));
    is_invalid(nri_plugin_start(NULL, NULL, NULL, NULL));
    is_invalid(nri_plugin_fd(NULL));
    assert_int_equal(nri_plugin_timeout(NULL), -1);
    is_invalid(nri_plugin_dispatch(NULL));
    is_invalid(nri_plugin_result(NULL));
    nri_plugin_stop(NULL);
    is_invalid(nri_plugin_post(NULL, never, NULL));
    nri_plugin_close(NULL, NULL, NULL);
    is_invalid(nri_plugin_update_containers(NULL, NULL, NULL, NULL, NULL));
    is_invalid(nri_plugin_peer(NULL, NULL, NULL, NULL));
    assert_int_equal(nri_plugin_get_state(NULL), NRI_PLUGIN_IDLE);
    is_empty(nri_plugin_name(NULL));
    is_empty(nri_plugin_index(NULL));
    is_null(nri_plugin_user(NULL));
    is_zero(nri_plugin_events(NULL));
    is_empty(nri_plugin_runtime_name(NULL));
    is_empty(nri_plugin_runtime_version(NULL));
    is_empty(nri_plugin_runtime_nri_version(NULL));
    assert_false(nri_plugin_nri_version_is_inferred(NULL));
    is_zero(nri_plugin_registration_timeout_ms(NULL));
    is_zero(nri_plugin_request_timeout_ms(NULL));
    assert_false(nri_plugin_supports(NULL, NRI_FEATURE_VALIDATE));
    is_null(nri_plugin_last_error(NULL));
    nri_plugin_ops_init(NULL, 0);
    nri_plugin_options_init(NULL, 0);
    nri_call_options_init(NULL, 0);
    nri_allocator_init(NULL, 0);
}

static void test_request(void **state)
{
    const char *key = "x", *value = "x";
    (void)state;
    assert_int_equal(nri_request_event(NULL), NRI_EVENT_UNKNOWN);
    is_null(nri_request_plugin(NULL));
    is_empty(nri_pod_id(nri_request_pod(NULL)));
    is_empty(nri_container_id(nri_request_container(NULL)));
    assert_false(nri_resources_cpu_shares(nri_request_resources(NULL), NULL));
    assert_false(nri_resources_cpu_shares(nri_request_overhead(NULL), NULL));
    is_invalid(nri_adjustment_add_env(nri_request_adjustment(NULL), "A", "1"));
    is_invalid(nri_updates_evict(nri_request_updates(NULL), "c", NULL));
    is_zero(nri_request_pod_count(NULL));
    is_empty(nri_pod_id(nri_request_pod_at(NULL, 0)));
    is_zero(nri_request_container_count(NULL));
    is_empty(nri_container_id(nri_request_container_at(NULL, 0)));
    assert_false(nri_request_more(NULL));
    is_empty(nri_request_config(NULL));
    is_invalid(nri_request_set_events(NULL, 1));
    is_zero(nri_request_metadata_count(NULL));
    assert_false(nri_request_metadata_at(NULL, 0, &key, &value));
    is_empty(key);
    is_empty(value);
    value = "x";
    assert_false(nri_request_metadata(NULL, "key", &value));
    is_empty(value);
    is_zero(nri_request_plugin_count(NULL));
    value = "x";
    assert_false(nri_request_plugin_at(NULL, 0, &key, &value));
    is_empty(value);
    assert_false(nri_request_owner(NULL, "c", 1, &value));
    assert_false(nri_request_key_owner(NULL, "c", 1, "key", &value));
    is_zero(nri_request_time_left(NULL));
    is_zero(nri_request_deadline(NULL));
    assert_false(nri_request_deadline_is_assumed(NULL));
    assert_int_equal(nri_request_reason(NULL), NRI_OK);
    is_empty(nri_request_reason_text(NULL));
    assert_true(nri_request_next_attempt_ms(NULL) == NRI_NO_ATTEMPT);
    is_invalid(nri_request_fail(NULL, NRI_E_REJECTED, "no"));
    is_invalid(nri_request_complete(NULL, 0));
    is_null(nri_request_ref(NULL));
    is_null(nri_request_unref(NULL));
}

static void test_pod(void **state)
{
    nri_pod *copy = NULL;
    (void)state;
    is_empty(nri_pod_id(NULL));
    is_empty(nri_pod_name(NULL));
    is_empty(nri_pod_uid(NULL));
    is_empty(nri_pod_namespace(NULL));
    is_empty(nri_pod_runtime_handler(NULL));
    is_zero(nri_pod_pid(NULL));
    is_empty(nri_pod_cgroup_parent(NULL));
    is_zero(nri_pod_label_count(NULL));
    assert_false(nri_pod_label_at(NULL, 0, NULL, NULL));
    assert_false(nri_pod_label(NULL, NULL, NULL));
    is_zero(nri_pod_annotation_count(NULL));
    assert_false(nri_pod_annotation_at(NULL, 0, NULL, NULL));
    assert_false(nri_pod_annotation(NULL, NULL, NULL));
    is_zero(nri_pod_ip_count(NULL));
    is_empty(nri_pod_ip(NULL, 0));
    is_zero(nri_pod_dup(NULL, NULL, &copy));
    is_empty(nri_pod_id(copy));
    is_null(nri_pod_free(copy));
    is_null(nri_pod_free(NULL));
    is_invalid(nri_pod_dup(NULL, NULL, NULL));
}

static void test_container(void **state)
{
    nri_container *copy = NULL;
    (void)state;
    is_empty(nri_container_id(NULL));
    is_empty(nri_container_pod_sandbox_id(NULL));
    is_empty(nri_container_name(NULL));
    is_zero(nri_container_get_state(NULL));
    assert_non_null(nri_container_state_name(-1));
    is_zero(nri_container_pid(NULL));
    is_zero(nri_container_label_count(NULL));
    assert_false(nri_container_label_at(NULL, 0, NULL, NULL));
    assert_false(nri_container_label(NULL, NULL, NULL));
    is_zero(nri_container_annotation_count(NULL));
    assert_false(nri_container_annotation_at(NULL, 0, NULL, NULL));
    assert_false(nri_container_annotation(NULL, NULL, NULL));
    is_zero(nri_container_arg_count(NULL));
    is_empty(nri_container_arg(NULL, 0));
    is_zero(nri_container_env_count(NULL));
    is_empty(nri_container_env_at(NULL, 0));
    assert_false(nri_container_env(NULL, NULL, NULL));
    is_zero(nri_container_mount_count(NULL));
    is_empty(nri_mount_destination(nri_container_mount_at(NULL, 0)));
    assert_false(nri_container_mount(NULL, NULL, NULL));
    is_empty(nri_mount_destination(NULL));
    is_empty(nri_mount_type(NULL));
    is_empty(nri_mount_source(NULL));
    is_zero(nri_mount_option_count(NULL));
    is_empty(nri_mount_option(NULL, 0));
    assert_false(nri_resources_cpu_shares(nri_container_resources(NULL), NULL));
    is_empty(nri_container_cgroups_path(NULL));
    is_zero(nri_container_dup(NULL, NULL, &copy));
    is_empty(nri_container_id(copy));
    is_null(nri_container_free(copy));
    is_null(nri_container_free(NULL));
    is_invalid(nri_container_dup(NULL, NULL, NULL));
}

static void test_resources(void **state)
{
    (void)state;
    assert_false(nri_resources_cpu_shares(NULL, NULL));
    assert_false(nri_resources_cpu_quota(NULL, NULL));
    assert_false(nri_resources_cpu_period(NULL, NULL));
    assert_false(nri_resources_cpu_realtime_runtime(NULL, NULL));
    assert_false(nri_resources_cpu_realtime_period(NULL, NULL));
    assert_false(nri_resources_cpuset_cpus(NULL, NULL));
    assert_false(nri_resources_cpuset_mems(NULL, NULL));
    assert_false(nri_resources_memory_limit(NULL, NULL));
    assert_false(nri_resources_memory_reservation(NULL, NULL));
    assert_false(nri_resources_memory_swap(NULL, NULL));
}

static void test_adjustment(void **state)
{
    static const char *const args[] = {"a"};
    (void)state;
    is_invalid(nri_adjustment_add_env(NULL, "A", "1"));
    is_invalid(nri_adjustment_remove_env(NULL, "A"));
    is_invalid(nri_adjustment_replace_env(NULL, "A", "1"));
    is_invalid(nri_adjustment_add_annotation(NULL, "a", "1"));
    is_invalid(nri_adjustment_remove_annotation(NULL, "a"));
    is_invalid(nri_adjustment_replace_annotation(NULL, "a", "1"));
    is_invalid(nri_adjustment_add_mount(NULL, "/d", "bind", "/s", NULL, 0));
    is_invalid(nri_adjustment_remove_mount(NULL, "/d"));
    is_invalid(nri_adjustment_replace_mount(NULL, "/d", "bind", "/s", NULL, 0));
    is_invalid(nri_adjustment_set_args(NULL, args, 1));
    is_invalid(nri_adjustment_replace_args(NULL, args, 1));
    is_invalid(nri_adjustment_set_cpu_shares(NULL, 2));
    is_invalid(nri_adjustment_set_cpu_quota(NULL, 1000));
    is_invalid(nri_adjustment_set_cpu_period(NULL, 1000));
    is_invalid(nri_adjustment_set_cpu_realtime_runtime(NULL, 1));
    is_invalid(nri_adjustment_set_cpu_realtime_period(NULL, 1));
    is_invalid(nri_adjustment_set_cpuset_cpus(NULL, "0"));
    is_invalid(nri_adjustment_set_cpuset_mems(NULL, "0"));
    is_invalid(nri_adjustment_set_memory_limit(NULL, 1));
    is_invalid(nri_adjustment_set_memory_reservation(NULL, 1));
    is_invalid(nri_adjustment_set_memory_swap(NULL, 1));
    is_zero(nri_adjustment_error(NULL));
    is_empty(nri_adjustment_error_text(NULL));
    nri_adjustment_clear_error(NULL);
}

static void test_updates(void **state)
{
    (void)state;
    is_invalid(nri_updates_new(NULL, NULL));
    is_null(nri_updates_free(NULL));
    is_invalid(nri_update_set_cpu_shares(nri_updates_container(NULL, "c"), 2));
    is_zero(nri_updates_count(NULL));
    is_zero(nri_updates_eviction_count(NULL));
    is_invalid(nri_updates_evict(NULL, "c", NULL));
    is_zero(nri_updates_error(NULL));
    is_empty(nri_updates_error_text(NULL));
    nri_updates_clear_error(NULL);
    is_empty(nri_update_container_id(NULL));
    is_invalid(nri_update_set_ignore_failure(NULL, true));
    is_invalid(nri_update_set_cpu_shares(NULL, 2));
    is_invalid(nri_update_set_cpu_quota(NULL, 1000));
    is_invalid(nri_update_set_cpu_period(NULL, 1000));
    is_invalid(nri_update_set_cpu_realtime_runtime(NULL, 1));
    is_invalid(nri_update_set_cpu_realtime_period(NULL, 1));
    is_invalid(nri_update_set_cpuset_cpus(NULL, "0"));
    is_invalid(nri_update_set_cpuset_mems(NULL, "0"));
    is_invalid(nri_update_set_memory_limit(NULL, 1));
    is_invalid(nri_update_set_memory_reservation(NULL, 1));
    is_invalid(nri_update_set_memory_swap(NULL, 1));
}

static void test_update_result(void **state)
{
    (void)state;
    is_invalid(nri_update_result_code(NULL));
    is_empty(nri_update_result_text(NULL));
    is_zero(nri_update_result_failed_count(NULL));
    is_empty(nri_update_result_failed_id(NULL, 0));
    assert_false(nri_resources_cpu_shares(nri_update_result_failed_resources(NULL, 0), NULL));
    assert_false(nri_update_result_failed_ignored(NULL, 0));
}

static void test_errors_and_records(void **state)
{
    (void)state;
    assert_int_equal(nri_error_get_code(NULL), NRI_OK);
    is_empty(nri_error_get_text(NULL));
    assert_int_equal(nri_error_line(NULL), 0);
    assert_int_equal(nri_error_column(NULL), 0);
    is_null(nri_error_free(NULL));
    assert_int_equal(nri_log_record_level(NULL), NRI_LOG_DEFAULT);
    is_empty(nri_log_record_text(NULL));
    is_empty(nri_log_record_event(NULL));
    is_empty(nri_log_record_pod(NULL));
    is_empty(nri_log_record_container(NULL));
    is_empty(nri_log_record_plugin(NULL));
    is_zero(nri_log_record_suppressed(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plugin),
        cmocka_unit_test(test_request),
        cmocka_unit_test(test_pod),
        cmocka_unit_test(test_container),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_adjustment),
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_update_result),
        cmocka_unit_test(test_errors_and_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
