/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The three ways to run a plugin: on a loop of its own until it ends, on a given loop, or turned by
 * somebody's poll().
 *
 * Happy path: start() -> turns of the loop -> the last handle is closed -> nri_plugin_finished():
 * `ended` is called, and a close that waited goes on. Failure modes: what start() finds at once (no
 * socket, no descriptors left) is returned and leaves nothing behind.
 */
#include "io/handle.h"

#include <limits.h>

#include "io/host.h"
#include "io/own_loop.h"
#include "io/stream.h"

static int refuse(nri_plugin *plugin, int code, const char *text)
{
    return nri_error_set(nri_plugin_error_place(plugin), code, "%s", text);
}

static int check_startable(nri_plugin *plugin)
{
    if (plugin->stream.phase != NRI_PHASE_IDLE)
        return refuse(plugin, NRI_E_STATE, "the plugin is started already");
    if (plugin->closing)
        return refuse(plugin, NRI_E_STATE, "the plugin is being closed");
    if (plugin->fd_used)
        return refuse(plugin, NRI_E_STATE,
                      "the connection that was given as a descriptor has ended, and a descriptor "
                      "serves for one run: make a new "
                      "plugin, or give a socket_path");
    return 0;
}

static void turn_own_loop(nri_plugin *plugin, uv_run_mode mode)
{
    plugin->stream.changed = false;
    (void)uv_run(&plugin->own_loop, mode);
}

void nri_plugin_close_own_loop(nri_plugin *plugin)
{
    while (plugin->stream.phase != NRI_PHASE_IDLE)
        turn_own_loop(plugin, UV_RUN_ONCE);
    /* Fails only while a handle is open, and there is none. */
    (void)uv_loop_close(&plugin->own_loop);
}

static bool is_dispatched(const nri_plugin *plugin)
{
    return plugin->turner == NRI_TURNER_DISPATCH && plugin->stream.phase != NRI_PHASE_IDLE;
}

bool nri_plugin_finished(nri_plugin *plugin)
{
    void (*ended)(nri_plugin * plugin, int code, void *user) = plugin->ended;
    plugin->ended = NULL;
    if (ended != NULL) {
        plugin->depth++;
        ended(plugin, plugin->stream.result, plugin->ended_user);
        plugin->depth--;
    }
    const bool again = is_dispatched(plugin);
    nri_plugin_settle(plugin);
    return again;
}

/* What the last handle's closing calls: with the plugin's own loop, whoever turns it goes on after
 * the turn. */
void nri_plugin_handles_closed(nri_plugin *plugin)
{
    if (plugin->turner == NRI_TURNER_CALLER)
        (void)nri_plugin_finished(plugin);
}

static int start(nri_plugin *plugin, uv_loop_t *loop, enum nri_turner turner)
{
    struct nri_error error;
    nri_error_clear(&error);
    plugin->turner = turner;
    int rc = loop == NULL ? nri_own_loop_open(&plugin->own_loop, plugin->mailbox.fd, &error) : 0;
    if (rc == 0) {
        rc = nri_stream_begin(plugin, loop != NULL ? loop : &plugin->own_loop, &error);
        if (rc != 0 && loop == NULL)
            nri_plugin_close_own_loop(plugin);
    }
    if (rc != 0)
        nri_stream_log_failure(plugin, error.text);
    nri_error_copy(&plugin->error, &error);
    plugin->stream.result = rc;
    return rc;
}

int nri_plugin_run(nri_plugin *plugin)
{
    if (plugin == NULL)
        return NRI_E_INVALID;
    if (nri_worker_is_mine(plugin->worker) || plugin->depth > 0)
        return refuse(plugin, NRI_E_DEADLOCK,
                      "nri_plugin_run() in a handler of the plugin would wait for itself");
    int rc = check_startable(plugin);
    if (rc == 0)
        rc = start(plugin, NULL, NRI_TURNER_RUN);
    if (rc != 0)
        return rc;
    nri_plugin_close_own_loop(plugin);
    rc = plugin->stream.result;
    (void)nri_plugin_finished(plugin);
    return rc;
}

