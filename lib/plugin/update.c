/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unsolicited updates.
 *
 * The happy path: the list is packed into a call at once -> the runtime's reply -> the callback,
 * with the ids whose update failed. Failure modes: not READY, an error in the list, over a limit
 * (nothing is sent, no callback); refused, timed out, the connection gone (the callback, once, with
 * the code).
 */
#include "plugin/internal.h"

#define METHOD_UPDATE_CONTAINERS 1u /* in the service Runtime */

struct update_call {
    struct nri_core *core;
    nri_update_fn callback;
    void *user;
};

typedef Nri__Pkg__Api__V1alpha1__UpdateContainersResponse update_response;

static void tell(const struct update_call *call, int code, const char *text,
                 const char *const *failed, size_t failed_count)
{
    struct nri_core *core = call->core;

    if (code != 0)
        nri_core_log(core, NRI_LOG_DEBUG, "UpdateContainers failed: %s", text);
    if (call->callback == NULL)
        return;
    core->depth++;
    call->callback(core->config.plugin, code, text, failed, failed_count, call->user);
    core->depth--;
}

static void tell_success(const struct update_call *call, const update_response *response)
{
    const char **failed = NULL;

    if (response->n_failed > 0) {
        failed = nri_alloc_raw(&call->core->alloc, response->n_failed * sizeof *failed);
        if (failed == NULL) {
            tell(call, NRI_E_NOMEM, "no memory for the list of failed updates", NULL, 0);
            return;
        }
        for (size_t i = 0; i < response->n_failed; i++)
            failed[i] = response->failed[i]->container_id;
    }
    tell(call, 0, "", failed, response->n_failed);
    nri_alloc_release(&call->core->alloc, failed);
}

static void updated(void *user, const struct nri_rpc_result *result)
{
    struct update_call *call = user;
    const struct nri_alloc alloc = call->core->alloc;

    if (result->code == 0)
        tell_success(call, (const update_response *)result->message);
    else
        tell(call, result->code, result->text, NULL, 0);
    nri_alloc_release(&alloc, call);
}

static uint64_t timeout_of(const struct nri_core *core, uint64_t timeout)
{
    if (timeout != 0)
        return timeout;
    if (core->config.call_timeout != 0)
        return core->config.call_timeout;
    return nri_core_request_timeout_ms(core) * NRI_MSEC;
}

static int check(const struct nri_core *core, const nri_updates *updates, struct nri_error *error)
{
    if (core->state != NRI_PLUGIN_READY || core->failure.code != 0)
        return nri_error_set(error, NRI_E_NO_SERVICE,
                             "UpdateContainers: not registered with a runtime");
    if (updates == NULL)
        return nri_error_set(error, NRI_E_INVALID, "UpdateContainers: the list of updates is NULL");
    const int code = nri_updates_error(updates);
    if (code != 0)
        return nri_error_set(error, code, "UpdateContainers: %s", nri_updates_error_text(updates));
    return 0;
}

int nri_core_update_containers(struct nri_core *core, const nri_updates *updates, uint64_t timeout,
                               const char *const *metadata, size_t metadata_count,
                               nri_update_fn callback, void *user, uint64_t now,
                               struct nri_error *error)
{
    Nri__Pkg__Api__V1alpha1__UpdateContainersRequest request;

    core->now = now;
    int code = check(core, updates, error);
    if (code != 0)
        return code;
    struct update_call *call = nri_alloc_zero(&core->alloc, sizeof *call);
    if (call == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "UpdateContainers: out of memory");
    call->core = core;
    call->callback = callback;
    call->user = user;
    nri__pkg__api__v1alpha1__update_containers_request__init(&request);
    request.n_update = nri_updates_messages(updates, &request.update);
    request.n_evict = nri_updates_evictions(updates, &request.evict);
    code =
        nri_rpc_invoke(core->rpc, METHOD_UPDATE_CONTAINERS, &request.base, now,
                       timeout_of(core, timeout), metadata, metadata_count, updated, call, error);
    if (code != 0)
        nri_alloc_release(&core->alloc, call);
    return code;
}
