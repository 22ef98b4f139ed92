/* SPDX-License-Identifier: Apache-2.0 */
/* YAML as a document: what scalars are, where values stand, what is refused and where. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "yaml_read.h"

struct read {
    struct nri_arena arena;
    struct nri_json *document;
    struct nri_error error;
    int code;
};

static void read_limited(struct read *read, const char *text, size_t length,
                         const struct nri_json_limits *limits)
{
    memset(read, 0, sizeof *read);
    memory_arena(&read->arena, (size_t)64 << 20);
    read->code = yaml_read(&read->arena, text, length, limits, "f", &read->document, &read->error);
}

static void read_text(struct read *read, const char *text)
{
    read_limited(read, text, strlen(text), NULL);
}

/* The document as compact JSON. */
static void assert_json(const char *text, const char *json)
{
    struct read read;
    struct nri_buf out;
    read_text(&read, text);
    if (read.code != 0)
        fail_msg("%s: %s", text, read.error.text);
    memory_buf(&out, SIZE_MAX);
    assert_int_equal(nri_json_write(read.document, 0, &out), 0);
    assert_int_equal(nri_buf_append(&out, "", 1), 0);
    assert_string_equal(memory_text(&out), json);
    nri_buf_fini(&out);
    nri_arena_fini(&read.arena);
}

static void assert_refused(const char *text, int code, const char *says)
{
    struct read read;
    read_text(&read, text);
    if (strncmp(read.error.text, says, strlen(says)) != 0)
        fail_msg("%s\nis: %s\nnot: %s", text, read.error.text, says);
    assert_int_equal(read.code, code);
    nri_arena_fini(&read.arena);
}

static void test_scalars_of_the_core_schema(void **state)
{
    (void)state;
    assert_json("[~, null, Null, NULL, ]", "[null,null,null,null]");
    assert_json("a:\nb: ~x\n", "{\"a\":null,\"b\":\"~x\"}");
    assert_json("[true, True, TRUE, false, False, FALSE]", "[true,true,true,false,false,false]");
    assert_json("[yes, no, on, off, y, tRue]", "[\"yes\",\"no\",\"on\",\"off\",\"y\",\"tRue\"]");
    assert_json("[0, -0, +5, 007, -12, 18446744073709551616]",
                "[0,-0,5,7,-12,18446744073709551616]");
    assert_json("[0o17, 0x1F, 0xffffffffffffffff, 0x, 0o8, -0x1]",
                "[15,31,18446744073709551615,\"0x\",\"0o8\",\"-0x1\"]");
    assert_json("[1.5, .5, 5., -1e3, 1E+2, 1.e-2, ., 1e, e1, 1_000, 1:30]",
                "[1.5,0.5,5,-1e3,1e2,1e-2,\".\",\"1e\",\"e1\",\"1_000\",\"1:30\"]");
    assert_json("['1', \"true\", !!str 1, ! 2, \"\"]", "[\"1\",\"true\",\"1\",\"2\",\"\"]");
    assert_json("|\n a\n b\n", "\"a\\nb\\n\"");
}

static void test_keys_are_texts_whatever_they_look_like(void **state)
{
    (void)state;
    assert_json("{1: a, true: b, ~: c, \"<<\": d}",
                "{\"1\":\"a\",\"true\":\"b\",\"~\":\"c\",\"<<\":\"d\"}");
}

static void test_order_and_nesting_stay(void **state)
{
    (void)state;
    assert_json("b: [1, {c: 2}]\na:\n  - x\n  - y: z\n",
                "{\"b\":[1,{\"c\":2}],\"a\":[\"x\",{\"y\":\"z\"}]}");
}

/* Places are lines and bytes, though libyaml counts characters. */
static void test_places(void **state)
{
    struct read read;
    (void)state;
    read_text(&read,
              "a: 1\r\nb:\r\n  - \xc3\xa4\n  - {\xc3\xa4\xe2\x82\xac: \xf0\x9f\x98\x80, k: v}\n");
    assert_int_equal(read.code, 0);
    const struct nri_json *list = nri_json_get(read.document, "b");
    assert_int_equal(nri_json_key_line(list), 2);
    assert_int_equal(nri_json_key_column(list), 1);
    assert_int_equal(nri_json_line(list), 3);
    assert_int_equal(nri_json_column(list), 3);
    const struct nri_json *object = nri_json_at(list, 1);
    assert_int_equal(nri_json_line(object), 4);
    assert_int_equal(nri_json_column(object), 5);
    const struct nri_json *value = nri_json_get(object, "k");
    assert_int_equal(nri_json_key_line(value), 4);
    assert_int_equal(nri_json_key_column(value), 19);
    assert_int_equal(nri_json_column(value), 22);
    nri_arena_fini(&read.arena);
}

