/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <nri/error.h>

#include "base/alloc.h"
#include "fail_alloc.h"

static void test_defaults(void **state)
{
    (void)state;
    struct nri_allocator given;
    memset(&given, 0x55, sizeof given);
    nri_allocator_init(&given, sizeof given);
    assert_int_equal(given.size, sizeof given);
    assert_null(given.allocate);
    nri_allocator_init(NULL, sizeof given);

    const struct nri_allocator zero = {0};
    const struct nri_allocator *cases[] = {NULL, &given, &zero};
    for (size_t i = 0; i < 3; i++) {
        struct nri_alloc alloc = {0};
        assert_int_equal(nri_alloc_resolve(&alloc, cases[i]), 0);
        char *block = nri_alloc_raw(&alloc, 100);
        assert_non_null(block);
        memset(block, 'x', 100);
        block = nri_alloc_resize(&alloc, block, 100000);
        assert_non_null(block);
        assert_int_equal(block[99], 'x');
        nri_alloc_release(&alloc, block);
        nri_alloc_release(&alloc, NULL);
    }
}

static void test_refused(void **state)
{
    (void)state;
    struct fail_alloc fa;
    struct nri_allocator whole, given;
    struct nri_alloc alloc;
    fail_alloc_init(&fa, &whole);
    assert_int_equal(nri_alloc_resolve(&alloc, &whole), 0);

    for (int missing = 0; missing < 3; missing++) {
        given = whole;
        if (missing == 0)
            given.allocate = NULL;
        else if (missing == 1)
            given.resize = NULL;
        else
            given.release = NULL;
        assert_int_equal(nri_alloc_resolve(&alloc, &given), NRI_E_INVALID);
    }
    static const size_t sizes[] = {0, 1, 8, sizeof whole - 8, 65537, SIZE_MAX};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        given = whole;
        given.size = sizes[i];
        assert_int_equal(nri_alloc_resolve(&alloc, &given), NRI_E_ABI);
    }
    given = whole;
    given.reserved[2] = &given;
    assert_int_equal(nri_alloc_resolve(&alloc, &given), NRI_E_ABI);
}

static void test_newer_caller(void **state)
{
    (void)state;
    struct fail_alloc fa;
    struct {
        struct nri_allocator known;
        uint64_t unknown;
    } newer = {0};
    struct nri_alloc alloc;
    fail_alloc_init(&fa, &newer.known);
    newer.known.size = sizeof newer;
    assert_int_equal(nri_alloc_resolve(&alloc, &newer.known), 0);
    newer.unknown = 1;
    assert_int_equal(nri_alloc_resolve(&alloc, &newer.known), NRI_E_ABI);
}

static void test_own_allocator_is_used(void **state)
{
    (void)state;
    struct fail_alloc fa;
    struct nri_allocator given;
    struct nri_alloc alloc;
    fail_alloc_init(&fa, &given);
    assert_int_equal(nri_alloc_resolve(&alloc, &given), 0);
    memset(&given, 0, sizeof given); /* it was copied */

    unsigned char *zeroed = nri_alloc_zero(&alloc, 300);
    assert_non_null(zeroed);
    for (size_t i = 0; i < 300; i++)
        assert_int_equal(zeroed[i], 0);
    void *nothing =
        nri_alloc_raw(&alloc, 0); /* fail_alloc ends the program when asked for 0 bytes */
    assert_non_null(nothing);
    char *text = nri_alloc_text(&alloc, "a\0b", 3);
    assert_memory_equal(text, "a\0b", 4);
    char *empty = nri_alloc_text(&alloc, NULL, 0);
    assert_string_equal(empty, "");
    assert_int_equal(fa.live_blocks, 4);
    assert_int_equal(fa.live_bytes, 300 + 1 + 4 + 1);
    assert_null(nri_alloc_text(&alloc, "x", SIZE_MAX));
    nri_alloc_release(&alloc, zeroed);
    nri_alloc_release(&alloc, nothing);
    nri_alloc_release(&alloc, text);
    nri_alloc_release(&alloc, empty);
    assert_int_equal(fa.live_blocks, 0);
    assert_int_equal(fa.live_bytes, 0);
}

static void test_failure(void **state)
{
    (void)state;
    struct fail_alloc fa;
    fail_alloc_init(&fa, NULL);
    struct nri_alloc alloc = fail_alloc_resolved(&fa);
    fail_alloc_arm(&fa, 1);
    assert_null(nri_alloc_raw(&alloc, 8));
    assert_true(fa.fired);
    fail_alloc_arm(&fa, 2);
    char *block = nri_alloc_text(&alloc, "kept", 4);
    assert_false(fa.fired);
    assert_null(nri_alloc_resize(&alloc, block, 1000));
    assert_true(fa.fired);
    assert_string_equal(block, "kept");
    fail_alloc_arm(&fa, 1);
    assert_null(nri_alloc_zero(&alloc, 8));
    fail_alloc_arm(&fa, 1);
    assert_null(nri_alloc_text(&alloc, "x", 1));
    nri_alloc_release(&alloc, block);
    assert_int_equal(fa.live_blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),     cmocka_unit_test(test_refused),
        cmocka_unit_test(test_newer_caller), cmocka_unit_test(test_own_allocator_is_used),
        cmocka_unit_test(test_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
