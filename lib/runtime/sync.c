/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synchronisation: plugins that are new in the chain are told what there is.
 *
 * Happy path: a plugin is ready to sync -> no event older than it is under way, and nobody holds
 * syncs -> `enumerate` tells what there is, for all such plugins at once -> its parts go out one by
 * one, each answered -> the plugin is active, and what waited for it goes out. Failure modes: what
 * is told cannot be taken (those plugins are dropped with the reason), a part is not answered in
 * time, or not as a part (the plugin knows no parts). An older event holds a sync up for its own
 * time-outs only; a hold, for the registration time-out.
 *
 * Events that begin meanwhile know the plugin and wait for it at its turn; while somebody holds
 * syncs they do not, because what they make may be told by `enumerate`, and a hold is for them.
 */
#include "runtime/internal.h"

/* Of ttrpc's envelope around a part: service, method, time-out and lengths. */
#define ENVELOPE 256u

/* ---- sending ---- */

static void send_part(nri_runtime_plugin *plugin);

static void become_active(nri_runtime_plugin *plugin)
{
    plugin->parts = nri_parts_unref(plugin->parts);
    plugin->state = NRI_RT_ACTIVE;
    plugin->since = plugin->rt->now;
    plugin->came = true;
    nri_rt_plugin_log(plugin, NULL, NRI_LOG_INFO, "plugin %s: synchronised", plugin->id);
    nri_rt_wake(plugin->rt);
}

static void part_answered(void *user, const struct nri_rpc_result *result)
{
    nri_runtime_plugin *plugin = user;
    const NRI_RT_MESSAGE(SynchronizeResponse) *reply =
        (const NRI_RT_MESSAGE(SynchronizeResponse) *)result->message;

    if (plugin->closing || plugin->state != NRI_RT_SYNCING)
        return;
    const size_t count = nri_parts_count(plugin->parts);
    nri_rt_stats_count(&plugin->rt->stats, plugin->id, NRI_EVENT_SYNCHRONIZE, result->code,
                       plugin->rt->now - plugin->part_sent_at);
    if (result->code != 0) {
        nri_rt_drop(plugin, result->code, "Synchronize, part %zu of %zu: %s", plugin->part, count,
                    result->text);
    } else if (plugin->part == count) {
        nri_rt_stats_updates(&plugin->rt->stats, plugin->id, NRI_EVENT_SYNCHRONIZE, reply->n_update,
                             0);
        nri_rt_update_sync(plugin, result);
        if (!plugin->closing)
            become_active(plugin);
    } else if (reply->more == 0 || reply->n_update > 0) {
        nri_rt_drop(plugin, NRI_E_UNSUPPORTED,
                    "plugin does not handle split sync requests: it answered part %zu of %zu as if "
                    "it were the last",
                    plugin->part, count);
    } else {
        send_part(plugin);
    }
}

static void send_part(nri_runtime_plugin *plugin)
{
    const struct nri_rt *rt = plugin->rt;
    struct nri_rpc_packed packed = {
        .service = &nri__pkg__api__v1alpha1__plugin__descriptor,
        .method = nri_rt_method(NRI_EVENT_SYNCHRONIZE, false),
    };
    struct nri_error error;

    nri_parts_get(plugin->parts, plugin->part, &packed.payload, &packed.size);
    plugin->part++;
    plugin->part_sent_at = rt->now;
    const int code = nri_rpc_invoke_packed(
        plugin->rpc, &packed, rt->now, rt->config.request_timeout, part_answered, plugin, &error);
    if (code != 0)
        nri_rt_drop(plugin, code, "Synchronize: %s", error.text);
}

/* ---- when ---- */

static bool waits(const nri_runtime_plugin *plugin)
{
    return plugin->state == NRI_RT_READY_TO_SYNC && !plugin->closing;
}

static nri_runtime_plugin *first_waiting(const struct nri_rt *rt)
{
    nri_runtime_plugin *plugin = rt->plugins;

    while (plugin != NULL && !waits(plugin))
        plugin = plugin->next;
    return plugin;
}

static uint64_t hold_ends(const struct nri_rt *rt)
{
    return nri_rt_after(rt->held_since, rt->config.registration_timeout);
}

static bool is_held(struct nri_rt *rt)
{
    if (rt->driver_holds > 0)
        return true;
    if (rt->holds == 0)
        return false;
    if (rt->now < hold_ends(rt))
        return true;
    if (!rt->hold_reported)
        nri_rt_log(rt, NRI_LOG_WARN,
                   "nri_runtime_hold_sync() has lasted longer than the registration time-out: "
                   "plugins are synchronised all the same");
    rt->hold_reported = true;
    return false;
}

