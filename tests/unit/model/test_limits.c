/* SPDX-License-Identifier: Apache-2.0 */
/* CPU and memory limits: of an adjustment and of an update, which share their rules. */
#include <stdio.h>

#include "fixture.h"

/* The ten setters, by what they set. */
struct unsigned_setter {
    const char *name;
    int (*adjust)(nri_adjustment *adjustment, uint64_t value);
    int (*update)(nri_update *update, uint64_t value);
    bool (*get)(const nri_resources *resources, uint64_t *value);
    uint64_t good[3], bad[2];
    int good_count, bad_count;
};

struct signed_setter {
    const char *name;
    int (*adjust)(nri_adjustment *adjustment, int64_t value);
    int (*update)(nri_update *update, int64_t value);
    bool (*get)(const nri_resources *resources, int64_t *value);
    int64_t good[3], bad[3];
    int good_count, bad_count;
};

struct list_setter {
    const char *name;
    int (*adjust)(nri_adjustment *adjustment, const char *value);
    int (*update)(nri_update *update, const char *value);
    bool (*get)(const nri_resources *resources, const char **value);
};

#define SETTER(name) nri_adjustment_set_##name, nri_update_set_##name, nri_resources_##name

static const struct unsigned_setter unsigned_setters[] = {
    {"cpu shares", SETTER(cpu_shares), {2, 1024, 262144}, {1, 262145}, 3, 2},
    {"cpu period", SETTER(cpu_period), {1000, 100000, 1000000}, {999, 1000001}, 3, 2},
    {"cpu realtime period", SETTER(cpu_realtime_period), {1, 1000, UINT64_MAX}, {0}, 3, 1},
};

static const struct signed_setter signed_setters[] = {
    {"cpu quota", SETTER(cpu_quota), {-1, 1000, INT64_MAX}, {0, 999, -2}, 3, 3},
    {"cpu realtime runtime",
     SETTER(cpu_realtime_runtime),
     {-1, 0, INT64_MAX},
     {-2, INT64_MIN},
     3,
     2},
    {"memory limit", SETTER(memory_limit), {-1, 0, INT64_MAX}, {-2, INT64_MIN}, 3, 2},
    {"memory reservation", SETTER(memory_reservation), {0, 1, INT64_MAX}, {-1, INT64_MIN}, 3, 2},
    {"memory swap", SETTER(memory_swap), {-1, 0, INT64_MAX}, {-2, INT64_MIN}, 3, 2},
};

static const struct list_setter list_setters[] = {
    {"cpuset cpus", SETTER(cpuset_cpus)},
    {"cpuset mems", SETTER(cpuset_mems)},
};

#define FOR_EACH(setter, table)                                                                    \
    for (setter = (table); setter < (table) + sizeof(table) / sizeof((table)[0]); setter++)

/* What a runtime reads from an adjustment or from the only update. */
static const nri_resources *adjusted(struct fixture *fixture, const nri_adjustment *adjustment)
{
    const adjustment_message *message = fixture_adjustment(fixture, adjustment);
    assert_non_null(message->linux);
    assert_non_null(message->linux->resources);
    return nri_resources_view(message->linux->resources);
}

static const nri_resources *updated(struct fixture *fixture, const nri_updates *updates)
{
    update_message **list;
    assert_int_equal(nri_updates_messages(updates, &list), 1);
    const update_message *message = fixture_round_trip(fixture, list[0]);
    assert_string_equal(message->container_id, "c1");
    assert_non_null(message->linux);
    assert_non_null(message->linux->resources);
    return nri_resources_view(message->linux->resources);
}

static nri_updates *make_updates(struct fixture *fixture)
{
    nri_updates *updates = nri_updates_make(&fixture->arena, fixture_seed, true, 0, NULL);
    assert_non_null(updates);
    return updates;
}

