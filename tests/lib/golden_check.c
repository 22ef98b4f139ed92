/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of objects. */
#include "golden_check.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "golden.h"
#include "proto/nri.pb-c.h"

/* Several times as many as the check of the largest object makes. */
#define PATHS 4096u

const char *golden_path(const char *format, ...)
{
    static char paths[PATHS][256];
    static unsigned next;
    char *path = paths[next++ % PATHS];
    va_list arguments;
    va_start(arguments, format);
    assert_true((size_t)vsnprintf(path, sizeof paths[0], format, arguments) < sizeof paths[0]);
    va_end(arguments);
    return path;
}

static void check_cpu(const nri_resources *resources, const char *path)
{
    GOLDEN_OPTIONAL(uint64_t, nri_resources_cpu_shares, resources, "%s.cpu.shares.value", path);
    GOLDEN_OPTIONAL(int64_t, nri_resources_cpu_quota, resources, "%s.cpu.quota.value", path);
    GOLDEN_OPTIONAL(uint64_t, nri_resources_cpu_period, resources, "%s.cpu.period.value", path);
    GOLDEN_OPTIONAL(int64_t, nri_resources_cpu_realtime_runtime, resources,
                    "%s.cpu.realtime_runtime.value", path);
    GOLDEN_OPTIONAL(uint64_t, nri_resources_cpu_realtime_period, resources,
                    "%s.cpu.realtime_period.value", path);
    GOLDEN_OPTIONAL_TEXT(nri_resources_cpuset_cpus, resources, "%s.cpu.cpus", path);
    GOLDEN_OPTIONAL_TEXT(nri_resources_cpuset_mems, resources, "%s.cpu.mems", path);
}

static void check_memory(const nri_resources *resources, const char *path)
{
    GOLDEN_OPTIONAL(int64_t, nri_resources_memory_limit, resources, "%s.memory.limit.value", path);
    GOLDEN_OPTIONAL(int64_t, nri_resources_memory_reservation, resources,
                    "%s.memory.reservation.value", path);
    GOLDEN_OPTIONAL(int64_t, nri_resources_memory_swap, resources, "%s.memory.swap.value", path);
    GOLDEN_OPTIONAL(int64_t, nri_resources_memory_kernel, resources, "%s.memory.kernel.value",
                    path);
    GOLDEN_OPTIONAL(int64_t, nri_resources_memory_kernel_tcp, resources,
                    "%s.memory.kernel_tcp.value", path);
    GOLDEN_OPTIONAL(uint64_t, nri_resources_memory_swappiness, resources,
                    "%s.memory.swappiness.value", path);
    GOLDEN_TRUE(nri_resources_memory_disable_oom_killer, resources);
    GOLDEN_TRUE(nri_resources_memory_use_hierarchy, resources);
}

static void check_hugepages(const nri_resources *resources, const char *path)
{
    const char *size = NULL;
    uint64_t bytes = 0, found = 0;
    assert_int_equal(nri_resources_hugepage_limit_count(resources), 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(nri_resources_hugepage_limit_at(resources, i, &size, &bytes));
        GOLDEN_TEXT(size, "%s.hugepage_limits[%u].page_size", path, i);
        GOLDEN_NUMBER(uint64_t, bytes, "%s.hugepage_limits[%u].limit", path, i);
        assert_true(nri_resources_hugepage_limit_at(resources, i, NULL, NULL));
        assert_true(nri_resources_hugepage_limit(resources, size, &found));
        assert_true(found == bytes);
        assert_true(nri_resources_hugepage_limit(resources, size, NULL));
    }
    assert_false(nri_resources_hugepage_limit_at(resources, 2, &size, &bytes));
    assert_string_equal(size, "");
    assert_int_equal(bytes, 0);
    assert_false(nri_resources_hugepage_limit(resources, "2MB", &found));
    assert_int_equal(found, 0);
    assert_false(nri_resources_hugepage_limit(resources, NULL, &found));
}

static void check_device_rule(const nri_device_rule *rule, const char *path)
{
    assert_true(nri_device_rule_allow(rule));
    GOLDEN_TEXT(nri_device_rule_type(rule), "%s.type", path);
    GOLDEN_OPTIONAL(int64_t, nri_device_rule_major, rule, "%s.major.value", path);
    GOLDEN_OPTIONAL(int64_t, nri_device_rule_minor, rule, "%s.minor.value", path);
    GOLDEN_TEXT(nri_device_rule_access(rule), "%s.access", path);
}

