/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "golden.h"
#include "golden_check.h"
#include "proto/nri.pb-c.h"

/* GOLDEN_PAIRS for what can be removed too, by a reader of one pair. */
typedef bool (*pair_at)(const nri_adjustment *adjustment, size_t index, const char **key,
                        const char **value, bool *removed);

static void check_pairs(const nri_adjustment *adjustment, pair_at at, const char *path,
                        const char *key_name, const char *value_name)
{
    const char *key = NULL, *value = NULL;
    bool removed = true;
    for (unsigned i = 0; i < 2; i++) {
        assert_true(at(adjustment, i, &key, &value, &removed));
        GOLDEN_TEXT(key, "%s[%u].%s", path, i, key_name);
        GOLDEN_TEXT(value, "%s[%u].%s", path, i, value_name);
        assert_false(removed);
        assert_true(at(adjustment, i, NULL, NULL, NULL));
    }
    removed = true;
    assert_false(at(adjustment, 2, &key, &value, &removed));
    assert_string_equal(key, "");
    assert_string_equal(value, "");
    assert_false(removed);
    assert_false(at(adjustment, SIZE_MAX, NULL, NULL, NULL));
}

static void check_found(const nri_adjustment *adjustment,
                        bool (*get)(const nri_adjustment *, const char *, const char **),
                        const char *path)
{
    const char *value = NULL;
    for (unsigned i = 0; i < 2; i++) {
        assert_true(get(adjustment, golden_path("%s[%u].key", path, i), &value));
        GOLDEN_TEXT(value, "%s[%u].value", path, i);
    }
    assert_false(get(adjustment, "no such", &value));
    assert_string_equal(value, "");
    assert_false(get(adjustment, NULL, NULL));
}

static void check_plain(const nri_adjustment *adjustment, const char *path)
{
    bool removed = true;
    const char *annotations = golden_path("%s.annotations", path);
    assert_int_equal(nri_adjustment_annotation_count(adjustment), 2);
    check_pairs(adjustment, nri_adjustment_annotation_at, annotations, "key", "value");
    check_found(adjustment, nri_adjustment_annotation, golden_path("%s.annotations", path));
    assert_int_equal(nri_adjustment_env_count(adjustment), 2);
    check_pairs(adjustment, nri_adjustment_env_at, golden_path("%s.env", path), "key", "value");
    check_found(adjustment, nri_adjustment_env, golden_path("%s.env", path));
    assert_int_equal(nri_adjustment_mount_count(adjustment), 2);
    for (unsigned i = 0; i < 2; i++) {
        golden_check_mount(nri_adjustment_mount_at(adjustment, i, &removed),
                           golden_path("%s.mounts[%u]", path, i));
        assert_false(removed);
        GOLDEN_TEXT(nri_adjustment_mount_destination_at(adjustment, i), "%s.mounts[%u].destination",
                    path, i);
    }
    assert_string_equal(nri_mount_source(nri_adjustment_mount_at(adjustment, 2, NULL)), "");
    assert_string_equal(nri_adjustment_mount_destination_at(adjustment, 2), "");
    GOLDEN_TEXTS(nri_adjustment_arg_count, nri_adjustment_arg, adjustment,
                 golden_path("%s.args", path));
    assert_false(nri_adjustment_args_replace(adjustment));
}

static void check_additive(const nri_adjustment *adjustment, const char *path)
{
    static const char *const stages[] = {
        "",          "prestart", "create_runtime", "create_container", "start_container",
        "poststart", "poststop"};
    const char *type = NULL;
    uint64_t hard = 0, soft = 0;
    for (int stage = NRI_HOOK_PRESTART; stage <= NRI_HOOK_POSTSTOP; stage++) {
        assert_int_equal(nri_adjustment_hook_count(adjustment, (enum nri_hook_stage)stage), 2);
        for (unsigned i = 0; i < 2; i++)
            golden_check_hook(nri_adjustment_hook_at(adjustment, (enum nri_hook_stage)stage, i),
                              golden_path("%s.hooks.%s[%u]", path, stages[stage], i));
    }
    assert_int_equal(nri_adjustment_rlimit_count(adjustment), 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(nri_adjustment_rlimit_at(adjustment, i, &type, &hard, &soft));
        GOLDEN_TEXT(type, "%s.rlimits[%u].type", path, i);
        GOLDEN_NUMBER(uint64_t, hard, "%s.rlimits[%u].hard", path, i);
        GOLDEN_NUMBER(uint64_t, soft, "%s.rlimits[%u].soft", path, i);
    }
    assert_false(nri_adjustment_rlimit_at(adjustment, 2, NULL, NULL, NULL));
    assert_int_equal(nri_adjustment_cdi_device_count(adjustment), 2);
    GOLDEN_TEXT(nri_adjustment_cdi_device(adjustment, 0), "%s.CDI_devices[0].name", path);
    GOLDEN_TEXT(nri_adjustment_cdi_device(adjustment, 1), "%s.CDI_devices[1].name", path);
    assert_string_equal(nri_adjustment_cdi_device(adjustment, 2), "");
}

