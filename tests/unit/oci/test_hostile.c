/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Documents and changes that mean harm: over each limit, each value of a document in turn replaced
 * by one of every other type, texts that are none, and options that are wrong.
 */
#include <stdio.h>

#include "base/text.h"
#include "fixture.h"
#include "model/model.h"

#define ALL_FIELDS                                                                                 \
    "{\"annotations\":{\"a\":\"1\",\"-b\":\"\"},\"mounts\":[{\"destination\":\"/a\",\"source\":"   \
    "\"/srv\",\"options\":[\"rslave\"]},{\"destination\":\"-/b\"}],\"env\":[{\"key\":\"A\","       \
    "\"value\":\"1\"},{\"key\":\"-B\"}],\"hooks\":{\"prestart\":[{\"path\":\"/h\"}]},\"args\":["   \
    "\"a\"],\"rlimits\":[{\"type\":\"RLIMIT_CORE\"}],\"linux\":{\"devices\":[{\"path\":"           \
    "\"/dev/a\",\"type\":\"c\",\"major\":1,\"minor\":1},{\"path\":\"-/dev/b\"}],\"resources\":{"   \
    "\"memory\":{\"limit\":5},\"cpu\":{\"shares\":2},\"hugepage_limits\":[{\"page_size\":\"2MB\"," \
    "\"limit\":1}],\"unified\":{\"u\":\"1\"},\"devices\":[{\"allow\":true,\"type\":\"c\","         \
    "\"access\":\"r\"}],\"pids\":{\"limit\":3},\"blockio_class\":\"\"},\"cgroups_path\":\"/c\","   \
    "\"oom_score_adj\":1,\"io_priority\":{\"class\":\"IOPRIO_CLASS_BE\"},\"seccomp_policy\":{"     \
    "\"default_action\":\"SCMP_ACT_ALLOW\",\"syscalls\":[{\"names\":[\"read\"],\"action\":"        \
    "\"SCMP_ACT_LOG\"}]},\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"-ipc\"}],\"sysctl\":{"     \
    "\"s\":\"1\",\"-t\":\"\"},\"net_devices\":{\"e\":{},\"-f\":{}},\"scheduler\":{\"policy\":"     \
    "\"SCHED_OTHER\"},\"rdt\":{\"schemata\":[\"L3:0=f\"]},\"memory_policy\":{}}}"

#define ALL_MEMBERS                                                                                \
    "{\"annotations\":{\"a\":\"0\",\"b\":\"0\"},\"mounts\":[{\"destination\":\"/a\"},{"            \
    "\"destination\":\"/b\"}],\"process\":{\"env\":[\"A=0\",\"B=0\"],\"args\":[\"x\"],"            \
    "\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"hard\":1,\"soft\":1}],\"oomScoreAdj\":0,"            \
    "\"ioPriority\":{\"class\":\"\"},\"scheduler\":{\"policy\":\"\"}},\"hooks\":{\"prestart\":[{"  \
    "\"path\":\"/g\"}]},\"linux\":{\"rootfsPropagation\":\"private\",\"devices\":[{\"path\":"      \
    "\"/dev/a\",\"type\":\"b\",\"major\":7,\"minor\":7},{\"path\":\"/dev/b\",\"type\":\"c\","      \
    "\"major\":8,\"minor\":8}],\"resources\":{\"memory\":{\"limit\":9,\"swap\":9},\"cpu\":{},"     \
    "\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":9}],\"unified\":{\"u\":\"0\"},"           \
    "\"devices\":[{\"allow\":true,\"type\":\"c\",\"major\":8,\"minor\":8,\"access\":\"rwm\"}],"    \
    "\"pids\":{\"limit\":1},\"blockIO\":{}},\"cgroupsPath\":\"/\",\"seccomp\":{},\"namespaces\":[" \
    "{\"type\":\"ipc\"},{\"type\":\"pid\",\"path\":\"/p\"}],\"sysctl\":{\"s\":\"0\",\"t\":\"0\"}," \
    "\"netDevices\":{\"f\":{}},\"intelRdt\":{\"l3CacheSchema\":\"x\"},\"memoryPolicy\":{}}}"

static int apply(const char *before, struct nri_oci_options *options, char **after,
                 nri_error **error)
{
    struct fixture_mounts mounts = {"/srv", NRI_PROPAGATION_SHARED, 0, 0};
    const struct fixture_run run = {ALL_FIELDS, before, false, options, &mounts};
    return fixture_apply(&run, after, error);
}

