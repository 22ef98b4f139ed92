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

int nri_limits_check_output(uint64_t max_output, uint64_t max_send, struct nri_error *error)
{
    if (max_output >= max_send + NRI_KIB)
        return 0;
    return nri_error_set(error, NRI_E_RANGE,
                         "max_output_bytes is %llu and max_send_bytes %llu: it must be larger by "
                         "at least %llu, or the largest message could never be sent",
                         (unsigned long long)max_output, (unsigned long long)max_send,
                         (unsigned long long)NRI_KIB);
}

int nri_option_allocator(struct nri_alloc *alloc, const struct nri_allocator *given,
                         struct nri_error *error)
{
    struct nri_alloc taken;
    const int rc = nri_alloc_resolve(&taken, given);
    if (rc != 0)
        return nri_error_set(error, rc, "options.allocator: %s",
                             rc == NRI_E_ABI
                                 ? "its size is wrong; fill it with nri_allocator_init()"
                                 : "set all three functions, or none");
    *alloc = taken;
    return 0;
}
