/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Updates that plugins ask for on their own account, and in their answer to Synchronize.
 *
 * Happy path: the list goes to the `update` operation, at once or to be completed later -> the
 * reply has what failed. Failure modes: nobody is there to update, or to evict (the whole is
 * refused as unsupported; in the answer to Synchronize, logged), the operation refuses the whole,
 * the plugin is gone when it is completed (nobody is told).
 */
#include <string.h>

#include "model/model.h"
#include "model/reader.h"
#include "runtime/internal.h"

static const char read_only[] = "what a plugin asked for can only be read";

/* ---- making ---- */

/* Why there is no room for what a plugin asks. */
static const char *reason_of(int code)
{
    return code == NRI_E_LIMIT ? "more than max_merge_bytes" : "out of memory";
}

static void free_update(nri_runtime_update *update)
{
    const struct nri_alloc alloc = update->rt->alloc;

    update->rt->abandoned -= update->abandoned;
    nri_rpc_call_release(update->call);
    nri_rpc_call_release(update->kept);
    nri_arena_fini(&update->arena);
    nri_alloc_release(&alloc, update);
}

static nri_runtime_update *make(nri_runtime_plugin *plugin, NRI_RT_MESSAGE(ContainerUpdate) * *list,
                                size_t count, NRI_RT_MESSAGE(ContainerEviction) * *evictions,
                                size_t eviction_count, int *code)
{
    struct nri_rt *rt = plugin->rt;
    nri_runtime_update *update = nri_alloc_zero(&rt->alloc, sizeof *update);

    *code = NRI_E_NOMEM;
    if (update == NULL)
        return NULL;
    update->rt = rt;
    update->plugin = plugin;
    update->list = list;
    update->count = count;
    nri_arena_init(&update->arena, &rt->alloc, 0, rt->config.max_merge_bytes);
    update->failed = nri_arena_zero(&update->arena, count + 1);
    update->view = nri_updates_view_all(&update->arena, rt->seed, list, count, evictions,
                                        eviction_count, NRI_E_STATE, read_only);
    if (update->failed == NULL || update->view == NULL) {
        *code = update->arena.failure;
        free_update(update);
        return NULL;
    }
    return update;
}

/* Of its plugin, or of those whose plugin is gone. */
static nri_runtime_update **list_of(const nri_runtime_update *update)
{
    return update->plugin != NULL ? &update->plugin->updates : &update->rt->orphans;
}

static void link_update(nri_runtime_update *update)
{
    nri_runtime_update **list = list_of(update);

    update->next = *list;
    update->previous = NULL;
    if (update->next != NULL)
        update->next->previous = update;
    *list = update;
}

static void unlink_update(nri_runtime_update *update)
{
    if (update->previous != NULL)
        update->previous->next = update->next;
    else
        *list_of(update) = update->next;
    if (update->next != NULL)
        update->next->previous = update->previous;
    update->next = update->previous = NULL;
}

void nri_rt_update_orphan(nri_runtime_plugin *plugin)
{
    while (plugin->updates != NULL) {
        nri_runtime_update *update = plugin->updates;
        unlink_update(update);
        update->plugin = NULL;
        link_update(update);
        if (update->call != NULL)
            update->abandoned = nri_rpc_call_memory(update->call);
        if (update->kept != NULL)
            update->abandoned += nri_rpc_call_memory(update->kept);
        plugin->rt->abandoned += update->abandoned;
    }
}

void nri_rt_update_free_orphans(struct nri_rt *rt)
{
    while (rt->orphans != NULL) {
        nri_runtime_update *update = rt->orphans;
        unlink_update(update);
        free_update(update);
    }
}

/* ---- the reply ---- */

static void reply(nri_runtime_update *update)
{
    NRI_RT_MESSAGE(UpdateContainersResponse) response;
    NRI_RT_MESSAGE(ContainerUpdate) **failed =
        nri_arena_array(&update->arena, update->count + 1, sizeof *failed);

    if (failed == NULL) {
        (void)nri_rpc_call_refuse(update->call, nri_error_grpc(update->arena.failure),
                                  reason_of(update->arena.failure));
        return;
    }
    nri__pkg__api__v1alpha1__update_containers_response__init(&response);
    response.failed = failed;
    for (size_t i = 0; i < update->count; i++) {
        if (update->failed[i] && update->list[i]->ignore_failure == 0)
            failed[response.n_failed++] = update->list[i];
    }
    (void)nri_rpc_call_reply(update->call, &response.base, NULL);
}

/* Of a refusal by the runtime. Unlike a plugin's, it may be UNIMPLEMENTED: no peer repeats the call
 * another way for that. */
static int status_of(int code)
{
    return code == NRI_E_UNSUPPORTED ? NRI_GRPC_UNIMPLEMENTED : nri_error_grpc(code);
}

void nri_runtime_update_complete(nri_runtime_update *update, int code, const char *text)
{
    if (update == NULL || update->completed)
        return;
    update->completed = true;
    unlink_update(update);
    nri_rt_wake(update->rt);
    if (code == 0)
        code = update->unsaid;
    if (update->call != NULL && code != 0)
        (void)nri_rpc_call_refuse(update->call, status_of(code),
                                  text != NULL ? text : nri_strerror(code));
    else if (update->call != NULL)
        reply(update);
    /* Its operation may go on to read it. */
    if (!update->running)
        free_update(update);
}

/* ---- the operation ---- */

