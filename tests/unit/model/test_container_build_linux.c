/* SPDX-License-Identifier: Apache-2.0 */
/* nri/container_build.h, LinuxContainer's members: as test_container_build.c. */
#include "container_build.h"

static void test_lists(void **state)
{
    const uint32_t mode = 0660, uid = 0, gid = 5;
    uint32_t number = 1;
    nri_container *container = build_make();
    const char *path, *value;
    const nri_device *device;
    OK(nri_container_set_namespace(container, "network", "/a"));
    OK(nri_container_set_namespace(container, "pid", NULL));
    OK(nri_container_set_namespace(container, "network", ""));
    OK(nri_container_set_device(container, "/dev/a", "c", 10, 229, &mode, &uid, &gid));
    OK(nri_container_set_device(container, "/dev/b", "b", INT64_MAX, 0, NULL, NULL, NULL));
    const nri_device *old = nri_container_device_at(container, 0);
    OK(nri_container_set_device(container, "/dev/a", "p", 0, 0, NULL, NULL, &gid));
    assert_int_equal(nri_device_major(old), 10);
    assert_true(nri_device_file_mode(old, &number));
    assert_int_equal(number, 0660);
    OK(nri_container_set_sysctl(container, "net.core.somaxconn", "1"));
    OK(nri_container_set_sysctl(container, "kernel.x", ""));
    OK(nri_container_set_sysctl(container, "net.core.somaxconn", "2"));
    OK(nri_container_set_net_device(container, "eth0", "data0"));
    OK(nri_container_set_net_device(container, "eth1", NULL));
    OK(nri_container_set_net_device(container, "eth0", "data1"));
    const nri_container *read = build_sent(*state, container);
    assert_int_equal(nri_container_namespace_count(read), 2);
    assert_true(nri_container_namespace_path(read, "network", &path));
    assert_string_equal(path, "");
    assert_int_equal(nri_container_device_count(read), 2);
    assert_true(nri_container_device(read, "/dev/a", &device));
    assert_string_equal(nri_device_type(device), "p");
    assert_false(nri_device_file_mode(device, NULL));
    assert_true(nri_device_gid(device, &number));
    assert_int_equal(number, 5);
    assert_true(nri_container_device(read, "/dev/b", &device));
    assert_true(nri_device_major(device) == INT64_MAX);
    assert_int_equal(nri_container_sysctl_count(read), 2);
    assert_true(nri_container_sysctl(read, "net.core.somaxconn", &value));
    assert_string_equal(value, "2");
    assert_int_equal(nri_container_net_device_count(read), 2);
    assert_true(nri_container_net_device(read, "eth0", &value));
    assert_string_equal(value, "data1");
    assert_true(nri_container_net_device(read, "eth1", &value));
    assert_string_equal(value, "");
    nri_container_free(container);
}

