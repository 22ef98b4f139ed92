/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static const char *const sleep_60[] = {"sleep", "60", ""};
static const char *const only_true[] = {"true"};

static void check_args(struct fixture *fixture, const nri_adjustment *adjustment, size_t count,
                       const char *const *args)
{
    const adjustment_message *message = fixture_adjustment(fixture, adjustment);
    assert_int_equal(message->n_args, count);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(message->args[i], args[i]);
}

static void test_set(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_set_args(adjustment, sleep_60, 3), 0);
    check_args(*state, adjustment, 3, sleep_60);
    assert_int_equal(nri_adjustment_features(adjustment), 1u << NRI_FEATURE_ARGS);
    assert_int_equal(nri_adjustment_set_args(adjustment, only_true, 1), 0);
    check_args(*state, adjustment, 1, only_true);
}

static void test_replace(void **state)
{
    static const char *const wire[] = {"", "true"};
    static const char *const later[] = {"", "sleep", "60", ""};
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_set_args(adjustment, sleep_60, 3), 0);
    assert_int_equal(nri_adjustment_replace_args(adjustment, only_true, 1), 0);
    check_args(*state, adjustment, 2, wire);
    assert_int_equal(nri_adjustment_set_args(adjustment, sleep_60, 3), 0); /* keeps the marker */
    check_args(*state, adjustment, 4, later);
    assert_int_equal(nri_adjustment_features(adjustment), 1u << NRI_FEATURE_ARGS);
}

static void refused(struct fixture *fixture, const char *const *args, size_t count, int code,
                    const char *text)
{
    nri_adjustment *adjustment = fixture_make(fixture);
    assert_int_equal(nri_adjustment_set_args(adjustment, args, count), code);
    assert_string_equal(nri_adjustment_error_text(adjustment), text);
    assert_int_equal(nri_adjustment_replace_args(adjustment, args, count), code);
    assert_null(nri_adjustment_message(adjustment));
    assert_int_equal(nri_adjustment_features(adjustment), 0);
}

static void test_refusals(void **state)
{
    static const char *const empty_first[] = {"", "x"};
    static const char *const with_null[] = {"a", NULL};
    static const char *const with_bad[] = {"a", "b", "\xff"};
    refused(*state, NULL, 0, NRI_E_INVALID, "args (none): must be at least one text, the program");
    refused(*state, NULL, 2, NRI_E_INVALID, "args NULL: must be at least one text, the program");
    refused(*state, only_true, 0, NRI_E_INVALID,
            "args (none): must be at least one text, the program");
    refused(*state, empty_first, 2, NRI_E_INVALID, "args[0] \"\": must not be empty");
    refused(*state, with_null, 2, NRI_E_INVALID, "args[1] NULL: must be a text");
    refused(*state, with_bad, 3, NRI_E_UTF8,
            "args[2] \"\\xff\": must be UTF-8; the byte at offset 0 is not");
}

static void test_a_refused_call_keeps_what_was_set(void **state)
{
    static const char *const with_null[] = {"a", NULL};
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_set_args(adjustment, only_true, 1), 0);
    assert_int_equal(nri_adjustment_replace_args(adjustment, with_null, 2), NRI_E_INVALID);
    check_args(*state, adjustment, 1, only_true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_set, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_replace, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_refused_call_keeps_what_was_set, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
