/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.memory_policy */
#include "model/adjustment_builder.h"
#include "model/make.h"

int nri_adjustment_set_memory_policy(nri_adjustment *adjustment, enum nri_mpol_mode mode,
                                     const char *nodes, const int *flags, size_t flag_count)
{
    NRI_MESSAGE(LinuxMemoryPolicy) * message;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_memory_policy(&adjustment->builder, (int)mode, nodes, flags, flag_count,
                                      &message);
    if (code != 0)
        return code;
    nri_adjustment_uses_feature(adjustment, NRI_FEATURE_BIT(MEMORY_POLICY));
    adjustment->frame->linux_part.memory_policy = message;
    return 0;
}
