/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where and why a text is no JSON. yajl gives neither a line nor, for every fault, the right place;
 * but up to the last token that it reported all is well, and the state of the document says what
 * may follow.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "json/parser.h"

int nri_json_fail(struct nri_json_parser *parser, size_t offset, int code, const char *format, ...)
{
    size_t line = 1, line_start = 0;
    const char *text = parser->text;
    for (const char *at = text; (at = memchr(at, '\n', offset - (size_t)(at - text))) != NULL;) {
        line++;
        line_start = (size_t)(++at - text);
    }
    char message[512];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    if (length < 0)
        message[0] = '\0';
    parser->failure = nri_error_set_at(parser->error, code, parser->name, line,
                                       offset - line_start + 1, "%s", message);
    return parser->failure;
}

/* A character for people: 'x', or its number. */
static const char *show(const struct nri_json_parser *parser, size_t offset, char shown[24])
{
    if (offset >= parser->length)
        return "the end of the text";
    unsigned char first = (unsigned char)parser->text[offset];
    if (first < 0x20 || first == 0x7F) {
        snprintf(shown, 24, "the character 0x%02x", first);
        return shown;
    }
    /* The text is UTF-8, so a sequence ends in front of the next byte that is no continuation. */
    size_t count = 1;
    while (offset + count < parser->length &&
           ((unsigned char)parser->text[offset + count] & 0xC0) == 0x80)
        count++;
    snprintf(shown, 24, "'%.*s'", (int)count, parser->text + offset);
    return shown;
}

bool nri_json_skip(struct nri_json_parser *parser, bool separators)
{
    for (; parser->offset < parser->length; parser->offset++) {
        switch (parser->text[parser->offset]) {
        case '\n':
            parser->line++;
            parser->line_start = parser->offset + 1;
            break;
        case ' ':
        case '\t':
        case '\r':
            break;
        case '\v':
        case '\f':
            nri_json_fail(parser, parser->offset, NRI_E_SYNTAX,
                          "the character 0x%02x is no blank in JSON; only blanks, tabs and line "
                          "ends may stand "
                          "between values",
                          (unsigned)parser->text[parser->offset]);
            return false;
        case ',':
        case ':':
            if (!separators)
                return true;
            break;
        default:
            return true;
        }
    }
    return true;
}

/* ---- tokens that are broken in themselves; each returns 0 when it finds nothing wrong ---- */

static bool digit_at(const struct nri_json_parser *parser, size_t offset)
{
    return offset < parser->length && isdigit((unsigned char)parser->text[offset]);
}

static bool char_at(const struct nri_json_parser *parser, size_t offset, const char *set)
{
    return offset < parser->length && parser->text[offset] != '\0' &&
           strchr(set, parser->text[offset]) != NULL;
}

static int no_digit(struct nri_json_parser *parser, size_t offset, const char *place)
{
    char shown[24];
    return nri_json_fail(parser, offset, NRI_E_SYNTAX, "a number needs a digit %s, found %s", place,
                         show(parser, offset, shown));
}

static int number_fault(struct nri_json_parser *parser)
{
    size_t at = parser->offset + char_at(parser, parser->offset, "-");
    if (!digit_at(parser, at))
        return no_digit(parser, at, "behind '-'");
    if (parser->text[at] == '0' && char_at(parser, at + 1, "xX"))
        return nri_json_fail(parser, parser->offset, NRI_E_SYNTAX,
                             "numbers must be decimal in JSON");
    while (digit_at(parser, at))
        at++;
    if (char_at(parser, at, ".")) {
        if (!digit_at(parser, ++at))
            return no_digit(parser, at, "behind '.'");
        while (digit_at(parser, at))
            at++;
    }
    if (char_at(parser, at, "eE")) {
        at += 1 + (size_t)char_at(parser, at + 1, "+-");
        if (!digit_at(parser, at))
            return no_digit(parser, at, "in the exponent");
    }
    return 0;
}

static int escape_fault(struct nri_json_parser *parser, size_t at)
{
    char shown[24];
    if (char_at(parser, at + 1, "\"\\/bfnrt"))
        return 0;
    if (!char_at(parser, at + 1, "u"))
        return nri_json_fail(parser, at, NRI_E_SYNTAX,
                             "a backslash in a string may not be followed by %s; write \\\\ for "
                             "a backslash",
                             show(parser, at + 1, shown));
    for (size_t i = 2; i < 6; i++) {
        if (at + i >= parser->length || !isxdigit((unsigned char)parser->text[at + i]))
            return nri_json_fail(parser, at, NRI_E_SYNTAX, "\\u needs four hexadecimal digits");
    }
    return 0;
}

