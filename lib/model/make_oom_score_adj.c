/* SPDX-License-Identifier: Apache-2.0 */
/* oom_score_adj of adjustments and containers */
#include "model/make.h"

int nri_make_oom_score_adj(struct nri_builder *builder, int64_t score,
                           NRI_MESSAGE(OptionalInt) * *message)
{
    const struct nri_where field = {.name = "oom_score_adj"};
    int code = nri_check_signed(builder, &field, score, score >= -1000 && score <= 1000,
                                "must be -1000 to 1000");
    if (code != 0)
        return code;
    NRI_MESSAGE(OptionalInt) *made =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__optional_int__descriptor);
    if (made == NULL)
        return nri_builder_refuse_memory(builder, &field);
    made->value = score;
    *message = made;
    return 0;
}
