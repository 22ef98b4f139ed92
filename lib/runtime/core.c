/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making the core, and its turns. What each part does is in plugin.c and register.c (connections),
 * sync.c, event.c, chain.c, validate.c, ask.c and update.c.
 */
#include "runtime/core.h"

#include <string.h>

#include "model/json_options.h"
#include "runtime/internal.h"

#define TEXT_ARENA ((size_t)1 << 20)
/* Of one turn, so that a built-in plugin that always has something to say does not keep the loop.
 */
#define ROUNDS 64u
/* Of one round, so that who calls an event whenever one is done does not keep it either. */
#define STEPS 256u

void nri_rt_wake(struct nri_rt *rt)
{
    if (rt->config.wake != NULL)
        rt->config.wake(rt->config.wake_user);
}

void nri_rt_take_time(struct nri_rt *rt, uint64_t now)
{
    if (now > rt->now)
        rt->now = now;
}

void nri_rt_enter_user(struct nri_rt *rt)
{
    rt->depth++;
}

void nri_rt_leave_user(struct nri_rt *rt)
{
    const struct nri_host *host = rt->config.host;

    rt->depth--;
    nri_rt_take_time(rt, host->now(host->context));
}

uint64_t nri_rt_after(uint64_t now, uint64_t time)
{
    return time < NRI_NEVER - now ? now + time : NRI_NEVER;
}

/* ---- making ---- */

static const char *copy_text(struct nri_rt *rt, const char *text)
{
    return nri_arena_text(&rt->arena, text, strlen(text));
}

