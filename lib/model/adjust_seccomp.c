/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.seccomp_policy */
#include "model/adjustment_builder.h"
#include "model/seccomp_builder.h"

/* Makes `from`, or an empty one for NULL, the policy. */
static nri_seccomp *start(nri_adjustment *adjustment,
                          const Nri__Pkg__Api__V1alpha1__LinuxSeccomp *from)
{
    const struct nri_where field = {.name = "seccomp policy"};
    struct nri_adjustment_rare *rare = nri_adjustment_need_rare(adjustment);
    if (rare == NULL) {
        (void)nri_builder_refuse_memory(&adjustment->builder, &field);
        return NULL;
    }
    nri_seccomp *seccomp = nri_seccomp_make(&adjustment->builder, from);
    if (seccomp == NULL)
        return NULL;
    adjustment->frame->linux_part.seccomp_policy = (void *)seccomp;
    rare->check_seccomp = nri_seccomp_check;
    return seccomp;
}

nri_seccomp *nri_adjustment_edit_seccomp_policy(nri_adjustment *adjustment)
{
    if (nri_adjustment_enter(adjustment) != 0)
        return NULL;
    if (adjustment->frame->linux_part.seccomp_policy != NULL)
        return (void *)adjustment->frame->linux_part.seccomp_policy;
    return start(adjustment, NULL);
}

bool nri_adjustment_try_seccomp(nri_adjustment *scratch, const nri_adjustment *of)
{
    const Nri__Pkg__Api__V1alpha1__LinuxSeccomp *from = of->frame->linux_part.seccomp_policy;
    return from == NULL || start(scratch, from) != NULL;
}
