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

#include "base/arena.h"
#include "base/text.h"
#include "fail_alloc.h"

struct fixture {
    struct fail_alloc fa;
    struct nri_alloc alloc;
    struct nri_arena arena;
};

static void start(struct fixture *f, size_t chunk_size, size_t limit)
{
    fail_alloc_init(&f->fa, NULL);
    f->alloc = fail_alloc_resolved(&f->fa);
    nri_arena_init(&f->arena, &f->alloc, chunk_size, limit);
}

static void end(struct fixture *f)
{
    nri_arena_fini(&f->arena);
    assert_int_equal(f->arena.taken, 0);
    assert_int_equal(f->fa.live_blocks, 0);
}

static void test_pieces_are_aligned_and_apart(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 256, SIZE_MAX);
    assert_int_equal(f.fa.calls, 0); /* nothing before the first piece */
    enum { COUNT = 400 };
    unsigned char *pieces[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        size_t bytes = i * 7 % 333;
        pieces[i] = nri_arena_alloc(&f.arena, bytes);
        assert_non_null(pieces[i]);
        assert_int_equal((uintptr_t)pieces[i] % _Alignof(max_align_t), 0);
        memset(pieces[i], (int)(i & 0xFF), bytes);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < i * 7 % 333; k++)
            assert_int_equal(pieces[i][k], i & 0xFF);
    }
    assert_int_equal(f.fa.live_bytes, f.arena.taken);
    end(&f);
}

static void test_zero_bytes_have_a_place(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 0, SIZE_MAX);
    void *a = nri_arena_alloc(&f.arena, 0), *b = nri_arena_alloc(&f.arena, 0);
    assert_non_null(a);
    assert_non_null(b);
    assert_ptr_not_equal(a, b);
    assert_non_null(nri_arena_array(&f.arena, 0, 8));
    assert_non_null(nri_arena_array(&f.arena, 8, 0));
    end(&f);
}

static void test_chunks_double_up_to_a_mebibyte(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 1024, SIZE_MAX);
    size_t largest = 0;
    for (size_t last = 0; f.arena.taken < 16u << 20;) {
        assert_non_null(nri_arena_alloc(&f.arena, 64));
        size_t grown = f.arena.taken - last;
        last = f.arena.taken;
        largest = grown > largest ? grown : largest;
    }
    assert_int_equal(largest, 1u << 20);
    assert_true(f.fa.calls < 10 + 17); /* 1, 2, 4 ... 1024 KiB, and then one for each MiB */
    end(&f);
}

/* The limit is on whole chunks, and what is left below it is used whatever the chunk size would be.
 */
static void test_limit_is_never_exceeded(void **state)
{
    (void)state;
    for (size_t limit = 0; limit < 3000; limit += 37) {
        struct fixture f;
        start(&f, 512, limit);
        size_t used = 0;
        while (nri_arena_alloc(&f.arena, 48) != NULL) {
            used += 48;
            assert_true(f.arena.taken <= limit);
            assert_int_equal(f.arena.taken, f.fa.live_bytes);
        }
        assert_int_equal(f.arena.failure, NRI_E_LIMIT);
        /* Lost at most: a header and a rest smaller than the piece for each of the four chunks. */
        assert_true(used + 4 * (48 + 32) >= limit);
        nri_arena_reset(&f.arena);
        assert_int_equal(f.arena.failure, 0);
        assert_true(f.arena.taken <= limit);
        end(&f);
    }
}

static void test_huge_requests(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 512, SIZE_MAX);
    static const size_t sizes[] = {SIZE_MAX,      SIZE_MAX - 1,  SIZE_MAX - 15,
                                   SIZE_MAX - 16, SIZE_MAX - 31, SIZE_MAX - 64};
    for (int with_chunk = 0; with_chunk < 2; with_chunk++) {
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            f.arena.failure = 0;
            assert_null(nri_arena_alloc(&f.arena, sizes[i]));
            assert_true(f.arena.failure == NRI_E_LIMIT || f.arena.failure == NRI_E_NOMEM);
            assert_null(nri_arena_zero(&f.arena, sizes[i]));
        }
        f.arena.failure = 0;
        assert_null(nri_arena_array(&f.arena, SIZE_MAX / 2, 3));
        assert_int_equal(f.arena.failure, NRI_E_LIMIT);
        assert_null(nri_arena_array(&f.arena, 3, SIZE_MAX / 2));
        f.arena.failure = 0;
        assert_null(nri_arena_text(&f.arena, "x", (size_t)UINT32_MAX - 1));
        assert_int_equal(f.arena.failure, NRI_E_LIMIT);
        assert_null(nri_arena_text2(&f.arena, "x", UINT32_MAX / 2, "y", UINT32_MAX / 2 + 1));
        assert_null(nri_arena_text2(&f.arena, "x", SIZE_MAX, "y", SIZE_MAX));
        assert_non_null(nri_arena_alloc(&f.arena, 1));
    }
    end(&f);
}

