/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * A plugin: its options, its callback table, its life.
 *
 * The shortest plugin:
 * @code
 *     static int create(nri_request *req, void *user)
 *     {
 *         (void)user;
 *         return nri_adjustment_add_env(nri_request_adjustment(req), "HELLO", "nri");
 *     }
 *     int main(void)
 *     {
 *         struct nri_plugin_ops ops = {.size = sizeof ops, .on_create_container = create};
 *         struct nri_plugin_options opt = {.size = sizeof opt, .name = "hello", .index = "10"};
 *         nri_plugin *plugin;
 *         nri_error *error = NULL;
 *         if (nri_plugin_new(&plugin, &ops, &opt, NULL, &error) != 0) {
 *             fprintf(stderr, "hello: %s\n", nri_error_get_text(error));
 *             nri_error_free(error);
 *             return 1;
 *         }
 *         int rc = nri_plugin_run(plugin);
 *         if (rc != 0)
 *             fprintf(stderr, "hello: %s\n", nri_error_get_text(nri_plugin_last_error(plugin)));
 *         nri_plugin_close(plugin, NULL, NULL);
 *         return rc == 0 ? 0 : 1;
 *     }
 * @endcode
 *
 * C++ before C++20 has no designated initialisers: call nri_plugin_ops_init() and
 * nri_plugin_options_init() and assign the members. A handler must not let an exception out.
 *
 * After fork() a child must not touch the parent's plugin, not even to close it: exec or leave it.
 * A descriptor given to a plugin must not be closed by anybody else: libuv may end the process.
 *
 * A plugin belongs to one thread: the one that runs it or its loop. Other threads and signal
 * handlers may use what says so. With NRI_DISPATCH_WORKER handlers may use what they may on the
 * loop's thread, but for nri_plugin_run(), nri_plugin_start() and nri_plugin_dispatch().
 *
 * A NULL plugin does no harm: readers give "", 0, false, NULL or NRI_PLUGIN_IDLE, and functions
 * that return a code, NRI_E_INVALID.
 */
#ifndef NRI_PLUGIN_H
#define NRI_PLUGIN_H

#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/event.h>
#include <nri/feature.h>
#include <nri/log.h>
#include <nri/request.h>
#include <nri/state.h>
#include <nri/update.h>

NRI_BEGIN_DECLS

struct uv_loop_s;

/** Where a plugin connects by default. */
#define NRI_DEFAULT_SOCKET_PATH "/var/run/nri/nri.sock"

/**
 * A handler. What the event carries is read from the request.
 * @param request the request, valid during the call, and longer if NRI_PENDING is returned or
 * nri_request_ref() is called
 * @param user `user` of nri_plugin_new()
 * @return 0 to reply with what was built, a negative code to refuse, NRI_PENDING to complete later
 * Called on the loop's thread; with NRI_DISPATCH_WORKER on that of handlers. Since 0.1.0.
 */
typedef int (*nri_handler)(nri_request *request, void *user);

/** Where handlers run. Since 0.1.0. */
enum nri_dispatch {
    NRI_DISPATCH_DEFAULT = 0, /**< NRI_DISPATCH_LOOP */
    /** On the loop's thread: a handler that blocks, blocks the connection. */
    NRI_DISPATCH_LOOP = 1,
    /** On one thread of the library, in order, while the loop keeps I/O and the deadline guard: a
     * handler that blocks costs its own request its answer, not the plugin its connection. Every
     * function of the callback table and the callback of nri_plugin_update_containers() run on that
     * thread; posted functions, `ended`, `closed` and the log sink do not. */
    NRI_DISPATCH_WORKER = 2
};

/**
 * The callback table. NULL means: not subscribed. Copied by nri_plugin_new(). Since 0.1.0.
 */