/* The end of the JSON value that starts at `text`. */
static const char *value_end(const char *text)
{
    int depth = 0;
    do {
        if (*text == '"')
            for (text++; *text != '"'; text++) {
            }
        depth += (*text == '{') + (*text == '[') - (*text == '}') - (*text == ']');
        text++;
    } while (depth > 0 || (text[-1] != '"' && text[-1] != '}' && text[-1] != ']' &&
                           strchr(",}]", *text) == NULL));
    return text;
}

/* What there is of each type: each place takes its own, and refuses the others or does not look. */
static void test_every_value(void **state)
{
    (void)state;
    static const char *const values[] = {"null", "true",      "-1.5e3", "\"x\"",
                                         "[7]",  "{\"k\":7}", "[]",     "{}"};
    unsigned refused = 0, taken = 0;
    static const char all[] = ALL_MEMBERS;
    for (const char *at = all; *at != '\0'; at++) {
        const char before_it = at > all ? at[-1] : '[';
        const bool starts =
            before_it == ':' || before_it == '[' || (before_it == ',' && *at != '"');
        if (!starts)
            continue;
        const char *end = value_end(at);
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            char before[4096], *after;
            nri_error *error = NULL;
            snprintf(before, sizeof before, "%.*s%s%s", (int)(at - all), all, values[i], end);
            const int code = apply(before, NULL, &after, &error);
            if (code != 0) {
                refused++;
                if (code != NRI_E_SYNTAX || nri_error_line(error) != 1 ||
                    nri_error_column(error) == 0)
                    fail_msg("%s: %s", before, nri_error_get_text(error));
            } else {
                taken++;
                assert_non_null(after);
            }
            nri_json_free(after);
            nri_error_free(error);
        }
    }
    assert_true(refused > 100);
    assert_true(taken > 100);
}

static void test_limits(void **state)
{
    (void)state;
    struct nri_oci_options options;
    struct nri_json_options json;
    char *after;
    nri_error *error = NULL;
    nri_oci_options_init(&options, sizeof options);
    options.json = &json;
    nri_json_options_init(&json, sizeof json);
    json.name = "config.json";
    json.max_bytes = strlen(ALL_MEMBERS);
    assert_int_equal(apply(ALL_MEMBERS, &options, &after, &error), NRI_E_LIMIT);
    assert_non_null(strstr(nri_error_get_text(error),
                           "config.json: the changed document is longer than the limit of "));
    error = nri_error_free(error);
    json.max_bytes--;
    assert_int_equal(apply(ALL_MEMBERS, &options, &after, &error), NRI_E_LIMIT);
    assert_non_null(strstr(nri_error_get_text(error), " bytes are more than the limit of "));
    error = nri_error_free(error);
    json.max_bytes = 0;
    json.max_depth = 3;
    assert_int_equal(apply("{\"a\":[{}]}", &options, &after, NULL), 0);
    nri_json_free(after);
    assert_int_equal(apply("{\"a\":[[[]]]}", &options, &after, &error), NRI_E_LIMIT);
    assert_string_equal(nri_error_get_text(error),
                        "config.json:1:8: nested deeper than the limit of 3");
    error = nri_error_free(error);
    json.max_depth = 0;
    json.max_values = 3;
    assert_int_equal(apply("{\"a\":[1,2]}", &options, &after, &error), NRI_E_LIMIT);
    error = nri_error_free(error);
    json.max_values = 0;
    /* The result's own form. */
    json.indent = 2;
    assert_int_equal(apply("{}", &options, &after, NULL), 0);
    assert_memory_equal(after, "{\n  \"annotations\": {\n", 21);
    nri_json_free(after);
}

static void test_options(void **state)
{
    (void)state;
    struct nri_oci_options options;
    struct nri_json_options json;
    char *after;
    nri_error *error = NULL;
    nri_oci_options_init(&options, sizeof options);
    options.reserved[3] = 1;
    assert_int_equal(apply("{}", &options, &after, &error), NRI_E_ABI);
    assert_string_equal(nri_error_get_text(error),
                        "struct nri_oci_options: its reserved members must be 0");
    error = nri_error_free(error);
    nri_oci_options_init(&options, sizeof options);
    options.size--;
    assert_int_equal(apply("{}", &options, &after, NULL), NRI_E_ABI);
    nri_oci_options_init(&options, sizeof options);
    nri_json_options_init(&json, sizeof json);
    json.max_depth = 65;
    options.json = &json;
    assert_int_equal(apply("{}", &options, &after, NULL), NRI_E_INVALID);
}

