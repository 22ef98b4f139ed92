/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment, but for its linux part (apply_linux.c). */
#include "model/apply.h"
#include "model/reader.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

static const char *text(const char *of_message)
{
    return nri_reader_text(of_message);
}

int nri_apply_pairs(nri_adjustment *adjustment, const struct nri_apply_pairs *pairs,
                    struct nri_json_subject *at)
{
    const struct nri_reader_map list = {pairs->entries, pairs->count};
    for (int removing = 1; removing >= 0; removing--) {
        for (size_t i = 0; i < list.count; i++) {
            const char *key, *value;
            (void)nri_reader_map_at(list, i, &key, &value);
            if ((key[0] == '-') != (removing != 0))
                continue;
            nri_apply_at(at, pairs->message, pairs->field, i);
            int code = removing != 0 ? pairs->remove(adjustment, key + 1)
                                     : pairs->add(adjustment, key, value);
            if (code != 0)
                return code;
        }
    }
    return 0;
}

static int apply_mounts(nri_adjustment *adjustment, const MESSAGE(ContainerAdjustment) * message,
                        struct nri_json_subject *at)
{
    for (int removing = 1; removing >= 0; removing--) {
        for (size_t i = 0; i < message->n_mounts; i++) {
            const MESSAGE(Mount) *mount = message->mounts[i];
            const char *destination = text(mount->destination);
            if ((destination[0] == '-') != (removing != 0))
                continue;
            nri_apply_at(at, &message->base, "mounts", i);
            int code = removing != 0
                           ? nri_adjustment_remove_mount(adjustment, destination + 1)
                           : nri_adjustment_add_mount(
                                 adjustment, destination, text(mount->type), text(mount->source),
                                 (const char *const *)mount->options, mount->n_options);
            if (code != 0)
                return code;
        }
    }
    return 0;
}

static int apply_args(nri_adjustment *adjustment, const MESSAGE(ContainerAdjustment) * message,
                      struct nri_json_subject *at)
{
    const char *const *args = (const char *const *)message->args;
    nri_apply_at(at, &message->base, "args", NRI_JSON_WHOLE);
    if (message->n_args == 0)
        return 0;
    if (text(args[0])[0] == '\0')
        return nri_adjustment_replace_args(adjustment, args + 1, message->n_args - 1);
    return nri_adjustment_set_args(adjustment, args, message->n_args);
}

/* ---- hooks ---- */

static int apply_stage(nri_adjustment *adjustment, const MESSAGE(Hooks) * hooks, const char *field,
                       enum nri_hook_stage stage, MESSAGE(Hook) * *list, size_t count,
                       struct nri_json_subject *at)
{
    for (size_t i = 0; i < count; i++) {
        const MESSAGE(Hook) *hook = list[i];
        const int64_t *timeout = hook->timeout != NULL ? &hook->timeout->value : NULL;
        nri_apply_at(at, &hooks->base, field, i);
        int code = nri_adjustment_add_hook(adjustment, stage, text(hook->path),
                                           (const char *const *)hook->args, hook->n_args,
                                           (const char *const *)hook->env, hook->n_env, timeout);
        if (code != 0)
            return code;
    }
    return 0;
}

static int apply_hooks(nri_adjustment *adjustment, const MESSAGE(Hooks) * hooks,
                       struct nri_json_subject *at)
{
    const struct {
        const char *field;
        enum nri_hook_stage stage;
        MESSAGE(Hook) * *list;
        size_t count;
    } stages[] = {
        {"prestart", NRI_HOOK_PRESTART, hooks->prestart, hooks->n_prestart},
        {"create_runtime", NRI_HOOK_CREATE_RUNTIME, hooks->create_runtime, hooks->n_create_runtime},
        {"create_container", NRI_HOOK_CREATE_CONTAINER, hooks->create_container,
         hooks->n_create_container},
        {"start_container", NRI_HOOK_START_CONTAINER, hooks->start_container,
         hooks->n_start_container},
        {"poststart", NRI_HOOK_POSTSTART, hooks->poststart, hooks->n_poststart},
        {"poststop", NRI_HOOK_POSTSTOP, hooks->poststop, hooks->n_poststop},
    };
    int code = 0;
    for (size_t i = 0; code == 0 && i < sizeof stages / sizeof stages[0]; i++)
        code = apply_stage(adjustment, hooks, stages[i].field, stages[i].stage, stages[i].list,
                           stages[i].count, at);
    return code;
}

/* ---- the rest ---- */

static int apply_rlimits(nri_adjustment *adjustment, const MESSAGE(ContainerAdjustment) * message,
                         struct nri_json_subject *at)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < message->n_rlimits; i++) {
        const MESSAGE(POSIXRlimit) *rlimit = message->rlimits[i];
        nri_apply_at(at, &message->base, "rlimits", i);
        code =
            nri_adjustment_add_rlimit(adjustment, text(rlimit->type), rlimit->hard, rlimit->soft);
    }
    return code;
}

static int apply_cdi_devices(nri_adjustment *adjustment,
                             const MESSAGE(ContainerAdjustment) * message,
                             struct nri_json_subject *at)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < message->n_cdi_devices; i++) {
        nri_apply_at(at, &message->base, "CDI_devices", i);
        code = nri_adjustment_add_cdi_device(adjustment, text(message->cdi_devices[i]->name));
    }
    return code;
}

int nri_apply_adjustment(nri_adjustment *adjustment, const MESSAGE(ContainerAdjustment) * message,
                         struct nri_json_subject *at)
{
    const struct nri_apply_pairs annotations = {
        &message->base,
        "annotations",
        message->annotations,
        message->n_annotations,
        nri_adjustment_add_annotation,
        nri_adjustment_remove_annotation,
    };
    const struct nri_apply_pairs env = {
        &message->base,         "env",
        message->env,           message->n_env,
        nri_adjustment_add_env, nri_adjustment_remove_env,
    };
    int code = nri_apply_pairs(adjustment, &annotations, at);
    if (code == 0)
        code = apply_mounts(adjustment, message, at);
    if (code == 0)
        code = nri_apply_pairs(adjustment, &env, at);
    if (code == 0 && message->hooks != NULL)
        code = apply_hooks(adjustment, message->hooks, at);
    if (code == 0 && message->linux != NULL)
        code = nri_apply_linux(adjustment, message->linux, at);
    if (code == 0)
        code = apply_rlimits(adjustment, message, at);
    if (code == 0)
        code = apply_cdi_devices(adjustment, message, at);
    return code == 0 ? apply_args(adjustment, message, at) : code;
}
