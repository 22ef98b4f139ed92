/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kubernetes quantities, exactly: the digits of the text are worked on one by one, so that neither
 * their number nor their size loses anything, without floating point and without memory.
 */
#include <nri/quantity.h>

#include <string.h>

#include "model/decimal.h"
#include "model/value_fault.h"

#define GRAMMAR                                                                                    \
    "must be digits with an optional sign, point, and suffix (n u m k M G T P E, Ki Mi Gi Ti Pi "  \
    "Ei, or an exponent such as e3)"
/* Far past what any text can mean, far from what overflows. */
#define LARGEST_EXPONENT INT64_C(1000000000000)

/* ---- reading ---- */

/* A quantity taken apart: the digits, a point in or beside them, and a power of two. */
struct parts {
    bool negative, all_zero;
    const char *digits; /* with the point that the text has, if it has one */
    size_t length;      /* of both */
    int64_t point;      /* how many digits stand in front of where the point belongs */
    unsigned shift;     /* and the power of two that the number counts */
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static size_t digits_at(const char *at)
{
    size_t count = 0;
    while (is_digit(at[count]))
        count++;
    return count;
}

/* The number without its sign; NULL when there is no digit. */
static const char *read_digits(const char *at, struct parts *parts)
{
    size_t whole = digits_at(at), fraction = 0, length = whole;
    if (at[whole] == '.') {
        fraction = digits_at(at + whole + 1);
        length = whole + 1 + fraction;
    }
    if (whole + fraction == 0)
        return NULL;
    parts->digits = at;
    parts->length = length;
    parts->point = (int64_t)whole;
    parts->all_zero = strspn(at, "0.") >= length;
    return at + length;
}

/* An exponent behind its letter; false when there is none, or more. */
static bool read_exponent(const char *at, struct parts *parts)
{
    int64_t exponent = 0;
    bool negative = *at == '-';
    if (*at == '-' || *at == '+')
        at++;
    size_t count = digits_at(at);
    for (size_t i = 0; i < count; i++) {
        if (exponent < LARGEST_EXPONENT)
            exponent = exponent * 10 + (at[i] - '0');
    }
    parts->point += negative ? -exponent : exponent;
    return count > 0 && at[count] == '\0';
}

static bool read_suffix(const char *at, struct parts *parts)
{
    static const char binary[] = "KMGTPE", decimal[] = "num kMGTPE";
    const char *found;
    parts->shift = 0;
    if (*at == '\0')
        return true;
    if (at[1] == 'i' && at[2] == '\0' && (found = strchr(binary, at[0])) != NULL) {
        parts->shift = 10 * (unsigned)(found - binary + 1);
        return true;
    }
    if (at[1] == '\0' && at[0] != ' ' && (found = strchr(decimal, at[0])) != NULL) {
        parts->point += 3 * (found - decimal) - 9;
        return true;
    }
    return (*at == 'e' || *at == 'E') && read_exponent(at + 1, parts);
}

/* The digits up to where the point belongs, as a number; false when it is over 64 bits. */
static bool whole_part(const struct parts *parts, uint64_t *whole)
{
    int64_t left = parts->point;
    *whole = 0;
    for (size_t i = 0; left > 0; i++) {
        uint64_t digit = 0; /* behind the last one there are zeros */
        if (i >= parts->length && *whole == 0)
            return true;
        if (i < parts->length && parts->digits[i] == '.')
            continue;
        if (i < parts->length)
            digit = (uint64_t)(parts->digits[i] - '0');
        if (*whole > (UINT64_MAX - digit) / 10)
            return false;
        *whole = *whole * 10 + digit;
        left--;
    }
    return true;
}

/*
 * The digits behind where the point belongs, times 2^shift: the whole number in it, and whether
 * there is something left. From the last digit to the first, each step takes in one digit and
 * divides by 10; a remainder of any step is one of the whole, and no step is above 10 * 2^60.
 */
static uint64_t fraction_part(const struct parts *parts, bool *rest)
{
    uint64_t value = 0;
    int64_t index = 0; /* of the digit, counted from the first one */
    for (size_t i = 0; i < parts->length; i++)
        index += parts->digits[i] != '.';
    *rest = false;
    for (size_t i = parts->length; i > 0 && index > parts->point && index > 0; i--) {
        if (parts->digits[i - 1] == '.')
            continue;
        value += (uint64_t)(parts->digits[i - 1] - '0') << parts->shift;
        *rest |= value % 10 != 0;
        value /= 10;
        index--;
    }
    /* Zeros between the point and the first digit. */
    for (int64_t zeros = -parts->point; zeros > 0 && value > 0; zeros--) {
        *rest |= value % 10 != 0;
        value /= 10;
    }
    return value;
}

/* Puts the parts together; false when it is over 63 bits. */
static bool put_together(const struct parts *parts, int64_t *value)
{
    const uint64_t largest = (uint64_t)INT64_MAX + (parts->negative ? 1 : 0);
    uint64_t whole;
    bool rest;
    if (!whole_part(parts, &whole) || whole > largest >> parts->shift)
        return false;
    uint64_t total = (whole << parts->shift) + fraction_part(parts, &rest);
    if (total > largest || (rest && total == largest))
        return false;
    total += rest ? 1 : 0; /* away from zero */
    if (!parts->negative)
        *value = (int64_t)total;
    else
        *value = total == 0 ? 0 : -(int64_t)(total - 1) - 1;
    return true;
}

int nri_quantity_read(const char *text, bool milli, int64_t *value, struct nri_value_fault *fault)
{
    struct parts parts = {.negative = text[0] == '-'};
    const char *at = text + (text[0] == '-' || text[0] == '+');
    const char *suffix = read_digits(at, &parts);
    if (suffix == NULL || !read_suffix(suffix, &parts))
        return nri_value_fault_set(fault, NRI_E_SYNTAX, GRAMMAR,
                                   (size_t)((suffix != NULL ? suffix : at) - text));
    parts.point += milli ? 3 : 0;
    if (parts.all_zero)
        *value = 0;
    else if (!put_together(&parts, value))
        return nri_value_fault_set(fault, NRI_E_RANGE,
                                   milli ? "must be at most 9223372036854775807 thousandths"
                                         : "must be at most 9223372036854775807",
                                   SIZE_MAX);
    return 0;
}

static int parse(const char *text, bool milli, int64_t *value, nri_error **error)
{
    struct nri_value_fault fault;
    struct nri_error why;
    struct nri_alloc alloc;
    int code = nri_alloc_resolve(&alloc, NULL);
    if (error != NULL)
        *error = NULL;
    nri_error_clear(&why);
    if (code != 0 || text == NULL || value == NULL) {
        nri_error_set(&why, code != 0 ? code : NRI_E_INVALID, "quantity: %s is NULL",
                      text == NULL ? "text" : "value");
    } else {
        if (nri_quantity_read(text, milli, value, &fault) == 0)
            return 0;
        nri_value_fault_describe(&fault, "quantity", text, &why);
    }
    return nri_value_fault_return(&why, &alloc, error);
}

int nri_quantity_parse(const char *text, int64_t *value, nri_error **error)
{
    return parse(text, false, value, error);
}

int nri_quantity_parse_milli(const char *text, int64_t *value, nri_error **error)
{
    return parse(text, true, value, error);
}

/* ---- writing ---- */

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? (uint64_t) - (value + 1) + 1 : (uint64_t)value;
}

