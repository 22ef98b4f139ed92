/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that make and change whole pods and containers take NULL for the object: setters
 * give NRI_E_INVALID, and what hands out an object NULL. */
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

static void test_pod(void **state)
{
    (void)state;
    is_invalid(nri_pod_new(NULL, NULL));
    is_invalid(nri_pod_set_id(NULL, "p"));
    is_invalid(nri_pod_set_name(NULL, "p"));
    is_invalid(nri_pod_set_uid(NULL, "u"));
    is_invalid(nri_pod_set_namespace(NULL, "n"));
    is_invalid(nri_pod_set_label(NULL, "k", "v"));
    is_invalid(nri_pod_set_annotation(NULL, "k", "v"));
    is_invalid(nri_pod_set_runtime_handler(NULL, "runc"));
    is_invalid(nri_pod_set_pid(NULL, 1));
    is_invalid(nri_pod_add_ip(NULL, "10.0.0.1"));
    is_invalid(nri_pod_set_cgroup_parent(NULL, "/a"));
    is_invalid(nri_pod_set_cgroups_path(NULL, "/a"));
    is_invalid(nri_pod_set_namespace_path(NULL, "pid", NULL));
    is_null(nri_pod_edit_overhead(NULL));
    is_null(nri_pod_edit_pod_resources(NULL));
    is_null(nri_pod_edit_resources(NULL));
    is_zero(nri_pod_error(NULL));
    is_empty(nri_pod_error_text(NULL));
}

static void test_container(void **state)
{
    static const char *const args[] = {"a"};
    (void)state;
    is_invalid(nri_container_new(NULL, NULL));
    is_invalid(nri_container_from_oci(NULL, 0, NULL, NULL, NULL));
    is_invalid(nri_container_set_id(NULL, "c"));
    is_invalid(nri_container_set_pod_sandbox_id(NULL, "p"));
    is_invalid(nri_container_set_name(NULL, "c"));
    is_invalid(nri_container_set_state(NULL, NRI_CONTAINER_RUNNING));
    is_invalid(nri_container_set_label(NULL, "k", "v"));
    is_invalid(nri_container_set_annotation(NULL, "k", "v"));
    is_invalid(nri_container_set_args(NULL, args, 1));
    is_invalid(nri_container_set_env(NULL, "A", "1"));
    is_invalid(nri_container_set_mount(NULL, "/d", NULL, NULL, NULL, 0));
    is_invalid(nri_container_add_hook(NULL, NRI_HOOK_POSTSTOP, "/h", NULL, 0, NULL, 0, NULL));
    is_invalid(nri_container_set_pid(NULL, 1));
    is_invalid(nri_container_set_rlimit(NULL, "RLIMIT_CORE", 0, 0));
    is_invalid(nri_container_set_created_at(NULL, 1));
    is_invalid(nri_container_set_started_at(NULL, 1));
    is_invalid(nri_container_set_finished_at(NULL, 1));
    is_invalid(nri_container_set_exit_code(NULL, 1));
    is_invalid(nri_container_set_status_reason(NULL, "r"));
    is_invalid(nri_container_set_status_message(NULL, "m"));
    is_invalid(nri_container_add_cdi_device(NULL, "vendor.com/gpu=0"));
    is_invalid(nri_container_set_user(NULL, 0, 0, NULL, 0));
    is_invalid(nri_container_set_image(NULL, NULL, NULL, NULL));
    is_zero(nri_container_error(NULL));
    is_empty(nri_container_error_text(NULL));
}

static void test_linux_container(void **state)
{
    (void)state;
    is_invalid(nri_container_set_namespace(NULL, "pid", NULL));
    is_invalid(nri_container_set_device(NULL, "/dev/a", "c", 1, 2, NULL, NULL, NULL));
    is_null(nri_container_edit_resources(NULL));
    is_invalid(nri_container_set_oom_score_adj(NULL, 0));
    is_invalid(nri_container_set_cgroups_path(NULL, "/a"));
    is_invalid(nri_container_set_io_priority(NULL, NRI_IOPRIO_CLASS_BE, 4));
    is_invalid(nri_container_set_seccomp_profile(NULL, NRI_SECCOMP_UNCONFINED, NULL));
    is_null(nri_container_edit_seccomp_policy(NULL));
    is_invalid(nri_container_set_sysctl(NULL, "a.b", "1"));
    is_invalid(nri_container_set_net_device(NULL, "eth0", NULL));
    is_invalid(nri_container_set_scheduler(NULL, NRI_SCHED_OTHER, 0, 0, NULL, 0, 0, 0, 0));
    is_invalid(nri_container_set_rdt_clos_id(NULL, "gold"));
    is_invalid(nri_container_set_rdt_schemata(NULL, NULL, 0));
    is_invalid(nri_container_set_rdt_enable_monitoring(NULL, true));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pod),
        cmocka_unit_test(test_container),
        cmocka_unit_test(test_linux_container),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
