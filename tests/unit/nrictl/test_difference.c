/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Differences between two documents: by member, by key and by place, as text and as JSON; random
 * documents, and large hostile ones, whose comparison takes steps that go with their size.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "difference.h"
#include "memory.h"

static const uint64_t seed[2] = {3, 4};

static int setup(void **state)
{
    struct nri_arena *arena = calloc(1, sizeof *arena);
    if (arena == NULL)
        return -1;
    memory_arena(arena, (size_t)512 << 20);
    *state = arena;
    return 0;
}

static int teardown(void **state)
{
    nri_arena_fini(*state);
    free(*state);
    return 0;
}

static struct nri_json *parse(struct nri_arena *arena, const char *text)
{
    struct nri_json *document = NULL;
    struct nri_error error;
    assert_int_equal(nri_json_parse(arena, text, strlen(text), NULL, NULL, &document, &error), 0);
    return document;
}

static struct difference_list differences(struct nri_arena *arena, const char *a, const char *b)
{
    struct difference_list list;
    assert_int_equal(difference_make(arena, seed, parse(arena, a), parse(arena, b), &list), 0);
    return list;
}

/* The differences as JSON are `expected`, "" for none. */
static void check(struct nri_arena *arena, const char *a, const char *b, const char *expected)
{
    struct nri_buf text;
    const struct difference_list list = differences(arena, a, b);
    memory_buf(&text, SIZE_MAX);
    assert_int_equal(nri_json_write(difference_document(arena, &list, NULL), 0, &text), 0);
    assert_int_equal(nri_buf_append(&text, "", 1), 0);
    assert_string_equal(memory_text(&text), expected);
    nri_buf_fini(&text);
}

static void test_members(void **state)
{
    check(*state, "{\"a\":1,\"b\":{\"c\":true}}", "{\"b\":{\"c\":true},\"a\":1}", "[]");
    check(*state, "{\"a\":1,\"b\":2}", "{\"b\":3,\"c\":4}",
          "[{\"path\":\"a\",\"before\":1},{\"path\":\"b\",\"before\":2,\"after\":3},"
          "{\"path\":\"c\",\"after\":4}]");
    check(*state, "{}", "{\"a\":{\"b\":{\"c\":1,\"d\":{}}}}",
          "[{\"path\":\"a.b.c\",\"after\":1},{\"path\":\"a.b.d\",\"after\":{}}]");
    check(*state, "{\"a\":{\"b\":null}}", "{\"a\":{}}", "[{\"path\":\"a.b\",\"before\":null}]");
    check(*state, "{\"a\":{\"b\":1}}", "{\"a\":[1]}",
          "[{\"path\":\"a\",\"before\":{\"b\":1},\"after\":[1]}]");
    check(*state, "1", "2", "[{\"path\":\"\",\"before\":1,\"after\":2}]");
    check(*state, "{\"annotations\":{\"io.x/y\":\"1\",\"\":\"2\"}}", "{\"annotations\":{}}",
          "[{\"path\":\"annotations[io.x/y]\",\"before\":\"1\"},"
          "{\"path\":\"annotations[]\",\"before\":\"2\"}]");
}

static void test_numbers(void **state)
{
    check(*state, "[{\"a\":1}]", "[{\"a\":1.0}]", "[]");
    check(*state, "[{\"a\":18446744073709551615}]", "[{\"a\":18446744073709551614}]",
          "[{\"path\":\"[0].a\",\"before\":18446744073709551615,"
          "\"after\":18446744073709551614}]");
    check(*state, "[{\"a\":1.50}]", "[{\"a\":1.5}]",
          "[{\"path\":\"[0].a\",\"before\":1.50,\"after\":1.5}]");
    check(*state, "[{\"a\":-1}]", "[{\"a\":\"-1\"}]",
          "[{\"path\":\"[0].a\",\"before\":-1,\"after\":\"-1\"}]");
}

