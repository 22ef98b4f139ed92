/* SPDX-License-Identifier: Apache-2.0 */
/* Public bug reports (tests/cases.md) about what is applied in the end: merged adjustments on a
 * specification. */
#include "fixture.h"

#define LINUX(text)         "{\"linux\":{" text "}}"
#define RESOURCES(text)     LINUX("\"resources\":{" text "}")
#define CHECK(rows, update) fixture_rows(rows, sizeof(rows) / sizeof(rows)[0], update, NULL)

static void test_S11_an_update_of_the_CPU_alone(void **state)
{
    static const struct fixture_row rows[] = {
        {"{\"cpu\":{\"shares\":512}}", RESOURCES("\"memory\":{\"limit\":7}"),
         RESOURCES("\"memory\":{\"limit\":7},\"cpu\":{\"shares\":512}")},
        {"{\"cpu\":{\"shares\":512},\"memory\":{}}", "{}", RESOURCES("\"cpu\":{\"shares\":512}")},
    };
    (void)state;
    CHECK(rows, true);
}

static void test_S14_a_device_and_its_rule(void **state)
{
#define NODE "{\"path\":\"/dev/nvidia0\",\"type\":\"c\",\"major\":195,\"minor\":0}"
#define RULE "{\"allow\":true,\"type\":\"c\",\"major\":195,\"minor\":0,\"access\":\"rwm\"}"
#define HAS  LINUX("\"devices\":[" NODE "],\"resources\":{\"devices\":[" RULE "]}")
    static const struct fixture_row rows[] = {
        {LINUX("\"devices\":[" NODE "]"), "{}", HAS},
        {LINUX("\"devices\":[" NODE "]"), HAS, HAS},
        {LINUX("\"devices\":[{\"path\":\"-/dev/nvidia0\"}]"), HAS,
         LINUX("\"devices\":[],\"resources\":{\"devices\":[]}")},
        {LINUX("\"devices\":[{\"path\":\"-/dev/nvidia0\"}]"), "{}", "{}"},
    };
    (void)state;
    CHECK(rows, false);
#undef NODE
#undef RULE
#undef HAS
}

static void test_S46_limits_of_huge_pages_once_a_size(void **state)
{
    static const struct fixture_row rows[] = {
        {RESOURCES("\"hugepage_limits\":[{\"page_size\":\"2MB\",\"limit\":20},"
                   "{\"page_size\":\"1GB\",\"limit\":1}]"),
         RESOURCES("\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":10}]"),
         RESOURCES("\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":20},"
                   "{\"pageSize\":\"1GB\",\"limit\":1}]")},
    };
    (void)state;
    CHECK(rows, false);
}

static void test_S53_limits_once_a_type(void **state)
{
    static const struct fixture_row rows[] = {
        {"{\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":65536,\"soft\":65536},"
         "{\"type\":\"RLIMIT_CORE\",\"hard\":1,\"soft\":1}]}",
         "{\"process\":{\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":1024,\"soft\":1024}]}}",
         "{\"process\":{\"rlimits\":[{\"type\":\"RLIMIT_NOFILE\",\"hard\":65536,\"soft\":65536},"
         "{\"type\":\"RLIMIT_CORE\",\"hard\":1,\"soft\":1}]}}"},
    };
    (void)state;
    CHECK(rows, false);
}

#define RUNS 100

static void test_S54_the_order_in_a_map_does_not_count(void **state)
{
    static const struct fixture_row rows[] = {
        {"{\"annotations\":{\"-k\":\"\"}}", "{\"annotations\":{\"k\":\"0\"}}",
         "{\"annotations\":{}}"},
        {"{\"annotations\":{\"-k\":\"\",\"k\":\"2\"}}", "{\"annotations\":{\"k\":\"0\"}}",
         "{\"annotations\":{\"k\":\"2\"}}"},
        {"{\"annotations\":{\"k\":\"2\",\"-k\":\"\"}}", "{\"annotations\":{\"k\":\"0\"}}",
         "{\"annotations\":{\"k\":\"2\"}}"},
    };
    (void)state;
    for (int i = 0; i < RUNS; i++)
        CHECK(rows, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_S11_an_update_of_the_CPU_alone),
        cmocka_unit_test(test_S14_a_device_and_its_rule),
        cmocka_unit_test(test_S46_limits_of_huge_pages_once_a_size),
        cmocka_unit_test(test_S53_limits_once_a_type),
        cmocka_unit_test(test_S54_the_order_in_a_map_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
