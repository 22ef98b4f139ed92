/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.annotations */
#include "model/adjustment_builder.h"
#include "model/pair_builder.h"

static const struct nri_pair_kind annotation = {
    .type = &nri__pkg__api__v1alpha1__container_adjustment__annotations_entry__descriptor,
    .noun = "annotation",
    .key_name = "annotation key",
    .remover = "nri_adjustment_remove_annotation",
};

int nri_adjustment_add_annotation(nri_adjustment *adjustment, const char *key, const char *value)
{
    int code = nri_adjustment_enter(adjustment);
    if (code != 0)
        return code;
    return nri_pair_add(&adjustment->annotations, &adjustment->builder, &annotation, key, value);
}

int nri_adjustment_remove_annotation(nri_adjustment *adjustment, const char *key)
{
    int code = nri_adjustment_enter(adjustment);
    if (code != 0)
        return code;
    return nri_pair_remove(&adjustment->annotations, &adjustment->builder, &annotation, key);
}

int nri_adjustment_replace_annotation(nri_adjustment *adjustment, const char *key,
                                      const char *value)
{
    int code = nri_adjustment_enter(adjustment);
    if (code != 0)
        return code;
    return nri_pair_replace(&adjustment->annotations, &adjustment->builder, &annotation, key,
                            value);
}
