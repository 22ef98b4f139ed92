/* SPDX-License-Identifier: Apache-2.0 */
#include "refusal.h"

static void check(const adjustment_message *message, size_t index, const char *key,
                  const char *value)
{
    assert_true(index < message->linux->n_sysctl);
    assert_string_equal(message->linux->sysctl[index]->key, key);
    assert_string_equal(message->linux->sysctl[index]->value, value);
}

static void test_set_remove_replace(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    OK(nri_adjustment_set_sysctl(adjustment, "net.core.somaxconn", "1024"));
    OK(nri_adjustment_remove_sysctl(adjustment, "kernel.msgmax"));
    OK(nri_adjustment_replace_sysctl(adjustment, "kernel.shmmax", ""));
    OK(nri_adjustment_set_sysctl(adjustment, "net.core.somaxconn", "2048"));
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->linux->n_sysctl, 4);
    check(message, 0, "net.core.somaxconn", "2048");
    check(message, 1, "-kernel.msgmax", "");
    check(message, 2, "-kernel.shmmax", "");
    check(message, 3, "kernel.shmmax", "");
}

static void test_refusals(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, nri_adjustment_set_sysctl(a, NULL, "1"), NRI_E_INVALID,
            "sysctl NULL: must be a text");
    REFUSED(a, nri_adjustment_set_sysctl(a, "", "1"), NRI_E_INVALID,
            "sysctl \"\": must not be empty");
    REFUSED(a, nri_adjustment_set_sysctl(a, "net/core", "1"), NRI_E_INVALID,
            "sysctl \"net/core\": must not contain \"/\"");
    REFUSED(a, nri_adjustment_replace_sysctl(a, "-net.core", "1"), NRI_E_INVALID,
            "sysctl \"-net.core\": must not start with \"-\"; to remove one, call "
            "nri_adjustment_remove_sysctl() with the bare key");
    REFUSED(a, nri_adjustment_set_sysctl(a, "a.b", NULL), NRI_E_INVALID,
            "sysctl \"a.b\": value NULL: must be a text");
    REFUSED(a, nri_adjustment_set_sysctl(a, "a.b", "\xff"), NRI_E_UTF8,
            "sysctl \"a.b\": value \"\\xff\": must be UTF-8; the byte at offset 0 is not");
    REFUSED(a, nri_adjustment_remove_sysctl(a, "a/b"), NRI_E_INVALID,
            "sysctl \"a/b\": must not contain \"/\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_set_remove_replace),
        WITH_FIXTURE(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