int nri_rt_new(struct nri_rt **rt, const struct nri_rt_config *config, struct nri_error *error)
{
    struct nri_rt *r = nri_alloc_zero(&config->alloc, sizeof *r);
    if (r == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a runtime");
    r->config = *config;
    r->alloc = config->alloc;
    r->log = config->log;
    r->todo_end = &r->todo;
    nri_arena_init(&r->arena, &r->alloc, 256, TEXT_ARENA);
    nri_failures_init(&r->failures, &r->alloc, &config->failure);
    nri_rt_stats_init(&r->stats, &r->alloc);
    int code = config->host->random(config->host->context, r->seed, sizeof r->seed);
    if (code != 0)
        nri_error_set(error, code, "no random numbers for a runtime");
    r->config.name = copy_text(r, config->name);
    r->config.version = copy_text(r, config->version);
    r->config.nri_version = copy_text(r, config->nri_version);
    if (code == 0 &&
        (r->config.name == NULL || r->config.version == NULL || r->config.nri_version == NULL))
        code = nri_error_set(error, NRI_E_NOMEM, "out of memory for a runtime");
    if (code != 0) {
        nri_rt_free(r);
        return code;
    }
    *rt = r;
    return 0;
}

static void bury(struct nri_rt *rt)
{
    while (rt->graveyard != NULL) {
        nri_runtime_plugin *plugin = rt->graveyard;
        rt->graveyard = plugin->next;
        nri_rt_plugin_free(plugin);
    }
}

void nri_rt_free(struct nri_rt *rt)
{
    if (rt == NULL)
        return;
    const struct nri_alloc alloc = rt->alloc;
    bury(rt);
    nri_rt_update_free_orphans(rt);
    while (rt->spare != NULL) {
        nri_outcome *event = rt->spare;
        rt->spare = event->next;
        nri_rt_event_destroy(event);
    }
    nri_rt_lanes_fini(rt);
    nri_failures_fini(&rt->failures);
    nri_rt_stats_fini(&rt->stats);
    nri_arena_fini(&rt->arena);
    nri_alloc_release(&alloc, rt);
}

/* ---- turns ---- */

/* The list is gone through as it was: what a callback adds waits for the next turn. */
static void tell_plugins(struct nri_rt *rt)
{
    for (nri_runtime_plugin *plugin = rt->plugins; plugin != NULL; plugin = plugin->next) {
        if (!plugin->came || plugin->connected_told)
            continue;
        plugin->came = false;
        plugin->connected_told = true;
        if (rt->config.ops.plugin_connected == NULL)
            continue;
        nri_rt_enter_user(rt);
        rt->config.ops.plugin_connected(rt->config.runtime, plugin, rt->config.user);
        nri_rt_leave_user(rt);
    }
}

static bool pump_builtins(struct nri_rt *rt)
{
    nri_runtime_plugin *plugin = rt->plugins;
    bool moved = false;

    while (plugin != NULL) {
        nri_runtime_plugin *next = plugin->next;
        if (plugin->builtin != NULL)
            moved = nri_builtin_pump(plugin, rt->now) || moved;
        plugin = next;
    }
    return moved;
}

/* Whether another round has something to do. */
static bool has_work(const struct nri_rt *rt)
{
    bool has = rt->todo != NULL;

    for (const nri_runtime_plugin *plugin = rt->plugins; plugin != NULL && !has;
         plugin = plugin->next)
        has = plugin->builtin != NULL && nri_builtin_has_work(plugin);
    return has;
}

static void run_events(struct nri_rt *rt)
{
    for (unsigned step = 0; rt->todo != NULL && step < STEPS; step++) {
        nri_outcome *event = rt->todo;
        rt->todo = event->next_todo;
        if (rt->todo == NULL)
            rt->todo_end = &rt->todo;
        event->next_todo = NULL;
        event->todo = false;
        nri_rt_event_run(event);
    }
}

void nri_rt_process(struct nri_rt *rt, uint64_t now)
{
    nri_rt_take_time(rt, now);
    if (rt->depth > 0)
        return; /* the outer one goes on */
    bool moved = true;
    for (unsigned round = 0; moved && round < ROUNDS; round++) {
        rt->depth++;
        moved = pump_builtins(rt);
        rt->depth--;
        tell_plugins(rt);
        run_events(rt);
        rt->depth++;
        nri_rt_sync_turn(rt);
        rt->depth--;
        for (nri_runtime_plugin *plugin = rt->plugins; plugin != NULL; plugin = plugin->next)
            nri_rt_ask_send(plugin);
        moved = moved || has_work(rt);
    }
    if (moved)
        nri_rt_wake(rt);
    bury(rt);
}

static void earliest(uint64_t *at, uint64_t other)
{
    if (other < *at)
        *at = other;
}

uint64_t nri_rt_deadline(const struct nri_rt *rt)
{
    uint64_t at = nri_rt_sync_deadline(rt);

    for (const nri_runtime_plugin *plugin = rt->plugins; plugin != NULL; plugin = plugin->next) {
        if (plugin->closing)
            continue;
        if (rt->stopping)
            earliest(&at, rt->stop_at);
        earliest(&at, nri_rpc_deadline(plugin->rpc));
        earliest(&at, nri_rt_ask_deadline(plugin));
        if (plugin->state == NRI_RT_REGISTERING)
            earliest(&at, plugin->registration_deadline);
        if (plugin->builtin != NULL)
            earliest(&at, nri_builtin_deadline(plugin->builtin));
    }
    return at;
}

static void tick_plugin(nri_runtime_plugin *plugin)
{
    struct nri_rt *rt = plugin->rt;

    if (plugin->closing)
        return;
    if (plugin->state == NRI_RT_REGISTERING && rt->now >= plugin->registration_deadline)
        nri_rt_drop(plugin, NRI_E_TIMEOUT, "it did not register within %llu ms",
                    (unsigned long long)(rt->config.registration_timeout / NRI_MSEC));
    nri_rpc_tick(plugin->rpc, rt->now);
    nri_rt_ask_tick(plugin);
    if (rt->stopping && rt->now >= rt->stop_at)
        nri_rt_drop(plugin, 0, "the runtime stops");
    nri_rt_plugin_check(plugin);
}

void nri_rt_tick(struct nri_rt *rt, uint64_t now)
{
    nri_rt_take_time(rt, now);
    for (nri_runtime_plugin *plugin = rt->plugins; plugin != NULL; plugin = plugin->next)
        tick_plugin(plugin);
}

/* ---- the stop ---- */

static void shut_down(void *user, const struct nri_rpc_result *result)
{
    nri_runtime_plugin *plugin = user;

    (void)result; /* whatever it said, or did not */
    nri_rt_drop(plugin, 0, "the runtime stops");
}

void nri_rt_shutdown(struct nri_rt *rt, uint64_t grace, uint64_t now)
{
    NRI_RT_MESSAGE(Empty) empty;

    nri_rt_take_time(rt, now);
    if (rt->stopping) {
        earliest(&rt->stop_at, nri_rt_after(rt->now, grace));
        nri_rt_wake(rt);
        return;
    }
    rt->stopping = true;
    rt->stop_at = nri_rt_after(rt->now, grace);
    for (nri_outcome *event = rt->events; event != NULL; event = event->next)
        (void)nri_rt_event_fail(event, NRI_E_STATE, NULL, "the runtime was stopped");
    nri__pkg__api__v1alpha1__empty__init(&empty);
    for (nri_runtime_plugin *plugin = rt->plugins; plugin != NULL; plugin = plugin->next) {
        const bool knows = nri_rt_plugin_is_in_chain(plugin);
        if (plugin->closing)
            continue;
        plugin->state = NRI_RT_SHUTTING_DOWN;
        if (!knows ||
            nri_rpc_invoke(plugin->rpc, nri_rt_method(NRI_EVENT_SHUTDOWN, false), &empty.base,
                           rt->now, grace, NULL, 0, shut_down, plugin, NULL) != 0)
            nri_rt_drop(plugin, 0, "the runtime stops");
    }
    nri_rt_wake(rt);
}

int nri_rt_set_failure_policy(struct nri_rt *rt, const char *plugin,
                              const struct nri_failure_policy *policy, struct nri_error *error)
{
    return nri_failures_set(&rt->failures, plugin, policy, error);
}

int nri_rt_metrics(const struct nri_rt *rt, char **text, size_t *length)
{
    const struct nri_json_settings settings = {.alloc = rt->alloc, .max_bytes = SIZE_MAX};
    struct nri_buf out;
    size_t active = 0;

    for (const nri_runtime_plugin *plugin = rt->plugins; plugin != NULL; plugin = plugin->next)
        active += plugin->state == NRI_RT_ACTIVE ? 1 : 0;
    int code = nri_json_result_begin(&settings, &out);
    if (code != 0)
        return code;
    code = nri_rt_stats_write(&rt->stats, active, &out);
    if (code == 0) {
        *text = nri_json_result_end(&out, length);
        code = *text != NULL ? 0 : NRI_E_NOMEM;
    }
    nri_buf_fini(&out);
    return code;
}
