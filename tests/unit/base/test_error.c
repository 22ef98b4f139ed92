/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "base/text.h"
#include "fail_alloc.h"

static void test_codes(void **state)
{
    (void)state;
    for (int code = 0; code >= NRI_E_BUSY; code--) {
        assert_memory_equal(nri_error_name(code), code == 0 ? "NRI_OK" : "NRI_E_", 6);
        assert_string_not_equal(nri_error_name(code), "NRI_E_?");
        assert_string_not_equal(nri_strerror(code), "unknown error");
        for (int other = 0; other > code; other--) {
            assert_string_not_equal(nri_error_name(code), nri_error_name(other));
            assert_string_not_equal(nri_strerror(code), nri_strerror(other));
        }
        int grpc = nri_error_grpc(code);
        /* These would make a runtime repeat the event, or take the connection for lost. */
        assert_true(grpc != NRI_GRPC_UNIMPLEMENTED && grpc != NRI_GRPC_UNAVAILABLE &&
                    grpc != NRI_GRPC_DEADLINE_EXCEEDED);
        assert_int_equal(grpc == 0, code == 0);
    }
    assert_string_equal(nri_error_name(NRI_E_TIMEOUT), "NRI_E_TIMEOUT");
    assert_string_equal(nri_strerror(NRI_E_CLOSED), "connection closed");
    static const int unknown[] = {1, 1000, NRI_E_BUSY - 1, INT32_MIN, INT32_MAX};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        assert_string_equal(nri_error_name(unknown[i]), "NRI_E_?");
        assert_string_equal(nri_strerror(unknown[i]), "unknown error");
        assert_false(nri_error_is_fatal(unknown[i]));
        assert_false(nri_error_is_retriable(unknown[i]));
        assert_int_equal(nri_error_grpc(unknown[i]), NRI_GRPC_UNKNOWN);
    }
}

static void test_traits(void **state)
{
    (void)state;
    assert_true(nri_error_is_fatal(NRI_E_CLOSED) && nri_error_is_retriable(NRI_E_CLOSED));
    assert_true(nri_error_is_fatal(NRI_E_PROTOCOL) && !nri_error_is_retriable(NRI_E_PROTOCOL));
    assert_true(!nri_error_is_fatal(NRI_E_BUSY) && nri_error_is_retriable(NRI_E_BUSY));
    assert_true(!nri_error_is_fatal(NRI_E_INVALID) && !nri_error_is_retriable(NRI_E_INVALID));
    assert_true(!nri_error_is_fatal(NRI_OK) && !nri_error_is_retriable(NRI_OK));
}

static void test_from_grpc(void **state)
{
    (void)state;
    assert_int_equal(nri_error_from_grpc(0), NRI_OK);
    assert_int_equal(nri_error_from_grpc(4), NRI_E_TIMEOUT);
    assert_int_equal(nri_error_from_grpc(8), NRI_E_LIMIT);
    assert_int_equal(nri_error_from_grpc(12), NRI_E_UNSUPPORTED);
    static const int others[] = {1, 2, 3, 5, 13, 14, 16, 17, -1, INT32_MAX, INT32_MIN};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_int_equal(nri_error_from_grpc(others[i]), NRI_E_REJECTED);
}

static void test_set_and_prefix(void **state)
{
    (void)state;
    struct nri_error error = {0};
    assert_int_equal(nri_error_set(&error, NRI_E_RANGE, "mount %d: %s", 3, "bad"), NRI_E_RANGE);
    assert_string_equal(error.text, "mount 3: bad");
    assert_int_equal(nri_error_prefix(&error, "container %s", "c1"), NRI_E_RANGE);
    assert_string_equal(nri_error_get_text(&error), "container c1: mount 3: bad");
    assert_int_equal(nri_error_get_code(&error), NRI_E_RANGE);
    /* Its own text among the arguments. */
    assert_int_equal(nri_error_set(&error, NRI_E_IO, "<%s>", error.text), NRI_E_IO);
    assert_string_equal(error.text, "<container c1: mount 3: bad>");
    assert_int_equal(nri_error_prefix(&error, "%s", error.text), NRI_E_IO);
    assert_string_equal(error.text, "<container c1: mount 3: bad>: <container c1: mount 3: bad>");
    struct nri_error copy = {0};
    nri_error_copy(&copy, &error);
    assert_string_equal(copy.text, error.text);
    assert_int_equal(copy.code, NRI_E_IO);
    nri_error_clear(&error);
    assert_int_equal(error.code, 0);
    assert_string_equal(error.text, "");
    nri_error_copy(&copy, NULL);
    assert_int_equal(copy.code, 0);
}

static void expect_place(const nri_error *error, size_t line, size_t column)
{
    assert_int_equal(nri_error_line(error), line);
    assert_int_equal(nri_error_column(error), column);
}

