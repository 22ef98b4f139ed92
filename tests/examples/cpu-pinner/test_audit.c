/* SPDX-License-Identifier: Apache-2.0 */
/* The audit of a keeper without a plugin, and its metrics; the program's log is this test's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "audit.h"
#include "machine.h"
#include "metrics.h"
#include "pending.h"
#include "tree.h"

static _Thread_local char logged[1024];
static atomic_uint warnings;

void nri_app_log(enum nri_log_level level, const char *text)
{
    snprintf(logged, sizeof logged, "%s: %s", nri_log_level_name(level), text);
    if (level <= NRI_LOG_WARN)
        atomic_fetch_add(&warnings, 1);
}

void nri_app_log_record(void *user, const nri_log_record *record)
{
    (void)user;
    nri_app_log(nri_log_record_level(record), nri_log_record_text(record));
}

struct fixture {
    struct tree *tree;
    char checkpoint[96];
    struct keeper keeper;
};

static int make(void **state)
{
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    void *tree;
    tree_make(&tree);
    fixture->tree = tree;
    tree_put(fixture->tree, "devices/system/cpu/online", "0-7");
    snprintf(fixture->checkpoint, sizeof fixture->checkpoint, "%s/checkpoint", fixture->tree->path);
    struct keeper *keeper = &fixture->keeper;
    keeper->flags = (struct flags){.sysfs = fixture->tree->path,
                                   .cgroup_root = fixture->tree->path,
                                   .checkpoint = fixture->checkpoint};
    keeper->config = (struct config){.reserved = "0", .minimum_shared = 1, .confirm_timeout = 1};
    assert_int_equal(keeper_init(keeper), 0);
    assert_string_equal(logged,
                        "info: 8 CPUs of 1 NUMA nodes are online, 7 of them for containers");
    atomic_store(&warnings, 0);
    *state = fixture;
    return 0;
}

static int unmake(void **state)
{
    struct fixture *fixture = *state;
    void *tree = fixture->tree;
    audit_stop(&fixture->keeper);
    keeper_fini(&fixture->keeper);
    tree_remove(&tree);
    free(fixture);
    return 0;
}

static struct container *create(struct fixture *fixture, const char *id, const char *cgroup,
                                size_t wanted)
{
    char text[PINNER_TEXT];
    struct container *made = NULL;
    const struct told told = {.id = id,
                              .pod = "pod",
                              .name = id,
                              .cgroup = cgroup,
                              .cpus = "",
                              .note = "",
                              .mark = "",
                              .wanted = wanted};
    struct keeper *keeper = &fixture->keeper;
    assert_int_equal(
        pinner_create(&keeper->ledger, &keeper->rules, &told, keeper_now(), &made, text), 0);
    assert_int_equal(pinner_confirm(&keeper->ledger, &keeper->rules, &told, true, 0, text), 0);
    return made;
}

static void test_finds_what_is_off(void **state)
{
    struct fixture *fixture = *state;
    struct keeper *keeper = &fixture->keeper;
    const struct container *x = create(fixture, "x", "/x", 2);
    create(fixture, "y", "/y", 2);
    create(fixture, "nowhere", "/nowhere", 0);
    create(fixture, "outside", "/../outside", 0);
    tree_put(fixture->tree, "cpuset/x/cpuset.cpus", "1-3");
    tree_put(fixture->tree, "cpuset/y/cpuset.cpus", "3-4");
    while (pending_next(&keeper->ledger, NULL) != NULL)
        pending_told(&keeper->ledger, pending_next(&keeper->ledger, NULL));
    assert_int_equal(audit_round(keeper), 0); /* the reply may be on its way */
    assert_int_equal(audit_round(keeper), 1);
    assert_string_equal(
        logged, "warn: audit: container x has the CPUs \"1-3\" in its cgroup, and should not");
    assert_ptr_equal(pending_next(&keeper->ledger, NULL), x);
    assert_int_equal(keeper->audits.rounds, 2);
    assert_int_equal(keeper->audits.absent, 1);
    assert_int_equal(keeper->audits.unreadable, 2);
    pending_told(&keeper->ledger, ledger_find(&keeper->ledger, "x"));
    tree_put(fixture->tree, "cpuset/x/cpuset.cpus", "1-2");
    assert_int_equal(audit_round(keeper), 0);
    assert_int_equal(audit_round(keeper), 0);
    assert_int_equal(keeper->ledger.counts.drifts, 1);
}

static void test_frees_what_never_came(void **state)
{
    struct fixture *fixture = *state;
    struct keeper *keeper = &fixture->keeper;
    create(fixture, "x", "/x", 3)->stage = STAGE_CREATING;
    assert_int_equal(audit_round(keeper), 0);
    assert_null(ledger_find(&keeper->ledger, "x"));
    assert_true(machine_is(pool_shared(keeper->ledger.pool), "1-7"));
}