static void test_keys(void **state)
{
    check(*state, "{\"env\":[\"A=1\",\"B=2\",\"C=3\"]}", "{\"env\":[\"C=3\",\"B=4\",\"D=5\"]}",
          "[{\"path\":\"env[A]\",\"before\":\"A=1\"},"
          "{\"path\":\"env[B]\",\"before\":\"B=2\",\"after\":\"B=4\"},"
          "{\"path\":\"env[D]\",\"after\":\"D=5\"}]");
    check(*state, "{\"mounts\":[{\"destination\":\"/a\",\"options\":[\"ro\"]}]}",
          "{\"mounts\":[{\"destination\":\"/b\"},{\"destination\":\"/a\",\"options\":[\"rw\"]}]}",
          "[{\"path\":\"mounts[/a].options\",\"before\":[\"ro\"],\"after\":[\"rw\"]},"
          "{\"path\":\"mounts[/b]\",\"after\":{\"destination\":\"/b\"}}]");
    check(*state, "{\"devices\":[{\"path\":\"/dev/a\",\"major\":1}]}",
          "{\"devices\":[{\"path\":\"/dev/a\",\"major\":2}]}",
          "[{\"path\":\"devices[/dev/a].major\",\"before\":1,\"after\":2}]");
    check(*state, "{\"rlimits\":[{\"type\":\"R\",\"hard\":1}]}", "{\"rlimits\":[]}",
          "[{\"path\":\"rlimits[R]\",\"before\":{\"type\":\"R\",\"hard\":1}}]");
    check(*state, "{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"ipc\"}]}",
          "{\"namespaces\":[{\"type\":\"ipc\"},{\"type\":\"pid\"}]}", "[]");
    check(*state, "{}", "{\"hugepageLimits\":[{\"pageSize\":\"2MB\",\"limit\":1}]}",
          "[{\"path\":\"hugepageLimits[2MB]\",\"after\":{\"pageSize\":\"2MB\",\"limit\":1}}]");
    check(*state, "{\"CDI_devices\":[\"a\",\"b\"]}", "{\"CDI_devices\":[\"b\"]}",
          "[{\"path\":\"CDI_devices[a]\",\"before\":\"a\"}]");
}

/* The n-th of a key is compared with the n-th, and what has no key with what has none. */
static void test_keys_given_twice(void **state)
{
    check(*state, "{\"env\":[\"A=1\",\"A=2\"]}", "{\"env\":[\"A=1\",\"A=3\",\"A=4\"]}",
          "[{\"path\":\"env[A]\",\"before\":\"A=2\",\"after\":\"A=3\"},"
          "{\"path\":\"env[A]\",\"after\":\"A=4\"}]");
    check(*state, "{\"env\":[\"\",1,\"=x\",\"A\"]}", "{\"env\":[\"A\",\"\",2,\"=x\"]}",
          "[{\"path\":\"env[1]\",\"before\":1,\"after\":2}]");
    check(*state, "{\"devices\":[{\"allow\":true},{\"allow\":false}]}",
          "{\"devices\":[{\"allow\":false},{\"allow\":false}]}",
          "[{\"path\":\"devices[0].allow\",\"before\":true,\"after\":false}]");
}

static void test_places(void **state)
{
    check(*state, "{\"poststop\":[{\"path\":\"/a\"}]}",
          "{\"poststop\":[{\"path\":\"/b\"},{\"path\":\"/c\"}]}",
          "[{\"path\":\"poststop[0].path\",\"before\":\"/a\",\"after\":\"/b\"},"
          "{\"path\":\"poststop[1]\",\"after\":{\"path\":\"/c\"}}]");
    check(*state, "{\"args\":[\"a\",\"b\"]}", "{\"args\":[\"b\",\"a\"]}",
          "[{\"path\":\"args\",\"before\":[\"a\",\"b\"],\"after\":[\"b\",\"a\"]}]");
    check(*state, "{\"args\":[\"a\"]}", "{}", "[{\"path\":\"args\",\"before\":[\"a\"]}]");
    check(*state, "[[1,[2]]]", "[[1,[3]]]",
          "[{\"path\":\"\",\"before\":[[1,[2]]],\"after\":[[1,[3]]]}]");
}

