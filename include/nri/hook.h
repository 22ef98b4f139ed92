/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * Reading an OCI hook, of a container (nri_container_hook_at()) or of an adjustment
 * (nri_adjustment_hook_at()). The rules of nri/pod.h hold.
 */
#ifndef NRI_HOOK_H
#define NRI_HOOK_H

#include <nri/api.h>

NRI_BEGIN_DECLS

/** When a hook runs: the lists of NRI Hooks and of the OCI runtime spec. Since 0.1.0. */
enum nri_hook_stage {
    NRI_HOOK_PRESTART = 1,         /**< Hooks.prestart (deprecated in OCI) */
    NRI_HOOK_CREATE_RUNTIME = 2,   /**< Hooks.create_runtime */
    NRI_HOOK_CREATE_CONTAINER = 3, /**< Hooks.create_container */
    NRI_HOOK_START_CONTAINER = 4,  /**< Hooks.start_container */
    NRI_HOOK_POSTSTART = 5,        /**< Hooks.poststart */
    NRI_HOOK_POSTSTOP = 6          /**< Hooks.poststop */
};

/** The name of a stage as OCI spells it, such as "createRuntime"; "?" for none such. Static text.
 * Thread-safe. Since 0.1.0. */
NRI_API const char *nri_hook_stage_name(enum nri_hook_stage stage);

/** The program's absolute path on the host (Hook.path). Since 0.1.0. */
NRI_API const char *nri_hook_path(const nri_hook *hook);
/** How many arguments, the program's name included (Hook.args). Since 0.1.0. */
NRI_API size_t nri_hook_arg_count(const nri_hook *hook);
/** One argument; "" past the end. Since 0.1.0. */
NRI_API const char *nri_hook_arg(const nri_hook *hook, size_t index);
/** How many environment variables (Hook.env). Since 0.1.0. */
NRI_API size_t nri_hook_env_count(const nri_hook *hook);
/** One environment variable as "NAME=value"; "" past the end. Since 0.1.0. */
NRI_API const char *nri_hook_env_at(const nri_hook *hook, size_t index);
/** The time-out in seconds (Hook.timeout), set to 0 when absent; `seconds` may be NULL. Returns
 * whether there is one. Since 0.1.0. */
NRI_API bool nri_hook_timeout(const nri_hook *hook, int64_t *seconds);

NRI_END_DECLS

#endif
