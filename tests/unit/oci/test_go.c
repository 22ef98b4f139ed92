/* SPDX-License-Identifier: Apache-2.0 */
/* go_compatible: where the result is that of Go's generator, and not this library's own. */
#include "fixture.h"

static const struct fixture_row adjustments[] = {
    {"{\"env\":[{\"key\":\"N\",\"value\":\"1\"}]}",
     "{\"process\":{\"env\":[\"A=1\",\"X\",\"A=2\",\"B=3\"]}}",
     "{\"process\":{\"env\":[\"A=2\",\"B=3\",\"N=1\"]}}"},
    {"{\"env\":[{\"key\":\"A\",\"value\":\"n\"}]}",
     "{\"process\":{\"env\":[\"A=1\",\"B=3\",\"A=2\"]}}",
     "{\"process\":{\"env\":[\"A=2\",\"B=3\"]}}"},
    {"{\"env\":[{\"key\":\"-A\"}]}", "{\"process\":{\"env\":[\"A=1\",\"B=3\"]}}",
     "{\"process\":{\"env\":[\"B=3\"]}}"},
    {"{\"env\":[{\"key\":\"\",\"value\":\"1\"}]}", "{\"process\":{\"env\":[\"A=1\"]}}",
     "{\"process\":{\"env\":[\"A=1\"]}}"},
    {"{\"env\":[{\"key\":\"-A\"}]}", "{}", "{}"},
    {"{\"env\":[{\"key\":\"A\",\"value\":\"1\"}]}", "{}", "{\"process\":{\"env\":[\"A=1\"]}}"},
    {"{\"args\":[\"\",\"a\"]}", "{}", "{\"process\":{\"args\":[\"\",\"a\"]}}"},
    {"{\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"hard\":2,\"soft\":1}]}",
     "{\"process\":{\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"hard\":9,\"soft\":9}]}}",
     "{\"process\":{\"rlimits\":[{\"type\":\"RLIMIT_CORE\",\"hard\":9,\"soft\":9},{\"type\":"
     "\"RLIMIT_CORE\",\"hard\":2,\"soft\":1}]}}"},
    {"{\"linux\":{\"seccomp_policy\":{\"default_action\":\"SCMP_ACT_ERRNO\",\"default_errno\":38}}"
     "}",
     "{}", "{\"linux\":{\"seccomp\":{\"defaultAction\":\"SCMP_ACT_ERRNO\"}}}"},
    {"{\"CDI_devices\":[{\"name\":\"a.com/b=c\"}]}", "{}", "{}"},
    {"{\"linux\":{\"memory_policy\":{\"mode\":77}}}",
     "{\"linux\":{\"memoryPolicy\":{\"mode\":\"MPOL_BIND\"}}}", "{\"linux\":{}}"},
    {"{\"linux\":{\"rdt\":{\"schemata\":[\"L3:0=f\"]}}}",
     "{\"linux\":{\"intelRdt\":{\"l3CacheSchema\":\"L3:0=1\"}}}",
     "{\"linux\":{\"intelRdt\":{\"l3CacheSchema\":\"L3:0=1\",\"schemata\":[\"L3:0=f\"]}}}"},
    {"{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":2,\"minor\":2,\"file_mode\":256},{\"path\":\"/dev/"
     "b\",\"type\":\"b\",\"major\":3,\"minor\":3}]}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":1,\"minor\":1},{\"path\":\"/dev/"
     "z\",\"type\":\"c\",\"major\":9,\"minor\":9}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rw\"}]}}}",
     "{\"linux\":{\"devices\":[{\"path\":\"/dev/"
     "z\",\"type\":\"c\",\"major\":9,\"minor\":9},{\"path\":\"/dev/"
     "a\",\"type\":\"c\",\"major\":2,\"minor\":2,\"fileMode\":256},{\"path\":\"/dev/"
     "b\",\"type\":\"b\",\"major\":3,\"minor\":3}],\"resources\":{\"devices\":[{\"allow\":true,"
     "\"type\":\"c\",\"major\":1,\"minor\":1,\"access\":\"rw\"},{\"allow\":true,\"type\":\"c\","
     "\"major\":2,\"minor\":2,\"access\":\"rw\"},{\"allow\":true,\"type\":\"b\",\"major\":3,"
     "\"minor\":3,\"access\":\"rwm\"}]}}}"},
    {"{\"mounts\":[{\"destination\":\"-/a\"}]}",
     "{\"mounts\":[{\"destination\":\"/a\",\"x\":1},{\"destination\":\"/a\",\"x\":2}]}",
     "{\"mounts\":[{\"destination\":\"/a\",\"x\":2}]}"},
    {"{\"linux\":{\"namespaces\":[{\"type\":\"-ipc\"}]}}",
     "{\"linux\":{\"namespaces\":[{\"type\":\"ipc\"},{\"type\":\"ipc\"}]}}",
     "{\"linux\":{\"namespaces\":[{\"type\":\"ipc\"}]}}"},
    {"{\"mounts\":[{\"destination\":\"-/a/\"}]}",
     "{\"mounts\":[{\"destination\":\"/b\"},{\"destination\":\"/a\"}]}",
     "{\"mounts\":[{\"destination\":\"/a\"},{\"destination\":\"/b\"}]}"},
};

