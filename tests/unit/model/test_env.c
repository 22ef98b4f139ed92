/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "fixture.h"

/* The env of an adjustment, as a runtime sees it: "-A, A=1, B=". */
static const char *env_of(struct fixture *fixture, const nri_adjustment *adjustment)
{
    static const char none[] = "";
    if (nri_adjustment_message(adjustment) == NULL)
        return none;
    const adjustment_message *message = fixture_adjustment(fixture, adjustment);
    char *text = nri_arena_alloc(&fixture->arena, 1024);
    assert_non_null(text);
    text[0] = '\0';
    for (size_t i = 0; i < message->n_env; i++) {
        size_t used = strlen(text);
        const char *key = message->env[i]->key, *value = message->env[i]->value;
        snprintf(text + used, 1024 - used, "%s%s%s%s", i > 0 ? ", " : "", key,
                 key[0] == '-' ? "" : "=", value);
    }
    return text;
}

static void test_add(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    char name[] = "HELLO", value[] = "nri";
    assert_int_equal(nri_adjustment_add_env(adjustment, name, value), 0);
    name[0] = value[0] = 'X'; /* it was copied */
    assert_int_equal(nri_adjustment_add_env(adjustment, "EMPTY", ""), 0);
    assert_int_equal(nri_adjustment_add_env(adjustment, "UTF", "\xc3\xa4=b"), 0);
    assert_string_equal(env_of(*state, adjustment), "HELLO=nri, EMPTY=, UTF=\xc3\xa4=b");
    assert_int_equal(nri_adjustment_error(adjustment), 0);
    assert_string_equal(nri_adjustment_error_text(adjustment), "");
    assert_true(nri_adjustment_features(adjustment) == UINT64_C(1) << NRI_FEATURE_ENV);
    /* Every runtime has it: there is nothing to ask. */
    assert_null(nri_adjustment_feature_check(adjustment, 0));
}

static void test_setting_again_replaces_in_place(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_add_env(adjustment, "A", "1"), 0);
    assert_int_equal(nri_adjustment_add_env(adjustment, "B", "2"), 0);
    assert_int_equal(nri_adjustment_add_env(adjustment, "A", "3"), 0);
    assert_string_equal(env_of(*state, adjustment), "A=3, B=2");
}

static void test_remove_and_replace(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_remove_env(adjustment, "A"), 0);
    assert_string_equal(env_of(*state, adjustment), "-A");
    assert_int_equal(nri_adjustment_remove_env(adjustment, "A"), 0);
    assert_string_equal(env_of(*state, adjustment), "-A");
    assert_int_equal(nri_adjustment_add_env(adjustment, "A", "1"), 0); /* keeps the marker */
    assert_string_equal(env_of(*state, adjustment), "-A, A=1");
    assert_int_equal(nri_adjustment_remove_env(adjustment, "A"), 0); /* drops the entry */
    assert_string_equal(env_of(*state, adjustment), "-A");
    assert_int_equal(nri_adjustment_replace_env(adjustment, "B", "2"), 0);
    assert_int_equal(nri_adjustment_replace_env(adjustment, "B", "3"), 0);
    assert_string_equal(env_of(*state, adjustment), "-A, -B, B=3");
}

static void refused(struct fixture *fixture, const char *name, const char *value, int code,
                    const char *text)
{
    nri_adjustment *adjustment = fixture_make(fixture);
    assert_int_equal(nri_adjustment_add_env(adjustment, name, value), code);
    assert_int_equal(nri_adjustment_error(adjustment), code);
    assert_string_equal(nri_adjustment_error_text(adjustment), text);
    assert_null(nri_adjustment_message(adjustment));
    nri_adjustment_clear_error(adjustment);
    assert_int_equal(nri_adjustment_replace_env(adjustment, name, value), code);
    assert_string_equal(nri_adjustment_error_text(adjustment), text);
    assert_null(nri_adjustment_message(adjustment));
}

static void test_refusals_name_field_value_and_rule(void **state)
{
    refused(*state, "A=B", "", NRI_E_INVALID, "env name \"A=B\": must not contain \"=\"");
    refused(*state, "", "", NRI_E_INVALID, "env name \"\": must not be empty");
    refused(*state, NULL, "", NRI_E_INVALID, "env name NULL: must be a text");
    refused(*state, "-A", "", NRI_E_INVALID,
            "env name \"-A\": must not start with \"-\"; to remove one, call "
            "nri_adjustment_remove_env() with the bare key");
    refused(*state, "A\xff", "", NRI_E_UTF8,
            "env name \"A\\xff\": must be UTF-8; the byte at offset 1 is not");
    refused(*state, "A", NULL, NRI_E_INVALID, "env \"A\": value NULL: must be a text");
    refused(*state, "A", "xy\xc0\xaf", NRI_E_UTF8,
            "env \"A\": value \"xy\\xc0\\xaf\": must be UTF-8; the byte at offset 2 is not");
    refused(*state, "A", "\xed\xa0\x80", NRI_E_UTF8,
            "env \"A\": value \"\\xed\\xa0\\x80\": must be UTF-8; the byte at offset 0 is not");
}

static void test_remove_checks_the_name(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_remove_env(adjustment, "A=B"), NRI_E_INVALID);
    assert_int_equal(nri_adjustment_remove_env(adjustment, "-A"), NRI_E_INVALID);
    assert_int_equal(nri_adjustment_remove_env(adjustment, NULL), NRI_E_INVALID);
    assert_null(nri_adjustment_message(adjustment));
}

/* A long value is cut in the text, and the rule is still there. */
static void test_long_values_are_cut_in_texts(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    char name[5000];
    memset(name, 'n', sizeof name);
    name[sizeof name - 2] = '=';
    name[sizeof name - 1] = '\0';
    assert_int_equal(nri_adjustment_add_env(adjustment, name, ""), NRI_E_INVALID);
    const char *text = nri_adjustment_error_text(adjustment);
    assert_true(strlen(text) < 140);
    assert_non_null(strstr(text, "nnn...\": must not contain \"=\""));
}

/* Linear: with 50 000 variables, each set, replaced, removed and set again. */
static void test_many(void **state)
{
    enum { COUNT = 50000 };
    nri_adjustment *adjustment = fixture_make(*state);
    char name[32];
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < COUNT; i++) {
            snprintf(name, sizeof name, "NAME_%d", i);
            int code = round == 2 ? nri_adjustment_remove_env(adjustment, name)
                                  : nri_adjustment_add_env(adjustment, name, round == 3 ? "z" : "");
            if (code != 0)
                fail_msg("%s: %d", name, code);
        }
    }
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->n_env, 2 * COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        snprintf(name, sizeof name, "-NAME_%zu", i);
        if (strcmp(message->env[2 * i]->key, name) != 0 ||
            strcmp(message->env[2 * i + 1]->key, name + 1) != 0 ||
            strcmp(message->env[2 * i + 1]->value, "z") != 0)
            fail_msg("%s is not where it was first set", name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_add, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_setting_again_replaces_in_place, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_remove_and_replace, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_refusals_name_field_value_and_rule, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_remove_checks_the_name, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_long_values_are_cut_in_texts, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_many, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