/* A place stays with its error as long as that does, and no longer. */
static void test_place(void **state)
{
    (void)state;
    struct fail_alloc fa;
    fail_alloc_init(&fa, NULL);
    struct nri_alloc alloc = fail_alloc_resolved(&fa);
    struct nri_error error = {0}, copy = {0};
    nri_error *out = NULL;
    expect_place(&error, 0, 0);
    assert_int_equal(nri_error_set_at(&error, NRI_E_SYNTAX, "a.json", 3, 14, "%s %d", "bad", 7),
                     NRI_E_SYNTAX);
    assert_string_equal(error.text, "a.json:3:14: bad 7");
    expect_place(&error, 3, 14);
    nri_error_copy(&copy, &error);
    expect_place(&copy, 3, 14);
    nri_error_export(&error, &alloc, &out);
    expect_place(out, 3, 14);
    assert_null(nri_error_free(out));
    nri_error_prefix(&error, "container");
    assert_string_equal(error.text, "container: a.json:3:14: bad 7");
    expect_place(&error, 0, 0); /* the text does not begin with it any more */
    nri_error_set_at(&error, NRI_E_SYNTAX, "a.json", SIZE_MAX, UINT32_MAX, "far");
    expect_place(&error, UINT32_MAX, UINT32_MAX);
    nri_error_set(&error, NRI_E_IO, "another");
    expect_place(&error, 0, 0);
    nri_error_clear(&copy);
    expect_place(&copy, 0, 0);
    nri_error_set_at(&copy, NRI_E_SYNTAX, "a.json", 3, 14, "bad");
    nri_error_copy(&copy, NULL);
    expect_place(&copy, 0, 0);
    nri_error_set_at(&copy, NRI_E_SYNTAX, "a.json", 3, 14, "bad");
    nri_error_copy(&copy, &error);
    expect_place(&copy, 0, 0);
    fail_alloc_arm(&fa, 1);
    nri_error_set_at(&error, NRI_E_SYNTAX, "a.json", 3, 14, "bad");
    nri_error_export(&error, &alloc, &out);
    assert_int_equal(nri_error_get_code(out), NRI_E_NOMEM);
    expect_place(out, 0, 0);
    assert_int_equal(fa.live_blocks, 0);
}

static void test_null(void **state)
{
    (void)state;
    assert_int_equal(nri_error_set(NULL, NRI_E_RANGE, "x"), NRI_E_RANGE);
    assert_int_equal(nri_error_prefix(NULL, "x"), 0);
    assert_int_equal(nri_error_set_at(NULL, NRI_E_RANGE, "x", 1, 1, "x"), NRI_E_RANGE);
    expect_place(NULL, 0, 0);
    nri_error_clear(NULL);
    nri_error_copy(NULL, NULL);
    nri_error_export(NULL, NULL, NULL);
    assert_int_equal(nri_error_get_code(NULL), NRI_OK);
    assert_string_equal(nri_error_get_text(NULL), "");
    assert_null(nri_error_free(NULL));
}

static void test_one_line_of_utf8(void **state)
{
    (void)state;
    struct nri_error error = {0};
    nri_error_set(&error, NRI_E_REJECTED, "%s", "a\nb\rc\x1B[31m\xFF\xC2\x9B");
    assert_string_equal(error.text, "a b c [31m?  ");
    nri_error_prefix(&error, "%s", "p\n\x80");
    assert_string_equal(error.text, "p ?: a b c [31m?  ");
}

/* Whatever the length, the cut never falls into a character. */
static void test_long_texts_are_cut(void **state)
{
    (void)state;
    static char text[4000];
    struct nri_error error = {0};
    for (size_t shift = 0; shift < 4; shift++) {
        memset(text, 'x', shift);
        for (size_t at = shift; at + 4 < sizeof text; at += 4)
            memcpy(text + at, "\xF0\x9F\x98\x80", 5);
        nri_error_set(&error, NRI_E_LIMIT, "%s", text);
        size_t length = strlen(error.text);
        assert_in_range(length, NRI_ERROR_TEXT_SIZE - 4, NRI_ERROR_TEXT_SIZE - 1);
        assert_true(nri_utf8_valid(error.text, length, NULL));
        assert_null(strchr(error.text, '?'));
        nri_error_prefix(&error, "prefix");
        assert_memory_equal(error.text, "prefix: ", 8);
        assert_true(nri_utf8_valid(error.text, strlen(error.text), NULL));
        assert_null(strchr(error.text, '?'));
        nri_error_prefix(&error, "%s", text);
        assert_in_range(strlen(error.text), NRI_ERROR_TEXT_SIZE - 4, NRI_ERROR_TEXT_SIZE - 1);
        assert_null(strchr(error.text, '?'));
    }
}

static void test_export(void **state)
{
    (void)state;
    struct fail_alloc fa;
    fail_alloc_init(&fa, NULL);
    struct nri_alloc alloc = fail_alloc_resolved(&fa);
    struct nri_error error = {0};
    nri_error *out = &error;
    nri_error_export(&error, &alloc, &out); /* no error */
    assert_null(out);
    nri_error_set(&error, NRI_E_IO, "text");
    nri_error_export(&error, &alloc, NULL);
    assert_int_equal(fa.live_blocks, 0);
    nri_error_export(&error, &alloc, &out);
    assert_int_equal(fa.live_blocks, 1);
    assert_int_equal(nri_error_get_code(out), NRI_E_IO);
    assert_string_equal(nri_error_get_text(out), "text");
    nri_error_set(out, NRI_E_RANGE, "changed"); /* does not touch how it is freed */
    out = nri_error_free(out);
    assert_null(out);
    assert_int_equal(fa.live_blocks, 0);
    fail_alloc_arm(&fa, 1);
    nri_error_export(&error, &alloc, &out);
    assert_true(fa.fired);
    assert_int_equal(nri_error_get_code(out), NRI_E_NOMEM);
    assert_string_equal(nri_error_get_text(out), "out of memory");
    assert_null(nri_error_free(out));
    nri_error_free(out); /* static: again does no harm */
    assert_int_equal(fa.live_blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_traits),
        cmocka_unit_test(test_from_grpc),
        cmocka_unit_test(test_set_and_prefix),
        cmocka_unit_test(test_place),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_one_line_of_utf8),
        cmocka_unit_test(test_long_texts_are_cut),
        cmocka_unit_test(test_export),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