static void test_values(void **state)
{
    static const int flags[] = {NRI_SCHED_FLAG_RECLAIM, NRI_SCHED_FLAG_DL_OVERRUN};
    nri_container *container = build_make();
    const nri_scheduler *scheduler;
    const char *text;
    int64_t score;
    int number;
    int32_t priority;
    OK(nri_container_set_oom_score_adj(container, -1000));
    OK(nri_container_set_oom_score_adj(container, 0));
    OK(nri_container_set_cgroups_path(container, "kubepods:cri:c1"));
    OK(nri_container_set_io_priority(container, NRI_IOPRIO_CLASS_RT, 7));
    OK(nri_container_set_seccomp_profile(container, NRI_SECCOMP_LOCALHOST, "a.json"));
    OK(nri_container_set_scheduler(container, NRI_SCHED_DEADLINE, 0, 0, flags, 2, 1024, 2048,
                                   4096));
    const nri_container *read = build_sent(*state, container);
    assert_true(nri_container_oom_score_adj(read, &score));
    assert_int_equal(score, 0);
    assert_string_equal(nri_container_cgroups_path(read), "kubepods:cri:c1");
    assert_true(nri_container_io_priority(read, &number, &priority));
    assert_int_equal(number, NRI_IOPRIO_CLASS_RT);
    assert_int_equal(priority, 7);
    assert_true(nri_container_seccomp_profile(read, &number, &text));
    assert_int_equal(number, NRI_SECCOMP_LOCALHOST);
    assert_string_equal(text, "a.json");
    assert_true(nri_container_scheduler(read, &scheduler));
    assert_int_equal(nri_scheduler_get_policy(scheduler), NRI_SCHED_DEADLINE);
    assert_int_equal(nri_scheduler_flag_at(scheduler, 1), NRI_SCHED_FLAG_DL_OVERRUN);
    assert_int_equal(nri_scheduler_period(scheduler), 4096);
    OK(nri_container_set_seccomp_profile(container, NRI_SECCOMP_RUNTIME_DEFAULT, ""));
    OK(nri_container_set_cgroups_path(container, ""));
    read = build_sent(*state, container);
    assert_true(nri_container_seccomp_profile(read, &number, &text));
    assert_int_equal(number, NRI_SECCOMP_RUNTIME_DEFAULT);
    assert_string_equal(text, "");
    assert_string_equal(nri_container_cgroups_path(read), "");
    nri_container_free(container);
}

/* What a reader has of RDT keeps its old values. */
static void test_rdt(void **state)
{
    static const char *const schemata[] = {"L3:0=f", "MB:0=20"};
    nri_container *container = build_make();
    const nri_rdt *old, *rdt;
    const char *text;
    size_t count;
    bool enable;
    OK(nri_container_set_rdt_clos_id(container, "gold"));
    assert_true(nri_container_rdt(container, &old));
    OK(nri_container_set_rdt_schemata(container, schemata, 2));
    OK(nri_container_set_rdt_enable_monitoring(container, false));
    OK(nri_container_set_rdt_clos_id(container, "silver"));
    assert_true(nri_rdt_clos_id(old, &text));
    assert_string_equal(text, "gold");
    assert_false(nri_rdt_schemata(old, NULL));
    const nri_container *read = build_sent(*state, container);
    assert_true(nri_container_rdt(read, &rdt));
    assert_true(nri_rdt_clos_id(rdt, &text));
    assert_string_equal(text, "silver");
    assert_true(nri_rdt_schemata(rdt, &count));
    assert_int_equal(count, 2);
    assert_string_equal(nri_rdt_schema(rdt, 1), "MB:0=20");
    assert_true(nri_rdt_enable_monitoring(rdt, &enable));
    assert_false(enable);
    assert_false(nri_rdt_remove(rdt));
    nri_container_free(container);
}

static void test_resources_and_seccomp(void **state)
{
    static const char *const names[] = {"read"};
    nri_container *container = build_make();
    const nri_seccomp *policy;
    int64_t limit;
    nri_resources *resources = nri_container_edit_resources(container);
    assert_non_null(resources);
    assert_ptr_equal(nri_container_edit_resources(container), resources);
    assert_true(nri_resources_is_present(nri_container_resources(build_sent(*state, container))));
    OK(nri_resources_set_pids_limit(resources, -1));
    OK(nri_resources_set_hugepage_limit(resources, "2MB", 4));
    nri_seccomp *seccomp = nri_container_edit_seccomp_policy(container);
    assert_non_null(seccomp);
    assert_ptr_equal(nri_container_edit_seccomp_policy(container), seccomp);
    OK(nri_seccomp_set_default_action(seccomp, "SCMP_ACT_ERRNO"));
    OK(nri_seccomp_add_syscall(seccomp, "SCMP_ACT_ALLOW", NULL, names, 1));
    const nri_container *read = build_sent(*state, container);
    assert_true(nri_resources_pids_limit(nri_container_resources(read), &limit));
    assert_int_equal(limit, -1);
    assert_int_equal(nri_resources_hugepage_limit_count(nri_container_resources(read)), 1);
    assert_true(nri_container_seccomp_policy(read, &policy));
    assert_string_equal(nri_seccomp_default_action(policy), "SCMP_ACT_ERRNO");
    assert_int_equal(nri_seccomp_syscall_count(policy), 1);
    assert_int_equal(nri_seccomp_set_default_action(seccomp, "ALLOW"), NRI_E_INVALID);
    assert_int_equal(nri_container_error(container), NRI_E_INVALID);
    nri_container_free(container);
}

