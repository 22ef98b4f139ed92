/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static void check_entry(const adjustment_message *message, size_t index, const char *key,
                        const char *value)
{
    assert_true(index < message->n_annotations);
    assert_string_equal(message->annotations[index]->key, key);
    assert_string_equal(message->annotations[index]->value, value);
}

static void test_add_and_replace(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_add_annotation(adjustment, "a.example/x", "1"), 0);
    assert_int_equal(nri_adjustment_add_annotation(adjustment, "b=c", ""), 0);
    assert_int_equal(nri_adjustment_add_annotation(adjustment, "a.example/x", "2"), 0);
    assert_int_equal(nri_adjustment_replace_annotation(adjustment, "r", "3"), 0);
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->n_annotations, 4);
    check_entry(message, 0, "a.example/x", "2");
    check_entry(message, 1, "b=c", "");
    check_entry(message, 2, "-r", "");
    check_entry(message, 3, "r", "3");
    assert_int_equal(message->n_env, 0);
    assert_null(message->linux);
}

static void test_remove(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_add_annotation(adjustment, "a", "1"), 0);
    assert_int_equal(nri_adjustment_remove_annotation(adjustment, "a"), 0);
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->n_annotations, 1);
    check_entry(message, 0, "-a", "");
    assert_int_equal(nri_adjustment_add_annotation(adjustment, "a", "2"), 0);
    message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->n_annotations, 2);
    check_entry(message, 1, "a", "2");
}

static void test_refusals(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_add_annotation(adjustment, "-a", ""), NRI_E_INVALID);
    assert_string_equal(nri_adjustment_error_text(adjustment),
                        "annotation key \"-a\": must not start with \"-\"; to remove one, call "
                        "nri_adjustment_remove_annotation() with the bare key");
    nri_adjustment_clear_error(adjustment);
    assert_int_equal(nri_adjustment_replace_annotation(adjustment, "k", "\x80"), NRI_E_UTF8);
    assert_string_equal(
        nri_adjustment_error_text(adjustment),
        "annotation \"k\": value \"\\x80\": must be UTF-8; the byte at offset 0 is not");
    assert_int_equal(nri_adjustment_remove_annotation(adjustment, ""), NRI_E_INVALID);
    assert_int_equal(nri_adjustment_add_annotation(adjustment, NULL, "v"), NRI_E_INVALID);
    assert_int_equal(nri_adjustment_add_annotation(adjustment, "k", NULL), NRI_E_INVALID);
    assert_null(nri_adjustment_message(adjustment));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_add_and_replace, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_remove, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_refusals, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
