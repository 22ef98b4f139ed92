/* SPDX-License-Identifier: Apache-2.0 */
/* Kubernetes quantities, and the arithmetic of CPUs. */
#include "fixture.h"

#include <nri/quantity.h>

static void test_parse(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t whole, milli;
    } cases[] = {
        {"0", 0, 0},
        {"-0", 0, 0},
        {"0Ei", 0, 0},
        {"12", 12, 12000},
        {"+5", 5, 5000},
        {"-5", -5, -5000},
        {"5.", 5, 5000},
        {".5", 1, 500},
        {"-.5", -1, -500},
        {"100m", 1, 100},
        {"1500m", 2, 1500},
        {"1u", 1, 1},
        {"1n", 1, 1},
        {"1000000n", 1, 1},
        {"1000001n", 1, 2},
        {"1k", 1000, 1000000},
        {"2Gi", INT64_C(2147483648), INT64_C(2147483648000)},
        {"1.5Gi", INT64_C(1610612736), INT64_C(1610612736000)},
        {"1.5G", 1500000000, INT64_C(1500000000000)},
        {"0.1Ki", 103, 102400},
        {"1e3", 1000, 1000000},
        {"1E3", 1000, 1000000},
        {"1e-3", 1, 1},
        {"15e-1", 2, 1500},
        {"1e+2", 100, 100000},
        {"0.000000000000000000000000000001", 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = 77;
        if (nri_quantity_parse(cases[i].text, &value, NULL) != 0 || value != cases[i].whole)
            fail_msg("%s: %lld", cases[i].text, (long long)value);
        if (nri_quantity_parse_milli(cases[i].text, &value, NULL) != 0 || value != cases[i].milli)
            fail_msg("%s: %lld milli", cases[i].text, (long long)value);
    }
}

static void test_borders(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int code;
        int64_t value;
    } cases[] = {
        {"9223372036854775807", 0, INT64_MAX},
        {"9223372036854775808", NRI_E_RANGE, 0},
        {"9223372036854775806.1", 0, INT64_MAX},
        {"9223372036854775807.1", NRI_E_RANGE, 0},
        {"-9223372036854775808", 0, INT64_MIN},
        {"-9223372036854775808.5", NRI_E_RANGE, 0},
        {"7Ei", 0, INT64_C(7) << 60},
        {"8Ei", NRI_E_RANGE, 0},
        {"-8Ei", 0, INT64_MIN},
        {"9E", 0, INT64_C(9000000000000000000)},
        {"10E", NRI_E_RANGE, 0},
        {"1e18", 0, INT64_C(1000000000000000000)},
        {"1e19", NRI_E_RANGE, 0},
        {"1e999999999999999999999", NRI_E_RANGE, 0},
        {"1e-999999999999999999999", 0, 1},
        {"0e999999999999999999999", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = 77;
        int code = nri_quantity_parse(cases[i].text, &value, NULL);
        if (code != cases[i].code || value != (code == 0 ? cases[i].value : 77))
            fail_msg("%s: %d, %lld", cases[i].text, code, (long long)value);
    }
}

