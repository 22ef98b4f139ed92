/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The turns of a runtime's loop.
 *
 * Happy path: nri_runtime_begin() -> the first turn launches plugins -> once all are configured or
 * have failed they are synchronised together -> the socket opens, and `ready` is called -> at each
 * turn, what is posted, connections, what they sent, deadlines, the core's work, what is to be
 * written, processes -> a stop: the socket closes, plugins get Shutdown, connections and processes
 * end -> libuv closes the handles. Failure modes: the socket cannot be opened, a built-in plugin
 * cannot be added (a stop with a reason).
 */
#include "io/runtime_handle.h"

#include "io/host.h"
#include "io/socket.h"

#define ROUNDS_A_TURN 4 /* of looking for work that came up meanwhile */

/* ---- the end ---- */

void nri_runtime_handle_closed(nri_runtime *runtime)
{
    if (--runtime->open > 0 || runtime->phase != NRI_RUNTIME_CLOSING)
        return;
    runtime->phase = NRI_RUNTIME_OVER;
    runtime->loop = NULL;
    nri_runtime_handles_closed(runtime);
}

static void handle_closed(uv_handle_t *handle)
{
    nri_runtime_handle_closed(handle->data);
}

static void release_hold(nri_runtime *runtime)
{
    if (runtime->held)
        (void)nri_rt_release_sync(runtime->rt, true);
    runtime->held = false;
}

void nri_runtime_end(nri_runtime *runtime, int code, const char *text)
{
    const uint64_t now = nri_host_now();
    if (!nri_runtime_is_started(runtime))
        return;
    runtime->phase = NRI_RUNTIME_STOPPING;
    runtime->result = code;
    if (code != 0) {
        (void)nri_error_set(&runtime->error, code, "%s", text);
        nri_log_write(&runtime->log, now, NRI_LOG_ERROR, NULL, "the runtime cannot go on: %s",
                      text);
    }
    nri_found_fini(&runtime->found);
    release_hold(runtime);
    nri_listener_close(runtime);
    nri_rt_shutdown(runtime->rt, runtime->settings.stop_timeout, now);
    nri_children_stop(runtime, now);
}

/* A close does not wait for anybody but the kernel. */
static void hurry(nri_runtime *runtime)
{
    const uint64_t now = nri_host_now();
    if (runtime->hurried)
        return;
    runtime->hurried = true;
    nri_runtime_end(runtime, 0, "");
    nri_rt_shutdown(runtime->rt, 0, now);
    nri_rt_tick(runtime->rt, now);
    nri_rt_process(runtime->rt, now);
    nri_connections_end(runtime);
    nri_children_kill(runtime, now);
}

static void finish(nri_runtime *runtime)
{
    if (runtime->phase != NRI_RUNTIME_STOPPING || nri_rt_plugin_count(runtime->rt) > 0 ||
        runtime->connections.count > 0 || runtime->children.count > 0)
        return;
    nri_rt_process(runtime->rt, nri_host_now()); /* what the last plugin left */
    runtime->phase = NRI_RUNTIME_CLOSING;
    runtime->changed = true;
    uv_close((uv_handle_t *)&runtime->timer, handle_closed);
    uv_close((uv_handle_t *)&runtime->bell, handle_closed);
}

/* ---- the start ---- */

static void launch(nri_runtime *runtime, uint64_t now)
{
    struct nri_error error;
    nri_error_clear(&error);
    runtime->phase = NRI_RUNTIME_CONFIGURING;
    runtime->held = true;
    nri_rt_hold_sync(runtime->rt, true, now);
    int rc = nri_runtime_start_builtins(runtime, now, &error);
    if (rc != 0) {
        nri_runtime_end(runtime, rc, error.text);
        return;
    }
    for (size_t i = 0; i < runtime->found.count; i++) {
        const struct nri_found_plugin *plugin = &runtime->found.plugins[i];
        const struct nri_log_about about = {.plugin = plugin->file};
        nri_error_clear(&error);
        if (nri_child_launch(runtime, plugin, &error) != 0)
            nri_log_write(&runtime->log, now, NRI_LOG_WARN, &about, "plugin %s is not started: %s",
                          plugin->file, error.text);
    }
    nri_found_fini(&runtime->found);
}

static void become_ready(nri_runtime *runtime)
{
    const struct nri_runtime_ops *ops = &runtime->settings.ops;
    runtime->phase = NRI_RUNTIME_RUNNING;
    if (ops->ready != NULL)
        ops->ready(runtime, runtime->user);
}

static void open_listener(nri_runtime *runtime, uint64_t now)
{
    struct nri_error error;
    nri_error_clear(&error);
    if (now < runtime->listener.lock_at)
        return;
    int rc = nri_listener_open(runtime, now, &error);
    if (rc == 0)
        become_ready(runtime);
    else if (rc != NRI_E_BUSY)
        nri_runtime_end(runtime, rc, error.text);
}

