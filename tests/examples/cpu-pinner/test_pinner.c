/* SPDX-License-Identifier: Apache-2.0 */
/* The lives of containers, event by event. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture.h"

static void test_shared_are_told(void **state)
{
    struct fixture *fixture = *state;
    lives(fixture, "s0", 0, "1-7");
    creates(fixture, "s1", 0, "1-7");
    lives(fixture, "x", 2, "1-2");
    tells(fixture, "s0=3-7"); /* s1 may not be there yet */
    tells(fixture, "");
    confirms(fixture, "s1", false);
    tells(fixture, "s1=3-7");
    pinner_stop(&fixture->ledger, "x");
    tells(fixture, "s0=1-7 s1=1-7");
    pinner_stop(&fixture->ledger, "x");
    pinner_remove(&fixture->ledger, "x");
    pinner_remove(&fixture->ledger, "x");
    tells(fixture, "");
    assert_int_equal(fixture->ledger.counts.given, 1);
    assert_int_equal(fixture->ledger.counts.returned, 1);
}

static void test_remove_without_stop(void **state)
{
    struct fixture *fixture = *state;
    lives(fixture, "x", 2, "1-2");
    pinner_remove(&fixture->ledger, "x");
    shares(fixture, "1-7");
    assert_null(ledger_find(&fixture->ledger, "x"));
}

static void test_repeated_create(void **state)
{
    struct fixture *fixture = *state;
    creates(fixture, "x", 2, "1-2");
    creates(fixture, "x", 2, "1-2");
    lives(fixture, "x", 2, "1-2");
    lives(fixture, "x", 3, "1-3");
    assert_int_equal(ledger_find(&fixture->ledger, "x")->stage, STAGE_LIVE);
    lives(fixture, "x", 0, "1-7");
    shares(fixture, "1-7");
}

static void test_refused(void **state)
{
    struct fixture *fixture = *state;
    lives(fixture, "x", 4, "1-4");
    creates(fixture, "y", 3, NULL);
    assert_string_equal(fixture->text, "3 exclusive CPUs are wanted, and 2 can be had");
    assert_null(ledger_find(&fixture->ledger, "y"));
    fixture->rules.share = true;
    lives(fixture, "y", 3, "5-7");
    has(fixture, "y", KIND_SHARED, "5-7");
    assert_int_equal(confirms(fixture, "y", true), 0);
    assert_int_equal(fixture->ledger.counts.refused, 1);
    assert_int_equal(fixture->ledger.counts.denied, 1);
}

static void test_next_attempt(void **state)
{
    struct fixture *fixture = *state;
    struct told told = tell("first", 6);
    told.name = "c0";
    creates_told(fixture, &told, "1-6");
    told.id = "second";
    creates_told(fixture, &told, "1-6"); /* the first one has failed, or this one would not come */
    assert_null(ledger_find(&fixture->ledger, "first"));
    confirms(fixture, "second", false);
    told.id = "third";
    creates_told(fixture, &told, NULL); /* the second one lives */
    told.pod = "another";
    creates_told(fixture, &told, NULL);
}

static void test_expires(void **state)
{
    struct fixture *fixture = *state;
    creates(fixture, "x", 4, "1-4");
    fixture->now = 99;
    creates(fixture, "y", 4, NULL);
    fixture->now = 100;
    creates(fixture, "y", 4, "1-4"); /* nobody heard of x for too long */
    assert_null(ledger_find(&fixture->ledger, "x"));
    confirms(fixture, "y", false);
    fixture->now = 1000;
    assert_int_equal(pinner_expire(&fixture->ledger, &fixture->rules, fixture->now), 0);
    has(fixture, "y", KIND_EXCLUSIVE, "1-4");
    assert_int_equal(fixture->ledger.counts.expired, 1);
}

