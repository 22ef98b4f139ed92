/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "fixture.h"

static nri_updates *make(struct fixture *fixture, bool evictions, int blocked, const char *text)
{
    nri_updates *updates =
        nri_updates_make(&fixture->arena, fixture_seed, evictions, blocked, text);
    assert_non_null(updates);
    return updates;
}

static void test_updates_in_order(void **state)
{
    nri_updates *updates = make(*state, true, 0, NULL);
    nri_update *first = nri_updates_container(updates, "c1");
    nri_update *second = nri_updates_container(updates, "c2");
    update_message **list;
    assert_ptr_equal(nri_updates_container(updates, "c1"), first);
    assert_ptr_not_equal(first, second);
    assert_string_equal(nri_update_container_id(second), "c2");
    assert_int_equal(nri_update_set_cpu_shares(second, 20), 0);
    assert_int_equal(nri_update_set_cpu_shares(first, 10), 0);
    assert_int_equal(nri_update_set_ignore_failure(second, true), 0);
    assert_int_equal(nri_updates_count(updates), 2);
    assert_int_equal(nri_updates_messages(updates, &list), 2);
    const update_message *one = fixture_round_trip(*state, list[0]);
    const update_message *two = fixture_round_trip(*state, list[1]);
    assert_string_equal(one->container_id, "c1");
    assert_int_equal(one->linux->resources->cpu->shares->value, 10);
    assert_false(one->ignore_failure);
    assert_string_equal(two->container_id, "c2");
    assert_int_equal(two->linux->resources->cpu->shares->value, 20);
    assert_true(two->ignore_failure);
    assert_int_equal(nri_updates_error(updates), 0);
}

/* One without resources would make a Go runtime drop the values of the request. */
static void test_an_update_that_sets_nothing_is_not_sent(void **state)
{
    nri_updates *updates = make(*state, true, 0, NULL);
    update_message **list;
    nri_update *update = nri_updates_container(updates, "c1");
    assert_int_equal(nri_update_set_ignore_failure(update, true), 0);
    assert_int_equal(nri_updates_messages(updates, &list), 0);
    assert_int_equal(nri_update_set_cpu_shares(update, 0), NRI_E_RANGE);
    assert_int_equal(nri_updates_messages(updates, &list), 0);
    assert_int_equal(nri_updates_count(updates), 0);
    nri_update *other = nri_updates_container(updates, "c2");
    assert_int_equal(nri_update_set_memory_limit(other, 4096), 0);
    assert_int_equal(nri_updates_count(updates), 1);
    assert_int_equal(nri_updates_messages(updates, &list), 1);
    assert_string_equal(list[0]->container_id, "c2");
}

static void test_evictions(void **state)
{
    nri_updates *updates = make(*state, true, 0, NULL);
    eviction_message **list;
    assert_int_equal(nri_updates_evictions(updates, &list), 0);
    assert_int_equal(nri_updates_evict(updates, "c1", "too old"), 0);
    assert_int_equal(nri_updates_evict(updates, "c2", NULL), 0);
    assert_int_equal(nri_updates_evict(updates, "c1", "too loud"), 0);
    assert_int_equal(nri_updates_eviction_count(updates), 2);
    assert_int_equal(nri_updates_count(updates), 0);
    assert_int_equal(nri_updates_evictions(updates, &list), 2);
    const eviction_message *one = fixture_round_trip(*state, list[0]);
    const eviction_message *two = fixture_round_trip(*state, list[1]);
    assert_string_equal(one->container_id, "c1");
    assert_string_equal(one->reason, "too loud");
    assert_string_equal(two->container_id, "c2");
    assert_string_equal(two->reason, "");
}

static void test_refused_evictions(void **state)
{
    nri_updates *updates = make(*state, false, 0, NULL);
    assert_int_equal(nri_updates_evict(updates, "c1", NULL), NRI_E_EVENT);
    assert_non_null(strstr(nri_updates_error_text(updates), "eviction: the reply to this event"));
    assert_int_equal(nri_update_set_cpu_shares(nri_updates_container(updates, "c1"), 2), 0);
    updates = make(*state, true, 0, NULL);
    assert_int_equal(nri_updates_evict(updates, "", NULL), NRI_E_INVALID);
    assert_string_equal(nri_updates_error_text(updates),
                        "eviction container id \"\": must not be empty");
    nri_updates_clear_error(updates);
    assert_int_equal(nri_updates_evict(updates, "c1", "\xff"), NRI_E_UTF8);
    assert_string_equal(
        nri_updates_error_text(updates),
        "eviction \"c1\": reason \"\\xff\": must be UTF-8; the byte at offset 0 is not");
    assert_int_equal(nri_updates_eviction_count(updates), 0);
}

static int try_all(nri_update *update)
{
    int codes[] = {
        nri_update_set_ignore_failure(update, true),
        nri_update_set_cpu_shares(update, 2),
        nri_update_set_cpu_quota(update, -1),
        nri_update_set_cpu_period(update, 1000),
        nri_update_set_cpu_realtime_runtime(update, 0),
        nri_update_set_cpu_realtime_period(update, 1),
        nri_update_set_cpuset_cpus(update, "0"),
        nri_update_set_cpuset_mems(update, "0"),
        nri_update_set_memory_limit(update, -1),
        nri_update_set_memory_reservation(update, 0),
        nri_update_set_memory_swap(update, -1),
    };
    for (size_t i = 1; i < sizeof codes / sizeof codes[0]; i++)
        assert_int_equal(codes[i], codes[0]);
    return codes[0];
}