struct nri_plugin_ops {
    size_t size; /**< sizeof(struct nri_plugin_ops) */
    /** Configure: the configuration text and the runtime's name are there; the events may be
     * narrowed. */
    nri_handler on_configure;
    /** Each part of a Synchronize as it comes; nothing is collected then. Not together with
     * on_synchronize. */
    nri_handler on_synchronize_part;
    /** Synchronize: all pods and containers of the node, once complete. Some runtimes never send
     * it. */
    nri_handler on_synchronize;
    /** Shutdown: the runtime is about to close the connection. */
    nri_handler on_shutdown;
    nri_handler on_run_pod_sandbox;         /**< RunPodSandbox */
    nri_handler on_update_pod_sandbox;      /**< UpdatePodSandbox, since NRI 0.10 */
    nri_handler on_post_update_pod_sandbox; /**< PostUpdatePodSandbox, since NRI 0.10 */
    nri_handler on_stop_pod_sandbox;        /**< StopPodSandbox */
    nri_handler on_remove_pod_sandbox;      /**< RemovePodSandbox */
    nri_handler on_create_container;        /**< CreateContainer: an adjustment and updates */
    nri_handler on_post_create_container;   /**< PostCreateContainer */
    nri_handler on_start_container;         /**< StartContainer */
    nri_handler on_post_start_container;    /**< PostStartContainer */
    nri_handler on_update_container;        /**< UpdateContainer: updates */
    nri_handler on_post_update_container;   /**< PostUpdateContainer */
    nri_handler on_stop_container;          /**< StopContainer: updates */
    nri_handler on_remove_container;        /**< RemoveContainer */
    nri_handler on_validate_adjustment; /**< ValidateContainerAdjustment, since NRI 0.10: refusing
                                           vetoes the container */
    /** The library's own: connected, before registration. The result is ignored; NRI_PENDING is not
     * possible. */
    nri_handler on_connected;
    /** The library's own: the connection ended, once per on_connected; nri_request_reason() says
     * why. */
    nri_handler on_disconnected;
    nri_handler reserved[3]; /**< must be NULL */
};

/** Fills a callback table with NULLs and its size. `size` is sizeof(struct nri_plugin_ops). Since
 * 0.1.0. */
NRI_API void nri_plugin_ops_init(struct nri_plugin_ops *ops, size_t size);

/**
 * Options of a plugin. Zero in any member means its default. Copied by nri_plugin_new(), texts too.
 * Since 0.1.0.
 */
