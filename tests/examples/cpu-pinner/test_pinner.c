/* SPDX-License-Identifier: Apache-2.0 */
/* Events one by one, on a machine of 8 CPUs of one thread each in one node, of which 0 is reserved.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine.h"
#include "pending.h"
#include "pinner.h"

struct fixture {
    struct topology topology;
    struct ledger ledger;
    struct rules rules;
    uint64_t now;
    char text[PINNER_TEXT];
    unsigned said;
};

static void count_said(void *user, enum nri_log_level level, const char *text)
{
    struct fixture *fixture = user;
    assert_true(level == NRI_LOG_ERROR || level == NRI_LOG_WARN);
    assert_string_not_equal(text, "");
    fixture->said++;
}

static int make(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    struct pool *pool = NULL;
    nri_cpuset *reserved = machine_set("0");
    assert_non_null(fixture);
    machine_make(&fixture->topology, 1, 8, 1);
    assert_int_equal(pool_new(&pool, &fixture->topology, reserved, 1, fixture->text), 0);
    assert_int_equal(ledger_init(&fixture->ledger, pool), 0);
    fixture->ledger.log = count_said;
    fixture->ledger.log_user = fixture;
    fixture->rules.confirm_ns = 100;
    nri_cpuset_free(reserved);
    *state = fixture;
    return 0;
}

static int unmake(void **state)
{
    struct fixture *fixture = *state;
    const char *fault = ledger_fault(&fixture->ledger);
    ledger_fini(&fixture->ledger);
    topology_free(&fixture->topology);
    free(fixture);
    if (fault != NULL)
        fail_msg("%s", fault);
    return 0;
}

static struct told tell(const char *id, size_t wanted)
{
    return (struct told){.id = id,
                         .pod = "pod",
                         .name = id,
                         .cgroup = "",
                         .cpus = "",
                         .note = "",
                         .mark = "",
                         .wanted = wanted};
}

/* Creates a container, which must get these CPUs; NULL: must be refused. */
static void creates_told(struct fixture *fixture, const struct told *told, const char *cpus)
{
    struct container *made;
    const int code =
        pinner_create(&fixture->ledger, &fixture->rules, told, fixture->now, &made, fixture->text);
    assert_int_equal(code, cpus == NULL ? PINNER_REFUSED : 0);
    if (cpus != NULL)
        assert_true(machine_is(ledger_cpus(&fixture->ledger, made), cpus));
    else
        assert_null(made);
}

static void creates(struct fixture *fixture, const char *id, size_t wanted, const char *cpus)
{
    const struct told told = tell(id, wanted);
    creates_told(fixture, &told, cpus);
}

static int confirms(struct fixture *fixture, const char *id, bool starting)
{
    const struct told told = tell(id, 0);
    return pinner_confirm(&fixture->ledger, &fixture->rules, &told, starting, fixture->now,
                          fixture->text);
}

static void lives(struct fixture *fixture, const char *id, size_t wanted, const char *cpus)
{
    creates(fixture, id, wanted, cpus);
    assert_int_equal(confirms(fixture, id, false), 0);
}

static void shares(const struct fixture *fixture, const char *cpus)
{
    assert_true(machine_is(pool_shared(fixture->ledger.pool), cpus));
}

/* The containers that are to be told, as "id=cpus id=cpus", which are told with that. */
static void tells(struct fixture *fixture, const char *wanted)
{
    char text[256] = "", cpus[64];
    struct ledger *ledger = &fixture->ledger;
    for (struct container *one = NULL; (one = pending_next(ledger, one)) != NULL;) {
        nri_cpuset_format(ledger_cpus(ledger, one), cpus, sizeof cpus);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s=%s",
                 text[0] == '\0' ? "" : " ", one->id, cpus);
        pending_told(ledger, one);
    }
    assert_string_equal(text, wanted);
}

static void sync(struct fixture *fixture, const struct told *told, size_t count)
{
    pinner_synchronize(&fixture->ledger, told, count, fixture->now);
}

static void has(const struct fixture *fixture, const char *id, enum kind kind, const char *cpus)
{
    const struct container *container = ledger_find(&fixture->ledger, id);
    assert_non_null(container);
    assert_int_equal(container->kind, kind);
    assert_true(machine_is(ledger_cpus(&fixture->ledger, container), cpus));
}

/* ---- lives ---- */

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
    sync(fixture, told, 3);
    has(fixture, "x", KIND_SHARED, "1-5");
    has(fixture, "y", KIND_SHARED, "1-5");
    has(fixture, "z", KIND_EXCLUSIVE, "6-7");
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

/* ---- restarts ---- */

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
    sync(fixture, told, sizeof told / sizeof told[0]);
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
    sync(fixture, told, 5);
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
    sync(fixture, told, 2);
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
    sync(fixture, told, 4);
    assert_null(ledger_find(&fixture->ledger, "gone"));
    assert_null(ledger_find(&fixture->ledger, "creating"));
    has(fixture, "old", KIND_EXCLUSIVE, "3-4"); /* it runs again, if the runtime says so */
    has(fixture, "k", KIND_KEPT, "6");
    shares(fixture, "5-7");
    tells(fixture, "s=5-7 old=3-4");
    told[0].cpus = ""; /* without a cpuset it runs everywhere */
    sync(fixture, told, 3);
    tells(fixture, "s=3-7");
    sync(fixture, told, 3);
    tells(fixture, "s=3-7");
    assert_null(ledger_find(&fixture->ledger, "old"));
}

/* ---- what is under way ---- */

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
    sync(fixture, told, 1); /* x is gone */
    tells(fixture, "s=1-7");
    assert_true(pending_end(&fixture->ledger, true));
    tells(fixture, "s=1-7");
    lives(fixture, "y", 1, "1");
    begin(fixture); /* s=2-7 */
    told[1].cpus = "1";
    sync(fixture, told, 2); /* the runtime says what was true before the call */
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
#define TEST(function) cmocka_unit_test_setup_teardown(function, make, unmake)
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
        TEST(test_mark_of_before_a_new_limit),
        TEST(test_update_asks_for_others),
        TEST(test_chosen_by_others),
        TEST(test_notes),
        TEST(test_adopts),
        TEST(test_adopts_conflicts),
        TEST(test_note_and_mark_differ),
        TEST(test_runtime_restarts),
        TEST(test_call_and_reply_cross),
        TEST(test_call_fails),
        TEST(test_synchronize_during_call),
        TEST(test_confirm_during_call),
        TEST(test_audit),
        TEST(test_audit_of_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
