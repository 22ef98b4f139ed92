/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.linux.sysctl */
#include "model/adjustment_builder.h"
#include "model/pair_builder.h"

static const struct nri_pair_kind sysctl = {
    .type = &nri__pkg__api__v1alpha1__linux_container_adjustment__sysctl_entry__descriptor,
    .noun = "sysctl",
    .key_name = "sysctl",
    .remover = "nri_adjustment_remove_sysctl",
    .forbidden = '/',
};

static int need_list(nri_adjustment *adjustment, struct nri_keyed **list)
{
    const struct nri_where field = {.name = "sysctl"};
    int code = nri_adjustment_enter(adjustment);
    if (code != 0)
        return code;
    struct nri_adjustment_rare *rare = nri_adjustment_need_rare(adjustment);
    if (rare == NULL)
        return nri_builder_refuse_memory(&adjustment->builder, &field);
    *list = &rare->sysctl;
    return 0;
}

int nri_adjustment_set_sysctl(nri_adjustment *adjustment, const char *key, const char *value)
{
    struct nri_keyed *list = NULL;
    int code = need_list(adjustment, &list);
    return code == 0 ? nri_pair_add(list, &adjustment->builder, &sysctl, key, value) : code;
}

int nri_adjustment_remove_sysctl(nri_adjustment *adjustment, const char *key)
{
    struct nri_keyed *list = NULL;
    int code = need_list(adjustment, &list);
    return code == 0 ? nri_pair_remove(list, &adjustment->builder, &sysctl, key) : code;
}

int nri_adjustment_replace_sysctl(nri_adjustment *adjustment, const char *key, const char *value)
{
    struct nri_keyed *list = NULL;
    int code = need_list(adjustment, &list);
    return code == 0 ? nri_pair_replace(list, &adjustment->builder, &sysctl, key, value) : code;
}
