/* SPDX-License-Identifier: Apache-2.0 */
#include "model/rlimit.h"

#include <string.h>

#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__POSIXRlimit rlimit_message;

/* `rlimit` NULL gives "" and 0. */
static void give(const rlimit_message *rlimit, const char **type, uint64_t *hard, uint64_t *soft)
{
    nri_reader_give(rlimit != NULL ? rlimit->type : NULL, type);
    if (hard != NULL)
        *hard = rlimit != NULL ? rlimit->hard : 0;
    if (soft != NULL)
        *soft = rlimit != NULL ? rlimit->soft : 0;
}

bool nri_rlimits_at(struct nri_rlimits rlimits, size_t index, const char **type, uint64_t *hard,
                    uint64_t *soft)
{
    const bool found = index < rlimits.count;
    give(found ? rlimits.list[index] : NULL, type, hard, soft);
    return found;
}

bool nri_rlimits_find(struct nri_rlimits rlimits, const char *type, uint64_t *hard, uint64_t *soft)
{
    const size_t length = type != NULL ? strlen(type) : 0;
    const rlimit_message *found = NULL;
    for (size_t i = rlimits.count; type != NULL && found == NULL && i-- > 0;) {
        const rlimit_message *rlimit = rlimits.list[i];
        if (rlimit != NULL && nri_reader_text_is(rlimit->type, type, length))
            found = rlimit;
    }
    give(found, NULL, hard, soft);
    return found != NULL;
}
