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
    static const int both[] = {2, 0}, twice[] = {1, 1}, above[] = {3};
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, nri_adjustment_set_memory_policy(a, NRI_MPOL_BIND, "0", twice, 2), NRI_E_INVALID,
            "memory policy flags[1] 1: must be there only once");
    REFUSED(a, nri_adjustment_set_memory_policy(a, NRI_MPOL_BIND, "0", above, 1), NRI_E_RANGE,
            "memory policy flags[0] 3: must be 0 to 2");
    REFUSED(a, nri_adjustment_set_memory_policy(a, NRI_MPOL_BIND, "0", NULL, 1), NRI_E_INVALID,
            "memory policy flags NULL: must be as many numbers as the count says");
    OK(nri_adjustment_set_memory_policy(a, NRI_MPOL_BIND, "0", both, 2));
    const adjustment_message *message = fixture_adjustment(*state, a);
    assert_int_equal(message->linux->memory_policy->n_flags, 2);
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(message->linux->memory_policy->flags[i], both[i]);
}

#define S NRI_MPOL_F_STATIC_NODES
#define R NRI_MPOL_F_RELATIVE_NODES
#define B NRI_MPOL_F_NUMA_BALANCING

/* What set_mempolicy(2) takes together. */
static void test_flags_that_the_kernel_takes(void **state)
{
    static const struct {
        int mode;
        const char *nodes;
        size_t count;
        int flags[2];
    } good[] = {
        {NRI_MPOL_DEFAULT, NULL, 1, {S}},
        {NRI_MPOL_DEFAULT, "", 1, {R}},
        {NRI_MPOL_PREFERRED, "0", 1, {S}},
        {NRI_MPOL_PREFERRED, "0", 1, {R}},
        {NRI_MPOL_BIND, "0", 2, {B, S}},
        {NRI_MPOL_BIND, "0", 2, {R, B}},
        {NRI_MPOL_INTERLEAVE, "0", 1, {S}},
        {NRI_MPOL_INTERLEAVE, "0", 1, {R}},
        {NRI_MPOL_PREFERRED_MANY, "0", 1, {B}},
        {NRI_MPOL_PREFERRED_MANY, "0", 2, {S, B}},
        {NRI_MPOL_WEIGHTED_INTERLEAVE, "0", 1, {S}},
        {NRI_MPOL_WEIGHTED_INTERLEAVE, "0", 1, {R}},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        nri_adjustment *a = fixture_make(*state);
        OK(nri_adjustment_set_memory_policy(a, (enum nri_mpol_mode)good[i].mode, good[i].nodes,
                                            good[i].flags, good[i].count));
        const adjustment_message *message = fixture_adjustment(*state, a);
        assert_int_equal(message->linux->memory_policy->n_flags, good[i].count);
    }
}

#define ONE_OF_TWO "MPOL_F_STATIC_NODES and MPOL_F_RELATIVE_NODES exclude each other"
#define NODELESS   "must not be set without memory nodes"
#define BALANCING  "must not be set unless the mode is MPOL_BIND or MPOL_PREFERRED_MANY"

/* What every set_mempolicy(2) refuses. */
static void test_flags_that_no_kernel_takes(void **state)
{
    static const struct {
        int mode;
        const char *nodes;
        size_t count;
        int flags[3];
        const char *text;
    } bad[] = {
        {NRI_MPOL_BIND, "0", 2, {S, R}, "memory policy flags[1] 1: " ONE_OF_TWO},
        {NRI_MPOL_BIND, "0", 3, {R, B, S}, "memory policy flags[2] 0: " ONE_OF_TWO},
        {NRI_MPOL_DEFAULT, NULL, 2, {R, S}, "memory policy flags[1] 0: " ONE_OF_TWO},
        {NRI_MPOL_PREFERRED_MANY, "0", 2, {R, S}, "memory policy flags[1] 0: " ONE_OF_TWO},
        {NRI_MPOL_PREFERRED, NULL, 1, {S}, "memory policy flags[0] 0: " NODELESS},
        {NRI_MPOL_PREFERRED, "", 1, {R}, "memory policy flags[0] 1: " NODELESS},
        {NRI_MPOL_LOCAL, NULL, 1, {S}, "memory policy flags[0] 0: " NODELESS},
        {NRI_MPOL_LOCAL, "", 1, {R}, "memory policy flags[0] 1: " NODELESS},
        {NRI_MPOL_DEFAULT, NULL, 1, {B}, "memory policy flags[0] 2: " BALANCING},
        {NRI_MPOL_DEFAULT, NULL, 2, {S, B}, "memory policy flags[1] 2: " BALANCING},
        {NRI_MPOL_PREFERRED, "0", 1, {B}, "memory policy flags[0] 2: " BALANCING},
        {NRI_MPOL_INTERLEAVE, "0", 1, {B}, "memory policy flags[0] 2: " BALANCING},
        {NRI_MPOL_LOCAL, NULL, 1, {B}, "memory policy flags[0] 2: " BALANCING},
        {NRI_MPOL_WEIGHTED_INTERLEAVE, "0", 1, {B}, "memory policy flags[0] 2: " BALANCING},
    };
    nri_adjustment *a = fixture_make(*state);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        REFUSED(a,
                nri_adjustment_set_memory_policy(a, (enum nri_mpol_mode)bad[i].mode, bad[i].nodes,
                                                 bad[i].flags, bad[i].count),
                NRI_E_INVALID, bad[i].text);
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
        WITH_FIXTURE(test_flags_that_the_kernel_takes),
        WITH_FIXTURE(test_flags_that_no_kernel_takes),
        WITH_FIXTURE(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
