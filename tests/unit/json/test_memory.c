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

/* Deep enough for the second allocation of the parser's stacks, with strings that make yajl
 * allocate, and a large object. */
static char *make_text(void)
{
    char *text = malloc(16384), *at = text;
    assert_non_null(text);
    at += sprintf(at, "{\"escapes\":\"");
    for (int i = 0; i < 1000; i++)
        at += sprintf(at, "\\n\\u00e9");
    at += sprintf(at, "\",\"deep\":");
    for (int i = 0; i < 40; i++)
        at += sprintf(at, "[%d,", i);
    at += sprintf(at, "null");
    for (int i = 0; i < 40; i++)
        at += sprintf(at, "]");
    for (int i = 0; i < 60; i++)
        at += sprintf(at, ",\"key%d\":%d", i, i);
    sprintf(at, "}");
    return text;
}

static void test_parse(void **state)
{
    (void)state;
    char *text = make_text();
    size_t n = 0;
    bool fired;
    do {
        struct fixture f;
        start(&f);
        fail_alloc_arm(&f.fa, ++n);
        int rc = parse(&f, text, strlen(text));
        fired = f.fa.fired;
        assert_int_equal(rc, fired ? NRI_E_NOMEM : 0);
        if (fired)
            assert_non_null(strstr(f.error.text, "out of memory"));
        fail_alloc_arm(&f.fa, 0);
        assert_string_equal(written(&f, must_parse(&f, text), 0),
                            written(&f, must_parse(&f, text), 0));
        end(&f);
    } while (fired);
    print_message("%zu allocations failed, one a run\n", n - 1);
    assert_true(n > 15); /* yajl's handle, lexer, stack and buffers, ours, and the arena's chunks */
    free(text);
}

/* A text with a fault: yajl's own message is allocated too. */
static void test_parse_of_a_fault(void **state)
{
    (void)state;
    static const char text[] = "[1,\"\\n\",x]";
    size_t n = 0;
    bool fired;
    do {
        struct fixture f;
        start(&f);
        fail_alloc_arm(&f.fa, ++n);
        int rc = parse(&f, text, sizeof text - 1);
        fired = f.fa.fired;
        assert_int_equal(rc, fired ? NRI_E_NOMEM : NRI_E_SYNTAX);
        end(&f);
    } while (fired);
    assert_true(n > 6);
}

static int build(struct nri_arena *arena)
{
    char key[16];
    struct nri_json *array = nri_json_new(arena, NRI_JSON_ARRAY),
                    *object = nri_json_new(arena, NRI_JSON_OBJECT);
    int rc = 0;
    for (int i = 0; rc == 0 && i < 100; i++) {
        snprintf(key, sizeof key, "key%d", i);
        rc = nri_json_set(arena, object, key, nri_json_new_string(arena, key, strlen(key)));
        if (rc == 0)
            rc = nri_json_append(arena, array, nri_json_new_int64(arena, i));
        if (rc == 0)
            rc = nri_json_append(arena, array, nri_json_new_bool(arena, true));
    }
    /* Whatever failed, what is there can be read. */
    for (size_t i = 0; object != NULL && i < nri_json_count(object); i++) {
        const char *name;
        struct nri_json *value = nri_json_member_at(object, i, &name, NULL);
        assert_ptr_equal(nri_json_get(object, name), value);
        assert_string_equal(nri_json_string(value, NULL), name);
    }
    return rc;
}

static void test_build(void **state)
{
    (void)state;
    size_t n = 0;
    bool fired;
    do {
        struct fixture f;
        start(&f);
        nri_arena_init(&f.arena, &f.alloc, 64, SIZE_MAX); /* small chunks: more places to fail at */
        fail_alloc_arm(&f.fa, ++n);
        int rc = build(&f.arena);
        fired = f.fa.fired;
        if (rc != (fired ? NRI_E_NOMEM : 0))
            fail_msg("allocation %zu: %s", n, nri_error_name(rc));
        end(&f);
    } while (fired);
    assert_true(n > 5);
    /* Small limits reach the same places, and more of them. */
    for (size_t limit = 64; limit < 40000; limit += 48) {
        struct fixture f;
        start(&f);
        nri_arena_init(&f.arena, &f.alloc, 64, limit);
        int rc = build(&f.arena);
        assert_true(rc == 0 || rc == NRI_E_LIMIT);
        end(&f);
    }
}

static void test_write(void **state)
{
    (void)state;
    char *text = make_text();
    size_t n = 0;
    bool fired;
    do {
        struct fixture f;
        start(&f);
        struct nri_json *document = must_parse(&f, text);
        fail_alloc_arm(&f.fa, ++n);
        int rc = nri_json_write(document, 2, &f.out);
        fired = f.fa.fired;
        assert_int_equal(rc, fired ? NRI_E_NOMEM : 0);
        assert_int_equal(nri_buf_size(&f.out) == 0, fired);
        end(&f);
    } while (fired);
    assert_true(n > 4); /* two for the way back up, and the buffer's growth */
    free(text);
}

static void test_writer(void **state)
{
    (void)state;
    size_t n = 0;
    bool fired;
    do {
        struct fixture f;
        struct nri_json_writer w;
        start(&f);
        fail_alloc_arm(&f.fa, ++n);
        nri_json_writer_init(&w, &f.out, 1);
        nri_json_begin_array(&w);
        for (int i = 0; i < 2000; i++)
            nri_json_write_int64(&w, i);
        nri_json_end_array(&w);
        fired = f.fa.fired;
        assert_int_equal(nri_json_writer_end(&w), fired ? NRI_E_NOMEM : 0);
        end(&f);
    } while (fired);
    assert_true(n > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parse),  cmocka_unit_test(test_parse_of_a_fault),
        cmocka_unit_test(test_build),  cmocka_unit_test(test_write),
        cmocka_unit_test(test_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
