/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plugins that are part of the program: the plugin side's own state machine at the other end of a
 * connection that is no socket, so that nothing is special about them but that.
 *
 * Both ends live on the loop's thread; bytes go to and fro at each turn until neither side has any.
 * A completed request of another thread wakes the runtime.
 */
#include <string.h>

#include "base/abi.h"
#include "model/model.h"
#include "plugin/core.h"
#include "plugin/method.h"
#include "runtime/internal.h"

struct nri_builtin {
    struct nri_alloc alloc;
    struct nri_rt *rt;
    struct nri_core *core;
    struct nri_plugin_ops ops;
    bool connected;
};

static void wake(void *user)
{
    const struct nri_builtin *builtin = user;

    /* Any thread: the configuration does not change. */
    if (builtin->rt->config.wake != NULL)
        builtin->rt->config.wake(builtin->rt->config.wake_user);
}

static int make_core(struct nri_builtin *builtin, const char *name, const char *index, void *user,
                     struct nri_error *error)
{
    const struct nri_rt *rt = builtin->rt;
    struct nri_core_config config = {
        .ops = &builtin->ops,
        .name = name,
        .index = index,
        .peer = rt->config.name,
        .user = user,
        .alloc = rt->alloc,
        .host = rt->config.host,
        .log = rt->log,
        .registration_timeout = rt->config.registration_timeout,
        .max_sync_bytes = rt->config.max_sync_bytes,
        .max_sync_parts = SIZE_MAX,
        .max_queued_updates = 1,
        /* The defaults of nri/plugin.h. */
        .deadlines = {.guard = true,
                      .margin_percent = 10,
                      .margin = 50 * NRI_MSEC,
                      .refused = NRI_EVENT_BIT(NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT),
                      .slow_percent = 50},
        .wake = wake,
        .wake_user = builtin,
    };

    nri_rpc_limits_default(&config.limits);
    config.limits.max_receive = rt->config.limits.max_receive;
    config.limits.max_send = rt->config.limits.max_send;
    return nri_core_new(&builtin->core, &config, error);
}

static int make(struct nri_rt *rt, const struct nri_plugin_ops *ops, const char *name,
                const char *index, void *user, struct nri_builtin **out, struct nri_error *error)
{
    struct nri_builtin *builtin = nri_alloc_zero(&rt->alloc, sizeof *builtin);

    if (builtin == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a built-in plugin");
    builtin->alloc = rt->alloc;
    builtin->rt = rt;
    int code = nri_abi_take(&builtin->ops, sizeof builtin->ops, sizeof builtin->ops, ops,
                            "struct nri_plugin_ops", error);
    if (code == 0)
        code = make_core(builtin, name, index, user, error);
    if (code == 0)
        code = nri_core_connected(builtin->core, rt->now, error);
    if (code != 0) {
        nri_builtin_free(builtin, rt->now);
        return code;
    }
    builtin->connected = true;
    *out = builtin;
    return 0;
}

int nri_rt_add_builtin(struct nri_rt *rt, const struct nri_plugin_ops *ops, const char *name,
                       const char *index, const char *config, void *user, uint64_t now,
                       struct nri_error *error)
{
    const struct nri_rt_origin origin = {
        .kind = NRI_ORIGIN_BUILTIN, .name = name, .index = index, .config = config, .peer = name};
    struct nri_builtin *builtin = NULL;
    nri_runtime_plugin *plugin;

    nri_rt_take_time(rt, now);
    if (ops == NULL)
        return nri_error_set(error, NRI_E_INVALID, "a built-in plugin needs a callback table");
    int code = nri_identity_check_name(name, error);
    if (code == 0)
        code = nri_identity_check_index(index, error);
    if (code == 0)
        code = make(rt, ops, name, index, user, &builtin, error);
    if (code == 0)
        code = nri_rt_attach(rt, &origin, now, &plugin, error);
    if (code != 0) {
        if (builtin != NULL)
            nri_builtin_free(builtin, now);
        return code;
    }
    plugin->builtin = builtin;
    return 0;
}

void nri_builtin_free(struct nri_builtin *builtin, uint64_t now)
{
    const struct nri_alloc alloc = builtin->alloc;

    if (builtin->connected)
        nri_core_disconnected(builtin->core, 0, "the runtime ended it", NRI_NO_ATTEMPT, now);
    nri_core_free(builtin->core);
    nri_alloc_release(&alloc, builtin);
}

uint64_t nri_builtin_deadline(const struct nri_builtin *builtin)
{
    return nri_core_deadline(builtin->core);
}

/* One way, as far as there is anything. */
static bool to_plugin(nri_runtime_plugin *plugin, uint64_t now)
{
    const uint8_t *bytes;
    size_t count;

    nri_rt_output(plugin, &bytes, &count);
    if (count == 0)
        return false;
    nri_core_input(plugin->builtin->core, bytes, count, now);
    nri_rt_written(plugin, count);
    return true;
}

/* Handlers have run since the driver looked at the clock, and how long they took is to be told. */
static bool to_runtime(nri_runtime_plugin *plugin)
{
    const struct nri_host *host = plugin->rt->config.host;
    const uint8_t *bytes;
    size_t count;

    nri_core_output(plugin->builtin->core, &bytes, &count);
    if (count == 0)
        return false;
    nri_rt_input(plugin, bytes, count, host->now(host->context));
    nri_core_written(plugin->builtin->core, count);
    return true;
}

bool nri_builtin_has_work(const nri_runtime_plugin *plugin)
{
    const uint8_t *bytes;
    size_t there, back;

    nri_rpc_output(plugin->rpc, &bytes, &there);
    nri_core_output(plugin->builtin->core, &bytes, &back);
    return there > 0 || back > 0 || plugin->closing;
}

bool nri_builtin_pump(nri_runtime_plugin *plugin, uint64_t now)
{
    struct nri_core *core = plugin->builtin->core;
    struct nri_error why;

    nri_core_tick(core, now);
    nri_core_drain(core, now);
    bool moved = to_plugin(plugin, now);
    nri_core_drain(core, now);
    moved = to_runtime(plugin) || moved;
    if (plugin->closing) {
        nri_rt_ended(plugin, 0, "the runtime ended it", now);
    } else if (nri_core_should_close(core)) {
        const int code = nri_core_close_reason(core, &why);
        nri_rt_ended(plugin, code, why.text, now);
    }
    return moved;
}
