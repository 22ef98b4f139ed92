/* SPDX-License-Identifier: Apache-2.0 */
#include "model/quote.h"

#include "base/text.h"
#include "fixture.h"

static void check(const char *text, const char *wanted)
{
    struct nri_quote quote;
    assert_string_equal(nri_quote(&quote, text), wanted);
}

static void test_texts(void **state)
{
    (void)state;
    check("", "\"\"");
    check("plain", "\"plain\"");
    check("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\"");
    check(NULL, "NULL");
}

static void test_escapes(void **state)
{
    (void)state;
    check("a\"b\\c", "\"a\\\"b\\\\c\"");
    check("a\nb\x7f", "\"a\\x0a"
                      "b\\x7f\"");
    check("\xff\xc3", "\"\\xff\\xc3\"");
    check("\xed\xa0\x80", "\"\\xed\\xa0\\x80\"");
    check("\xf0\x9f\x98", "\"\\xf0\\x9f\\x98\"");
}

/* Whatever the bytes, the quote is short, whole and UTF-8. */
static void test_cut(void **state)
{
    (void)state;
    static const char *const pieces[] = {"x",    "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80",
                                         "\xff", "\""};
    for (size_t p = 0; p < sizeof pieces / sizeof pieces[0]; p++) {
        for (size_t count = 1; count < 200; count++) {
            struct nri_quote quote;
            char text[1024] = "";
            for (size_t i = 0; i < count; i++)
                strcat(text, pieces[p]);
            size_t length = strlen(nri_quote(&quote, text));
            assert_true(length < sizeof quote.text);
            assert_true(nri_utf8_valid(quote.text, length, NULL));
            assert_int_equal(quote.text[length - 1], '"');
            bool cut = length >= 4 && memcmp(quote.text + length - 4, "...\"", 4) == 0;
            size_t shown = (length - 2) / (p == 4 ? 4 : p == 5 ? 2 : strlen(pieces[p]));
            assert_true(cut || shown == count);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