/* Lets libuv tell the kernel what to poll for, so that the loop's descriptor polls readable when it
 * should. */
static void arm_own_loop(nri_plugin *plugin)
{
    if (!plugin->stream.changed)
        return;
    plugin->stream.arming = true;
    turn_own_loop(plugin, UV_RUN_NOWAIT);
    plugin->stream.arming = false;
}

int nri_plugin_start(nri_plugin *plugin, struct uv_loop_s *loop,
                     void (*ended)(nri_plugin *plugin, int code, void *user), void *user)
{
    if (plugin == NULL)
        return NRI_E_INVALID;
    int rc = check_startable(plugin);
    if (rc == 0)
        rc = start(plugin, loop, loop != NULL ? NRI_TURNER_CALLER : NRI_TURNER_DISPATCH);
    if (rc != 0)
        return rc;
    plugin->ended = ended;
    plugin->ended_user = user;
    if (loop == NULL)
        arm_own_loop(plugin);
    return 0;
}

int nri_plugin_fd(const nri_plugin *plugin)
{
    if (plugin == NULL)
        return NRI_E_INVALID;
    return is_dispatched(plugin) ? uv_backend_fd(&plugin->own_loop) : NRI_E_STATE;
}

int nri_plugin_timeout(const nri_plugin *plugin)
{
    if (plugin == NULL || !is_dispatched(plugin))
        return -1;
    uint64_t at = nri_stream_deadline(plugin), now = nri_host_now();
    if (at == NRI_NEVER)
        return -1;
    if (at <= now)
        return 0;
    uint64_t wait = (at - now + NRI_MSEC - 1) / NRI_MSEC;
    return wait < INT_MAX ? (int)wait : INT_MAX;
}

int nri_plugin_dispatch(nri_plugin *plugin)
{
    if (plugin == NULL)
        return NRI_E_INVALID;
    if (nri_worker_is_mine(plugin->worker) || plugin->depth > 0)
        return refuse(plugin, NRI_E_DEADLOCK,
                      "nri_plugin_dispatch() in a handler of the plugin would wait for itself");
    if (plugin->turner != NRI_TURNER_DISPATCH)
        return refuse(
            plugin, NRI_E_STATE,
            "nri_plugin_dispatch() is for a plugin that nri_plugin_start() started with no loop");
    if (plugin->stream.phase == NRI_PHASE_IDLE)
        return 0;
    turn_own_loop(plugin, UV_RUN_NOWAIT);
    /* libuv's clock counts in milliseconds and may be behind ours. */
    if (nri_stream_is_live(&plugin->stream) && nri_stream_deadline(plugin) <= nri_host_now())
        nri_stream_service(plugin);
    if (nri_stream_is_live(&plugin->stream)) {
        arm_own_loop(plugin);
        return 1;
    }
    bool again;
    do {
        nri_plugin_close_own_loop(plugin);
        again = nri_plugin_finished(plugin);
    } while (again && plugin->closing); /* started and closed by `ended` */
    return again ? 1 : 0;
}

int nri_plugin_result(const nri_plugin *plugin)
{
    if (plugin == NULL)
        return NRI_E_INVALID;
    return plugin->stream.phase == NRI_PHASE_IDLE ? plugin->stream.result : 0;
}

void nri_plugin_stop(nri_plugin *plugin)
{
    if (plugin != NULL)
        nri_mailbox_stop(&plugin->mailbox);
}

int nri_plugin_post(nri_plugin *plugin, void (*fn)(nri_plugin *plugin, void *arg), void *arg)
{
    if (plugin == NULL || fn == NULL)
        return NRI_E_INVALID;
    return nri_mailbox_post(&plugin->mailbox, (union nri_letter_fn){.plugin = fn}, arg);
}
