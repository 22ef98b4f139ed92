/* SPDX-License-Identifier: Apache-2.0 */
#include "refusal.h"

/* OCI takes no two limits of one type. */
static void test_S53_one_a_type(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    OK(nri_adjustment_add_rlimit(adjustment, "RLIMIT_NOFILE", 1024, 1024));
    OK(nri_adjustment_add_rlimit(adjustment, "RLIMIT_CORE", 0, 0));
    OK(nri_adjustment_add_rlimit(adjustment, "RLIMIT_NOFILE", 65536, 65535));
    OK(nri_adjustment_add_rlimit(adjustment, "RLIMIT_STACK", UINT64_MAX, UINT64_MAX));
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->n_rlimits, 3);
    assert_string_equal(message->rlimits[0]->type, "RLIMIT_NOFILE");
    assert_int_equal(message->rlimits[0]->hard, 65536);
    assert_int_equal(message->rlimits[0]->soft, 65535);
    assert_string_equal(message->rlimits[1]->type, "RLIMIT_CORE");
    assert_int_equal(message->rlimits[1]->hard, 0);
    assert_true(message->rlimits[2]->hard == UINT64_MAX);
    assert_null(message->linux);
}

static void test_every_type(void **state)
{
    static const char *const types[] = {
        "RLIMIT_AS",     "RLIMIT_CORE",   "RLIMIT_CPU",        "RLIMIT_DATA",
        "RLIMIT_FSIZE",  "RLIMIT_LOCKS",  "RLIMIT_MEMLOCK",    "RLIMIT_MSGQUEUE",
        "RLIMIT_NICE",   "RLIMIT_NOFILE", "RLIMIT_NPROC",      "RLIMIT_RSS",
        "RLIMIT_RTPRIO", "RLIMIT_RTTIME", "RLIMIT_SIGPENDING", "RLIMIT_STACK",
    };
    nri_adjustment *adjustment = fixture_make(*state);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < 16; i++)
            OK(nri_adjustment_add_rlimit(adjustment, types[i], 100 + i, i));
    }
    assert_int_equal(fixture_adjustment(*state, adjustment)->n_rlimits, 16);
}

static void test_refusals(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, nri_adjustment_add_rlimit(a, "RLIMIT_NOFILE", 5, 10), NRI_E_RANGE,
            "rlimit \"RLIMIT_NOFILE\": soft 10: must not be above hard 5");
    REFUSED(a, nri_adjustment_add_rlimit(a, "NOFILE", 5, 5), NRI_E_INVALID,
            "rlimit type \"NOFILE\": must be a name of getrlimit(2), such as \"RLIMIT_NOFILE\"");
    REFUSED(a, nri_adjustment_add_rlimit(a, "rlimit_nofile", 5, 5), NRI_E_INVALID,
            "rlimit type \"rlimit_nofile\": must be a name of getrlimit(2), such as "
            "\"RLIMIT_NOFILE\"");
    REFUSED(a, nri_adjustment_add_rlimit(a, NULL, 5, 5), NRI_E_INVALID,
            "rlimit type NULL: must be a text");
    REFUSED(a, nri_adjustment_add_rlimit(a, "", 5, 5), NRI_E_INVALID,
            "rlimit type \"\": must not be empty");
    REFUSED(a, nri_adjustment_add_rlimit(a, "\xff", 5, 5), NRI_E_UTF8,
            "rlimit type \"\\xff\": must be UTF-8; the byte at offset 0 is not");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_S53_one_a_type),
        WITH_FIXTURE(test_every_type),
        WITH_FIXTURE(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
