/* SPDX-License-Identifier: Apache-2.0 */
/* What a YAML scalar without quotes is: the core schema of YAML 1.2, with numbers as JSON has
 * them. */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config_tree.h"

static bool is_one_of(const char *plain, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strcmp(plain, *words) == 0)
            return true;
    }
    return false;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits(const char *text)
{
    size_t count = 0;
    while (is_digit(text[count]))
        count++;
    return count;
}

static const char *skip_sign(const char *text)
{
    return *text == '-' || *text == '+' ? text + 1 : text;
}

/* The parts of a decimal number. */
struct decimal {
    const char *whole, *fraction, *exponent; /* `exponent` with its sign */
    size_t whole_length, fraction_length, exponent_length;
};

static bool split(const char *plain, struct decimal *number)
{
    const char *c = skip_sign(plain);
    memset(number, 0, sizeof *number);
    number->whole = c;
    number->whole_length = digits(c);
    c += number->whole_length;
    if (*c == '.') {
        number->fraction = c + 1;
        number->fraction_length = digits(c + 1);
        c += 1 + number->fraction_length;
    }
    if (number->whole_length + number->fraction_length == 0)
        return false;
    if (*c == 'e' || *c == 'E') {
        const char *power = skip_sign(c + 1);
        if (!is_digit(*power))
            return false;
        number->exponent = c + 1;
        number->exponent_length = (size_t)(power - (c + 1)) + digits(power);
        c = number->exponent + number->exponent_length;
    }
    return *c == '\0';
}

/* JSON has no "+" in front, and wants digits on both sides of a point. */
static const char *write_decimal(struct app_region *region, const char *plain,
                                 const struct decimal *number)
{
    char *text = app_region_take(region, strlen(plain) + 3);
    size_t used = 0;
    if (text == NULL)
        return NULL;
    if (*plain == '-')
        text[used++] = '-';
    if (number->whole_length == 0)
        text[used++] = '0';
    memcpy(text + used, number->whole, number->whole_length);
    used += number->whole_length;
    if (number->fraction_length > 0) {
        text[used++] = '.';
        memcpy(text + used, number->fraction, number->fraction_length);
        used += number->fraction_length;
    }
    if (number->exponent_length > 0) {
        text[used++] = number->exponent[-1];
        memcpy(text + used, number->exponent, number->exponent_length);
    }
    return text;
}

/* 0x1F and 0o17, which have no sign. */
static bool is_based(const char *plain)
{
    if (plain[0] != '0' || (plain[1] != 'x' && plain[1] != 'o') || plain[2] == '\0')
        return false;
    const char *allowed = plain[1] == 'x' ? "0123456789abcdefABCDEF" : "01234567";
    return plain[2 + strspn(plain + 2, allowed)] == '\0';
}

static bool read_based(struct app_region *region, const char *plain, const char **text,
                       const char **reason)
{
    char decimal[24];
    errno = 0;
    unsigned long long number = strtoull(plain + 2, NULL, plain[1] == 'x' ? 16 : 8);
    if (errno != 0) {
        *reason = "a number with 0x or 0o is over 64 bits";
        return false;
    }
    int length = snprintf(decimal, sizeof decimal, "%llu", number);
    *text = app_region_text(region, decimal, (size_t)length);
    return *text != NULL;
}

static bool read_decimal(struct app_region *region, const char *plain, const struct decimal *number,
                         const char **text, const char **reason)
{
    if (number->whole_length > 1 && number->whole[0] == '0') {
        /* A YAML 1.1 reader takes 010 for 8, one of 1.2 for 10. */
        *reason = "a number begins with 0, which readers of YAML take in two ways: leave the 0 "
                  "out, write 0o for an octal number, or quotes for a text";
        return false;
    }
    *text = write_decimal(region, plain, number);
    return *text != NULL;
}

bool app_tree_resolve(struct app_region *region, const char *plain, size_t length,
                      enum app_node_type *type, bool *boolean, const char **text,
                      const char **reason)
{
    static const char *const nulls[] = {"", "~", "null", "Null", "NULL", NULL};
    static const char *const trues[] = {"true", "True", "TRUE", NULL};
    static const char *const falses[] = {"false", "False", "FALSE", NULL};
    static const char *const specials[] = {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN", NULL};
    struct decimal number;
    *boolean = false;
    *text = NULL;
    *reason = NULL;
    *type = APP_NODE_NUMBER;
    if (is_based(plain))
        return read_based(region, plain, text, reason);
    if (split(plain, &number))
        return read_decimal(region, plain, &number, text, reason);
    if (is_one_of(skip_sign(plain), specials)) {
        *reason = "an infinite number, or none at all, is not taken: write quotes for a text";
        return false;
    }
    *boolean = is_one_of(plain, trues);
    if (is_one_of(plain, nulls)) {
        *type = APP_NODE_NULL;
    } else if (*boolean || is_one_of(plain, falses)) {
        *type = APP_NODE_BOOL;
    } else {
        *type = APP_NODE_TEXT;
        *text = app_region_text(region, plain, length);
    }
    return *type != APP_NODE_TEXT || *text != NULL;
}
