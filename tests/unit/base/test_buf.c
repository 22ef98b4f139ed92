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

#include "base/buf.h"
#include "fail_alloc.h"

struct fixture {
    struct fail_alloc fa;
    struct nri_buf buf;
};

static void start(struct fixture *f, size_t limit)
{
    fail_alloc_init(&f->fa, NULL);
    struct nri_alloc alloc = fail_alloc_resolved(&f->fa);
    nri_buf_init(&f->buf, &alloc, limit);
}

static void end(struct fixture *f)
{
    nri_buf_fini(&f->buf);
    assert_int_equal(f->fa.live_blocks, 0);
}

/* Bytes in and out in all kinds of steps, against a plain count. */
static void test_stream(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 1000);
    size_t in = 0, out = 0;
    for (size_t step = 0; step < 20000; step++) {
        unsigned char bytes[97];
        size_t count = step * 31 % sizeof bytes;
        for (size_t i = 0; i < count; i++)
            bytes[i] = (unsigned char)((in + i) * 7 % 251);
        int rc = nri_buf_append(&f.buf, bytes, count);
        assert_int_equal(rc, in - out + count > 1000 ? NRI_E_LIMIT : 0);
        if (rc == 0)
            in += count;
        assert_int_equal(nri_buf_size(&f.buf), in - out);
        size_t take = step * 57 % 91;
        take = take > in - out ? in - out : take;
        for (size_t i = 0; i < take; i++)
            assert_int_equal(f.buf.data[f.buf.start + i], (out + i) * 7 % 251);
        nri_buf_consume(&f.buf, take);
        out += take;
    }
    assert_true(f.fa.peak_bytes <= 1250 + 1250);
    end(&f);
}

static void test_limit_is_exact(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t *room;
    start(&f, 100);
    assert_int_equal(nri_buf_reserve(&f.buf, 101, &room), NRI_E_LIMIT);
    assert_int_equal(nri_buf_reserve(&f.buf, SIZE_MAX, &room), NRI_E_LIMIT);
    assert_int_equal(f.fa.calls, 0);
    assert_int_equal(nri_buf_reserve(&f.buf, 100, &room), 0);
    memset(room, 'x', 100);
    nri_buf_commit(&f.buf, 100);
    assert_int_equal(nri_buf_append(&f.buf, "y", 1), NRI_E_LIMIT);
    assert_int_equal(nri_buf_reserve(&f.buf, SIZE_MAX, &room), NRI_E_LIMIT);
    assert_int_equal(nri_buf_reserve(&f.buf, SIZE_MAX - 99, &room), NRI_E_LIMIT);
    assert_int_equal(nri_buf_append(&f.buf, "", 0), 0);
    nri_buf_consume(&f.buf, 1);
    assert_int_equal(nri_buf_append(&f.buf, "y", 1), 0);
    assert_int_equal(nri_buf_append(&f.buf, "y", 1), NRI_E_LIMIT);
    end(&f);
    start(&f, 0);
    assert_int_equal(nri_buf_append(&f.buf, "y", 1), NRI_E_LIMIT);
    end(&f);
    start(&f, SIZE_MAX);
    assert_int_equal(nri_buf_append(&f.buf, "y", 1), 0);
    assert_int_not_equal(nri_buf_reserve(&f.buf, SIZE_MAX - 64, &room), 0);
    assert_int_equal(f.buf.data[f.buf.start], 'y');
    end(&f);
}

/* A buffer that stays nearly full must not be moved for each byte: at most a few moves for each
 * limit's worth. */
static void test_nearly_full_is_not_slow(void **state)
{
    (void)state;
    enum { LIMIT = 1 << 16 };
    struct fixture f;
    static char bytes[LIMIT - 1];
    start(&f, LIMIT);
    assert_int_equal(nri_buf_append(&f.buf, bytes, sizeof bytes), 0);
    size_t moves = 0;
    for (size_t i = 0; i < 4 * LIMIT; i++) {
        size_t before = f.buf.start;
        assert_int_equal(nri_buf_append(&f.buf, "y", 1), 0);
        moves += f.buf.start < before;
        nri_buf_consume(&f.buf, 1);
    }
    assert_in_range(moves, 1, 20);
    assert_true(f.fa.live_bytes <= LIMIT + LIMIT / 4);
    end(&f);
}

static void test_growth_is_by_doubling(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, SIZE_MAX);
    for (size_t i = 0; i < 1u << 20; i++)
        assert_int_equal(nri_buf_append(&f.buf, "y", 1), 0);
    assert_in_range(f.fa.calls, 8, 13);
    end(&f);
}

static void test_reset(void **state)
{
    (void)state;
    struct fixture f;
    start(&f, 1u << 20);
    for (int i = 0; i < 100; i++)
        assert_int_equal(nri_buf_append(&f.buf, "0123456789", 10), 0);
    nri_buf_reset(&f.buf, 65536);
    assert_int_equal(nri_buf_size(&f.buf), 0);
    assert_int_equal(f.fa.live_blocks, 1);
    nri_buf_reset(&f.buf, 64);
    assert_int_equal(f.fa.live_blocks, 0);
    assert_int_equal(nri_buf_append(&f.buf, "again", 5), 0);
    assert_memory_equal(f.buf.data + f.buf.start, "again", 5);
    end(&f);
    assert_int_equal(nri_buf_append(&f.buf, "again", 5), 0);
    end(&f);
}

static void test_allocation_failures(void **state)
{
    (void)state;
    size_t n = 0;
    bool fired;
    do {
        struct fixture f;
        start(&f, SIZE_MAX);
        fail_alloc_arm(&f.fa, ++n);
        for (int i = 0; i < 200; i++) {
            size_t before = nri_buf_size(&f.buf);
            bool seen = f.fa.fired;
            int rc = nri_buf_append(&f.buf, "0123456789", 10);
            bool failed_now = f.fa.fired && !seen;
            assert_int_equal(rc, failed_now ? NRI_E_NOMEM : 0);
            assert_int_equal(nri_buf_size(&f.buf), before + (rc == 0 ? 10 : 0));
        }
        for (size_t i = 0; i < nri_buf_size(&f.buf); i++)
            assert_int_equal(f.buf.data[f.buf.start + i], '0' + (int)(i % 10));
        fired = f.fa.fired;
        end(&f);
    } while (fired);
    assert_int_equal(n, 4); /* 512, 1024, 2048 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_limit_is_exact),
        cmocka_unit_test(test_nearly_full_is_not_slow),
        cmocka_unit_test(test_growth_is_by_doubling),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
