/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/abi.h"

struct known {
    size_t size;
    uint64_t a, b, c;
};
#define FIRST offsetof(struct known, b) /* the first version ended behind `a` */

static struct nri_error error;

static int take(struct known *known, const void *from)
{
    memset(known, 0x55, sizeof *known);
    nri_error_clear(&error);
    return nri_abi_take(known, sizeof *known, FIRST, from, "nri_known", &error);
}

static void test_sizes(void **state)
{
    (void)state;
    struct {
        struct known known;
        uint64_t tail[2];
    } from = {{0, 1, 2, 3}, {0, 0}};
    struct known known;
    for (size_t size = FIRST; size <= sizeof from; size += 8) {
        from.known.size = size;
        assert_int_equal(take(&known, &from), 0);
        assert_int_equal(known.size, sizeof known);
        assert_int_equal(known.a, 1);
        assert_int_equal(known.b, size > offsetof(struct known, b) ? 2 : 0);
        assert_int_equal(known.c, size > offsetof(struct known, c) ? 3 : 0);
        assert_string_equal(error.text, "");
    }
    for (size_t at = 0; at < sizeof from.tail; at++) {
        memset(from.tail, 0, sizeof from.tail);
        ((char *)from.tail)[at] = 1;
        from.known.size = sizeof from;
        assert_int_equal(take(&known, &from), NRI_E_ABI);
        from.known.size = sizeof known; /* the tail is no longer part of it */
        assert_int_equal(take(&known, &from), 0);
    }
}

static void test_text_names_both_sizes(void **state)
{
    (void)state;
    struct known from = {.size = 3}, known;
    assert_int_equal(take(&known, &from), NRI_E_ABI);
    assert_non_null(strstr(error.text, "nri_known"));
    assert_non_null(strstr(error.text, " 3,"));
    assert_non_null(strstr(error.text, "16"));
    uint64_t larger[5] = {40, 0, 0, 0, 7};
    assert_int_equal(take(&known, larger), NRI_E_ABI);
    assert_non_null(strstr(error.text, " 40,"));
    assert_non_null(strstr(error.text, " 32 "));
}

/* A size that was never set must not make the check read memory that is not there. */
static void test_garbage_size(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 7, FIRST - 1, 65537, SIZE_MAX / 2, SIZE_MAX};
    struct known *from = calloc(1, sizeof *from), known;
    assert_non_null(from);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        from->size = sizes[i];
        assert_int_equal(take(&known, from), NRI_E_ABI);
        assert_int_equal(nri_abi_take(&known, sizeof known, FIRST, from, "nri_known", NULL),
                         NRI_E_ABI);
    }
    free(from);
}

static void test_null_is_all_defaults(void **state)
{
    (void)state;
    struct known known;
    assert_int_equal(take(&known, NULL), 0);
    assert_int_equal(known.size, sizeof known);
    assert_true(nri_abi_is_zero(&known.a, sizeof known - sizeof known.size));
}

static void test_init(void **state)
{
    (void)state;
    struct known object = {1, 2, 3, 4};
    nri_abi_init(NULL, sizeof object);
    nri_abi_init(&object, sizeof(size_t) - 1);
    assert_int_equal(object.a, 2);
    nri_abi_init(&object, FIRST); /* a caller compiled with the first version */
    assert_int_equal(object.size, FIRST);
    assert_int_equal(object.a, 0);
    assert_int_equal(object.b, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sizes),        cmocka_unit_test(test_text_names_both_sizes),
        cmocka_unit_test(test_garbage_size), cmocka_unit_test(test_null_is_all_defaults),
        cmocka_unit_test(test_init),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