static int string_fault(struct nri_json_parser *parser)
{
    for (size_t at = parser->offset + 1; at < parser->length; at++) {
        unsigned char byte = (unsigned char)parser->text[at];
        if (byte == '"')
            return 0;
        if (byte < 0x20)
            return nri_json_fail(parser, at, NRI_E_SYNTAX,
                                 "a string may not hold the character 0x%02x; write \\u%04x", byte,
                                 byte);
        if (byte != '\\')
            continue;
        if (at + 1 == parser->length)
            break;
        int rc = escape_fault(parser, at);
        if (rc != 0)
            return rc;
        at++;
    }
    return nri_json_fail(parser, parser->offset, NRI_E_SYNTAX,
                         "the string that begins here is not closed");
}

static int word_fault(struct nri_json_parser *parser)
{
    static const char *const words[] = {"true", "false", "null"};
    size_t left = parser->length - parser->offset;
    for (size_t i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if (left >= length && memcmp(parser->text + parser->offset, words[i], length) == 0)
            return 0;
    }
    return nri_json_fail(parser, parser->offset, NRI_E_SYNTAX,
                         "a word that is none of true, false and null; texts need quotation marks");
}

static int token_fault(struct nri_json_parser *parser)
{
    if (char_at(parser, parser->offset, "\""))
        return string_fault(parser);
    if (char_at(parser, parser->offset, "-0123456789"))
        return number_fault(parser);
    return char_at(parser, parser->offset, "tfn") ? word_fault(parser) : 0;
}

/* ---- tokens that stand in the wrong place ---- */

enum expected { FIRST_VALUE, VALUE, FIRST_KEY, KEY, COLON, NEXT_ELEMENT, NEXT_MEMBER, NOTHING };

static enum expected what_may_follow(const struct nri_json_parser *parser)
{
    if (parser->depth == 0)
        return parser->document == NULL ? VALUE : NOTHING;
    const struct nri_json_open *open = &parser->open[parser->depth - 1];
    bool empty = parser->pending_count == open->first;
    if (open->container->type == NRI_JSON_ARRAY)
        return empty ? FIRST_VALUE : NEXT_ELEMENT;
    if (parser->key != NULL)
        return COLON;
    return empty ? FIRST_KEY : NEXT_MEMBER;
}

static const char *name_of(enum expected expected)
{
    switch (expected) {
    case FIRST_VALUE:
        return "a value or ']'";
    case VALUE:
        return "a value";
    case FIRST_KEY:
        return "a key in quotation marks or '}'";
    case KEY:
        return "a key in quotation marks";
    case COLON:
        return "':' behind the key";
    case NEXT_ELEMENT:
        return "',' or ']' behind the element";
    case NEXT_MEMBER:
        return "',' or '}' behind the member";
    case NOTHING:
        break;
    }
    return "nothing more behind the document";
}

/* Steps over the separator that may follow, which yajl does not report. */
static enum expected step_over(struct nri_json_parser *parser, enum expected expected)
{
    enum expected then;
    if (expected == COLON && char_at(parser, parser->offset, ":"))
        then = VALUE;
    else if (expected == NEXT_ELEMENT && char_at(parser, parser->offset, ","))
        then = VALUE;
    else if (expected == NEXT_MEMBER && char_at(parser, parser->offset, ","))
        then = KEY;
    else
        return expected;
    parser->offset++;
    return nri_json_skip(parser, false) ? then : expected;
}

int nri_json_explain(struct nri_json_parser *parser, const char *reason)
{
    if (!nri_json_skip(parser, false))
        return parser->failure;
    enum expected expected = step_over(parser, what_may_follow(parser));
    if (parser->failure != 0)
        return parser->failure;
    bool value = expected == FIRST_VALUE || expected == VALUE;
    bool key = expected == FIRST_KEY || expected == KEY;
    if (value ? char_at(parser, parser->offset, "\"-0123456789tfn")
              : key && char_at(parser, parser->offset, "\"")) {
        int rc = token_fault(parser);
        if (rc != 0)
            return rc;
        return nri_json_fail(parser, parser->offset, NRI_E_SYNTAX, "%s", reason);
    }
    char shown[24];
    return nri_json_fail(parser, parser->offset, NRI_E_SYNTAX, "expected %s, found %s",
                         name_of(expected), show(parser, parser->offset, shown));
}
