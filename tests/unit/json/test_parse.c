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
#include "fixture.h"

/* Accepted, and written again in the second form (NULL: as it was). */
static const struct {
    const char *text, *again;
} valid[] = {
    {"null", NULL},
    {"true", NULL},
    {"false", NULL},
    {"0", NULL},
    {"-0", NULL},
    {"12345678901234567890123456789012345678901234567890", NULL},
    {"-1.50e+007", NULL},
    {"1E400000000", NULL},
    {"0.1e-1", NULL},
    {"\"\"", NULL},
    {"[]", NULL},
    {"{}", NULL},
    {" \t\r\n[ \n1 , 2\t]\r\n ", "[1,2]"},
    {"[[],{},[[]]]", NULL},
    {"{\"b\":1,\"a\":2,\"\":{\"b\":[]}}", NULL},
    {"{ \"a\" : [ true , null ] }", "{\"a\":[true,null]}"},
    {"\"a\\\"\\\\\\/\\b\\f\\n\\r\\tz\"", "\"a\\\"\\\\/\\b\\f\\n\\r\\tz\""},
    {"\"\\u0041\\u00e9\\u20AC\\ud83d\\ude00\"", "\"A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""},
    {"\"\\u0001\\u001F\\u007f\"", "\"\\u0001\\u001f\x7F\""},
    {"\"\\uD7FF\\uE000\\uFFFF\"", "\"\xED\x9F\xBF\xEE\x80\x80\xEF\xBF\xBF\""},
    {"\"\\uDBFF\\uDFFF\"", "\"\xF4\x8F\xBF\xBF\""},
    {"\"\xF0\x9F\x98\x80 raw\"", NULL},
    {"{\"\\u0061\":1,\"A\":2}", "{\"a\":1,\"A\":2}"},
    {"[\"\\\\u0000\",\"\\\\ud800\"]", NULL}, /* an escaped backslash, and a word */
};

static void test_valid(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++) {
        struct fixture f;
        start(&f);
        struct nri_json *document = must_parse(&f, valid[i].text);
        assert_string_equal(written(&f, document, 0),
                            valid[i].again == NULL ? valid[i].text : valid[i].again);
        end(&f);
    }
}

#define TEXT(literal) literal, sizeof literal - 1

