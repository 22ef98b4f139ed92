/* SPDX-License-Identifier: Apache-2.0 */
#include "config_fixture.h"

#include "app/config_field.h"

static void test_good(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t nanoseconds;
    } cases[] = {
        {"0s", 0},
        {"1ns", 1},
        {"1us", 1000},
        {"250ms", 250000000},
        {"1.5s", 1500000000},
        {"2m", 120000000000},
        {"1h", 3600000000000},
        {"1h30m", 5400000000000},
        {"1m0.5s", 60500000000},
        {"0.000000001s", 1},
        {"1.0000000000000000000000000ns", 1},
        {"000000000000000000000000000001s", 1000000000},
        {"0.1m", 6000000000},
        {"9223372036854775807ns", INT64_MAX},
        {"9223372036.854775807s", INT64_MAX},
        {"2562047h47m16.854775807s", INT64_MAX},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t found = -1;
        const char *reason = app_duration_parse(cases[i].text, &found);
        if (reason != NULL)
            fail_msg("%s %s", cases[i].text, reason);
        assert_int_equal(found, cases[i].nanoseconds);
    }
}

static void test_bad(void **state)
{
    (void)state;
    static const char none[] = "is no duration: write digits and a unit, such as \"250ms\", "
                               "\"1.5s\", \"2m\" or \"1h\"";
    static const char no_unit[] = "has no unit: write ns, us, ms, s, m or h behind the number";
    static const char unknown[] = "has a unit that there is not: there are ns, us, ms, s, m and h";
    static const char fine[] =
        "has too many digits behind the point: nanoseconds are the smallest unit";
    static const char large[] = "is out of range: at most \"2562047h\"";
    static const struct {
        const char *text, *reason;
    } cases[] = {
        {"", none},
        {"s", none},
        {"-1s", none},
        {"+1s", none},
        {" 1s", none},
        {".5s", none},
        {"5.s", none},
        {"1", no_unit},
        {"1.5", no_unit},
        {"1h30", no_unit},
        {"25x", unknown},
        {"1S", unknown},
        {"1 s", unknown},
        {"1s ", unknown},
        {"1sec", unknown},
        {"1d", unknown},
        {"1.5ns", fine},
        {"0.0000000001s", fine},
        {"0.00000000000001s", fine},
        {"9223372036854775808ns", large},
        {"9223372036.854775808s", large},
        {"99999999999999999999999999999s", large},
        {"2562048h", large},
        {"2562047h47m16.854775807s1ns", large},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t found = 77;
        const char *reason = app_duration_parse(cases[i].text, &found);
        if (reason == NULL)
            fail_msg("was taken: %s", cases[i].text);
        if (strcmp(reason, cases[i].reason) != 0)
            fail_msg("%s %s", cases[i].text, reason);
        assert_int_equal(found, 77);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