static void check_linux_lists(const nri_adjustment *adjustment, const char *path)
{
    bool removed = true;
    assert_int_equal(nri_adjustment_device_count(adjustment), 2);
    for (unsigned i = 0; i < 2; i++) {
        golden_check_device(nri_adjustment_device_at(adjustment, i, &removed),
                            golden_path("%s.devices[%u]", path, i));
        assert_false(removed);
        GOLDEN_TEXT(nri_adjustment_device_path_at(adjustment, i), "%s.devices[%u].path", path, i);
    }
    assert_string_equal(nri_device_type(nri_adjustment_device_at(adjustment, 2, NULL)), "");
    assert_string_equal(nri_adjustment_device_path_at(adjustment, 2), "");
    assert_int_equal(nri_adjustment_namespace_count(adjustment), 2);
    check_pairs(adjustment, nri_adjustment_namespace_at, golden_path("%s.namespaces", path), "type",
                "path");
    assert_int_equal(nri_adjustment_sysctl_count(adjustment), 2);
    check_pairs(adjustment, nri_adjustment_sysctl_at, golden_path("%s.sysctl", path), "key",
                "value");
    check_found(adjustment, nri_adjustment_sysctl, golden_path("%s.sysctl", path));
    assert_int_equal(nri_adjustment_net_device_count(adjustment), 2);
    check_pairs(adjustment, nri_adjustment_net_device_at, golden_path("%s.net_devices", path),
                "key", "value.name");
}

static void check_linux(const nri_adjustment *adjustment, const char *path)
{
    int ioprio_class = 0;
    int32_t priority = 0;
    const nri_seccomp *seccomp = NULL;
    const nri_scheduler *scheduler = NULL;
    const nri_rdt *rdt = NULL;
    const nri_memory_policy *policy = NULL;
    golden_check_resources(nri_adjustment_resources(adjustment), golden_path("%s.resources", path));
    GOLDEN_TEXT(nri_adjustment_cgroups_path(adjustment), "%s.cgroups_path", path);
    GOLDEN_OPTIONAL(int64_t, nri_adjustment_oom_score_adj, adjustment, "%s.oom_score_adj.value",
                    path);
    assert_true(nri_adjustment_io_priority(adjustment, NULL, NULL));
    assert_true(nri_adjustment_io_priority(adjustment, &ioprio_class, &priority));
    GOLDEN_ENUM(ioprio_class, ioprio_class, "%s.io_priority.class", path);
    GOLDEN_NUMBER(int32_t, priority, "%s.io_priority.priority", path);
    assert_true(nri_adjustment_seccomp_policy(adjustment, &seccomp));
    golden_check_seccomp(seccomp, golden_path("%s.seccomp_policy", path));
    assert_true(nri_adjustment_scheduler(adjustment, &scheduler));
    golden_check_scheduler(scheduler, golden_path("%s.scheduler", path));
    assert_true(nri_adjustment_rdt(adjustment, &rdt));
    golden_check_rdt(rdt, golden_path("%s.rdt", path));
    assert_true(nri_adjustment_memory_policy(adjustment, &policy));
    golden_check_memory_policy(policy, golden_path("%s.memory_policy", path));
}

void golden_check_adjustment(const nri_adjustment *adjustment, const char *path)
{
    char linux_path[128];
    assert_false(nri_adjustment_is_empty(adjustment));
    check_plain(adjustment, path);
    check_additive(adjustment, path);
    (void)snprintf(linux_path, sizeof linux_path, "%s.linux", path);
    check_linux_lists(adjustment, linux_path);
    check_linux(adjustment, linux_path);
}
