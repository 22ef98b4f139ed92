/* SPDX-License-Identifier: Apache-2.0 */
#include "model/hook.h"

#include "model/model.h"
#include "model/optional.h"
#include "model/reader.h"

typedef Nri__Pkg__Api__V1alpha1__Hook hook_message;

static const hook_message empty_hook = NRI__PKG__API__V1ALPHA1__HOOK__INIT;

static const hook_message *message_of(const nri_hook *hook)
{
    return hook != NULL ? (const void *)hook : &empty_hook;
}

const nri_hook *nri_hook_view(const hook_message *message)
{
    return (const void *)(message != NULL ? message : &empty_hook);
}

const char *nri_hook_stage_name(enum nri_hook_stage stage)
{
    switch (stage) {
    case NRI_HOOK_PRESTART:
        return "prestart";
    case NRI_HOOK_CREATE_RUNTIME:
        return "createRuntime";
    case NRI_HOOK_CREATE_CONTAINER:
        return "createContainer";
    case NRI_HOOK_START_CONTAINER:
        return "startContainer";
    case NRI_HOOK_POSTSTART:
        return "poststart";
    case NRI_HOOK_POSTSTOP:
        return "poststop";
    default:
        return "?";
    }
}

/* The list of a stage. */
static hook_message **list_of(const Nri__Pkg__Api__V1alpha1__Hooks *hooks,
                              enum nri_hook_stage stage, size_t *count)
{
    static const Nri__Pkg__Api__V1alpha1__Hooks none = NRI__PKG__API__V1ALPHA1__HOOKS__INIT;
    if (hooks == NULL)
        hooks = &none;
    switch (stage) {
    case NRI_HOOK_PRESTART:
        *count = hooks->n_prestart;
        return hooks->prestart;
    case NRI_HOOK_CREATE_RUNTIME:
        *count = hooks->n_create_runtime;
        return hooks->create_runtime;
    case NRI_HOOK_CREATE_CONTAINER:
        *count = hooks->n_create_container;
        return hooks->create_container;
    case NRI_HOOK_START_CONTAINER:
        *count = hooks->n_start_container;
        return hooks->start_container;
    case NRI_HOOK_POSTSTART:
        *count = hooks->n_poststart;
        return hooks->poststart;
    case NRI_HOOK_POSTSTOP:
        *count = hooks->n_poststop;
        return hooks->poststop;
    default:
        *count = 0;
        return NULL;
    }
}

size_t nri_hooks_count(const Nri__Pkg__Api__V1alpha1__Hooks *hooks, enum nri_hook_stage stage)
{
    size_t count;
    (void)list_of(hooks, stage, &count);
    return count;
}

const nri_hook *nri_hooks_at(const Nri__Pkg__Api__V1alpha1__Hooks *hooks, enum nri_hook_stage stage,
                             size_t index)
{
    size_t count;
    hook_message **list = list_of(hooks, stage, &count);
    return nri_hook_view(index < count ? list[index] : NULL);
}

const char *nri_hook_path(const nri_hook *hook)
{
    return nri_reader_text(message_of(hook)->path);
}

size_t nri_hook_arg_count(const nri_hook *hook)
{
    return message_of(hook)->n_args;
}

const char *nri_hook_arg(const nri_hook *hook, size_t index)
{
    const hook_message *message = message_of(hook);
    return nri_reader_text_at(message->args, message->n_args, index);
}

size_t nri_hook_env_count(const nri_hook *hook)
{
    return message_of(hook)->n_env;
}

const char *nri_hook_env_at(const nri_hook *hook, size_t index)
{
    const hook_message *message = message_of(hook);
    return nri_reader_text_at(message->env, message->n_env, index);
}

bool nri_hook_timeout(const nri_hook *hook, int64_t *seconds)
{
    return nri_optional_int(message_of(hook)->timeout, seconds);
}
