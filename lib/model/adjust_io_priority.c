/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.io_priority */
#include "model/adjustment_builder.h"
#include "model/make.h"

int nri_adjustment_set_io_priority(nri_adjustment *adjustment, enum nri_ioprio_class ioprio_class,
                                   int32_t priority)
{
    NRI_MESSAGE(LinuxIOPriority) * message;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_io_priority(&adjustment->builder, (int)ioprio_class, priority, &message);
    if (code != 0)
        return code;
    nri_adjustment_uses_feature(adjustment, NRI_FEATURE_BIT(IO_PRIORITY));
    adjustment->frame->linux_part.io_priority = message;
    return 0;
}