void golden_check_resources(const nri_resources *resources, const char *path)
{
    int64_t major = 1;
    assert_true(nri_resources_is_present(resources));
    check_cpu(resources, path);
    check_memory(resources, path);
    check_hugepages(resources, path);
    GOLDEN_OPTIONAL_TEXT(nri_resources_blockio_class, resources, "%s.blockio_class.value", path);
    GOLDEN_OPTIONAL_TEXT(nri_resources_rdt_class, resources, "%s.rdt_class.value", path);
    GOLDEN_PAIRS(nri_resources_unified_count, nri_resources_unified_at, nri_resources_unified,
                 resources, golden_path("%s.unified", path), "key", "value");
    assert_int_equal(nri_resources_device_rule_count(resources), 2);
    check_device_rule(nri_resources_device_rule_at(resources, 0),
                      golden_path("%s.devices[0]", path));
    check_device_rule(nri_resources_device_rule_at(resources, 1),
                      golden_path("%s.devices[1]", path));
    assert_string_equal(nri_device_rule_type(nri_resources_device_rule_at(resources, 2)), "");
    assert_false(nri_device_rule_major(nri_resources_device_rule_at(resources, 2), &major));
    assert_int_equal(major, 0);
    GOLDEN_OPTIONAL(int64_t, nri_resources_pids_limit, resources, "%s.pids.limit", path);
}

void golden_check_mount(const nri_mount *mount, const char *path)
{
    GOLDEN_TEXT(nri_mount_destination(mount), "%s.destination", path);
    GOLDEN_TEXT(nri_mount_type(mount), "%s.type", path);
    GOLDEN_TEXT(nri_mount_source(mount), "%s.source", path);
    GOLDEN_TEXTS(nri_mount_option_count, nri_mount_option, mount, golden_path("%s.options", path));
}

void golden_check_hook(const nri_hook *hook, const char *path)
{
    GOLDEN_TEXT(nri_hook_path(hook), "%s.path", path);
    GOLDEN_TEXTS(nri_hook_arg_count, nri_hook_arg, hook, golden_path("%s.args", path));
    GOLDEN_TEXTS(nri_hook_env_count, nri_hook_env_at, hook, golden_path("%s.env", path));
    GOLDEN_OPTIONAL(int64_t, nri_hook_timeout, hook, "%s.timeout.value", path);
}

void golden_check_device(const nri_device *device, const char *path)
{
    GOLDEN_TEXT(nri_device_path(device), "%s.path", path);
    GOLDEN_TEXT(nri_device_type(device), "%s.type", path);
    GOLDEN_NUMBER(int64_t, nri_device_major(device), "%s.major", path);
    GOLDEN_NUMBER(int64_t, nri_device_minor(device), "%s.minor", path);
    GOLDEN_OPTIONAL(uint32_t, nri_device_file_mode, device, "%s.file_mode.value", path);
    GOLDEN_OPTIONAL(uint32_t, nri_device_uid, device, "%s.uid.value", path);
    GOLDEN_OPTIONAL(uint32_t, nri_device_gid, device, "%s.gid.value", path);
}

static void check_syscall(const nri_syscall *syscall, const char *path)
{
    uint32_t argument = 0;
    uint64_t value = 0, value_two = 0;
    const char *op = NULL;
    GOLDEN_TEXTS(nri_syscall_name_count, nri_syscall_name, syscall, golden_path("%s.names", path));
    GOLDEN_TEXT(nri_syscall_action(syscall), "%s.action", path);
    GOLDEN_OPTIONAL(uint32_t, nri_syscall_errno, syscall, "%s.errno_ret.value", path);
    assert_int_equal(nri_syscall_arg_count(syscall), 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(nri_syscall_arg_at(syscall, i, &argument, &value, &value_two, &op));
        GOLDEN_NUMBER(uint32_t, argument, "%s.args[%u].index", path, i);
        GOLDEN_NUMBER(uint64_t, value, "%s.args[%u].value", path, i);
        GOLDEN_NUMBER(uint64_t, value_two, "%s.args[%u].value_two", path, i);
        GOLDEN_TEXT(op, "%s.args[%u].op", path, i);
        assert_true(nri_syscall_arg_at(syscall, i, NULL, NULL, NULL, NULL));
    }
    assert_false(nri_syscall_arg_at(syscall, 2, &argument, &value, &value_two, &op));
    assert_true(argument == 0 && value == 0 && value_two == 0);
    assert_string_equal(op, "");
}

