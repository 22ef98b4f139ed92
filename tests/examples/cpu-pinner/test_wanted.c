/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <nri/container_build.h>
#include <nri/pod_build.h>

#include "wanted.h"

struct fixture {
    nri_pod *pod;
    nri_container *container;
};

static int make(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    assert_int_equal(nri_pod_new(&fixture->pod, NULL), 0);
    assert_int_equal(nri_container_new(&fixture->container, NULL), 0);
    assert_int_equal(nri_container_set_name(fixture->container, "c0"), 0);
    *state = fixture;
    return 0;
}

static int unmake(void **state)
{
    struct fixture *fixture = *state;
    nri_pod_free(fixture->pod);
    nri_container_free(fixture->container);
    free(fixture);
    return 0;
}

static void limit(struct fixture *fixture, int64_t quota, uint64_t period)
{
    nri_resources *resources = nri_container_edit_resources(fixture->container);
    assert_int_equal(nri_resources_set_cpu_quota(resources, quota), 0);
    assert_int_equal(nri_resources_set_cpu_period(resources, period), 0);
}

static void wants(const struct fixture *fixture, bool by_limit, size_t count)
{
    size_t seen = 99;
    char text[WANTED_TEXT];
    assert_int_equal(wanted_read(fixture->pod, fixture->container, by_limit, &seen, text), 0);
    assert_string_equal(text, "");
    assert_int_equal(seen, count);
}

static void annotate(struct fixture *fixture, const char *key, const char *value)
{
    assert_int_equal(nri_pod_set_annotation(fixture->pod, key, value), 0);
}

static void test_precedence(void **state)
{
    struct fixture *fixture = *state;
    wants(fixture, false, 0);
    annotate(fixture, WANTED_KEY, "1");
    wants(fixture, false, 1);
    annotate(fixture, WANTED_KEY "/pod", "2");
    wants(fixture, false, 2);
    annotate(fixture, WANTED_KEY "/container.c1", "4");
    wants(fixture, false, 2);
    annotate(fixture, WANTED_KEY "/container.c0", "3");
    wants(fixture, false, 3);
    annotate(fixture, WANTED_KEY "/container.c0", "0");
    wants(fixture, false, 0);
}

static void test_limit(void **state)
{
    struct fixture *fixture = *state;
    wants(fixture, true, 0);
    limit(fixture, 200000, 100000);
    wants(fixture, true, 2);
    wants(fixture, false, 0);
    limit(fixture, 150000, 100000);
    wants(fixture, true, 0);
    limit(fixture, 50000, 100000);
    wants(fixture, true, 0);
    limit(fixture, -1, 100000);
    wants(fixture, true, 0);
    limit(fixture, INT64_MAX / 1000 * 1000, 1000);
    wants(fixture, true, 0);
    /* An annotation counts for more than a limit. */
    limit(fixture, 200000, 100000);
    annotate(fixture, WANTED_KEY, "0");
    wants(fixture, true, 0);
}

static void refuses(struct fixture *fixture, const char *value, const char *end)
{
    size_t count = 99;
    char text[WANTED_TEXT];
    annotate(fixture, WANTED_KEY "/pod", value);
    assert_int_equal(wanted_read(fixture->pod, fixture->container, true, &count, text), -1);
    assert_int_equal(count, 0);
    static const char start[] = "annotation \"" WANTED_KEY "/pod\": ";
    assert_memory_equal(text, start, sizeof start - 1);
    assert_non_null(strstr(text, end));
}

static void test_wrong(void **state)
{
    struct fixture *fixture = *state;
    refuses(fixture, "two", "two");
    refuses(fixture, "", "must be");
    refuses(fixture, "-1", "\"-1\": must be from 0 to 16384");
    refuses(fixture, "16385", "\"16385\": must be from 0 to 16384");
    refuses(fixture, "99999999999999999999", "99999999999999999999");
    annotate(fixture, WANTED_KEY "/pod", "16384");
    wants(fixture, false, 16384);
}

static void asks(const struct fixture *fixture, int64_t quota, uint64_t period, bool by_limit,
                 int count)
{
    nri_container *update = NULL;
    size_t seen = 99;
    assert_int_equal(nri_container_new(&update, NULL), 0);
    nri_resources *resources = nri_container_edit_resources(update);
    if (quota != 0)
        assert_int_equal(nri_resources_set_cpu_quota(resources, quota), 0);
    if (period != 0)
        assert_int_equal(nri_resources_set_cpu_period(resources, period), 0);
    const bool does = wanted_update(fixture->pod, fixture->container, resources, by_limit, &seen);
    nri_container_free(update);
    assert_int_equal(does, count >= 0);
    if (does)
        assert_int_equal(seen, count);
}

static void test_update(void **state)
{
    struct fixture *fixture = *state;
    limit(fixture, 200000, 100000);
    asks(fixture, 300000, 100000, true, 3);
    asks(fixture, 300000, 0, true, 3);
    asks(fixture, 0, 50000, true, 4);
    asks(fixture, 250000, 100000, true, 0);
    asks(fixture, -1, 0, true, 0);
    asks(fixture, 0, 0, true, -1);
    asks(fixture, 300000, 100000, false, -1);
    annotate(fixture, WANTED_KEY, "1");
    asks(fixture, 300000, 100000, true, -1);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, make, unmake)
    const struct CMUnitTest tests[] = {TEST(test_precedence), TEST(test_limit), TEST(test_update),
                                       TEST(test_wrong)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
