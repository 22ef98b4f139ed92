/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.cgroups_path */
#include "model/adjustment_builder.h"

int nri_adjustment_set_cgroups_path(nri_adjustment *adjustment, const char *path)
{
    const struct nri_where field = {.name = "cgroups path"};
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_builder_check_filled(&adjustment->builder, &field, path);
    if (code != 0)
        return code;
    char *text = nri_builder_text(&adjustment->builder, path);
    if (text == NULL)
        return nri_builder_refuse_memory(&adjustment->builder, &field);
    nri_adjustment_uses_feature(adjustment, NRI_FEATURE_BIT(CGROUPS_PATH));
    adjustment->frame->linux_part.cgroups_path = text;
    return 0;
}
