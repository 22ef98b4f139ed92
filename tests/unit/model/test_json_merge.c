/* SPDX-License-Identifier: Apache-2.0 */
/* JSON merged into builders, as if each were called; a bad text changes nothing. */
#include "fixture.h"
#include "golden.h"

static char *written(const nri_adjustment *adjustment)
{
    char *text;
    assert_int_equal(nri_adjustment_to_json(adjustment, NULL, &text, NULL, NULL), 0);
    return text;
}

static nri_adjustment *make(void)
{
    nri_adjustment *adjustment;
    assert_int_equal(nri_adjustment_new(&adjustment, NULL), 0);
    return adjustment;
}

/* Everything that an adjustment can carry, in the form that is written. */
static const char whole[] =
    "{\"annotations\":{\"-old\":\"\",\"key\":\"value\"},"
    "\"mounts\":[{\"destination\":\"-/gone\"},{\"destination\":\"/data\",\"type\":\"bind\","
    "\"source\":\"/srv\",\"options\":[\"rbind\",\"ro\"]}],"
    "\"env\":[{\"key\":\"-A\"},{\"key\":\"A\",\"value\":\"1\"},{\"key\":\"B\"}],"
    "\"hooks\":{\"create_runtime\":[{\"path\":\"/bin/h\",\"args\":[\"h\",\"x\"],\"env\":[\"A=1\"],"
    "\"timeout\":5}],\"poststop\":[{\"path\":\"/bin/p\"}]},"
    "\"linux\":{\"devices\":[{\"path\":\"-/dev/b\"},{\"path\":\"/dev/a\",\"type\":\"c\","
    "\"major\":195,\"file_mode\":438,\"uid\":0,\"gid\":7}],"
    "\"resources\":{\"memory\":{\"limit\":1000,\"reservation\":900,\"swap\":-1,\"kernel\":1,"
    "\"kernel_tcp\":2,\"swappiness\":0,\"disable_oom_killer\":false,\"use_hierarchy\":true},"
    "\"cpu\":{\"shares\":512,\"quota\":10000,\"period\":100000,\"realtime_runtime\":0,"
    "\"realtime_period\":1,\"cpus\":\"0-3\",\"mems\":\"0\"},"
    "\"hugepage_limits\":[{\"page_size\":\"2MB\",\"limit\":2097152}],"
    "\"blockio_class\":\"\",\"rdt_class\":\"gold\",\"unified\":{\"memory.high\":\"1\"},"
    "\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":195,\"access\":\"rwm\"}],"
    "\"pids\":{\"limit\":100}},"
    "\"cgroups_path\":\"/x\",\"oom_score_adj\":-5,"
    "\"io_priority\":{\"class\":\"IOPRIO_CLASS_BE\",\"priority\":4},"
    "\"seccomp_policy\":{\"default_action\":\"SCMP_ACT_ERRNO\",\"default_errno\":1,"
    "\"architectures\":[\"SCMP_ARCH_X86_64\"],\"flags\":[\"SECCOMP_FILTER_FLAG_LOG\"],"
    "\"listener_path\":\"/run/s\",\"listener_metadata\":\"m\","
    "\"syscalls\":[{\"names\":[\"openat\"],\"action\":\"SCMP_ACT_ALLOW\","
    "\"args\":[{\"index\":1,\"value\":2,\"value_two\":3,\"op\":\"SCMP_CMP_MASKED_EQ\"}]}]},"
    "\"namespaces\":[{\"type\":\"-ipc\"},{\"type\":\"network\",\"path\":\"/run/netns/a\"}],"
    "\"sysctl\":{\"-net.a\":\"\",\"net.b\":\"1\"},"
    "\"net_devices\":{\"-eth1\":{},\"eth2\":{\"name\":\"net0\"}},"
    "\"scheduler\":{\"policy\":\"SCHED_FIFO\",\"priority\":10,"
    "\"flags\":[\"SCHED_FLAG_RESET_ON_FORK\"]},"
    "\"rdt\":{\"clos_id\":\"a\",\"schemata\":[\"L3:0=f\"],\"enable_monitoring\":false,"
    "\"remove\":true},"
    "\"memory_policy\":{\"mode\":\"MPOL_BIND\",\"nodes\":\"0-1\","
    "\"flags\":[\"MPOL_F_STATIC_NODES\"]}},"
    "\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":18446744073709551615,\"soft\":1024}],"
    "\"CDI_devices\":[{\"name\":\"vendor.com/gpu=0\"}],\"args\":[\"\",\"sh\",\"-c\"]}";

