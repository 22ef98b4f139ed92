/* SPDX-License-Identifier: Apache-2.0 */
/* Hook */
#include <nri/hook.h>
#include <string.h>

#include "model/make.h"

typedef NRI_MESSAGE(Hook) hook_message;

static int check_env(struct nri_builder *builder, const char *path, const char *const *env,
                     size_t env_count)
{
    struct nri_where field = {.within = "hook", .key = path, .name = "env"};
    int code = nri_check_texts(builder, &field, env, env_count, true);
    field.indexed = true;
    for (field.index = 0; code == 0 && field.index < env_count; field.index++) {
        const char *equals = strchr(env[field.index], '=');
        if (equals == NULL || equals == env[field.index])
            code = nri_builder_refuse(builder, NRI_E_INVALID, &field, env[field.index],
                                      "must be a name, \"=\" and a value");
    }
    return code;
}

static int check_timeout(struct nri_builder *builder, const char *path, const int64_t *timeout)
{
    const struct nri_where field = {.within = "hook", .key = path, .name = "timeout"};
    if (timeout == NULL)
        return 0;
    return nri_check_signed(builder, &field, *timeout, *timeout >= 1, "must be 1 second or more");
}

static int check(struct nri_builder *builder, int stage, const char *path, const char *const *args,
                 size_t arg_count)
{
    const struct nri_where path_field = {.name = "hook path"};
    const struct nri_where stage_field = {.within = "hook", .key = path, .name = "stage"};
    const struct nri_where args_field = {.within = "hook", .key = path, .name = "args"};
    int code = nri_check_absolute(builder, &path_field, path);
    if (code == 0)
        code = nri_check_signed(builder, &stage_field, stage,
                                stage >= NRI_HOOK_PRESTART && stage <= NRI_HOOK_POSTSTOP,
                                "must be 1 to 6");
    return code == 0 ? nri_check_texts(builder, &args_field, args, arg_count, false) : code;
}

static bool fill(struct nri_builder *builder, hook_message *hook, const char *path,
                 const char *const *args, const char *const *env, const int64_t *timeout)
{
    hook->path = nri_builder_text(builder, path);
    if (hook->path == NULL || !nri_copy_texts(builder, args, hook->n_args, &hook->args) ||
        !nri_copy_texts(builder, env, hook->n_env, &hook->env))
        return false;
    if (timeout == NULL)
        return true;
    hook->timeout = nri_make_empty(builder, &nri__pkg__api__v1alpha1__optional_int__descriptor);
    if (hook->timeout != NULL)
        hook->timeout->value = *timeout;
    return hook->timeout != NULL;
}

int nri_make_hook(struct nri_builder *builder, int stage, const char *path, const char *const *args,
                  size_t arg_count, const char *const *env, size_t env_count,
                  const int64_t *timeout, hook_message **message)
{
    int code = check(builder, stage, path, args, arg_count);
    if (code == 0)
        code = check_env(builder, path, env, env_count);
    if (code == 0)
        code = check_timeout(builder, path, timeout);
    if (code != 0)
        return code;
    hook_message *made = nri_make_empty(builder, &nri__pkg__api__v1alpha1__hook__descriptor);
    if (made != NULL) {
        made->n_args = arg_count;
        made->n_env = env_count;
    }
    if (made == NULL || !fill(builder, made, path, args, env, timeout)) {
        const struct nri_where field = {.within = "hook", .key = path, .name = "entry"};
        return nri_builder_refuse_memory(builder, &field);
    }
    *message = made;
    return 0;
}
