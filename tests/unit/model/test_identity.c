/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

static void test_names(void **state)
{
    (void)state;
    static const char *const good[] = {"a", "my-plugin", "A_b.c+d-9", "-", "..", "00"};
    struct nri_error error;
    nri_error_clear(&error);
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(nri_identity_check_name(good[i], &error), 0);
    assert_string_equal(error.text, "");
    assert_int_equal(nri_identity_check_name("", &error), NRI_E_INVALID);
    assert_string_equal(error.text, "plugin name \"\": must not be empty");
    assert_int_equal(nri_identity_check_name(NULL, &error), NRI_E_INVALID);
    assert_string_equal(error.text, "plugin name NULL: must not be empty");
    static const char *const bad[] = {"a b", "a/b", "a,b", "a\n", "\xc3\xa4", "a:b", "a\xff"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(nri_identity_check_name(bad[i], &error), NRI_E_INVALID);
        assert_int_equal(nri_identity_check_name(bad[i], NULL), NRI_E_INVALID);
        assert_non_null(strstr(error.text, "must be letters, digits"));
    }
    assert_int_equal(nri_identity_check_name("a b", &error), NRI_E_INVALID);
    assert_string_equal(
        error.text,
        "plugin name \"a b\": must be letters, digits, \"_\", \".\", \"+\" and \"-\" only");
}

static void test_indices(void **state)
{
    (void)state;
    static const char *const bad[] = {"", "5", "005", "5a", "a5", " 5", "-5", "+5", "5 ", "0\n"};
    struct nri_error error;
    nri_error_clear(&error);
    assert_int_equal(nri_identity_check_index("00", &error), 0);
    assert_int_equal(nri_identity_check_index("42", &error), 0);
    assert_int_equal(nri_identity_check_index("99", &error), 0);
    assert_string_equal(error.text, "");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(nri_identity_check_index(bad[i], &error), NRI_E_INVALID);
    assert_int_equal(nri_identity_check_index("5", &error), NRI_E_INVALID);
    assert_string_equal(error.text, "plugin index \"5\": must be 2 digits, \"00\" (called first) "
                                    "to \"99\"");
    assert_int_equal(nri_identity_check_index(NULL, &error), NRI_E_INVALID);
}

static void check_program(const char *program, bool formed, const char *index, const char *name)
{
    char found_index[3] = "??";
    const char *found_name = NULL;
    assert_int_equal(nri_identity_from_program(program, found_index, &found_name), formed);
    assert_string_equal(found_index, index);
    assert_string_equal(found_name, name);
}

static void test_programs(void **state)
{
    (void)state;
    check_program("10-logger", true, "10", "logger");
    check_program("/opt/nri/plugins/05-my-plugin", true, "05", "my-plugin");
    check_program("./00-a", true, "00", "a");
    check_program("logger", false, "", "logger");
    check_program("/usr/bin/nri-logger", false, "", "nri-logger");
    check_program("1-logger", false, "", "1-logger");
    check_program("100-logger", false, "", "100-logger");
    check_program("10-", false, "", "10-");
    check_program("10", false, "", "10");
    check_program("10_logger", false, "", "10_logger");
    check_program("10-dir/logger", false, "", "logger");
    check_program("dir/", false, "", "");
    check_program("", false, "", "");
    check_program(NULL, false, "", "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_indices),
        cmocka_unit_test(test_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
