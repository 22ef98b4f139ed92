/* SPDX-License-Identifier: Apache-2.0 */
/* What expectations are made of: places, matches, names of fields, misspelt words, command lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nri/field.h>

#include "command_line.h"
#include "field_key.h"
#include "form.h"
#include "match.h"
#include "memory.h"
#include "near.h"
#include "path.h"

static struct nri_json *parse(struct nri_arena *arena, const char *text)
{
    struct nri_json *document = NULL;
    struct nri_error error;
    if (nri_json_parse(arena, text, strlen(text), NULL, NULL, &document, &error) != 0)
        fail_msg("%s: %s", text, error.text);
    return document;
}

/* ---- places ---- */

static const char document[] =
    "{\"env\": [{\"key\": \"A\", \"value\": \"1\"}, {\"key\": \"B\"}],"
    " \"args\": [\"PATH=/bin\", \"X=\", \"plain\"],"
    " \"mounts\": [{\"destination\": \"/data\", \"options\": [\"ro\", \"bind\"]}],"
    " \"annotations\": {\"a.b/c\": \"v\", \"x~y\": \"w\"}, \"linux\": {\"cpu\": {\"shares\": 5}}}";

static void assert_at(const char *path, const char *json)
{
    struct nri_arena arena;
    memory_arena(&arena, SIZE_MAX);
    const struct nri_json *found = path_find(&arena, parse(&arena, document), path);
    if (json == NULL && found != NULL)
        fail_msg("%s: there is something", path);
    if (json != NULL && (found == NULL || !match_equal(found, parse(&arena, json))))
        fail_msg("%s is not %s", path, json);
    nri_arena_fini(&arena);
}

static void test_paths_and_pointers(void **state)
{
    (void)state;
    assert_at("linux.cpu.shares", "5");
    assert_at("/linux/cpu/shares", "5");
    assert_at("env[A]", "\"1\"");
    assert_at("env[B]", "\"\"");
    assert_at("env[C]", NULL);
    assert_at("env[0].key", "\"A\"");
    assert_at("env.A", "\"1\"");
    assert_at("/env/A", NULL);
    assert_at("/env/1/key", "\"B\"");
    assert_at("/env/2", NULL);
    assert_at("args[PATH]", "\"/bin\"");
    assert_at("args[X]", "\"\"");
    assert_at("args[plain]", "\"plain\"");
    assert_at("args[PAT]", NULL);
    assert_at("args[2]", "\"plain\"");
    assert_at("mounts[/data].options[1]", "\"bind\"");
    assert_at("annotations[a.b/c]", "\"v\"");
    assert_at("/annotations/a.b~1c", "\"v\"");
    assert_at("/annotations/x~0y", "\"w\"");
    assert_at("linux.cpu.shares.more", NULL);
    assert_at("", document);
}

static void test_paths_that_are_none(void **state)
{
    static const char *const wrong[] = {"a..b", "a[b", "a[]", "a[b]c", ".a", "a.", "/a/~2", "/~"};
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (path_fault(wrong[i]) == NULL)
            fail_msg("%s is a path", wrong[i]);
        assert_at(wrong[i], NULL);
    }
    assert_null(path_fault("a.b[c.d][0].e"));
    assert_null(path_fault("/a//b"));
}

/* ---- matches ---- */

static void assert_match(const char *expected, const char *seen, bool holds)
{
    struct nri_arena arena;
    memory_arena(&arena, SIZE_MAX);
    const struct nri_json *value = seen != NULL ? parse(&arena, seen) : NULL;
    if (match_value(parse(&arena, expected), value) != holds)
        fail_msg("%s %s %s", seen != NULL ? seen : "absent", holds ? "is not" : "is", expected);
    nri_arena_fini(&arena);
}