/* It comes to be after all, when its CPUs are another's. */
static void test_expired_comes_back(void **state)
{
    struct fixture *fixture = *state;
    struct told told = tell("x", 4);
    told.cpus = "1-4";
    told.mark = "exclusive";
    lives(fixture, "y", 4, "1-4");
    assert_int_equal(
        pinner_confirm(&fixture->ledger, &fixture->rules, &told, false, 0, fixture->text), 0);
    has(fixture, "x", KIND_SHARED, "5-7");
    tells(fixture, "x=5-7");
    assert_int_equal(
        pinner_confirm(&fixture->ledger, &fixture->rules, &told, true, 0, fixture->text),
        PINNER_REFUSED);
    assert_string_equal(fixture->text, "its exclusive CPUs cannot be had: 2 can");
    fixture->rules.share = true;
    assert_int_equal(confirms(fixture, "x", true), 0);
}

static void test_pods(void **state)
{
    struct fixture *fixture = *state;
    creates(fixture, "x", 2, "1-2");
    lives(fixture, "y", 2, "3-4");
    pinner_stop_pod(&fixture->ledger, "other");
    shares(fixture, "5-7");
    pinner_stop_pod(&fixture->ledger, "pod");
    shares(fixture, "1-2,5-7"); /* y is there, and has not ended */
    pinner_remove_pod(&fixture->ledger, "pod");
    shares(fixture, "1-7");
    confirms(fixture, "y", true);
    assert_null(ledger_find(&fixture->ledger, "y"));
}

static void test_late_events(void **state)
{
    struct fixture *fixture = *state;
    struct told told = tell("x", 2);
    lives(fixture, "x", 2, "1-2");
    pinner_stop(&fixture->ledger, "x");
    /* Of what has ended only a start counts. */
    pinner_confirm(&fixture->ledger, &fixture->rules, &told, false, 0, fixture->text);
    shares(fixture, "1-7");
    pinner_confirm(&fixture->ledger, &fixture->rules, &told, true, 0, fixture->text);
    has(fixture, "x", KIND_EXCLUSIVE, "1-2");
    pinner_remove(&fixture->ledger, "x");
    pinner_confirm(&fixture->ledger, &fixture->rules, &told, true, 0, fixture->text);
    pinner_update(&fixture->ledger, &fixture->rules, &told, "1", 0);
    pinner_stop(&fixture->ledger, "x");
    shares(fixture, "1-7");
    assert_null(ledger_find(&fixture->ledger, "x"));
    creates(fixture, "x", 2, "1-2"); /* a new one of that id is none that was removed */
    confirms(fixture, "x", false);
    has(fixture, "x", KIND_EXCLUSIVE, "1-2");
}

static void resizes(struct fixture *fixture, const char *id, size_t wanted, const char *refusal)
{
    const struct told told = tell(id, 2);
    const int code = pinner_resize(&fixture->ledger, &fixture->rules, &told, wanted, fixture->now,
                                   fixture->text);
    assert_int_equal(code, refusal[0] != '\0' ? PINNER_REFUSED : 0);
    assert_string_equal(fixture->text, refusal);
}

static void test_new_limit(void **state)
{
    struct fixture *fixture = *state;
    lives(fixture, "s", 0, "1-7");
    lives(fixture, "x", 2, "1-2");
    tells(fixture, "s=3-7");
    resizes(fixture, "x", 2, "");
    tells(fixture, "");
    resizes(fixture, "x", 4, "");
    tells(fixture, "s=5-7 x=1-4");
    resizes(fixture, "x", 7, "7 exclusive CPUs are wanted, and 6 can be had");
    tells(fixture, "");
    has(fixture, "x", KIND_EXCLUSIVE, "1-4");
    resizes(fixture, "x", 1, "");
    tells(fixture, "s=2-7 x=1");
    resizes(fixture, "s", 3, "");
    tells(fixture, "s=2-4");
    resizes(fixture, "x", 0, "");
    has(fixture, "x", KIND_SHARED, "1,5-7");
    tells(fixture, "x=1,5-7");
    assert_int_equal(fixture->ledger.counts.resized, 2);
    /* What is not known is taken in with what it asked for before, and then resized. */
    resizes(fixture, "new", 3, "");
    has(fixture, "new", KIND_EXCLUSIVE, "1,5-6");
    pinner_stop(&fixture->ledger, "new");
    resizes(fixture, "new", 2, "");
    assert_int_equal(ledger_find(&fixture->ledger, "new")->stage, STAGE_ENDED);
    shares(fixture, "1,5-7");
}

