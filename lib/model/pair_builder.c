/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pair_builder.h"

#include <stdio.h>
#include <string.h>

#include "proto/nri.pb-c.h"

typedef Nri__Pkg__Api__V1alpha1__KeyValue pair_message;
typedef Nri__Pkg__Api__V1alpha1__ContainerAdjustment__AnnotationsEntry annotation_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxContainerAdjustment__SysctlEntry sysctl_message;

_Static_assert(sizeof(sysctl_message) == sizeof(pair_message) &&
                   offsetof(sysctl_message, key) == offsetof(pair_message, key) &&
                   offsetof(sysctl_message, value) == offsetof(pair_message, value),
               "sysctl: not laid out like KeyValue");
_Static_assert(sizeof(annotation_message) == sizeof(pair_message) &&
                   offsetof(annotation_message, key) == offsetof(pair_message, key) &&
                   offsetof(annotation_message, value) == offsetof(pair_message, value),
               "annotations: not laid out like KeyValue");

static int check_key(struct nri_builder *builder, const struct nri_pair_kind *kind, const char *key)
{
    char rule[32];
    const struct nri_where field = {.name = kind->key_name};
    int code = nri_builder_check_key(builder, &field, key, kind->remover);
    if (code != 0 || kind->forbidden == 0 || strchr(key, kind->forbidden) == NULL)
        return code;
    snprintf(rule, sizeof rule, "must not contain \"%c\"", kind->forbidden);
    return nri_builder_refuse(builder, NRI_E_INVALID, &field, key, rule);
}

static int check_value(struct nri_builder *builder, const struct nri_pair_kind *kind,
                       const char *key, const char *value)
{
    const struct nri_where field = {.within = kind->noun, .key = key, .name = "value"};
    return nri_builder_check_text(builder, &field, value);
}

/* NULL when the arena failed, for either text or here. */
static pair_message *make(struct nri_builder *builder, const struct nri_pair_kind *kind, char *key,
                          char *value)
{
    pair_message *message = NULL;
    if (key != NULL && value != NULL)
        message = nri_arena_alloc(builder->arena, sizeof *message);
    if (message == NULL)
        return NULL;
    nri__pkg__api__v1alpha1__key_value__init(message);
    message->base.descriptor = kind->type;
    message->key = key;
    message->value = value;
    return message;
}

/* After all checks. `value` NULL: there is to be no entry. */
static int change(struct nri_keyed *list, struct nri_builder *builder,
                  const struct nri_pair_kind *kind, const char *key, bool removes,
                  const char *value)
{
    pair_message *removal = NULL, *entry = NULL;
    char *text = nri_builder_text(builder, key);
    bool done = text != NULL;
    if (done && removes) {
        removal =
            make(builder, kind, nri_builder_marker(builder, key), nri_builder_text(builder, NULL));
        done = removal != NULL;
    }
    if (done && value != NULL) {
        entry = make(builder, kind, text, nri_builder_text(builder, value));
        done = entry != NULL;
    }
    if (done)
        done = nri_keyed_set(list, builder, text, removal != NULL ? &removal->base : NULL,
                             entry != NULL ? &entry->base : NULL) == 0;
    if (done)
        return 0;
    const struct nri_where field = {.within = kind->noun, .key = key, .name = "value"};
    return nri_builder_refuse_memory(builder, &field);
}

int nri_pair_add(struct nri_keyed *list, struct nri_builder *builder,
                 const struct nri_pair_kind *kind, const char *key, const char *value)
{
    int code = check_key(builder, kind, key);
    if (code == 0)
        code = check_value(builder, kind, key, value);
    return code == 0 ? change(list, builder, kind, key, false, value) : code;
}

int nri_pair_remove(struct nri_keyed *list, struct nri_builder *builder,
                    const struct nri_pair_kind *kind, const char *key)
{
    int code = check_key(builder, kind, key);
    return code == 0 ? change(list, builder, kind, key, true, NULL) : code;
}

int nri_pair_replace(struct nri_keyed *list, struct nri_builder *builder,
                     const struct nri_pair_kind *kind, const char *key, const char *value)
{
    int code = check_key(builder, kind, key);
    if (code == 0)
        code = check_value(builder, kind, key, value);
    return code == 0 ? change(list, builder, kind, key, true, value) : code;
}