static void test_text(void **state)
{
    struct nri_arena *arena = *state;
    char text[512];
    struct nrictl ctl = {.command = "diff", .err = stderr};
    struct difference_list list =
        differences(arena, "{\"env\":[\"A=1\"]}", "{\"env\":[\"A=\\u001b[2J\"],\"x\":1}");
    ctl.out = fmemopen(text, sizeof text, "w");
    assert_non_null(ctl.out);
    assert_int_equal(difference_print(&ctl, &list, "before", "af\nter"), NRICTL_OK);
    (void)fclose(ctl.out);
    assert_string_equal(text, "--- before\n+++ af\\x0ater\n- env[A]: \"A=1\"\n"
                              "+ env[A]: \"A=\\u001b[2J\"\n+ x: 1\n");
    ctl.colour = true;
    ctl.out = fmemopen(text, sizeof text, "w");
    assert_non_null(ctl.out);
    list = differences(arena, "{}", "{\"x\":1}");
    assert_int_equal(difference_print(&ctl, &list, "a", "b"), NRICTL_OK);
    list.count = 0;
    assert_int_equal(difference_print(&ctl, &list, "a", "b"), NRICTL_OK);
    (void)fclose(ctl.out);
    assert_string_equal(text, "\033[1m--- a\033[0m\n\033[1m+++ b\033[0m\n\033[32m+ x: 1\033[0m\n");
}

/* A key may be as long as a document: its piece of a path is cut, at a character. */
static void test_long_keys(void **state)
{
    struct nri_arena *arena = *state;
    struct nri_buf path;
    char text[1024] = "{\"";
    for (int i = 0; i < 150; i++)
        strcat(text, "\u00e9");
    strcat(text, "\":{\"b\":1}}");
    const struct difference_list list = differences(arena, "{}", text);
    memory_buf(&path, SIZE_MAX);
    assert_int_equal(list.count, 1);
    assert_int_equal(difference_path(list.items[0].place, &path), 0);
    assert_int_equal(nri_buf_append(&path, "", 1), 0);
    assert_int_equal(nri_buf_size(&path), 200 + strlen("....b") + 1);
    assert_string_equal(memory_text(&path) + 200, "....b");
    nri_buf_fini(&path);
}

/* A list of `count` variables, of which each differs and half have the same name. */
static struct nri_json *hostile(struct nri_arena *arena, size_t count, char sign)
{
    struct nri_json *document = nri_json_new(arena, NRI_JSON_OBJECT);
    struct nri_json *list = nri_json_new(arena, NRI_JSON_ARRAY);
    for (size_t i = 0; i < count; i++) {
        char text[64];
        const int length =
            snprintf(text, sizeof text, i % 2 == 0 ? "same=%c%zu" : "n%2$zu=%1$c", sign, i);
        struct nri_json *element = nri_json_new_string(arena, text, (size_t)length);
        assert_int_equal(nri_json_append(arena, list, element), 0);
    }
    assert_int_equal(nri_json_set(arena, document, "env", list), 0);
    return document;
}

/* Memory goes with the size: a comparison ten times as large takes at most some twenty times as
 * much (lists grow by doubling). That a comparison of 400 000 elements ends at all says the same of
 * time: with a step for each pair it would take hours. */
static void test_hostile(void **state)
{
    struct nri_arena *arena = *state;
    size_t taken[2];
    static const size_t counts[2] = {40000, 400000};
    for (size_t i = 0; i < 2; i++) {
        struct nri_arena own;
        struct difference_list list;
        struct nri_json *a = hostile(arena, counts[i], 'a'), *b = hostile(arena, counts[i], 'b');
        memory_arena(&own, (size_t)512 << 20);
        assert_int_equal(difference_make(&own, seed, a, b, &list), 0);
        assert_int_equal(list.count, counts[i]);
        taken[i] = own.taken;
        nri_arena_fini(&own);
    }
    assert_true(taken[1] < 20 * taken[0]);
}

static void test_limit(void **state)
{
    struct nri_arena *arena = *state, own;
    struct difference_list list;
    struct nri_json *a = hostile(arena, 1000, 'a'), *b = hostile(arena, 1000, 'b');
    memory_arena(&own, 20000);
    assert_int_equal(difference_make(&own, seed, a, b, &list), NRI_E_LIMIT);
    nri_arena_fini(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_members, setup, teardown),
        cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(test_keys_given_twice, setup, teardown),
        cmocka_unit_test_setup_teardown(test_places, setup, teardown),
        cmocka_unit_test_setup_teardown(test_text, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_keys, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hostile, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limit, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