struct nri_plugin_options {
    size_t size; /**< sizeof(struct nri_plugin_options) */
    /** The plugin's name: letters, digits, "_", ".", "+", "-". Else NRI_PLUGIN_NAME, else the
     * program's name, without its NN- if it has one. */
    const char *name;
    /** The plugin index: two digits, "00" to "99". Else NRI_PLUGIN_IDX, else from the program's
     * name. */
    const char *index;
    /** The socket's path. Default NRI_DEFAULT_SOCKET_PATH. At most 107 bytes. Used when neither a
     * descriptor nor NRI_PLUGIN_SOCKET is given. (The environment variable NRI_PLUGIN_SOCKET is no
     * path but the number, in decimal, of a connected descriptor that the program was started with:
     * runtimes give it to the plugins that they start themselves.) */
    const char *socket_path;
    /** The program's name, as in argv[0], to take the identity from. Default: the name of the
     * running program. */
    const char *program;
    /** Where memory comes from; copied. Default: the C library. */
    const struct nri_allocator *allocator;
    /** The log sink. What ends a run, or keeps it from connecting, is logged once, so that a sink
     * is enough to learn of it. Default: silent. */
    nri_log_fn log;
    /** Handed to `log`. */
    void *log_user;
    /** Records up to this level are made (enum nri_log_level). Default NRI_LOG_INFO. */
    int32_t log_level;
    /** Where handlers run (enum nri_dispatch). */
    int32_t dispatch;
    /** A connected unix stream socket; used when `use_fd` is not 0. It belongs to the plugin once
     * nri_plugin_new() succeeded. */
    int32_t fd;
    /** Not 0: `fd` is given. */
    uint32_t use_fd;
    /** Not 0: NRI_PLUGIN_NAME, NRI_PLUGIN_IDX and NRI_PLUGIN_SOCKET are not looked at. */
    uint32_t ignore_environment;
    /** Not 0: go on when the runtime's NRI is too old to ask on_validate_adjustment. Default:
     * Configure fails then. */
    uint32_t allow_missing_validate;
    /** Not 0: a reply whose adjustment uses what the runtime would silently ignore, or refuse, is
     * refused with NRI_E_UNSUPPORTED; the error names all of it. Not of a runtime of which nothing
     * is known; not for removals (NRI_FEATURE_REMOVE_ENV, NRI_FEATURE_REMOVE_DEVICE), which take
     * effect where another plugin set what is removed, and nobody can tell from here. Those, and
     * without this option all, are logged once per feature and connection. */
    uint32_t strict_features;
    /** Not 0: connect again when the connection ends or there is none yet, after a delay that
     * doubles with each failure, and at once when the socket appears. Not for a given descriptor,
     * whose end is the plugin's. Default: the run ends with the connection. */
    uint32_t reconnect;
    /** How many attempts in a row may fail, an attempt being one that did not get as far as
     * NRI_PLUGIN_READY. Default: no limit. */
    uint32_t reconnect_attempts;
    /** Not 0: the socket's directory is not watched; only the delays count. */
    uint32_t no_socket_watch;
    /** Not 0: a request that is still pending at its deadline is left to the runtime, which drops
     * the plugin. Default: it is answered in the plugin's place a margin before (see
     * deadline_margin_percent, pass_late_events). */
    uint32_t no_deadline_guard;
    /** The margin: this part of the request's time, in percent, and at least deadline_margin_ms.
     * Default 10, from 1 to 90. */
    uint32_t deadline_margin_percent;
    /** Events (a mask) that the guard lets pass unchanged, without what the plugin had built.
     * Default: all but ValidateContainerAdjustment. The other calls are always passed, but for
     * Configure, which has no guard. Not together with the same event in refuse_late_events. */
    uint32_t pass_late_events;
    /** Events that the guard refuses. Default: ValidateContainerAdjustment. */
    uint32_t refuse_late_events;
    /** A warning names an event whose answer took more than this part of its time, in percent.
     * Default 50, from 1 to 100. */
    uint32_t slow_percent;
    /** Not 0: no such warning. */
    uint32_t no_slow_warning;
    /** Not 0: begin with the bypass on (nri_plugin_set_bypass()). */
    uint32_t bypass;
    /** Threads for nri_request_offload(), made when they are first needed. Default 4, at most 64.
     */
    uint32_t offload_threads;
    /** Unsolicited updates that wait for a connection (`queue` of struct nri_call_options). Default
     * 64, at most 4096. */
    uint32_t max_queued_updates;
    /** In-flight requests, handed to handlers and not answered. Default 64, at most 65536. A plugin
     * that keeps more than so many requests which the deadline guard has answered, or whose
     * connection is gone, gets no further event until it completes or drops some: they are answered
     * by the guard's policy at once. */
    uint32_t max_in_flight;
    /** Parts of one Synchronize. Default 65536. */
    uint32_t max_sync_parts;
    /** Calls of the plugin without a reply (unsolicited updates). Default 64, at most 120. */
    uint32_t max_pending_calls;
    /** How long connecting, registering and being configured may take together, in milliseconds.
     * Default 5000, at most a day. */
    uint64_t registration_timeout_ms;
    /** The first delay before connecting again, in milliseconds; each is drawn between half and the
     * whole of it. Default 100, at most a day. */
    uint64_t reconnect_min_ms;
    /** The longest delay, in milliseconds. Default 30000, at most a day, not below
     * reconnect_min_ms. */
    uint64_t reconnect_max_ms;
    /** How long a connection must have been NRI_PLUGIN_READY for the delays to begin anew, in
     * milliseconds. Default 60000, at most a day. */
    uint64_t reconnect_reset_ms;
    /** How long to try without ever being NRI_PLUGIN_READY, in milliseconds; then the run ends with
     * the last reason. Default: for ever. */
    uint64_t reconnect_give_up_ms;
    /** How long nri_plugin_stop() waits for requests that are pending to be answered, in
     * milliseconds; events that come meanwhile are answered unchanged (a validator refuses).
     * Default: not at all; at most a minute. */
    uint64_t stop_grace_ms;
    /** The least margin of the deadline guard, in milliseconds. Default 50, at most a minute. */
    uint64_t deadline_margin_ms;
    /** How long an unsolicited update may take, in milliseconds. Default: Configure's request
     * time-out, else 2000; at most a day. */
    uint64_t call_timeout_ms;
    /** The largest message accepted, in bytes. Default 16 MiB, from 1 KiB to 1 GiB. A larger one is
     * skipped and answered RESOURCE_EXHAUSTED. */
    uint64_t max_receive_bytes;
    /** The largest message sent, in bytes. Default 4194304, which is what Go peers accept; from 1
     * KiB to 16 MiB. */
    uint64_t max_send_bytes;
    /** Memory that one request may take to be decoded: this plus 8 times the message. Default
     * 65536, from 4 KiB to 1 GiB. Its reply has, beyond that, 4 times max_send_bytes: enough for
     * the largest that may be sent, unless it is made of tens of thousands of small objects (some
     * 23000 updates or 60000 environment variables). */
    uint64_t request_memory_bytes;
    /** Requests that wait beyond max_in_flight or max_request_bytes, in bytes. Default 32 MiB, from
     * 1 KiB to 1 GiB. Beyond, the stream is answered RESOURCE_EXHAUSTED. */
    uint64_t max_queued_bytes;
    /** Replies and calls that wait for the peer to read, in bytes. Default 256 MiB, as much as the
     * largest replies to 64 requests; from 1 KiB more than max_send_bytes to 1 GiB. Beyond, the
     * connection is closed. Replies to all requests that one read brought (64 KiB) count together,
     * since they are written after it. */
    uint64_t max_output_bytes;
    /** The memory that holds all parts of a Synchronize, several times their length on the wire, in
     * bytes. It counts until the request is released, so that one which is kept leaves less room
     * for the next. Default 256 MiB, from 1 KiB to 1 GiB. Beyond, it is refused with NRI_E_LIMIT.
     */
    uint64_t max_sync_bytes;
    /** The memory of all in-flight requests together, as decoded (what replies are built in comes
     * on top), in bytes. Default 256 MiB, from 1 KiB to 1 GiB. A request waits while its
     * largest possible size would not fit, as one beyond max_in_flight does; a single one may be
     * larger. What the deadline guard has answered and the plugin keeps has the same limit once
     * more, as with max_in_flight. */
    uint64_t max_request_bytes;
    /** A state cache that the plugin keeps (nri/state.h); it must outlive the plugin, and belongs
     * to one plugin. Default: none. */
    nri_state *state;
    const void *reserved_pointer; /**< must be NULL */
    uint64_t reserved[7];         /**< must be 0 */
};