static void test_errors(void **state)
{
    (void)state;
    static const char rule[] = "must be digits with an optional sign, point, and suffix (n u m k M "
                               "G T P E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3)";
    static const struct {
        const char *text, *start;
    } cases[] = {
        {"", "quantity \"\": wrong at offset 0: "},
        {"-", "quantity \"-\": wrong at offset 1: "},
        {".", "quantity \".\": wrong at offset 0: "},
        {"1 ", "quantity \"1 \": wrong at offset 1: "},
        {" 1", "quantity \" 1\": wrong at offset 0: "},
        {"1K", "quantity \"1K\": wrong at offset 1: "},
        {"1ki", "quantity \"1ki\": wrong at offset 1: "},
        {"1Gib", "quantity \"1Gib\": wrong at offset 1: "},
        {"1mi", "quantity \"1mi\": wrong at offset 1: "},
        {"1e", "quantity \"1e\": wrong at offset 1: "},
        {"1e3k", "quantity \"1e3k\": wrong at offset 1: "},
        {"1.2.3", "quantity \"1.2.3\": wrong at offset 3: "},
        {"0x10", "quantity \"0x10\": wrong at offset 1: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = 77;
        nri_error *error = NULL;
        assert_int_equal(nri_quantity_parse(cases[i].text, &value, &error), NRI_E_SYNTAX);
        assert_int_equal(value, 77);
        const char *text = nri_error_get_text(error);
        size_t length = strlen(cases[i].start);
        if (strncmp(text, cases[i].start, length) != 0 || strcmp(text + length, rule) != 0)
            fail_msg("%s", text);
        nri_error_free(error);
    }
}

static void test_format(void **state)
{
    (void)state;
    static const struct {
        int64_t value;
        const char *whole, *milli;
    } cases[] = {
        {0, "0", "0"},
        {1, "1", "1m"},
        {100, "100", "100m"},
        {1000, "1k", "1"},
        {1023, "1023", "1023m"},
        {1024, "1Ki", "1024m"},
        {1025, "1025", "1025m"},
        {-2048, "-2Ki", "-2048m"},
        {INT64_C(2147483648), "2Gi", "2147483648m"},
        {1500, "1500", "1500m"},
        {2000, "2000", "2"},
        {INT64_MAX, "9223372036854775807", "9223372036854775807m"},
        {INT64_MIN, "-8Ei", "-9223372036854775808m"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[32];
        int64_t again;
        assert_int_equal(nri_quantity_format(cases[i].value, text, sizeof text),
                         strlen(cases[i].whole));
        assert_string_equal(text, cases[i].whole);
        assert_int_equal(nri_quantity_parse(text, &again, NULL), 0);
        assert_true(again == cases[i].value);
        nri_quantity_format_milli(cases[i].value, text, sizeof text);
        assert_string_equal(text, cases[i].milli);
        assert_int_equal(nri_quantity_parse_milli(text, &again, NULL), 0);
        assert_true(again == cases[i].value);
    }
}

/* A quantity and its text are each other's inverse. */
static void test_random_values_come_back(void **state)
{
    (void)state;
    uint64_t bits = 1;
    for (int i = 0; i < 100000; i++) {
        char text[32];
        int64_t again;
        bits = bits * UINT64_C(6364136223846793005) + 1442695040888963407u;
        int64_t value = (int64_t)(bits >> (i % 64));
        nri_quantity_format(value, text, sizeof text);
        assert_int_equal(nri_quantity_parse(text, &again, NULL), 0);
        assert_true(again == value);
        nri_quantity_format_milli(value, text, sizeof text);
        assert_int_equal(nri_quantity_parse_milli(text, &again, NULL), 0);
        assert_true(again == value);
    }
}

static void test_cpu_values(void **state)
{
    (void)state;
    assert_int_equal(nri_cpu_milli_to_shares(0), 2);
    assert_int_equal(nri_cpu_milli_to_shares(1), 2);
    assert_int_equal(nri_cpu_milli_to_shares(100), 102);
    assert_int_equal(nri_cpu_milli_to_shares(1000), 1024);
    assert_int_equal(nri_cpu_milli_to_shares(256000), 262144);
    assert_int_equal(nri_cpu_milli_to_shares(UINT64_MAX), 262144);
    assert_int_equal(nri_cpu_shares_to_milli(1024), 1000);
    assert_int_equal(nri_cpu_shares_to_milli(2), 2);
    assert_int_equal(nri_cpu_milli_to_quota(0, 0), -1);
    assert_int_equal(nri_cpu_milli_to_quota(1, 0), 1000);
    assert_int_equal(nri_cpu_milli_to_quota(1500, 0), 150000);
    assert_int_equal(nri_cpu_milli_to_quota(1500, 50000), 75000);
    assert_true(nri_cpu_milli_to_quota(UINT64_MAX, UINT64_MAX) == INT64_MAX);
    assert_int_equal(nri_cpu_quota_to_milli(150000, 100000), 1500);
    assert_int_equal(nri_cpu_quota_to_milli(-1, 100000), 0);
    assert_true(nri_cpu_quota_to_milli(INT64_MAX, 1) == UINT64_MAX);
    assert_int_equal(nri_cpu_shares_to_weight(0), 0);
    assert_int_equal(nri_cpu_shares_to_weight(1), 1);
    assert_int_equal(nri_cpu_shares_to_weight(2), 1);
    assert_int_equal(nri_cpu_shares_to_weight(1024), 39);
    assert_int_equal(nri_cpu_shares_to_weight(262144), 10000);
    assert_int_equal(nri_cpu_shares_to_weight(UINT64_MAX), 10000);
    assert_int_equal(nri_cpu_weight_to_shares(0), 0);
    assert_int_equal(nri_cpu_weight_to_shares(UINT64_MAX), 262144);
}

/* nri_cpu_weight_to_shares() gives the smallest shares of each weight. */
static void test_every_weight_and_share(void **state)
{
    (void)state;
    uint64_t last = 1;
    for (uint64_t shares = 2; shares <= 262144; shares++) {
        uint64_t weight = nri_cpu_shares_to_weight(shares);
        assert_true(weight == last || weight == last + 1);
        if (weight != last || shares == 2)
            assert_true(nri_cpu_weight_to_shares(weight) == shares);
        last = weight;
    }
    assert_int_equal(last, 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),
        cmocka_unit_test(test_borders),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_format),
        cmocka_unit_test(test_random_values_come_back),
        cmocka_unit_test(test_cpu_values),
        cmocka_unit_test(test_every_weight_and_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
