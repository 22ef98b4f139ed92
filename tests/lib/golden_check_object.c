/* SPDX-License-Identifier: Apache-2.0 */
/* Pods, containers and updates. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "golden_check.h"
#include "proto/nri.pb-c.h"

void golden_check_pod(const nri_pod *pod, const char *path)
{
    GOLDEN_TEXT(nri_pod_id(pod), "%s.id", path);
    GOLDEN_TEXT(nri_pod_name(pod), "%s.name", path);
    GOLDEN_TEXT(nri_pod_uid(pod), "%s.uid", path);
    GOLDEN_TEXT(nri_pod_namespace(pod), "%s.namespace", path);
    GOLDEN_PAIRS(nri_pod_label_count, nri_pod_label_at, nri_pod_label, pod,
                 golden_path("%s.labels", path), "key", "value");
    GOLDEN_PAIRS(nri_pod_annotation_count, nri_pod_annotation_at, nri_pod_annotation, pod,
                 golden_path("%s.annotations", path), "key", "value");
    GOLDEN_TEXT(nri_pod_runtime_handler(pod), "%s.runtime_handler", path);
    golden_check_resources(nri_pod_overhead(pod), golden_path("%s.linux.pod_overhead", path));
    golden_check_resources(nri_pod_pod_resources(pod), golden_path("%s.linux.pod_resources", path));
    GOLDEN_TEXT(nri_pod_cgroup_parent(pod), "%s.linux.cgroup_parent", path);
    GOLDEN_TEXT(nri_pod_cgroups_path(pod), "%s.linux.cgroups_path", path);
    GOLDEN_PAIRS(nri_pod_namespace_count, nri_pod_namespace_at, nri_pod_namespace_path, pod,
                 golden_path("%s.linux.namespaces", path), "type", "path");
    golden_check_resources(nri_pod_resources(pod), golden_path("%s.linux.resources", path));
    GOLDEN_NUMBER(uint32_t, nri_pod_pid(pod), "%s.pid", path);
    GOLDEN_TEXTS(nri_pod_ip_count, nri_pod_ip, pod, golden_path("%s.ips", path));
}

static void check_mounts(const nri_container *container, const char *path)
{
    const nri_mount *mount = NULL;
    assert_int_equal(nri_container_mount_count(container), 2);
    for (unsigned i = 0; i < 2; i++) {
        golden_check_mount(nri_container_mount_at(container, i),
                           golden_path("%s.mounts[%u]", path, i));
        assert_true(nri_container_mount(container,
                                        golden_path("%s.mounts[%u].destination", path, i), &mount));
        assert_ptr_equal(mount, nri_container_mount_at(container, i));
    }
    assert_string_equal(nri_mount_destination(nri_container_mount_at(container, 2)), "");
}

static void check_hooks(const nri_container *container, const char *path)
{
    static const char *const stages[] = {
        "",          "prestart", "create_runtime", "create_container", "start_container",
        "poststart", "poststop"};
    for (int stage = NRI_HOOK_PRESTART; stage <= NRI_HOOK_POSTSTOP; stage++) {
        assert_int_equal(nri_container_hook_count(container, (enum nri_hook_stage)stage), 2);
        for (unsigned i = 0; i < 2; i++)
            golden_check_hook(nri_container_hook_at(container, (enum nri_hook_stage)stage, i),
                              golden_path("%s.hooks.%s[%u]", path, stages[stage], i));
        assert_string_equal(
            nri_hook_path(nri_container_hook_at(container, (enum nri_hook_stage)stage, 2)), "");
    }
    assert_int_equal(nri_container_hook_count(container, (enum nri_hook_stage)0), 0);
    assert_int_equal(nri_container_hook_count(container, (enum nri_hook_stage)7), 0);
    assert_string_equal(nri_hook_path(nri_container_hook_at(container, (enum nri_hook_stage)7, 0)),
                        "");
}

static void check_rlimits(const nri_container *container, const char *path)
{
    const char *type = NULL;
    uint64_t hard = 0, soft = 0;
    assert_int_equal(nri_container_rlimit_count(container), 2);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(nri_container_rlimit_at(container, i, &type, &hard, &soft));
        GOLDEN_TEXT(type, "%s.rlimits[%u].type", path, i);
        GOLDEN_NUMBER(uint64_t, hard, "%s.rlimits[%u].hard", path, i);
        GOLDEN_NUMBER(uint64_t, soft, "%s.rlimits[%u].soft", path, i);
        hard = soft = 0;
        assert_true(nri_container_rlimit(container, type, &hard, &soft));
        GOLDEN_NUMBER(uint64_t, hard, "%s.rlimits[%u].hard", path, i);
        GOLDEN_NUMBER(uint64_t, soft, "%s.rlimits[%u].soft", path, i);
        assert_true(nri_container_rlimit(container, type, NULL, NULL));
    }
    assert_false(nri_container_rlimit_at(container, 2, &type, &hard, &soft));
    assert_string_equal(type, "");
    assert_true(hard == 0 && soft == 0);
    assert_false(nri_container_rlimit(container, "RLIMIT_CORE", &hard, NULL));
    assert_false(nri_container_rlimit(container, NULL, NULL, &soft));
}

static void check_status(const nri_container *container, const char *path)
{
    GOLDEN_NUMBER(uint32_t, nri_container_pid(container), "%s.pid", path);
    GOLDEN_NUMBER(int64_t, nri_container_created_at(container), "%s.created_at", path);
    GOLDEN_NUMBER(int64_t, nri_container_started_at(container), "%s.started_at", path);
    GOLDEN_NUMBER(int64_t, nri_container_finished_at(container), "%s.finished_at", path);
    GOLDEN_NUMBER(int32_t, nri_container_exit_code(container), "%s.exit_code", path);
    GOLDEN_TEXT(nri_container_status_reason(container), "%s.status_reason", path);
    GOLDEN_TEXT(nri_container_status_message(container), "%s.status_message", path);
}

static void check_user_and_image(const nri_container *container, const char *path)
{
    uint32_t uid = 0, gid = 0;
    const char *name, *digest, *config;
    assert_true(nri_container_user(container, NULL, NULL));
    assert_true(nri_container_user(container, &uid, &gid));
    GOLDEN_NUMBER(uint32_t, uid, "%s.user.uid", path);
    GOLDEN_NUMBER(uint32_t, gid, "%s.user.gid", path);
    assert_int_equal(nri_container_additional_gid_count(container), 2);
    GOLDEN_NUMBER(uint32_t, nri_container_additional_gid(container, 0),
                  "%s.user.additional_gids[0]", path);
    GOLDEN_NUMBER(uint32_t, nri_container_additional_gid(container, 1),
                  "%s.user.additional_gids[1]", path);
    assert_int_equal(nri_container_additional_gid(container, 2), 0);
    assert_true(nri_container_image(container, NULL, NULL, NULL));
    assert_true(nri_container_image(container, &name, &digest, &config));
    GOLDEN_TEXT(name, "%s.image.name", path);
    GOLDEN_TEXT(digest, "%s.image.digest", path);
    GOLDEN_TEXT(config, "%s.image.config_digest", path);
}

static void check_devices(const nri_container *container, const char *path)
{
    const nri_device *device = NULL;
    assert_int_equal(nri_container_device_count(container), 2);
    for (unsigned i = 0; i < 2; i++) {
        golden_check_device(nri_container_device_at(container, i),
                            golden_path("%s.devices[%u]", path, i));
        assert_true(
            nri_container_device(container, golden_path("%s.devices[%u].path", path, i), &device));
        assert_ptr_equal(device, nri_container_device_at(container, i));
    }
    assert_string_equal(nri_device_path(nri_container_device_at(container, 2)), "");
    assert_false(nri_container_device(container, "/dev/null", &device));
    assert_string_equal(nri_device_path(device), "");
    assert_false(nri_container_device(container, NULL, NULL));
}

static void check_linux(const nri_container *container, const char *path)
{
    int number = 0;
    int32_t priority = 0;
    const char *text = NULL;
    const nri_seccomp *seccomp = NULL;
    const nri_scheduler *scheduler = NULL;
    const nri_rdt *rdt = NULL;
    GOLDEN_PAIRS(nri_container_namespace_count, nri_container_namespace_at,
                 nri_container_namespace_path, container, golden_path("%s.namespaces", path),
                 "type", "path");
    check_devices(container, path);
    golden_check_resources(nri_container_resources(container), golden_path("%s.resources", path));
    GOLDEN_OPTIONAL(int64_t, nri_container_oom_score_adj, container, "%s.oom_score_adj.value",
                    path);
    GOLDEN_TEXT(nri_container_cgroups_path(container), "%s.cgroups_path", path);
    assert_true(nri_container_io_priority(container, &number, &priority));
    GOLDEN_ENUM(ioprio_class, number, "%s.io_priority.class", path);
    GOLDEN_NUMBER(int32_t, priority, "%s.io_priority.priority", path);
    assert_true(nri_container_seccomp_profile(container, &number, &text));
    GOLDEN_ENUM(security_profile__profile_type, number, "%s.seccomp_profile.profile_type", path);
    GOLDEN_TEXT(text, "%s.seccomp_profile.localhost_ref", path);
    assert_true(nri_container_seccomp_policy(container, &seccomp));
    golden_check_seccomp(seccomp, golden_path("%s.seccomp_policy", path));
    GOLDEN_PAIRS(nri_container_sysctl_count, nri_container_sysctl_at, nri_container_sysctl,
                 container, golden_path("%s.sysctl", path), "key", "value");
    GOLDEN_PAIRS(nri_container_net_device_count, nri_container_net_device_at,
                 nri_container_net_device, container, golden_path("%s.net_devices", path), "key",
                 "value.name");
    assert_true(nri_container_scheduler(container, &scheduler));
    golden_check_scheduler(scheduler, golden_path("%s.scheduler", path));
    assert_true(nri_container_rdt(container, &rdt));
    golden_check_rdt(rdt, golden_path("%s.rdt", path));
}

void golden_check_container(const nri_container *container, const char *path)
{
    GOLDEN_TEXT(nri_container_id(container), "%s.id", path);
    GOLDEN_TEXT(nri_container_pod_sandbox_id(container), "%s.pod_sandbox_id", path);
    GOLDEN_TEXT(nri_container_name(container), "%s.name", path);
    GOLDEN_ENUM(container_state, nri_container_get_state(container), "%s.state", path);
    GOLDEN_PAIRS(nri_container_label_count, nri_container_label_at, nri_container_label, container,
                 golden_path("%s.labels", path), "key", "value");
    GOLDEN_PAIRS(nri_container_annotation_count, nri_container_annotation_at,
                 nri_container_annotation, container, golden_path("%s.annotations", path), "key",
                 "value");
    GOLDEN_TEXTS(nri_container_arg_count, nri_container_arg, container,
                 golden_path("%s.args", path));
    GOLDEN_TEXTS(nri_container_env_count, nri_container_env_at, container,
                 golden_path("%s.env", path));
    check_mounts(container, path);
    check_hooks(container, path);
    check_rlimits(container, path);
    check_status(container, path);
    assert_int_equal(nri_container_cdi_device_count(container), 2);
    GOLDEN_TEXT(nri_container_cdi_device(container, 0), "%s.CDI_devices[0].name", path);
    GOLDEN_TEXT(nri_container_cdi_device(container, 1), "%s.CDI_devices[1].name", path);
    assert_string_equal(nri_container_cdi_device(container, 2), "");
    check_user_and_image(container, path);
    check_linux(container, golden_path("%s.linux", path));
}

void golden_check_update(const nri_update *update, const char *path)
{
    GOLDEN_TEXT(nri_update_container_id(update), "%s.container_id", path);
    golden_check_resources(nri_update_resources(update), golden_path("%s.linux.resources", path));
    assert_true(nri_update_ignore_failure(update));
}