static const struct {
    const char *text;
    size_t length;
    int code;
    size_t line, column;
    const char *says;
} invalid[] = {
    {TEXT(""), NRI_E_SYNTAX, 1, 1, "the end of the text"},
    {TEXT(" \n "), NRI_E_SYNTAX, 2, 2, "expected a value"},
    /* values */
    {TEXT("tru"), NRI_E_SYNTAX, 1, 1, "true, false and null"},
    {TEXT("[nul]"), NRI_E_SYNTAX, 1, 2, "true, false and null"},
    {TEXT("True"), NRI_E_SYNTAX, 1, 1, "found 'T'"},
    {TEXT("NaN"), NRI_E_SYNTAX, 1, 1, "found 'N'"},
    {TEXT("truex"), NRI_E_SYNTAX, 1, 5, "nothing more"},
    {TEXT("'a'"), NRI_E_SYNTAX, 1, 1, "found '''"},
    {TEXT("\xE2\x82\xAC"), NRI_E_SYNTAX, 1, 1, "found '\xE2\x82\xAC'"},
    {TEXT("\xEF\xBB\xBF[]"), NRI_E_SYNTAX, 1, 1, "expected a value"}, /* a byte order mark */
    {TEXT("\0"), NRI_E_SYNTAX, 1, 1, "0x00"},
    {TEXT("[\0]"), NRI_E_SYNTAX, 1, 2, "0x00"},
    {TEXT("/* c */ 1"), NRI_E_SYNTAX, 1, 1, "found '/'"},
    {TEXT("[1 // c\n]"), NRI_E_SYNTAX, 1, 4, "found '/'"},
    /* numbers */
    {TEXT("-"), NRI_E_SYNTAX, 1, 2, "digit behind '-'"},
    {TEXT("[-]"), NRI_E_SYNTAX, 1, 3, "found ']'"},
    {TEXT("-a"), NRI_E_SYNTAX, 1, 2, "digit behind '-'"},
    {TEXT("+1"), NRI_E_SYNTAX, 1, 1, "found '+'"},
    {TEXT(".5"), NRI_E_SYNTAX, 1, 1, "found '.'"},
    {TEXT("01"), NRI_E_SYNTAX, 1, 2, "found '1'"},
    {TEXT("-01"), NRI_E_SYNTAX, 1, 3, "found '1'"},
    {TEXT("1."), NRI_E_SYNTAX, 1, 3, "digit behind '.'"},
    {TEXT("[1.]"), NRI_E_SYNTAX, 1, 4, "found ']'"},
    {TEXT("[1.e5]"), NRI_E_SYNTAX, 1, 4, "found 'e'"},
    {TEXT("1e"), NRI_E_SYNTAX, 1, 3, "in the exponent"},
    {TEXT("[1e+]"), NRI_E_SYNTAX, 1, 5, "in the exponent"},
    {TEXT("1e5.5"), NRI_E_SYNTAX, 1, 4, "nothing more"},
    {TEXT("0x10"), NRI_E_SYNTAX, 1, 2, "found 'x'"},
    {TEXT("1 2"), NRI_E_SYNTAX, 1, 3, "found '2'"},
    /* strings */
    {TEXT("\""), NRI_E_SYNTAX, 1, 1, "not closed"},
    {TEXT("[1,\n \"abc]"), NRI_E_SYNTAX, 2, 2, "not closed"},
    {TEXT("\"abc\\"), NRI_E_SYNTAX, 1, 1, "not closed"},
    {TEXT("\"abc\\\""), NRI_E_SYNTAX, 1, 1, "not closed"},
    {TEXT("\"ab\nc\""), NRI_E_SYNTAX, 1, 4, "write \\u000a"},
    {TEXT("\"\xC3\xA9\t\""), NRI_E_SYNTAX, 1, 4, "0x09"},
    {TEXT("\"a\0b\""), NRI_E_SYNTAX, 1, 3, "0x00"},
    {TEXT("\"\\x41\""), NRI_E_SYNTAX, 1, 2, "followed by 'x'"},
    {TEXT("\"\\'\""), NRI_E_SYNTAX, 1, 2, "followed by '''"},
    {TEXT("\"abc\\u12g4\""), NRI_E_SYNTAX, 1, 5, "four hexadecimal"},
    {TEXT("\"\\u\""), NRI_E_SYNTAX, 1, 2, "four hexadecimal"},
    {TEXT("\"\\u12"), NRI_E_SYNTAX, 1, 2, "four hexadecimal"},
    {TEXT("\"ab\\u0000c\""), NRI_E_UTF8, 1, 4, "NUL"},
    {TEXT("{\"a\":1,\n\"\\u0000\":2}"), NRI_E_UTF8, 2, 2, "NUL"},
    {TEXT("\"\\ud800\""), NRI_E_UTF8, 1, 2, "\\ud800 is half"},
    {TEXT("\"\\uD83Dx\""), NRI_E_UTF8, 1, 2, "half"},
    {TEXT("\"\\uD83D\\n\""), NRI_E_UTF8, 1, 2, "half"},
    {TEXT("\"\\ude00\""), NRI_E_UTF8, 1, 2, "half"},
    {TEXT("\"\\ud83d\\ude00\\ude00\""), NRI_E_UTF8, 1, 14, "half"},
    {TEXT("\"\\ud83d\\ud83d\\ude00\""), NRI_E_UTF8, 1, 2, "half"},
    {TEXT("{\"\\udfff\":1}"), NRI_E_UTF8, 1, 3, "half"},
    {TEXT("[\"\\ud800\",\"\\udc00\"]"), NRI_E_UTF8, 1, 3, "half"},
    {TEXT("\"\\ud83d\"\\ude00"), NRI_E_UTF8, 1, 2, "half"}, /* the partner is behind the string */
    /* UTF-8 */
    {TEXT("[\n\"a\xFF\"]"), NRI_E_UTF8, 2, 3, "0xff"},
    {TEXT("\"\xC0\x80\""), NRI_E_UTF8, 1, 2, "0xc0"},
    {TEXT("\"\xED\xA0\x80\""), NRI_E_UTF8, 1, 2, "0xed"},
    {TEXT("\"\xF4\x90\x80\x80\""), NRI_E_UTF8, 1, 2, "0xf4"},
    {TEXT("\"\xE2\x82\""), NRI_E_UTF8, 1, 2, "0xe2"},
    {TEXT("[1]\x80"), NRI_E_UTF8, 1, 4, "0x80"},
    /* arrays */
    {TEXT("["), NRI_E_SYNTAX, 1, 2, "a value or ']'"},
    {TEXT("[1"), NRI_E_SYNTAX, 1, 3, "',' or ']'"},
    {TEXT("[1,"), NRI_E_SYNTAX, 1, 4, "expected a value"},
    {TEXT("[1,]"), NRI_E_SYNTAX, 1, 4, "found ']'"},
    {TEXT("[,1]"), NRI_E_SYNTAX, 1, 2, "found ','"},
    {TEXT("[1,,2]"), NRI_E_SYNTAX, 1, 4, "found ','"},
    {TEXT("[1\n 2]"), NRI_E_SYNTAX, 2, 2, "',' or ']'"},
    {TEXT("[1:2]"), NRI_E_SYNTAX, 1, 3, "found ':'"},
    {TEXT("[1}"), NRI_E_SYNTAX, 1, 3, "found '}'"},
    {TEXT("[}"), NRI_E_SYNTAX, 1, 2, "found '}'"},
    {TEXT("]"), NRI_E_SYNTAX, 1, 1, "found ']'"},
    {TEXT("[\"a\"\"b\"]"), NRI_E_SYNTAX, 1, 5, "found '\"'"},
    /* objects */
    {TEXT("{"), NRI_E_SYNTAX, 1, 2, "a key in quotation marks or '}'"},
    {TEXT("{a:1}"), NRI_E_SYNTAX, 1, 2, "quotation marks"},
    {TEXT("{1:1}"), NRI_E_SYNTAX, 1, 2, "found '1'"},
    {TEXT("{\"a\"}"), NRI_E_SYNTAX, 1, 5, "':' behind the key"},
    {TEXT("{\"a\",1}"), NRI_E_SYNTAX, 1, 5, "':' behind the key"},
    {TEXT("{\"a\" 1}"), NRI_E_SYNTAX, 1, 6, "':' behind the key"},
    {TEXT("{\"a\":}"), NRI_E_SYNTAX, 1, 6, "expected a value"},
    {TEXT("{\"a\"::1}"), NRI_E_SYNTAX, 1, 6, "found ':'"},
    {TEXT("{\"a\":1"), NRI_E_SYNTAX, 1, 7, "',' or '}'"},
    {TEXT("{\"a\":1,"), NRI_E_SYNTAX, 1, 8, "a key in quotation marks"},
    {TEXT("{\"a\":1,}"), NRI_E_SYNTAX, 1, 8, "found '}'"},
    {TEXT("{,}"), NRI_E_SYNTAX, 1, 2, "found ','"},
    {TEXT("{\"a\":1 \"b\":2}"), NRI_E_SYNTAX, 1, 8, "',' or '}'"},
    {TEXT("{\"a\":1]"), NRI_E_SYNTAX, 1, 7, "found ']'"},
    {TEXT("{\"a\":1,\"b"), NRI_E_SYNTAX, 1, 8, "not closed"},
    {TEXT("{null:1}"), NRI_E_SYNTAX, 1, 2, "found 'n'"},
    {TEXT("{\"a\":tru}"), NRI_E_SYNTAX, 1, 6, "true, false and null"},
    /* the same key twice */
    {TEXT("{\"a\":1,\n  \"a\":2}"), NRI_E_SYNTAX, 2, 3, "\"a\" is in this object already"},
    {TEXT("{\"a\":1,\"\\u0061\":2}"), NRI_E_SYNTAX, 1, 8, "\"a\""},
    {TEXT("[{\"b\":{\"x\":1,\"y\":{},\"x\":3}}]"), NRI_E_SYNTAX, 1, 21, "\"x\""},
    {TEXT("{\"\":1,\"\":2}"), NRI_E_SYNTAX, 1, 7, "\"\""},
    {TEXT("{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1,\"8\":1,\"9\":1,\"3\":1}"),
     NRI_E_SYNTAX, 1, 56, "\"3\""},
    /* behind the document */
    {TEXT("{} x"), NRI_E_SYNTAX, 1, 4, "nothing more behind the document"},
    {TEXT("[]]"), NRI_E_SYNTAX, 1, 3, "found ']'"},
    {TEXT("[]\n,"), NRI_E_SYNTAX, 2, 1, "found ','"},
    {TEXT("1 \"abc"), NRI_E_SYNTAX, 1, 3, "found '\"'"},
    {TEXT("{} tru"), NRI_E_SYNTAX, 1, 4, "found 't'"},
    {TEXT("{} -"), NRI_E_SYNTAX, 1, 4, "found '-'"},
    {TEXT("null\0"), NRI_E_SYNTAX, 1, 5, "0x00"},
    /* what yajl takes for blanks */
    {TEXT("[1,\v2]"), NRI_E_SYNTAX, 1, 4, "0x0b"},
    {TEXT("\f1"), NRI_E_SYNTAX, 1, 1, "0x0c"},
    {TEXT("{}\n\f"), NRI_E_SYNTAX, 2, 1, "0x0c"},
    {TEXT("[\v"), NRI_E_SYNTAX, 1, 2, "0x0b"},
    {TEXT("{\"a\"\v:1}"), NRI_E_SYNTAX, 1, 5, "0x0b"},
    {TEXT("\v"), NRI_E_SYNTAX, 1, 1, "0x0b"},
    /* lines end with a line feed, and a carriage return in front of it is the last column */
    {TEXT("[\r\n\r\n  x]"), NRI_E_SYNTAX, 3, 3, "found 'x'"},
    {TEXT("[\r  x]"), NRI_E_SYNTAX, 1, 5, "found 'x'"},
};