/** Fills options with defaults (zeros) and their size. `size` is sizeof(struct nri_plugin_options).
 * Since 0.1.0. */
NRI_API void nri_plugin_options_init(struct nri_plugin_options *options, size_t size);

/**
 * Makes a plugin. Nothing is connected yet.
 *
 * @param plugin set to the plugin, which nri_plugin_close() ends; left alone on an error
 * @param ops the callback table: at least one handler of the 14 events, else NRI_E_INVALID
 * @param options options; NULL for defaults
 * @param user handed to each handler
 * @param error set to the error when there is one, else left alone; may be NULL; nri_error_free()
 * frees it
 * @return 0, NRI_E_INVALID (an argument; index, name), NRI_E_ABI, NRI_E_PATH_TOO_LONG,
 * NRI_E_NOT_SOCKET (fd), NRI_E_RANGE (a limit), NRI_E_NOMEM, NRI_E_IO. Any thread. Since 0.1.0.
 */
NRI_API int nri_plugin_new(nri_plugin **plugin, const struct nri_plugin_ops *ops,
                           const struct nri_plugin_options *options, void *user,
                           nri_error **error) NRI_WARN_UNUSED;

/**
 * Connects and runs until the connection ends or nri_plugin_stop() is called, on a loop of the
 * plugin's own.
 * @param plugin the plugin
 * @return 0 after a local stop; else why it ended: NRI_E_NOT_FOUND, NRI_E_PERMISSION,
 * NRI_E_REFUSED, NRI_E_NOT_SOCKET, NRI_E_TIMEOUT (registration), NRI_E_REJECTED (the runtime
 * refused the registration, or on_configure refused), NRI_E_CLOSED (by the peer), NRI_E_PROTOCOL,
 * NRI_E_LIMIT, NRI_E_UNSUPPORTED, NRI_E_NOMEM, NRI_E_IO; NRI_E_STATE (already started),
 * NRI_E_DEADLOCK (called in a handler). nri_plugin_last_error() has the text. A plugin that was
 * stopped or lost its connection may be run again; one with a given descriptor has one run, and
 * then NRI_E_STATE. While the listener's backlog is full, connecting is tried again until the
 * registration time-out. What is queued when the library ends a connection is written for one
 * second at most, while the peer reads. Since 0.1.0.
 */