static void test_everything_comes_back(void **state)
{
    (void)state;
    nri_adjustment *adjustment = make();
    nri_error *error = NULL;
    if (nri_adjustment_merge_json(adjustment, whole, strlen(whole), NULL, &error) != 0)
        fail_msg("%s", nri_error_get_text(error));
    char *text = written(adjustment);
    assert_string_equal(text, whole);
    nri_json_free(text);
    /* A second time replaces each key, and adds what has none. */
    assert_int_equal(
        nri_adjustment_merge_json(adjustment, "{\"env\":{\"A\":\"2\"}}", 17, NULL, NULL), 0);
    const char *value;
    assert_true(nri_adjustment_env(adjustment, "A", &value));
    assert_string_equal(value, "2");
    nri_adjustment_free(adjustment);
}

/* Each field alone is sent alone, and what is empty is not sent at all. */
static void test_S09_each_field_alone(void **state)
{
    (void)state;
    static const char *const alone[] = {
        "{\"annotations\":{\"a\":\"\"}}",
        "{\"mounts\":[{\"destination\":\"/a\"}]}",
        "{\"env\":[{\"key\":\"A\"}]}",
        "{\"hooks\":{\"poststart\":[{\"path\":\"/h\"}]}}",
        "{\"rlimits\":[{\"type\":\"RLIMIT_CORE\"}]}",
        "{\"CDI_devices\":[{\"name\":\"v.com/gpu=0\"}]}",
        "{\"args\":[\"sh\"]}",
        "{\"linux\":{\"devices\":[{\"path\":\"/dev/a\",\"type\":\"c\"}]}}",
        "{\"linux\":{\"resources\":{\"blockio_class\":\"\"}}}",
        "{\"linux\":{\"resources\":{\"memory\":{\"limit\":0}}}}",
        "{\"linux\":{\"cgroups_path\":\"/a\"}}",
        "{\"linux\":{\"oom_score_adj\":0}}",
        "{\"linux\":{\"io_priority\":{}}}",
        "{\"linux\":{\"seccomp_policy\":{\"default_action\":\"SCMP_ACT_ALLOW\"}}}",
        "{\"linux\":{\"namespaces\":[{\"type\":\"pid\"}]}}",
        "{\"linux\":{\"sysctl\":{\"net.a\":\"\"}}}",
        "{\"linux\":{\"net_devices\":{\"eth0\":{}}}}",
        "{\"linux\":{\"scheduler\":{\"policy\":\"SCHED_BATCH\"}}}",
        "{\"linux\":{\"rdt\":{\"remove\":true}}}",
        "{\"linux\":{\"memory_policy\":{}}}",
    };
    static const char *const nothing[] = {
        "{}",
        "{\"annotations\":{},\"mounts\":[],\"env\":{},\"args\":[],\"rlimits\":null}",
        "{\"hooks\":{}}",
        "{\"hooks\":{\"poststop\":[]}}",
        "{\"linux\":{}}",
        "{\"linux\":{\"resources\":{\"cpu\":{},\"memory\":{},\"unified\":{}}}}",
        "{\"linux\":{\"rdt\":{}}}",
        "{\"linux\":{\"sysctl\":{},\"net_devices\":{},\"devices\":[],\"cgroups_path\":\"\"}}",
    };
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        nri_adjustment *adjustment = make();
        if (nri_adjustment_merge_json(adjustment, alone[i], strlen(alone[i]), NULL, NULL) != 0)
            fail_msg("%s", nri_adjustment_error_text(adjustment));
        char *text = written(adjustment);
        assert_string_equal(text, alone[i]);
        assert_false(nri_adjustment_is_empty(adjustment));
        nri_json_free(text);
        nri_adjustment_free(adjustment);
    }
    for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++) {
        nri_adjustment *adjustment = make();
        assert_int_equal(
            nri_adjustment_merge_json(adjustment, nothing[i], strlen(nothing[i]), NULL, NULL), 0);
        assert_true(nri_adjustment_is_empty(adjustment));
        if (nri_adjustment_message(adjustment) != NULL)
            fail_msg("%s is sent", nothing[i]);
        nri_adjustment_free(adjustment);
    }
}