static void test_invalid(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++) {
        struct fixture f;
        start(&f);
        int rc = parse(&f, invalid[i].text, invalid[i].length);
        char where[64];
        int length =
            snprintf(where, sizeof where, "t:%zu:%zu: ", invalid[i].line, invalid[i].column);
        if (rc != invalid[i].code || strncmp(f.error.text, where, (size_t)length) != 0 ||
            strstr(f.error.text, invalid[i].says) == NULL)
            fail_msg("%s: expected %s ... %s (%s), got %s (%s)", invalid[i].text, where,
                     invalid[i].says, nri_error_name(invalid[i].code), f.error.text,
                     nri_error_name(rc));
        assert_true(nri_utf8_valid(f.error.text, strlen(f.error.text), NULL));
        end(&f);
    }
}

/* Every beginning of a document but the whole of it is refused, at its end or at the token that is
 * cut. */
static void test_every_beginning_is_refused(void **state)
{
    (void)state;
    static const char text[] = "{\"key\":[1.5e+3,-2,\"a\\u00e9\\ud83d\\ude00\\n\",true,false,null,{"
                               "}],\"\xC3\xA9\":{\"x\":[[]]}}";
    for (size_t length = 0; length < sizeof text - 1; length++) {
        struct fixture f;
        start(&f);
        assert_int_not_equal(parse(&f, text, length), 0);
        end(&f);
    }
    struct fixture f;
    start(&f);
    must_parse(&f, text);
    end(&f);
}