static void test_a_failed_update_keeps_its_code(void **state)
{
    nri_updates *updates = make(*state, true, 0, NULL);
    nri_update *invalid = nri_updates_container(updates, "");
    assert_int_equal(nri_updates_error(updates), NRI_E_INVALID);
    assert_string_equal(nri_updates_error_text(updates),
                        "update container id \"\": must not be empty");
    nri_update *broken = nri_updates_container(updates, "\xff");
    assert_int_equal(nri_updates_error(updates), NRI_E_INVALID); /* the first one sticks */
    assert_int_equal(try_all(broken), NRI_E_UTF8);
    assert_int_equal(try_all(invalid), NRI_E_INVALID);
    assert_ptr_equal(nri_updates_container(updates, NULL), invalid);
    assert_string_equal(nri_update_container_id(invalid), "");
    nri_updates_clear_error(updates);
    assert_int_equal(try_all(broken), NRI_E_UTF8);
    assert_int_equal(nri_updates_error(updates), NRI_E_UTF8);
    assert_int_equal(nri_updates_count(updates), 0);
}

static void test_blocked_and_sealed(void **state)
{
    nri_updates *updates = make(*state, true, NRI_E_EVENT, "StartContainer has no updates");
    update_message **list;
    assert_int_equal(try_all(nri_updates_container(updates, "c1")), NRI_E_EVENT);
    assert_string_equal(nri_updates_error_text(updates), "StartContainer has no updates");
    assert_int_equal(nri_updates_evict(updates, "c1", NULL), NRI_E_EVENT);
    updates = make(*state, true, 0, NULL);
    nri_update *update = nri_updates_container(updates, "c1");
    assert_int_equal(nri_update_set_cpu_shares(update, 2), 0);
    nri_updates_seal(updates);
    nri_updates_seal(updates);
    nri_updates_seal(NULL);
    assert_int_equal(try_all(update), NRI_E_STATE);
    assert_int_equal(try_all(nri_updates_container(updates, "c1")), NRI_E_STATE);
    assert_int_equal(try_all(nri_updates_container(updates, "c2")), NRI_E_STATE);
    assert_int_equal(nri_updates_evict(updates, "c1", NULL), NRI_E_STATE);
    assert_int_equal(nri_updates_messages(updates, &list), 1);
    assert_null(list[0]->linux->resources->memory);
}

static void test_null(void **state)
{
    (void)state;
    update_message **updates_list;
    eviction_message **evictions_list;
    nri_update *update = nri_updates_container(NULL, "c1");
    assert_non_null(update);
    assert_int_equal(try_all(update), NRI_E_INVALID);
    assert_int_equal(try_all(NULL), NRI_E_INVALID);
    assert_string_equal(nri_update_container_id(update), "");
    assert_string_equal(nri_update_container_id(NULL), "");
    assert_int_equal(nri_updates_evict(NULL, "c1", NULL), NRI_E_INVALID);
    assert_int_equal(nri_updates_count(NULL), 0);
    assert_int_equal(nri_updates_eviction_count(NULL), 0);
    assert_int_equal(nri_updates_messages(NULL, &updates_list), 0);
    assert_int_equal(nri_updates_evictions(NULL, &evictions_list), 0);
    assert_int_equal(nri_updates_error(NULL), 0);
    assert_string_equal(nri_updates_error_text(NULL), "");
    nri_updates_clear_error(NULL);
    assert_int_equal(nri_updates_new(NULL, NULL), NRI_E_INVALID);
    assert_null(nri_updates_free(NULL));
}

static void test_a_list_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct nri_allocator allocator;
    nri_updates *updates = NULL;
    fail_alloc_init(&fixture->memory, &allocator);
    assert_int_equal(nri_updates_new(&updates, &allocator), 0);
    assert_int_equal(nri_update_set_memory_limit(nri_updates_container(updates, "c1"), 1 << 20), 0);
    assert_int_equal(nri_updates_evict(updates, "c2", "why not"), 0);
    assert_int_equal(nri_updates_count(updates), 1);
    assert_true(fixture->memory.live_blocks > 0);
    assert_null(nri_updates_free(updates));
    assert_int_equal(fixture->memory.live_blocks, 0);
    allocator.release = NULL;
    assert_int_equal(nri_updates_new(&updates, &allocator), NRI_E_INVALID);
    assert_null(updates);
    assert_int_equal(nri_updates_new(&updates, NULL), 0); /* the C library's */
    assert_int_equal(nri_updates_evict(updates, "c2", "why not"), 0);
    assert_null(nri_updates_free(updates));
}

/* Refused by contract, and harmless. */
static void test_freeing_the_list_of_a_request(void **state)
{
    nri_updates *updates = make(*state, true, 0, NULL);
    assert_null(nri_updates_free(updates));
    assert_int_equal(nri_updates_evict(updates, "c1", NULL), 0);
}

static void test_many(void **state)
{
    enum { COUNT = 20000 };
    nri_updates *updates = make(*state, true, 0, NULL);
    update_message **list;
    char id[32];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < COUNT; i++) {
            snprintf(id, sizeof id, "container-%d", i);
            int code = nri_update_set_cpu_shares(nri_updates_container(updates, id),
                                                 (uint64_t)(round + 2));
            if (code != 0)
                fail_msg("%s: %d", id, code);
        }
    }
    assert_int_equal(nri_updates_messages(updates, &list), COUNT);
    assert_string_equal(list[COUNT - 1]->container_id, id);
    assert_int_equal(list[0]->linux->resources->cpu->shares->value, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_updates_in_order, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_an_update_that_sets_nothing_is_not_sent, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_evictions, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_refused_evictions, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_failed_update_keeps_its_code, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_blocked_and_sealed, fixture_setup, fixture_teardown),
        cmocka_unit_test(test_null),
        cmocka_unit_test_setup_teardown(test_a_list_of_its_own, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_freeing_the_list_of_a_request, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_many, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