/* A runtime removes first, so that a removal behind an entry does not take it away. */
static void test_removals_go_first(void **state)
{
    (void)state;
    static const char json[] = "{\"env\":[{\"key\":\"A\",\"value\":\"1\"},{\"key\":\"-A\"}]}";
    nri_adjustment *adjustment = make();
    assert_int_equal(nri_adjustment_merge_json(adjustment, json, strlen(json), NULL, NULL), 0);
    char *text = written(adjustment);
    assert_string_equal(text, "{\"env\":[{\"key\":\"-A\"},{\"key\":\"A\",\"value\":\"1\"}]}");
    nri_json_free(text);
    nri_adjustment_free(adjustment);
}

static void test_a_bad_text_changes_nothing_and_sticks(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
        int code;
    } cases[] = {
        {"{\"env\":{\"A\":\"1\"},\n "
         "\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":1,\"soft\":2}]}",
         "a.json:2:13: ContainerAdjustment.rlimits[0]: rlimit \"RLIMIT_NOFILE\": ", NRI_E_INVALID},
        {"{\"mounts\":[{\"destination\":\"data\"}]}",
         "a.json:1:12: ContainerAdjustment.mounts[0]: mount destination \"data\": must be an "
         "absolute path",
         NRI_E_INVALID},
        {"{\"linux\":{\"resources\":{\"cpu\":{\"shares\":1}}}}",
         "a.json:1:40: ContainerAdjustment.linux.resources.cpu.shares: cpu shares 1: must be 2 to "
         "262144",
         NRI_E_RANGE},
        {"{\"linux\":{\"seccomp_policy\":{\"flags\":[\"SECCOMP_FILTER_FLAG_LOG\"]}}}",
         "a.json:1:28: ContainerAdjustment.linux.seccomp_policy: seccomp ", NRI_E_INVALID},
        {"{\"env\":{\"A\":\"1\"}", "a.json:1:", NRI_E_SYNTAX},
    };
    struct nri_json_options options;
    nri_json_options_init(&options, sizeof options);
    options.name = "a.json";
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nri_adjustment *adjustment = make();
        nri_error *error = NULL;
        int code = nri_adjustment_merge_json(adjustment, cases[i].json, strlen(cases[i].json),
                                             &options, &error);
        if (strncmp(nri_error_get_text(error), cases[i].text, strlen(cases[i].text)) != 0)
            fail_msg("case %zu: %s", i, nri_error_get_text(error));
        assert_true(code < 0 && (code == cases[i].code || code == NRI_E_RANGE));
        assert_true(nri_adjustment_is_empty(adjustment));
        assert_int_equal(nri_adjustment_error(adjustment), code);
        assert_string_equal(nri_adjustment_error_text(adjustment), nri_error_get_text(error));
        fixture_check_place(error, "a.json");
        nri_error_free(error);
        nri_adjustment_free(adjustment);
    }
}

/* A policy is checked together with the one that is there: what does not go together is refused
 * with its place, and changes nothing; what is there already need not be said again. */
static void test_seccomp_policies_together(void **state)
{
    (void)state;
    static const char bad[] = "{\"env\":{\"A\":\"1\"},\"linux\":{\"seccomp_policy\":{"
                              "\"default_action\":\"SCMP_ACT_ALLOW\"}}}";
    static const char good[] = "{\"linux\":{\"seccomp_policy\":{\"syscalls\":[{\"names\":"
                               "[\"openat\"],\"action\":\"SCMP_ACT_KILL\"}]}}}";
    nri_adjustment *adjustment = make();
    nri_error *error = NULL;
    nri_seccomp *seccomp = nri_adjustment_edit_seccomp_policy(adjustment);
    assert_int_equal(nri_seccomp_set_default_action(seccomp, "SCMP_ACT_ERRNO"), 0);
    assert_int_equal(nri_seccomp_set_default_errno(seccomp, 1), 0);
    assert_int_equal(nri_seccomp_add_flag(seccomp, "SECCOMP_FILTER_FLAG_LOG"), 0);
    assert_int_equal(nri_adjustment_merge_json(adjustment, bad, strlen(bad), NULL, &error),
                     NRI_E_INVALID);
    assert_string_equal(nri_error_get_text(error),
                        "JSON:1:44: ContainerAdjustment.linux.seccomp_policy: seccomp default "
                        "errno 1: goes only with the default action SCMP_ACT_ERRNO or "
                        "SCMP_ACT_TRACE");
    nri_error_free(error);
    assert_string_equal(nri_seccomp_default_action(seccomp), "SCMP_ACT_ERRNO");
    assert_int_equal(nri_adjustment_env_count(adjustment), 0);
    nri_adjustment_clear_error(adjustment);
    assert_int_equal(nri_adjustment_merge_json(adjustment, good, strlen(good), NULL, NULL), 0);
    assert_int_equal(nri_seccomp_syscall_count(seccomp), 1);
    assert_int_equal(nri_seccomp_flag_count(seccomp), 1);
    nri_adjustment_free(adjustment);
}

