/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of the data model take NULL for the object: each gives "", 0, false or an empty
 * object, and sets its out parameters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nri/nri.h>

#define is_empty(call) assert_string_equal(call, "")
#define is_zero(call)  assert_int_equal(call, 0)

static void test_pod(void **state)
{
    (void)state;
    const char *text;
    is_empty(nri_pod_cgroups_path(NULL));
    assert_false(nri_resources_is_present(nri_pod_overhead(NULL)));
    assert_false(nri_resources_is_present(nri_pod_pod_resources(NULL)));
    assert_false(nri_resources_is_present(nri_pod_resources(NULL)));
    is_zero(nri_pod_namespace_count(NULL));
    text = "x";
    assert_false(nri_pod_namespace_at(NULL, 0, &text, &text));
    is_empty(text);
    text = "x";
    assert_false(nri_pod_namespace_path(NULL, NULL, &text));
    is_empty(text);
}

static void test_container(void **state)
{
    (void)state;
    const nri_device *device = NULL;
    const nri_rdt *rdt = NULL;
    const nri_scheduler *scheduler = NULL;
    const nri_seccomp *seccomp = NULL;
    const char *text;
    is_zero(nri_container_created_at(NULL));
    is_zero(nri_container_started_at(NULL));
    is_zero(nri_container_finished_at(NULL));
    is_zero(nri_container_exit_code(NULL));
    is_empty(nri_container_status_reason(NULL));
    is_empty(nri_container_status_message(NULL));
    is_zero(nri_container_hook_count(NULL, NRI_HOOK_POSTSTOP));
    is_empty(nri_hook_path(nri_container_hook_at(NULL, NRI_HOOK_POSTSTOP, 0)));
    is_zero(nri_container_rlimit_count(NULL));
    text = "x";
    assert_false(nri_container_rlimit_at(NULL, 0, &text, NULL, NULL));
    is_empty(text);
    assert_false(nri_container_rlimit(NULL, NULL, NULL, NULL));
    is_zero(nri_container_cdi_device_count(NULL));
    is_empty(nri_container_cdi_device(NULL, 0));
    assert_false(nri_container_user(NULL, NULL, NULL));
    is_zero(nri_container_additional_gid_count(NULL));
    is_zero(nri_container_additional_gid(NULL, 0));
    text = "x";
    assert_false(nri_container_image(NULL, &text, &text, &text));
    is_empty(text);
    is_zero(nri_container_namespace_count(NULL));
    text = "x";
    assert_false(nri_container_namespace_at(NULL, 0, &text, &text));
    is_empty(text);
    text = "x";
    assert_false(nri_container_namespace_path(NULL, NULL, &text));
    is_empty(text);
    is_zero(nri_container_device_count(NULL));
    is_empty(nri_device_path(nri_container_device_at(NULL, 0)));
    assert_false(nri_container_device(NULL, NULL, &device));
    is_empty(nri_device_path(device));
    assert_false(nri_container_oom_score_adj(NULL, NULL));
    assert_false(nri_container_io_priority(NULL, NULL, NULL));
    text = "x";
    assert_false(nri_container_seccomp_profile(NULL, NULL, &text));
    is_empty(text);
    assert_false(nri_container_seccomp_policy(NULL, &seccomp));
    is_empty(nri_seccomp_default_action(seccomp));
    is_zero(nri_container_sysctl_count(NULL));
    text = "x";
    assert_false(nri_container_sysctl_at(NULL, 0, &text, &text));
    is_empty(text);
    text = "x";
    assert_false(nri_container_sysctl(NULL, NULL, &text));
    is_empty(text);
    is_zero(nri_container_net_device_count(NULL));
    text = "x";
    assert_false(nri_container_net_device_at(NULL, 0, &text, &text));
    is_empty(text);
    text = "x";
    assert_false(nri_container_net_device(NULL, NULL, &text));
    is_empty(text);
    assert_false(nri_container_scheduler(NULL, &scheduler));
    is_zero(nri_scheduler_nice(scheduler));
    assert_false(nri_container_rdt(NULL, &rdt));
    is_zero(nri_rdt_remove(rdt));
}

static void test_resources(void **state)
{
    (void)state;
    const char *text;
    assert_false(nri_resources_is_present(NULL));
    assert_false(nri_resources_memory_kernel(NULL, NULL));
    assert_false(nri_resources_memory_kernel_tcp(NULL, NULL));
    assert_false(nri_resources_memory_swappiness(NULL, NULL));
    assert_false(nri_resources_memory_disable_oom_killer(NULL, NULL));
    assert_false(nri_resources_memory_use_hierarchy(NULL, NULL));
    is_zero(nri_resources_hugepage_limit_count(NULL));
    text = "x";
    assert_false(nri_resources_hugepage_limit_at(NULL, 0, &text, NULL));
    is_empty(text);
    assert_false(nri_resources_hugepage_limit(NULL, NULL, NULL));
    text = "x";
    assert_false(nri_resources_blockio_class(NULL, &text));
    is_empty(text);
    text = "x";
    assert_false(nri_resources_rdt_class(NULL, &text));
    is_empty(text);
    is_zero(nri_resources_unified_count(NULL));
    text = "x";
    assert_false(nri_resources_unified_at(NULL, 0, &text, &text));
    is_empty(text);
    text = "x";
    assert_false(nri_resources_unified(NULL, NULL, &text));
    is_empty(text);
    is_zero(nri_resources_device_rule_count(NULL));
    is_empty(nri_device_rule_type(nri_resources_device_rule_at(NULL, 0)));
    assert_false(nri_resources_pids_limit(NULL, NULL));
}

