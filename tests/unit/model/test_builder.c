/* SPDX-License-Identifier: Apache-2.0 */
/* What holds for every call of an adjustment: who may call, which failure sticks, what a failure
 * leaves. */
#include "fixture.h"

#define CALLS 21

/* Calls every function of an adjustment once, and returns how many failed with `code`. */
static int call_all(nri_adjustment *adjustment, int code)
{
    static const char *const args[] = {"true"};
    const int codes[CALLS] = {
        nri_adjustment_add_env(adjustment, "A", "1"),
        nri_adjustment_remove_env(adjustment, "B"),
        nri_adjustment_replace_env(adjustment, "C", "2"),
        nri_adjustment_add_annotation(adjustment, "a", "1"),
        nri_adjustment_remove_annotation(adjustment, "b"),
        nri_adjustment_replace_annotation(adjustment, "c", "2"),
        nri_adjustment_add_mount(adjustment, "/a", "bind", "/s", args, 1),
        nri_adjustment_remove_mount(adjustment, "/b"),
        nri_adjustment_replace_mount(adjustment, "/c", NULL, NULL, NULL, 0),
        nri_adjustment_set_args(adjustment, args, 1),
        nri_adjustment_replace_args(adjustment, args, 1),
        nri_adjustment_set_cpu_shares(adjustment, 2),
        nri_adjustment_set_cpu_quota(adjustment, -1),
        nri_adjustment_set_cpu_period(adjustment, 1000),
        nri_adjustment_set_cpu_realtime_runtime(adjustment, 0),
        nri_adjustment_set_cpu_realtime_period(adjustment, 1),
        nri_adjustment_set_cpuset_cpus(adjustment, "0"),
        nri_adjustment_set_cpuset_mems(adjustment, "0"),
        nri_adjustment_set_memory_limit(adjustment, -1),
        nri_adjustment_set_memory_reservation(adjustment, 0),
        nri_adjustment_set_memory_swap(adjustment, -1),
    };
    int count = 0;
    for (int i = 0; i < CALLS; i++)
        count += codes[i] == code;
    return count;
}

static void test_null_is_invalid(void **state)
{
    (void)state;
    assert_int_equal(call_all(NULL, NRI_E_INVALID), CALLS);
    assert_int_equal(nri_adjustment_error(NULL), 0);
    assert_string_equal(nri_adjustment_error_text(NULL), "");
    nri_adjustment_clear_error(NULL);
    nri_adjustment_seal(NULL);
    assert_null(nri_adjustment_message(NULL));
    assert_int_equal(nri_adjustment_features(NULL), 0);
}

static void test_all_calls_work(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(call_all(adjustment, 0), CALLS);
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->n_env, 4);
    assert_int_equal(message->n_annotations, 4);
    assert_int_equal(message->n_mounts, 4);
    assert_int_equal(message->n_args, 2);
    assert_non_null(message->linux->resources->cpu->realtime_runtime);
    assert_non_null(message->linux->resources->memory->reservation);
}

static void test_blocked(void **state)
{
    struct fixture *fixture = *state;
    nri_adjustment *adjustment = nri_adjustment_make(&fixture->arena, fixture_seed, NRI_E_EVENT,
                                                     "StartContainer has no adjustment");
    assert_non_null(adjustment);
    assert_int_equal(call_all(adjustment, NRI_E_EVENT), CALLS);
    assert_int_equal(nri_adjustment_error(adjustment), NRI_E_EVENT);
    assert_string_equal(nri_adjustment_error_text(adjustment), "StartContainer has no adjustment");
    assert_null(nri_adjustment_message(adjustment));
}

static void test_blocked_without_a_text(void **state)
{
    struct fixture *fixture = *state;
    nri_adjustment *adjustment =
        nri_adjustment_make(&fixture->arena, fixture_seed, NRI_E_EVENT, NULL);
    assert_int_equal(nri_adjustment_add_env(adjustment, "A", ""), NRI_E_EVENT);
    assert_string_equal(nri_adjustment_error_text(adjustment), nri_strerror(NRI_E_EVENT));
}

static void test_sealed(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_add_env(adjustment, "Z", "1"), 0);
    nri_adjustment_seal(adjustment);
    nri_adjustment_seal(adjustment);
    assert_int_equal(call_all(adjustment, NRI_E_STATE), CALLS);
    assert_non_null(strstr(nri_adjustment_error_text(adjustment), "already answered"));
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_int_equal(message->n_env, 1);
    assert_int_equal(message->n_mounts + message->n_annotations + message->n_args, 0);
    assert_null(message->linux);
}

static void test_the_first_failure_sticks(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    char first[256];
    assert_int_equal(nri_adjustment_add_env(adjustment, "A=B", ""), NRI_E_INVALID);
    assert_true(strlen(nri_adjustment_error_text(adjustment)) < sizeof first);
    strcpy(first, nri_adjustment_error_text(adjustment));
    assert_int_equal(nri_adjustment_set_cpu_shares(adjustment, 0), NRI_E_RANGE);
    assert_int_equal(nri_adjustment_add_annotation(adjustment, "k", "\xff"), NRI_E_UTF8);
    assert_int_equal(call_all(adjustment, 0), CALLS); /* later calls still work */
    assert_int_equal(nri_adjustment_error(adjustment), NRI_E_INVALID);
    assert_string_equal(nri_adjustment_error_text(adjustment), first);
    nri_adjustment_clear_error(adjustment);
    assert_int_equal(nri_adjustment_error(adjustment), 0);
    assert_string_equal(nri_adjustment_error_text(adjustment), "");
    assert_int_equal(nri_adjustment_set_cpu_shares(adjustment, 0), NRI_E_RANGE);
    assert_int_equal(nri_adjustment_error(adjustment), NRI_E_RANGE);
}

/* S08 */
static void test_S08_nothing_set_is_no_message(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_null(nri_adjustment_message(adjustment));
    assert_int_equal(nri_adjustment_add_env(adjustment, "", ""), NRI_E_INVALID);
    assert_int_equal(nri_adjustment_add_mount(adjustment, "", NULL, NULL, NULL, 0), NRI_E_INVALID);
    assert_int_equal(nri_adjustment_set_cpuset_cpus(adjustment, ""), NRI_E_INVALID);
    assert_null(nri_adjustment_message(adjustment));
}

static void test_the_memory_limit(void **state)
{
    struct fixture *fixture = *state;
    struct nri_alloc alloc = fail_alloc_resolved(&fixture->memory);
    struct nri_arena arena;
    static char value[8192];
    nri_arena_init(&arena, &alloc, 4096, 4096);
    nri_adjustment *adjustment = nri_adjustment_make(&arena, fixture_seed, 0, NULL);
    assert_non_null(adjustment);
    assert_int_equal(nri_adjustment_add_env(adjustment, "A", "1"), 0);
    memset(value, 'v', sizeof value - 1);
    assert_int_equal(nri_adjustment_add_env(adjustment, "A", value), NRI_E_LIMIT);
    assert_string_equal(nri_adjustment_error_text(adjustment),
                        "env \"A\": value: does not fit into the memory limit of 4096 bytes");
    const adjustment_message *message = fixture_adjustment(fixture, adjustment);
    assert_string_equal(message->env[0]->value, "1");
    nri_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_is_invalid),
        cmocka_unit_test_setup_teardown(test_all_calls_work, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_blocked, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_blocked_without_a_text, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_sealed, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_the_first_failure_sticks, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_S08_nothing_set_is_no_message, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_the_memory_limit, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