static void go_on_with_start(nri_runtime *runtime, uint64_t now)
{
    if (runtime->phase == NRI_RUNTIME_CONFIGURING &&
        nri_rt_starting_count(runtime->rt, false) == 0) {
        runtime->phase = NRI_RUNTIME_SYNCING;
        release_hold(runtime);
    }
    if (runtime->phase == NRI_RUNTIME_SYNCING && nri_rt_starting_count(runtime->rt, true) == 0) {
        runtime->phase = NRI_RUNTIME_OPENING;
        if (runtime->settings.path == NULL)
            become_ready(runtime);
    }
    if (runtime->phase == NRI_RUNTIME_OPENING)
        open_listener(runtime, now);
}

/* ---- one turn ---- */

static bool is_wanted(const nri_runtime *runtime)
{
    return !runtime->closing && !nri_mailbox_stop_wanted(&runtime->mailbox);
}

static void look_for_work(nri_runtime *runtime)
{
    uint64_t now = nri_host_now();
    nri_mailbox_deliver(&runtime->mailbox, runtime);
    if (runtime->closing)
        hurry(runtime);
    else if (!is_wanted(runtime))
        nri_runtime_end(runtime, 0, "");
    if (runtime->phase == NRI_RUNTIME_LAUNCHING)
        launch(runtime, now);
    nri_listener_turn(runtime, now);
    nri_connections_read(runtime, false);
    now = nri_host_now();
    if (nri_rt_deadline(runtime->rt) <= now) {
        /* A reply that is there already is in time, however late this turn is: libuv may not have
         * told of it yet, since its timers come first and sockets one by one. */
        nri_connections_read(runtime, true);
        nri_rt_tick(runtime->rt, now);
    }
    nri_rt_process(runtime->rt, now);
    nri_connections_write(runtime);
    nri_children_turn(runtime, now);
    if (is_wanted(runtime))
        go_on_with_start(runtime, now);
    finish(runtime);
}

/* ---- libuv ---- */

static bool is_live(const nri_runtime *runtime)
{
    return runtime->phase > NRI_RUNTIME_IDLE && runtime->phase < NRI_RUNTIME_CLOSING;
}

static void earliest(uint64_t *at, uint64_t other)
{
    if (other < *at)
        *at = other;
}

uint64_t nri_runtime_deadline(const nri_runtime *runtime)
{
    if (!is_live(runtime))
        return NRI_NEVER;
    uint64_t at = nri_rt_deadline(runtime->rt);
    earliest(&at, nri_connections_deadline(runtime));
    earliest(&at, nri_children_deadline(runtime));
    earliest(&at, nri_listener_deadline(runtime));
    return at;
}

static void on_timer(uv_timer_t *handle)
{
    nri_runtime *runtime = handle->data;
    runtime->timer_at = NRI_NEVER;
    nri_runtime_service(runtime);
}

/* A timer that fires too early is set again then: deadlines move with each request. */
static void set_timer(nri_runtime *runtime, uint64_t at)
{
    if (at >= runtime->timer_at)
        return;
    runtime->timer_at = at;
    const uint64_t now = nri_host_now();
    const uint64_t wait = at <= now ? 0 : (at - now + NRI_MSEC - 1) / NRI_MSEC;
    /* Fails only for a closing handle or without a callback. */
    (void)uv_timer_start(&runtime->timer, on_timer, wait, 0);
}

static void arm(nri_runtime *runtime)
{
    if (!is_live(runtime))
        return;
    nri_connections_arm(runtime);
    set_timer(runtime, nri_runtime_deadline(runtime));
}

static void service(nri_runtime *runtime, bool rung)
{
    if (runtime->arming) {
        /* Only for libuv to tell the kernel: what it found counts as rung. */
        nri_mailbox_defer(&runtime->mailbox);
        return;
    }
    runtime->depth++;
    nri_mailbox_begin(&runtime->mailbox, rung);
    for (int round = 1;; round++) {
        if (is_live(runtime))
            look_for_work(runtime);
        if (nri_mailbox_end(&runtime->mailbox))
            break;
        if (round == ROUNDS_A_TURN || !is_live(runtime)) {
            nri_mailbox_defer(&runtime->mailbox);
            break;
        }
        nri_mailbox_begin(&runtime->mailbox, false);
    }
    arm(runtime);
    runtime->depth--;
}

void nri_runtime_service(nri_runtime *runtime)
{
    service(runtime, false);
}

static void on_bell(uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    service(handle->data, true);
}

int nri_runtime_begin(nri_runtime *runtime, uv_loop_t *loop, struct nri_error *error)
{
    int status = uv_poll_init(loop, &runtime->bell, runtime->mailbox.fd);
    if (status != 0)
        return nri_socket_error(error, -status, "polling an eventfd");
    (void)uv_timer_init(loop, &runtime->timer); /* cannot fail */
    runtime->bell.data = runtime->timer.data = runtime;
    runtime->loop = loop;
    runtime->open = 2;
    runtime->timer_at = NRI_NEVER;
    runtime->phase = NRI_RUNTIME_LAUNCHING;
    runtime->changed = true;
    (void)uv_poll_start(&runtime->bell, UV_READABLE, on_bell);
    nri_mailbox_defer(&runtime->mailbox); /* the first turn */
    return 0;
}
