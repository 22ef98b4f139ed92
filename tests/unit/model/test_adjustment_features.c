/* SPDX-License-Identifier: Apache-2.0 */
/* Which features an adjustment says it uses: each by itself, together, and of a message that was
 * received. */
#include <stdio.h>

#include "refusal.h"

#define BIT(name) (UINT64_C(1) << NRI_FEATURE_##name)

static const char *const texts[] = {"a"};

static int hook(nri_adjustment *a)
{
    return nri_adjustment_add_hook(a, NRI_HOOK_POSTSTOP, "/bin/a", NULL, 0, NULL, 0, NULL);
}

static int seccomp(nri_adjustment *a)
{
    return nri_seccomp_set_default_action(nri_adjustment_edit_seccomp_policy(a), "SCMP_ACT_ERRNO");
}

#define CALLS(X)                                                                                   \
    X(nri_adjustment_add_annotation(a, "k", "v"), BIT(ANNOTATIONS))                                \
    X(nri_adjustment_remove_annotation(a, "r"), BIT(ANNOTATIONS))                                  \
    X(nri_adjustment_add_mount(a, "/a", NULL, NULL, NULL, 0), BIT(MOUNTS))                         \
    X(nri_adjustment_add_env(a, "K", "v"), BIT(ENV))                                               \
    X(nri_adjustment_replace_env(a, "R", "v"), BIT(ENV))                                           \
    X(nri_adjustment_remove_env(a, "X"), BIT(ENV) | BIT(REMOVE_ENV))                               \
    X(nri_adjustment_set_args(a, texts, 1), BIT(ARGS))                                             \
    X(hook(a), BIT(HOOKS))                                                                         \
    X(nri_adjustment_add_rlimit(a, "RLIMIT_CPU", 1, 1), BIT(RLIMITS))                              \
    X(nri_adjustment_add_cdi_device(a, "vendor.com/gpu=0"), BIT(CDI_DEVICES))                      \
    X(nri_adjustment_add_device(a, "/d", "c", 1, 1, NULL, NULL, NULL), BIT(DEVICES))               \
    X(nri_adjustment_replace_device(a, "/e", "c", 1, 1, NULL, NULL, NULL), BIT(DEVICES))           \
    X(nri_adjustment_remove_device(a, "/x"), BIT(DEVICES) | BIT(REMOVE_DEVICE))                    \
    X(nri_adjustment_set_cpu_shares(a, 2), BIT(CPU))                                               \
    X(nri_adjustment_set_cpu_realtime_period(a, 2), BIT(CPU))                                      \
    X(nri_adjustment_set_cpuset_mems(a, "0"), BIT(CPU))                                            \
    X(nri_adjustment_set_memory_limit(a, 1), BIT(MEMORY_LIMIT))                                    \
    X(nri_adjustment_set_memory_swap(a, 1), BIT(MEMORY_OTHER))                                     \
    X(nri_adjustment_set_memory_use_hierarchy(a, false), BIT(MEMORY_OTHER))                        \
    X(nri_adjustment_set_hugepage_limit(a, "2MB", 1), BIT(HUGEPAGE_LIMITS))                        \
    X(nri_adjustment_set_blockio_class(a, ""), BIT(BLOCKIO_CLASS))                                 \
    X(nri_adjustment_set_rdt_class(a, "gold"), BIT(RDT_CLASS))                                     \
    X(nri_adjustment_set_unified(a, "memory.high", "1"), BIT(UNIFIED))                             \
    X(nri_adjustment_add_device_rule(a, true, "a", NULL, NULL, "r"), BIT(DEVICE_RULES))            \
    X(nri_adjustment_set_pids_limit(a, 1), BIT(PIDS_LIMIT))                                        \
    X(nri_adjustment_set_cgroups_path(a, "/c"), BIT(CGROUPS_PATH))                                 \
    X(nri_adjustment_set_oom_score_adj(a, 0), BIT(OOM_SCORE_ADJ))                                  \
    X(nri_adjustment_set_io_priority(a, NRI_IOPRIO_CLASS_NONE, 0), BIT(IO_PRIORITY))               \
    X(seccomp(a), BIT(SECCOMP_POLICY))                                                             \
    X(nri_adjustment_add_namespace(a, "pid", NULL), BIT(NAMESPACES))                               \
    X(nri_adjustment_remove_namespace(a, "ipc"), BIT(NAMESPACES))                                  \
    X(nri_adjustment_set_sysctl(a, "a.b", "1"), BIT(SYSCTL))                                       \
    X(nri_adjustment_remove_net_device(a, "eth0"), BIT(NET_DEVICES))                               \
    X(nri_adjustment_set_scheduler(a, NRI_SCHED_NONE, 0, 0, NULL, 0, 0, 0, 0), BIT(SCHEDULER))     \
    X(nri_adjustment_remove_rdt(a), BIT(RDT))                                                      \
    X(nri_adjustment_set_rdt_enable_monitoring(a, false), BIT(RDT))                                \
    X(nri_adjustment_set_memory_policy(a, NRI_MPOL_DEFAULT, NULL, NULL, 0), BIT(MEMORY_POLICY))

