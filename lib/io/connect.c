/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: an attempt is due, by delay or because the socket appeared -> connect() -> the socket
 * is watched no more. Failure modes: the backlog is full (the same attempt goes on every RETRY_TIME
 * until the registration time-out); an attempt by delay fails (the policy is asked for the next
 * delay); one because of the socket's change fails (it counts for nothing: the delay goes on, and
 * the watch says when to try again).
 */
#include "io/connect.h"

#include "io/host.h"
#include "io/stream.h"

#define RETRY_TIME (20 * NRI_MSEC)

bool nri_connect_is_repeated(const nri_plugin *plugin)
{
    return plugin->settings.reconnect.on && plugin->settings.path != NULL;
}

static bool is_watched(const nri_plugin *plugin)
{
    return nri_connect_is_repeated(plugin) && plugin->settings.reconnect.watch;
}

int nri_connect_begin(nri_plugin *plugin, struct nri_error *error)
{
    struct nri_stream *stream = &plugin->stream;
    /* A run that was stopped before it began does not touch the runtime. */
    if (nri_mailbox_stop_wanted(&plugin->mailbox) || nri_connect_is_repeated(plugin))
        return 0;
    if (plugin->settings.path == NULL) {
        /* Again: what a program closes behind our back may be another descriptor by now, even one
         * of the loop's, and libuv ends the process for some. */
        int checked = nri_socket_check(plugin->settings.fd, error);
        stream->fd = checked == 0 ? plugin->settings.fd : -1;
        return checked;
    }
    int rc = nri_socket_connect(plugin->settings.path, &stream->fd, error);
    stream->backlog_full = rc == NRI_E_BUSY;
    if (rc == NRI_E_BUSY)
        nri_error_clear(error); /* tried again by the timer */
    return rc == NRI_E_BUSY ? 0 : rc;
}

void nri_connect_first_turn(nri_plugin *plugin, uint64_t now)
{
    const struct nri_settings *settings = &plugin->settings;
    const struct nri_reconnect_config config = {
        .min = settings->reconnect.min,
        .max = settings->reconnect.max,
        .reset = settings->reconnect.reset,
        .give_up = settings->reconnect.give_up,
        .attempts = settings->reconnect.attempts,
    };
    plugin->stream.began = now;
    nri_reconnect_begin(&plugin->stream.policy, &config, nri_host_system(), now);
}

/* ---- the watch ---- */

static void on_change(uv_fs_event_t *handle, const char *name, int events, int status)
{
    nri_plugin *plugin = handle->data;
    /* Which file changed does not matter: the path may have changed above the directory. */
    (void)status;
    nri_watch_changed(&plugin->stream.watch, name, events, nri_host_now());
    nri_stream_service(plugin);
}

static void say_not_watched(nri_plugin *plugin, uint64_t now, const struct nri_error *error)
{
    nri_log_write(&plugin->log, now, NRI_LOG_WARN, NULL,
                  "%s: the plugin will not notice at once when the socket appears", error->text);
}

static void begin_watch(nri_plugin *plugin, uint64_t now)
{
    struct nri_stream *stream = &plugin->stream;
    struct nri_error error;
    if (!is_watched(plugin))
        return;
    nri_error_clear(&error);
    const bool opened = stream->watch.opened;
    if (nri_watch_on(&stream->watch, stream->loop, plugin->settings.path, on_change, plugin, now,
                     &error) != 0)
        say_not_watched(plugin, now, &error);
    if (stream->watch.opened && !opened)
        stream->open++;
    stream->changed = true;
}

static void look(nri_plugin *plugin, uint64_t now)
{
    struct nri_error error;
    nri_error_clear(&error);
    if (nri_watch_look(&plugin->stream.watch, plugin->settings.path, now, &error) != 0)
        say_not_watched(plugin, now, &error);
}

/* ---- attempts ---- */

/* NRI_E_BUSY: it goes on. */
static int attempt(nri_plugin *plugin, uint64_t now, struct nri_error *error)
{
    struct nri_stream *stream = &plugin->stream;
    const char *path = plugin->settings.path;
    if (is_watched(plugin))
        nri_watch_note(&stream->watch, path);
    if (!stream->backlog_full && nri_connect_is_repeated(plugin))
        stream->began = now;
    int rc = nri_socket_connect(path, &stream->fd, error);
    stream->backlog_full = rc == NRI_E_BUSY;
    if (rc != NRI_E_BUSY)
        return rc;
    uint64_t until = stream->began + plugin->settings.registration_timeout;
    if (now < until) {
        stream->retry_at = until - now < RETRY_TIME ? until : now + RETRY_TIME;
        return NRI_E_BUSY;
    }
    stream->backlog_full = false;
    return nri_error_set(error, NRI_E_TIMEOUT,
                         "connecting to %s: the runtime has not accepted the connection within the "
                         "registration time-out of %llu ms: its backlog is full",
                         path,
                         (unsigned long long)(plugin->settings.registration_timeout / NRI_MSEC));
}

/* Between bind() and listen() nothing else is to be expected. */
static void say_too_early(nri_plugin *plugin, uint64_t now, const struct nri_error *error)
{
    const bool expected = error->code == NRI_E_REFUSED || error->code == NRI_E_NOT_FOUND;
    nri_log_write(&plugin->log, now, expected ? NRI_LOG_DEBUG : NRI_LOG_WARN, NULL,
                  "not connected, after a change of the socket: %s", error->text);
}

int nri_connect_turn(nri_plugin *plugin, uint64_t now, struct nri_error *error)
{
    struct nri_stream *stream = &plugin->stream;
    if (stream->fd >= 0 || stream->socket_closing)
        return 0;
    look(plugin, now);
    const bool by_delay = now >= stream->retry_at;
    if (!by_delay && (stream->backlog_full || !nri_watch_is_due(&stream->watch, now)))
        return 0;
    int rc = attempt(plugin, now, error);
    if (rc == 0) {
        nri_watch_off(&stream->watch);
        return 0;
    }
    if (rc == NRI_E_BUSY)
        return 0;
    if (by_delay)
        return rc;
    say_too_early(plugin, now, error);
    nri_core_add(plugin->core, NRI_COUNT_FAILED_ATTEMPTS, 1);
    nri_watch_failed(&stream->watch, rc, now);
    return 0;
}

uint64_t nri_connect_deadline(const struct nri_stream *stream)
{
    if (stream->began == 0 || stream->fd >= 0 || stream->socket_closing)
        return NRI_NEVER;
    const uint64_t watch = stream->backlog_full ? NRI_NEVER : nri_watch_deadline(&stream->watch);
    return watch < stream->retry_at ? watch : stream->retry_at;
}

/* ---- what follows an end ---- */

uint64_t nri_connect_plan(nri_plugin *plugin, uint64_t now, struct nri_error *why)
{
    struct nri_stream *stream = &plugin->stream;
    stream->backlog_full = false;
    if (why->code == 0 || plugin->closing)
        return NRI_NEVER;
    if (!nri_connect_is_repeated(plugin)) {
        if (plugin->settings.reconnect.on)
            (void)nri_error_set(why, why->code,
                                "%s; a connection that was given as a descriptor cannot be made "
                                "again",
                                why->text);
        return NRI_NEVER;
    }
    const uint64_t ready = stream->core_connected ? nri_core_ready_since(plugin->core) : 0;
    const uint64_t delay = nri_reconnect_next(&stream->policy, ready, now, why);
    if (delay == NRI_NEVER)
        return NRI_NEVER;
    stream->retry_at = now + delay;
    begin_watch(plugin, now);
    return delay;
}
