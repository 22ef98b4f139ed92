/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine.h"

struct fixture {
    struct topology topology;
    struct pool *pool;
    nri_cpuset *taken;
};

static struct fixture *make(unsigned nodes, unsigned cores, unsigned threads, const char *reserved,
                            size_t minimum)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    char text[POOL_TEXT];
    nri_cpuset *set = machine_set(reserved);
    assert_non_null(fixture);
    machine_make(&fixture->topology, nodes, cores, threads);
    assert_int_equal(pool_new(&fixture->pool, &fixture->topology, set, minimum, text), 0);
    assert_string_equal(text, "");
    fixture->taken = machine_set("");
    nri_cpuset_free(set);
    return fixture;
}

static void unmake(struct fixture *fixture)
{
    pool_free(fixture->pool);
    topology_free(&fixture->topology);
    nri_cpuset_free(fixture->taken);
    free(fixture);
}

/* Takes so many, which must be these. */
static void takes(struct fixture *fixture, size_t count, const char *list)
{
    assert_int_equal(pool_take(fixture->pool, count, fixture->taken), 0);
    assert_true(machine_is(fixture->taken, list));
}

static int claims(struct fixture *fixture, const char *list)
{
    nri_cpuset *set = machine_set(list);
    const int code = pool_claim(fixture->pool, set);
    nri_cpuset_free(set);
    return code;
}

static void gives(struct fixture *fixture, const char *list)
{
    nri_cpuset *set = machine_set(list);
    pool_give(fixture->pool, set);
    nri_cpuset_free(set);
}

/* 2 nodes x 2 cores x 2 threads: node 0 has the cores 0,4 and 1,5; node 1 has 2,6 and 3,7. */
static void test_whole_cores_of_one_node(void **state)
{
    (void)state;
    struct fixture *fixture = make(2, 2, 2, "", 1);
    takes(fixture, 2, "0,4");
    /* Node 0 has the fewest free of those that have enough. */
    takes(fixture, 2, "1,5");
    takes(fixture, 2, "2,6");
    assert_true(machine_is(pool_shared(fixture->pool), "3,7"));
    assert_true(machine_is(pool_exclusive(fixture->pool), "0-2,4-6"));
    unmake(fixture);
}

static void test_node_that_has_enough(void **state)
{
    (void)state;
    struct fixture *fixture = make(2, 2, 2, "", 1);
    takes(fixture, 1, "0");
    takes(fixture, 4, "2-3,6-7");
    unmake(fixture);
}

static void test_whole_cores_before_few_free(void **state)
{
    (void)state;
    struct fixture *fixture = make(2, 3, 2, "", 1); /* node 0: 0,6 1,7 2,8; node 1: 3,9 4,10 5,11 */
    assert_int_equal(claims(fixture, "0,1,2"), 0);
    /* Node 0 has 3 free CPUs and no whole core. */
    takes(fixture, 2, "3,9");
    unmake(fixture);
}

static void test_broken_cores_first(void **state)
{
    (void)state;
    struct fixture *fixture = make(1, 4, 2, "", 1); /* 0,4 1,5 2,6 3,7 */
    takes(fixture, 1, "0");
    takes(fixture, 1, "4"); /* what is left of that core, not a part of a whole one */
    takes(fixture, 3, "1-2,5");
    takes(fixture, 1, "6");
    unmake(fixture);
}

static void test_several_nodes(void **state)
{
    (void)state;
    struct fixture *fixture = make(3, 2, 1, "", 1); /* 0,1 2,3 4,5 */
    takes(fixture, 1, "0");
    takes(fixture, 3, "1-3"); /* the one with the most whole, the rest where it fits best */
    unmake(fixture);
}

static void test_short(void **state)
{
    (void)state;
    struct fixture *fixture = make(1, 4, 1, "3", 2);
    assert_int_equal(pool_available(fixture->pool), 1);
    assert_int_equal(pool_take(fixture->pool, 2, fixture->taken), POOL_SHORT);
    assert_int_equal(pool_take(fixture->pool, 0, fixture->taken), POOL_SHORT);
    assert_int_equal(pool_take(fixture->pool, SIZE_MAX, fixture->taken), POOL_SHORT);
    assert_true(machine_is(pool_shared(fixture->pool), "0-2"));
    takes(fixture, 1, "0");
    assert_int_equal(pool_available(fixture->pool), 0);
    assert_int_equal(pool_take(fixture->pool, 1, fixture->taken), POOL_SHORT);
    pool_set_minimum(fixture->pool, 0); /* counts as 1 */
    takes(fixture, 1, "1");
    assert_int_equal(pool_take(fixture->pool, 1, fixture->taken), POOL_SHORT);
    assert_true(machine_is(pool_shared(fixture->pool), "2"));
    assert_true(machine_is(pool_reserved(fixture->pool), "3"));
    unmake(fixture);
}

