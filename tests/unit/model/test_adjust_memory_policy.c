/* SPDX-License-Identifier: Apache-2.0 */
#include "refusal.h"

static int set(nri_adjustment *adjustment, int mode, const char *nodes)
{
    return nri_adjustment_set_memory_policy(adjustment, (enum nri_mpol_mode)mode, nodes, NULL, 0);
}

static void test_modes_and_nodes(void **state)
{
    static const struct {
        int mode;
        const char *nodes;
    } good[] = {
        {NRI_MPOL_DEFAULT, NULL},       {NRI_MPOL_DEFAULT, ""},
        {NRI_MPOL_LOCAL, NULL},         {NRI_MPOL_LOCAL, ""},
        {NRI_MPOL_PREFERRED, NULL},     {NRI_MPOL_PREFERRED, "0"},
        {NRI_MPOL_BIND, "0-1"},         {NRI_MPOL_INTERLEAVE, "0,2-3"},
        {NRI_MPOL_PREFERRED_MANY, "1"}, {NRI_MPOL_WEIGHTED_INTERLEAVE, "0-1"},
    };
    nri_adjustment *adjustment = fixture_make(*state);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        OK(set(adjustment, good[i].mode, good[i].nodes));
        const adjustment_message *message = fixture_adjustment(*state, adjustment);
        assert_non_null(message->linux->memory_policy); /* MPOL_DEFAULT is an empty message */
        assert_int_equal(message->linux->memory_policy->mode, good[i].mode);
        assert_string_equal(message->linux->memory_policy->nodes,
                            good[i].nodes != NULL ? good[i].nodes : "");
    }
}

static void test_flags(void **state)
{
    static const int all[] = {2, 0, 1}, twice[] = {1, 1}, above[] = {3};
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, nri_adjustment_set_memory_policy(a, NRI_MPOL_BIND, "0", twice, 2), NRI_E_INVALID,
            "memory policy flags[1] 1: must be there only once");
    REFUSED(a, nri_adjustment_set_memory_policy(a, NRI_MPOL_BIND, "0", above, 1), NRI_E_RANGE,
            "memory policy flags[0] 3: must be 0 to 2");
    REFUSED(a, nri_adjustment_set_memory_policy(a, NRI_MPOL_BIND, "0", NULL, 1), NRI_E_INVALID,
            "memory policy flags NULL: must be as many numbers as the count says");
    OK(nri_adjustment_set_memory_policy(a, NRI_MPOL_BIND, "0", all, 3));
    const adjustment_message *message = fixture_adjustment(*state, a);
    assert_int_equal(message->linux->memory_policy->n_flags, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(message->linux->memory_policy->flags[i], all[i]);
}

#define NEEDED "must be memory nodes, such as \"0-1\", with this mode"
#define EMPTY  "must be empty with MPOL_DEFAULT and MPOL_LOCAL"

static void test_refusals(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, set(a, -1, NULL), NRI_E_RANGE, "memory policy mode -1: must be 0 to 6");
    REFUSED(a, set(a, 7, NULL), NRI_E_RANGE, "memory policy mode 7: must be 0 to 6");
    REFUSED(a, set(a, NRI_MPOL_DEFAULT, "0"), NRI_E_INVALID, "memory policy nodes \"0\": " EMPTY);
    REFUSED(a, set(a, NRI_MPOL_LOCAL, "0"), NRI_E_INVALID, "memory policy nodes \"0\": " EMPTY);
    REFUSED(a, set(a, NRI_MPOL_BIND, NULL), NRI_E_INVALID, "memory policy nodes NULL: " NEEDED);
    REFUSED(a, set(a, NRI_MPOL_INTERLEAVE, ""), NRI_E_INVALID, "memory policy nodes \"\": " NEEDED);
    REFUSED(a, set(a, NRI_MPOL_PREFERRED_MANY, ""), NRI_E_INVALID,
            "memory policy nodes \"\": " NEEDED);
    REFUSED(a, set(a, NRI_MPOL_WEIGHTED_INTERLEAVE, ""), NRI_E_INVALID,
            "memory policy nodes \"\": " NEEDED);
    REFUSED(a, set(a, NRI_MPOL_BIND, "\xff"), NRI_E_UTF8,
            "memory policy nodes \"\\xff\": must be UTF-8; the byte at offset 0 is not");
    REFUSED(a, set(a, NRI_MPOL_BIND, "1-0"), NRI_E_RANGE,
            "memory policy nodes \"1-0\": wrong at offset 0: a range must ascend, such as \"0-3\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_modes_and_nodes),
        WITH_FIXTURE(test_flags),
        WITH_FIXTURE(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