static void test_good_values(void **state)
{
    const struct unsigned_setter *u;
    const struct signed_setter *s;
    FOR_EACH(u, unsigned_setters)
    {
        nri_adjustment *adjustment = fixture_make(*state);
        nri_updates *updates = make_updates(*state);
        for (int i = 0; i < u->good_count; i++) {
            uint64_t value = 77;
            assert_int_equal(u->adjust(adjustment, u->good[i]), 0);
            assert_true(u->get(adjusted(*state, adjustment), &value));
            assert_true(value == u->good[i]);
            value = 77;
            assert_int_equal(u->update(nri_updates_container(updates, "c1"), u->good[i]), 0);
            assert_true(u->get(updated(*state, updates), &value));
            assert_true(value == u->good[i]);
        }
    }
    FOR_EACH(s, signed_setters)
    {
        nri_adjustment *adjustment = fixture_make(*state);
        nri_updates *updates = make_updates(*state);
        for (int i = 0; i < s->good_count; i++) {
            int64_t value = 77;
            assert_int_equal(s->adjust(adjustment, s->good[i]), 0);
            assert_true(s->get(adjusted(*state, adjustment), &value));
            assert_true(value == s->good[i]);
            value = 77;
            assert_int_equal(s->update(nri_updates_container(updates, "c1"), s->good[i]), 0);
            assert_true(s->get(updated(*state, updates), &value));
            assert_true(value == s->good[i]);
        }
    }
}

/* The text names the setter; nothing was built; an update says whose it is. */
static void check_refusal(const nri_adjustment *adjustment, const nri_updates *updates,
                          const char *name)
{
    char start[64];
    update_message **list;
    assert_int_equal(nri_adjustment_error(adjustment), NRI_E_RANGE);
    snprintf(start, sizeof start, "%s ", name);
    assert_memory_equal(nri_adjustment_error_text(adjustment), start, strlen(start));
    assert_null(nri_adjustment_message(adjustment));
    assert_int_equal(nri_updates_error(updates), NRI_E_RANGE);
    snprintf(start, sizeof start, "update \"c1\": %s ", name);
    assert_memory_equal(nri_updates_error_text(updates), start, strlen(start));
    assert_int_equal(nri_updates_messages(updates, &list), 0);
}

static void test_bad_values(void **state)
{
    const struct unsigned_setter *u;
    const struct signed_setter *s;
    FOR_EACH(u, unsigned_setters)
    {
        for (int i = 0; i < u->bad_count; i++) {
            nri_adjustment *adjustment = fixture_make(*state);
            nri_updates *updates = make_updates(*state);
            assert_int_equal(u->adjust(adjustment, u->bad[i]), NRI_E_RANGE);
            assert_int_equal(u->update(nri_updates_container(updates, "c1"), u->bad[i]),
                             NRI_E_RANGE);
            check_refusal(adjustment, updates, u->name);
        }
    }
    FOR_EACH(s, signed_setters)
    {
        for (int i = 0; i < s->bad_count; i++) {
            nri_adjustment *adjustment = fixture_make(*state);
            nri_updates *updates = make_updates(*state);
            assert_int_equal(s->adjust(adjustment, s->bad[i]), NRI_E_RANGE);
            assert_int_equal(s->update(nri_updates_container(updates, "c1"), s->bad[i]),
                             NRI_E_RANGE);
            check_refusal(adjustment, updates, s->name);
        }
    }
}

static void test_texts(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_set_cpu_shares(adjustment, 1), NRI_E_RANGE);
    assert_string_equal(nri_adjustment_error_text(adjustment), "cpu shares 1: must be 2 to 262144");
    nri_adjustment_clear_error(adjustment);
    assert_int_equal(nri_adjustment_set_memory_limit(adjustment, -7), NRI_E_RANGE);
    assert_string_equal(nri_adjustment_error_text(adjustment),
                        "memory limit -7: must be 0 bytes or more, or -1 for none");
    nri_adjustment_clear_error(adjustment);
    assert_int_equal(nri_adjustment_set_cpuset_cpus(adjustment, "0-3,x"), NRI_E_INVALID);
    assert_string_equal(nri_adjustment_error_text(adjustment),
                        "cpuset cpus \"0-3,x\": wrong at offset 4: must be numbers and ranges "
                        "with commas between, such as \"0-3,7\"");
}