static const struct fixture_row resources[] = {
    {"{\"memory\":{\"limit\":5,\"reservation\":1,\"swap\":9,\"swappiness\":1}}", "{}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":5,\"swap\":5}}}}"},
    {"{\"memory\":{\"limit\":0,\"reservation\":1}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":9}}}}",
     "{\"linux\":{\"resources\":{\"memory\":{\"limit\":9}}}}"},
    {"{\"pids\":{\"limit\":-1}}", "{\"linux\":{\"resources\":{\"pids\":{\"limit\":7}}}}",
     "{\"linux\":{\"resources\":{\"pids\":{\"limit\":7}}}}"},
    {"{\"blockio_class\":\"slow\",\"rdt_class\":\"\"}", "{\"linux\":{\"intelRdt\":{}}}",
     "{\"linux\":{\"intelRdt\":{}}}"},
    {"{\"devices\":[{\"allow\":true,\"access\":\"r\"}]}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"access\":\"r\"}]}}}",
     "{\"linux\":{\"resources\":{\"devices\":[{\"allow\":true,\"access\":\"r\"},{\"allow\":true,"
     "\"access\":\"r\"}]}}}"},
};

static void apply_all(const struct fixture_row *rows, size_t count, bool update)
{
    struct nri_oci_options options;
    nri_oci_options_init(&options, sizeof options);
    options.go_compatible = 1;
    fixture_rows(rows, count, update, &options);
}

static void test_adjustments(void **state)
{
    (void)state;
    apply_all(adjustments, sizeof adjustments / sizeof adjustments[0], false);
}

static void test_resources(void **state)
{
    (void)state;
    apply_all(resources, sizeof resources / sizeof resources[0], true);
}

/* Each row has another result without it: so it is known that the option does something. */
static void test_each_differs(void **state)
{
    (void)state;
    size_t same = 0;
    for (size_t i = 0; i < sizeof adjustments / sizeof adjustments[0]; i++) {
        const struct fixture_run run = {adjustments[i].change, adjustments[i].before, false, NULL,
                                        NULL};
        char *after;
        if (fixture_apply(&run, &after, NULL) == 0 && strcmp(after, adjustments[i].after) == 0)
            same++;
        nri_json_free(after);
    }
    assert_int_equal(same, 3); /* of env: what is there once, and on an empty document */
    for (size_t i = 0; i < sizeof resources / sizeof resources[0]; i++) {
        const struct fixture_run run = {resources[i].change, resources[i].before, true, NULL, NULL};
        char *after;
        assert_false(fixture_apply(&run, &after, NULL) == 0 &&
                     strcmp(after, resources[i].after) == 0);
        nri_json_free(after);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_adjustments),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_each_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
