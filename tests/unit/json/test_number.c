/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <locale.h>
#include <math.h>

#include "fixture.h"

#define NO_INTEGER NRI_E_SYNTAX
#define TOO_LARGE  NRI_E_RANGE

static const struct {
    const char *text;
    int rc;
    int64_t number;
} signed_cases[] = {
    {"0", 0, 0},
    {"-0", 0, 0},
    {"-0.0e5", 0, 0},
    {"0e400000000", 0, 0},
    {"0.000e-99999999999999999999999", 0, 0},
    {"1", 0, 1},
    {"1.0", 0, 1},
    {"1.000000000000000000000000000000", 0, 1},
    {"1e2", 0, 100},
    {"1E+2", 0, 100},
    {"0.1e1", 0, 1},
    {"0.001e5", 0, 100},
    {"100e-2", 0, 1},
    {"-1200.00e-2", 0, -12},
    {"123.456e3", 0, 123456},
    {"10.5e1", 0, 105},
    {"1.5", NO_INTEGER, 0},
    {"1e-1", NO_INTEGER, 0},
    {"100e-3", NO_INTEGER, 0},
    {"123.456e2", NO_INTEGER, 0},
    {"1e-400000000", NO_INTEGER, 0},
    {"1e-99999999999999999999999", NO_INTEGER, 0},
    {"9223372036854775806.5", NO_INTEGER, 0},
    {"9007199254740993", 0, INT64_C(9007199254740993)}, /* 2^53 + 1: no double */
    {"9223372036854775807", 0, INT64_MAX},
    {"9223372036854775807.0", 0, INT64_MAX},
    {"922337203685477580.7e1", 0, INT64_MAX},
    {"9223372036854775808", TOO_LARGE, 0},
    {"-9223372036854775808", 0, INT64_MIN},
    {"-9223372036854775809", TOO_LARGE, 0},
    {"18446744073709551616", TOO_LARGE, 0},
    {"99999999999999999999", TOO_LARGE, 0},
    {"100000000000000000000", TOO_LARGE, 0},
    {"1e18", 0, INT64_C(1000000000000000000)},
    {"1e19", TOO_LARGE, 0},
    {"1e20", TOO_LARGE, 0},
    {"1e21", TOO_LARGE, 0},
    {"1e400000000", TOO_LARGE, 0},
    {"-1e400000000", TOO_LARGE, 0},
    {"1e9223372036854775807", TOO_LARGE, 0},
    {"1e9223372036854775808", TOO_LARGE, 0},
    {"1e99999999999999999999999", TOO_LARGE, 0},
    {"1.5e400000000", TOO_LARGE, 0},
    {"null", NO_INTEGER, 0},
    {"\"1\"", NO_INTEGER, 0},
    {"[1]", NO_INTEGER, 0},
};

static void test_int64(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof signed_cases / sizeof signed_cases[0]; i++) {
        struct fixture f;
        start(&f);
        int64_t number = 77;
        int rc = nri_json_int64(must_parse(&f, signed_cases[i].text), &number);
        if (rc != signed_cases[i].rc || number != (rc == 0 ? signed_cases[i].number : 77))
            fail_msg("%s: %s, %lld", signed_cases[i].text, nri_error_name(rc), (long long)number);
        end(&f);
    }
    int64_t number;
    assert_int_equal(nri_json_int64(NULL, &number), NO_INTEGER);
}

static const struct {
    const char *text;
    int rc;
    uint64_t number;
} unsigned_cases[] = {
    {"0", 0, 0},
    {"-0", 0, 0},
    {"-1", TOO_LARGE, 0},
    {"-1.5", NO_INTEGER, 0},
    {"18446744073709551615", 0, UINT64_MAX},
    {"1844674407370955161.5e1", 0, UINT64_MAX},
    {"18446744073709551616", TOO_LARGE, 0},
    {"18446744073709551620", TOO_LARGE, 0},
    {"1e19", 0, UINT64_C(10000000000000000000)},
    {"2e19", TOO_LARGE, 0},
    {"1e400000000", TOO_LARGE, 0},
    {"true", NO_INTEGER, 0},
};

