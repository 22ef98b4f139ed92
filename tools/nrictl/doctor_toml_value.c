/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TOML's values but for strings.
 */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor_toml.h"
#include "json/document.h"

/* ---- numbers, dates, words: what stands between separators ---- */

/* Digits of a base with single underscores between them; the bytes that were taken. */
static size_t digits(const char *at, const char *end, const char *set, char *out, size_t *used)
{
    const char *from = at;
    bool digit = false;
    for (; at < end; at++) {
        if (*at == '_' && digit && at + 1 < end && strchr(set, at[1]) != NULL && at[1] != '\0') {
            digit = false;
        } else if (*at != '\0' && strchr(set, *at) != NULL) {
            digit = true;
            out[(*used)++] = *at;
        } else {
            break;
        }
    }
    return (size_t)(at - from);
}

#define DECIMAL "0123456789"

static struct nri_json *of_integer(struct toml *toml, const char *text, int base, bool negative)
{
    char *rest = NULL;
    errno = 0;
    const unsigned long long value = strtoull(text, &rest, base);
    const uint64_t most = (uint64_t)INT64_MAX + negative;
    if (errno != 0 || *rest != '\0' || value > most)
        return toml_fail(toml, "a number is larger than 64 bits");
    const int64_t number = negative ? (int64_t)(0 - (uint64_t)value) : (int64_t)value;
    struct nri_json *made = nri_json_new_int64(toml->arena, number);
    return made != NULL ? made : toml_no_memory(toml);
}

static struct nri_json *of_base(struct toml *toml, const char *at, const char *end)
{
    static const struct {
        char letter;
        int base;
        const char *set;
    } bases[] = {{'x', 16, "0123456789abcdefABCDEF"}, {'o', 8, "01234567"}, {'b', 2, "01"}};
    char text[128];
    size_t used = 0;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++) {
        if (at[1] != bases[i].letter)
            continue;
        if (digits(at + 2, end, bases[i].set, text, &used) != (size_t)(end - at) - 2 || used == 0)
            break;
        text[used] = '\0';
        return of_integer(toml, text, bases[i].base, false);
    }
    return toml_fail(toml, "'%.*s' is no value", (int)(end - at), at);
}

static struct nri_json *of_float(struct toml *toml, const char *text, size_t length)
{
    struct nri_json *value = NULL;
    struct nri_error error;
    nri_error_clear(&error);
    if (nri_json_parse(toml->arena, text, length, NULL, NULL, &value, &error) != 0)
        return toml_fail(toml, "'%s' is no number", text);
    return value;
}

/* False: it is no number in base ten. */
static bool of_decimal(struct toml *toml, const char *at, const char *end, struct nri_json **value)
{
    char text[160];
    size_t used = 0, whole;
    const bool sign = *at == '+' || *at == '-', negative = *at == '-';
    at += sign;
    if (negative)
        text[used++] = '-';
    const size_t first = used;
    const size_t taken = digits(at, end, DECIMAL, text, &used);
    whole = used - first;
    at += taken;
    if (whole == 0 || (whole > 1 && text[first] == '0'))
        return false;
    if (at == end) {
        text[used] = '\0';
        *value = of_integer(toml, text + first, 10, negative);
        return true;
    }
    if (*at == '.') {
        text[used++] = *at++;
        const size_t before = used;
        at += digits(at, end, DECIMAL, text, &used);
        if (used == before)
            return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        text[used++] = *at++;
        if (at < end && (*at == '+' || *at == '-'))
            text[used++] = *at++;
        const size_t before = used;
        at += digits(at, end, DECIMAL, text, &used);
        if (used == before)
            return false;
    }
    if (at != end)
        return false;
    text[used] = '\0';
    *value = of_float(toml, text, used);
    return true;
}

/* Digits where `form` has 0, else the form's own byte. */
static bool has_form(const char **at, const char *end, const char *form)
{
    const char *from = *at;
    for (; *form != '\0'; form++, from++) {
        if (from == end || (*form == '0' ? !isdigit((unsigned char)*from) : *from != *form))
            return false;
    }
    *at = from;
    return true;
}

static unsigned two(const char *at)
{
    return (unsigned)(at[0] - '0') * 10 + (unsigned)(at[1] - '0');
}