static void test_large_piece_keeps_the_room_that_is_left(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 1024, SIZE_MAX);
    char *a = nri_arena_alloc(&f.arena, 16);
    char *large = nri_arena_alloc(&f.arena, 100000);
    char *b = nri_arena_alloc(&f.arena, 16);
    assert_ptr_equal(b, a + 16);
    memset(large, 1, 100000);
    assert_int_equal(f.fa.live_blocks, 2);
    nri_arena_reset(&f.arena);
    assert_int_equal(f.fa.live_blocks, 1);
    assert_int_equal(f.arena.taken, 1024);
    end(&f);
    /* Large from the start: it must not be what stays for ever. */
    start(&f, 1024, SIZE_MAX);
    assert_non_null(nri_arena_alloc(&f.arena, 100000));
    assert_non_null(nri_arena_alloc(&f.arena, 200000));
    assert_non_null(nri_arena_alloc(&f.arena, 10));
    assert_int_equal(f.fa.live_blocks, 3);
    nri_arena_reset(&f.arena);
    assert_int_equal(f.arena.taken, 1024);
    end(&f);
}

static void test_steady_state_allocates_nothing(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 4096, 65536);
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < 60; i++)
            assert_non_null(
                nri_arena_text(&f.arena, "a text of forty bytes and not one more..", 40));
        nri_arena_reset(&f.arena);
    }
    assert_int_equal(f.fa.calls, 1);
    /* More than the first chunk holds: the rest is given back. */
    for (int i = 0; i < 600; i++)
        assert_non_null(nri_arena_alloc(&f.arena, 64));
    assert_true(f.fa.live_blocks > 1);
    nri_arena_reset(&f.arena);
    assert_int_equal(f.fa.live_blocks, 1);
    end(&f);
    nri_arena_reset(&f.arena); /* of an empty one */
    assert_non_null(nri_arena_alloc(&f.arena, 8));
    end(&f);
}

static void test_reserved_pieces_cannot_fail(void **state)
{
    (void)state;
    struct fixture f;
    const size_t align = NRI_ARENA_ALIGN;
    start(&f, 64, 8192);
    assert_true(nri_arena_reserve(&f.arena, 0)); /* no memory for nothing */
    assert_int_equal(f.fa.calls, 0);
    for (int round = 0; round < 2; round++) { /* the first chunk, and a later one */
        assert_true(nri_arena_reserve(&f.arena, 40 * align));
        size_t before = f.arena.taken;
        f.arena.limit = before; /* no other memory */
        for (size_t i = 0; i < 20; i++)
            assert_non_null(nri_arena_alloc(&f.arena, align + 1));
        f.arena.limit = 8192;
        nri_arena_unreserve(&f.arena); /* it is used: there is nothing to give back */
        assert_int_equal(f.arena.taken, before);
    }
    assert_true(nri_arena_reserve(&f.arena, 40 * align));
    fail_alloc_arm(&f.fa, 1);
    assert_non_null(nri_arena_alloc(&f.arena, 40 * align)); /* too large for a usual chunk */
    assert_true(f.fa.fired);
    assert_null(f.arena.spare);
    end(&f);
}

static void test_what_was_reserved_and_not_used_goes_back(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 4096, 16384);
    assert_non_null(nri_arena_alloc(&f.arena, 64));
    size_t taken = f.arena.taken, live = f.fa.live_blocks;
    for (int round = 0; round < 100; round++) {
        assert_true(nri_arena_reserve(&f.arena, 8000));
        assert_true(f.arena.taken > taken + 8000);
        assert_non_null(nri_arena_alloc(&f.arena, 16)); /* there is other memory */
        nri_arena_unreserve(&f.arena);
        assert_int_equal(f.arena.taken, taken);
        assert_int_equal(f.fa.live_blocks, live);
    }
    end(&f);
}

