/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.scheduler */
#include "model/adjustment_builder.h"
#include "model/make.h"

int nri_adjustment_set_scheduler(nri_adjustment *adjustment, enum nri_scheduler_policy policy,
                                 int32_t nice, int32_t priority, const int *flags,
                                 size_t flag_count, uint64_t runtime, uint64_t deadline,
                                 uint64_t period)
{
    NRI_MESSAGE(LinuxScheduler) * message;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_scheduler(&adjustment->builder, (int)policy, nice, priority, flags,
                                  flag_count, runtime, deadline, period, &message);
    if (code != 0)
        return code;
    nri_adjustment_uses_feature(adjustment, NRI_FEATURE_BIT(SCHEDULER));
    adjustment->frame->linux_part.scheduler = message;
    return 0;
}
