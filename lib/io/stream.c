/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: nri_stream_begin() connects -> the loop's first turn tells the core, RegisterPlugin
 * goes out -> each time the socket polls readable, bytes go to the core and its output to the
 * socket -> the end, for one of the reasons below -> libuv closes the handles ->
 * nri_plugin_handles_closed(). Failure modes: the backlog is full (tried again until the
 * registration time-out); the peer closes (what it sent before is handled first, and so is the
 * answer that it sent when writing fails; when the core has a reason to end, that is the reason);
 * the core wants the end (what is queued is written, for FLUSH_TIME at most, while what the peer
 * sends is thrown away, so that a peer that writes before it reads is not stuck); a local stop
 * (what the socket takes at once is written).
 */
#include "io/stream.h"

#include "io/connect.h"
#include "io/host.h"
#include "io/socket.h"

#define READS_A_TURN  16 /* of NRI_INPUT_SIZE: then others on the loop get their turn */
#define WRITES_A_TURN 16
#define ROUNDS_A_TURN 4 /* of looking for work that came up meanwhile */
#define FLUSH_TIME    (1 * NRI_SEC)

/* ---- the end ---- */

static void handle_closed(uv_handle_t *handle)
{
    nri_plugin *plugin = handle->data;
    struct nri_stream *stream = &plugin->stream;
    if (--stream->open > 0)
        return;
    stream->phase = NRI_PHASE_IDLE;
    stream->loop = NULL;
    nri_core_allow_updates(plugin->core);
    nri_plugin_handles_closed(plugin);
}

/* The next attempt may have waited for this. */
static void socket_closed(uv_handle_t *handle)
{
    nri_plugin *plugin = handle->data;
    struct nri_stream *stream = &plugin->stream;
    stream->socket_closing = false;
    if (nri_stream_is_live(stream)) {
        stream->open--;
        nri_stream_service(plugin);
    } else {
        handle_closed(handle);
    }
}

static void write_output(nri_plugin *plugin);

/* Nothing of the connection stays. */
static void drop_socket(nri_plugin *plugin)
{
    struct nri_stream *stream = &plugin->stream;
    if (stream->socket_polled) {
        uv_close((uv_handle_t *)&stream->socket, socket_closed);
        stream->socket_closing = true;
        stream->changed = true;
    }
    stream->socket_polled = false;
    if (stream->fd >= 0) {
        plugin->fd_used = plugin->settings.path == NULL;
        nri_socket_close(stream->fd);
    }
    stream->fd = -1;
    stream->interest = 0;
    stream->mute = false;
    atomic_store(&plugin->peer_code, NRI_E_STATE);
}

static void close_handles(nri_plugin *plugin)
{
    struct nri_stream *stream = &plugin->stream;
    stream->phase = NRI_PHASE_CLOSING;
    drop_socket(plugin);
    uv_close((uv_handle_t *)&stream->timer, handle_closed);
    uv_close((uv_handle_t *)&stream->bell, handle_closed);
    (void)nri_watch_close(&stream->watch, handle_closed);
}

void nri_stream_log_failure(nri_plugin *plugin, const char *text)
{
    nri_log_write(&plugin->log, nri_host_now(), NRI_LOG_ERROR, NULL, "not connected: %s", text);
}

/* What is told of several reasons to end. A stop that came while the connection was ending by
 * itself is a stop all the same. Else what the core found wrong: that the peer closed, or that
 * writing to it failed, is no more than what followed. */
static int choose_reason(nri_plugin *plugin, int reason, const char *text, struct nri_error *why)
{
    nri_error_clear(why);
    if (nri_mailbox_take_stop(&plugin->mailbox) || reason == 0)
        return 0;
    if (nri_core_should_close(plugin->core))
        return nri_core_close_reason(plugin->core, why);
    return nri_error_set(why, reason, "%s", text);
}

/* With `next` NRI_NO_ATTEMPT the run ends. */
static void tell_end(nri_plugin *plugin, struct nri_error *why, uint64_t next, uint64_t now)
{
    struct nri_stream *stream = &plugin->stream;
    const int reason = why->code;
    if (stream->core_connected) {
        stream->core_connected = false;
        plugin->depth++;
        nri_core_disconnected(plugin->core, reason, reason != 0 ? why->text : "stopped", next, now);
        plugin->depth--;
        if (reason != 0) /* the core may know more */
            nri_error_set(why, reason, "%s", nri_core_end_text(plugin->core));
    } else if (next != NRI_NO_ATTEMPT) {
        nri_core_add(plugin->core, NRI_COUNT_FAILED_ATTEMPTS, 1);
        nri_log_write(&plugin->log, now, NRI_LOG_WARN, NULL,
                      "not connected: %s; next attempt in %llu ms", why->text,
                      (unsigned long long)next);
    } else if (reason != 0) {
        nri_core_add(plugin->core, NRI_COUNT_FAILED_ATTEMPTS, 1);
        nri_stream_log_failure(plugin, why->text);
    }
}