/* nri_cpuset_parse() takes blanks, and annotations have them. */
static void test_blanks_in_lists(void **state)
{
    static const struct {
        const char *list, *quoted;
        int offset;
    } cases[] = {{"0, 2", "0, 2", 2},
                 {" 0", " 0", 0},
                 {"0-1 ", "0-1 ", 3},
                 {"0- 1", "0- 1", 2},
                 {"0\n", "0\\x0a", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[128];
        nri_adjustment *adjustment = fixture_make(*state);
        assert_int_equal(nri_adjustment_set_cpuset_cpus(adjustment, cases[i].list), NRI_E_INVALID);
        snprintf(
            text, sizeof text,
            "cpuset cpus \"%s\": wrong at offset %d: no blanks; nri_cpuset_format() writes the "
            "form",
            cases[i].quoted, cases[i].offset);
        assert_string_equal(nri_adjustment_error_text(adjustment), text);
    }
}

static void test_lists(void **state)
{
    static const char *const good[] = {"0", "0-3,7", "5-5", "7,0-3", "1048575", "00,01"};
    static const struct {
        const char *list;
        int code;
    } bad[] = {
        {"", NRI_E_INVALID},
        {NULL, NRI_E_INVALID},
        {",", NRI_E_INVALID},
        {"0,", NRI_E_INVALID},
        {"0,,1", NRI_E_INVALID},
        {"-3", NRI_E_INVALID},
        {"0-", NRI_E_INVALID},
        {"0-1-2", NRI_E_INVALID},
        {"0 1", NRI_E_INVALID},
        {" 0", NRI_E_INVALID},
        {"0\n", NRI_E_INVALID},
        {"0x1", NRI_E_INVALID},
        {"all", NRI_E_INVALID},
        {"3-0", NRI_E_RANGE},
        {"1048576", NRI_E_RANGE},
        {"0-4294967296", NRI_E_RANGE},
        {"99999999999999999999", NRI_E_RANGE},
        {"\xff", NRI_E_UTF8},
    };
    const struct list_setter *setter;
    FOR_EACH(setter, list_setters)
    {
        nri_adjustment *adjustment = fixture_make(*state);
        nri_updates *updates = make_updates(*state);
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
            assert_int_equal(setter->adjust(adjustment, bad[i].list), bad[i].code);
            assert_int_equal(setter->update(nri_updates_container(updates, "c1"), bad[i].list),
                             bad[i].code);
        }
        assert_null(nri_adjustment_message(adjustment));
        assert_int_equal(nri_updates_count(updates), 0);
        for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
            const char *value = NULL;
            assert_int_equal(setter->adjust(adjustment, good[i]), 0);
            assert_true(setter->get(adjusted(*state, adjustment), &value));
            assert_string_equal(value, good[i]);
            assert_int_equal(setter->update(nri_updates_container(updates, "c1"), good[i]), 0);
            assert_true(setter->get(updated(*state, updates), &value));
            assert_string_equal(value, good[i]);
        }
    }
}

/* S08: what was not set is not there: no empty memory beside the CPU, and the other way round. */
static void test_S08_no_empty_parts(void **state)
{
    nri_adjustment *adjustment = fixture_make(*state);
    assert_null(nri_adjustment_message(adjustment));
    assert_int_equal(nri_adjustment_set_cpu_shares(adjustment, 1), NRI_E_RANGE);
    assert_null(nri_adjustment_message(adjustment));
    assert_int_equal(nri_adjustment_set_memory_swap(adjustment, 5), 0);
    const adjustment_message *message = fixture_adjustment(*state, adjustment);
    assert_null(message->linux->resources->cpu);
    assert_non_null(message->linux->resources->memory->swap);
    assert_null(message->linux->resources->memory->limit);
    adjustment = fixture_make(*state);
    assert_int_equal(nri_adjustment_set_cpu_quota(adjustment, -1), 0);
    message = fixture_adjustment(*state, adjustment);
    assert_null(message->linux->resources->memory);
    assert_null(message->linux->resources->cpu->shares);
    assert_string_equal(message->linux->resources->cpu->cpus, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_good_values, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_bad_values, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_texts, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_blanks_in_lists, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_lists, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_S08_no_empty_parts, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
