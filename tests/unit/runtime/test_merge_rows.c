/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of each thing that plugins can set: set, set twice, removed, set again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "merge_case.h"

#define A(text) "{\"adjust\":" text "}"
#define L(text) A("{\"linux\":" text "}")
#define R(text) L("{\"resources\":" text "}")

/* One value: two JSON texts of an adjustment that set it to different values, and its name. */
static const struct {
    const char *field, *set, *other;
} values[] = {
    {"Args", A("{\"args\":[\"a\"]}"), A("{\"args\":[\"b\",\"c\"]}")},
    {"MemLimit", R("{\"memory\":{\"limit\":1}}"), R("{\"memory\":{\"limit\":2}}")},
    {"MemReservation", R("{\"memory\":{\"reservation\":1}}"),
     R("{\"memory\":{\"reservation\":0}}")},
    {"MemSwapLimit", R("{\"memory\":{\"swap\":1}}"), R("{\"memory\":{\"swap\":2}}")},
    {"MemKernelLimit", R("{\"memory\":{\"kernel\":1}}"), R("{\"memory\":{\"kernel\":2}}")},
    {"MemTCPLimit", R("{\"memory\":{\"kernel_tcp\":1}}"), R("{\"memory\":{\"kernel_tcp\":2}}")},
    {"MemSwappiness", R("{\"memory\":{\"swappiness\":1}}"), R("{\"memory\":{\"swappiness\":2}}")},
    {"MemDisableOomKiller", R("{\"memory\":{\"disable_oom_killer\":true}}"),
     R("{\"memory\":{\"disable_oom_killer\":false}}")},
    {"MemUseHierarchy", R("{\"memory\":{\"use_hierarchy\":true}}"),
     R("{\"memory\":{\"use_hierarchy\":false}}")},
    {"CPUShares", R("{\"cpu\":{\"shares\":1}}"), R("{\"cpu\":{\"shares\":2}}")},
    {"CPUQuota", R("{\"cpu\":{\"quota\":1}}"), R("{\"cpu\":{\"quota\":2}}")},
    {"CPUPeriod", R("{\"cpu\":{\"period\":1}}"), R("{\"cpu\":{\"period\":2}}")},
    {"CPURealtimeRuntime", R("{\"cpu\":{\"realtime_runtime\":1}}"),
     R("{\"cpu\":{\"realtime_runtime\":2}}")},
    {"CPURealtimePeriod", R("{\"cpu\":{\"realtime_period\":1}}"),
     R("{\"cpu\":{\"realtime_period\":2}}")},
    {"CPUSetCPUs", R("{\"cpu\":{\"cpus\":\"1\"}}"), R("{\"cpu\":{\"cpus\":\"2\"}}")},
    {"CPUSetMems", R("{\"cpu\":{\"mems\":\"0\"}}"), R("{\"cpu\":{\"mems\":\"1\"}}")},
    {"BlockioClass", R("{\"blockio_class\":\"a\"}"), R("{\"blockio_class\":\"\"}")},
    {"RdtClass", R("{\"rdt_class\":\"a\"}"), R("{\"rdt_class\":\"b\"}")},
    {"PidsLimit", R("{\"pids\":{\"limit\":1}}"), R("{\"pids\":{\"limit\":2}}")},
    {"CgroupsPath", L("{\"cgroups_path\":\"/a\"}"), L("{\"cgroups_path\":\"/b\"}")},
    {"OomScoreAdj", L("{\"oom_score_adj\":0}"), L("{\"oom_score_adj\":2}")},
    {"IoPriority", L("{\"io_priority\":{\"class\":1,\"priority\":1}}"),
     L("{\"io_priority\":{\"class\":2,\"priority\":1}}")},
    {"SeccompPolicy", L("{\"seccomp_policy\":{\"default_action\":\"SCMP_ACT_ALLOW\"}}"),
     L("{\"seccomp_policy\":{\"default_action\":\"SCMP_ACT_ERRNO\"}}")},
    {"LinuxSched", L("{\"scheduler\":{\"policy\":2,\"priority\":1}}"),
     L("{\"scheduler\":{\"policy\":2,\"priority\":2}}")},
    {"RdtClosID", L("{\"rdt\":{\"clos_id\":\"a\"}}"), L("{\"rdt\":{\"clos_id\":\"b\"}}")},
    {"RdtSchemata", L("{\"rdt\":{\"schemata\":[\"a\"]}}"), L("{\"rdt\":{\"schemata\":[\"b\"]}}")},
    {"RdtEnableMonitoring", L("{\"rdt\":{\"enable_monitoring\":true}}"),
     L("{\"rdt\":{\"enable_monitoring\":false}}")},
    {"CdiDevices v/c=d", A("{\"CDI_devices\":[{\"name\":\"v/c=d\"}]}"),
     A("{\"CDI_devices\":[{\"name\":\"v/c=d\"}]}")},
    {"MemoryPolicy", L("{\"memory_policy\":{\"mode\":2,\"nodes\":\"0\"}}"),
     L("{\"memory_policy\":{\"mode\":2,\"nodes\":\"1\"}}")},
    /* with a key */
    {"Annotations k", A("{\"annotations\":{\"k\":\"1\"}}"), A("{\"annotations\":{\"k\":\"2\"}}")},
    {"Mounts /m", A("{\"mounts\":[{\"destination\":\"/m\",\"source\":\"/1\"}]}"),
     A("{\"mounts\":[{\"destination\":\"/m\",\"source\":\"/2\"}]}")},
    {"Devices /d", L("{\"devices\":[{\"path\":\"/d\",\"major\":1}]}"),
     L("{\"devices\":[{\"path\":\"/d\",\"major\":2}]}")},
    {"Env K", A("{\"env\":[{\"key\":\"K\",\"value\":\"1\"}]}"),
     A("{\"env\":[{\"key\":\"K\",\"value\":\"2\"}]}")},
    {"HugepageLimits 2MB", R("{\"hugepage_limits\":[{\"page_size\":\"2MB\",\"limit\":1}]}"),
     R("{\"hugepage_limits\":[{\"page_size\":\"2MB\",\"limit\":2}]}")},
    {"CgroupsUnified k", R("{\"unified\":{\"k\":\"1\"}}"), R("{\"unified\":{\"k\":\"2\"}}")},
    {"Rlimits RLIMIT_CORE", A("{\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"hard\":1}]}"),
     A("{\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"hard\":2}]}")},
    {"Namespace pid", L("{\"namespaces\":[{\"type\":\"pid\",\"path\":\"/1\"}]}"),
     L("{\"namespaces\":[{\"type\":\"pid\",\"path\":\"/2\"}]}")},
    {"Sysctl k", L("{\"sysctl\":{\"k\":\"1\"}}"), L("{\"sysctl\":{\"k\":\"2\"}}")},
    {"LinuxNetDevices k", L("{\"net_devices\":{\"k\":{\"name\":\"1\"}}}"),
     L("{\"net_devices\":{\"k\":{\"name\":\"2\"}}}")},
};