static void test_cpus_that_come_and_go(void **state)
{
    struct fixture *fixture = *state;
    struct keeper *keeper = &fixture->keeper;
    create(fixture, "x", "/x", 2);
    assert_int_equal(audit_round(keeper), 0);
    assert_int_equal(atomic_load(&warnings), 0);
    tree_put(fixture->tree, "devices/system/cpu/online", "0-1,4-9");
    assert_int_equal(audit_round(keeper), 0);
    assert_int_equal(atomic_load(&warnings), 3);
    assert_string_equal(logged, "warn: audit: container x (x) has, exclusively, the CPUs 2, which "
                                "are offline");
    assert_int_equal(keeper->audits.offline, 2);
    assert_int_equal(keeper->audits.added, 2);
    assert_int_equal(audit_round(keeper), 0);
    assert_int_equal(atomic_load(&warnings), 3); /* said once */
    tree_put(fixture->tree, "devices/system/cpu/online", "what");
    assert_int_equal(audit_round(keeper), 0);
    assert_int_equal(keeper->audits.offline, 2); /* as it was */
    tree_put(fixture->tree, "devices/system/cpu/online", "0-7");
    assert_int_equal(audit_round(keeper), 0);
    assert_string_equal(logged, "info: audit: the CPUs of the start are online again");
    assert_int_equal(keeper->audits.offline + keeper->audits.added, 0);
    assert_int_equal(atomic_load(&warnings), 3);
}

/* The thread makes a round as soon as it has an interval, and ends when it is told to. */
static void test_thread(void **state)
{
    struct fixture *fixture = *state;
    struct keeper *keeper = &fixture->keeper;
    uint64_t rounds = 0;
    assert_int_equal(audit_start(keeper), 0);
    keeper->config.audit_interval = 1;
    keeper_configure(keeper);
    while (rounds < 3) {
        pthread_mutex_lock(&keeper->lock);
        rounds = keeper->audits.rounds;
        pthread_mutex_unlock(&keeper->lock);
    }
    audit_stop(keeper);
    audit_stop(keeper);
    assert_int_equal(atomic_load(&warnings), 0);
}

static void has_line(const char *text, const char *line)
{
    char whole[256];
    snprintf(whole, sizeof whole, "\n%s\n", line);
    if (strstr(text, whole) == NULL)
        fail_msg("no line \"%s\" in:\n%s", line, text);
}

static void test_metrics(void **state)
{
    struct fixture *fixture = *state;
    struct keeper *keeper = &fixture->keeper;
    create(fixture, "x", "/x", 2);
    create(fixture, "s", "/s", 0);
    create(fixture, "old", "/old", 1);
    pinner_stop(&keeper->ledger, "old");
    char *text = metrics_text(keeper);
    assert_non_null(text);
    has_line(text, "nri_cpu_pinner_cpus{set=\"reserved\"} 1");
    has_line(text, "nri_cpu_pinner_cpus{set=\"exclusive\"} 2");
    has_line(text, "nri_cpu_pinner_cpus{set=\"shared\"} 5");
    has_line(text, "nri_cpu_pinner_cpus_available 4");
    has_line(text, "nri_cpu_pinner_node_cpus_available{node=\"0\"} 5");
    has_line(text, "nri_cpu_pinner_containers{cpus=\"exclusive\"} 1");
    has_line(text, "nri_cpu_pinner_containers{cpus=\"shared\"} 1");
    has_line(text, "nri_cpu_pinner_containers_unsatisfied 0");
    has_line(text, "nri_cpu_pinner_allocations_total 2");
    has_line(text, "nri_cpu_pinner_releases_total 1");
    has_line(text, "# TYPE nri_cpu_pinner_allocations counter");
    free(text);
}

static void test_check(void **state)
{
    struct fixture *fixture = *state;
    char text[POOL_TEXT];
    struct config config = fixture->keeper.config;
    assert_int_equal(keeper_check(&fixture->keeper, &config, text), 0);
    config.reserved = "0-7";
    assert_int_equal(keeper_check(&fixture->keeper, &config, text), -1);
    assert_string_equal(text, "with the CPUs 0-7 reserved 0 of those online are left to share, and "
                              "at least 1 must be");
    fixture->keeper.flags.sysfs = "/nowhere";
    assert_int_equal(keeper_check(&fixture->keeper, &config, text), -1);
    assert_string_equal(text, "/nowhere/devices/system/cpu/online: No such file or directory");
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, make, unmake)
    const struct CMUnitTest tests[] = {TEST(test_finds_what_is_off),
                                       TEST(test_frees_what_never_came),
                                       TEST(test_cpus_that_come_and_go),
                                       TEST(test_thread),
                                       TEST(test_metrics),
                                       TEST(test_check)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