NRI_API int nri_plugin_run(nri_plugin *plugin);

/**
 * Starts a plugin on a loop without waiting.
 * @param plugin the plugin
 * @param loop a loop of the same libuv that libnri links, run by the caller; it must live until the
 * close callback came. NULL: a loop inside, driven by nri_plugin_fd(), nri_plugin_timeout() and
 * nri_plugin_dispatch()
 * @param ended called once on the loop's thread when the plugin has ended (with 0 when it was
 * closed), with what nri_plugin_run() would have returned; the plugin may be started again or
 * closed in it; may be NULL
 * @param user handed to `ended`
 * @return 0, or as nri_plugin_run() when it fails at once (then `ended` is not called). Handlers
 * run on the loop's turns, none in this call. The loop's thread. Since 0.1.0.
 */
NRI_API int nri_plugin_start(nri_plugin *plugin, struct uv_loop_s *loop,
                             void (*ended)(nri_plugin *plugin, int code, void *user), void *user);

/** A descriptor that polls readable when nri_plugin_dispatch() has work, whatever caused it; after
 * nri_plugin_start() with no loop, until dispatching returns 0, which closes it. Starting the
 * plugin again in `ended` gives another: ask after each dispatch. Else NRI_E_STATE. Since 0.1.0. */
NRI_API int nri_plugin_fd(const nri_plugin *plugin);
/** How long to poll at most until the next nri_plugin_dispatch(), in milliseconds; -1 for no limit.
 * Since 0.1.0. */
NRI_API int nri_plugin_timeout(const nri_plugin *plugin);
/**
 * Does what there is to do, without blocking.
 * @return 1 while the plugin runs, also when `ended` has just started it again, 0 when it has ended
 * (nri_plugin_result()), NRI_E_STATE, NRI_E_DEADLOCK. Since 0.1.0.
 */
NRI_API int nri_plugin_dispatch(nri_plugin *plugin);
/** What nri_plugin_run() returned or would have: 0 before the end and after a local stop. Since
 * 0.1.0. */
NRI_API int nri_plugin_result(const nri_plugin *plugin);

/**
 * Stops a plugin: its run ends soon, with 0, after what the peer takes at once was written. When
 * none runs, the next run ends at once, so that a stop between two runs is not lost. Any thread,
 * and signal handlers, from nri_plugin_new() until nri_plugin_close(). Since 0.1.0.
 */
NRI_API void nri_plugin_stop(nri_plugin *plugin);

/**
 * Has a function called on the loop's thread, in the order of posting; without a run, in the next
 * one.
 * @param plugin the plugin
 * @param fn the function; it is called once, also when the plugin is closed first
 * @param arg handed to it
 * @return 0, NRI_E_INVALID, NRI_E_NOMEM, NRI_E_STATE (in a function that is called because the
 * plugin is being closed). Any thread, not in signal handlers. Since 0.1.0.
 */
NRI_API int nri_plugin_post(nri_plugin *plugin, void (*fn)(nri_plugin *plugin, void *arg),
                            void *arg);

/**
 * As nri_plugin_post(), but the function is called on the thread that handlers run on, between two
 * of them. With NRI_DISPATCH_LOOP the two are the same; with NRI_DISPATCH_WORKER it is called also
 * without a run. Since 0.1.0.
 */
NRI_API int nri_plugin_post_handler(nri_plugin *plugin, void (*fn)(nri_plugin *plugin, void *arg),
                                    void *arg);

/**
 * Ends a plugin for good: the connection is closed, pending calls complete with NRI_E_CLOSED,
 * on_disconnected and `ended` of nri_plugin_start() are called if it ran, then the functions that
 * were posted, then `closed` once, then the memory goes. Legal in handlers and callbacks. With a
 * given loop this takes a turn of that loop; with the plugin's own it is done when the call
 * returns, or, in a handler, when nri_plugin_run() or nri_plugin_dispatch() has returned.
 * @param plugin the plugin; NULL is ignored. Requests that somebody still holds stay readable.
 * @param closed called with `user`; may be NULL
 * @param user handed to `closed`
 * The loop's thread, or any while it does not run. Since 0.1.0.
 */
