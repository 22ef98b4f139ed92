/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of every builder call is made to fail, one a run: the call then fails with
 * NRI_E_NOMEM, the message is byte by byte what it was before, and the same call, made again,
 * works.
 */
#include <stdio.h>

#include "fixture.h"
#include "wire/message.h"

#define MANY 20 /* more than are searched without a hash */

struct bytes {
    uint8_t data[8192];
    size_t size;
};

static void encode(const void *message, struct bytes *bytes)
{
    size_t size = 0;
    if (message == NULL)
        return;
    assert_int_equal(nri_message_size(message, &size, NULL), 0);
    assert_true(bytes->size + size <= sizeof bytes->data);
    nri_message_encode(message, bytes->data + bytes->size);
    bytes->size += size;
}

static void check_same(const struct bytes *a, const struct bytes *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

/* A chunk size of 1 makes every piece of the arena an allocation of its own. */
static void open_arena(struct nri_arena *arena, struct fail_alloc *memory, size_t fail_at)
{
    struct nri_alloc alloc = fail_alloc_resolved(memory);
    nri_arena_init(arena, &alloc, 1, SIZE_MAX);
    fail_alloc_arm(memory, fail_at);
}

/* ---- adjustment ---- */

static int adjust_other(nri_adjustment *adjustment, int step)
{
    static const char *const texts[] = {"rbind", "ro"};
    switch (step) {
    case 0:
        return nri_adjustment_remove_env(adjustment, "NAME_3");
    case 1:
        return nri_adjustment_replace_env(adjustment, "NAME_4", "again");
    case 2:
        return nri_adjustment_replace_annotation(adjustment, "a", "1");
    case 3:
        return nri_adjustment_remove_annotation(adjustment, "b");
    case 4:
        return nri_adjustment_add_mount(adjustment, "/a", "bind", "/s", texts, 2);
    case 5:
        return nri_adjustment_replace_mount(adjustment, "/a", "tmpfs", "none", texts + 1, 1);
    case 6:
        return nri_adjustment_remove_mount(adjustment, "/b");
    case 7:
        return nri_adjustment_set_args(adjustment, texts, 2);
    case 8:
        return nri_adjustment_replace_args(adjustment, texts, 2);
    case 9:
        return nri_adjustment_set_cpu_shares(adjustment, 2);
    case 10:
        return nri_adjustment_set_cpu_quota(adjustment, -1);
    case 11:
        return nri_adjustment_set_cpu_period(adjustment, 1000);
    case 12:
        return nri_adjustment_set_cpu_realtime_runtime(adjustment, 0);
    case 13:
        return nri_adjustment_set_cpu_realtime_period(adjustment, 1);
    case 14:
        return nri_adjustment_set_cpuset_cpus(adjustment, "0");
    case 15:
        return nri_adjustment_set_cpuset_mems(adjustment, "0");
    case 16:
        return nri_adjustment_set_memory_limit(adjustment, -1);
    case 17:
        return nri_adjustment_set_memory_reservation(adjustment, 1);
    default:
        return nri_adjustment_set_memory_swap(adjustment, -1);
    }
}

#define ADJUST_STEPS (3 * MANY + 19)

static int adjust_step(nri_adjustment *adjustment, int step)
{
    char key[32];
    if (step >= 3 * MANY)
        return adjust_other(adjustment, step - 3 * MANY);
    snprintf(key, sizeof key, "/NAME_%d", step / 3);
    if (step % 3 == 0)
        return nri_adjustment_add_env(adjustment, key + 1, "value");
    if (step % 3 == 1)
        return nri_adjustment_add_annotation(adjustment, key + 1, "value");
    return nri_adjustment_add_mount(adjustment, key, NULL, NULL, NULL, 0);
}

/* Returns how many steps failed. */
static int adjust_all(nri_adjustment *adjustment)
{
    int failures = 0;
    for (int step = 0; step < ADJUST_STEPS; step++) {
        struct bytes before = {.size = 0}, after = {.size = 0};
        encode(nri_adjustment_message(adjustment), &before);
        int code = adjust_step(adjustment, step);
        if (code == 0)
            continue;
        failures++;
        assert_int_equal(code, NRI_E_NOMEM);
        encode(nri_adjustment_message(adjustment), &after);
        check_same(&before, &after);
        assert_int_equal(nri_adjustment_error(adjustment), NRI_E_NOMEM);
        assert_non_null(strstr(nri_adjustment_error_text(adjustment), ": out of memory"));
        assert_int_equal(adjust_step(adjustment, step), 0);
    }
    return failures;
}

static void test_adjustment(void **state)
{
    struct fixture *fixture = *state;
    struct fail_alloc *memory = &fixture->memory;
    static struct bytes whole, partly;
    bool fired = true;
    size_t n = 0;
    for (size_t run = 0; fired; run++) {
        struct nri_arena arena;
        open_arena(&arena, memory, run); /* the first run has no failure */
        nri_adjustment *adjustment = nri_adjustment_make(&arena, fixture_seed, 0, NULL);
        int failures = adjustment != NULL ? adjust_all(adjustment) : 1;
        fired = run == 0 || memory->fired;
        assert_int_equal(failures, memory->fired ? 1 : 0);
        partly.size = 0;
        encode(nri_adjustment_message(adjustment), run == 0 ? &whole : &partly);
        if (run > 0 && adjustment != NULL)
            check_same(&whole, &partly);
        nri_arena_fini(&arena);
        assert_int_equal(memory->live_blocks, 0);
        n = run;
    }
    assert_true(whole.size > 1000);
    assert_true(n > ADJUST_STEPS);
    print_message("adjustment: %zu points of failure\n", n - 1);
}

/* ---- updates ---- */

#define UPDATE_STEPS (2 * MANY + 9)

static int update_step(nri_updates *updates, int step)
{
    char id[32];
    snprintf(id, sizeof id, "c%d", step / 2);
    if (step < 2 * MANY && step % 2 == 0)
        return nri_update_set_cpu_shares(nri_updates_container(updates, id), 2);
    if (step < 2 * MANY)
        return nri_updates_evict(updates, id, "reason");
    nri_update *update = nri_updates_container(updates, "c0");
    switch (step - 2 * MANY) {
    case 0:
        return nri_update_set_cpu_quota(update, -1);
    case 1:
        return nri_update_set_cpu_period(update, 1000);
    case 2:
        return nri_update_set_cpu_realtime_runtime(update, 0);
    case 3:
        return nri_update_set_cpu_realtime_period(update, 1);
    case 4:
        return nri_update_set_cpuset_cpus(update, "0");
    case 5:
        return nri_update_set_cpuset_mems(update, "0");
    case 6:
        return nri_update_set_memory_limit(update, -1);
    case 7:
        return nri_update_set_memory_reservation(update, 1);
    default:
        return nri_update_set_memory_swap(update, -1);
    }
}

static void encode_updates(const nri_updates *updates, struct bytes *bytes)
{
    update_message **list;
    eviction_message **evictions;
    size_t count = nri_updates_messages(updates, &list);
    bytes->size = 0;
    assert_int_equal(count, nri_updates_count(updates));
    for (size_t i = 0; i < count; i++)
        encode(list[i], bytes);
    count = nri_updates_evictions(updates, &evictions);
    for (size_t i = 0; i < count; i++)
        encode(evictions[i], bytes);
}

static int update_all(nri_updates *updates)
{
    int failures = 0;
    for (int step = 0; step < UPDATE_STEPS; step++) {
        static struct bytes before, after;
        encode_updates(updates, &before);
        int code = update_step(updates, step);
        if (code == 0)
            continue;
        failures++;
        assert_int_equal(code, NRI_E_NOMEM);
        encode_updates(updates, &after);
        check_same(&before, &after);
        assert_int_equal(nri_updates_error(updates), NRI_E_NOMEM);
        assert_non_null(strstr(nri_updates_error_text(updates), ": out of memory"));
        assert_int_equal(update_step(updates, step), 0);
    }
    return failures;
}

static void test_updates(void **state)
{
    struct fixture *fixture = *state;
    struct fail_alloc *memory = &fixture->memory;
    static struct bytes whole, partly;
    bool fired = true;
    size_t n = 0;
    for (size_t run = 0; fired; run++) {
        struct nri_arena arena;
        open_arena(&arena, memory, run);
        nri_updates *updates = nri_updates_make(&arena, fixture_seed, true, 0, NULL);
        int failures = updates != NULL ? update_all(updates) : 1;
        fired = run == 0 || memory->fired;
        assert_int_equal(failures, memory->fired ? 1 : 0);
        encode_updates(updates, run == 0 ? &whole : &partly);
        if (run > 0 && updates != NULL)
            check_same(&whole, &partly);
        nri_arena_fini(&arena);
        assert_int_equal(memory->live_blocks, 0);
        n = run;
    }
    assert_true(whole.size > 300);
    assert_true(n > UPDATE_STEPS);
    print_message("updates: %zu points of failure\n", n - 1);
}

static void test_a_list_of_its_own(void **state)
{
    (void)state;
    struct fail_alloc memory;
    struct nri_allocator allocator;
    size_t n = 0;
    fail_alloc_init(&memory, &allocator);
    do {
        nri_updates *updates = NULL;
        fail_alloc_arm(&memory, ++n);
        int code = nri_updates_new(&updates, &allocator);
        if (code == 0)
            code = nri_updates_evict(updates, "c1", "reason");
        assert_int_equal(code, memory.fired ? NRI_E_NOMEM : 0);
        assert_int_equal(nri_updates_error(updates), updates != NULL ? code : 0);
        nri_updates_free(updates);
        assert_int_equal(memory.live_blocks, 0);
    } while (memory.fired);
    assert_true(n > 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_adjustment, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_updates, fixture_setup, fixture_teardown),
        cmocka_unit_test(test_a_list_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