static void tell_evictions(const nri_runtime_update *update)
{
    struct nri_rt *rt = update->rt;
    nri_runtime_plugin *plugin = update->plugin;
    const char *id, *reason;

    for (size_t i = 0; nri_updates_eviction_at(update->view, i, &id, &reason); i++) {
        nri_rt_plugin_log(plugin, NULL, NRI_LOG_INFO, "plugin %s: asks to evict container %s: %s",
                          plugin->id, id, reason);
        rt->config.ops.evict(rt->config.runtime, plugin, id, reason, rt->config.user);
    }
}

/* What of it the runtime has no operation for; NULL: nothing. Then nothing at all of it is done. */
static const char *not_supported(const nri_runtime_update *update)
{
    const struct nri_runtime_ops *ops = &update->rt->config.ops;

    if (update->count > 0 && ops->update == NULL)
        return "this runtime updates no containers for plugins";
    if (nri_updates_eviction_count(update->view) > 0 && ops->evict == NULL)
        return "this runtime evicts no containers for plugins";
    return NULL;
}

static void run(nri_runtime_update *update)
{
    struct nri_rt *rt = update->rt;
    const struct nri_runtime_ops *ops = &rt->config.ops;
    const char *missing = not_supported(update);
    int code = 0;

    link_update(update);
    if (missing != NULL) {
        nri_rt_plugin_log(update->plugin, NULL, NRI_LOG_WARN,
                          "plugin %s: what it asked for is not done: %s", update->plugin->id,
                          missing);
        nri_runtime_update_complete(update, NRI_E_UNSUPPORTED, missing);
        return;
    }
    nri_rt_enter_user(rt);
    update->running = true;
    tell_evictions(update);
    if (update->count > 0)
        code = ops->update(rt->config.runtime, update, rt->config.user);
    update->running = false;
    nri_rt_leave_user(rt);
    if (update->completed)
        free_update(update);
    else if (code != NRI_PENDING)
        nri_runtime_update_complete(update, code, NULL);
}

static void refuse(struct nri_rpc_call *call, int code, const char *text)
{
    (void)nri_rpc_call_refuse(call, nri_error_grpc(code), text);
    nri_rpc_call_release(call);
}

void nri_rt_update_request(nri_runtime_plugin *plugin, struct nri_rpc_call *call)
{
    const NRI_RT_MESSAGE(UpdateContainersRequest) *request =
        (const void *)nri_rpc_call_message(call);

    if (!nri_rt_plugin_is_in_chain(plugin)) {
        refuse(call, NRI_E_STATE, "UpdateContainers: the plugin is not configured");
        return;
    }
    /* A plugin that asks, goes and comes again must not pile up what nobody has answered. */
    if (plugin->rt->abandoned >= plugin->rt->config.limits.max_request_bytes) {
        refuse(call, NRI_E_LIMIT,
               "UpdateContainers: too much of plugins that are gone is not answered yet");
        return;
    }
    int code;
    nri_runtime_update *update =
        make(plugin, request->update, request->n_update, request->evict, request->n_evict, &code);
    if (update == NULL) {
        refuse(call, code, reason_of(code));
        return;
    }
    update->call = call;
    run(update);
}

void nri_rt_update_sync(nri_runtime_plugin *plugin, const struct nri_rpc_result *result)
{
    const NRI_RT_MESSAGE(SynchronizeResponse) *answer = (const void *)result->message;

    if (answer->n_update == 0)
        return;
    int code;
    nri_runtime_update *update = make(plugin, answer->update, answer->n_update, NULL, 0, &code);
    if (update == NULL) {
        nri_rt_drop(plugin, code, "its updates after Synchronize: %s", reason_of(code));
        return;
    }
    update->kept = nri_rpc_result_keep(result);
    run(update);
}

/* ---- what users read and say ---- */

const nri_updates *nri_runtime_update_list(const nri_runtime_update *update)
{
    return update == NULL ? NULL : update->view;
}

nri_runtime_plugin *nri_runtime_update_plugin(const nri_runtime_update *update)
{
    return update == NULL ? NULL : update->plugin;
}

bool nri_runtime_update_is_sync(const nri_runtime_update *update)
{
    return update != NULL && update->call == NULL;
}

/* The list is as long as a plugin made it, and may fail one by one. */
static int make_index(nri_runtime_update *update)
{
    size_t *before = nri_arena_array(&update->arena, update->count + 1, sizeof *before);

    for (size_t i = 0; before != NULL && i < update->count; i++) {
        struct nri_keys_item *item = nri_keys_get(&update->by_id, &update->arena, update->rt->seed,
                                                  nri_key_from(update->list[i]->container_id));
        if (item == NULL)
            return update->arena.failure;
        before[i] = item->slot;
        item->slot = i;
    }
    update->before = before;
    return before == NULL ? update->arena.failure : 0;
}

int nri_runtime_update_fail(nri_runtime_update *update, const char *container_id)
{
    if (update == NULL || container_id == NULL)
        return NRI_E_INVALID;
    if (update->before == NULL && update->unsaid == 0)
        update->unsaid = make_index(update);
    if (update->unsaid != 0)
        return update->unsaid;
    struct nri_keys_item *item =
        nri_keys_find(&update->by_id, (struct nri_key){container_id, strlen(container_id)});
    if (item == NULL)
        return NRI_E_NOT_FOUND;
    for (size_t i = item->slot; i != NRI_NO_SLOT; i = update->before[i])
        update->failed[i] = true;
    item->slot = NRI_NO_SLOT; /* said once for all of the same id */
    return 0;
}