static void test_hook(void **state)
{
    (void)state;
    assert_string_equal(nri_hook_stage_name((enum nri_hook_stage)0), "?");
    is_empty(nri_hook_path(NULL));
    is_zero(nri_hook_arg_count(NULL));
    is_empty(nri_hook_arg(NULL, 0));
    is_zero(nri_hook_env_count(NULL));
    is_empty(nri_hook_env_at(NULL, 0));
    assert_false(nri_hook_timeout(NULL, NULL));
}

static void test_device(void **state)
{
    (void)state;
    is_empty(nri_device_path(NULL));
    is_empty(nri_device_type(NULL));
    is_zero(nri_device_major(NULL));
    is_zero(nri_device_minor(NULL));
    assert_false(nri_device_file_mode(NULL, NULL));
    assert_false(nri_device_uid(NULL, NULL));
    assert_false(nri_device_gid(NULL, NULL));
    assert_false(nri_device_rule_allow(NULL));
    is_empty(nri_device_rule_type(NULL));
    assert_false(nri_device_rule_major(NULL, NULL));
    assert_false(nri_device_rule_minor(NULL, NULL));
    is_empty(nri_device_rule_access(NULL));
}

static void test_seccomp(void **state)
{
    (void)state;
    const char *text;
    is_empty(nri_seccomp_default_action(NULL));
    assert_false(nri_seccomp_default_errno(NULL, NULL));
    is_zero(nri_seccomp_architecture_count(NULL));
    is_empty(nri_seccomp_architecture(NULL, 0));
    is_zero(nri_seccomp_flag_count(NULL));
    is_empty(nri_seccomp_flag(NULL, 0));
    is_empty(nri_seccomp_listener_path(NULL));
    is_empty(nri_seccomp_listener_metadata(NULL));
    is_zero(nri_seccomp_syscall_count(NULL));
    is_empty(nri_syscall_action(nri_seccomp_syscall_at(NULL, 0)));
    is_zero(nri_syscall_name_count(NULL));
    is_empty(nri_syscall_name(NULL, 0));
    is_empty(nri_syscall_action(NULL));
    assert_false(nri_syscall_errno(NULL, NULL));
    is_zero(nri_syscall_arg_count(NULL));
    text = "x";
    assert_false(nri_syscall_arg_at(NULL, 0, NULL, NULL, NULL, &text));
    is_empty(text);
}

static void test_scheduler(void **state)
{
    (void)state;
    assert_string_equal(nri_scheduler_policy_name(-1), "?");
    assert_int_equal(nri_scheduler_policy_from_name(NULL), -1);
    assert_string_equal(nri_scheduler_flag_name(-1), "?");
    assert_int_equal(nri_scheduler_flag_from_name(NULL), -1);
    assert_string_equal(nri_ioprio_class_name(-1), "?");
    assert_int_equal(nri_ioprio_class_from_name(NULL), -1);
    is_zero(nri_scheduler_get_policy(NULL));
    is_zero(nri_scheduler_nice(NULL));
    is_zero(nri_scheduler_priority(NULL));
    is_zero(nri_scheduler_flag_count(NULL));
    assert_int_equal(nri_scheduler_flag_at(NULL, 0), -1);
    is_zero(nri_scheduler_runtime(NULL));
    is_zero(nri_scheduler_deadline(NULL));
    is_zero(nri_scheduler_period(NULL));
}

static void test_rdt(void **state)
{
    (void)state;
    const char *text;
    text = "x";
    assert_false(nri_rdt_clos_id(NULL, &text));
    is_empty(text);
    assert_false(nri_rdt_schemata(NULL, NULL));
    is_empty(nri_rdt_schema(NULL, 0));
    assert_false(nri_rdt_enable_monitoring(NULL, NULL));
    assert_false(nri_rdt_remove(NULL));
}

static void test_memory_policy(void **state)
{
    (void)state;
    assert_string_equal(nri_mpol_mode_name(-1), "?");
    assert_int_equal(nri_mpol_mode_from_name(NULL), -1);
    assert_string_equal(nri_mpol_flag_name(-1), "?");
    assert_int_equal(nri_mpol_flag_from_name(NULL), -1);
    is_zero(nri_memory_policy_mode(NULL));
    is_empty(nri_memory_policy_nodes(NULL));
    is_zero(nri_memory_policy_flag_count(NULL));
    assert_int_equal(nri_memory_policy_flag_at(NULL, 0), -1);
}

