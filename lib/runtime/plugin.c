/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin's connection, from its beginning to its end. Whatever must end it goes through
 * nri_rt_drop(): the first reason stays, the driver sees nri_rt_should_close(), and nri_rt_ended()
 * tells, once. The memory goes at the end of a turn, because callbacks of the connection may run.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/internal.h"
#include "wire/reader.h"

#define TEXT_ARENA    ((size_t)20 << 20) /* a configuration may be as large as a message */
#define CONTROL_CALLS 8u                 /* beside events: Configure, Synchronize, Shutdown */

const char *nri_rt_plugin_label(const nri_runtime_plugin *plugin)
{
    return plugin->id[0] != '\0' ? plugin->id : plugin->peer;
}

bool nri_rt_plugin_is_in_chain(const nri_runtime_plugin *plugin)
{
    return !plugin->closing && (plugin->state == NRI_RT_READY_TO_SYNC ||
                                plugin->state == NRI_RT_SYNCING || plugin->state == NRI_RT_ACTIVE);
}

/* ---- the list ---- */

static bool comes_before(const nri_runtime_plugin *a, const nri_runtime_plugin *b)
{
    const int order = strcmp(a->index, b->index);

    return order != 0 ? order < 0 : a->number < b->number;
}

static void unlink_plugin(nri_runtime_plugin *plugin)
{
    struct nri_rt *rt = plugin->rt;

    if (plugin->previous != NULL)
        plugin->previous->next = plugin->next;
    else
        rt->plugins = plugin->next;
    if (plugin->next != NULL)
        plugin->next->previous = plugin->previous;
    else
        rt->plugins_last = plugin->previous;
    plugin->next = plugin->previous = NULL;
}

static void link_plugin(nri_runtime_plugin *plugin)
{
    struct nri_rt *rt = plugin->rt;
    nri_runtime_plugin *after = rt->plugins_last;

    while (after != NULL && comes_before(plugin, after))
        after = after->previous;
    plugin->previous = after;
    plugin->next = after != NULL ? after->next : rt->plugins;
    if (plugin->previous != NULL)
        plugin->previous->next = plugin;
    else
        rt->plugins = plugin;
    if (plugin->next != NULL)
        plugin->next->previous = plugin;
    else
        rt->plugins_last = plugin;
}

void nri_rt_plugin_insert(nri_runtime_plugin *plugin)
{
    unlink_plugin(plugin);
    link_plugin(plugin);
}

nri_runtime_plugin *nri_rt_next_plugin(const struct nri_rt *rt, const nri_runtime_plugin *plugin)
{
    nri_runtime_plugin *next = plugin == NULL ? rt->plugins : plugin->next;

    while (next != NULL && !next->connected_told)
        next = next->next;
    return next;
}

size_t nri_rt_plugin_count(const struct nri_rt *rt)
{
    return rt->plugin_count;
}

size_t nri_rt_starting_count(const struct nri_rt *rt, bool synced)
{
    size_t count = 0;

    for (const nri_runtime_plugin *plugin = rt->plugins; plugin != NULL; plugin = plugin->next) {
        const enum nri_rt_state last = synced ? NRI_RT_SYNCING : NRI_RT_CONFIGURING;
        const bool counts =
            plugin->origin == NRI_ORIGIN_LAUNCHED || plugin->origin == NRI_ORIGIN_BUILTIN;
        if (counts && !plugin->closing && plugin->state <= last)
            count++;
    }
    return count;
}

/* ---- the beginning ---- */

static void wake(void *user)
{
    nri_runtime_plugin *plugin = user;

    nri_rt_wake(plugin->rt);
}

static int make_rpc(nri_runtime_plugin *plugin)
{
    struct nri_rt *rt = plugin->rt;
    struct nri_rpc_config config = {
        .serve_id = NRI_MUX_RUNTIME_ID,
        .call_id = NRI_MUX_PLUGIN_ID,
        .serve = &nri__pkg__api__v1alpha1__runtime__descriptor,
        .call = &nri__pkg__api__v1alpha1__plugin__descriptor,
        .limits = rt->config.limits,
        .alloc = &rt->alloc,
        .host = rt->config.host,
        .log = rt->log,
        .label = rt->config.name,
        .request = nri_rt_request,
        .wake = wake,
        .user = plugin,
    };

    config.limits.max_pending_calls = rt->config.max_outstanding + CONTROL_CALLS;
    return nri_rpc_new(&plugin->rpc, &config);
}

