/* SPDX-License-Identifier: Apache-2.0 */
/* The parts of LinuxRdt */
#include <string.h>

#include "model/make.h"

int nri_make_rdt_clos_id(struct nri_builder *builder, const char *clos_id,
                         NRI_MESSAGE(OptionalString) * *message)
{
    const struct nri_where field = {.name = "RDT clos_id"};
    int code = nri_builder_check_filled(builder, &field, clos_id);
    if (code == 0 && (strpbrk(clos_id, "/\n") != NULL || strcmp(clos_id, ".") == 0 ||
                      strcmp(clos_id, "..") == 0))
        code = nri_builder_refuse(builder, NRI_E_INVALID, &field, clos_id,
                                  "must be the name of a directory, without \"/\" and newlines");
    if (code != 0)
        return code;
    NRI_MESSAGE(OptionalString) *made =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__optional_string__descriptor);
    if (made != NULL)
        made->value = nri_builder_text(builder, clos_id);
    if (made == NULL || made->value == NULL)
        return nri_builder_refuse_memory(builder, &field);
    *message = made;
    return 0;
}

static int check_schemata(struct nri_builder *builder, const char *const *schemata, size_t count)
{
    struct nri_where field = {.name = "RDT schemata"};
    int code = nri_check_texts(builder, &field, schemata, count, true);
    field.indexed = true;
    for (field.index = 0; code == 0 && field.index < count; field.index++) {
        if (strchr(schemata[field.index], '\n') != NULL)
            code = nri_builder_refuse(builder, NRI_E_INVALID, &field, schemata[field.index],
                                      "must be one line, without a newline");
    }
    return code;
}

int nri_make_rdt_schemata(struct nri_builder *builder, const char *const *schemata, size_t count,
                          NRI_MESSAGE(OptionalRepeatedString) * *message)
{
    const struct nri_where field = {.name = "RDT schemata"};
    int code = check_schemata(builder, schemata, count);
    if (code != 0)
        return code;
    NRI_MESSAGE(OptionalRepeatedString) *made =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__optional_repeated_string__descriptor);
    if (made == NULL || !nri_copy_texts(builder, schemata, count, &made->value))
        return nri_builder_refuse_memory(builder, &field);
    made->n_value = count;
    *message = made;
    return 0;
}