/* A reply looks only at adjustments with something that a runtime may leave away silently. */
static void check_is_asked(const nri_adjustment *adjustment, uint64_t used)
{
    const uint64_t everywhere = BIT(ANNOTATIONS) | BIT(MOUNTS) | BIT(ENV);
    const nri_feature_check ask = nri_adjustment_feature_check(adjustment, 0);
    assert_int_equal(ask != NULL, (used & ~everywhere) != 0);
    if (ask == NULL)
        return;
    struct nri_error error;
    struct nri_feature_place docker = {"docker", "29.7.0", "0.12.1", false};
    const struct nri_feature_place another = {"another", "1.0", "1.0", true};
    uint64_t settled = everywhere, seen = 0;
    while (ask(adjustment, &docker, &settled, &error)) {
        assert_int_equal(error.code, 0);
        const char *what = strncmp(error.text, "remove-", 7) == 0
                               ? ": docker 29.7.0 with NRI 0.12.1 acts on this only where another "
                                 "plugin set it"
                               : ": docker 29.7.0 has NRI 0.12.1, and refuses this";
        assert_string_equal(error.text + strlen(error.text) - strlen(what), what);
        seen++;
    }
    assert_int_equal(settled, used | everywhere);
    assert_int_equal(seen, __builtin_popcountll(used & ~everywhere));
    settled = 0;
    assert_false(ask(adjustment, &another, &settled, &error));
    assert_int_equal(settled, used);
    docker.strict = true;
    settled = everywhere;
    /* Whether a removal is ignored nobody can tell: it is no error. An error is not settled. */
    const uint64_t refused = used & ~(everywhere | BIT(REMOVE_ENV) | BIT(REMOVE_DEVICE));
    for (int i = 0; i < 2 && refused != 0; i++) {
        assert_true(ask(adjustment, &docker, &settled, &error));
        assert_int_equal(error.code, NRI_E_UNSUPPORTED);
        assert_non_null(strstr(error.text, ", and refuses this (strict_features)"));
        assert_int_equal(settled, everywhere);
    }
    /* It is asked as long as one of what was used is not settled. */
    for (uint64_t left = used & ~everywhere; left != 0; left &= left - 1)
        assert_non_null(nri_adjustment_feature_check(adjustment, used & ~(left & ~(left - 1))));
}

/* Of the adjustment itself, and of its message as a validator would get it. */
static void check(struct fixture *fixture, const nri_adjustment *adjustment, uint64_t expected)
{
    assert_int_equal(nri_adjustment_features(adjustment), expected);
    nri_adjustment *view = nri_adjustment_view(
        &fixture->arena, fixture_adjustment(fixture, adjustment), NRI_E_EVENT, "read only");
    assert_int_equal(nri_adjustment_features(view), expected);
}

static void test_each(void **state)
{
    struct fixture *fixture = *state;
    nri_adjustment *a;
#define ALONE(call, bits)                                                                          \
    a = fixture_make(fixture);                                                                     \
    assert_int_equal(nri_adjustment_features(a), 0);                                               \
    OK(call);                                                                                      \
    check(fixture, a, bits);                                                                       \
    check_is_asked(a, bits);
    CALLS(ALONE)
}

static void test_together(void **state)
{
    uint64_t expected = 0;
    nri_adjustment *a = fixture_make(*state);
#define ONE_MORE(call, bits)                                                                       \
    OK(call);                                                                                      \
    expected |= (bits);                                                                            \
    check(*state, a, expected);
    CALLS(ONE_MORE)
    check_is_asked(a, expected);
    OK(nri_adjustment_add_env(a, "X", "there again"));
    OK(nri_adjustment_add_device(a, "/x", "c", 1, 1, NULL, NULL, NULL));
    check(*state, a, expected & ~(BIT(REMOVE_ENV) | BIT(REMOVE_DEVICE)));
}

/* Runtimes allow the devices that they add by themselves: a rule that says no more needs nobody who
 * knows rules. */
