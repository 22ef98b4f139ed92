/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

static struct nri_json_limits limits_of(size_t depth, size_t bytes, size_t values)
{
    return (struct nri_json_limits){
        .max_depth = depth, .max_bytes = bytes, .max_values = values, .seed = {3, 4}};
}

static int parse_limited(struct fixture *f, const char *text, size_t length,
                         const struct nri_json_limits *limits)
{
    struct nri_json *document;
    nri_error_clear(&f->error);
    int rc = nri_json_parse(&f->arena, text, length, limits, "t", &document, &f->error);
    assert_int_equal(document == NULL, rc != 0);
    return rc;
}

static void test_depth(void **state)
{
    (void)state;
    char text[400];
    struct fixture f;
    start(&f);
    for (size_t depth = 1; depth <= 130; depth++) {
        for (size_t limit = depth - 1; limit <= depth; limit++) {
            memset(text, '[', depth);
            memset(text + depth, ']', depth);
            struct nri_json_limits limits = limits_of(limit, 0, 0);
            int rc = parse_limited(&f, text, 2 * depth, &limits);
            size_t holds = limit == 0 ? 64 : limit; /* 0 is the default */
            assert_int_equal(rc, depth > holds ? NRI_E_LIMIT : 0);
            if (rc != 0) {
                char says[80];
                snprintf(says, sizeof says, "t:1:%zu: nested deeper than the limit of %zu",
                         holds + 1, holds);
                assert_string_equal(f.error.text, says);
            }
        }
    }
    end(&f);
}

/* A mass of brackets is refused when the limit is reached, not after all of them. */
static void test_depth_bomb(void **state)
{
    (void)state;
    enum { LENGTH = 300000 };
    static const char *const pieces[] = {"[", "{\"a\":", "[{\"\":"};
    struct fixture f;
    start(&f);
    char *text = malloc(LENGTH);
    assert_non_null(text);
    for (size_t i = 0; i < 3; i++) {
        size_t size = strlen(pieces[i]);
        for (size_t at = 0; at < LENGTH; at++)
            text[at] = pieces[i][at % size];
        size_t before = f.fa.peak_bytes;
        assert_int_equal(parse_limited(&f, text, LENGTH, NULL), NRI_E_LIMIT);
        assert_non_null(strstr(f.error.text, "deeper than the limit of 64"));
        assert_true(f.fa.peak_bytes - before < 65536);
        nri_arena_reset(&f.arena);
    }
    /* With a limit that allows them they are a document, and neither reading nor writing recurs. */
    struct nri_json_limits limits = limits_of(LENGTH, 0, 0);
    struct nri_json *document;
    memset(text, '[', LENGTH / 2);
    memset(text + LENGTH / 2, ']', LENGTH / 2);
    assert_int_equal(nri_json_parse(&f.arena, text, LENGTH, &limits, NULL, &document, &f.error), 0);
    assert_int_equal(nri_json_write(document, 0, &f.out), 0);
    assert_int_equal(nri_buf_size(&f.out), LENGTH);
    assert_memory_equal(f.out.data + f.out.start, text, LENGTH);
    free(text);
    end(&f);
}

static void test_bytes(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    struct nri_json_limits limits = limits_of(0, 5, 0);
    assert_int_equal(parse_limited(&f, "[1,2]", 5, &limits), 0);
    assert_int_equal(parse_limited(&f, "[1,2] ", 6, &limits), NRI_E_LIMIT);
    assert_string_equal(f.error.text, "t: 6 bytes are more than the limit of 5");
    size_t length = 16u * 1024 * 1024;
    char *text = malloc(length + 1);
    assert_non_null(text);
    memset(text, ' ', length + 1);
    text[0] = '1';
    assert_int_equal(parse_limited(&f, text, length, NULL), 0);
    assert_int_equal(parse_limited(&f, text, length + 1, NULL), NRI_E_LIMIT);
    free(text);
    end(&f);
}