/* Once no handler of the old connection runs any more. */
static void leave_draining(nri_plugin *plugin)
{
    struct nri_stream *stream = &plugin->stream;
    if (stream->again && !nri_stream_is_wanted(plugin)) {
        (void)nri_mailbox_take_stop(&plugin->mailbox);
        stream->again = false;
        stream->result = 0;
        nri_error_clear(&plugin->error);
    }
    /* Before the next look at what it has queued: an idle thread queues nothing. */
    const bool idle = nri_worker_is_idle(plugin->worker);
    if (!stream->again) {
        plugin->depth++;
        nri_core_end_updates(plugin->core, nri_host_now());
        plugin->depth--;
    }
    if (!idle || !nri_worker_is_idle(plugin->worker))
        return;
    if (stream->again)
        stream->phase = NRI_PHASE_CONNECTING;
    else
        close_handles(plugin);
}

void nri_stream_end(nri_plugin *plugin, int reason, const char *text)
{
    struct nri_stream *stream = &plugin->stream;
    if (reason == 0 && stream->phase == NRI_PHASE_CONNECTED) {
        /* What was completed before the stop is on its way too. */
        nri_core_drain(plugin->core, nri_host_now());
        write_output(plugin);
    }
    if (stream->phase == NRI_PHASE_DRAINING) {
        /* Its end was told already, and what is next is decided: it may be to connect again. */
        leave_draining(plugin);
        return;
    }
    if (!nri_stream_is_live(stream))
        return;
    struct nri_error why;
    const uint64_t now = nri_host_now();
    (void)choose_reason(plugin, reason, text, &why);
    drop_socket(plugin);
    stream->phase = NRI_PHASE_DRAINING;
    const uint64_t delay = nri_connect_plan(plugin, now, &why);
    stream->again = delay != NRI_NEVER;
    stream->result = why.code;
    tell_end(plugin, &why, stream->again ? (delay + NRI_MSEC - 1) / NRI_MSEC : NRI_NO_ATTEMPT, now);
    /* Last, since handlers may have met errors of their own meanwhile. */
    nri_error_copy(&plugin->error, &why);
    leave_draining(plugin);
}

static void end_closed_by_peer(nri_plugin *plugin)
{
    const char *peer = plugin->settings.peer;
    struct nri_error error;
    const char *when = "";
    nri_error_clear(&error);
    if (nri_core_in_message(plugin->core))
        when = " in the middle of a message";
    else if (nri_core_state(plugin->core) == NRI_PLUGIN_REGISTERING)
        when = " before the registration was complete: its log may say why";
    nri_error_set(&error, NRI_E_CLOSED, "%s: the runtime closed the connection%s", peer, when);
    nri_stream_end(plugin, NRI_E_CLOSED, error.text);
}

static void end_with(nri_plugin *plugin, struct nri_error *error)
{
    nri_error_prefix(error, "%s", plugin->settings.peer);
    nri_stream_end(plugin, error->code, error->text);
}

/* ---- bytes ---- */

inline bool nri_stream_is_wanted(const nri_plugin *plugin)
{
    return nri_stream_is_live(&plugin->stream) && !plugin->closing &&
           !nri_mailbox_stop_wanted(&plugin->mailbox);
}

static void write_output(nri_plugin *plugin)
{
    struct nri_stream *stream = &plugin->stream;
    for (int i = 0; i < WRITES_A_TURN; i++) {
        struct nri_error error;
        const uint8_t *bytes;
        size_t count, moved = 0;
        nri_core_output(plugin->core, &bytes, &count);
        if (count == 0)
            return;
        if (stream->mute) {
            nri_core_written(plugin->core, count);
            continue;
        }
        nri_error_clear(&error);
        switch (nri_socket_send(stream->fd, bytes, count, &moved, &error)) {
        case NRI_SOCKET_MOVED:
            nri_core_written(plugin->core, moved);
            break;
        case NRI_SOCKET_AGAIN:
            return;
        case NRI_SOCKET_ENDED:
            /* The peer's last words may still be there to be read: why it closed. */
            stream->mute = true;
            break;
        case NRI_SOCKET_FAILED:
            end_with(plugin, &error);
            return;
        }
    }
}