static void test_rules_of_the_devices(void **state)
{
    const int64_t seven = 7, zero = 0, one = 1;
    nri_adjustment *a = fixture_make(*state);
    OK(nri_adjustment_add_device(a, "/a", "u", 7, 0, NULL, NULL, NULL));
    OK(nri_adjustment_remove_device(a, "/gone"));
    OK(nri_adjustment_add_device(a, "/b", "b", 7, 0, NULL, NULL, NULL));
    OK(nri_adjustment_add_device(a, "/c", "b", 7, 0, NULL, NULL, NULL));
    OK(nri_adjustment_add_device(a, "/d", "b", 7, 1, NULL, NULL, NULL));
    const uint64_t without = BIT(DEVICES) | BIT(REMOVE_DEVICE);
    OK(nri_adjustment_add_device_rule(a, true, "c", &seven, &zero, "rwm"));
    OK(nri_adjustment_add_device_rule(a, true, "b", &seven, &zero, "r"));
    OK(nri_adjustment_add_device_rule(a, true, "b", &seven, &one, "rw"));
    check(*state, a, without);
    OK(nri_adjustment_add_device_rule(a, true, "c", &one, &one, "r"));
    check(*state, a, without | BIT(DEVICE_RULES));
}

static void test_rules_of_other_devices(void **state)
{
    const int64_t seven = 7, zero = 0, one = 1;
    const struct {
        bool allow;
        const char *type;
        const int64_t *major, *minor;
    } rules[] = {{false, "b", &seven, &zero}, {true, "c", &seven, &zero},
                 {true, "a", &seven, &zero},  {true, "b", &one, &zero},
                 {true, "b", &seven, &one},   {true, "b", NULL, &zero},
                 {true, "b", &seven, NULL}};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        nri_adjustment *a = fixture_make(*state);
        OK(nri_adjustment_add_device(a, "/b", "b", 7, 0, NULL, NULL, NULL));
        OK(nri_adjustment_add_device_rule(a, rules[i].allow, rules[i].type, rules[i].major,
                                          rules[i].minor, "rwm"));
        check(*state, a, BIT(DEVICES) | BIT(DEVICE_RULES));
    }
}

/* Devices and their rules stand in any order, few of them and many: found again after a device was
 * set anew, put by two plugins, or sorted by a runtime. */
static void test_rules_in_any_order(void **state)
{
    struct fixture *fixture = *state;
    static const int counts[] = {1, 2, 16, 17, 100};
    for (size_t n = 0; n < sizeof counts / sizeof counts[0]; n++) {
        const int count = counts[n];
        for (int step = 1; step < count + 2; step += 1 + count / 8) {
            char path[16];
            const int64_t one = 1;
            nri_adjustment *a = fixture_make(fixture);
            for (int i = 0; i < count; i++) {
                snprintf(path, sizeof path, "/dev/%d", i);
                OK(nri_adjustment_add_device(a, path, "c", i / 3, i % 3, NULL, NULL, NULL));
            }
            for (int i = count; i-- > 0;) {
                const int64_t major = i * step % count / 3, minor = i * step % count % 3;
                OK(nri_adjustment_add_device_rule(a, true, "c", &major, &minor, "rwm"));
            }
            check(fixture, a, BIT(DEVICES));
            fail_alloc_arm(&fixture->memory, 1); /* without memory the answer is the same */
            assert_int_equal(nri_adjustment_features(a), BIT(DEVICES));
            assert_int_equal(fixture->memory.fired, count > 16);
            fail_alloc_arm(&fixture->memory, 0);
            const int64_t beyond = (count - 1) / 3 + 1;
            OK(nri_adjustment_add_device_rule(a, true, "c", &beyond, &one, "rwm"));
            check(fixture, a, BIT(DEVICES) | BIT(DEVICE_RULES));
        }
    }
}

