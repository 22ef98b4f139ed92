/* SPDX-License-Identifier: Apache-2.0 */
/* POSIXRlimit */
#include <inttypes.h>
#include <stdio.h>

#include "model/make.h"

int nri_make_rlimit(struct nri_builder *builder, const char *type, uint64_t hard, uint64_t soft,
                    NRI_MESSAGE(POSIXRlimit) * *message)
{
    const struct nri_where soft_field = {.within = "rlimit", .key = type, .name = "soft"};
    const struct nri_where field = {.within = "rlimit", .key = type, .name = "entry"};
    char rule[64];
    int code = nri_check_rlimit_type(builder, type);
    if (code == 0) {
        snprintf(rule, sizeof rule, "must not be above hard %" PRIu64, hard);
        code = nri_check_unsigned(builder, &soft_field, soft, soft <= hard, rule);
    }
    if (code != 0)
        return code;
    NRI_MESSAGE(POSIXRlimit) *made =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__posixrlimit__descriptor);
    if (made != NULL)
        made->type = nri_builder_text(builder, type);
    if (made == NULL || made->type == NULL)
        return nri_builder_refuse_memory(builder, &field);
    made->hard = hard;
    made->soft = soft;
    *message = made;
    return 0;
}