static enum nri_field field_named(const char *name)
{
    size_t length = strcspn(name, " ");
    for (int field = 1; field <= NRI_FIELD_MEMORY_POLICY; field++) {
        const char *has = nri_field_name(field);
        if (strlen(has) == length && memcmp(has, name, length) == 0)
            return (enum nri_field)field;
    }
    fail_msg("no field %s", name);
    return NRI_FIELD_NONE;
}

static void conflict_text(char text[128], const char *one, const char *other, const char *field)
{
    /* Go writes a blank after a field that has no key. */
    snprintf(text, 128, "plugins \"%s\" and \"%s\" both tried to set %s%s", one, other, field,
             strchr(field, ' ') != NULL ? "" : " ");
}

/* What the container has of everything is none of the result's. */
#define POPULATED                                                                                  \
    "{\"id\":\"c0\",\"args\":[\"x\"],\"env\":[\"HAS=1\"],\"linux\":{\"cgroups_path\":\"/c\","      \
    "\"resources\":{\"memory\":{\"limit\":\"7\",\"swap\":\"7\"},\"cpu\":{\"shares\":\"7\","        \
    "\"cpus\":"                                                                                    \
    "\"0-7\"},\"pids\":{\"limit\":\"7\"},\"blockio_class\":\"b\",\"rdt_class\":\"r\"}}}"

