/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "refusal.h"

static int add(nri_adjustment *adjustment, const char *path, const char *type)
{
    return nri_adjustment_add_device(adjustment, path, type, 1, 3, NULL, NULL, NULL);
}

static void test_add(void **state)
{
    const uint32_t mode = 07777, uid = 0, gid = UINT32_MAX;
    nri_adjustment *adjustment = fixture_make(*state);
    OK(nri_adjustment_add_device(adjustment, "/dev/a", "c", 0, INT64_MAX, &mode, &uid, &gid));
    OK(add(adjustment, "/dev/b", "b"));
    OK(add(adjustment, "/dev/u", "u"));
    OK(add(adjustment, "/dev/p", "p"));
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->linux->n_devices, 4);
    assert_string_equal(message->linux->devices[0]->path, "/dev/a");
    assert_string_equal(message->linux->devices[0]->type, "c");
    assert_int_equal(message->linux->devices[0]->major, 0);
    assert_true(message->linux->devices[0]->minor == INT64_MAX);
    assert_int_equal(message->linux->devices[0]->file_mode->value, 07777);
    assert_int_equal(message->linux->devices[0]->uid->value, 0);
    assert_int_equal(message->linux->devices[0]->gid->value, UINT32_MAX);
    assert_string_equal(message->linux->devices[1]->type, "b");
    assert_null(message->linux->devices[1]->file_mode);
    assert_null(message->linux->devices[1]->uid);
    assert_null(message->linux->devices[1]->gid);
    assert_null(message->linux->resources); /* a node alone gives no access */
}

static void test_remove_and_replace(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    OK(add(adjustment, "/dev/a", "c"));
    OK(nri_adjustment_remove_device(adjustment, "/dev/b"));
    OK(nri_adjustment_replace_device(adjustment, "/dev/c", "b", 7, 8, NULL, NULL, NULL));
    OK(add(adjustment, "/dev/a", "b"));
    OK(add(adjustment, "/dev/c", "p"));
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->linux->n_devices, 4);
    assert_string_equal(message->linux->devices[0]->path, "/dev/a");
    assert_string_equal(message->linux->devices[0]->type, "b");
    assert_string_equal(message->linux->devices[1]->path, "-/dev/b");
    assert_string_equal(message->linux->devices[2]->path, "-/dev/c");
    assert_string_equal(message->linux->devices[3]->path, "/dev/c");
    assert_string_equal(message->linux->devices[3]->type, "p");
    OK(nri_adjustment_remove_device(adjustment, "/dev/a"));
    message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->linux->n_devices, 4);
    assert_string_equal(message->linux->devices[0]->path, "-/dev/a");
}

static void test_many(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    char path[32];
    for (int i = 0; i < 4000; i++) {
        snprintf(path, sizeof path, "/dev/%d", i % 2000);
        OK(add(adjustment, path, "c"));
    }
    assert_int_equal(fixture_adjustment(*state, adjustment)->linux->n_devices, 2000);
}

static void test_refusals(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    const uint32_t mode = 010000;
    REFUSED(a, add(a, NULL, "c"), NRI_E_INVALID, "device path NULL: must be a text");
    REFUSED(a, add(a, "", "c"), NRI_E_INVALID, "device path \"\": must not be empty");
    REFUSED(a, add(a, "null", "c"), NRI_E_INVALID,
            "device path \"null\": must be an absolute path");
    REFUSED(a, add(a, "-/dev/null", "c"), NRI_E_INVALID,
            "device path \"-/dev/null\": must be an absolute path");
    REFUSED(a, add(a, "/\xff", "c"), NRI_E_UTF8,
            "device path \"/\\xff\": must be UTF-8; the byte at offset 1 is not");
    REFUSED(a, add(a, "/d", NULL), NRI_E_INVALID, "device \"/d\": type NULL: must be a text");
    REFUSED(a, add(a, "/d", ""), NRI_E_INVALID, "device \"/d\": type \"\": must not be empty");
    REFUSED(a, add(a, "/d", "a"), NRI_E_INVALID,
            "device \"/d\": type \"a\": must be \"c\", \"u\", \"b\" or \"p\"");
    REFUSED(a, add(a, "/d", "cc"), NRI_E_INVALID,
            "device \"/d\": type \"cc\": must be \"c\", \"u\", \"b\" or \"p\"");
    REFUSED(a, nri_adjustment_add_device(a, "/d", "c", -1, 0, NULL, NULL, NULL), NRI_E_RANGE,
            "device \"/d\": major -1: must be 0 or more");
    REFUSED(a, nri_adjustment_replace_device(a, "/d", "c", 0, INT64_MIN, NULL, NULL, NULL),
            NRI_E_RANGE, "device \"/d\": minor -9223372036854775808: must be 0 or more");
    REFUSED(a, nri_adjustment_add_device(a, "/d", "c", 0, 0, &mode, NULL, NULL), NRI_E_RANGE,
            "device \"/d\": file mode 010000: must be permission bits, at most 07777");
    REFUSED(a, nri_adjustment_remove_device(a, "d"), NRI_E_INVALID,
            "device path \"d\": must be an absolute path");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_add),
        WITH_FIXTURE(test_remove_and_replace),
        WITH_FIXTURE(test_many),
        WITH_FIXTURE(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