static void test_updates(void **state)
{
    (void)state;
    static const char json[] =
        "{\"update\":[{\"container_id\":\"a\",\"linux\":{\"resources\":{\"cpu\":{\"shares\":512}}},"
        "\"ignore_failure\":true}],\"evict\":[{\"container_id\":\"b\",\"reason\":\"full\"}]}";
    static const char bad[] = "{\"update\":[{\"container_id\":\"a\"},{\"container_id\":\"\"}]}";
    nri_updates *updates;
    nri_error *error = NULL;
    char *text;
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    assert_int_equal(nri_updates_merge_json(updates, json, strlen(json), NULL, NULL), 0);
    assert_int_equal(nri_updates_to_json(updates, NULL, &text, NULL, NULL), 0);
    assert_string_equal(text, json);
    nri_json_free(text);
    assert_int_equal(nri_updates_merge_json(updates, bad, strlen(bad), NULL, &error),
                     NRI_E_INVALID);
    assert_string_equal(nri_error_get_text(error),
                        "JSON:1:33: UpdateContainersRequest.update[1]: update container id \"\": "
                        "must not be empty");
    assert_int_equal(nri_updates_error(updates), NRI_E_INVALID);
    nri_error_free(error);
    nri_updates_free(updates);
}

static void test_resources(void **state)
{
    (void)state;
    static const char json[] = "{\"cpu\":{\"cpus\":\"0-1\"},\"pids\":{\"limit\":-1}}";
    nri_adjustment *adjustment = make();
    nri_resources *resources = nri_adjustment_edit_resources(adjustment);
    nri_error *error = NULL;
    char *text;
    assert_int_equal(nri_resources_merge_json(resources, json, strlen(json), NULL, NULL), 0);
    assert_int_equal(nri_resources_to_json(resources, NULL, &text, NULL, NULL), 0);
    assert_string_equal(text, json);
    nri_json_free(text);
    assert_int_equal(
        nri_resources_merge_json(resources, "{\"cpu\":{\"cpus\":\"3-1\"}}", 22, NULL, &error),
        NRI_E_RANGE);
    assert_int_equal(nri_adjustment_error(adjustment), NRI_E_RANGE);
    nri_error_free(error);
    nri_adjustment_free(adjustment);
}

/* Each allocation fails in turn: no crash, no leak, and the error says so. */
static void test_allocation_failures(void **state)
{
    (void)state;
    bool failed = true;
    size_t at = 1;
    for (; failed; at++) {
        struct fail_alloc memory;
        struct nri_allocator allocator;
        struct nri_json_options options;
        nri_error *error = NULL;
        fail_alloc_init(&memory, &allocator);
        nri_json_options_init(&options, sizeof options);
        options.allocator = &allocator;
        nri_adjustment *adjustment = make();
        fail_alloc_arm(&memory, at);
        int code = nri_adjustment_merge_json(adjustment, whole, strlen(whole), &options, &error);
        failed = memory.fired;
        assert_int_equal(code, failed ? NRI_E_NOMEM : 0);
        assert_true(!failed || nri_adjustment_is_empty(adjustment));
        nri_error_free(error);
        nri_adjustment_free(adjustment);
        assert_int_equal(memory.live_blocks, 0);
    }
    assert_true(at > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_comes_back),
        cmocka_unit_test(test_S09_each_field_alone),
        cmocka_unit_test(test_removals_go_first),
        cmocka_unit_test(test_a_bad_text_changes_nothing_and_sticks),
        cmocka_unit_test(test_seccomp_policies_together),
        cmocka_unit_test(test_updates),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
