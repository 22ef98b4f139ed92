/* SPDX-License-Identifier: Apache-2.0 */
/* Every reader, over messages with every field set (S32), with none, and with holes. */
#include "fixture.h"
#include "golden.h"
#include "golden_check.h"
#include "wire/message.h"

#define TYPE(name) (&nri__pkg__api__v1alpha1__##name##__descriptor)

static void *golden(struct fixture *fixture, const ProtobufCMessageDescriptor *type,
                    const char *path)
{
    return fixture_round_trip(fixture, golden_message(&fixture->arena, type, path));
}

static void test_S32_pod(void **state)
{
    golden_check_pod(nri_pod_view(golden(*state, TYPE(pod_sandbox), "pod")), "pod");
}

static void test_S32_container(void **state)
{
    golden_check_container(nri_container_view(golden(*state, TYPE(container), "ctr")), "ctr");
}

static void test_adjustment(void **state)
{
    struct fixture *fixture = *state;
    nri_adjustment *adjustment = nri_adjustment_view(
        &fixture->arena, golden(fixture, TYPE(container_adjustment), "adjust"), NRI_E_EVENT, "no");
    assert_non_null(adjustment);
    golden_check_adjustment(adjustment, "adjust");
    assert_int_equal(nri_adjustment_error(adjustment), 0);
}

static void test_updates(void **state)
{
    struct fixture *fixture = *state;
    update_message *list[] = {golden(fixture, TYPE(container_update), "update[0]"),
                              golden(fixture, TYPE(container_update), "update[1]")};
    nri_updates *updates = nri_updates_view(&fixture->arena, list, 2, NRI_E_EVENT, "no");
    assert_non_null(updates);
    assert_int_equal(nri_updates_count(updates), 2);
    golden_check_update(nri_updates_at(updates, 0), "update[0]");
    golden_check_update(nri_updates_at(updates, 1), "update[1]");
    assert_string_equal(nri_update_container_id(nri_updates_at(updates, 2)), "");
    assert_false(nri_resources_is_present(nri_update_resources(nri_updates_at(updates, 2))));
}

/* ---- nothing set ---- */

static void check_empty_resources(const nri_resources *resources)
{
    int64_t number = 1;
    const char *text = NULL;
    assert_false(nri_resources_pids_limit(resources, &number));
    assert_int_equal(number, 0);
    assert_false(nri_resources_blockio_class(resources, &text));
    assert_string_equal(text, "");
    assert_false(nri_resources_rdt_class(resources, &text));
    assert_int_equal(nri_resources_unified_count(resources), 0);
    assert_int_equal(nri_resources_hugepage_limit_count(resources), 0);
    assert_int_equal(nri_resources_device_rule_count(resources), 0);
}

static void check_empty_container(const nri_container *container)
{
    int number = 1;
    int32_t priority = 1;
    uint32_t uid = 1, gid = 1;
    const char *text = NULL;
    const nri_seccomp *seccomp = NULL;
    const nri_scheduler *scheduler = NULL;
    const nri_rdt *rdt = NULL;
    size_t count = 1;
    assert_false(nri_container_user(container, &uid, &gid));
    assert_true(uid == 0 && gid == 0);
    assert_int_equal(nri_container_additional_gid(container, 0), 0);
    assert_false(nri_container_image(container, &text, NULL, NULL));
    assert_string_equal(text, "");
    assert_false(nri_container_io_priority(container, &number, &priority));
    assert_true(number == 0 && priority == 0);
    assert_false(nri_container_seccomp_profile(container, &number, &text));
    assert_false(nri_container_seccomp_policy(container, &seccomp));
    assert_string_equal(nri_seccomp_default_action(seccomp), "");
    assert_false(nri_seccomp_default_errno(seccomp, &uid));
    assert_false(nri_container_scheduler(container, &scheduler));
    assert_int_equal(nri_scheduler_get_policy(scheduler), 0);
    assert_false(nri_container_rdt(container, &rdt));
    assert_false(nri_rdt_clos_id(rdt, &text));
    assert_string_equal(text, "");
    assert_false(nri_rdt_schemata(rdt, &count));
    assert_int_equal(count, 0);
    assert_string_equal(nri_rdt_schema(rdt, 0), "");
    assert_false(nri_rdt_remove(rdt));
    assert_false(nri_resources_is_present(nri_container_resources(container)));
    check_empty_resources(nri_container_resources(container));
    assert_int_equal(nri_container_hook_count(container, NRI_HOOK_POSTSTOP), 0);
}

