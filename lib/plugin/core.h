/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One plugin's state machine: registration, configuration, synchronisation, dispatch, replies.
 * Sans-IO: no clock, no system call. lib/io drives it; tests drive it with a clock and a peer of
 * their own.
 *
 * Happy path: nri_core_connected() -> on_connected, RegisterPlugin goes out -> nri_core_input()
 * brings the reply and Configure, in any order -> on_configure, the event mask goes out -> READY ->
 * Synchronize, events -> nri_core_disconnected() -> on_disconnected. Failure modes: whatever must
 * end the connection sets nri_core_should_close(): the driver writes what is queued, closes, and
 * calls nri_core_disconnected() with the reason that nri_core_close_reason() gives.
 *
 * Everything is for the loop's thread, except what says otherwise.
 */
#ifndef NRI_PLUGIN_CORE_H
#define NRI_PLUGIN_CORE_H

#include <nri/plugin.h>

#include "base/error.h"
#include "base/host.h"
#include "base/log.h"
#include "plugin/guard.h"
#include "plugin/stats.h"
#include "plugin/task.h"
#include "rpc/rpc.h"

struct nri_core;

/* Resolved options: what nri_plugin_new() made of struct nri_plugin_options and the environment.
 * Texts are the core's copies. */
struct nri_core_config {
    const struct nri_plugin_ops *ops; /* whole; copied */
    const char *name, *index;         /* checked; copied */
    const char
        *peer; /* what the peer is called in errors: the socket's path, or "descriptor 3"; copied */
    void *user;         /* of handlers */
    nri_plugin *plugin; /* what requests and callbacks hand out */
    struct nri_alloc alloc;
    const struct nri_host *host; /* must outlive the core */
    struct nri_log *log;         /* must outlive the core */
    struct nri_rpc_limits limits;
    uint64_t registration_timeout; /* ns */
    uint64_t call_timeout;         /* ns; 0: Configure's request time-out, else 2 s */
    size_t max_sync_bytes, max_sync_parts;
    size_t max_queued_updates;
    bool allow_missing_validate, strict_features;
    struct nri_deadline_settings deadlines;
    bool bypass;      /* at the start */
    nri_state *state; /* may be NULL; must outlive the core */
    /* Runs a task on the one thread of the plugin's functions, in order, any thread. NULL: they run
     * on the loop's thread. Whoever gives it sees to it that nothing waits or runs when the core is
     * connected again or freed. */
    void (*queue)(void *user, struct nri_task *task);
    void *queue_user;
    /* Runs a task on any thread but the loop's, in no order; any thread. 0, NRI_E_BUSY,
     * NRI_E_NOMEM, NRI_E_IO. NULL: nri_request_offload() is not possible. */
    int (*offload)(void *user, struct nri_task *task);
    void *offload_user;
    /* Work for the loop: output, a deadline, the end, or something from another thread. Any thread
     * may cause it, so it must be thread-safe (lib/io rings an eventfd), and it must not call back
     * into the core or a request: another thread calls it with a lock held that nri_core_free()
     * takes too, so that it is never called after that. May be NULL. */
    void (*wake)(void *user);
    void *wake_user;
    /* For lib/io to set: whether requests are still wanted. Asked before each one is handed out,
     * because a read may bring several, and a handler of the first may call nri_plugin_stop() or
     * nri_plugin_close(). Unwanted ones are refused, as they are once the connection is failing.
     * Not asked before the reply of a completed request: that is written as far as the peer takes
     * it. On the loop's thread; NULL: always. */
    bool (*wanted)(void *user);
    void *wanted_user;
};

/* Checks the callback table and makes the core. NRI_E_INVALID (no handler of the 14 events, both
 * on_synchronize and on_synchronize_part), NRI_E_NOMEM. */
int nri_core_new(struct nri_core **core, const struct nri_core_config *config,
                 struct nri_error *error);
/* After nri_core_disconnected(). Requests that somebody holds live on by themselves. Not in a
 * handler. */
void nri_core_free(struct nri_core *core);

/* The connection stands. Runs on_connected, queues RegisterPlugin. On an error nothing was started
 * (and on_connected not called). */
int nri_core_connected(struct nri_core *core, uint64_t now, struct nri_error *error);
/* Bytes from the peer. Handlers run in here. Errors are taken note of: see nri_core_should_close().
 */