static bool has_output(const nri_plugin *plugin)
{
    const uint8_t *bytes;
    size_t count;
    nri_core_output(plugin->core, &bytes, &count);
    return count > 0;
}

/* False: no more to be read now, or no more wanted. */
static bool read_once(nri_plugin *plugin)
{
    struct nri_stream *stream = &plugin->stream;
    struct nri_error error;
    size_t moved = 0;
    nri_error_clear(&error);
    switch (nri_socket_receive(stream->fd, plugin->input, NRI_INPUT_SIZE, &moved, &error)) {
    case NRI_SOCKET_MOVED:
        break;
    case NRI_SOCKET_AGAIN:
        if (stream->mute)
            end_closed_by_peer(plugin);
        return false;
    case NRI_SOCKET_ENDED:
        end_closed_by_peer(plugin);
        return false;
    case NRI_SOCKET_FAILED:
        end_with(plugin, &error);
        return false;
    }
    if (stream->phase != NRI_PHASE_FLUSHING) {
        nri_core_input(plugin->core, plugin->input, moved, nri_host_now());
        if (!nri_stream_is_wanted(plugin) || nri_core_should_close(plugin->core))
            return false;
        write_output(plugin);
    }
    /* A short read has emptied the socket, mostly; when not, it polls readable again. While the
     * peer is gone, its EOF follows. */
    return nri_stream_is_live(stream) && (moved == NRI_INPUT_SIZE || stream->mute);
}

static void read_input(nri_plugin *plugin)
{
    for (int i = 0; i < READS_A_TURN; i++) {
        if (!read_once(plugin))
            return;
    }
}

/* ---- one turn ---- */

static void open_socket(nri_plugin *plugin, struct nri_error *error);

static void find_connection(nri_plugin *plugin, uint64_t now)
{
    struct nri_stream *stream = &plugin->stream;
    struct nri_error error;
    nri_error_clear(&error);
    const bool none = stream->fd < 0;
    int rc = nri_connect_turn(plugin, now, &error);
    if (rc == 0 && none && stream->fd >= 0) {
        open_socket(plugin, &error);
        rc = error.code;
    }
    if (rc != 0)
        nri_stream_end(plugin, rc, error.text);
}

/* Kept, so that a handler on any thread may ask while this one closes the socket. */
static void note_peer(nri_plugin *plugin)
{
    struct nri_socket_peer peer;
    struct nri_error error;
    int code = nri_socket_peer(plugin->stream.fd, &peer, &error);
    if (code == 0) {
        atomic_store(&plugin->peer_pid, peer.pid);
        atomic_store(&plugin->peer_uid, peer.uid);
        atomic_store(&plugin->peer_gid, peer.gid);
    }
    atomic_store(&plugin->peer_code, code);
}

static void connect_core(nri_plugin *plugin)
{
    struct nri_stream *stream = &plugin->stream;
    struct nri_error error;
    nri_error_clear(&error);
    stream->phase = NRI_PHASE_CONNECTED;
    stream->core_connected = true;
    note_peer(plugin);
    /* The registration time-out counts from the first attempt to connect. */
    if (nri_core_connected(plugin->core, stream->began, &error) != 0) {
        stream->core_connected = false;
        end_with(plugin, &error);
    }
}

static void begin_flush(nri_plugin *plugin, uint64_t now)
{
    struct nri_stream *stream = &plugin->stream;
    if (stream->phase == NRI_PHASE_CONNECTED && nri_core_should_close(plugin->core)) {
        stream->phase = NRI_PHASE_FLUSHING;
        stream->flush_until = now + FLUSH_TIME;
    }
}

static void end_flush(nri_plugin *plugin, uint64_t now)
{
    struct nri_stream *stream = &plugin->stream;
    struct nri_error error;
    if (stream->phase != NRI_PHASE_FLUSHING ||
        (has_output(plugin) && !stream->mute && now < stream->flush_until))
        return;
    nri_error_clear(&error);
    int reason = nri_core_close_reason(plugin->core, &error);
    nri_stream_end(plugin, reason, error.text);
}

/* A stop with a grace: what is pending may still be answered. Reading goes on, since a socket that
 * stays readable would keep the loop busy. */
