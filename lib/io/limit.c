/* SPDX-License-Identifier: Apache-2.0 */
#include "io/limit.h"

int nri_limits_check(struct nri_limit *limits, size_t count, struct nri_error *error)
{
    for (size_t i = 0; i < count; i++) {
        struct nri_limit *limit = &limits[i];
        limit->value = limit->given != 0 ? limit->given : limit->fallback;
        if (limit->given != 0 && (limit->given < limit->least || limit->given > limit->most))
            return nri_error_set(error, NRI_E_RANGE,
                                 "%s is %llu; it must be from %llu to %llu, or 0 for the default",
                                 limit->name, (unsigned long long)limit->given,
                                 (unsigned long long)limit->least, (unsigned long long)limit->most);
    }
    return 0;
}