void golden_check_seccomp(const nri_seccomp *seccomp, const char *path)
{
    GOLDEN_TEXT(nri_seccomp_default_action(seccomp), "%s.default_action", path);
    GOLDEN_OPTIONAL(uint32_t, nri_seccomp_default_errno, seccomp, "%s.default_errno.value", path);
    GOLDEN_TEXTS(nri_seccomp_architecture_count, nri_seccomp_architecture, seccomp,
                 golden_path("%s.architectures", path));
    GOLDEN_TEXTS(nri_seccomp_flag_count, nri_seccomp_flag, seccomp, golden_path("%s.flags", path));
    GOLDEN_TEXT(nri_seccomp_listener_path(seccomp), "%s.listener_path", path);
    GOLDEN_TEXT(nri_seccomp_listener_metadata(seccomp), "%s.listener_metadata", path);
    assert_int_equal(nri_seccomp_syscall_count(seccomp), 2);
    check_syscall(nri_seccomp_syscall_at(seccomp, 0), golden_path("%s.syscalls[0]", path));
    check_syscall(nri_seccomp_syscall_at(seccomp, 1), golden_path("%s.syscalls[1]", path));
    assert_string_equal(nri_syscall_action(nri_seccomp_syscall_at(seccomp, 2)), "");
    assert_int_equal(nri_syscall_name_count(nri_seccomp_syscall_at(seccomp, 2)), 0);
}

void golden_check_scheduler(const nri_scheduler *scheduler, const char *path)
{
    GOLDEN_ENUM(linux_scheduler_policy, nri_scheduler_get_policy(scheduler), "%s.policy", path);
    GOLDEN_NUMBER(int32_t, nri_scheduler_nice(scheduler), "%s.nice", path);
    GOLDEN_NUMBER(int32_t, nri_scheduler_priority(scheduler), "%s.priority", path);
    assert_int_equal(nri_scheduler_flag_count(scheduler), 2);
    GOLDEN_ENUM(linux_scheduler_flag, nri_scheduler_flag_at(scheduler, 0), "%s.flags[0]", path);
    GOLDEN_ENUM(linux_scheduler_flag, nri_scheduler_flag_at(scheduler, 1), "%s.flags[1]", path);
    assert_int_equal(nri_scheduler_flag_at(scheduler, 2), -1);
    GOLDEN_NUMBER(uint64_t, nri_scheduler_runtime(scheduler), "%s.runtime", path);
    GOLDEN_NUMBER(uint64_t, nri_scheduler_deadline(scheduler), "%s.deadline", path);
    GOLDEN_NUMBER(uint64_t, nri_scheduler_period(scheduler), "%s.period", path);
}

void golden_check_rdt(const nri_rdt *rdt, const char *path)
{
    size_t count = 0;
    GOLDEN_OPTIONAL_TEXT(nri_rdt_clos_id, rdt, "%s.clos_id.value", path);
    assert_true(nri_rdt_schemata(rdt, NULL));
    assert_true(nri_rdt_schemata(rdt, &count));
    assert_int_equal(count, 2);
    GOLDEN_TEXT(nri_rdt_schema(rdt, 0), "%s.schemata.value[0]", path);
    GOLDEN_TEXT(nri_rdt_schema(rdt, 1), "%s.schemata.value[1]", path);
    assert_string_equal(nri_rdt_schema(rdt, 2), "");
    GOLDEN_TRUE(nri_rdt_enable_monitoring, rdt);
    assert_true(nri_rdt_remove(rdt));
}

void golden_check_memory_policy(const nri_memory_policy *policy, const char *path)
{
    GOLDEN_ENUM(mpol_mode, nri_memory_policy_mode(policy), "%s.mode", path);
    GOLDEN_TEXT(nri_memory_policy_nodes(policy), "%s.nodes", path);
    assert_int_equal(nri_memory_policy_flag_count(policy), 2);
    GOLDEN_ENUM(mpol_flag, nri_memory_policy_flag_at(policy, 0), "%s.flags[0]", path);
    GOLDEN_ENUM(mpol_flag, nri_memory_policy_flag_at(policy, 1), "%s.flags[1]", path);
    assert_int_equal(nri_memory_policy_flag_at(policy, 2), -1);
}
