/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unsolicited updates.
 *
 * The happy path: the list is packed into a call at once -> the runtime's reply -> the callback,
 * with the updates that failed. Failure modes: not READY, an error in the list, over a limit
 * (nothing is sent, no callback); refused, timed out, the connection gone (the callback, once, with
 * the code).
 */
#include "plugin/internal.h"
#include "plugin/update_result.h"

struct update_call {
    struct nri_core *core;
    nri_update_fn callback;
    void *user;
};

void nri_update_count(struct nri_core *core, const nri_update_result *result)
{
    nri_core_add(core, NRI_COUNT_UPDATE_FAILURES, nri_update_result_failed_count(result));
    if (result->code == 0)
        return;
    nri_core_add(core, NRI_COUNT_UPDATE_ERRORS, 1);
    nri_core_log(core, NRI_LOG_DEBUG, "UpdateContainers failed: %s", result->text);
}

static void tell(const struct update_call *call, const nri_update_result *result)
{
    struct nri_core *core = call->core;

    nri_update_count(core, result);
    if (call->callback == NULL)
        return;
    core->depth++;
    call->callback(core->config.plugin, result, call->user);
    core->depth--;
}

static void updated(void *user, const struct nri_rpc_result *outcome)
{
    struct update_call *call = user;
    const struct nri_alloc alloc = call->core->alloc;
    nri_update_result result = {.code = outcome->code, .text = ""};

    if (outcome->code == 0)
        result.reply = (const Nri__Pkg__Api__V1alpha1__UpdateContainersResponse *)outcome->message;
    else
        result.text = outcome->text;
    tell(call, &result);
    nri_alloc_release(&alloc, call);
}

uint64_t nri_update_timeout(const struct nri_core *core, uint64_t timeout)
{
    if (timeout != 0)
        return timeout;
    if (core->config.call_timeout != 0)
        return core->config.call_timeout;
    return nri_core_request_timeout_ms(core) * NRI_MSEC;
}

/* A runtime configures none but plugins whose RegisterPlugin it has taken, so that the reply to
 * that need not be there: a Go runtime may write it after Configure and what follows. */
bool nri_core_serves(const struct nri_core *core)
{
    return atomic_load(&core->serves);
}

int nri_update_check(const nri_updates *updates, struct nri_error *error)
{
    if (updates == NULL)
        return nri_error_set(error, NRI_E_INVALID, "UpdateContainers: the list of updates is NULL");
    const int code = nri_updates_error(updates);
    if (code != 0)
        return nri_error_set(error, code, "UpdateContainers: %s", nri_updates_error_text(updates));
    return 0;
}

int nri_update_check_service(const struct nri_core *core, struct nri_error *error)
{
    return nri_core_serves(core)
               ? 0
               : nri_error_set(error, NRI_E_NO_SERVICE,
                               "UpdateContainers: no runtime has configured the plugin");
}

int nri_core_update_containers(struct nri_core *core, const nri_updates *updates, uint64_t timeout,
                               const char *const *metadata, size_t metadata_count,
                               nri_update_fn callback, void *user, uint64_t now,
                               struct nri_error *error)
{
    Nri__Pkg__Api__V1alpha1__UpdateContainersRequest request;

    core->now = now;
    int code = nri_update_check_service(core, error);
    if (code == 0)
        code = nri_update_check(updates, error);
    if (code != 0)
        return code;
    if (nri_update_waits(core)) { /* what is older goes first, and must not undo this one */
        const struct nri_update_options options = {
            .timeout = timeout, .metadata = metadata, .metadata_count = metadata_count};
        return nri_core_update_later(core, updates, &options, callback, user, now, error);
    }
    struct update_call *call = nri_alloc_zero(&core->alloc, sizeof *call);
    if (call == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "UpdateContainers: out of memory");
    call->core = core;
    call->callback = callback;
    call->user = user;
    nri__pkg__api__v1alpha1__update_containers_request__init(&request);
    request.n_update = nri_updates_messages(updates, &request.update);
    request.n_evict = nri_updates_evictions(updates, &request.evict);
    code = nri_rpc_invoke(core->rpc, NRI_METHOD_UPDATE_CONTAINERS, &request.base, now,
                          nri_update_timeout(core, timeout), metadata, metadata_count, updated,
                          call, error);
    if (code != 0)
        nri_alloc_release(&core->alloc, call);
    else
        nri_core_add(core, NRI_COUNT_UPDATE_CALLS, 1);
    return code;
}
