/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.rlimits: one a type, because OCI takes no two. */
#include "model/adjustment_builder.h"
#include "model/make.h"

int nri_adjustment_add_rlimit(nri_adjustment *adjustment, const char *type, uint64_t hard,
                              uint64_t soft)
{
    NRI_MESSAGE(POSIXRlimit) * rlimit;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_rlimit(&adjustment->builder, type, hard, soft, &rlimit);
    if (code != 0)
        return code;
    NRI_MESSAGE(ContainerAdjustment) *message = &adjustment->frame->message;
    struct nri_adjustment_rare *rare = nri_adjustment_need_rare(adjustment);
    if (rare == NULL || nri_unique_set(&rare->rlimits, &adjustment->builder, &message->n_rlimits,
                                       &message->rlimits, &rlimit->base) != 0) {
        const struct nri_where field = {.within = "rlimit", .key = type, .name = "entry"};
        return nri_builder_refuse_memory(&adjustment->builder, &field);
    }
    return 0;
}
