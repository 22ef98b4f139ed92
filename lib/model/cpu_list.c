/* SPDX-License-Identifier: Apache-2.0 */
#include "model/cpu_list.h"

#include <string.h>

#include <nri/cpuset.h>

/* What the texts say. */
_Static_assert(NRI_CPUSET_LARGEST == 1048575, "the rule names another limit");

static const char *read_number(const char *at, unsigned *number)
{
    *number = 0;
    for (; *at >= '0' && *at <= '9'; at++) {
        if (*number <= NRI_CPUSET_LARGEST)
            *number = *number * 10 + (unsigned)(*at - '0');
    }
    return at;
}

int nri_cpu_list_range(const char **at, unsigned *first, unsigned *last, const char **rule)
{
    const char *end = read_number(*at, first);
    *rule = "must be numbers and ranges with commas between, such as \"0-3,7\"";
    if (end == *at)
        return NRI_E_INVALID;
    *last = *first;
    if (*end == '-') {
        const char *second = end + 1;
        end = read_number(second, last);
        if (end == second) {
            *at = second;
            return NRI_E_INVALID;
        }
    }
    if (*first > NRI_CPUSET_LARGEST || *last > NRI_CPUSET_LARGEST) {
        *rule = "no number may be above 1048575";
        return NRI_E_RANGE;
    }
    if (*last < *first) {
        *rule = "a range must ascend, such as \"0-3\"";
        return NRI_E_RANGE;
    }
    *at = end;
    return 0;
}

int nri_cpu_list_check(const char *text, const char **rule, size_t *offset)
{
    const char *at = text;
    unsigned first, last;
    int code = nri_cpu_list_range(&at, &first, &last, rule);
    while (code == 0 && *at == ',') {
        at++;
        code = nri_cpu_list_range(&at, &first, &last, rule);
    }
    if (code == 0 && *at != '\0')
        code = NRI_E_INVALID;
    if (code == NRI_E_INVALID && *at != '\0' && strchr(" \t\n\v\f\r", *at) != NULL)
        *rule = "no blanks; nri_cpuset_format() writes the form";
    *offset = (size_t)(at - text);
    return code;
}