static const char *keep(nri_runtime_plugin *plugin, const char *text)
{
    return nri_arena_text(&plugin->arena, text == NULL ? "" : text,
                          text == NULL ? 0 : strlen(text));
}

static bool take_origin(nri_runtime_plugin *plugin, const struct nri_rt_origin *origin)
{
    plugin->origin = origin->kind;
    plugin->pid = origin->pid;
    plugin->driver = origin->driver;
    plugin->peer = keep(plugin, origin->peer);
    plugin->config = keep(plugin, origin->config);
    plugin->name = keep(plugin, origin->name);
    plugin->nri_version = plugin->id = keep(plugin, NULL);
    if (origin->name != NULL && plugin->name != NULL) {
        plugin->named = true;
        (void)snprintf(plugin->index, sizeof plugin->index, "%s", origin->index);
        plugin->id = nri_arena_text2(&plugin->arena, plugin->index, 2, "-", 1);
        if (plugin->id != NULL)
            plugin->id =
                nri_arena_text2(&plugin->arena, plugin->id, 3, plugin->name, strlen(plugin->name));
    }
    return plugin->peer != NULL && plugin->config != NULL && plugin->name != NULL &&
           plugin->nri_version != NULL && plugin->id != NULL;
}

int nri_rt_attach(struct nri_rt *rt, const struct nri_rt_origin *origin, uint64_t now,
                  nri_runtime_plugin **plugin, struct nri_error *error)
{
    nri_rt_take_time(rt, now);
    if (rt->stopping)
        return nri_error_set(error, NRI_E_STATE, "the runtime stops: it takes no more plugins");
    if (rt->plugin_count >= rt->config.max_plugins)
        return nri_error_set(error, NRI_E_BUSY, "there are %zu plugins, which is max_plugins",
                             rt->plugin_count);
    nri_runtime_plugin *p = nri_alloc_zero(&rt->alloc, sizeof *p);
    if (p == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a plugin");
    p->rt = rt;
    nri_arena_init(&p->arena, &rt->alloc, 512, TEXT_ARENA);
    const int code = take_origin(p, origin) ? make_rpc(p) : NRI_E_NOMEM;
    if (code != 0) {
        nri_rt_plugin_free(p);
        return nri_error_set(error, code, "a plugin's connection: %s", nri_strerror(code));
    }
    p->number = ++rt->next_plugin;
    p->since = rt->now;
    p->first_event = NRI_NEVER;
    p->registration_deadline = nri_rt_after(rt->now, rt->config.registration_timeout);
    link_plugin(p);
    rt->plugin_count++;
    *plugin = p;
    nri_rt_wake(rt);
    return 0;
}

void *nri_rt_driver(const nri_runtime_plugin *plugin)
{
    return plugin->driver;
}

/* ---- bytes ---- */

void nri_rt_plugin_check(nri_runtime_plugin *plugin)
{
    struct nri_error error;

    error.text[0] = '\0';
    const int code = nri_rpc_failure(plugin->rpc, &error);
    if (code != 0)
        nri_rt_drop(plugin, code, "%s", error.text);
}

void nri_rt_input(nri_runtime_plugin *plugin, const uint8_t *bytes, size_t count, uint64_t now)
{
    struct nri_error error;

    nri_rt_take_time(plugin->rt, now);
    if (plugin->closing)
        return;
    const int code = nri_rpc_input(plugin->rpc, bytes, count, plugin->rt->now, &error);
    if (code != 0)
        nri_rt_drop(plugin, code, "%s", error.text);
    nri_rt_plugin_check(plugin);
}

void nri_rt_output(nri_runtime_plugin *plugin, const uint8_t **bytes, size_t *count)
{
    nri_rpc_output(plugin->rpc, bytes, count);
}

void nri_rt_written(nri_runtime_plugin *plugin, size_t count)
{
    nri_rpc_written(plugin->rpc, count);
    nri_rt_plugin_check(plugin);
}

bool nri_rt_in_message(const nri_runtime_plugin *plugin)
{
    return nri_rpc_in_message(plugin->rpc);
}

/* ---- the end ---- */

bool nri_rt_should_close(const nri_runtime_plugin *plugin)
{
    return plugin->closing;
}

void nri_rt_drop(nri_runtime_plugin *plugin, int code, const char *format, ...)
{
    char text[NRI_ERROR_TEXT_SIZE];
    va_list arguments;

    if (plugin->closing)
        return;
    va_start(arguments, format);
    (void)nri_error_format(text, format, arguments);
    va_end(arguments);
    nri_error_set(&plugin->failure, code, "%s", text);
    plugin->closing = true;
    nri_rt_wake(plugin->rt);
}

/* A plugin that is connected may go as it likes: a closed connection is a fault only where somebody
 * still waits for it, or in the middle of a message. */
static bool ends_in_order(const nri_runtime_plugin *plugin, int code)
{
    return !plugin->closing && code == NRI_E_CLOSED && plugin->state == NRI_RT_ACTIVE &&
           nri_rpc_pending_calls(plugin->rpc) == 0 && !nri_rpc_in_message(plugin->rpc);
}

static void tell_end(nri_runtime_plugin *plugin, bool in_order)
{
    struct nri_rt *rt = plugin->rt;
    const struct nri_error *why = &plugin->failure;
    const bool wanted = why->code == 0 || plugin->state == NRI_RT_SHUTTING_DOWN;

    nri_rt_plugin_log(plugin, NULL, wanted || in_order ? NRI_LOG_INFO : NRI_LOG_WARN,
                      "plugin %s: connection closed: %s", nri_rt_plugin_label(plugin), why->text);
    if (!plugin->connected_told || rt->config.ops.plugin_lost == NULL)
        return;
    nri_rt_enter_user(rt);
    rt->config.ops.plugin_lost(rt->config.runtime, plugin, wanted ? 0 : why->code, why->text,
                               rt->config.user);
    nri_rt_leave_user(rt);
}

void nri_rt_ended(nri_runtime_plugin *plugin, int code, const char *text, uint64_t now)
{
    struct nri_rt *rt = plugin->rt;

    nri_rt_take_time(rt, now);
    if (plugin->ended)
        return;
    plugin->ended = true;
    const bool in_order = ends_in_order(plugin, code);
    nri_rt_drop(plugin, code, "%s", text);
    /* Completes what is out; what waits has nobody to answer it any more. */
    nri_rpc_close(plugin->rpc, NRI_E_CLOSED, plugin->failure.text);
    nri_rt_ask_end(plugin);
    nri_rt_update_orphan(plugin);
    unlink_plugin(plugin);
    rt->plugin_count--;
    tell_end(plugin, in_order);
    plugin->state = NRI_RT_GONE;
    plugin->next = rt->graveyard;
    rt->graveyard = plugin;
    nri_rt_wake(rt);
}

void nri_rt_plugin_free(nri_runtime_plugin *plugin)
{
    const struct nri_alloc alloc = plugin->rt->alloc;

    if (plugin->builtin != NULL)
        nri_builtin_free(plugin->builtin, plugin->rt->now);
    nri_parts_unref(plugin->parts);
    nri_rpc_free(plugin->rpc);
    nri_arena_fini(&plugin->arena);
    nri_alloc_release(&alloc, plugin);
}

/* ---- what users read ---- */

const char *nri_runtime_plugin_name(const nri_runtime_plugin *plugin)
{
    return plugin == NULL ? "" : plugin->name;
}

const char *nri_runtime_plugin_id(const nri_runtime_plugin *plugin)
{
    return plugin == NULL ? "" : plugin->id;
}

const char *nri_runtime_plugin_index(const nri_runtime_plugin *plugin)
{
    return plugin == NULL ? "" : plugin->index;
}

enum nri_plugin_origin nri_runtime_plugin_origin(const nri_runtime_plugin *plugin)
{
    return plugin == NULL ? NRI_ORIGIN_EXTERNAL : plugin->origin;
}

int64_t nri_runtime_plugin_pid(const nri_runtime_plugin *plugin)
{
    return plugin == NULL ? 0 : plugin->pid;
}

uint32_t nri_runtime_plugin_events(const nri_runtime_plugin *plugin)
{
    return plugin == NULL ? 0 : plugin->events;
}

const char *nri_runtime_plugin_nri_version(const nri_runtime_plugin *plugin)
{
    return plugin == NULL ? "" : plugin->nri_version;
}