/* Alone the value is the whole result; a second plugin conflicts, unless a policy says otherwise.
 */
static void test_S09_S44_each_field_alone_and_by_two(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        char text[128];
        const char *set = values[i].set, *other = values[i].other;
        struct merge_case one = {
            .name = values[i].field, .container = POPULATED, .replies = {set}, .result = set};
        conflict_text(text, "20-b", "10-a", values[i].field);
        merge_case_check(&one);
        for (int go = 0; go < 2; go++) {
            one = (struct merge_case){
                .name = values[i].field, .replies = {set, other}, .error = text, .go = go};
            merge_case_check(&one);
            one.replies[1] = set;
            merge_case_check(&one);
        }
        one = (struct merge_case){.name = values[i].field,
                                  .replies = {set, other},
                                  .result = other,
                                  .field = field_named(values[i].field),
                                  .policy = NRI_MERGE_LAST_WINS};
        merge_case_check(&one);
        one = (struct merge_case){.name = values[i].field,
                                  .replies = {set, set},
                                  .result = set,
                                  .field = field_named(values[i].field),
                                  .policy = NRI_MERGE_DEDUP};
        merge_case_check(&one);
        if (strcmp(set, other) == 0) /* the key is all there is */
            continue;
        one = (struct merge_case){.name = values[i].field,
                                  .replies = {set, other},
                                  .error = text,
                                  .field = field_named(values[i].field),
                                  .policy = NRI_MERGE_DEDUP};
        merge_case_check(&one);
    }
}

/* Every field that has an owner is among the values, but hooks, which have an owner each. */
static void test_all_fields(void **state)
{
    uint64_t seen = UINT64_C(1) << NRI_FIELD_OCI_HOOKS;
    (void)state;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        seen |= UINT64_C(1) << field_named(values[i].field);
    assert_true(seen == (UINT64_C(1) << (NRI_FIELD_MEMORY_POLICY + 1)) - 2);
}

/* The same key twice in one reply conflicts with itself. */
static void test_self_conflict(void **state)
{
    static const struct {
        const char *field, *reply;
    } twice[] = {
        {"Mounts /m", A("{\"mounts\":[{\"destination\":\"/m\"},{\"destination\":\"/m\"}]}")},
        {"Devices /d", L("{\"devices\":[{\"path\":\"/d\"},{\"path\":\"/d\"}]}")},
        {"Env K", A("{\"env\":[{\"key\":\"K\"},{\"key\":\"K\"}]}")},
        {"HugepageLimits 2MB",
         R("{\"hugepage_limits\":[{\"page_size\":\"2MB\"},{\"page_size\":\"2MB\"}]}")},
        {"Rlimits RLIMIT_CORE",
         A("{\"rlimits\":[{\"type\":\"RLIMIT_CORE\"},{\"type\":\"RLIMIT_CORE\"}]}")},
        {"Namespace pid", L("{\"namespaces\":[{\"type\":\"-pid\"},{\"type\":\"pid\"}]}")},
        {"CdiDevices v/c=d", A("{\"CDI_devices\":[{\"name\":\"v/c=d\"},{\"name\":\"v/c=d\"}]}")},
    };
    (void)state;
    for (size_t i = 0; i < sizeof twice / sizeof twice[0]; i++) {
        char text[128];
        conflict_text(text, "10-a", "10-a", twice[i].field);
        struct merge_case one = {
            .name = twice[i].field, .replies = {twice[i].reply}, .error = text};
        for (int go = 0; go < 2; go++) {
            one.go = go;
            merge_case_check(&one);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_S09_S44_each_field_alone_and_by_two),
        cmocka_unit_test(test_all_fields),
        cmocka_unit_test(test_self_conflict),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