static void test_new_limit_that_cannot_be_had(void **state)
{
    struct fixture *fixture = *state;
    struct told kept = tell("k", 0);
    fixture->rules.share = true;
    lives(fixture, "x", 2, "1-2");
    resizes(fixture, "x", 7, "");
    has(fixture, "x", KIND_SHARED, "1-7");
    assert_true(ledger_find(&fixture->ledger, "x")->denied);
    resizes(fixture, "x", 2, "");
    has(fixture, "x", KIND_EXCLUSIVE, "1-2");
    assert_false(ledger_find(&fixture->ledger, "x")->denied);
    kept.cpus = "3";
    creates_told(fixture, &kept, "3");
    resizes(fixture, "k", 2, "");
    has(fixture, "k", KIND_KEPT, "3");
    /* One that shares since its adoption is not stopped from being updated otherwise. */
    resizes(fixture, "x", 7, "");
    fixture->rules.share = false;
    lives(fixture, "y", 5, "1-2,4-6");
    resizes(fixture, "x", 2, "");
    has(fixture, "x", KIND_SHARED, "3,7");
}

static void test_update_asks_for_others(void **state)
{
    struct fixture *fixture = *state;
    const struct told x = tell("x", 2), s = tell("s", 0), unknown = tell("u", 0);
    lives(fixture, "s", 0, "1-7");
    lives(fixture, "x", 2, "1-2");
    tells(fixture, "s=3-7");
    pinner_update(&fixture->ledger, &fixture->rules, &x, "", 0);
    tells(fixture, "");
    pinner_update(&fixture->ledger, &fixture->rules, &x, "1-2", 0);
    tells(fixture, "");
    pinner_update(&fixture->ledger, &fixture->rules, &x, "0-7", 0);
    pinner_update(&fixture->ledger, &fixture->rules, &s, "what", 0);
    tells(fixture, "s=3-7 x=1-2");
    pinner_update(&fixture->ledger, &fixture->rules, &unknown, "2-3", 0);
    tells(fixture, "u=3-7");
}

static void test_chosen_by_others(void **state)
{
    struct fixture *fixture = *state;
    struct told told = tell("k", 0);
    lives(fixture, "x", 2, "1-2");
    told.cpus = "2-3";
    creates_told(fixture, &told, "3");
    confirms(fixture, "k", false);
    lives(fixture, "y", 2, "4-5"); /* not 3 */
    shares(fixture, "3,6-7");
    tells(fixture, "");
    pinner_update(&fixture->ledger, &fixture->rules, &told, "5-6", 0);
    tells(fixture, "k=6");
    pinner_update(&fixture->ledger, &fixture->rules, &told, "1-2", 0);
    tells(fixture, "k=6"); /* it cannot have any of these */
    told.id = told.name = "l";
    told.cpus = "1-2,4";
    creates_told(fixture, &told, NULL);
    assert_string_equal(fixture->text, "all CPUs of its cpuset 1-2,4 are exclusive to others");
    told.cpus = "1-x";
    creates_told(fixture, &told, NULL);
    assert_string_equal(fixture->text, "its cpuset \"1-x\" is no list of CPUs");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_make, fixture_remove)
    const struct CMUnitTest tests[] = {
        TEST(test_shared_are_told),
        TEST(test_remove_without_stop),
        TEST(test_repeated_create),
        TEST(test_refused),
        TEST(test_next_attempt),
        TEST(test_expires),
        TEST(test_expired_comes_back),
        TEST(test_pods),
        TEST(test_late_events),
        TEST(test_new_limit),
        TEST(test_new_limit_that_cannot_be_had),
        TEST(test_update_asks_for_others),
        TEST(test_chosen_by_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
