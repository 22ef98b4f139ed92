/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

static void test_fields(void **state)
{
    const nri_container *container = sample_container(*state);
    const char *key, *value;
    assert_string_equal(nri_container_id(container), "c1");
    assert_string_equal(nri_container_pod_sandbox_id(container), "pod7");
    assert_string_equal(nri_container_name(container), "main");
    assert_int_equal(nri_container_get_state(container), NRI_CONTAINER_RUNNING);
    assert_int_equal(nri_container_pid(container), 4711);
    assert_string_equal(nri_container_cgroups_path(container), "kubepods:cri:c1");
    assert_int_equal(nri_container_label_count(container), 1);
    assert_true(nri_container_label(container, "tier", &value));
    assert_string_equal(value, "back");
    assert_true(nri_container_label_at(container, 0, &key, &value));
    assert_string_equal(key, "tier");
    assert_int_equal(nri_container_annotation_count(container), 1);
    assert_true(nri_container_annotation(container, "note", &value));
    assert_string_equal(value, "yes");
    assert_true(nri_container_annotation_at(container, 0, &key, NULL));
    assert_string_equal(key, "note");
    assert_int_equal(nri_container_arg_count(container), 3);
    assert_string_equal(nri_container_arg(container, 0), "sleep");
    assert_string_equal(nri_container_arg(container, 1), "");
    assert_string_equal(nri_container_arg(container, 2), "60");
    assert_string_equal(nri_container_arg(container, 3), "");
}

static void test_env(void **state)
{
    const nri_container *container = sample_container(*state);
    const char *value = NULL;
    assert_int_equal(nri_container_env_count(container), 6);
    assert_string_equal(nri_container_env_at(container, 1), "AB=2");
    assert_string_equal(nri_container_env_at(container, 6), "");
    assert_true(nri_container_env(container, "A", &value)); /* the last one counts */
    assert_string_equal(value, "3");
    assert_true(nri_container_env(container, "AB", NULL));
    assert_true(nri_container_env(container, "E", &value));
    assert_string_equal(value, "");
    assert_true(nri_container_env(container, "C", &value));
    assert_string_equal(value, "x=y");
    value = NULL;
    assert_false(nri_container_env(container, "C=x", &value));
    assert_string_equal(value, "");
    assert_false(nri_container_env(container, "NAKED", &value));
    assert_false(nri_container_env(container, "NAKED and longer", &value));
    assert_false(nri_container_env(container, "", &value));
    assert_false(nri_container_env(container, NULL, &value));
}

static void test_mounts(void **state)
{
    const nri_container *container = sample_container(*state);
    const nri_mount *mount = NULL;
    assert_int_equal(nri_container_mount_count(container), 3);
    assert_string_equal(nri_mount_source(nri_container_mount_at(container, 0)), "/first");
    assert_true(nri_container_mount(container, "/data", &mount)); /* the last one counts */
    assert_string_equal(nri_mount_destination(mount), "/data");
    assert_string_equal(nri_mount_type(mount), "bind");
    assert_string_equal(nri_mount_source(mount), "/second");
    assert_int_equal(nri_mount_option_count(mount), 2);
    assert_string_equal(nri_mount_option(mount, 0), "rbind");
    assert_string_equal(nri_mount_option(mount, 1), "ro");
    assert_string_equal(nri_mount_option(mount, 2), "");
    assert_true(nri_container_mount(container, "/proc", NULL));
    assert_false(nri_container_mount(container, "/proc/", &mount));
    assert_string_equal(nri_mount_destination(mount), "");
    assert_false(nri_container_mount(container, NULL, &mount));
    assert_non_null(mount);
}

static void test_resources(void **state)
{
    const nri_resources *resources = nri_container_resources(sample_container(*state));
    uint64_t number = 7;
    int64_t amount = 7;
    const char *list = NULL;
    assert_true(nri_resources_cpu_shares(resources, &number)); /* zero, but there */
    assert_int_equal(number, 0);
    assert_true(nri_resources_cpu_quota(resources, &amount));
    assert_int_equal(amount, -1);
    assert_true(nri_resources_cpuset_cpus(resources, &list));
    assert_string_equal(list, "0-3,7");
    number = 7;
    assert_false(nri_resources_cpu_period(resources, &number));
    assert_int_equal(number, 0);
    assert_false(nri_resources_cpuset_mems(resources, &list));
    assert_string_equal(list, "");
    amount = 7;
    assert_false(nri_resources_memory_limit(resources, &amount));
    assert_int_equal(amount, 0);
    assert_true(nri_resources_cpu_shares(resources, NULL));
}