static void test_nothing_set(void **state)
{
    struct fixture *fixture = *state;
    pod_message pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
    container_message container = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxContainer linux_part =
        NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER__INIT;
    check_empty_container(nri_container_view(fixture_round_trip(fixture, &container)));
    container.linux = &linux_part;
    check_empty_container(nri_container_view(fixture_round_trip(fixture, &container)));
    const nri_pod *empty = nri_pod_view(fixture_round_trip(fixture, &pod));
    assert_string_equal(nri_pod_cgroups_path(empty), "");
    assert_int_equal(nri_pod_namespace_count(empty), 0);
    assert_false(nri_resources_is_present(nri_pod_overhead(empty)));
    assert_false(nri_resources_is_present(nri_pod_pod_resources(empty)));
    assert_false(nri_resources_is_present(nri_pod_resources(empty)));
}

/* Sent but empty is present; each optional value is told from zero. */
static void test_present_and_empty(void **state)
{
    Nri__Pkg__Api__V1alpha1__LinuxResources resources =
        NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxPids pids = NRI__PKG__API__V1ALPHA1__LINUX_PIDS__INIT;
    Nri__Pkg__Api__V1alpha1__OptionalString empty = NRI__PKG__API__V1ALPHA1__OPTIONAL_STRING__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxMemory memory = NRI__PKG__API__V1ALPHA1__LINUX_MEMORY__INIT;
    Nri__Pkg__Api__V1alpha1__OptionalBool no = NRI__PKG__API__V1ALPHA1__OPTIONAL_BOOL__INIT;
    int64_t limit = 7;
    bool value = true;
    const char *name = NULL;
    const nri_resources *view = nri_resources_view(fixture_round_trip(*state, &resources));
    assert_true(nri_resources_is_present(view));
    check_empty_resources(view);
    resources.pids = &pids;
    resources.blockio_class = &empty;
    memory.disable_oom_killer = &no;
    resources.memory = &memory;
    view = nri_resources_view(fixture_round_trip(*state, &resources));
    assert_true(nri_resources_pids_limit(view, &limit));
    assert_int_equal(limit, 0);
    assert_true(nri_resources_blockio_class(view, &name));
    assert_string_equal(name, "");
    assert_false(nri_resources_rdt_class(view, &name));
    assert_true(nri_resources_memory_disable_oom_killer(view, &value));
    assert_false(value);
    value = true;
    assert_false(nri_resources_memory_use_hierarchy(view, &value));
    assert_false(value);
}

/* What a message of another origin than the decoder may hold. */
static void test_holes_read_as_empty(void **state)
{
    (void)state;
    container_message container = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxContainer linux_part =
        NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxContainer__NetDevicesEntry device =
        NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER__NET_DEVICES_ENTRY__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxContainer__NetDevicesEntry *devices[] = {NULL, &device};
    void *null[] = {NULL};
    const char *key = NULL, *value = NULL;
    const nri_container *view = nri_container_view(&container);
    device.key = (char *)(uintptr_t)protobuf_c_empty_string; /* its message value is NULL */
    container.linux = &linux_part;
    linux_part.net_devices = devices;
    linux_part.n_net_devices = 2;
    linux_part.devices = (void *)null;
    linux_part.namespaces = (void *)null;
    container.rlimits = (void *)null;
    container.cdi_devices = (void *)null;
    container.mounts = (void *)null;
    linux_part.n_devices = linux_part.n_namespaces = 1;
    container.n_rlimits = container.n_cdi_devices = container.n_mounts = 1;
    for (size_t i = 0; i < 2; i++) {
        assert_true(nri_container_net_device_at(view, i, &key, &value));
        assert_string_equal(key, "");
        assert_string_equal(value, "");
    }
    assert_true(nri_container_net_device(view, "", &value));
    assert_string_equal(value, "");
    assert_string_equal(nri_device_path(nri_container_device_at(view, 0)), "");
    assert_true(nri_container_namespace_at(view, 0, &key, &value));
    assert_string_equal(key, "");
    assert_true(nri_container_rlimit_at(view, 0, &key, NULL, NULL));
    assert_string_equal(key, "");
    assert_false(nri_container_rlimit(view, "RLIMIT_CORE", NULL, NULL));
    assert_string_equal(nri_container_cdi_device(view, 0), "");
    assert_false(nri_container_mount(view, "/a", NULL));
}

