/* SPDX-License-Identifier: Apache-2.0 */
#include "refusal.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxRdt rdt_message;

static const char *const lines[] = {"L3:0=f;1=f", "MB:0=50"};

static const rdt_message *rdt_of(struct fixture *fixture, nri_adjustment *adjustment)
{
    const adjustment_message *message = fixture_adjustment(fixture, adjustment);
    assert_non_null(message->linux->rdt);
    return message->linux->rdt;
}

static void test_each_part(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    OK(nri_adjustment_set_rdt_clos_id(adjustment, "gold"));
    const rdt_message *rdt = rdt_of(*state, adjustment);
    assert_string_equal(rdt->clos_id->value, "gold");
    assert_null(rdt->schemata);
    assert_null(rdt->enable_monitoring);
    assert_false(rdt->remove);
    OK(nri_adjustment_set_rdt_schemata(adjustment, lines, 2));
    OK(nri_adjustment_set_rdt_enable_monitoring(adjustment, false));
    rdt = rdt_of(*state, adjustment);
    assert_string_equal(rdt->clos_id->value, "gold");
    assert_int_equal(rdt->schemata->n_value, 2);
    assert_string_equal(rdt->schemata->value[0], lines[0]);
    assert_string_equal(rdt->schemata->value[1], lines[1]);
    assert_non_null(rdt->enable_monitoring);
    assert_false(rdt->enable_monitoring->value);
    OK(nri_adjustment_set_rdt_schemata(adjustment, NULL, 0));
    OK(nri_adjustment_set_rdt_enable_monitoring(adjustment, true));
    OK(nri_adjustment_set_rdt_clos_id(adjustment, "silver"));
    rdt = rdt_of(*state, adjustment);
    assert_non_null(rdt->schemata); /* an empty list is not the same as none */
    assert_int_equal(rdt->schemata->n_value, 0);
    assert_true(rdt->enable_monitoring->value);
    assert_string_equal(rdt->clos_id->value, "silver");
}

static void test_remove_keeps_what_is_set(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    OK(nri_adjustment_remove_rdt(adjustment));
    assert_true(rdt_of(*state, adjustment)->remove);
    OK(nri_adjustment_set_rdt_clos_id(adjustment, "gold"));
    OK(nri_adjustment_remove_rdt(adjustment));
    assert_true(rdt_of(*state, adjustment)->remove);
    assert_string_equal(rdt_of(*state, adjustment)->clos_id->value, "gold");
}

#define DIRECTORY "must be the name of a directory, without \"/\" and newlines"

static void test_refusals(void **state)
{
    static const char *const with_newline[] = {"L3:0=f", "a\nb"}, *const with_empty[] = {""};
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, nri_adjustment_set_rdt_clos_id(a, NULL), NRI_E_INVALID,
            "RDT clos_id NULL: must be a text");
    REFUSED(a, nri_adjustment_set_rdt_clos_id(a, ""), NRI_E_INVALID,
            "RDT clos_id \"\": must not be empty");
    REFUSED(a, nri_adjustment_set_rdt_clos_id(a, "a/b"), NRI_E_INVALID,
            "RDT clos_id \"a/b\": " DIRECTORY);
    REFUSED(a, nri_adjustment_set_rdt_clos_id(a, "."), NRI_E_INVALID,
            "RDT clos_id \".\": " DIRECTORY);
    REFUSED(a, nri_adjustment_set_rdt_clos_id(a, ".."), NRI_E_INVALID,
            "RDT clos_id \"..\": " DIRECTORY);
    REFUSED(a, nri_adjustment_set_rdt_clos_id(a, "a\nb"), NRI_E_INVALID,
            "RDT clos_id \"a\\x0ab\": " DIRECTORY);
    REFUSED(a, nri_adjustment_set_rdt_schemata(a, NULL, 1), NRI_E_INVALID,
            "RDT schemata NULL: must be as many texts as the count says");
    REFUSED(a, nri_adjustment_set_rdt_schemata(a, with_empty, 1), NRI_E_INVALID,
            "RDT schemata[0] \"\": must not be empty");
    REFUSED(a, nri_adjustment_set_rdt_schemata(a, with_newline, 2), NRI_E_INVALID,
            "RDT schemata[1] \"a\\x0ab\": must be one line, without a newline");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_each_part),
        WITH_FIXTURE(test_remove_keeps_what_is_set),
        WITH_FIXTURE(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