static void test_name_of_the_source(void **state)
{
    (void)state;
    struct fixture f;
    struct nri_json *document;
    start(&f);
    assert_int_equal(nri_json_parse(&f.arena, "x", 1, NULL, NULL, &document, &f.error),
                     NRI_E_SYNTAX);
    assert_memory_equal(f.error.text, "JSON:1:1: ", 10);
    assert_int_equal(nri_json_parse(&f.arena, "x", 1, NULL, "file.json", &document, &f.error),
                     NRI_E_SYNTAX);
    assert_memory_equal(f.error.text, "file.json:1:1: ", 15);
    assert_int_equal(nri_json_parse(&f.arena, "x", 1, NULL, NULL, &document, NULL), NRI_E_SYNTAX);
    assert_int_equal(nri_json_parse(&f.arena, NULL, 0, NULL, NULL, &document, NULL), NRI_E_SYNTAX);
    end(&f);
}

static void expect_place(const struct nri_json *value, size_t line, size_t column)
{
    assert_int_equal(nri_json_line(value), line);
    assert_int_equal(nri_json_column(value), column);
}

static void test_place_of_each_value(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    struct nri_json *document = must_parse(
        &f, "\n { \"a\\n\" :\t[1,\n22 ,\"\xC3\xA9\\u0041\", null],\n\"b\": {}, \"c\":true}");
    expect_place(document, 2, 2);
    struct nri_json *a = nri_json_get(document, "a\n");
    expect_place(a, 2, 12);
    expect_place(nri_json_at(a, 0), 2, 13);
    expect_place(nri_json_at(a, 1), 3, 1);
    expect_place(nri_json_at(a, 2), 3, 5);
    expect_place(nri_json_at(a, 3), 3, 17);
    expect_place(nri_json_get(document, "b"), 4, 6);
    expect_place(nri_json_get(document, "c"), 4, 14);
    expect_place(must_parse(&f, "\n\n   12"), 3, 4);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_invalid),
        cmocka_unit_test(test_every_beginning_is_refused),
        cmocka_unit_test(test_name_of_the_source),
        cmocka_unit_test(test_place_of_each_value),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