/* Texts that no builder lets through, and protobuf does. */
static void test_texts(void **state)
{
    (void)state;
    static const char *const texts[] = {"a\0b", "\xff\xfe ", "\xed\xa0\x80"};
    struct nri_alloc alloc;
    struct nri_arena arena;
    const struct nri_oci_mounts mounts = {NULL, NULL};
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    nri_arena_init(&arena, &alloc, 0, SIZE_MAX);
    for (size_t i = 0; i < 3; i++) {
        for (int in_key = 0; in_key < 2; in_key++) {
            Nri__Pkg__Api__V1alpha1__KeyValue pair = NRI__PKG__API__V1ALPHA1__KEY_VALUE__INIT;
            Nri__Pkg__Api__V1alpha1__KeyValue *pairs[] = {&pair};
            Nri__Pkg__Api__V1alpha1__ContainerAdjustment message =
                NRI__PKG__API__V1ALPHA1__CONTAINER_ADJUSTMENT__INIT;
            char *bad = nri_arena_text(&arena, texts[i], 3), *after;
            nri_error *error = NULL;
            pair.key = in_key ? bad : nri_arena_text(&arena, "A", 1);
            pair.value = bad;
            message.env = pairs;
            message.n_env = 1;
            const struct nri_oci_input input = {
                .adjustment = nri_adjustment_view(&arena, &message, NRI_E_STATE, "")};
            assert_int_equal(nri_oci_apply("{}", 2, &input, NULL, &mounts, &after, NULL, &error),
                             NRI_E_UTF8);
            assert_string_equal(nri_error_get_text(error),
                                in_key ? "ContainerAdjustment.env[0].key: must be UTF-8 without NUL"
                                       : "ContainerAdjustment.env[0].value: must be UTF-8 without "
                                         "NUL");
            nri_error_free(error);
        }
    }
    nri_arena_fini(&arena);
}

/* A hundred thousand of everything takes time for so many, not for their square: at that rate it
 * would not end before the test's time-out. */
static void test_many(void **state)
{
    (void)state;
    const size_t count = 100000, room = count * 64;
    char *change = malloc(room), *before = malloc(room), *after;
    assert_non_null(change);
    assert_non_null(before);
    size_t length = (size_t)snprintf(change, room, "{\"annotations\":{");
    size_t other = (size_t)snprintf(before, room, "{\"annotations\":{");
    for (size_t i = 0; i < count; i++) {
        length += (size_t)snprintf(change + length, room - length, "\"-k%zu\":\"\",", i);
        other += (size_t)snprintf(before + other, room - other, "\"k%zu\":\"v\",", i);
    }
    snprintf(change + length, room - length, "\"n\":\"1\"}}");
    snprintf(before + other, room - other, "\"l\":\"1\"}}");
    const struct fixture_run run = {change, before, false, NULL, NULL};
    assert_int_equal(fixture_apply(&run, &after, NULL), 0);
    assert_string_equal(after, "{\"annotations\":{\"l\":\"1\",\"n\":\"1\"}}");
    nri_json_free(after);
    length = (size_t)snprintf(change, room, "{\"devices\":[");
    other = (size_t)snprintf(before, room, "{\"linux\":{\"resources\":{\"devices\":[");
    for (size_t i = 0; i < count; i++) {
        length += (size_t)snprintf(change + length, room - length,
                                   "%s{\"allow\":true,\"major\":%zu}", i > 0 ? "," : "", i);
        other += (size_t)snprintf(before + other, room - other, "%s{\"allow\":true,\"major\":%zu}",
                                  i > 0 ? "," : "", i);
    }
    snprintf(change + length, room - length, "]}");
    snprintf(before + other, room - other, "]}}}");
    const struct fixture_run rules = {change, before, true, NULL, NULL};
    assert_int_equal(fixture_apply(&rules, &after, NULL), 0);
    assert_string_equal(after, before); /* all of them are there already */
    nri_json_free(after);
    free(change);
    free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_options),     cmocka_unit_test(test_texts),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