static void test_matches(void **state)
{
    (void)state;
    assert_match("1", "1.0", true);
    assert_match("1", "\"1\"", false);
    assert_match("1", NULL, false);
    assert_match("18446744073709551615", "18446744073709551614", false);
    assert_match("9007199254740993", "9007199254740992", false);
    assert_match("null", NULL, true);
    assert_match("null", "0", false);
    assert_match("[1, 2]", "[1, 2]", true);
    assert_match("[1, 2]", "[2, 1]", false);
    assert_match("[1]", "[1, 2]", false);
    assert_match("{\"equal\": {\"a\": 1, \"b\": 2}}", "{\"b\": 2, \"a\": 1}", true);
    assert_match("{\"equal\": {\"a\": 1}}", "{\"b\": 2, \"a\": 1}", false);
    assert_match("{\"contains\": {\"a\": 1}}", "{\"b\": 2, \"a\": 1}", true);
    assert_match("{\"contains\": {\"a\": 2}}", "{\"b\": 2, \"a\": 1}", false);
    assert_match("{\"contains\": \"bc\"}", "\"abcd\"", true);
    assert_match("{\"contains\": \"x\"}", "\"abcd\"", false);
    assert_match("{\"contains\": 2}", "[1, 2]", true);
    assert_match("{\"contains\": [2, 1]}", "[1, 2, 3]", true);
    assert_match("{\"contains\": [2, 4]}", "[1, 2, 3]", false);
    assert_match("{\"contains\": {\"a\": 1}}", "[{\"a\": 1, \"b\": 1}]", true);
    assert_match("{\"contains\": 1}", "1", false);
    assert_match("{\"matches\": \"^a.c$\"}", "\"abc\"", true);
    assert_match("{\"matches\": \"^a.c$\"}", "\"abcd\"", false);
    assert_match("{\"matches\": \"^12\"}", "123", true);
    assert_match("{\"matches\": \".\"}", "[1]", false);
    assert_match("{\"absent\": true}", NULL, true);
    assert_match("{\"absent\": true}", "null", false);
    assert_match("{\"absent\": false}", NULL, false);
    assert_match("{\"absent\": false}", "1", true);
    assert_match("{\"count\": 2}", "[1, 1]", true);
    assert_match("{\"count\": 1}", "{}", false);
    assert_match("{\"contains\": \"b\", \"matches\": \"^b\"}", "\"ab\"", false);
}

/* ---- words ---- */

static void assert_field(const char *text, int field, const char *key)
{
    const char *found, *meant;
    assert_int_equal(field_key_parse(text, &found, &meant), field);
    assert_string_equal(found, key);
}

static void test_fields(void **state)
{
    const char *key, *meant;
    (void)state;
    assert_field("env PATH", NRI_FIELD_ENV, "PATH");
    assert_field("Env A B", NRI_FIELD_ENV, "A B");
    assert_field("CPUShares", NRI_FIELD_CPU_SHARES, "");
    assert_field("cpu_shares", NRI_FIELD_CPU_SHARES, "");
    assert_field("annotation a.b/c", NRI_FIELD_ANNOTATIONS, "a.b/c");
    assert_field("mount /data", NRI_FIELD_MOUNTS, "/data");
    assert_int_equal(field_key_parse("cpushare", &key, &meant), 0);
    assert_string_equal(meant, "CPUShares");
    assert_int_equal(field_key_parse("weather", &key, &meant), 0);
    assert_null(meant);
}

static void test_near_words(void **state)
{
    struct near near;
    (void)state;
    assert_int_equal(near_distance("abc", "abc"), 0);
    assert_int_equal(near_distance("abc", "acb"), 1);
    assert_int_equal(near_distance("abc", "abd"), 1);
    assert_int_equal(near_distance("", "abc"), 3);
    assert_int_equal(near_distance("A-b_c", "aBC"), 0);
    near_begin(&near, "craete");
    near_offer(&near, "remove");
    near_offer(&near, "create");
    assert_string_equal(near_end(&near), "create");
    near_begin(&near, "weather");
    near_offer(&near, "create");
    assert_null(near_end(&near));
    near_begin(&near, "x");
    assert_null(near_end(&near));
}

static void test_times(void **state)
{
    static const char *const wrong[] = {
        "", "5", "5x", "s", "5 s", "-5s", "1s2", "1ms2x", "9999999999999s", "1.5s"};
    uint64_t ms = 0;
    (void)state;
    assert_true(form_time("250ms", &ms));
    assert_int_equal(ms, 250);
    assert_true(form_time("1m30s", &ms));
    assert_int_equal(ms, 90000);
    assert_true(form_time("1h", &ms));
    assert_int_equal(ms, 3600000);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        if (form_time(wrong[i], &ms))
            fail_msg("\"%s\" is a time", wrong[i]);
    }
}

static void test_command_lines(void **state)
{
    static const char text[] = "  a 'b  c'\"d\"  \\' \"x\\\"y\" '\\'\t'' ";
    static const char *const words[] = {"a", "b  cd", "'", "x\"y", "\\", ""};
    struct nri_arena arena;
    const char *why;
    (void)state;
    memory_arena(&arena, SIZE_MAX);
    const char **split = command_line_split(&arena, text, &why);
    assert_non_null(split);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_string_equal(split[i], words[i]);
    assert_null(split[sizeof words / sizeof *words]);
    assert_null(command_line_split(&arena, "a 'b", &why));
    assert_string_equal(why, "a quote does not end");
    assert_null(command_line_split(&arena, "  ", &why));
    assert_string_equal(why, "it is empty");
    assert_string_equal(command_line_replace(&arena, "{d}/a{d}{d", "{d}", "xyz"), "xyz/axyz{d");
    assert_string_equal(command_line_replace(&arena, "a", "{d}", "xyz"), "a");
    nri_arena_fini(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_and_pointers),
        cmocka_unit_test(test_paths_that_are_none),
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_near_words),
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_command_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