static void test_what_json_cannot_say_is_refused(void **state)
{
    (void)state;
    assert_refused("a: &x 1\nb: 2\n", NRI_E_SYNTAX, "f:1:4: anchors (&x)");
    assert_refused("a: 1\nb: *x\n", NRI_E_SYNTAX, "f:2:4: aliases (*x)");
    assert_refused("a: &x [1]\n", NRI_E_SYNTAX, "f:1:4: anchors (&x)");
    assert_refused("a:\n  <<: {b: 1}\n", NRI_E_SYNTAX, "f:2:3: merge keys");
    assert_refused("a: !!int 1\n", NRI_E_SYNTAX, "f:1:4: the tag tag:yaml.org,2002:int");
    assert_refused("a: !!str [1]\n", NRI_E_SYNTAX, "f:1:4: the tag");
    assert_refused("a: !x {b: 1}\n", NRI_E_SYNTAX, "f:1:4: the tag !x");
    assert_refused("? [a]\n: b\n", NRI_E_SYNTAX, "f:1:3: a key is a text, not a list");
    assert_refused("? {a: b}\n: b\n", NRI_E_SYNTAX, "f:1:3: a key is a text, not an object");
    assert_refused("[.inf]\n", NRI_E_RANGE, "f:1:2: .inf: infinities");
    assert_refused("[-.Inf, .nan]\n", NRI_E_RANGE, "f:1:2: -.Inf: ");
    assert_refused("[0x10000000000000000]\n", NRI_E_RANGE, "f:1:2: 0x10000000000000000: ");
    assert_refused("a: 1\nb: 2\na: 3\n", NRI_E_SYNTAX,
                   "f:3:1: the key \"a\" is there already, in line 1");
    assert_refused("a: 1\n---\nb: 1\n", NRI_E_SYNTAX, "f:2:1: a second document");
    assert_refused("", NRI_E_SYNTAX, "f:1:1: the file has nothing in it");
    assert_refused("# nothing\n", NRI_E_SYNTAX, "f:1:1: the file has nothing in it");
    assert_refused("a: \"x\\0y\"\n", NRI_E_UTF8, "f:1:4: a text may not hold a NUL");
    assert_refused("\"x\\0y\": 1\n", NRI_E_UTF8, "f:1:1: a key may not hold a NUL");
}

static void test_syntax_is_refused_with_its_place(void **state)
{
    (void)state;
    assert_refused("a: [1, 2\nb: 3\n", NRI_E_SYNTAX, "f:2:2: did not find expected ',' or ']'");
    assert_refused("a: 1\n  b: 2\n", NRI_E_SYNTAX, "f:2:4: mapping values are not allowed");
    assert_refused("a:\n\t- b\n", NRI_E_SYNTAX,
                   "f:2:1: found character that cannot start any token");
    assert_refused("a: 'x\n", NRI_E_SYNTAX, "f:2:1: found unexpected end of stream");
    assert_refused("a: \xff\n", NRI_E_UTF8, "f: byte 4: ");
}

static void test_limits(void **state)
{
    struct read read;
    char deep[200];
    const struct nri_json_limits few = {.max_values = 3}, shallow = {.max_depth = 2},
                                 small = {.max_bytes = 8};
    (void)state;
    read_limited(&read, "[1, 2]", 6, &few);
    assert_int_equal(read.code, 0);
    nri_arena_fini(&read.arena);
    read_limited(&read, "[1, 2, 3]", 9, &few);
    assert_int_equal(read.code, NRI_E_LIMIT);
    assert_string_equal(read.error.text, "f:1:8: more values than the limit of 3");
    nri_arena_fini(&read.arena);
    read_limited(&read, "[[1]]", 5, &shallow);
    assert_int_equal(read.code, 0);
    nri_arena_fini(&read.arena);
    read_limited(&read, "[[[]]]", 6, &shallow);
    assert_int_equal(read.code, NRI_E_LIMIT);
    nri_arena_fini(&read.arena);
    read_limited(&read, "[1, 2, 3]", 9, &small);
    assert_int_equal(read.code, NRI_E_LIMIT);
    nri_arena_fini(&read.arena);
    memset(deep, '[', 65);
    memset(deep + 65, ']', 65);
    read_limited(&read, deep, 130, NULL);
    assert_int_equal(read.code, NRI_E_LIMIT);
    nri_arena_fini(&read.arena);
    read_limited(&read, deep + 1, 128, NULL);
    assert_int_equal(read.code, 0);
    nri_arena_fini(&read.arena);
}

/* Whatever memory there is, it is a document or a refusal that says so. */
static void test_little_memory(void **state)
{
    static const char text[] = "a: [1, true, ~, {b: c}]\nd: \"text\"\n";
    bool whole = false;
    (void)state;
    for (size_t limit = 0; limit < 20000; limit += 64) {
        struct read read;
        memset(&read, 0, sizeof read);
        memory_arena(&read.arena, limit);
        read.code =
            yaml_read(&read.arena, text, strlen(text), NULL, "f", &read.document, &read.error);
        assert_true(read.code == 0 || read.code == NRI_E_LIMIT);
        whole = whole || read.code == 0;
        nri_arena_fini(&read.arena);
    }
    assert_true(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_scalars_of_the_core_schema),
        cmocka_unit_test(test_keys_are_texts_whatever_they_look_like),
        cmocka_unit_test(test_order_and_nesting_stay),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_what_json_cannot_say_is_refused),
        cmocka_unit_test(test_syntax_is_refused_with_its_place),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_little_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
