/* SPDX-License-Identifier: Apache-2.0 */
#include "model/cpu_list.h"

#include <nri/error.h>

static const char *read_number(const char *at, unsigned *number)
{
    *number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (*number <= NRI_CPU_LIST_LARGEST)
            *number = *number * 10 + (unsigned)(*at - '0');
    }
    return at;
}

/* One number or range; *at moves behind it, or stays where it is wrong. */
static int check_range(const char **at, const char **rule)
{
    unsigned first, last;
    const char *end = read_number(*at, &first);
    *rule = "must be numbers and ranges with commas between, such as \"0-3,7\"";
    if (end == *at)
        return NRI_E_INVALID;
    last = first;
    if (*end == '-') {
        const char *second = end + 1;
        end = read_number(second, &last);
        if (end == second) {
            *at = second;
            return NRI_E_INVALID;
        }
    }
    if (first > NRI_CPU_LIST_LARGEST || last > NRI_CPU_LIST_LARGEST) {
        *rule = "no number may be above 1048575";
        return NRI_E_RANGE;
    }
    if (last < first) {
        *rule = "a range must ascend, such as \"0-3\"";
        return NRI_E_RANGE;
    }
    *at = end;
    return 0;
}

int nri_cpu_list_check(const char *text, const char **rule, size_t *offset)
{
    const char *at = text;
    int code = check_range(&at, rule);
    while (code == 0 && *at == ',') {
        at++;
        code = check_range(&at, rule);
    }
    if (code == 0 && *at != '\0')
        code = NRI_E_INVALID;
    *offset = (size_t)(at - text);
    return code;
}