/* The number with as large a suffix as divides it; `suffixes` has a blank for none. */
static size_t format(int64_t value, uint64_t base, const char *suffixes, const char *tail,
                     struct nri_decimal_out *out)
{
    uint64_t number = magnitude(value);
    while (number != 0 && number % base == 0 && suffixes[1] != '\0') {
        number /= base;
        suffixes++;
    }
    if (number == 0)
        suffixes = " ";
    if (value < 0)
        nri_decimal_out_char(out, '-');
    nri_decimal_out_number(out, number);
    if (*suffixes != ' ') {
        nri_decimal_out_char(out, *suffixes);
        for (; *tail != '\0'; tail++)
            nri_decimal_out_char(out, *tail);
    }
    return nri_decimal_out_end(out);
}

size_t nri_quantity_format(int64_t value, char *text, size_t size)
{
    struct nri_decimal_out out;
    nri_decimal_out_init(&out, text, size);
    /* Kubernetes' own rule: below 1024 there is no binary suffix, and 1000 is "1k". */
    if (magnitude(value) < 1024)
        return format(value, 1000, " kMGTPE", "", &out);
    return format(value, 1024, " KMGTPE", "i", &out);
}

size_t nri_quantity_format_milli(int64_t value, char *text, size_t size)
{
    struct nri_decimal_out out;
    nri_decimal_out_init(&out, text, size);
    return format(value, 1000, "m kMGTPE", "", &out);
}
