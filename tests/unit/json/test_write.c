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

/* ---- documents ---- */

static void test_indent(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    struct nri_json *document = must_parse(&f, "{\"a\":[1,[],{}],\"b\":{\"c\":\"x\"}}");
    assert_string_equal(written(&f, document, 2), "{\n"
                                                  "  \"a\": [\n"
                                                  "    1,\n"
                                                  "    [],\n"
                                                  "    {}\n"
                                                  "  ],\n"
                                                  "  \"b\": {\n"
                                                  "    \"c\": \"x\"\n"
                                                  "  }\n"
                                                  "}");
    assert_string_equal(written(&f, NULL, 2), "null");
    assert_string_equal(written(&f, must_parse(&f, " 1 "), 4), "1");
    end(&f);
}

static void test_every_character(void **state)
{
    (void)state;
    struct fixture f;
    char text[128];
    start(&f);
    for (int i = 1; i < 128; i++)
        text[i - 1] = (char)i;
    struct nri_json *string = nri_json_new_string(&f.arena, text, 127);
    struct nri_json *again = must_parse(&f, written(&f, string, 0));
    size_t length;
    assert_memory_equal(nri_json_string(again, &length), text, 127);
    assert_int_equal(length, 127);
    end(&f);
}

static void test_failure_leaves_the_output_as_it_was(void **state)
{
    (void)state;
    static const char text[] = "[[\"a\",{\"b\":[1,2,3]}],null]";
    for (size_t limit = 0;; limit++) {
        struct fixture f;
        start(&f);
        nri_buf_init(&f.out, &f.alloc, 4 + limit);
        assert_int_equal(nri_buf_append(&f.out, "keep", 4), 0);
        int rc = nri_json_write(must_parse(&f, text), 0, &f.out);
        assert_int_equal(rc, limit < sizeof text - 1 ? NRI_E_LIMIT : 0);
        assert_int_equal(nri_buf_size(&f.out), rc == 0 ? 4 + sizeof text - 1 : 4);
        assert_memory_equal(f.out.data + f.out.start, "keep", 4);
        end(&f);
        if (rc == 0)
            break;
    }
}

static void test_huge_indent(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    assert_int_equal(nri_json_write(must_parse(&f, "[[1]]"), UINT32_MAX, &f.out), NRI_E_LIMIT);
    assert_int_equal(nri_buf_size(&f.out), 0);
    end(&f);
}

/* ---- the writer ---- */

static const char *text_of(struct fixture *f)
{
    assert_int_equal(nri_buf_append(&f->out, "", 1), 0);
    return (const char *)f->out.data + f->out.start;
}

static void write_sample(struct nri_json_writer *w)
{
    nri_json_begin_object(w);
    nri_json_write_key(w, "a\n", 2);
    nri_json_write_string(w, "\"\xC3\xA9", 3);
    nri_json_write_key(w, "list", 4);
    nri_json_begin_array(w);
    nri_json_write_int64(w, INT64_MIN);
    nri_json_write_uint64(w, UINT64_MAX);
    nri_json_write_bool(w, true);
    nri_json_write_bool(w, false);
    nri_json_write_null(w);
    nri_json_begin_array(w);
    nri_json_end_array(w);
    nri_json_begin_object(w);
    nri_json_end_object(w);
    nri_json_end_array(w);
    nri_json_write_key(w, "", 0);
    nri_json_write_string(w, NULL, 0);
    nri_json_end_object(w);
}

/* The two writers write the same. */
static void test_writer(void **state)
{
    (void)state;
    static const unsigned indents[] = {0, 1, 2, 4};
    for (size_t i = 0; i < 4; i++) {
        struct fixture f;
        struct nri_json_writer w;
        start(&f);
        nri_json_writer_init(&w, &f.out, indents[i]);
        write_sample(&w);
        assert_int_equal(nri_json_writer_end(&w), 0);
        char *text = strdup(text_of(&f));
        if (indents[i] == 0)
            assert_string_equal(text, "{\"a\\n\":\"\\\"\xC3\xA9\",\"list\":[-9223372036854775808,"
                                      "18446744073709551615,true,false,null,[],{}],\"\":\"\"}");
        assert_string_equal(written(&f, must_parse(&f, text), indents[i]), text);
        free(text);
        end(&f);
    }
}

