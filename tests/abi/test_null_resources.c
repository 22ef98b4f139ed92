/* SPDX-License-Identifier: Apache-2.0 */
/* Setters of resources, updates and seccomp policies with NULL: NRI_E_INVALID, and none crashes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nri/nri.h>

#define is_invalid(call) assert_int_equal(call, NRI_E_INVALID)

static void test_resources(void **state)
{
    (void)state;
    is_invalid(nri_resources_set_cpu_shares(NULL, 2));
    is_invalid(nri_resources_set_cpu_quota(NULL, 1000));
    is_invalid(nri_resources_set_cpu_period(NULL, 1000));
    is_invalid(nri_resources_set_cpu_realtime_runtime(NULL, 1));
    is_invalid(nri_resources_set_cpu_realtime_period(NULL, 1));
    is_invalid(nri_resources_set_cpuset_cpus(NULL, "0"));
    is_invalid(nri_resources_set_cpuset_mems(NULL, "0"));
    is_invalid(nri_resources_set_memory_limit(NULL, 1));
    is_invalid(nri_resources_set_memory_reservation(NULL, 1));
    is_invalid(nri_resources_set_memory_swap(NULL, 1));
    is_invalid(nri_resources_set_memory_kernel(NULL, 1));
    is_invalid(nri_resources_set_memory_kernel_tcp(NULL, 1));
    is_invalid(nri_resources_set_memory_swappiness(NULL, 1));
    is_invalid(nri_resources_set_memory_disable_oom_killer(NULL, true));
    is_invalid(nri_resources_set_memory_use_hierarchy(NULL, true));
    is_invalid(nri_resources_set_hugepage_limit(NULL, "2MB", 1));
    is_invalid(nri_resources_set_blockio_class(NULL, "a"));
    is_invalid(nri_resources_set_rdt_class(NULL, "a"));
    is_invalid(nri_resources_set_unified(NULL, "a", "b"));
    is_invalid(nri_resources_add_device_rule(NULL, true, "a", NULL, NULL, "r"));
    is_invalid(nri_resources_set_pids_limit(NULL, 1));
}

static void test_adjustment(void **state)
{
    (void)state;
    assert_null(nri_adjustment_edit_resources(NULL));
    is_invalid(nri_adjustment_set_memory_kernel(NULL, 1));
    is_invalid(nri_adjustment_set_memory_kernel_tcp(NULL, 1));
    is_invalid(nri_adjustment_set_memory_swappiness(NULL, 1));
    is_invalid(nri_adjustment_set_memory_disable_oom_killer(NULL, true));
    is_invalid(nri_adjustment_set_memory_use_hierarchy(NULL, true));
    is_invalid(nri_adjustment_set_hugepage_limit(NULL, "2MB", 1));
    is_invalid(nri_adjustment_set_blockio_class(NULL, "a"));
    is_invalid(nri_adjustment_set_rdt_class(NULL, "a"));
    is_invalid(nri_adjustment_set_unified(NULL, "a", "b"));
    is_invalid(nri_adjustment_set_pids_limit(NULL, 1));
    is_invalid(nri_adjustment_add_device_rule(NULL, true, "a", NULL, NULL, "r"));
}

/* NULL, and the update that a list that is not there gives. */
static void test_update(void **state)
{
    nri_update *none[] = {NULL, nri_updates_container(NULL, "c")};
    (void)state;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        assert_null(nri_update_edit_resources(none[i]));
        is_invalid(nri_update_set_memory_kernel(none[i], 1));
        is_invalid(nri_update_set_memory_kernel_tcp(none[i], 1));
        is_invalid(nri_update_set_memory_swappiness(none[i], 1));
        is_invalid(nri_update_set_memory_disable_oom_killer(none[i], true));
        is_invalid(nri_update_set_memory_use_hierarchy(none[i], true));
        is_invalid(nri_update_set_hugepage_limit(none[i], "2MB", 1));
        is_invalid(nri_update_set_blockio_class(none[i], "a"));
        is_invalid(nri_update_set_rdt_class(none[i], "a"));
        is_invalid(nri_update_set_unified(none[i], "a", "b"));
        is_invalid(nri_update_set_pids_limit(none[i], 1));
        is_invalid(nri_update_add_device_rule(none[i], true, "a", NULL, NULL, "r"));
    }
}

static void test_seccomp(void **state)
{
    static const char *const names[] = {"read"};
    (void)state;
    is_invalid(nri_seccomp_set_default_action(NULL, "SCMP_ACT_ALLOW"));
    is_invalid(nri_seccomp_set_default_errno(NULL, 1));
    is_invalid(nri_seccomp_add_architecture(NULL, "SCMP_ARCH_X86"));
    is_invalid(nri_seccomp_add_flag(NULL, "SECCOMP_FILTER_FLAG_LOG"));
    is_invalid(nri_seccomp_set_listener_path(NULL, "/a"));
    is_invalid(nri_seccomp_set_listener_metadata(NULL, "a"));
    is_invalid(nri_seccomp_add_syscall(NULL, "SCMP_ACT_ALLOW", NULL, names, 1));
    is_invalid(nri_seccomp_add_syscall_arg(NULL, 0, 0, 0, "SCMP_CMP_EQ"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_adjustment),
        cmocka_unit_test(test_update),
        cmocka_unit_test(test_seccomp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
