/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOML's four kinds of strings.
 */
#include <string.h>

#include "doctor_toml.h"

struct text {
    char *bytes; /* no longer than what is left of the file */
    size_t length;
};

static void put(struct text *text, char byte)
{
    text->bytes[text->length++] = byte;
}

static void put_code_point(struct text *text, unsigned code)
{
    if (code < 0x80) {
        put(text, (char)code);
        return;
    }
    if (code < 0x800) {
        put(text, (char)(0xc0 | code >> 6));
    } else {
        if (code < 0x10000) {
            put(text, (char)(0xe0 | code >> 12));
        } else {
            put(text, (char)(0xf0 | code >> 18));
            put(text, (char)(0x80 | (code >> 12 & 0x3f)));
        }
        put(text, (char)(0x80 | (code >> 6 & 0x3f)));
    }
    put(text, (char)(0x80 | (code & 0x3f)));
}

/* \uXXXX and \UXXXXXXXX. */
static bool take_code_point(struct toml *toml, struct text *text, unsigned digits)
{
    static const char hex[] = "0123456789abcdef0123456789ABCDEF";
    unsigned code = 0;
    for (unsigned i = 0; i < digits; i++) {
        const int byte = toml_peek(toml);
        const char *digit = byte <= 0 ? NULL : memchr(hex, byte, sizeof hex - 1);
        if (digit == NULL)
            return toml_fail(toml, "an escape has too few digits") != NULL;
        code = code << 4 | (unsigned)((digit - hex) & 15);
        toml->at++;
    }
    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
        return toml_fail(toml, "an escape is no character, or NUL") != NULL;
    put_code_point(text, code);
    return true;
}

/* A backslash at the end of a line takes the blanks of the next ones with it. */
static bool take_line_end(struct toml *toml)
{
    const char *at = toml->at;
    while (at < toml->end && (*at == ' ' || *at == '\t'))
        at++;
    if (at < toml->end && *at == '\r')
        at++;
    if (at == toml->end || *at != '\n')
        return false;
    toml->at = at;
    while (toml->at < toml->end && strchr(" \t\r\n", *toml->at) != NULL)
        toml->line += *toml->at++ == '\n';
    return true;
}

static bool take_escape(struct toml *toml, struct text *text, bool lines)
{
    static const char letters[] = "btnfre\"\\";
    static const char values[] = "\b\t\n\f\r\0\"\\";
    const int byte = toml_peek(toml);
    if (lines && (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n'))
        return take_line_end(toml) ||
               toml_fail(toml, "a backslash stands in front of a blank") != NULL;
    toml->at++;
    if (byte == 'u' || byte == 'U')
        return take_code_point(toml, text, byte == 'u' ? 4 : 8);
    const char *letter = byte <= 0 ? NULL : strchr(letters, byte);
    if (letter == NULL || values[letter - letters] == '\0')
        return toml_fail(toml, "a string has an unknown escape") != NULL;
    put(text, values[letter - letters]);
    return true;
}

static bool take_byte(struct toml *toml, struct text *text, char quote, bool lines)
{
    const char byte = *toml->at++;
    if (byte == '\\' && quote == '"')
        return take_escape(toml, text, lines);
    if (byte == '\r' && lines && toml_peek(toml) == '\n')
        return true; /* line breaks are one kind */
    if (byte == '\n' && lines)
        toml->line++;
    else if (byte == '\n')
        return toml_fail(toml, "a string has no end on its line") != NULL;
    else if (((unsigned char)byte < 0x20 && byte != '\t') || byte == 0x7f)
        return toml_fail(toml, "a string has a control character") != NULL;
    put(text, byte);
    return true;
}

/* The end of a string of many lines: three quotes, in front of which two more may belong to it. */
static bool take_end(struct toml *toml, struct text *text, char quote, bool lines)
{
    size_t count = 0;
    while (count < 5 && toml->at + count < toml->end && toml->at[count] == quote)
        count++;
    if (!lines) {
        toml->at += count > 0;
        return count > 0;
    }
    toml->at += count;
    for (size_t i = count >= 3 ? 3 : 0; i < count; i++)
        put(text, quote);
    return count >= 3;
}

/* At least as many bytes as the string has: no escape is shorter than what it stands for. */
static size_t room_for(const struct toml *toml, char quote, bool lines)
{
    const char *at = toml->at;
    for (; at < toml->end; at++) {
        if (*at == '\\' && quote == '"' && at + 1 < toml->end)
            at++;
        else if (lines ? toml->end - at >= 3 && at[0] == quote && at[1] == quote && at[2] == quote
                       : *at == quote || *at == '\n')
            break;
    }
    return (size_t)(at - toml->at) + 4; /* and two quotes more of a string of many lines */
}

struct nri_json *toml_string(struct toml *toml)
{
    const char quote = *toml->at;
    const char *three = quote == '"' ? "\"\"\"" : "'''";
    struct text text = {.length = 0};
    const size_t line = toml->line;
    const bool lines = toml_take(toml, three);
    if (!lines)
        toml->at++;
    text.bytes = nri_arena_alloc(toml->arena, room_for(toml, quote, lines));
    if (text.bytes == NULL)
        return toml_no_memory(toml);
    if (lines && !toml_take(toml, "\r\n"))
        (void)toml_take(toml, "\n");
    toml->line = line + (lines && toml->at[-1] == '\n');
    while (!take_end(toml, &text, quote, lines)) {
        if (toml->at == toml->end)
            return toml_fail(toml, "a string has no end");
        if (!take_byte(toml, &text, quote, lines))
            return NULL;
    }
    struct nri_json *value = nri_json_new_string(toml->arena, text.bytes, text.length);
    return value != NULL ? value : toml_no_memory(toml);
}