static void test_uint64(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof unsigned_cases / sizeof unsigned_cases[0]; i++) {
        struct fixture f;
        start(&f);
        uint64_t number = 77;
        int rc = nri_json_uint64(must_parse(&f, unsigned_cases[i].text), &number);
        if (rc != unsigned_cases[i].rc || number != (rc == 0 ? unsigned_cases[i].number : 77))
            fail_msg("%s: %s, %llu", unsigned_cases[i].text, nri_error_name(rc),
                     (unsigned long long)number);
        end(&f);
    }
}

/* Made numbers come back as they were, at both ends of the range. */
static void test_round_trip(void **state)
{
    (void)state;
    static const int64_t numbers[] = {INT64_MIN, INT64_MIN + 1, -1, 0, 1, INT64_MAX};
    struct fixture f;
    start(&f);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        int64_t number = 5;
        assert_int_equal(nri_json_int64(nri_json_new_int64(&f.arena, numbers[i]), &number), 0);
        assert_true(number == numbers[i]);
        uint64_t bits = 5;
        assert_int_equal(
            nri_json_uint64(nri_json_new_uint64(&f.arena, (uint64_t)numbers[i]), &bits), 0);
        assert_true(bits == (uint64_t)numbers[i]);
    }
    end(&f);
}

/* A number as long as the limit allows must cost no more than reading it. */
static void test_long_numbers(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 20 };
    struct fixture f;
    int64_t number;
    start(&f);
    char *text = malloc(LENGTH + 1);
    assert_non_null(text);
    text[LENGTH] = '\0';
    memset(text, '9', LENGTH);
    struct nri_json *nines = must_parse(&f, text);
    assert_string_equal(nri_json_number_text(nines), text);
    assert_int_equal(nri_json_int64(nines, &number), TOO_LARGE);
    memset(text, '0', LENGTH);
    memcpy(text, "7.", 2);
    assert_int_equal(nri_json_int64(must_parse(&f, text), &number), 0);
    assert_int_equal(number, 7);
    text[LENGTH - 1] = '1';
    assert_int_equal(nri_json_int64(must_parse(&f, text), &number), NO_INTEGER);
    memset(text, '0', LENGTH);
    memcpy(text, "1e", 2);
    text[LENGTH - 1] = '3';
    assert_int_equal(nri_json_int64(must_parse(&f, text), &number), 0);
    assert_int_equal(number, 1000);
    free(text);
    end(&f);
}

static void test_double(void **state)
{
    (void)state;
    struct fixture f;
    double number = 0;
    start(&f);
    assert_int_equal(nri_json_double(must_parse(&f, "-1.5e3"), &number), 0);
    assert_true(number == -1500.0);
    assert_int_equal(nri_json_double(must_parse(&f, "0.1"), &number), 0);
    assert_true(number == 0.1);
    assert_int_equal(nri_json_double(must_parse(&f, "1e-400000000"), &number), 0);
    assert_true(number == 0.0);
    number = 5;
    assert_int_equal(nri_json_double(must_parse(&f, "1e400000000"), &number), TOO_LARGE);
    assert_int_equal(nri_json_double(must_parse(&f, "\"1\""), &number), NO_INTEGER);
    assert_true(number == 5.0);
    end(&f);
}

/* The decimal point is a point in every locale. Without a locale that has a comma there is nothing
 * to see. */
static void test_double_in_a_comma_locale(void **state)
{
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "cs_CZ.UTF-8",
                                        "nl_NL.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) != NULL;
    if (!found)
        skip();
    struct fixture f;
    double number = 0;
    start(&f);
    assert_int_equal(nri_json_double(must_parse(&f, "1.5"), &number), 0);
    assert_true(number == 1.5);
    end(&f);
    setlocale(LC_NUMERIC, "C");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_int64),      cmocka_unit_test(test_uint64),
        cmocka_unit_test(test_round_trip), cmocka_unit_test(test_long_numbers),
        cmocka_unit_test(test_double),     cmocka_unit_test(test_double_in_a_comma_locale),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