/* So many that a step a rule and device would take minutes. */
static void test_many_rules_in_the_wrong_order(void **state)
{
    enum { MANY = 300000 };
    static char type[] = "b";
    struct fixture *fixture = *state;
    Nri__Pkg__Api__V1alpha1__LinuxDevice *devices = calloc(MANY, sizeof *devices);
    Nri__Pkg__Api__V1alpha1__LinuxDevice **device_list = calloc(MANY, sizeof(void *));
    Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup *rules = calloc(MANY, sizeof *rules);
    Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup **rule_list = calloc(MANY, sizeof(void *));
    Nri__Pkg__Api__V1alpha1__OptionalInt64 *numbers = calloc(MANY, sizeof *numbers);
    assert_true(devices != NULL && device_list != NULL && rules != NULL && rule_list != NULL &&
                numbers != NULL);
    for (size_t i = 0; i < MANY; i++) {
        device_list[i] = &devices[i];
        rule_list[MANY - 1 - i] = &rules[i];
        nri__pkg__api__v1alpha1__linux_device__init(&devices[i]);
        nri__pkg__api__v1alpha1__linux_device_cgroup__init(&rules[i]);
        nri__pkg__api__v1alpha1__optional_int64__init(&numbers[i]);
        numbers[i].value = devices[i].major = devices[i].minor = (int64_t)i;
        devices[i].type = rules[i].type = type;
        rules[i].allow = true;
        rules[i].major = rules[i].minor = &numbers[i];
    }
    Nri__Pkg__Api__V1alpha1__LinuxResources resources =
        NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment linux_part =
        NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER_ADJUSTMENT__INIT;
    adjustment_message message = NRI__PKG__API__V1ALPHA1__CONTAINER_ADJUSTMENT__INIT;
    resources.devices = rule_list;
    resources.n_devices = linux_part.n_devices = MANY;
    linux_part.devices = device_list;
    linux_part.resources = &resources;
    message.linux = &linux_part;
    nri_adjustment *view = nri_adjustment_view(&fixture->arena, &message, NRI_E_EVENT, "read");
    assert_int_equal(nri_adjustment_features(view), BIT(DEVICES));
    numbers[MANY / 2].value = MANY;
    assert_int_equal(nri_adjustment_features(view), BIT(DEVICES) | BIT(DEVICE_RULES));
    free(numbers);
    free(rule_list);
    free(rules);
    free(device_list);
    free(devices);
}