NRI_API void nri_plugin_close(nri_plugin *plugin, void (*closed)(void *user), void *user);

/** Options of one call to the runtime. Zero means the default. Since 0.1.0. */
struct nri_call_options {
    size_t size; /**< sizeof(struct nri_call_options) */
    /** Metadata sent along (ttrpc.Request.metadata): `metadata_count` pairs of key and value; may
     * be NULL. */
    const char *const *metadata;
    uint64_t metadata_count; /**< how many pairs */
    uint64_t timeout_ms; /**< time-out in milliseconds; default: call_timeout_ms of the plugin */
    /** Not 0: without a runtime that has configured the plugin the call waits for the next one, for
     * its time-out at most (then NRI_E_TIMEOUT), instead of failing with NRI_E_NO_SERVICE. What
     * was sent when a connection ended is not sent again: NRI_E_CLOSED. */
    uint64_t queue;
    uint64_t reserved[4]; /**< must be 0 */
};
/** Fills call options with defaults. `size` is sizeof(struct nri_call_options). Since 0.1.0. */
NRI_API void nri_call_options_init(struct nri_call_options *options, size_t size);

/**
 * Told what became of an unsolicited update, once, on the loop's thread; with NRI_DISPATCH_WORKER
 * on that of handlers.
 * @param plugin the plugin
 * @param result the outcome, read by nri_update_result_code() and its like in nri/update.h; never
 * NULL; it and all that is read from it are valid during the call
 * @param user `user` of nri_plugin_update_containers()
 * Since 0.1.0.
 */
typedef void (*nri_update_fn)(nri_plugin *plugin, const nri_update_result *result, void *user);

/**
 * Sends updates and evictions to the runtime unasked (Runtime.UpdateContainers).
 *
 * Today's runtimes hold one lock over a whole event: an update sent in a handler completes after
 * that handler's reply, so a request must not stay pending for it. It may be sent as soon as
 * Configure is answered, also while the plugin is still REGISTERING: a runtime may write its reply
 * to RegisterPlugin last.
 * @param plugin the plugin
 * @param updates what to send; only read, and only during the call
 * @param options time-out and metadata; NULL for defaults
 * @param callback told the outcome, once, after this function returned 0; may be NULL
 * @param user handed to it
 * @return 0; else nothing was sent and `callback` is not called: NRI_E_NO_SERVICE (Configure
 * is not answered yet, or the connection has ended), NRI_E_INVALID, NRI_E_LIMIT (over
 * max_send_bytes; nri_plugin_last_error() has both lengths), NRI_E_BUSY (max_pending_calls),
 * NRI_E_RANGE (options), an error of `updates`, NRI_E_NOMEM, NRI_E_ABI. NRI_E_BUSY also when
 * max_queued_updates wait; with NRI_DISPATCH_WORKER that counts each until its callback has
 * returned, and what only the sending can find comes to the callback. The loop's thread, and that
 * of handlers. Since
 * 0.1.0.
 */
NRI_API int nri_plugin_update_containers(nri_plugin *plugin, const nri_updates *updates,
                                         const struct nri_call_options *options,
                                         nri_update_fn callback, void *user);

/**
 * Switches the bypass: while it is on, events are answered at once and unchanged, no handler of the
 * 14 events runs, and a state cache goes on. For an emergency in which the plugin must do nothing
 * and must not be missed. One record of the log says so, and a metric. Requests that are pending go
 * on. Configure, Synchronize and Shutdown still come to their handlers, and the updates that
 * on_synchronize builds are not sent. Any thread, not in a signal handler. Since 0.1.0.
 */
NRI_API void nri_plugin_set_bypass(nri_plugin *plugin, bool bypass);
/** Whether the bypass is on. Any thread. Since 0.1.0. */
NRI_API bool nri_plugin_bypass(const nri_plugin *plugin);
/** Whether a handler has been running for more than twice the time of its request. Any thread.
 * Since 0.1.0. */
