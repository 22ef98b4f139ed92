/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Built-in plugins: those that are added before the start wait for it here, because the time that
 * they have to register begins then.
 */
#include <string.h>

#include "base/abi.h"
#include "io/host.h"
#include "io/runtime_handle.h"
#include "model/model.h"

#define FIRST_SIZE(type, last_member)                                                              \
    (offsetof(type, last_member) + sizeof(((type *)0)->last_member))

static void free_builtin(const nri_runtime *runtime, struct nri_runtime_builtin *builtin)
{
    const struct nri_alloc *alloc = &runtime->settings.alloc;
    nri_alloc_release(alloc, builtin->name);
    nri_alloc_release(alloc, builtin->config);
    nri_alloc_release(alloc, builtin);
}

void nri_runtime_free_builtins(nri_runtime *runtime)
{
    while (runtime->builtins != NULL) {
        struct nri_runtime_builtin *builtin = runtime->builtins;
        runtime->builtins = builtin->next;
        free_builtin(runtime, builtin);
    }
    runtime->builtins_end = &runtime->builtins;
    runtime->builtin_count = 0;
}

int nri_runtime_start_builtins(nri_runtime *runtime, uint64_t now, struct nri_error *error)
{
    int rc = 0;
    for (const struct nri_runtime_builtin *builtin = runtime->builtins; builtin != NULL && rc == 0;
         builtin = builtin->next)
        rc = nri_rt_add_builtin(runtime->rt, &builtin->ops, builtin->name, builtin->index,
                                builtin->config, builtin->user, now, error);
    nri_runtime_free_builtins(runtime);
    return rc;
}

static int check(const nri_runtime *runtime, const struct nri_plugin_ops *ops, const char *name,
                 const char *index, struct nri_plugin_ops *known, struct nri_error *error)
{
    if (ops == NULL)
        return nri_error_set(error, NRI_E_INVALID, "a built-in plugin needs a callback table");
    if (runtime->closing || runtime->phase >= NRI_RUNTIME_STOPPING)
        return nri_error_set(error, NRI_E_STATE, "the runtime stops: it takes no more plugins");
    int rc = nri_abi_take(known, sizeof *known, FIRST_SIZE(struct nri_plugin_ops, reserved), ops,
                          "nri_plugin_ops", error);
    if (rc == 0 && !nri_abi_is_zero(known->reserved, sizeof known->reserved))
        rc = nri_error_set(error, NRI_E_ABI,
                           "struct nri_plugin_ops: a reserved member is not NULL; fill the "
                           "structure with nri_plugin_ops_init()");
    if (rc == 0)
        rc = nri_identity_check_name(name, error);
    if (rc == 0)
        rc = nri_identity_check_index(index, error);
    return rc;
}

static int keep(nri_runtime *runtime, const struct nri_runtime_builtin *what,
                struct nri_error *error)
{
    const struct nri_alloc *alloc = &runtime->settings.alloc;
    if (runtime->builtin_count >= runtime->settings.max_plugins)
        return nri_error_set(error, NRI_E_BUSY, "there are %zu plugins, which is max_plugins",
                             runtime->builtin_count);
    struct nri_runtime_builtin *builtin = nri_alloc_zero(alloc, sizeof *builtin);
    if (builtin == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a built-in plugin");
    *builtin = *what;
    builtin->name = nri_alloc_text(alloc, what->name, strlen(what->name));
    builtin->config =
        what->config == NULL ? NULL : nri_alloc_text(alloc, what->config, strlen(what->config));
    if (builtin->name == NULL || (what->config != NULL && builtin->config == NULL)) {
        free_builtin(runtime, builtin);
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a built-in plugin");
    }
    *runtime->builtins_end = builtin;
    runtime->builtins_end = &builtin->next;
    runtime->builtin_count++;
    return 0;
}

int nri_runtime_add_builtin(nri_runtime *runtime, const struct nri_plugin_ops *ops,
                            const char *name, const char *index, const char *config, void *user)
{
    struct nri_runtime_builtin what = {.user = user};
    if (runtime == NULL)
        return NRI_E_INVALID;
    nri_error_clear(&runtime->error);
    int rc = check(runtime, ops, name, index, &what.ops, &runtime->error);
    if (rc != 0)
        return rc;
    /* Both are copied wherever they go, and not changed. */
    what.name = (char *)(uintptr_t)name;
    what.config = (char *)(uintptr_t)config;
    memcpy(what.index, index, sizeof what.index);
    if (runtime->phase <= NRI_RUNTIME_LAUNCHING)
        return keep(runtime, &what, &runtime->error);
    runtime->depth++;
    rc = nri_rt_add_builtin(runtime->rt, &what.ops, name, index, config, user, nri_host_now(),
                            &runtime->error);
    runtime->depth--;
    return rc;
}
