/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "machine.h"
#include "pending.h"

static void count_said(void *user, enum nri_log_level level, const char *text)
{
    struct fixture *fixture = user;
    assert_true(level == NRI_LOG_ERROR || level == NRI_LOG_WARN);
    assert_string_not_equal(text, "");
    fixture->said++;
}

int fixture_make(void **state)
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

int fixture_remove(void **state)
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

struct told tell(const char *id, size_t wanted)
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

void creates_told(struct fixture *fixture, const struct told *told, const char *cpus)
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

void creates(struct fixture *fixture, const char *id, size_t wanted, const char *cpus)
{
    const struct told told = tell(id, wanted);
    creates_told(fixture, &told, cpus);
}

int confirms(struct fixture *fixture, const char *id, bool starting)
{
    const struct told told = tell(id, 0);
    return pinner_confirm(&fixture->ledger, &fixture->rules, &told, starting, fixture->now,
                          fixture->text);
}

void lives(struct fixture *fixture, const char *id, size_t wanted, const char *cpus)
{
    creates(fixture, id, wanted, cpus);
    assert_int_equal(confirms(fixture, id, false), 0);
}

void shares(const struct fixture *fixture, const char *cpus)
{
    assert_true(machine_is(pool_shared(fixture->ledger.pool), cpus));
}

void tells(struct fixture *fixture, const char *wanted)
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

void synchronizes(struct fixture *fixture, const struct told *told, size_t count)
{
    pinner_synchronize(&fixture->ledger, told, count, fixture->now);
}

void has(const struct fixture *fixture, const char *id, enum kind kind, const char *cpus)
{
    const struct container *container = ledger_find(&fixture->ledger, id);
    assert_non_null(container);
    assert_int_equal(container->kind, kind);
    assert_true(machine_is(ledger_cpus(&fixture->ledger, container), cpus));
}