static bool finishes_requests(nri_plugin *plugin, bool readable, uint64_t now)
{
    struct nri_stream *stream = &plugin->stream;
    const uint64_t grace = plugin->settings.stop_grace;
    if (grace == 0 || plugin->closing || stream->phase != NRI_PHASE_CONNECTED ||
        !nri_core_has_open(plugin->core))
        return false;
    if (stream->stop_until == 0)
        stream->stop_until = now + grace;
    if (readable && now < stream->stop_until)
        read_input(plugin);
    if (stream->phase != NRI_PHASE_CONNECTED)
        return false;
    nri_core_drain(plugin->core, now);
    if (nri_core_deadline(plugin->core) <= now)
        nri_core_tick(plugin->core, now);
    write_output(plugin);
    return now < stream->stop_until && !nri_core_should_close(plugin->core) &&
           nri_core_has_open(plugin->core);
}

static void look_for_work(nri_plugin *plugin, bool readable)
{
    struct nri_stream *stream = &plugin->stream;
    uint64_t now = nri_host_now();
    if (stream->began == 0)
        nri_connect_first_turn(plugin, now);
    nri_mailbox_deliver(&plugin->mailbox, plugin);
    if (stream->phase != NRI_PHASE_CONNECTED)
        nri_core_drain(plugin->core, now); /* updates that wait for a connection */
    if (stream->phase == NRI_PHASE_CONNECTING && nri_stream_is_wanted(plugin)) {
        find_connection(plugin, now);
        if (nri_stream_is_wanted(plugin) && stream->fd >= 0)
            connect_core(plugin);
    }
    /* Reading comes before the deadlines: a reply that is there already is in time, however late
     * this turn is. */
    if (readable && nri_stream_is_wanted(plugin) && stream->fd >= 0)
        read_input(plugin);
    if (stream->phase == NRI_PHASE_CONNECTED && nri_stream_is_wanted(plugin)) {
        nri_core_drain(plugin->core, now);
        if (nri_core_deadline(plugin->core) <= now)
            nri_core_tick(plugin->core, now);
        write_output(plugin);
    }
    if (stream->mute && nri_stream_is_wanted(plugin) && stream->fd >= 0)
        read_input(plugin);
    if (!nri_stream_is_wanted(plugin) || stream->phase == NRI_PHASE_DRAINING) {
        if (!finishes_requests(plugin, readable, now))
            nri_stream_end(plugin, 0, "");
        return;
    }
    begin_flush(plugin, now);
    if (stream->phase == NRI_PHASE_FLUSHING)
        write_output(plugin);
    end_flush(plugin, now);
}

/* ---- libuv ---- */

static void on_socket(uv_poll_t *handle, int status, int events);
static void on_timer(uv_timer_t *handle);

static uint64_t phase_deadline(const struct nri_stream *stream)
{
    if (stream->phase == NRI_PHASE_CONNECTING)
        return nri_connect_deadline(stream);
    if (stream->phase == NRI_PHASE_CONNECTED && stream->stop_until != 0)
        return stream->stop_until;
    return stream->phase == NRI_PHASE_FLUSHING ? stream->flush_until : NRI_NEVER;
}

uint64_t nri_stream_deadline(const nri_plugin *plugin)
{
    const struct nri_stream *stream = &plugin->stream;
    if (!nri_stream_is_live(stream) || stream->began == 0)
        return NRI_NEVER;
    const uint64_t core = nri_core_deadline(plugin->core), own = phase_deadline(stream);
    return core < own ? core : own;
}

static void set_timer(struct nri_stream *stream, uint64_t at)
{
    if (at == stream->timer_at)
        return;
    stream->timer_at = at;
    if (at == NRI_NEVER) {
        (void)uv_timer_stop(&stream->timer);
        return;
    }
    uint64_t now = nri_host_now();
    /* Rounded up, so that it does not fire before there is work; when it does, it is set again. */
    uint64_t wait = at <= now ? 0 : (at - now + NRI_MSEC - 1) / NRI_MSEC;
    /* Fails only for a closing handle or without a callback. */
    (void)uv_timer_start(&stream->timer, on_timer, wait, 0);
}

