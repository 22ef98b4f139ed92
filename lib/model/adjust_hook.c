/* SPDX-License-Identifier: Apache-2.0 */
/* ContainerAdjustment.hooks */
#include "model/adjustment_builder.h"
#include "model/make.h"

typedef NRI_MESSAGE(Hooks) hooks_message;

static int append(struct nri_builder *builder, hooks_message *hooks, enum nri_hook_stage stage,
                  NRI_MESSAGE(Hook) * hook)
{
    switch (stage) {
    case NRI_HOOK_PRESTART:
        return nri_list_append(builder, &hooks->n_prestart, &hooks->prestart, hook);
    case NRI_HOOK_CREATE_RUNTIME:
        return nri_list_append(builder, &hooks->n_create_runtime, &hooks->create_runtime, hook);
    case NRI_HOOK_CREATE_CONTAINER:
        return nri_list_append(builder, &hooks->n_create_container, &hooks->create_container, hook);
    case NRI_HOOK_START_CONTAINER:
        return nri_list_append(builder, &hooks->n_start_container, &hooks->start_container, hook);
    case NRI_HOOK_POSTSTART:
        return nri_list_append(builder, &hooks->n_poststart, &hooks->poststart, hook);
    case NRI_HOOK_POSTSTOP:
        return nri_list_append(builder, &hooks->n_poststop, &hooks->poststop, hook);
    }
    return NRI_E_INTERNAL; /* nri_make_hook() lets no other stage through */
}

int nri_adjustment_add_hook(nri_adjustment *adjustment, enum nri_hook_stage stage, const char *path,
                            const char *const *args, size_t arg_count, const char *const *env,
                            size_t env_count, const int64_t *timeout)
{
    NRI_MESSAGE(Hook) * hook;
    int code = nri_adjustment_enter(adjustment);
    if (code == 0)
        code = nri_make_hook(&adjustment->builder, (int)stage, path, args, arg_count, env,
                             env_count, timeout, &hook);
    if (code != 0)
        return code;
    struct nri_adjustment_rare *rare = nri_adjustment_need_rare(adjustment);
    if (rare == NULL || append(&adjustment->builder, &rare->hooks, stage, hook) != 0) {
        const struct nri_where field = {.within = "hook", .key = path, .name = "entry"};
        return nri_builder_refuse_memory(&adjustment->builder, &field);
    }
    adjustment->frame->message.hooks = &rare->hooks;
    return 0;
}
