/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.env */
#include "model/adjustment_builder.h"
#include "model/pair_builder.h"

static const struct nri_pair_kind env = {
    .type = &nri__pkg__api__v1alpha1__key_value__descriptor,
    .noun = "env",
    .key_name = "env name",
    .remover = "nri_adjustment_remove_env",
    .forbidden = '=',
};

int nri_adjustment_add_env(nri_adjustment *adjustment, const char *name, const char *value)
{
    int code = nri_adjustment_enter(adjustment);
    if (code != 0)
        return code;
    return nri_pair_add(&adjustment->env, &adjustment->builder, &env, name, value);
}

int nri_adjustment_remove_env(nri_adjustment *adjustment, const char *name)
{
    int code = nri_adjustment_enter(adjustment);
    if (code != 0)
        return code;
    nri_adjustment_uses_feature(adjustment, NRI_FEATURE_BIT(REMOVE_ENV));
    return nri_pair_remove(&adjustment->env, &adjustment->builder, &env, name);
}

int nri_adjustment_replace_env(nri_adjustment *adjustment, const char *name, const char *value)
{
    int code = nri_adjustment_enter(adjustment);
    if (code != 0)
        return code;
    return nri_pair_replace(&adjustment->env, &adjustment->builder, &env, name, value);
}
