/* SPDX-License-Identifier: Apache-2.0 */
/* test_null.c goes on: what adjustments got with the whole data model. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nri/nri.h>

#define is_null(call)    assert_null(call)
#define is_invalid(call) assert_int_equal(call, NRI_E_INVALID)

static void test_new(void **state)
{
    (void)state;
    is_invalid(nri_adjustment_new(NULL, NULL));
    is_null(nri_adjustment_free(NULL));
}

static void test_lists(void **state)
{
    (void)state;
    is_invalid(nri_adjustment_add_hook(NULL, NRI_HOOK_POSTSTOP, "/a", NULL, 0, NULL, 0, NULL));
    is_invalid(nri_adjustment_add_rlimit(NULL, "RLIMIT_CPU", 1, 1));
    is_invalid(nri_adjustment_add_cdi_device(NULL, "vendor.com/gpu=0"));
    is_invalid(nri_adjustment_add_device(NULL, "/d", "c", 1, 1, NULL, NULL, NULL));
    is_invalid(nri_adjustment_remove_device(NULL, "/d"));
    is_invalid(nri_adjustment_replace_device(NULL, "/d", "c", 1, 1, NULL, NULL, NULL));
    is_invalid(nri_adjustment_inject_device(NULL, "/dev/null", NULL, NULL));
    is_invalid(nri_adjustment_inject_device_as(NULL, "/dev/null", NULL, NULL, NULL, NULL, NULL));
    is_invalid(nri_adjustment_add_namespace(NULL, "pid", NULL));
    is_invalid(nri_adjustment_remove_namespace(NULL, "pid"));
    is_invalid(nri_adjustment_set_sysctl(NULL, "a.b", "1"));
    is_invalid(nri_adjustment_remove_sysctl(NULL, "a.b"));
    is_invalid(nri_adjustment_replace_sysctl(NULL, "a.b", "1"));
    is_invalid(nri_adjustment_add_net_device(NULL, "eth0", NULL));
    is_invalid(nri_adjustment_remove_net_device(NULL, "eth0"));
    is_invalid(nri_adjustment_replace_net_device(NULL, "eth0", NULL));
}

static void test_resources(void **state)
{
    (void)state;
    is_null(nri_adjustment_edit_resources(NULL));
    is_invalid(nri_adjustment_set_memory_kernel(NULL, 1));
    is_invalid(nri_adjustment_set_memory_kernel_tcp(NULL, 1));
    is_invalid(nri_adjustment_set_memory_swappiness(NULL, 1));
    is_invalid(nri_adjustment_set_memory_disable_oom_killer(NULL, true));
    is_invalid(nri_adjustment_set_memory_use_hierarchy(NULL, true));
    is_invalid(nri_adjustment_set_hugepage_limit(NULL, "2MB", 1));
    is_invalid(nri_adjustment_set_blockio_class(NULL, "a"));
    is_invalid(nri_adjustment_set_rdt_class(NULL, "a"));
    is_invalid(nri_adjustment_set_unified(NULL, "memory.high", "1"));
    is_invalid(nri_adjustment_set_pids_limit(NULL, 1));
    is_invalid(nri_adjustment_add_device_rule(NULL, true, "a", NULL, NULL, "r"));
}

static void test_single_values(void **state)
{
    (void)state;
    is_invalid(nri_adjustment_set_cgroups_path(NULL, "/c"));
    is_invalid(nri_adjustment_set_oom_score_adj(NULL, 0));
    is_invalid(nri_adjustment_set_io_priority(NULL, NRI_IOPRIO_CLASS_BE, 0));
    is_null(nri_adjustment_edit_seccomp_policy(NULL));
    is_invalid(nri_adjustment_set_scheduler(NULL, NRI_SCHED_OTHER, 0, 0, NULL, 0, 0, 0, 0));
    is_invalid(nri_adjustment_set_rdt_clos_id(NULL, "gold"));
    is_invalid(nri_adjustment_set_rdt_schemata(NULL, NULL, 0));
    is_invalid(nri_adjustment_set_rdt_enable_monitoring(NULL, true));
    is_invalid(nri_adjustment_remove_rdt(NULL));
    is_invalid(nri_adjustment_set_memory_policy(NULL, NRI_MPOL_LOCAL, NULL, NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new),
        cmocka_unit_test(test_lists),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_single_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
