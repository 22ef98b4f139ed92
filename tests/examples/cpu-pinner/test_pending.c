/* SPDX-License-Identifier: Apache-2.0 */
/* What is under way: an unsolicited update that crosses replies and events; and the audit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "fixture.h"
#include "machine.h"
#include "pending.h"

static void begin(struct fixture *fixture)
{
    for (struct container *one = NULL; (one = pending_next(&fixture->ledger, one)) != NULL;) {
        pending_told(&fixture->ledger, one);
        pending_begin(one);
    }
}

static void test_call_and_reply_cross(void **state)
{
    struct fixture *fixture = *state;
    lives(fixture, "s", 0, "1-7");
    lives(fixture, "x", 2, "1-2");
    tells(fixture, "s=3-7");
    pinner_remove(&fixture->ledger, "x");
    begin(fixture); /* s=1-7 */
    tells(fixture, "");
    lives(fixture, "y", 2, "1-2");
    tells(fixture, "s=3-7"); /* in the reply: the call comes after it */
    assert_true(pending_end(&fixture->ledger, true));
    tells(fixture, "s=3-7");
    begin(fixture);
    assert_false(pending_end(&fixture->ledger, true));
    tells(fixture, "");
}

static void test_call_fails(void **state)
{
    struct fixture *fixture = *state;
    lives(fixture, "s", 0, "1-7");
    lives(fixture, "t", 0, "1-7");
    lives(fixture, "x", 2, "1-2");
    begin(fixture);
    pending_failed(&fixture->ledger, "s");
    pending_failed(&fixture->ledger, "nobody");
    assert_false(pending_end(&fixture->ledger, true)); /* not again at once */
    tells(fixture, "s=3-7");
    pinner_stop(&fixture->ledger, "x");
    begin(fixture);
    assert_false(pending_end(&fixture->ledger, false)); /* the connection was lost */
    tells(fixture, "s=1-7 t=1-7");
    assert_int_equal(fixture->ledger.counts.failures, 2);
}

static void test_synchronize_during_call(void **state)
{
    struct fixture *fixture = *state;
    struct told told[] = {tell("s", 0), tell("y", 1)};
    lives(fixture, "s", 0, "1-7");
    lives(fixture, "x", 2, "1-2");
    begin(fixture); /* s=3-7 */
    told[0].cpus = "1-7";
    synchronizes(fixture, told, 1); /* x is gone */
    tells(fixture, "s=1-7");
    assert_true(pending_end(&fixture->ledger, true));
    tells(fixture, "s=1-7");
    lives(fixture, "y", 1, "1");
    begin(fixture); /* s=2-7 */
    told[1].cpus = "1";
    synchronizes(fixture, told, 2); /* the runtime says what was true before the call */
    tells(fixture, "");
    assert_true(pending_end(&fixture->ledger, true));
    tells(fixture, "s=2-7");
}

static void test_confirm_during_call(void **state)
{
    struct fixture *fixture = *state;
    struct told told = tell("s", 0);
    creates(fixture, "s", 0, "1-7");
    told.cpus = "2"; /* the runtime knows better than the reply */
    pinner_confirm(&fixture->ledger, &fixture->rules, &told, false, 0, fixture->text);
    begin(fixture);
    told.cpus = "3";
    pinner_confirm(&fixture->ledger, &fixture->rules, &told, true, 0, fixture->text);
    assert_false(pending_end(&fixture->ledger, true));
    tells(fixture, ""); /* later events may tell what was before the update */
}

static void test_audit(void **state)
{
    struct fixture *fixture = *state;
    nri_cpuset *right = machine_set("1-2"), *wrong = machine_set("1-3");
    struct ledger *ledger = &fixture->ledger;
    lives(fixture, "x", 2, "1-2");
    const uint64_t serial = ledger_find(ledger, "x")->serial;
    assert_false(pending_audited(ledger, "x", serial, wrong));
    assert_false(pending_audited(ledger, "x", serial, right)); /* it was on its way */
    assert_false(pending_audited(ledger, "x", serial, wrong));
    assert_false(pending_audited(ledger, "x", serial + 1, wrong));
    assert_false(pending_audited(ledger, "nobody", serial, wrong));
    tells(fixture, "");
    assert_true(pending_audited(ledger, "x", serial, wrong));
    tells(fixture, "x=1-2");
    assert_int_equal(ledger->counts.drifts, 1);
    pinner_stop(ledger, "x");
    assert_false(pending_audited(ledger, "x", ledger_find(ledger, "x")->serial, wrong));
    nri_cpuset_free(right);
    nri_cpuset_free(wrong);
}

static void test_audit_of_kept(void **state)
{
    struct fixture *fixture = *state;
    nri_cpuset *seen = machine_set("2-3"), *taken = machine_set("1");
    struct told told = tell("k", 0);
    struct ledger *ledger = &fixture->ledger;
    told.cpus = "3";
    creates_told(fixture, &told, "3");
    confirms(fixture, "k", false);
    lives(fixture, "x", 2, "1-2");
    const uint64_t serial = ledger_find(ledger, "k")->serial;
    pending_audited(ledger, "k", serial, seen);
    assert_true(pending_audited(ledger, "k", serial, seen));
    has(fixture, "k", KIND_KEPT, "3"); /* 2 is x's */
    tells(fixture, "k=3");
    for (int i = 0; i < 2; i++)
        pending_audited(ledger, "k", ledger_find(ledger, "k")->serial, taken);
    tells(fixture, "k=3");
    nri_cpuset_free(seen);
    nri_cpuset_free(taken);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, fixture_make, fixture_remove)
    const struct CMUnitTest tests[] = {
        TEST(test_call_and_reply_cross), TEST(test_call_fails), TEST(test_synchronize_during_call),
        TEST(test_confirm_during_call),  TEST(test_audit),      TEST(test_audit_of_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