static void test_a_reserve_beyond_the_limit(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 64, 8192);
    assert_non_null(nri_arena_alloc(&f.arena, 16));
    size_t taken = f.arena.taken;
    assert_false(nri_arena_reserve(&f.arena, 8192 - taken));
    assert_int_equal(f.arena.failure, NRI_E_LIMIT);
    assert_false(nri_arena_reserve(&f.arena, SIZE_MAX));
    assert_int_equal(f.arena.failure, NRI_E_LIMIT);
    fail_alloc_arm(&f.fa, 1);
    assert_false(nri_arena_reserve(&f.arena, 4096));
    assert_int_equal(f.arena.failure, NRI_E_NOMEM);
    assert_int_equal(f.arena.taken, taken);
    /* Up to the last byte of the limit: a chunk has two words in front. */
    size_t header = NRI_ARENA_ALIGN;
    assert_true(nri_arena_reserve(&f.arena, 8192 - taken - header));
    assert_int_equal(f.arena.taken, 8192);
    nri_arena_unreserve(&f.arena);
    assert_int_equal(f.arena.taken, taken);
    end(&f);
}

static void test_texts(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 0, SIZE_MAX);
    char *text = nri_arena_text(&f.arena, "a\0b", 3);
    assert_memory_equal(text, "a\0b", 4);
    assert_int_equal(nri_text_stored_length(text), 3);
    assert_int_equal((uintptr_t)text % 4, 0);
    char *joined = nri_arena_text2(&f.arena, "-", 1, "key", 3);
    assert_string_equal(joined, "-key");
    assert_int_equal(nri_text_stored_length(joined), 4);
    char *empty = nri_arena_text(&f.arena, NULL, 0);
    assert_string_equal(empty, "");
    assert_int_equal(nri_text_stored_length(empty), 0);
    unsigned char *zeroed = nri_arena_zero(&f.arena, 100);
    for (size_t i = 0; i < 100; i++)
        assert_int_equal(zeroed[i], 0);
    end(&f);
}

static void test_as_an_allocator(void **state)
{
    (void)state;
    struct fixture f;
    struct nri_alloc alloc;
    start(&f, 128, 100000);
    nri_arena_allocator(&f.arena, &alloc);
    char *block = nri_alloc_resize(&alloc, NULL, 4);
    memcpy(block, "abc", 4);
    for (size_t bytes = 4; bytes < 5000; bytes = bytes * 3 / 2) {
        block = nri_alloc_resize(&alloc, block, bytes);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % _Alignof(max_align_t), 0);
        assert_string_equal(block, "abc");
        memset(block + 4, 'z', bytes - 4);
    }
    assert_ptr_equal(nri_alloc_resize(&alloc, block, 2), block);
    nri_alloc_release(&alloc, block);
    assert_null(nri_alloc_raw(&alloc, SIZE_MAX));
    assert_null(nri_alloc_raw(&alloc, 200000));
    assert_int_equal(f.arena.failure, NRI_E_LIMIT);
    assert_null(nri_alloc_resize(&alloc, block, 200000));
    assert_string_equal(block, "abc");
    end(&f);
}

static bool fill(struct nri_arena *arena)
{
    return nri_arena_alloc(arena, 10) != NULL && nri_arena_text(arena, "text", 4) != NULL &&
           nri_arena_alloc(arena, 5000) != NULL && nri_arena_zero(arena, 600) != NULL &&
           nri_arena_array(arena, 100, 12) != NULL;
}

static void test_allocation_failures(void **state)
{
    (void)state;
    size_t n = 0;
    bool fired;
    do {
        struct fixture f;
        start(&f, 512, SIZE_MAX);
        fail_alloc_arm(&f.fa, ++n);
        bool filled = fill(&f.arena);
        fired = f.fa.fired;
        assert_int_equal(filled, !fired);
        assert_int_equal(f.arena.failure, fired ? NRI_E_NOMEM : 0);
        nri_arena_reset(&f.arena);
        fail_alloc_arm(&f.fa, 0);
        assert_true(fill(&f.arena)); /* one failure spoils nothing */
        end(&f);
    } while (fired);
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_aligned_and_apart),
        cmocka_unit_test(test_zero_bytes_have_a_place),
        cmocka_unit_test(test_chunks_double_up_to_a_mebibyte),
        cmocka_unit_test(test_limit_is_never_exceeded),
        cmocka_unit_test(test_huge_requests),
        cmocka_unit_test(test_large_piece_keeps_the_room_that_is_left),
        cmocka_unit_test(test_steady_state_allocates_nothing),
        cmocka_unit_test(test_reserved_pieces_cannot_fail),
        cmocka_unit_test(test_what_was_reserved_and_not_used_goes_back),
        cmocka_unit_test(test_a_reserve_beyond_the_limit),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_as_an_allocator),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