static void test_writer_single_values(void **state)
{
    (void)state;
    struct fixture f;
    struct nri_json_writer w;
    start(&f);
    nri_json_writer_init(&w, &f.out, 2);
    nri_json_write_string(&w, "a\0b",
                          3); /* a NUL is no UTF-8 fault here: it is written as an escape */
    assert_int_equal(nri_json_writer_end(&w), 0);
    assert_string_equal(text_of(&f), "\"a\\u0000b\"");
    end(&f);
}

static void test_writer_depth(void **state)
{
    (void)state;
    for (unsigned depth = 63; depth <= 65; depth++) {
        struct fixture f;
        struct nri_json_writer w;
        start(&f);
        nri_json_writer_init(&w, &f.out, 0);
        for (unsigned i = 0; i < depth; i++) {
            if (i % 2 == 1)
                nri_json_write_key(&w, "k", 1);
            if (i % 2 == 1)
                nri_json_begin_array(&w);
            else
                nri_json_begin_object(&w);
            if (i % 2 == 1)
                nri_json_write_null(&w);
        }
        for (unsigned i = depth; i-- > 0;) {
            if (i % 2 == 1)
                nri_json_end_array(&w);
            else
                nri_json_end_object(&w);
        }
        /* In an array the next object follows the null, in an object the next array its key. */
        assert_int_equal(nri_json_writer_end(&w), depth > 64 ? NRI_E_LIMIT : 0);
        if (depth <= 64)
            must_parse(&f, text_of(&f));
        end(&f);
    }
}

/* Each line is a call order that makes no JSON: [ ] { } k(ey) n(ull). */
static void test_writer_misuse(void **state)
{
    (void)state;
    static const char *const orders[] = {"",     "[",  "{",  "[n", "nn",  "[]n", "[]]",
                                         "]",    "}",  "k",  "{n", "{k",  "{k}", "{kk",
                                         "{knn", "[k", "[}", "{]", "{k]", "[[]", "{k[}"};
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        struct fixture f;
        struct nri_json_writer w;
        start(&f);
        nri_json_writer_init(&w, &f.out, 0);
        for (const char *next = orders[i]; *next != '\0'; next++) {
            if (*next == '[')
                nri_json_begin_array(&w);
            else if (*next == ']')
                nri_json_end_array(&w);
            else if (*next == '{')
                nri_json_begin_object(&w);
            else if (*next == '}')
                nri_json_end_object(&w);
            else if (*next == 'k')
                nri_json_write_key(&w, "k", 1);
            else
                nri_json_write_null(&w);
        }
        if (nri_json_writer_end(&w) != NRI_E_STATE)
            fail_msg("\"%s\" was accepted", orders[i]);
        end(&f);
    }
}

static void test_writer_first_failure_sticks(void **state)
{
    (void)state;
    struct fixture f;
    struct nri_json_writer w;
    start(&f);
    nri_json_writer_init(&w, &f.out, 0);
    nri_json_begin_array(&w);
    nri_json_write_string(&w, "\xFF", 1);
    nri_json_write_key(&w, "k", 1); /* misuse too, but later */
    nri_json_end_array(&w);
    assert_int_equal(nri_json_writer_end(&w), NRI_E_UTF8);
    end(&f);
    start(&f);
    nri_buf_init(&f.out, &f.alloc, 20);
    nri_json_writer_init(&w, &f.out, 0);
    write_sample(&w);
    assert_int_equal(nri_json_writer_end(&w), NRI_E_LIMIT);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indent),
        cmocka_unit_test(test_every_character),
        cmocka_unit_test(test_failure_leaves_the_output_as_it_was),
        cmocka_unit_test(test_huge_indent),
        cmocka_unit_test(test_writer),
        cmocka_unit_test(test_writer_single_values),
        cmocka_unit_test(test_writer_depth),
        cmocka_unit_test(test_writer_misuse),
        cmocka_unit_test(test_writer_first_failure_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
