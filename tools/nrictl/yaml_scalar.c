/* SPDX-License-Identifier: Apache-2.0 */
#include "yaml_scalar.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_one_of(const char *text, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strcmp(text, *words) == 0)
            return true;
    }
    return false;
}

static size_t digits(const char *text)
{
    size_t count = 0;
    while (isdigit((unsigned char)text[count]))
        count++;
    return count;
}

/* 0o17 and 0x1F: the whole text, or it is none. */
static bool is_based(const char *text)
{
    const char *set = strncmp(text, "0o", 2) == 0   ? "01234567"
                      : strncmp(text, "0x", 2) == 0 ? "0123456789abcdefABCDEF"
                                                    : NULL;
    return set != NULL && text[2] != '\0' && text[2 + strspn(text + 2, set)] == '\0';
}

static int read_based(const char *text, char *number, size_t room, const char **why)
{
    errno = 0;
    const uint64_t value = strtoull(text + 2, NULL, text[1] == 'o' ? 8 : 16);
    if (errno != 0) {
        *why = "a number with a base has at most 64 bits";
        return NRI_E_RANGE;
    }
    (void)snprintf(number, room, "%" PRIu64, value);
    return 0;
}

/* The pieces of a decimal number. */
struct decimal {
    bool minus;
    const char *whole, *fraction, *exponent; /* without sign, point and e */
    size_t whole_digits, fraction_digits, exponent_digits;
    bool exponent_minus;
};

static bool split(const char *text, struct decimal *decimal)
{
    const char *at = text;
    *decimal = (struct decimal){.minus = *at == '-'};
    if (*at == '-' || *at == '+')
        at++;
    decimal->whole = at;
    decimal->whole_digits = digits(at);
    at += decimal->whole_digits;
    if (*at == '.') {
        decimal->fraction = ++at;
        decimal->fraction_digits = digits(at);
        at += decimal->fraction_digits;
    }
    if (decimal->whole_digits + decimal->fraction_digits == 0)
        return false;
    if (*at == 'e' || *at == 'E') {
        at++;
        decimal->exponent_minus = *at == '-';
        if (*at == '-' || *at == '+')
            at++;
        decimal->exponent = at;
        decimal->exponent_digits = digits(at);
        at += decimal->exponent_digits;
        if (decimal->exponent_digits == 0)
            return false;
    }
    return *at == '\0';
}

static int write_decimal(struct decimal *decimal, char *number, size_t room, const char **why)
{
    while (decimal->whole_digits > 1 && *decimal->whole == '0') {
        decimal->whole++;
        decimal->whole_digits--;
    }
    if (decimal->whole_digits + decimal->fraction_digits + decimal->exponent_digits + 8 > room) {
        *why = "the number has too many digits";
        return NRI_E_RANGE;
    }
    (void)snprintf(
        number, room, "%s%.*s%s%.*s%s%s%.*s", decimal->minus ? "-" : "",
        decimal->whole_digits > 0 ? (int)decimal->whole_digits : 1,
        decimal->whole_digits > 0 ? decimal->whole : "0", decimal->fraction_digits > 0 ? "." : "",
        (int)decimal->fraction_digits, decimal->fraction_digits > 0 ? decimal->fraction : "",
        decimal->exponent != NULL ? "e" : "", decimal->exponent_minus ? "-" : "",
        (int)decimal->exponent_digits, decimal->exponent != NULL ? decimal->exponent : "");
    return 0;
}

int yaml_scalar(const char *text, size_t length, enum nri_json_type *type, bool *boolean,
                char *number, size_t room, const char **why)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", NULL};
    static const char *const falses[] = {"false", "False", "FALSE", NULL};
    static const char *const others[] = {".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf",
                                         "+.INF", "-.inf", "-.Inf", "-.INF", ".nan",
                                         ".NaN",  ".NAN",  NULL};
    struct decimal decimal;
    *type = NRI_JSON_STRING;
    *boolean = false;
    if (strlen(text) != length)
        return 0; /* it has a NUL, which is no part of any of these */
    if (is_one_of(text, nulls)) {
        *type = NRI_JSON_NULL;
    } else if ((*boolean = is_one_of(text, trues)) || is_one_of(text, falses)) {
        *type = NRI_JSON_BOOL;
    } else if (is_one_of(text, others)) {
        *why = "infinities and what is no number cannot be said in JSON; a text needs quotes";
        return NRI_E_RANGE;
    } else if (is_based(text)) {
        *type = NRI_JSON_NUMBER;
        return read_based(text, number, room, why);
    } else if (split(text, &decimal)) {
        *type = NRI_JSON_NUMBER;
        return write_decimal(&decimal, number, room, why);
    }
    return 0;
}