static void test_values(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    struct nri_json_limits limits = limits_of(0, 0, 3);
    assert_int_equal(parse_limited(&f, "[1,2]", 5, &limits), 0);
    assert_int_equal(parse_limited(&f, "{\"a\":{\"b\":1}}", 13, &limits), 0);
    assert_int_equal(parse_limited(&f, "[1,2,\n3]", 8, &limits), NRI_E_LIMIT);
    assert_string_equal(f.error.text, "t:2:1: more values than the limit of 3");
    assert_int_equal(parse_limited(&f, "[[],[],[]]", 10, &limits), NRI_E_LIMIT);
    /* The default is a million: the array itself and 999999 elements. */
    size_t length = 2 * 1000000;
    char *text = malloc(length + 1);
    assert_non_null(text);
    for (size_t i = 0; i < length; i += 2)
        memcpy(text + i, "1,", 2);
    text[0] = '[';
    text[1] = ' ';
    text[length - 1] = ']';
    assert_int_equal(parse_limited(&f, text, length, NULL), 0);
    /* One more element, and no blank. */
    for (size_t i = 1; i < length; i += 2)
        memcpy(text + i, "1,", 2);
    text[length] = ']';
    text[length - 1] = '1';
    assert_int_equal(parse_limited(&f, text, length + 1, NULL), NRI_E_LIMIT);
    assert_non_null(strstr(f.error.text, "1000000"));
    free(text);
    end(&f);
}

/* The document's memory is the arena's, and its limit is a limit of the document. */
static void test_arena_limit(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\":[1,2,3,{\"b\":\"a text of some length\"}],\"c\":\"another text\"}";
    for (size_t limit = 0;; limit += 16) {
        struct fixture f;
        start(&f);
        f.arena.limit = limit;
        int rc = parse_limited(&f, text, sizeof text - 1, NULL);
        if (rc != 0) {
            assert_int_equal(rc, NRI_E_LIMIT);
            assert_memory_equal(f.error.text, "t:1:", 4);
            assert_non_null(strstr(f.error.text, "more memory than its limit of"));
        }
        end(&f);
        if (rc == 0) {
            assert_in_range(limit, 300, 3000);
            break;
        }
    }
}

/*
 * What the working memory of a parse may be at most: a long string with escapes is the worst,
 * because yajl grows a buffer for it by doubling.
 */
static void test_working_memory(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 20 };
    struct fixture f;
    start(&f);
    char *text = malloc(LENGTH);
    assert_non_null(text);
    memset(text, 'x', LENGTH);
    memcpy(text, "\"\\n", 3);
    text[LENGTH - 1] = '"';
    assert_int_equal(parse_limited(&f, text, LENGTH, NULL), 0);
    assert_true(f.fa.peak_bytes < 5 * LENGTH);
    assert_true(f.fa.live_bytes < LENGTH + 8192); /* only the document stays */
    free(text);
    end(&f);
}

/* The time for an object is linear in its members, whatever their keys: a quadratic search of so
 * many would not end. */
static void test_many_keys(void **state)
{
    (void)state;
    enum { KEYS = 400000 };
    struct fixture f;
    start(&f);
    char *text = malloc(KEYS * 12 + 100);
    assert_non_null(text);
    size_t length = 0;
    for (size_t i = 0; i < KEYS; i++)
        length += (size_t)sprintf(text + length, "%c\"%zx\":1", i == 0 ? '{' : ',', i);
    memcpy(text + length, "}", 1);
    assert_int_equal(parse_limited(&f, text, length + 1, NULL), 0);
    size_t column = length + 2;
    length += (size_t)sprintf(text + length, ",\"0\":1}");
    assert_int_equal(parse_limited(&f, text, length, NULL), NRI_E_SYNTAX);
    char says[80];
    snprintf(says, sizeof says, "t:1:%zu: the key \"0\" is in this object already", column);
    assert_string_equal(f.error.text, says);
    free(text);
    end(&f);
}

static void test_long_duplicate_key_is_cut(void **state)
{
    (void)state;
    struct fixture f;
    char text[1000], *at = text;
    start(&f);
    for (int i = 0; i < 2; i++) {
        *at++ = i == 0 ? '{' : ',';
        *at++ = '"';
        *at++ = 'k';
        for (int k = 0; k < 100; k++, at += 2)
            memcpy(at, "\xC3\xA9", 2);
        memcpy(at, "\":1", 3);
        at += 3;
    }
    *at++ = '}';
    assert_int_equal(parse_limited(&f, text, (size_t)(at - text), NULL), NRI_E_SYNTAX);
    assert_true(strlen(f.error.text) < 200);
    assert_null(strchr(f.error.text, '?'));
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_depth),       cmocka_unit_test(test_depth_bomb),
        cmocka_unit_test(test_bytes),       cmocka_unit_test(test_values),
        cmocka_unit_test(test_arena_limit), cmocka_unit_test(test_working_memory),
        cmocka_unit_test(test_many_keys),   cmocka_unit_test(test_long_duplicate_key_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
