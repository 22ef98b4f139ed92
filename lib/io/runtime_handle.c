/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri_runtime_new(), and what a runtime is asked and told while it runs.
 */
#include "io/runtime_handle.h"

#include "base/abi.h"
#include "io/host.h"
#include "io/socket.h"

#define FIRST_SIZE(type, last_member)                                                              \
    (offsetof(type, last_member) + sizeof(((type *)0)->last_member))
#define EVENT_FIRST_SIZE FIRST_SIZE(struct nri_runtime_event, reserved_pointers)

/* ---- making ---- */

static void wake(void *user)
{
    nri_mailbox_ring(user);
}

static void call_letter(void *owner, union nri_letter_fn fn, void *arg)
{
    fn.runtime(owner, arg);
}

static int make_core(nri_runtime *runtime, struct nri_error *error)
{
    const struct nri_runtime_settings *settings = &runtime->settings;
    struct nri_rt_config config = {
        .name = settings->name,
        .version = settings->version,
        .nri_version = settings->nri_version,
        .ops = settings->ops,
        .user = runtime->user,
        .runtime = runtime,
        .alloc = settings->alloc,
        .host = nri_host_system(),
        .log = &runtime->log,
        .limits = settings->limits,
        .registration_timeout = settings->registration_timeout,
        .request_timeout = settings->request_timeout,
        .max_outstanding = settings->max_outstanding,
        .max_plugins = settings->max_plugins,
        .max_calls = settings->max_calls,
        .max_merge_bytes = settings->max_merge_bytes,
        .max_sync_bytes = settings->max_sync_bytes,
        .failure = settings->failure,
        .go_compatible = settings->go_compatible,
        .validator = runtime->validator,
        .wake = wake,
        .wake_user = &runtime->mailbox,
    };
    for (size_t i = 0; i < NRI_MERGE_FIELDS; i++)
        config.merge_policy[i] = settings->merge_policy[i];
    return nri_rt_new(&runtime->rt, &config, error);
}

static int make_validator(nri_runtime *runtime, struct nri_error *error)
{
    const struct nri_runtime_settings *settings = &runtime->settings;
    const struct nri_allocator allocator = {
        .size = sizeof allocator,
        .user = settings->alloc.user,
        .allocate = settings->alloc.allocate,
        .resize = settings->alloc.resize,
        .release = settings->alloc.release,
    };
    if (!settings->default_validator)
        return 0;
    return nri_default_validator_new(&runtime->validator, &allocator, settings->validator_config,
                                     error);
}

