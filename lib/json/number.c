/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of a document are kept as their text; here they become integers, exactly or not at
 * all. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "json/document.h"

/*
 * A decimal as digits times a power of ten. The digits are those of the text from the first to the
 * last that is not zero, with the point left out.
 */
struct decimal {
    bool negative;
    const char *first, *last; /* NULL: the number is zero */
    int64_t power;
};

/* Exponents beyond this are as good as this: no text has so many digits that they could make up for
 * it. */
#define LARGEST_EXPONENT (INT64_MAX / 4)

static int64_t read_exponent(const char *next)
{
    bool negative = *next == '-';
    int64_t exponent = 0;
    if (*next == '-' || *next == '+')
        next++;
    for (; *next != '\0' && exponent < LARGEST_EXPONENT / 10 - 1; next++)
        exponent = exponent * 10 + (*next - '0');
    if (*next != '\0')
        exponent = LARGEST_EXPONENT;
    return negative ? -exponent : exponent;
}

/* `text` is a JSON number. */
static struct decimal take_apart(const char *text)
{
    struct decimal decimal = {.negative = *text == '-'};
    int64_t power_of_last = 0; /* of the digit at `last`, when the exponent is 0 */
    int64_t behind_point = 0;
    bool point = false;
    const char *next = text + decimal.negative;
    int64_t integer_digits_behind = 0; /* integer digits behind `last` */
    for (; *next != '\0' && *next != 'e' && *next != 'E'; next++) {
        if (*next == '.') {
            point = true;
            continue;
        }
        behind_point += point;
        if (*next == '0' && decimal.first == NULL)
            continue;
        integer_digits_behind += !point;
        if (*next == '0')
            continue;
        if (decimal.first == NULL)
            decimal.first = next;
        decimal.last = next;
        power_of_last = -behind_point;
        integer_digits_behind = 0;
    }
    decimal.power = power_of_last + integer_digits_behind;
    if (*next != '\0')
        decimal.power += read_exponent(next + 1);
    return decimal;
}

static bool push_digit(uint64_t *sum, unsigned digit)
{
    if (*sum > (UINT64_MAX - digit) / 10)
        return false;
    *sum = *sum * 10 + digit;
    return true;
}

/* The size of the number without its sign. */
static int read_magnitude(const struct decimal *decimal, uint64_t *magnitude)
{
    *magnitude = 0;
    if (decimal->first == NULL)
        return 0;
    if (decimal->power < 0)
        return NRI_E_SYNTAX; /* the last digit is not zero and stands behind the point */
    /* The first digit is not zero, so that twenty more are too many: however large the power, the
     * loops are short. */
    uint64_t sum = 0;
    for (const char *next = decimal->first; next <= decimal->last; next++) {
        if (*next != '.' && !push_digit(&sum, (unsigned)(*next - '0')))
            return NRI_E_RANGE;
    }
    for (int64_t zeros = decimal->power; zeros > 0; zeros--) {
        if (!push_digit(&sum, 0))
            return NRI_E_RANGE;
    }
    *magnitude = sum;
    return 0;
}

static int read_integer(const struct nri_json *value, bool *negative, uint64_t *magnitude)
{
    if (nri_json_type(value) != NRI_JSON_NUMBER)
        return NRI_E_SYNTAX;
    struct decimal decimal = take_apart(value->u.text);
    *negative = decimal.negative;
    return read_magnitude(&decimal, magnitude);
}

int nri_json_int64(const struct nri_json *value, int64_t *number)
{
    bool negative;
    uint64_t magnitude;
    int rc = read_integer(value, &negative, &magnitude);
    if (rc != 0)
        return rc;
    if (magnitude > (uint64_t)INT64_MAX + negative)
        return NRI_E_RANGE;
    if (!negative)
        *number = (int64_t)magnitude;
    else /* INT64_MIN has no positive counterpart */
        *number = magnitude == 0 ? 0 : -(int64_t)(magnitude - 1) - 1;
    return 0;
}

int nri_json_uint64(const struct nri_json *value, uint64_t *number)
{
    bool negative;
    uint64_t magnitude;
    int rc = read_integer(value, &negative, &magnitude);
    if (rc != 0)
        return rc;
    if (negative && magnitude != 0)
        return NRI_E_RANGE;
    *number = magnitude;
    return 0;
}

int nri_json_double(const struct nri_json *value, double *number)
{
    if (nri_json_type(value) != NRI_JSON_NUMBER)
        return NRI_E_SYNTAX;
    /* Plain strtod() takes the decimal point from the program's locale. */
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (c == (locale_t)0)
        return NRI_E_NOMEM;
    double result = strtod_l(value->u.text, NULL, c);
    freelocale(c);
    if (!isfinite(result))
        return NRI_E_RANGE;
    *number = result;
    return 0;
}