void nri_core_input(struct nri_core *core, const uint8_t *bytes, size_t count, uint64_t now);
void nri_core_output(struct nri_core *core, const uint8_t **bytes, size_t *count);
void nri_core_written(struct nri_core *core, size_t count);
uint64_t nri_core_deadline(const struct nri_core *core); /* NRI_NEVER for none */
void nri_core_tick(struct nri_core *core, uint64_t now);
/* Does what other threads asked for: completions, last references. After a wake. */
void nri_core_drain(struct nri_core *core, uint64_t now);
/* Whether the driver is to close now (queued output written first, as far as the peer takes it at
 * once), and why (0 never: a local stop is the driver's own affair). */
bool nri_core_should_close(const struct nri_core *core);
int nri_core_close_reason(const struct nri_core *core, struct nri_error *error);
/* The connection is gone: reason 0 for a local stop, NRI_E_CLOSED for the peer's EOF, or
 * nri_core_close_reason()'s, or an I/O error. Pending calls complete with NRI_E_CLOSED, then
 * on_disconnected runs, once per nri_core_connected(). The core may be connected again: stream ids,
 * half a Synchronize, everything starts anew. `next_attempt` is how long until that is tried, in
 * ms; NRI_NO_ATTEMPT when it is not. */
void nri_core_disconnected(struct nri_core *core, int reason, const char *text,
                           uint64_t next_attempt, uint64_t now);
/* When the connection, or the last one after its end, became READY, in ns; 0: it never did. */
uint64_t nri_core_ready_since(const struct nri_core *core);
/* What on_disconnected was told last: the given text, and what the core knows besides of why a peer
 * closed. "" before. */
const char *nri_core_end_text(const struct nri_core *core);
/* Whether the peer's EOF now would cut a message in two (for the text of NRI_E_CLOSED). */
bool nri_core_in_message(const struct nri_core *core);

enum nri_plugin_state nri_core_state(const struct nri_core *core);
bool nri_core_in_handler(const struct nri_core *core);
uint32_t nri_core_events(const struct nri_core *core);
const char *nri_core_runtime_name(const struct nri_core *core);
const char *nri_core_runtime_version(const struct nri_core *core);
const char *nri_core_nri_version(const struct nri_core *core); /* "unknown" when it is */
bool nri_core_nri_version_inferred(const struct nri_core *core);
bool nri_core_supports(const struct nri_core *core, enum nri_feature feature);
uint64_t nri_core_registration_timeout_ms(const struct nri_core *core);
uint64_t nri_core_request_timeout_ms(const struct nri_core *core);

/* Any thread. */
void nri_core_set_bypass(struct nri_core *core, bool bypass);
bool nri_core_bypass(const struct nri_core *core);
bool nri_core_is_wedged(const struct nri_core *core, uint64_t now);
bool nri_core_is_synchronized(const struct nri_core *core);
uint64_t nri_core_count(const struct nri_core *core, enum nri_plugin_counter counter);
uint64_t nri_core_count_event(const struct nri_core *core, enum nri_event event,
                              enum nri_event_counter counter);
/* The driver counts what it alone knows of; the loop's thread. */
void nri_core_add(struct nri_core *core, enum nri_plugin_counter counter, uint64_t more);
/* Requests without an answer; the loop's thread. */
bool nri_core_has_open(const struct nri_core *core);
const struct nri_stats *nri_core_stats(const struct nri_core *core);

/* nri_plugin_update_containers() with checked options. */
int nri_core_update_containers(struct nri_core *core, const nri_updates *updates, uint64_t timeout,
                               const char *const *metadata, size_t metadata_count,
                               nri_update_fn callback, void *user, uint64_t now,
                               struct nri_error *error);

struct nri_update_options {
    uint64_t timeout; /* ns; 0: the default; it counts from the call */
    const char *const *metadata;
    size_t metadata_count;
    bool waits; /* for a runtime that has configured the plugin */
};
/* The same, packed now and sent by the loop's next turn or when there is a runtime. On the loop's
 * thread, or that of handlers: the callback comes on the latter. NRI_E_BUSY also for
 * max_queued_updates. */
int nri_core_update_later(struct nri_core *core, const nri_updates *updates,
                          const struct nri_update_options *options, nri_update_fn callback,
                          void *user, uint64_t now, struct nri_error *error);
/* Whether a runtime has configured the plugin and goes on. Any thread. */
bool nri_core_serves(const struct nri_core *core);
/* The run ends: what waits is completed with NRI_E_CLOSED, and none is taken until it is allowed
 * again. */
void nri_core_end_updates(struct nri_core *core, uint64_t now);
void nri_core_allow_updates(struct nri_core *core);
/* The threads of nri_core_config.offload are about to go: nri_request_offload() is not possible any
 * more. */
void nri_core_end_offload(struct nri_core *core);

#endif
