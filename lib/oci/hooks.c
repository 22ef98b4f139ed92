/* SPDX-License-Identifier: Apache-2.0 */
/* hooks: each list is put behind what is there. */
#include "oci/nouns.h"

static const struct nri_json_place hooks_place = {.name = "hooks"};

typedef NRI_OCI_MESSAGE(Hook) hook_message;

static struct nri_json *make(struct nri_oci_edit *edit, const char *field, size_t index,
                             const hook_message *hook)
{
    struct nri_json *value = nri_oci_new(edit, NRI_JSON_OBJECT);
    const struct nri_oci_where path = {field, index, "path"}, args = {field, index, "args"};
    const struct nri_oci_where env = {field, index, "env"};
    if (!nri_oci_is_key(edit, &path, hook->path))
        return NULL;
    nri_oci_set(edit, value, "path", nri_oci_text(edit, &path, hook->path));
    if (hook->n_args > 0)
        nri_oci_set(edit, value, "args", nri_oci_texts(edit, &args, hook->args, hook->n_args));
    if (hook->n_env > 0)
        nri_oci_set(edit, value, "env", nri_oci_texts(edit, &env, hook->env, hook->n_env));
    if (hook->timeout != NULL)
        nri_oci_set(edit, value, "timeout", nri_oci_int64(edit, hook->timeout->value));
    return value;
}

static void append(struct nri_oci_edit *edit, const char *key, const char *field,
                   hook_message *const *hooks, size_t count)
{
    const struct nri_json_place place = {.parent = &hooks_place, .name = key};
    if (count == 0)
        return;
    struct nri_json *array = nri_oci_make(edit, &place, NRI_JSON_ARRAY);
    for (size_t i = 0; i < count && edit->failure == 0; i++)
        nri_oci_append(edit, array, make(edit, field, i, hooks[i]));
}

void nri_oci_apply_hooks(struct nri_oci_edit *edit, const nri_oci_adjustment *adjustment)
{
    const NRI_OCI_MESSAGE(Hooks) *hooks = adjustment->hooks;
    if (hooks == NULL)
        return;
    append(edit, "prestart", "hooks.prestart", hooks->prestart, hooks->n_prestart);
    append(edit, "createRuntime", "hooks.create_runtime", hooks->create_runtime,
           hooks->n_create_runtime);
    append(edit, "createContainer", "hooks.create_container", hooks->create_container,
           hooks->n_create_container);
    append(edit, "startContainer", "hooks.start_container", hooks->start_container,
           hooks->n_start_container);
    append(edit, "poststart", "hooks.poststart", hooks->poststart, hooks->n_poststart);
    append(edit, "poststop", "hooks.poststop", hooks->poststop, hooks->n_poststop);
}