static bool is_date(const char **at, const char *end)
{
    static const unsigned char days[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    const char *from = *at;
    if (!has_form(at, end, "0000-00-00"))
        return false;
    const unsigned month = two(from + 5), day = two(from + 8);
    return month >= 1 && month <= 12 && day >= 1 && day <= days[month - 1];
}

static bool is_time(const char **at, const char *end)
{
    const char *from = *at;
    if (!has_form(at, end, "00:00:00") || two(from) > 23 || two(from + 3) > 59 ||
        two(from + 6) > 60)
        return false;
    if (*at < end && **at == '.') {
        const char *fraction = ++*at;
        while (*at < end && isdigit((unsigned char)**at))
            ++*at;
        return *at > fraction;
    }
    return true;
}

static bool is_moment(const char *at, const char *end)
{
    if (is_time(&at, end))
        return at == end;
    if (!is_date(&at, end))
        return false;
    if (at == end)
        return true;
    if (strchr("Tt ", *at) == NULL || (++at, !is_time(&at, end)))
        return false;
    if (at < end && (*at == 'Z' || *at == 'z'))
        at++;
    else if (at < end && (*at == '+' || *at == '-')) {
        const char *zone = ++at;
        if (!has_form(&at, end, "00:00") || two(zone) > 23 || two(zone + 3) > 59)
            return false;
    }
    return at == end;
}

static struct nri_json *of_text(struct toml *toml, const char *at, const char *end)
{
    struct nri_json *value = nri_json_new_string(toml->arena, at, (size_t)(end - at));
    return value != NULL ? value : toml_no_memory(toml);
}

static bool is_word(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) == strlen(word) && memcmp(at, word, strlen(word)) == 0;
}

static struct nri_json *of_token(struct toml *toml, const char *at, const char *end)
{
    struct nri_json *value = NULL;
    const char *bare = at + (*at == '+' || *at == '-');
    if (is_word(at, end, "true") || is_word(at, end, "false")) {
        value = nri_json_new_bool(toml->arena, *at == 't');
        return value != NULL ? value : toml_no_memory(toml);
    }
    if (is_word(bare, end, "inf") || is_word(bare, end, "nan") || is_moment(at, end))
        return of_text(toml, at, end);
    if (end - at > 120)
        return toml_fail(toml, "a value without quotes is too long");
    if (end - at > 2 && at[0] == '0' && isalpha((unsigned char)at[1]) && at[1] != 'e' &&
        at[1] != 'E')
        return of_base(toml, at, end);
    if (of_decimal(toml, at, end, &value))
        return value;
    return toml_fail(toml, "'%.*s' is no value: text needs quotes", (int)(end - at), at);
}

static struct nri_json *bare_value(struct toml *toml)
{
    const char *from = toml->at;
    while (toml->at < toml->end && strchr(" \t\r\n,]}#=\"'[{", *toml->at) == NULL)
        toml->at++;
    /* A date and a time may have a blank between them. */
    if (toml->at - from == 10 && toml->end - toml->at > 2 && *toml->at == ' ' &&
        isdigit((unsigned char)toml->at[1]) && from[4] == '-') {
        toml->at++;
        while (toml->at < toml->end && strchr(" \t\r\n,]}#", *toml->at) == NULL)
            toml->at++;
    }
    if (toml->at == from)
        return toml_fail(toml, "a value is missing");
    return of_token(toml, from, toml->at);
}

/* ---- arrays and tables on a line ---- */

static struct nri_json *array(struct toml *toml)
{
    struct nri_json *made = nri_json_new(toml->arena, NRI_JSON_ARRAY);
    toml->at++;
    if (made == NULL || !toml_close(toml, made))
        return toml_no_memory(toml);
    for (;;) {
        toml_lines(toml);
        if (toml_take(toml, "]"))
            return made;
        struct nri_json *value = toml_value(toml);
        if (value == NULL)
            return NULL;
        if (nri_json_append(toml->arena, made, value) != 0)
            return toml_no_memory(toml);
        toml_lines(toml);
        if (!toml_take(toml, ",") && toml_peek(toml) != ']')
            return toml_fail(toml, "an array needs ',' or ']' here");
    }
}

static struct nri_json *inline_table(struct toml *toml)
{
    struct nri_json *made = toml_table(toml);
    toml->at++;
    if (made == NULL)
        return NULL;
    toml_blanks(toml);
    if (!toml_take(toml, "}")) {
        do {
            toml_blanks(toml);
            if (!toml_pair(toml, made))
                return NULL;
            toml_blanks(toml);
        } while (toml_take(toml, ","));
        if (!toml_take(toml, "}"))
            return toml_fail(toml, "a table in braces needs ',' or '}' here, on one line");
    }
    return toml_close(toml, made) ? made : toml_no_memory(toml);
}

struct nri_json *toml_value(struct toml *toml)
{
    struct nri_json *value;
    const size_t line = toml->line;
    if (!toml_enter(toml))
        return NULL;
    switch (toml_peek(toml)) {
    case '"':
    case '\'':
        value = toml_string(toml);
        break;
    case '[':
        value = array(toml);
        break;
    case '{':
        value = inline_table(toml);
        break;
    default:
        value = bare_value(toml);
        break;
    }
    toml_leave(toml);
    if (value != NULL)
        value->line = line;
    return value;
}
