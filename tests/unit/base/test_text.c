/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text.h"

/* Writes the UTF-8 of a code point, by the definition and not by the code under test. */
static size_t encode(uint32_t point, char out[4])
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    size_t count = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = count; i-- > 1; point >>= 6)
        out[i] = (char)(0x80 | (point & 0x3F));
    out[0] = (char)((0xF00 >> count) | point);
    return count;
}

static void test_every_code_point_is_valid(void **state)
{
    (void)state;
    char bytes[4];
    size_t bad = 77;
    for (uint32_t point = 0; point <= 0x10FFFF; point++) {
        size_t count = encode(point, bytes);
        bool surrogate = point >= 0xD800 && point <= 0xDFFF;
        if (nri_utf8_valid(bytes, count, &bad) == surrogate)
            fail_msg("U+%04X", (unsigned)point);
        if (!surrogate && nri_utf8_cut(bytes, count) != count)
            fail_msg("U+%04X is cut", (unsigned)point);
    }
}

/* Every code point is valid, so as many valid sequences as there are code points means that nothing
 * else is. */
static void test_nothing_else_is_valid(void **state)
{
    (void)state;
    static const unsigned ends[] = {0x00, 0x7F, 0x80, 0xBF, 0xC0, 0xFF};
    size_t one = 0, two = 0, three = 0, four = 0;
    char b[4];
    for (unsigned first = 0; first < 256; first++) {
        b[0] = (char)first;
        one += nri_utf8_valid(b, 1, NULL);
        for (unsigned second = 0; first >= 0x80 && second < 256; second++) {
            b[1] = (char)second;
            two += nri_utf8_valid(b, 2, NULL);
            for (unsigned third = 0; third < 256; third++) {
                b[2] = (char)third;
                /* Two bytes and an ASCII one are no sequence of three. */
                three += first >= 0xE0 && nri_utf8_valid(b, 3, NULL);
                for (size_t i = 0; first >= 0xF0 && i < 6; i++) {
                    b[3] = (char)ends[i];
                    four += nri_utf8_valid(b, 4, NULL);
                }
            }
        }
    }
    assert_int_equal(one, 0x80);
    assert_int_equal(two, 0x800 - 0x80);
    assert_int_equal(three, 0x10000 - 0x800 - 0x800);
    assert_int_equal(four, 0x100000 / 64 * 2); /* 80 and BF of the 64 last bytes */
}

static void test_bad_byte_is_found_anywhere(void **state)
{
    (void)state;
    char room[64];
    for (size_t start = 0; start < 8; start++) {
        for (size_t length = 1; length < 40; length++) {
            for (size_t at = 0; at < length; at++) {
                memset(room, 'x', sizeof room);
                room[start + at] = (char)0x80;
                size_t bad = 99;
                assert_false(nri_utf8_valid(room + start, length, &bad));
                assert_int_equal(bad, at);
                room[start + at] = '\0';
                assert_true(nri_utf8_valid(room + start, length, &bad));
            }
        }
    }
}

static void test_truncated_sequence(void **state)
{
    (void)state;
    char bytes[] = "abc\xF0\x9F\x98\x80";
    size_t bad = 0;
    for (size_t length = 4; length < 7; length++) {
        bad = 0;
        assert_false(nri_utf8_valid(bytes, length, &bad));
        assert_int_equal(bad, 3);
    }
    assert_true(nri_utf8_valid(bytes, 7, NULL));
    assert_true(nri_utf8_valid(bytes, 0, NULL));
    assert_true(nri_utf8_valid(NULL, 0, NULL));
}

static void test_cut(void **state)
{
    (void)state;
    char text[] = "a\xC3\xA9z\xE2\x82\xAC\xF0\x9F\x98\x80";
    static const size_t cuts[] = {0, 1, 1, 3, 4, 4, 4, 7, 7, 7, 7, 11};
    for (size_t length = 0; length < sizeof text; length++)
        assert_int_equal(nri_utf8_cut(text, length), cuts[length]);
    /* What is no UTF-8 is cut anywhere, and nothing before the bytes is looked at. */
    char lone[] = "\x80\x80\x80\x80\x80";
    for (size_t length = 0; length < sizeof lone; length++)
        assert_int_equal(nri_utf8_cut(lone, length), length);
}

static void test_make_line(void **state)
{
    (void)state;
    char text[] = "a\nb\tc\x7F"
                  "d\xC2\x85"
                  "e\xC2\xA0\xFFg\xE2\x82";
    nri_text_make_line(text, sizeof text - 1);
    assert_string_equal(text, "a b c d  e\xC2\xA0?g??");
    char nul[] = {'a', '\0', 'b'};
    nri_text_make_line(nul, sizeof nul);
    assert_memory_equal(nul, "a b", 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_code_point_is_valid),
        cmocka_unit_test(test_nothing_else_is_valid),
        cmocka_unit_test(test_bad_byte_is_found_anywhere),
        cmocka_unit_test(test_truncated_sequence),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_make_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
