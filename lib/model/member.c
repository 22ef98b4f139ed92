/* SPDX-License-Identifier: Apache-2.0 */
#include "model/member.h"

#include "model/make.h"

typedef Nri__Pkg__Api__V1alpha1__KeyValue pair_message;

#define ASSERT_PAIR(entry)                                                                         \
    _Static_assert(                                                                                \
        sizeof(Nri__Pkg__Api__V1alpha1__##entry) == sizeof(pair_message) &&                        \
            offsetof(Nri__Pkg__Api__V1alpha1__##entry, key) == offsetof(pair_message, key) &&      \
            offsetof(Nri__Pkg__Api__V1alpha1__##entry, value) == offsetof(pair_message, value),    \
        #entry ": not laid out like KeyValue")

ASSERT_PAIR(PodSandbox__LabelsEntry);
ASSERT_PAIR(PodSandbox__AnnotationsEntry);
ASSERT_PAIR(Container__LabelsEntry);
ASSERT_PAIR(Container__AnnotationsEntry);
ASSERT_PAIR(LinuxContainer__SysctlEntry);

int nri_member_text(struct nri_builder *builder, const struct nri_where *field, const char *text,
                    bool filled, char **copy)
{
    int code = filled ? nri_builder_check_filled(builder, field, text)
                      : nri_builder_check_text(builder, field, text);
    if (code != 0)
        return code;
    char *made = nri_builder_text(builder, text);
    if (made == NULL)
        return nri_builder_refuse_memory(builder, field);
    *copy = made;
    return 0;
}

int nri_member_set_pair(struct nri_builder *builder, const struct nri_member_pair *kind,
                        struct nri_unique *unique, size_t *count, void *array, const char *key,
                        const char *value)
{
    const struct nri_where key_field = {.name = kind->key_name};
    const struct nri_where field = {.within = kind->noun, .key = key, .name = "value"};
    int code = nri_builder_check_filled(builder, &key_field, key);
    if (code == 0)
        code = nri_builder_check_text(builder, &field, value);
    if (code != 0)
        return code;
    pair_message *entry = nri_make_empty(builder, kind->type);
    if (entry == NULL)
        return nri_builder_refuse_memory(builder, &field);
    entry->key = nri_builder_text(builder, key);
    entry->value = nri_builder_text(builder, value);
    if (entry->key == NULL || entry->value == NULL ||
        nri_unique_set(unique, builder, count, array, &entry->base) != 0)
        return nri_builder_refuse_memory(builder, &field);
    return 0;
}