/* Whether an event is under way that plugins from `number` on do not know, also when `done` is
 * still to be called: what it changes is not told. */
static bool has_older_event(const struct nri_rt *rt, uint64_t number)
{
    return rt->events != NULL && rt->events->number < number; /* the first is the oldest */
}

uint64_t nri_rt_sync_deadline(const struct nri_rt *rt)
{
    if (rt->holds == 0 || rt->driver_holds > 0 || rt->hold_reported || first_waiting(rt) == NULL)
        return NRI_NEVER;
    return hold_ends(rt);
}

/* ---- what is told ---- */

static struct nri_parts *enumerate(struct nri_rt *rt, struct nri_error *error)
{
    const struct nri_runtime_ops *ops = &rt->config.ops;
    const size_t envelope = rt->config.limits.max_send > 2u * ENVELOPE ? ENVELOPE : 0;
    struct nri_parts *parts = nri_parts_new(&rt->alloc, rt->config.limits.max_send - envelope,
                                            rt->config.max_sync_bytes, error);

    if (parts == NULL) {
        nri_error_set(error, NRI_E_NOMEM, "out of memory for Synchronize");
        return NULL;
    }
    int code = 0;
    if (ops->enumerate != NULL) {
        nri_rt_enter_user(rt);
        code = ops->enumerate(rt->config.runtime, (nri_enumeration *)parts, rt->config.user);
        nri_rt_leave_user(rt);
    }
    if (error->code == 0 && code != 0)
        nri_error_set(error, nri_error_is_code(code) ? code : NRI_E_REJECTED,
                      "the runtime could not tell its containers: %s", nri_strerror(code));
    if (error->code == 0)
        (void)nri_parts_finish(parts);
    return error->code == 0 ? parts : nri_parts_unref(parts);
}

static void begin(nri_runtime_plugin *plugin, struct nri_parts *parts,
                  const struct nri_error *error)
{
    if (parts == NULL) {
        nri_rt_drop(plugin, error->code, "%s", error->text);
        return;
    }
    nri_rt_ask_forget_told(plugin);
    parts->references++;
    plugin->parts = parts;
    plugin->part = 0;
    plugin->state = NRI_RT_SYNCING;
    plugin->since = plugin->rt->now;
    send_part(plugin);
}

/* Those that wait for older events than the first one wait on: their own turn comes. */
static void synchronize(struct nri_rt *rt)
{
    struct nri_error error;

    nri_error_clear(&error);
    struct nri_parts *parts = enumerate(rt, &error);
    for (nri_runtime_plugin *plugin = rt->plugins; plugin != NULL; plugin = plugin->next) {
        if (waits(plugin) && !has_older_event(rt, plugin->first_event))
            begin(plugin, parts, &error);
    }
    nri_parts_unref(parts);
}

void nri_rt_sync_pass(struct nri_rt *rt)
{
    if (!is_held(rt))
        return;
    for (nri_runtime_plugin *plugin = rt->plugins; plugin != NULL; plugin = plugin->next) {
        if (!waits(plugin))
            continue;
        plugin->first_event = rt->next_event + 1;
        nri_rt_ask_pass(plugin);
    }
}

void nri_rt_sync_turn(struct nri_rt *rt)
{
    nri_runtime_plugin *plugin = first_waiting(rt);

    if (plugin == NULL || rt->stopping)
        return;
    if (is_held(rt)) {
        nri_rt_sync_pass(rt);
        return;
    }
    for (; plugin != NULL; plugin = plugin->next) {
        if (waits(plugin) && !has_older_event(rt, plugin->first_event)) {
            synchronize(rt);
            return;
        }
    }
}

void nri_rt_hold_sync(struct nri_rt *rt, bool drivers, uint64_t now)
{
    nri_rt_take_time(rt, now);
    if (drivers) {
        rt->driver_holds++;
        return;
    }
    if (rt->holds++ == 0) {
        rt->held_since = rt->now;
        rt->hold_reported = false;
    }
}

int nri_rt_release_sync(struct nri_rt *rt, bool drivers)
{
    size_t *holds = drivers ? &rt->driver_holds : &rt->holds;

    if (*holds == 0)
        return NRI_E_STATE;
    if (--*holds == 0)
        nri_rt_wake(rt);
    return 0;
}