static void arm(nri_plugin *plugin)
{
    struct nri_stream *stream = &plugin->stream;
    if (!nri_stream_is_live(stream))
        return;
    if (stream->socket_polled) {
        int interest = UV_READABLE;
        if (stream->phase != NRI_PHASE_CONNECTING && !stream->mute && has_output(plugin))
            interest |= UV_WRITABLE;
        if (interest != stream->interest) {
            stream->interest = interest;
            stream->changed = true;
            (void)uv_poll_start(&stream->socket, interest, on_socket); /* as uv_timer_start() */
        }
    }
    set_timer(stream, nri_stream_deadline(plugin));
}

static void service(nri_plugin *plugin, bool rung, bool readable)
{
    struct nri_stream *stream = &plugin->stream;
    if (stream->arming)
        return;
    plugin->depth++;
    nri_mailbox_begin(&plugin->mailbox, rung);
    for (int round = 1;; round++) {
        if (nri_stream_is_live(stream))
            look_for_work(plugin, readable);
        readable = false;
        if (nri_mailbox_end(&plugin->mailbox))
            break;
        if (round == ROUNDS_A_TURN || !nri_stream_is_live(stream)) {
            nri_mailbox_defer(&plugin->mailbox);
            break;
        }
        nri_mailbox_begin(&plugin->mailbox, false);
    }
    arm(plugin);
    plugin->depth--;
    nri_plugin_settle(plugin);
}

void nri_stream_service(nri_plugin *plugin)
{
    service(plugin, false, false);
}

static void on_bell(uv_poll_t *handle, int status, int events)
{
    (void)status;
    (void)events;
    service(handle->data, true, false);
}

static void on_socket(uv_poll_t *handle, int status, int events)
{
    nri_plugin *plugin = handle->data;
    /* An error condition of the socket: libuv has stopped polling; recv() says what it is, after
     * what there is to read. */
    if (status < 0) {
        plugin->stream.interest = 0;
        if (plugin->stream.arming)
            nri_mailbox_defer(&plugin->mailbox);
    }
    service(plugin, false, status < 0 || (events & UV_READABLE) != 0);
}

static void on_timer(uv_timer_t *handle)
{
    nri_plugin *plugin = handle->data;
    plugin->stream.timer_at = NRI_NEVER;
    service(plugin, false, false);
}

static int uv_failed(struct nri_error *error, int status, const char *what)
{
    return nri_socket_error(error, -status, what);
}

/* The interest is set by arm(). Sets *error on a failure. */
static void open_socket(nri_plugin *plugin, struct nri_error *error)
{
    struct nri_stream *stream = &plugin->stream;
    int status = uv_poll_init(stream->loop, &stream->socket, stream->fd);
    if (status != 0) {
        uv_failed(error, status, "polling the socket");
        nri_error_prefix(error, "%s", plugin->settings.peer);
        return;
    }
    stream->socket.data = plugin;
    stream->socket_polled = true;
    stream->open++;
}

static int open_handles(nri_plugin *plugin, struct nri_error *error)
{
    struct nri_stream *stream = &plugin->stream;
    int status = uv_poll_init(stream->loop, &stream->bell, plugin->mailbox.fd);
    if (status != 0)
        return uv_failed(error, status, "polling an eventfd");
    stream->bell.data = plugin;
    (void)uv_timer_init(stream->loop, &stream->timer); /* cannot fail */
    stream->timer.data = plugin;
    stream->open = 2;
    (void)uv_poll_start(&stream->bell, UV_READABLE, on_bell);
    stream->changed = true;
    if (stream->fd >= 0)
        open_socket(plugin, error);
    if (error->code != 0)
        close_handles(plugin);
    return error->code;
}

int nri_stream_begin(nri_plugin *plugin, uv_loop_t *loop, struct nri_error *error)
{
    struct nri_stream *stream = &plugin->stream;
    *stream = (struct nri_stream){
        .loop = loop, .fd = -1, .timer_at = NRI_NEVER, .phase = NRI_PHASE_CONNECTING};
    nri_watch_init(&stream->watch);
    int rc = nri_connect_begin(plugin, error);
    if (rc == 0)
        rc = open_handles(plugin, error);
    if (rc != 0 && stream->phase != NRI_PHASE_CLOSING) {
        /* Nothing is open but the descriptor; a given one stays for another try. */
        if (stream->fd >= 0 && plugin->settings.path != NULL)
            nri_socket_close(stream->fd);
        stream->fd = -1;
        stream->phase = NRI_PHASE_IDLE;
        stream->loop = NULL;
    }
    if (rc == 0)
        nri_mailbox_defer(&plugin->mailbox); /* the first turn */
    return rc;
}
