/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ContainerAdjustment.args. "Replace" is an empty argument in front, which a runtime takes away. As
 * with every removal marker, a later nri_adjustment_set_args() keeps it.
 */
#include "model/adjustment_builder.h"

static int check(struct nri_builder *builder, const char *const *args, size_t count)
{
    const struct nri_where whole = {.name = "args"};
    struct nri_where one = {.name = "args", .indexed = true};
    if (args == NULL || count == 0)
        return nri_builder_refuse_number(builder, NRI_E_INVALID, &whole,
                                         count == 0 ? "(none)" : "NULL",
                                         "must be at least one text, the program");
    int code = nri_builder_check_filled(builder, &one, args[0]);
    for (one.index = 1; code == 0 && one.index < count; one.index++)
        code = nri_builder_check_text(builder, &one, args[one.index]);
    return code;
}

static char **copy(struct nri_builder *builder, const char *const *args, size_t count,
                   size_t in_front)
{
    char **texts = nri_arena_array(builder->arena, in_front + count, sizeof(char *));
    if (texts == NULL)
        return NULL;
    if (in_front > 0)
        texts[0] = nri_builder_text(builder, NULL);
    for (size_t i = 0; i < count; i++) {
        texts[in_front + i] = nri_builder_text(builder, args[i]);
        if (texts[in_front + i] == NULL)
            return NULL;
    }
    return texts;
}

static int set(nri_adjustment *adjustment, bool replace, const char *const *args, size_t count)
{
    struct nri_builder *builder = &adjustment->builder;
    const struct nri_where field = {.name = "args"};
    int code = check(builder, args, count);
    if (code != 0)
        return code;
    bool replaced = adjustment->arg_count > 0 && adjustment->args[0][0] == '\0';
    size_t in_front = replace || replaced ? 1 : 0;
    char **texts = copy(builder, args, count, in_front);
    if (texts == NULL)
        return nri_builder_refuse_memory(builder, &field);
    nri_adjustment_uses_feature(adjustment, NRI_FEATURE_BIT(ARGS));
    adjustment->args = texts;
    adjustment->arg_count = in_front + count;
    return 0;
}

int nri_adjustment_set_args(nri_adjustment *adjustment, const char *const *args, size_t count)
{
    int code = nri_adjustment_enter(adjustment);
    return code == 0 ? set(adjustment, false, args, count) : code;
}

int nri_adjustment_replace_args(nri_adjustment *adjustment, const char *const *args, size_t count)
{
    int code = nri_adjustment_enter(adjustment);
    return code == 0 ? set(adjustment, true, args, count) : code;
}
