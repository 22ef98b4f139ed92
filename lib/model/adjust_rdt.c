/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.rdt: each part is set by itself. */
#include "model/adjustment_builder.h"
#include "model/make.h"

/* The message, to be changed by what cannot fail; NULL with the failed call kept. */
static NRI_MESSAGE(LinuxRdt) * need_rdt(nri_adjustment *adjustment)
{
    const struct nri_where field = {.name = "RDT"};
    struct nri_adjustment_rare *rare = nri_adjustment_need_rare(adjustment);
    if (rare == NULL) {
        (void)nri_builder_refuse_memory(&adjustment->builder, &field);
        return NULL;
    }
    adjustment->frame->linux_part.rdt = &rare->rdt;
    return &rare->rdt;
}

int nri_adjustment_set_rdt_clos_id(nri_adjustment *adjustment, const char *clos_id)
{
    NRI_MESSAGE(OptionalString) * value;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_rdt_clos_id(&adjustment->builder, clos_id, &value);
    if (code != 0)
        return code;
    NRI_MESSAGE(LinuxRdt) *rdt = need_rdt(adjustment);
    if (rdt == NULL)
        return adjustment->builder.arena->failure;
    rdt->clos_id = value;
    return 0;
}

int nri_adjustment_set_rdt_schemata(nri_adjustment *adjustment, const char *const *schemata,
                                    size_t count)
{
    NRI_MESSAGE(OptionalRepeatedString) * value;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_rdt_schemata(&adjustment->builder, schemata, count, &value);
    if (code != 0)
        return code;
    NRI_MESSAGE(LinuxRdt) *rdt = need_rdt(adjustment);
    if (rdt == NULL)
        return adjustment->builder.arena->failure;
    rdt->schemata = value;
    return 0;
}

int nri_adjustment_set_rdt_enable_monitoring(nri_adjustment *adjustment, bool enable)
{
    const struct nri_where field = {.name = "RDT enable_monitoring"};
    int code = nri_adjustment_enter(adjustment);
    if (code != 0)
        return code;
    NRI_MESSAGE(OptionalBool) *value =
        nri_make_empty(&adjustment->builder, &nri__pkg__api__v1alpha1__optional_bool__descriptor);
    if (value == NULL)
        return nri_builder_refuse_memory(&adjustment->builder, &field);
    value->value = enable;
    NRI_MESSAGE(LinuxRdt) *rdt = need_rdt(adjustment);
    if (rdt == NULL)
        return adjustment->builder.arena->failure;
    rdt->enable_monitoring = value;
    return 0;
}

int nri_adjustment_remove_rdt(nri_adjustment *adjustment)
{
    int code = nri_adjustment_enter(adjustment);
    if (code != 0)
        return code;
    NRI_MESSAGE(LinuxRdt) *rdt = need_rdt(adjustment);
    if (rdt == NULL)
        return adjustment->builder.arena->failure;
    rdt->remove = true;
    return 0;
}
