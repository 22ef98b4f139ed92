/* SPDX-License-Identifier: Apache-2.0 */
/* What is taken over: what notes, marks and cpusets tell when plugin or runtime starts again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture.h"

static void test_notes(void **state)
{
    struct fixture *fixture = *state;
    char text[64];
    struct told told = tell("k", 0);
    lives(fixture, "x", 2, "1-2");
    pinner_note(ledger_find(&fixture->ledger, "x"), text, sizeof text);
    assert_string_equal(text, "exclusive=1-2");
    assert_string_equal(pinner_mark(ledger_find(&fixture->ledger, "x")), "exclusive");
    pinner_note(ledger_find(&fixture->ledger, "x"), text, 5);
    assert_string_equal(text, "excl");
    lives(fixture, "s", 0, "3-7");
    pinner_note(ledger_find(&fixture->ledger, "s"), text, sizeof text);
    assert_string_equal(text, "shared");
    assert_string_equal(pinner_mark(ledger_find(&fixture->ledger, "s")), "shared");
    told.cpus = "7";
    creates_told(fixture, &told, "7");
    pinner_note(ledger_find(&fixture->ledger, "k"), text, sizeof text);
    assert_string_equal(text, "kept");
    assert_string_equal(pinner_mark(ledger_find(&fixture->ledger, "k")), "");
}

static void test_adopts(void **state)
{
    struct fixture *fixture = *state;
    struct told told[] = {tell("new", 2),       tell("noted", 1),  tell("marked", 1),
                          tell("kept", 0),      tell("shared", 2), tell("plain", 0),
                          tell("old-shared", 0)};
    told[1].note = "exclusive=2";
    told[1].cpus = "1-7"; /* the reply had not arrived */
    told[2].mark = "exclusive";
    told[2].cpus = "1";
    told[3].cpus = "3,5";
    told[4].note = "shared"; /* it could not have its CPUs, and is not moved now */
    told[4].cpus = "1-7";
    told[6].mark = "shared"; /* the checkpoint is lost */
    told[6].cpus = "3-7";
    synchronizes(fixture, told, sizeof told / sizeof told[0]);
    has(fixture, "noted", KIND_EXCLUSIVE, "2");
    has(fixture, "marked", KIND_EXCLUSIVE, "1");
    has(fixture, "kept", KIND_KEPT, "3,5");
    has(fixture, "new", KIND_EXCLUSIVE, "4,6");
    has(fixture, "shared", KIND_SHARED, "3,5,7");
    has(fixture, "plain", KIND_SHARED, "3,5,7");
    has(fixture, "old-shared", KIND_SHARED, "3,5,7");
    tells(fixture, "new=4,6 noted=2 shared=3,5,7 plain=3,5,7 old-shared=3,5,7");
    assert_int_equal(fixture->ledger.counts.adopted, 2);
    assert_int_equal(fixture->said, 0);
}

static void test_adopts_conflicts(void **state)
{
    struct fixture *fixture = *state;
    struct told told[] = {tell("a", 2), tell("b", 2), tell("c", 1), tell("k", 0), tell("z", 4)};
    told[0].note = told[1].note = "exclusive=1-2";
    told[2].note = "exclusive=0"; /* it is reserved now */
    told[3].cpus = "2-3";
    synchronizes(fixture, told, 5);
    has(fixture, "a", KIND_EXCLUSIVE, "1-2");
    has(fixture, "k", KIND_KEPT, "2-3");
    has(fixture, "b", KIND_EXCLUSIVE, "4-5");
    has(fixture, "c", KIND_EXCLUSIVE, "6");
    has(fixture, "z", KIND_SHARED, "3,7");
    assert_int_equal(fixture->ledger.counts.conflicts, 3);
    assert_int_equal(fixture->ledger.counts.denied, 1);
    assert_int_equal(fixture->said, 4);
    assert_int_equal(confirms(fixture, "z", true), PINNER_REFUSED);
}

static void test_note_and_mark_differ(void **state)
{
    struct fixture *fixture = *state;
    struct told told[] = {tell("a", 2), tell("b", 2)};
    told[0].note = "exclusive=1-2";
    told[1].note = "exclusive=1-2"; /* of a checkpoint that is too old */
    told[1].mark = "exclusive";
    told[1].cpus = "5-6";
    synchronizes(fixture, told, 2);
    has(fixture, "a", KIND_EXCLUSIVE, "1-2");
    has(fixture, "b", KIND_EXCLUSIVE, "5-6");
}

static void test_runtime_restarts(void **state)
{
    struct fixture *fixture = *state;
    struct told told[] = {tell("s", 0), tell("x", 2), tell("k", 0), tell("old", 2)};
    lives(fixture, "s", 0, "1-7");
    lives(fixture, "x", 2, "1-2");
    lives(fixture, "gone", 2, "3-4");
    creates(fixture, "creating", 1, "5");
    lives(fixture, "old", 1, "6");
    pinner_stop(&fixture->ledger, "old");
    told[2].cpus = "7";
    creates_told(fixture, &told[2], "7");
    told[0].cpus = "3-7"; /* what was told last was lost */
    told[1].cpus = "1-2";
    told[2].cpus = "6";
    synchronizes(fixture, told, 4);
    assert_null(ledger_find(&fixture->ledger, "gone"));
    assert_null(ledger_find(&fixture->ledger, "creating"));
    has(fixture, "old", KIND_EXCLUSIVE, "3-4"); /* it runs again, if the runtime says so */
    has(fixture, "k", KIND_KEPT, "6");
    shares(fixture, "5-7");
    tells(fixture, "s=5-7 old=3-4");
    told[0].cpus = ""; /* without a cpuset it runs everywhere */
    synchronizes(fixture, told, 3);
    tells(fixture, "s=3-7");
    synchronizes(fixture, told, 3);
    tells(fixture, "s=3-7");
    assert_null(ledger_find(&fixture->ledger, "old"));
}

/* Shared since an update, though it was created with CPUs of its own: the mark is old. */
static void test_mark_of_before_a_new_limit(void **state)
{
    struct fixture *fixture = *state;
    struct told told[] = {tell("x", 0), tell("y", 1), tell("z", 2)};
    for (size_t i = 0; i < 3; i++)
        told[i].mark = "exclusive";
    told[0].cpus = "1-5"; /* no note: what it asks for does not fit its cpuset */
    told[1].cpus = "1-5"; /* the note knows better */
    told[1].note = "shared";
    told[2].cpus = "6-7";
    synchronizes(fixture, told, 3);
    has(fixture, "x", KIND_SHARED, "1-5");
    has(fixture, "y", KIND_SHARED, "1-5");
    has(fixture, "z", KIND_EXCLUSIVE, "6-7");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_make, fixture_remove)
    const struct CMUnitTest tests[] = {
        TEST(test_notes),
        TEST(test_adopts),
        TEST(test_adopts_conflicts),
        TEST(test_note_and_mark_differ),
        TEST(test_runtime_restarts),
        TEST(test_mark_of_before_a_new_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
