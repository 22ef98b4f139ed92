/* SPDX-License-Identifier: Apache-2.0 */
/* What a merge of JSON sets aside is enough for the change, whatever is there already, and what is
 * not used goes back. */
#include <stdio.h>

#include "base/buf.h"
#include "fixture.h"

static unsigned draw(uint64_t *random, unsigned below)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(*random >> 33) % below;
}

/* The elements of one list, by number. */
static const char *const lists[] = {
    "\"annotations\":{%s}|\"a%u\":\"1\"",
    "\"env\":{%s}|\"E%u\":\"1\"",
    "\"mounts\":[%s]|{\"destination\":\"/m%u\",\"type\":\"bind\",\"source\":\"/\"}",
    "\"hooks\":{\"prestart\":[%s]}|{\"path\":\"/h%u\"}",
    "\"CDI_devices\":[%s]|{\"name\":\"vendor.com/gpu=%u\"}",
    "\"linux\":{\"devices\":[%s]}|{\"path\":\"/dev/d%u\",\"type\":\"c\"}",
    "\"linux\":{\"sysctl\":{%s}}|\"net.s%u\":\"1\"",
    "\"linux\":{\"net_devices\":{%s}}|\"eth%u\":{\"name\":\"x\"}",
    "\"linux\":{\"resources\":{\"unified\":{%s}}}|\"memory.u%u\":\"1\"",
    "\"linux\":{\"resources\":{\"devices\":[%s]}}|{\"allow\":true,\"type\":\"c\",\"major\":%u,"
    "\"access\":\"r\"}",
    "\"linux\":{\"seccomp_policy\":{\"default_action\":\"SCMP_ACT_ALLOW\",\"syscalls\":[%s]}}|"
    "{\"names\":[\"call%u\"],\"action\":\"SCMP_ACT_ERRNO\"}",
};

#define LISTS (sizeof lists / sizeof lists[0])

/* One list with `count` elements, the first of number `first`. */
static void put_list(struct nri_buf *out, const char *list, unsigned first, unsigned count)
{
    char piece[256];
    const char *element = strchr(list, '|') + 1;
    const char *place = strstr(list, "%s");
    assert_int_equal(nri_buf_append(out, list, (size_t)(place - list)), 0);
    for (unsigned i = 0; i < count; i++) {
        const char *number = strstr(element, "%u");
        int length = snprintf(piece, sizeof piece, "%s%.*s%u%s", i > 0 ? "," : "",
                              (int)(number - element), element, first + i, number + 2);
        assert_int_equal(nri_buf_append(out, piece, (size_t)length), 0);
    }
    assert_int_equal(nri_buf_append(out, place + 2, (size_t)(element - 1 - place - 2)), 0);
}

/* Random merges: new keys, keys that are there, few and many. Of each merge the adjustment's arena
 * may take one piece of memory, which is what it sets aside. */
static void merge_at_random(uint64_t *random)
{
    struct fail_alloc memory;
    struct nri_arena arena;
    unsigned known[LISTS] = {0};
    fail_alloc_init(&memory, NULL);
    const struct nri_alloc alloc = fail_alloc_resolved(&memory);
    nri_arena_init(&arena, &alloc, 0, SIZE_MAX);
    nri_adjustment *adjustment = nri_adjustment_make(&arena, fixture_seed, 0, NULL);
    assert_non_null(adjustment);
    for (int round = 0; round < 40; round++) {
        struct nri_buf out;
        nri_error *error = NULL;
        unsigned list = draw(random, LISTS);
        unsigned count = 1 + draw(random, draw(random, 8) == 0 ? 300 : 20);
        unsigned first = draw(random, 2) == 0 ? known[list] : draw(random, known[list] + 1);
        nri_buf_init(&out, &alloc, SIZE_MAX);
        assert_int_equal(nri_buf_append(&out, "{", 1), 0);
        put_list(&out, lists[list], first, count);
        assert_int_equal(nri_buf_append(&out, "}", 1), 0);
        if (first + count > known[list])
            known[list] = first + count;
        fail_alloc_end_after(&memory, 1);
        size_t length = nri_buf_size(&out);
        const char *json = (const char *)out.data + out.start;
        if (nri_adjustment_merge_json(adjustment, json, length, NULL, &error) != 0)
            fail_msg("%.*s: %s", length < 300 ? (int)length : 300, json, nri_error_get_text(error));
        fail_alloc_end_after(&memory, SIZE_MAX);
        assert_null(arena.spare);
        nri_buf_fini(&out);
    }
    nri_arena_fini(&arena);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_what_is_set_aside_is_enough(void **state)
{
    (void)state;
    uint64_t random = 7;
    for (int round = 0; round < 60; round++)
        merge_at_random(&random);
}

/* A hundred small merges fit into a request's memory, and take little more than one large one. */
static void test_many_small_merges(void **state)
{
    (void)state;
    size_t taken[2];
    for (int small = 0; small < 2; small++) {
        struct fixture *fixture;
        void *made = NULL;
        assert_int_equal(fixture_setup(&made), 0);
        fixture = made;
        fixture->arena.limit = 64 * 1024 + 8 * 2000;
        nri_adjustment *adjustment = fixture_make(fixture);
        char json[8192];
        int length = snprintf(json, sizeof json, "{\"env\":{");
        for (int i = 0; i < 100; i++) {
            length = small ? snprintf(json, sizeof json, "{\"env\":{") : length;
            length += snprintf(json + length, sizeof json - (size_t)length, "%s\"K%d\":\"value\"",
                               small || i == 0 ? "" : ",", i);
            if (small || i == 99) {
                length += snprintf(json + length, sizeof json - (size_t)length, "}}");
                assert_int_equal(
                    nri_adjustment_merge_json(adjustment, json, (size_t)length, NULL, NULL), 0);
            }
        }
        assert_int_equal(nri_adjustment_env_count(adjustment), 100);
        taken[small] = fixture->arena.taken;
        assert_int_equal(fixture_teardown(&made), 0);
    }
    assert_true(taken[1] <= 2 * taken[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_set_aside_is_enough),
        cmocka_unit_test(test_many_small_merges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
