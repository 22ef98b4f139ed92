/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.oom_score_adj */
#include "model/adjustment_builder.h"
#include "model/make.h"

int nri_adjustment_set_oom_score_adj(nri_adjustment *adjustment, int64_t score)
{
    NRI_MESSAGE(OptionalInt) * message;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_oom_score_adj(&adjustment->builder, score, &message);
    if (code != 0)
        return code;
    nri_adjustment_uses_feature(adjustment, NRI_FEATURE_BIT(OOM_SCORE_ADJ));
    adjustment->frame->linux_part.oom_score_adj = message;
    return 0;
}