/* Where a key stands more than once, the last one counts. */
static void test_the_last_of_several(void **state)
{
    struct fixture *fixture = *state;
    container_message *container = golden(fixture, TYPE(container), "ctr");
    const nri_container *view = nri_container_view(container);
    const nri_device *device = NULL;
    const char *value = NULL;
    uint64_t hard = 0;
    container->linux->devices[0]->path = container->linux->devices[1]->path;
    container->linux->namespaces[0]->type = container->linux->namespaces[1]->type;
    container->rlimits[0]->type = container->rlimits[1]->type;
    assert_true(nri_container_device(view, container->linux->devices[0]->path, &device));
    assert_ptr_equal(device, nri_container_device_at(view, 1));
    assert_true(nri_container_namespace_path(view, "ctr.linux.namespaces[1].type", &value));
    assert_string_equal(value, "ctr.linux.namespaces[1].path");
    assert_true(nri_container_rlimit(view, "ctr.rlimits[1].type", &hard, NULL));
    assert_true(hard == golden_number("ctr.rlimits[1].hard"));
}

/* ---- S33, S48, S12, S13 ---- */

static void test_S33_exit_status(void **state)
{
    container_message container = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    struct nri_error error;
    size_t size = 0;
    container.exit_code = -1;
    container.finished_at = 1;
    assert_int_equal(nri_message_size(&container.base, &size, &error), 0);
    assert_int_equal(size, (2 + 10) + (2 + 1)); /* tags of two bytes; -1 takes ten */
    const nri_container *view = nri_container_view(fixture_round_trip(*state, &container));
    assert_int_equal(nri_container_exit_code(view), -1);
    assert_int_equal(nri_container_finished_at(view), 1);
    assert_int_equal(nri_container_started_at(view), 0);
    assert_int_equal(nri_container_pid(view), 0);
}

static void test_S13_absent_numbers_of_a_rule_stay_absent(void **state)
{
    struct fixture *fixture = *state;
    Nri__Pkg__Api__V1alpha1__LinuxResources resources =
        NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup deny =
        NRI__PKG__API__V1ALPHA1__LINUX_DEVICE_CGROUP__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup allow =
        NRI__PKG__API__V1ALPHA1__LINUX_DEVICE_CGROUP__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup *rules[] = {&deny, &allow};
    Nri__Pkg__Api__V1alpha1__OptionalInt64 major = NRI__PKG__API__V1ALPHA1__OPTIONAL_INT64__INIT;
    int64_t number = 1;
    deny.type = TEXT(fixture, "a");
    allow.allow = 1;
    allow.type = TEXT(fixture, "c");
    allow.access = TEXT(fixture, "rwm");
    allow.major = &major; /* 0, which is not "all" */
    resources.devices = rules;
    resources.n_devices = 2;
    const nri_resources *view = nri_resources_view(fixture_round_trip(fixture, &resources));
    const nri_device_rule *rule = nri_resources_device_rule_at(view, 0);
    assert_false(nri_device_rule_allow(rule));
    assert_string_equal(nri_device_rule_type(rule), "a");
    assert_false(nri_device_rule_major(rule, &number));
    assert_int_equal(number, 0);
    assert_false(nri_device_rule_minor(rule, NULL));
    assert_string_equal(nri_device_rule_access(rule), "");
    rule = nri_resources_device_rule_at(view, 1);
    assert_true(nri_device_rule_allow(rule));
    assert_true(nri_device_rule_major(rule, &number));
    assert_int_equal(number, 0);
    assert_false(nri_device_rule_minor(rule, &number));
    assert_string_equal(nri_device_rule_access(rule), "rwm");
}