static void test_claim_and_give(void **state)
{
    (void)state;
    struct fixture *fixture = make(1, 6, 1, "0", 3);
    assert_int_equal(claims(fixture, ""), POOL_CONFLICT);
    assert_int_equal(claims(fixture, "0"), POOL_CONFLICT);
    assert_int_equal(claims(fixture, "5-6"), POOL_CONFLICT);
    assert_int_equal(claims(fixture, "1-5"), POOL_CONFLICT);
    assert_true(machine_is(pool_exclusive(fixture->pool), ""));
    assert_int_equal(claims(fixture, "2-5"), 0); /* whatever the minimum says */
    assert_int_equal(claims(fixture, "2"), POOL_CONFLICT);
    assert_true(machine_is(pool_shared(fixture->pool), "1"));
    gives(fixture, "3-4");
    assert_true(machine_is(pool_shared(fixture->pool), "1,3-4"));
    gives(fixture, "0-100");
    assert_true(machine_is(pool_shared(fixture->pool), "1-5"));
    assert_true(machine_is(pool_exclusive(fixture->pool), ""));
    unmake(fixture);
}

static void test_kept(void **state)
{
    (void)state;
    struct fixture *fixture = make(2, 2, 1, "", 1);
    nri_cpuset *kept = machine_set("0,2,900000");
    assert_int_equal(pool_set_kept(fixture->pool, kept), 0);
    assert_int_equal(pool_available(fixture->pool), 2);
    assert_int_equal(pool_available_on(fixture->pool, 1), 1);
    assert_int_equal(pool_take(fixture->pool, 3, fixture->taken), POOL_SHORT);
    takes(fixture, 2, "1,3");
    assert_true(machine_is(pool_shared(fixture->pool), "0,2")); /* they stay shared */
    nri_cpuset_free(kept);
    unmake(fixture);
}

static void test_too_much_reserved(void **state)
{
    struct topology topology;
    struct pool *pool = (struct pool *)&topology;
    char text[POOL_TEXT];
    nri_cpuset *reserved = machine_set("0-2,7");
    (void)state;
    machine_make(&topology, 1, 4, 1);
    assert_int_equal(pool_new(&pool, &topology, reserved, 2, text), POOL_WRONG);
    assert_null(pool);
    assert_string_equal(text, "with the CPUs 0-2,7 reserved 1 of those online are left to share, "
                              "and at least 2 must be");
    assert_int_equal(pool_new(&pool, &topology, NULL, 5, text), POOL_WRONG);
    assert_string_equal(text, "with the CPUs (none) reserved 4 of those online are left to share, "
                              "and at least 5 must be");
    assert_int_equal(pool_new(&pool, &topology, reserved, 0, text), 0);
    assert_true(machine_is(pool_usable(pool), "3"));
    pool_free(pool);
    nri_cpuset_free(reserved);
    topology_free(&topology);
}

/* The same calls give the same CPUs, and what is given back can be had again. */
static void test_deterministic(void **state)
{
    (void)state;
    char first[64], again[64];
    for (size_t count = 1; count < 16; count++) {
        struct fixture *a = make(2, 4, 2, "", 1), *b = make(2, 4, 2, "", 1);
        assert_int_equal(pool_take(a->pool, count, a->taken), 0);
        nri_cpuset_format(a->taken, first, sizeof first);
        pool_give(a->pool, a->taken);
        takes(a, count, first);
        assert_int_equal(pool_take(b->pool, count, b->taken), 0);
        nri_cpuset_format(b->taken, again, sizeof again);
        assert_string_equal(first, again);
        assert_int_equal(nri_cpuset_count(b->taken), count);
        unmake(a);
        unmake(b);
    }
}

static void resizes(struct fixture *fixture, size_t count, int code, const char *list)
{
    assert_int_equal(pool_resize(fixture->pool, fixture->taken, count), code);
    assert_true(machine_is(fixture->taken, list));
}

static void test_resize(void **state)
{
    (void)state;
    /* Node 0 has the cores 0,4 and 1,5, node 1 the cores 2,6 and 3,7. */
    struct fixture *fixture = make(2, 2, 2, "", 2);
    takes(fixture, 1, "0");
    resizes(fixture, 2, 0, "0,4"); /* the rest of its own core */
    resizes(fixture, 3, 0, "0-1,4");
    resizes(fixture, 2, 0, "0,4"); /* a whole core stays */
    resizes(fixture, 2, 0, "0,4");
    resizes(fixture, 0, POOL_SHORT, "0,4");
    resizes(fixture, 6, 0, "0-2,4-6"); /* its own node first */
    resizes(fixture, 7, POOL_SHORT, "0-2,4-6");
    assert_true(machine_is(pool_shared(fixture->pool), "3,7"));
    resizes(fixture, 4, 0, "0-1,4-5");
    assert_true(machine_is(pool_shared(fixture->pool), "2-3,6-7"));
    nri_cpuset *kept = machine_set("2,6");
    assert_int_equal(pool_set_kept(fixture->pool, kept), 0);
    nri_cpuset_free(kept);
    resizes(fixture, 6, 0, "0-1,3-5,7");
    resizes(fixture, 1, 0, "3"); /* of the node that it has the fewest of */
    assert_true(machine_is(pool_exclusive(fixture->pool), "3"));
    unmake(fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_cores_of_one_node),
        cmocka_unit_test(test_resize),
        cmocka_unit_test(test_node_that_has_enough),
        cmocka_unit_test(test_whole_cores_before_few_free),
        cmocka_unit_test(test_broken_cores_first),
        cmocka_unit_test(test_several_nodes),
        cmocka_unit_test(test_short),
        cmocka_unit_test(test_claim_and_give),
        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_too_much_reserved),
        cmocka_unit_test(test_deterministic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