NRI_API bool nri_plugin_is_wedged(const nri_plugin *plugin);
/**
 * Whether a Synchronize was answered since the connection stands: the plugin has seen the node.
 * Some runtimes (Docker) never send one. Any thread. Since 0.1.0.
 */
NRI_API bool nri_plugin_is_synchronized(const nri_plugin *plugin);
/**
 * Who is at the other end of the socket (SO_PEERCRED).
 * @param plugin the plugin
 * @param pid set to the process id; may be NULL
 * @param uid set to the user id; may be NULL
 * @param gid set to the group id; may be NULL
 * @return 0, NRI_E_STATE (not connected), NRI_E_INVALID, NRI_E_IO. The loop's thread, and that of
 * handlers. Since 0.1.0.
 */
NRI_API int nri_plugin_peer(const nri_plugin *plugin, int64_t *pid, int64_t *uid, int64_t *gid);

/** States of a plugin. Since 0.1.0. */
enum nri_plugin_state {
    NRI_PLUGIN_IDLE = 0,        /**< not started, or ended */
    NRI_PLUGIN_CONNECTING = 1,  /**< connecting, or waiting to connect again */
    NRI_PLUGIN_REGISTERING = 2, /**< connected; RegisterPlugin and Configure are not both done */
    NRI_PLUGIN_READY = 3,       /**< registered and configured: events may come */
    NRI_PLUGIN_STOPPING = 4     /**< ending: what is queued is still written */
};
/** The plugin's state. Since 0.1.0. */
NRI_API enum nri_plugin_state nri_plugin_get_state(const nri_plugin *plugin);
/** The plugin's name. Lives as the plugin does. Since 0.1.0. */
NRI_API const char *nri_plugin_name(const nri_plugin *plugin);
/** The plugin's index, two digits. Since 0.1.0. */
NRI_API const char *nri_plugin_index(const nri_plugin *plugin);
/** `user` of nri_plugin_new(). Since 0.1.0. */
NRI_API void *nri_plugin_user(const nri_plugin *plugin);
/** The events subscribed to: derived from the callback table, narrowed and clipped by Configure.
 * Any thread. Since 0.1.0. */
NRI_API uint32_t nri_plugin_events(const nri_plugin *plugin);
/** The runtime's name, as Configure told it, unchanged; "" before. Kept after the end of the
 * connection; valid until the next Configure or the next connection, and in a handler or a function
 * posted to its thread until that returns: copy what is to live longer. The loop's thread, and that
 * of handlers; not in work that was offloaded. Since 0.1.0. */
NRI_API const char *nri_plugin_runtime_name(const nri_plugin *plugin);
/** The runtime's version; as nri_plugin_runtime_name(), also in how long it is valid and on which
 * threads. Since 0.1.0. */
NRI_API const char *nri_plugin_runtime_version(const nri_plugin *plugin);
/** The runtime's NRI version: told (NRI 0.12 and later), else inferred, else "unknown". Valid as
 * long, and on the threads, as nri_plugin_runtime_name() is. Since 0.1.0. */
NRI_API const char *nri_plugin_runtime_nri_version(const nri_plugin *plugin);
/** Whether that version was inferred, not told; changes when it does. The loop's thread, and that
 * of handlers. Since 0.1.0. */
NRI_API bool nri_plugin_nri_version_is_inferred(const nri_plugin *plugin);
/** The runtime's registration time-out in milliseconds: Configure's, else 5000. Any thread. Since
 * 0.1.0. */
NRI_API uint64_t nri_plugin_registration_timeout_ms(const nri_plugin *plugin);
/** The runtime's request time-out in milliseconds: Configure's, else 2000. Any thread. Since
 * 0.1.0. */
NRI_API uint64_t nri_plugin_request_timeout_ms(const nri_plugin *plugin);
/** Whether the runtime's NRI version has a feature; false when unknown, as it is before
 * Configure. The loop's thread, and that of handlers. Since 0.1.0. */
NRI_API bool nri_plugin_supports(const nri_plugin *plugin, enum nri_feature feature);
/** The last error of this handle; NULL when there was none. Valid until the next call with this
 * handle. Since 0.1.0. */
NRI_API const nri_error *nri_plugin_last_error(const nri_plugin *plugin);

NRI_END_DECLS

#endif