/* Takes the settings over on success. */
static int make_runtime(nri_runtime **made, struct nri_runtime_settings *settings, void *user,
                        struct nri_error *error)
{
    nri_runtime *runtime = nri_alloc_zero(&settings->alloc, sizeof *runtime);
    if (runtime == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory");
    runtime->settings = *settings;
    runtime->user = user;
    runtime->builtins_end = &runtime->builtins;
    runtime->timer_at = NRI_NEVER;
    nri_log_init(&runtime->log, settings->log, settings->log_user, settings->log_level);
    runtime->log.plugin = "";
    runtime->input = nri_alloc_raw(&settings->alloc, NRI_RUNTIME_INPUT);
    int rc = runtime->input != NULL ? 0 : nri_error_set(error, NRI_E_NOMEM, "out of memory");
    if (rc != 0)
        goto fail_input;
    rc = nri_mailbox_init(&runtime->mailbox, &settings->alloc, call_letter, error);
    if (rc != 0)
        goto fail_mailbox;
    rc = make_validator(runtime, error);
    if (rc != 0)
        goto fail_validator;
    rc = make_core(runtime, error);
    if (rc != 0)
        goto fail_core;
    *made = runtime;
    return 0;

fail_core:
    runtime->validator = nri_default_validator_free(runtime->validator);
fail_validator:
    nri_mailbox_fini(&runtime->mailbox);
fail_mailbox:
    nri_alloc_release(&settings->alloc, runtime->input);
fail_input:
    nri_alloc_release(&settings->alloc, runtime);
    return rc;
}

int nri_runtime_new(nri_runtime **runtime, const struct nri_runtime_ops *ops,
                    const struct nri_runtime_options *options, void *user, nri_error **error)
{
    struct nri_runtime_settings settings;
    struct nri_error why;
    if (runtime == NULL)
        return NRI_E_INVALID;
    nri_error_clear(&why);
    int rc = nri_runtime_settings_resolve(&settings, ops, options, &why);
    if (rc == 0) {
        rc = make_runtime(runtime, &settings, user, &why);
        if (rc != 0)
            nri_runtime_settings_fini(&settings);
    }
    if (rc != 0)
        nri_error_export(&why, &settings.alloc, error);
    return rc;
}

const nri_error *nri_runtime_last_error(const nri_runtime *runtime)
{
    static const struct nri_error none = {.code = NRI_E_INVALID, .text = "there is no runtime"};
    return runtime == NULL ? &none : &runtime->error;
}

/* ---- plugins ---- */

int nri_runtime_attach_fd(nri_runtime *runtime, int fd)
{
    char peer[NRI_CONNECTION_PEER_SIZE];
    struct nri_rt_origin origin = {.kind = NRI_ORIGIN_ATTACHED, .peer = peer};
    if (runtime == NULL)
        return NRI_E_INVALID;
    struct nri_error *error = &runtime->error;
    nri_error_clear(error);
    if (fd < 0)
        return nri_error_set(error, NRI_E_INVALID, "descriptor %d cannot be", fd);
    if (!nri_runtime_is_started(runtime))
        return nri_error_set(error, NRI_E_STATE, "the runtime does not run");
    int rc = nri_socket_check(fd, error);
    if (rc == 0)
        rc = nri_socket_adopt(fd, error);
    if (rc != 0)
        return rc;
    nri_connection_peer(fd, &origin.pid, peer);
    return nri_connection_open(runtime, fd, &origin, NULL, error);
}

int nri_runtime_drop_plugin(nri_runtime *runtime, nri_runtime_plugin *plugin)
{
    if (runtime == NULL || plugin == NULL)
        return NRI_E_INVALID;
    nri_rt_drop(plugin, 0, "the runtime dropped it");
    return 0;
}

nri_runtime_plugin *nri_runtime_next_plugin(const nri_runtime *runtime,
                                            const nri_runtime_plugin *plugin)
{
    return runtime == NULL ? NULL : nri_rt_next_plugin(runtime->rt, plugin);
}

int nri_runtime_set_failure_policy(nri_runtime *runtime, const char *plugin,
                                   const struct nri_failure_policy *policy)
{
    if (runtime == NULL)
        return NRI_E_INVALID;
    nri_error_clear(&runtime->error);
    return nri_rt_set_failure_policy(runtime->rt, plugin, policy, &runtime->error);
}

/* ---- events ---- */

static int take_event(struct nri_runtime_event *known, const struct nri_runtime_event *event,
                      struct nri_error *error)
{
    if (event == NULL)
        return nri_error_set(error, NRI_E_INVALID, "there is no event");
    int rc =
        nri_abi_take(known, sizeof *known, EVENT_FIRST_SIZE, event, "nri_runtime_event", error);
    if (rc == 0 && (known->reserved_number != 0 ||
                    !nri_abi_is_zero(known->reserved_pointers, sizeof known->reserved_pointers)))
        rc = nri_error_set(error, NRI_E_ABI,
                           "struct nri_runtime_event: a reserved member is not 0; fill the "
                           "structure with nri_runtime_event_init()");
    return rc;
}

int nri_runtime_call(nri_runtime *runtime, const struct nri_runtime_event *event,
                     nri_runtime_done done, void *user)
{
    struct nri_runtime_event known;
    if (runtime == NULL)
        return NRI_E_INVALID;
    struct nri_error *error = &runtime->error;
    nri_error_clear(error);
    int rc = take_event(&known, event, error);
    if (rc != 0)
        return rc;
    if (!nri_runtime_is_started(runtime) || runtime->closing ||
        nri_mailbox_stop_wanted(&runtime->mailbox))
        return nri_error_set(error, NRI_E_STATE, "the runtime does not run");
    rc = nri_rt_call(runtime->rt, &known, done, user, nri_host_now(), error);
    if (rc == 0)
        nri_mailbox_ring(&runtime->mailbox);
    return rc;
}

int nri_runtime_hold_sync(nri_runtime *runtime)
{
    if (runtime == NULL)
        return NRI_E_INVALID;
    nri_rt_hold_sync(runtime->rt, false, nri_host_now());
    return 0;
}

int nri_runtime_release_sync(nri_runtime *runtime)
{
    if (runtime == NULL)
        return NRI_E_INVALID;
    nri_error_clear(&runtime->error);
    if (nri_rt_release_sync(runtime->rt, false) != 0)
        return nri_error_set(&runtime->error, NRI_E_STATE, "there is no hold to be released");
    return 0;
}

int nri_runtime_metrics(const nri_runtime *runtime, char **text, size_t *length)
{
    if (runtime == NULL || text == NULL)
        return NRI_E_INVALID;
    return nri_rt_metrics(runtime->rt, text, length);
}
