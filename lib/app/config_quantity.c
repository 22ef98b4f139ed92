/* SPDX-License-Identifier: Apache-2.0 */
/* nri_quantity_parse() rounds up, as Kubernetes does; a configuration that says half a byte is
 * wrong. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "config_field.h"

#define LARGEST ((int)(2 * APP_TREE_MAX_BYTES))

/* What stands behind the digits, as a power of ten and a power of two. */
static void read_suffix(const char *suffix, int *ten, int *two)
{
    static const char small[] = "num", large[] = "kMGTPE", binary[] = "KMGTPE";
    *ten = 0;
    *two = 0;
    if (suffix[0] == '\0')
        return;
    const char *found;
    long exponent = strtol(suffix + 1, NULL, 10);
    if (suffix[1] == 'i' && (found = strchr(binary, suffix[0])) != NULL)
        *two = 10 * ((int)(found - binary) + 1);
    else if (suffix[1] != '\0') /* an exponent; beyond a source's length all are the same */
        *ten = exponent < -LARGEST ? -LARGEST : exponent > LARGEST ? LARGEST : (int)exponent;
    else if ((found = strchr(small, suffix[0])) != NULL)
        *ten = 3 * ((int)(found - small) - 3);
    else if ((found = strchr(large, suffix[0])) != NULL)
        *ten = 3 * ((int)(found - large) + 1);
}

/* How many tens the digits can be divided by, those behind the point counted as less than none:
 * "1500" 2, "1.50" -1. INT_MAX for zero. */
static int trailing_tens(const char *digits, size_t length)
{
    const char *point = memchr(digits, '.', length);
    int place = point != NULL ? -(int)(length - (size_t)(point - digits) - 1) : 0;
    while (length > 0) {
        char c = digits[--length];
        if (c >= '1' && c <= '9')
            return place;
        place += c != '.';
    }
    return INT_MAX;
}

/* Whether what is behind the point, `places` digits without zeros at the end, gives whole bytes
 * times 2^two: it must hold as many fives and twos as the power of ten below it. */
static bool is_whole_binary(const char *fraction, int places, int two)
{
    uint64_t number = 0;
    if (places > 19) /* more digits than 64 bits hold */
        return false;
    for (int i = 0; i < places; i++)
        number = number * 10 + (uint64_t)(fraction[i] - '0');
    for (int i = 0; i < places; i++, number /= 5) {
        if (number % 5 != 0)
            return false;
    }
    while (two < places && number % 2 == 0) {
        number /= 2;
        two++;
    }
    return two >= places;
}

bool app_quantity_is_whole(const char *text)
{
    int ten, two;
    text += *text == '+' || *text == '-';
    size_t length = strspn(text, "0123456789.");
    int tens = trailing_tens(text, length);
    read_suffix(text + length, &ten, &two);
    if (tens >= 0 && ten >= 0)
        return true;
    if (two == 0)
        return tens >= -ten;
    return is_whole_binary((const char *)memchr(text, '.', length) + 1, -tens, two);
}
