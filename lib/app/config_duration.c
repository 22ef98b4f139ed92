/* SPDX-License-Identifier: Apache-2.0 */
/* Durations: numbers with units, such as "1.5s" or "1h30m". */
#include <string.h>

#include "config_field.h"

struct unit {
    const char *name;
    int64_t nanoseconds;
};

static const struct unit *find_unit(const char *text, size_t length)
{
    static const struct unit units[] = {
        {"ns", 1},
        {"us", 1000},
        {"ms", 1000000},
        {"s", 1000000000},
        {"m", 60 * INT64_C(1000000000)},
        {"h", 3600 * INT64_C(1000000000)},
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].name) == length && memcmp(units[i].name, text, length) == 0)
            return &units[i];
    }
    return NULL;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool add(int64_t *sum, int64_t more)
{
    return !__builtin_add_overflow(*sum, more, sum);
}

/* The digits behind a point: each is worth a tenth of the one before it. */
static const char *add_fraction(const char *c, int64_t unit, int64_t *sum, bool *fits)
{
    for (; is_digit(*c); c++) {
        int digit = *c - '0';
        if (digit != 0 && (unit == 0 || unit % 10 != 0))
            return "has too many digits behind the point: nanoseconds are the smallest unit";
        unit /= 10;
        *fits = *fits && add(sum, unit * digit);
    }
    return NULL;
}

static const char *parse_part(const char **text, int64_t *sum, bool *fits)
{
    const char *c = *text;
    size_t whole = strspn(c, "0123456789"), fraction = 0;
    if (c[whole] == '.')
        fraction = 1 + strspn(c + whole + 1, "0123456789");
    if (whole == 0 || fraction == 1)
        return "is no duration: write digits and a unit, such as \"250ms\", \"1.5s\", \"2m\" or "
               "\"1h\"";
    const char *name = c + whole + fraction;
    size_t length = strcspn(name, "0123456789.");
    if (length == 0)
        return "has no unit: write ns, us, ms, s, m or h behind the number";
    const struct unit *unit = find_unit(name, length);
    if (unit == NULL)
        return "has a unit that there is not: there are ns, us, ms, s, m and h";
    int64_t number = 0, part;
    for (size_t i = 0; i < whole; i++)
        *fits = *fits && !__builtin_mul_overflow(number, 10, &number) && add(&number, c[i] - '0');
    *fits = *fits && !__builtin_mul_overflow(number, unit->nanoseconds, &part) && add(sum, part);
    *text = name + length;
    return fraction > 0 ? add_fraction(c + whole + 1, unit->nanoseconds, sum, fits) : NULL;
}

const char *app_duration_parse(const char *text, int64_t *nanoseconds)
{
    int64_t sum = 0;
    bool fits = true;
    do {
        const char *reason = parse_part(&text, &sum, &fits);
        if (reason != NULL)
            return reason;
    } while (*text != '\0');
    if (!fits)
        return "is out of range: at most \"2562047h\"";
    *nanoseconds = sum;
    return NULL;
}
