/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.seccomp_policy */
#include "model/adjustment_builder.h"
#include "model/seccomp_builder.h"

nri_seccomp *nri_adjustment_edit_seccomp_policy(nri_adjustment *adjustment)
{
    const struct nri_where field = {.name = "seccomp policy"};
    if (nri_adjustment_enter(adjustment) != 0)
        return NULL;
    Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment *linux_part = &adjustment->frame->linux_part;
    if (linux_part->seccomp_policy != NULL)
        return (void *)linux_part->seccomp_policy;
    struct nri_adjustment_rare *rare = nri_adjustment_need_rare(adjustment);
    if (rare == NULL) {
        (void)nri_builder_refuse_memory(&adjustment->builder, &field);
        return NULL;
    }
    nri_seccomp *seccomp = nri_seccomp_make(&adjustment->builder, NULL);
    if (seccomp == NULL)
        return NULL;
    linux_part->seccomp_policy = (void *)seccomp;
    rare->check_seccomp = nri_seccomp_check;
    return seccomp;
}