/* ---- names ---- */

static void test_names(void **state)
{
    (void)state;
    for (int i = NRI_SCHED_NONE; i <= NRI_SCHED_DEADLINE; i++)
        assert_int_equal(nri_scheduler_policy_from_name(nri_scheduler_policy_name(i)), i);
    for (int i = NRI_SCHED_FLAG_RESET_ON_FORK; i <= NRI_SCHED_FLAG_UTIL_CLAMP_MAX; i++)
        assert_int_equal(nri_scheduler_flag_from_name(nri_scheduler_flag_name(i)), i);
    for (int i = NRI_IOPRIO_CLASS_NONE; i <= NRI_IOPRIO_CLASS_IDLE; i++)
        assert_int_equal(nri_ioprio_class_from_name(nri_ioprio_class_name(i)), i);
    for (int i = NRI_MPOL_DEFAULT; i <= NRI_MPOL_WEIGHTED_INTERLEAVE; i++)
        assert_int_equal(nri_mpol_mode_from_name(nri_mpol_mode_name(i)), i);
    for (int i = NRI_MPOL_F_STATIC_NODES; i <= NRI_MPOL_F_NUMA_BALANCING; i++)
        assert_int_equal(nri_mpol_flag_from_name(nri_mpol_flag_name(i)), i);
    assert_string_equal(nri_scheduler_policy_name(NRI_SCHED_FIFO), "SCHED_FIFO");
    assert_string_equal(nri_scheduler_flag_name(NRI_SCHED_FLAG_RECLAIM), "SCHED_FLAG_RECLAIM");
    assert_string_equal(nri_ioprio_class_name(NRI_IOPRIO_CLASS_BE), "IOPRIO_CLASS_BE");
    assert_string_equal(nri_mpol_mode_name(NRI_MPOL_BIND), "MPOL_BIND");
    assert_string_equal(nri_mpol_flag_name(NRI_MPOL_F_STATIC_NODES), "MPOL_F_STATIC_NODES");
    assert_string_equal(nri_scheduler_policy_name(8), "?");
    assert_string_equal(nri_scheduler_policy_name(-1), "?");
    assert_int_equal(nri_scheduler_policy_from_name("sched_fifo"), -1);
    assert_int_equal(nri_scheduler_policy_from_name("SCHED_FIFO "), -1);
    assert_int_equal(nri_scheduler_policy_from_name(""), -1);
    assert_int_equal(nri_scheduler_policy_from_name(NULL), -1);
    assert_int_equal(nri_ioprio_class_from_name("BE"), -1);
}

static void test_hook_stage_names(void **state)
{
    (void)state;
    assert_string_equal(nri_hook_stage_name(NRI_HOOK_PRESTART), "prestart");
    assert_string_equal(nri_hook_stage_name(NRI_HOOK_CREATE_RUNTIME), "createRuntime");
    assert_string_equal(nri_hook_stage_name(NRI_HOOK_CREATE_CONTAINER), "createContainer");
    assert_string_equal(nri_hook_stage_name(NRI_HOOK_START_CONTAINER), "startContainer");
    assert_string_equal(nri_hook_stage_name(NRI_HOOK_POSTSTART), "poststart");
    assert_string_equal(nri_hook_stage_name(NRI_HOOK_POSTSTOP), "poststop");
    assert_string_equal(nri_hook_stage_name((enum nri_hook_stage)0), "?");
    assert_string_equal(nri_hook_stage_name((enum nri_hook_stage)7), "?");
}

#define model_test(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        model_test(test_S32_pod),
        model_test(test_S32_container),
        model_test(test_adjustment),
        model_test(test_updates),
        model_test(test_nothing_set),
        model_test(test_present_and_empty),
        cmocka_unit_test(test_holes_read_as_empty),
        model_test(test_the_last_of_several),
        model_test(test_S33_exit_status),
        model_test(test_S13_absent_numbers_of_a_rule_stay_absent),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_hook_stage_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