static void check_no_resources(const nri_resources *resources)
{
    const char *list = NULL;
    assert_false(nri_resources_cpu_shares(resources, NULL));
    assert_false(nri_resources_cpu_quota(resources, NULL));
    assert_false(nri_resources_cpu_period(resources, NULL));
    assert_false(nri_resources_cpu_realtime_runtime(resources, NULL));
    assert_false(nri_resources_cpu_realtime_period(resources, NULL));
    assert_false(nri_resources_cpuset_cpus(resources, &list));
    assert_string_equal(list, "");
    assert_false(nri_resources_cpuset_mems(resources, NULL));
    assert_false(nri_resources_memory_limit(resources, NULL));
    assert_false(nri_resources_memory_reservation(resources, NULL));
    assert_false(nri_resources_memory_swap(resources, NULL));
}

static void check_empty(const nri_container *container)
{
    const nri_mount *mount = NULL;
    const char *value = NULL;
    assert_string_equal(nri_container_id(container), "");
    assert_string_equal(nri_container_pod_sandbox_id(container), "");
    assert_string_equal(nri_container_name(container), "");
    assert_string_equal(nri_container_cgroups_path(container), "");
    assert_int_equal(nri_container_get_state(container), NRI_CONTAINER_UNKNOWN);
    assert_int_equal(nri_container_pid(container), 0);
    assert_int_equal(nri_container_label_count(container), 0);
    assert_int_equal(nri_container_annotation_count(container), 0);
    assert_false(nri_container_label_at(container, 0, NULL, &value));
    assert_false(nri_container_annotation_at(container, 0, NULL, &value));
    assert_false(nri_container_label(container, "a", &value));
    assert_false(nri_container_annotation(container, "a", &value));
    assert_int_equal(nri_container_arg_count(container), 0);
    assert_string_equal(nri_container_arg(container, 0), "");
    assert_int_equal(nri_container_env_count(container), 0);
    assert_string_equal(nri_container_env_at(container, 0), "");
    assert_false(nri_container_env(container, "A", &value));
    assert_string_equal(value, "");
    assert_int_equal(nri_container_mount_count(container), 0);
    assert_false(nri_container_mount(container, "/", &mount));
    assert_non_null(mount);
    mount = nri_container_mount_at(container, 0);
    assert_non_null(mount);
    assert_string_equal(nri_mount_type(mount), "");
    check_no_resources(nri_container_resources(container));
}

static void test_null_reads_as_empty(void **state)
{
    (void)state;
    check_empty(NULL);
    check_empty(nri_container_view(NULL));
    check_no_resources(NULL);
    assert_string_equal(nri_mount_destination(NULL), "");
    assert_string_equal(nri_mount_type(NULL), "");
    assert_string_equal(nri_mount_source(NULL), "");
    assert_int_equal(nri_mount_option_count(NULL), 0);
    assert_string_equal(nri_mount_option(NULL, 0), "");
}

static void test_state_names(void **state)
{
    (void)state;
    assert_string_equal(nri_container_state_name(NRI_CONTAINER_UNKNOWN), "unknown");
    assert_string_equal(nri_container_state_name(NRI_CONTAINER_CREATED), "created");
    assert_string_equal(nri_container_state_name(NRI_CONTAINER_PAUSED), "paused");
    assert_string_equal(nri_container_state_name(NRI_CONTAINER_RUNNING), "running");
    assert_string_equal(nri_container_state_name(NRI_CONTAINER_STOPPED), "stopped");
    assert_string_equal(nri_container_state_name(99), "unknown");
    assert_string_equal(nri_container_state_name(-1), "unknown");
}

/* T52: a newer runtime's state comes through as it is. */
static void test_T52_newer_state(void **state)
{
    container_message message = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    message.state = (Nri__Pkg__Api__V1alpha1__ContainerState)17;
    const nri_container *container = nri_container_view(fixture_round_trip(*state, &message));
    assert_int_equal(nri_container_get_state(container), 17);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fields, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_env, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_mounts, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_resources, fixture_setup, fixture_teardown),
        cmocka_unit_test(test_null_reads_as_empty),
        cmocka_unit_test(test_state_names),
        cmocka_unit_test_setup_teardown(test_T52_newer_state, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
