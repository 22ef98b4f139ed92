/* SPDX-License-Identifier: Apache-2.0 */
#include "refusal.h"

static void check(const adjustment_message *message, size_t index, const char *type,
                  const char *path)
{
    assert_true(index < message->linux->n_namespaces);
    assert_string_equal(message->linux->namespaces[index]->type, type);
    assert_string_equal(message->linux->namespaces[index]->path, path);
}

static void test_S39_as_sent(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    OK(nri_adjustment_remove_namespace(adjustment, "pid"));
    OK(nri_adjustment_add_namespace(adjustment, "network", "/n2"));
    OK(nri_adjustment_add_namespace(adjustment, "cgroup", NULL));
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->linux->n_namespaces, 3);
    check(message, 0, "-pid", "");
    check(message, 1, "network", "/n2");
    check(message, 2, "cgroup", "");
}

static void test_every_type(void **state)
{
    static const char *const types[] = {"pid", "network", "mount",  "ipc",
                                        "uts", "user",    "cgroup", "time"};
    nri_adjustment *adjustment = fixture_make(*state);
    for (size_t i = 0; i < 8; i++)
        OK(nri_adjustment_add_namespace(adjustment, types[i], ""));
    for (size_t i = 0; i < 8; i++)
        check(fixture_adjustment(*state, adjustment), i, types[i], "");
}

/* Runtimes find a plugin in conflict with itself that sends a removal and a set of one type. */
static void test_last_call_counts(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    OK(nri_adjustment_remove_namespace(adjustment, "pid"));
    OK(nri_adjustment_add_namespace(adjustment, "ipc", "/a"));
    OK(nri_adjustment_add_namespace(adjustment, "pid", "/b"));
    OK(nri_adjustment_remove_namespace(adjustment, "ipc"));
    OK(nri_adjustment_remove_namespace(adjustment, "ipc"));
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->linux->n_namespaces, 2);
    check(message, 0, "pid", "/b");
    check(message, 1, "-ipc", "");
    OK(nri_adjustment_add_namespace(adjustment, "pid", "/c"));
    message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->linux->n_namespaces, 2);
    check(message, 0, "pid", "/c");
}

#define TYPES                                                                                      \
    "must be \"pid\", \"network\", \"mount\", \"ipc\", \"uts\", \"user\", \"cgroup\" or \"time\""

static void test_refusals(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, nri_adjustment_add_namespace(a, "net", NULL), NRI_E_INVALID,
            "namespace type \"net\": " TYPES);
    REFUSED(a, nri_adjustment_add_namespace(a, "-pid", NULL), NRI_E_INVALID,
            "namespace type \"-pid\": " TYPES);
    REFUSED(a, nri_adjustment_add_namespace(a, NULL, NULL), NRI_E_INVALID,
            "namespace type NULL: must be a text");
    REFUSED(a, nri_adjustment_add_namespace(a, "", NULL), NRI_E_INVALID,
            "namespace type \"\": must not be empty");
    REFUSED(a, nri_adjustment_add_namespace(a, "pid", "p"), NRI_E_INVALID,
            "namespace \"pid\": path \"p\": must be an absolute path");
    REFUSED(a, nri_adjustment_add_namespace(a, "pid", "/\xff"), NRI_E_UTF8,
            "namespace \"pid\": path \"/\\xff\": must be UTF-8; the byte at offset 1 is not");
    REFUSED(a, nri_adjustment_remove_namespace(a, "net"), NRI_E_INVALID,
            "namespace type \"net\": " TYPES);
    REFUSED(a, nri_adjustment_remove_namespace(a, NULL), NRI_E_INVALID,
            "namespace type NULL: must be a text");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_S39_as_sent),
        WITH_FIXTURE(test_every_type),
        WITH_FIXTURE(test_last_call_counts),
        WITH_FIXTURE(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