/* What is said of one feature: Docker refuses what its NRI hands over, and never sees the rest. */
static void test_what_is_said(void **state)
{
    static const struct {
        struct nri_feature_place place;
        const char *text;
    } cases[] = {
        {{"docker", "29.5.0", "0.12.0", false},
         "memory-policy: docker 29.5.0 has NRI 0.12.0, and refuses this"},
        {{"docker", "29.5.0", "0.12.0", true},
         "memory-policy: docker 29.5.0 has NRI 0.12.0, and refuses this (strict_features)"},
        {{"docker", "29.2.0", "0.11.0", false},
         "memory-policy: docker 29.2.0 has NRI 0.11.0, which ignores this"},
        {{"docker", "29.2.0", "0.11.0", true},
         "memory-policy: docker 29.2.0 has NRI 0.11.0, which ignores this (strict_features)"},
        {{"docker", "odd", "unknown", true},
         "memory-policy: docker odd has NRI unknown, which may ignore this"},
        {{"containerd", "2.2.1", "0.11.0", false},
         "memory-policy: containerd 2.2.1 has NRI 0.11.0, which ignores this"},
        {{"another", "1", "unknown", true},
         "memory-policy: another 1 has NRI unknown, which may ignore this"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nri_adjustment *a = fixture_make(*state);
        struct nri_error error;
        uint64_t settled = 0;
        OK(nri_adjustment_set_memory_policy(a, NRI_MPOL_LOCAL, NULL, NULL, 0));
        const nri_feature_check ask = nri_adjustment_feature_check(a, 0);
        assert_non_null(ask);
        assert_true(ask(a, &cases[i].place, &settled, &error));
        assert_string_equal(error.text, cases[i].text);
        assert_int_equal(error.code != 0, strstr(error.text, "(strict_features)") != NULL);
    }
}

/* An NRI may have what the runtime around it does not act on: that is not the NRI's doing. */
static void test_what_the_nri_has_and_the_runtime_not(void **state)
{
    const struct nri_feature_place place = {"containerd", "1.7.26", "0.8.0", false};
    nri_adjustment *a = fixture_make(*state);
    struct nri_error error;
    uint64_t settled = 0;
    OK(nri_adjustment_add_cdi_device(a, "vendor.com/gpu=0"));
    OK(nri_adjustment_set_memory_swap(a, 1));
    OK(nri_adjustment_set_sysctl(a, "a.b", "1"));
    const nri_feature_check ask = nri_adjustment_feature_check(a, 0);
    assert_true(ask(a, &place, &settled, &error));
    assert_string_equal(
        error.text,
        "cdi-devices: containerd 1.7.26 does not act on this, though its NRI 0.8.0 has it");
    assert_true(ask(a, &place, &settled, &error));
    assert_string_equal(error.text, "sysctl: containerd 1.7.26 has NRI 0.8.0, which ignores this");
    assert_true(ask(a, &place, &settled, &error));
    assert_string_equal(
        error.text,
        "memory-other: containerd 1.7.26 does not act on this, though its NRI 0.8.0 has it");
    assert_false(ask(a, &place, &settled, &error));
}

/* What is there, or may be, is not among what is missing. */
static void test_strict_names_all(void **state)
{
    const struct nri_feature_place place = {"containerd", "2.1.9", "0.8.0", true};
    nri_adjustment *a = fixture_make(*state);
    struct nri_error error;
    uint64_t settled = 0;
    OK(nri_adjustment_set_oom_score_adj(a, 1));
    OK(nri_adjustment_set_args(a, texts, 1));
    OK(nri_adjustment_set_sysctl(a, "a.b", "1"));
    OK(nri_adjustment_remove_env(a, "A"));
    OK(nri_adjustment_set_memory_swap(a, 1));
    OK(nri_adjustment_set_cpu_shares(a, 2));
    const nri_feature_check ask = nri_adjustment_feature_check(a, 0);
    for (int i = 0; i < 2; i++) {
        assert_true(ask(a, &place, &settled, &error));
        assert_int_equal(error.code, NRI_E_UNSUPPORTED);
        assert_string_equal(error.text, "args: containerd 2.1.9 has NRI 0.8.0, which ignores this "
                                        "(strict_features); missing too: sysctl, memory-other");
    }
}

/* Go runtimes send validators every message there can be, with nothing in it. */
static void test_empty_messages(void **state)
{
    struct fixture *fixture = *state;
    Nri__Pkg__Api__V1alpha1__Hooks hooks = NRI__PKG__API__V1ALPHA1__HOOKS__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxMemory memory = NRI__PKG__API__V1ALPHA1__LINUX_MEMORY__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxCPU cpu = NRI__PKG__API__V1ALPHA1__LINUX_CPU__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxRdt rdt = NRI__PKG__API__V1ALPHA1__LINUX_RDT__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxResources resources =
        NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
    Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment linux_part =
        NRI__PKG__API__V1ALPHA1__LINUX_CONTAINER_ADJUSTMENT__INIT;
    adjustment_message message = NRI__PKG__API__V1ALPHA1__CONTAINER_ADJUSTMENT__INIT;
    resources.memory = &memory;
    resources.cpu = &cpu;
    linux_part.resources = &resources;
    linux_part.rdt = &rdt;
    message.hooks = &hooks;
    message.linux = &linux_part;
    nri_adjustment *view = nri_adjustment_view(&fixture->arena, &message, NRI_E_EVENT, "read");
    assert_int_equal(nri_adjustment_features(view), 0);
    assert_int_equal(nri_adjustment_features(NULL), 0);
}

/* A policy is nothing that a runtime could apply until it says what happens to other calls. */
static void test_policy_without_default_action(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    assert_int_equal(nri_adjustment_check(NULL), 0);
    assert_int_equal(nri_adjustment_check(a), 0);
    nri_seccomp *policy = nri_adjustment_edit_seccomp_policy(a);
    assert_non_null(policy);
    assert_ptr_equal(nri_adjustment_edit_seccomp_policy(a), policy);
    OK(nri_seccomp_add_architecture(policy, "SCMP_ARCH_X86_64"));
    assert_int_equal(nri_adjustment_check(a), NRI_E_INVALID);
    assert_int_equal(nri_adjustment_error(a), NRI_E_INVALID);
    assert_non_null(strstr(nri_adjustment_error_text(a), "default action"));
    nri_adjustment_clear_error(a);
    OK(nri_seccomp_set_default_action(policy, "SCMP_ACT_ERRNO"));
    assert_int_equal(nri_adjustment_check(a), 0);
    const adjustment_message *message = fixture_adjustment(*state, a);
    assert_string_equal(message->linux->seccomp_policy->default_action, "SCMP_ACT_ERRNO");
    assert_int_equal(message->linux->seccomp_policy->n_architectures, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_each),
        WITH_FIXTURE(test_together),
        WITH_FIXTURE(test_rules_of_the_devices),
        WITH_FIXTURE(test_rules_of_other_devices),
        WITH_FIXTURE(test_rules_in_any_order),
        WITH_FIXTURE(test_many_rules_in_the_wrong_order),
        WITH_FIXTURE(test_what_is_said),
        WITH_FIXTURE(test_what_the_nri_has_and_the_runtime_not),
        WITH_FIXTURE(test_strict_names_all),
        WITH_FIXTURE(test_empty_messages),
        WITH_FIXTURE(test_policy_without_default_action),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