static void test_refusals(void **state)
{
    static const char *const lines[] = {"L3:0=f\nMB:0=1"};
    const uint32_t mode = 010000;
    (void)state;
    REFUSED(nri_container_set_namespace(c, "pid", "rel"), NRI_E_INVALID,
            "namespace \"pid\": path \"rel\": must be an absolute path");
    REFUSED(nri_container_set_device(c, "dev", "c", 0, 0, NULL, NULL, NULL), NRI_E_INVALID,
            "device path \"dev\": must be an absolute path");
    REFUSED(nri_container_set_device(c, "/d", "x", 0, 0, NULL, NULL, NULL), NRI_E_INVALID,
            "device \"/d\": type \"x\": must be \"c\", \"u\", \"b\" or \"p\"");
    REFUSED(nri_container_set_device(c, "/d", "c", 0, 0, &mode, NULL, NULL), NRI_E_RANGE,
            "device \"/d\": file mode 010000: must be permission bits, at most 07777");
    REFUSED(nri_container_set_sysctl(c, "", "1"), NRI_E_INVALID, "sysctl \"\": must not be empty");
    REFUSED(nri_container_set_sysctl(c, "a.b", NULL), NRI_E_INVALID,
            "sysctl \"a.b\": value NULL: must be a text");
    REFUSED(nri_container_set_net_device(c, "a b", NULL), NRI_E_INVALID,
            "net device \"a b\": must not contain \"/\", \":\" and blanks");
    REFUSED(nri_container_set_net_device(c, "eth0", ".."), NRI_E_INVALID,
            "net device name \"..\": must not be \".\" or \"..\"");
    REFUSED(nri_container_set_oom_score_adj(c, 1001), NRI_E_RANGE,
            "oom_score_adj 1001: must be -1000 to 1000");
    REFUSED(nri_container_set_cgroups_path(c, NULL), NRI_E_INVALID,
            "cgroups_path NULL: must be a text");
    REFUSED(nri_container_set_io_priority(c, NRI_IOPRIO_CLASS_BE, 8), NRI_E_RANGE,
            "I/O priority 8: must be 0 (highest) to 7");
    REFUSED(nri_container_set_scheduler(c, NRI_SCHED_FIFO, 0, 0, NULL, 0, 0, 0, 0), NRI_E_RANGE,
            "scheduler priority 0: must be 1 to 99 with SCHED_FIFO and SCHED_RR");
    REFUSED(nri_container_set_seccomp_profile(c, (enum nri_seccomp_profile_type)3, NULL),
            NRI_E_RANGE,
            "seccomp profile type 3: must be one of enum nri_seccomp_profile_type, 0 to 2");
    REFUSED(nri_container_set_seccomp_profile(c, NRI_SECCOMP_LOCALHOST, ""), NRI_E_INVALID,
            "seccomp profile localhost_ref \"\": must not be empty");
    REFUSED(nri_container_set_seccomp_profile(c, NRI_SECCOMP_UNCONFINED, "a"), NRI_E_INVALID,
            "seccomp profile localhost_ref \"a\": must be NULL or empty unless the type is "
            "NRI_SECCOMP_LOCALHOST");
    REFUSED(nri_container_set_rdt_clos_id(c, ""), NRI_E_INVALID,
            "RDT clos_id \"\": must not be empty");
    REFUSED(nri_container_set_rdt_schemata(c, lines, 1), NRI_E_INVALID,
            "RDT schemata[0] \"L3:0=f\\x0aMB:0=1\": must be one line, without a newline");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_lists),        WITH_FIXTURE(test_values),
        WITH_FIXTURE(test_rdt),          WITH_FIXTURE(test_resources_and_seccomp),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