static void test_adjustment_read(void **state)
{
    (void)state;
    const nri_memory_policy *policy = NULL;
    const nri_rdt *rdt = NULL;
    const nri_scheduler *scheduler = NULL;
    const nri_seccomp *seccomp = NULL;
    const char *text;
    assert_true(nri_adjustment_is_empty(NULL));
    is_zero(nri_adjustment_annotation_count(NULL));
    text = "x";
    assert_false(nri_adjustment_annotation_at(NULL, 0, &text, &text, NULL));
    is_empty(text);
    text = "x";
    assert_false(nri_adjustment_annotation(NULL, NULL, &text));
    is_empty(text);
    is_zero(nri_adjustment_env_count(NULL));
    text = "x";
    assert_false(nri_adjustment_env_at(NULL, 0, &text, &text, NULL));
    is_empty(text);
    text = "x";
    assert_false(nri_adjustment_env(NULL, NULL, &text));
    is_empty(text);
    is_zero(nri_adjustment_mount_count(NULL));
    is_empty(nri_mount_destination(nri_adjustment_mount_at(NULL, 0, NULL)));
    is_empty(nri_adjustment_mount_destination_at(NULL, 0));
    is_zero(nri_adjustment_arg_count(NULL));
    is_empty(nri_adjustment_arg(NULL, 0));
    assert_false(nri_adjustment_args_replace(NULL));
    is_zero(nri_adjustment_hook_count(NULL, NRI_HOOK_POSTSTOP));
    is_empty(nri_hook_path(nri_adjustment_hook_at(NULL, NRI_HOOK_POSTSTOP, 0)));
    is_zero(nri_adjustment_rlimit_count(NULL));
    text = "x";
    assert_false(nri_adjustment_rlimit_at(NULL, 0, &text, NULL, NULL));
    is_empty(text);
    is_zero(nri_adjustment_cdi_device_count(NULL));
    is_empty(nri_adjustment_cdi_device(NULL, 0));
    is_zero(nri_adjustment_device_count(NULL));
    is_empty(nri_device_path(nri_adjustment_device_at(NULL, 0, NULL)));
    is_empty(nri_adjustment_device_path_at(NULL, 0));
    assert_false(nri_resources_is_present(nri_adjustment_resources(NULL)));
    is_empty(nri_adjustment_cgroups_path(NULL));
    assert_false(nri_adjustment_oom_score_adj(NULL, NULL));
    assert_false(nri_adjustment_io_priority(NULL, NULL, NULL));
    assert_false(nri_adjustment_seccomp_policy(NULL, &seccomp));
    is_empty(nri_seccomp_default_action(seccomp));
    is_zero(nri_adjustment_namespace_count(NULL));
    text = "x";
    assert_false(nri_adjustment_namespace_at(NULL, 0, &text, &text, NULL));
    is_empty(text);
    is_zero(nri_adjustment_sysctl_count(NULL));
    text = "x";
    assert_false(nri_adjustment_sysctl_at(NULL, 0, &text, &text, NULL));
    is_empty(text);
    text = "x";
    assert_false(nri_adjustment_sysctl(NULL, NULL, &text));
    is_empty(text);
    is_zero(nri_adjustment_net_device_count(NULL));
    text = "x";
    assert_false(nri_adjustment_net_device_at(NULL, 0, &text, &text, NULL));
    is_empty(text);
    assert_false(nri_adjustment_scheduler(NULL, &scheduler));
    is_zero(nri_scheduler_nice(scheduler));
    assert_false(nri_adjustment_rdt(NULL, &rdt));
    is_zero(nri_rdt_remove(rdt));
    assert_false(nri_adjustment_memory_policy(NULL, &policy));
    is_empty(nri_memory_policy_nodes(policy));
}

static void test_update(void **state)
{
    (void)state;
    const char *text;
    is_empty(nri_update_container_id(nri_updates_at(NULL, 0)));
    assert_false(nri_resources_is_present(nri_update_resources(NULL)));
    assert_false(nri_update_ignore_failure(NULL));
    text = "x";
    assert_false(nri_updates_eviction_at(NULL, 0, &text, &text));
    is_empty(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pod),           cmocka_unit_test(test_container),
        cmocka_unit_test(test_resources),     cmocka_unit_test(test_hook),
        cmocka_unit_test(test_device),        cmocka_unit_test(test_seccomp),
        cmocka_unit_test(test_scheduler),     cmocka_unit_test(test_rdt),
        cmocka_unit_test(test_memory_policy), cmocka_unit_test(test_adjustment_read),
        cmocka_unit_test(test_update),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
