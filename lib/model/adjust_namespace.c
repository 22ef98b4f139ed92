/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ContainerAdjustment.linux.namespaces. Unlike with other lists, a removal and a new value of one
 * type are not sent together: runtimes count both as setting the type, and would find the plugin in
 * conflict with itself. The last call counts.
 */
#include "model/adjustment_builder.h"
#include "model/make.h"

typedef NRI_MESSAGE(LinuxNamespace) namespace_message;

static int put(nri_adjustment *adjustment, const char *type, namespace_message *entry)
{
    struct nri_adjustment_rare *rare = nri_adjustment_need_rare(adjustment);
    char *key = nri_builder_text(&adjustment->builder, type);
    if (entry != NULL && rare != NULL && key != NULL &&
        nri_keyed_set(&rare->namespaces, &adjustment->builder, key, NULL, &entry->base) == 0)
        return 0;
    const struct nri_where field = {.within = "namespace", .key = type, .name = "entry"};
    return nri_builder_refuse_memory(&adjustment->builder, &field);
}

static namespace_message *make_removal(struct nri_builder *builder, const char *type)
{
    namespace_message *message =
        nri_make_empty(builder, &nri__pkg__api__v1alpha1__linux_namespace__descriptor);
    if (message != NULL)
        message->type = nri_builder_marker(builder, type);
    return message != NULL && message->type != NULL ? message : NULL;
}

int nri_adjustment_add_namespace(nri_adjustment *adjustment, const char *type, const char *path)
{
    namespace_message *entry;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_namespace(&adjustment->builder, type, path, &entry);
    return code == 0 ? put(adjustment, type, entry) : code;
}

int nri_adjustment_remove_namespace(nri_adjustment *adjustment, const char *type)
{
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_check_namespace_type(&adjustment->builder, type);
    return code == 0 ? put(adjustment, type, make_removal(&adjustment->builder, type)) : code;
}
