/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file
 * The runtime side of NRI: what a container runtime embeds.
 *
 * A runtime finds and starts plugins, listens for others, asks them in order about each event,
 * merges what they answer, and hands the result to whoever embeds it. It keeps no pod sandboxes and
 * no containers: those are told with each call, and by `enumerate` when a plugin is synchronised.
 *
 * @code
 *     static void created(nri_runtime *runtime, nri_outcome *outcome, void *user)
 *     {
 *         if (nri_outcome_code(outcome) != 0)
 *             refuse(user, nri_outcome_text(outcome));
 *         else
 *             create(user, nri_outcome_adjustment(outcome));
 *     }
 *
 *     struct nri_runtime_event event = {.size = sizeof event, .event = NRI_EVENT_CREATE_CONTAINER,
 *                                       .pod = pod, .container = container};
 *     int code = nri_runtime_call(runtime, &event, created, user);
 * @endcode
 * doc/runtime.md leads from here to a whole container manager, and has the loops.
 *
 * Plugins are asked one after the other, by their index and then in the order of their coming; each
 * sees what those before it changed. A plugin has one request at a time (`max_outstanding`), so
 * that events of different containers move along the chain one behind the other; events of the same
 * container, and of a pod sandbox and its containers, never overlap and keep their order.
 *
 * While a plugin is being synchronised, it is told of nothing else: what only notifies is kept for
 * it, a CreateContainer, UpdateContainer or StopContainer waits at its turn for one request
 * time-out at most, and then goes on by the failure policy.
 *
 * A runtime belongs to its loop's thread; from others, what says so. Its callbacks come on that
 * thread, may call everything here but nri_runtime_run() and nri_runtime_dispatch(), and must not
 * block. A NULL runtime does no harm. After fork() a child must not touch the parent's runtime.
 */
#ifndef NRI_RUNTIME_H
#define NRI_RUNTIME_H

#include <nri/alloc.h>
#include <nri/api.h>
#include <nri/container_build.h>
#include <nri/event.h>
#include <nri/failure.h>
#include <nri/log.h>
#include <nri/merge.h>
#include <nri/metrics.h>
#include <nri/outcome.h>
#include <nri/plugin.h>
#include <nri/pod_build.h>

NRI_BEGIN_DECLS

/** Where a runtime looks for plugins by default. */
#define NRI_DEFAULT_PLUGIN_DIRECTORY "/opt/nri/plugins"
/** Where a runtime looks for the configuration of plugins by default. */
#define NRI_DEFAULT_CONFIG_DIRECTORY "/etc/nri/conf.d"

/** A plugin, as a runtime sees it; lives until `plugin_lost` returned. Since 0.1.0. */
typedef struct nri_runtime_plugin nri_runtime_plugin;
/** The list that `enumerate` fills. Since 0.1.0. */
typedef struct nri_enumeration nri_enumeration;
/** A plugin's wish to update containers on its own account. Since 0.1.0. */
typedef struct nri_runtime_update nri_runtime_update;

/** Where a plugin came from. Since 0.1.0. */
enum nri_plugin_origin {
    NRI_ORIGIN_LAUNCHED = 0, /**< started from the plugin directory */
    NRI_ORIGIN_EXTERNAL = 1, /**< it connected to the socket */
    NRI_ORIGIN_ATTACHED = 2, /**< nri_runtime_attach_fd() */
    NRI_ORIGIN_BUILTIN = 3   /**< nri_runtime_add_builtin() */
};

/** What a runtime asks of whoever embeds it, and tells. Each may be NULL. Copied. Since 0.1.0. */
struct nri_runtime_ops {
    size_t size; /**< sizeof(struct nri_runtime_ops) */
    /**
     * A plugin is to be synchronised: tell all pod sandboxes and containers that there are, by
     * nri_enumeration_add_pod() and nri_enumeration_add_container(). Several plugins that come at
     * once share one list. A code other than 0 keeps those plugins out.
     */
    int (*enumerate)(nri_runtime *runtime, nri_enumeration *list, void *user);
    /**
     * A plugin wants to update containers outside of any event, or in its answer to Synchronize
     * (nri_runtime_update_is_sync()). Say nri_runtime_update_fail() for each that cannot be, and
     * return 0, or return NRI_PENDING and call nri_runtime_update_complete() later. Another code
     * fails the whole call. NULL: the call is refused as not supported, and of the answer to
     * Synchronize that is logged.
     */
    int (*update)(nri_runtime *runtime, nri_runtime_update *update, void *user);
    /** A plugin wants a container to be evicted, outside of any event; `reason` is its own. Called
     * before `update`, whose list has the same evictions. Those in the answer to an event are in
     * nri_outcome_updates() only. NULL: the call is refused as not supported. */
    void (*evict)(nri_runtime *runtime, nri_runtime_plugin *plugin, const char *container_id,
                  const char *reason, void *user);
    /** A plugin is registered, configured and synchronised: it gets events from now on. */
    void (*plugin_connected)(nri_runtime *runtime, nri_runtime_plugin *plugin, void *user);
    /** A plugin that was connected is gone; `code` is 0 when the runtime stopped it. */
    void (*plugin_lost)(nri_runtime *runtime, nri_runtime_plugin *plugin, int code,
                        const char *text, void *user);
    /** After each event's callback: the record of what plugins did. */
    void (*audit)(nri_runtime *runtime, nri_outcome *outcome, void *user);
    /** The plugins found at the start are connected or have failed, and the socket is open. */
    void (*ready)(nri_runtime *runtime, void *user);
    void (*reserved[4])(void); /**< must be NULL */
};
/** Fills a table with NULLs and its size. `size` is sizeof(struct nri_runtime_ops). Since 0.1.0. */
NRI_API void nri_runtime_ops_init(struct nri_runtime_ops *ops, size_t size);

/** Options of a runtime. Zero in any member means its default. Copied, texts too. Since 0.1.0. */
struct nri_runtime_options {
    size_t size; /**< sizeof(struct nri_runtime_options) */
    /** The runtime's name, as plugins are told. Default "libnri". */
    const char *name;
    /** Its version. Default that of libnri. */
    const char *version;
    /** The version of NRI that plugins are told. Default the newest that libnri knows. With an
     * older one the runtime is to its plugins what runtimes of that version are: before 0.12 it
     * does not tell it, and notifies by StateChange; before 0.10 it refuses plugins that subscribe
     * to events that came with that; before 0.7 Configure has no time-outs. */
    const char *nri_version;
    /** The socket for external plugins; its directory is made with mode 0700 when it is missing.
     * Default NRI_DEFAULT_SOCKET_PATH. */
    const char *socket_path;
    /** Where the plugins to launch are: regular files that may be executed, called NN-NAME.
     * Default NRI_DEFAULT_PLUGIN_DIRECTORY. */
    const char *plugin_directory;
    /** Where their configurations are: NN-NAME.conf, else NAME.conf. Default
     * NRI_DEFAULT_CONFIG_DIRECTORY. */
    const char *config_directory;
    /** The default validator's configuration: JSON with the keys that NRI's own has
     * (doc/runtime.md). Default: none; required plugins named by annotation are looked at all the
     * same. */
    const char *validator_config;
    /** Where memory comes from; copied. Default: the C library. */
    const struct nri_allocator *allocator;
    /** What to do when plugins fail; copied. Default: as NRI's own runtime. */
    const struct nri_failure_policy *failure;
    /** The log sink. Default: silent. */
    nri_log_fn log;
    /** Handed to `log`. */
    void *log_user;
    /** Records up to this level are made (enum nri_log_level). Default NRI_LOG_INFO. */
    int32_t log_level;
    /** Not 0: no socket; only plugins that are launched, attached or built in. */
    uint32_t no_external;
    /** Not 0: none is launched from the plugin directory. */
    uint32_t no_launch;
    /** Not 0: merge with the defects of NRI's own runtime (doc/runtime.md), to compare with it. */
    uint32_t go_compatible;
    /** Not 0: the default validator is off, and with it required plugins by annotation. */
    uint32_t no_default_validator;
    /** Requests that a plugin may have at a time. Default 1, at most 64; Go plugins have never seen
     * two. Those of one pod sandbox never overlap. */
    uint32_t max_outstanding;
    /** Plugins at a time, those that are registering too. Default 128, at most 4096. Further
     * connections wait in the listener's backlog. */
    uint32_t max_plugins;
    /** Events that are under way or wait. Default 1024, at most 65536; beyond, nri_runtime_call()
     * is NRI_E_BUSY. */
    uint32_t max_calls;
    /** How long a plugin may take to register and be configured, in milliseconds. Default 5000, at
     * most a day. */
    uint64_t registration_timeout_ms;
    /** How long a plugin may take to answer, in milliseconds. Default 2000, at most a day. */
    uint64_t request_timeout_ms;
    /** How long a launched plugin has to end by itself at a stop, and then again after SIGTERM, in
     * milliseconds. Default 1000, at most a minute. */
    uint64_t stop_timeout_ms;
    /** The largest message accepted, in bytes. Default 16 MiB, from 1 KiB to 1 GiB. */
    uint64_t max_receive_bytes;
    /** The largest message sent, in bytes. Default 4194304, which is what Go peers accept; from 1
     * KiB to 16 MiB. */
    uint64_t max_send_bytes;
    /** What a plugin does not read, and what waits for it during its Synchronize, in bytes. Default
     * 64 MiB, from 1 KiB more than max_send_bytes to 1 GiB. Beyond, the plugin is dropped. */
    uint64_t max_output_bytes;
    /** The memory that merging one event takes, and as much again for what plugins answered, in
     * bytes. Default 64 MiB, from 64 KiB to 1 GiB. Beyond, the event fails. */
    uint64_t max_merge_bytes;
    /** The memory of one enumeration, in bytes. Default 1 GiB, from 64 KiB to 64 GiB. */
    uint64_t max_sync_bytes;
    /** By field (enum nri_field): what happens when two plugins set the same (enum
     * nri_merge_policy), and which of them the runtime supports at all. Default NRI_MERGE_REJECT.
     */
    uint8_t merge_policy[NRI_MERGE_FIELDS];
    const void *reserved_pointers[2]; /**< must be NULL */
    uint64_t reserved[6];             /**< must be 0 */
};
/** Fills options with defaults (zeros) and their size. `size` is sizeof(struct
 * nri_runtime_options). Since 0.1.0. */
NRI_API void nri_runtime_options_init(struct nri_runtime_options *options, size_t size);

/* ---- its life ---- */

/**
 * Makes a runtime. Nothing is started yet.
 * @param runtime set to the runtime, which nri_runtime_close() ends; left alone on an error
 * @param ops what it asks and tells; NULL: nothing
 * @param options options; NULL for defaults
 * @param user handed to each function of `ops`
 * @param error set to the error when there is one; may be NULL
 * @return 0, NRI_E_INVALID, NRI_E_ABI, NRI_E_RANGE, NRI_E_SYNTAX (validator_config),
 * NRI_E_PATH_TOO_LONG, NRI_E_NOMEM, NRI_E_IO. Any thread. Since 0.1.0.
 */
NRI_API int nri_runtime_new(nri_runtime **runtime, const struct nri_runtime_ops *ops,
                            const struct nri_runtime_options *options, void *user,
                            nri_error **error) NRI_WARN_UNUSED;
/**
 * Runs it on a loop of its own until nri_runtime_stop().
 * @param runtime the runtime; not started yet
 * @return 0 after the stop; else why it could not start, as nri_runtime_start(), or go on, as its
 * `ended` is told; NRI_E_DEADLOCK (in a callback of the runtime). nri_runtime_last_error() has the
 * text. A stop that came before it ends it at its first turn. Since 0.1.0.
 */
NRI_API int nri_runtime_run(nri_runtime *runtime);
/**
 * Starts it: the plugins of the plugin directory are launched and synchronised together, then the
 * socket is opened and `ready` is called. Returns before that.
 * @param runtime the runtime
 * @param loop a loop of the same libuv that libnri links, run by the caller; it must live until the
 * close callback came. NULL: a loop inside, driven by nri_runtime_fd(), nri_runtime_timeout() and
 * nri_runtime_dispatch()
 * @param ended called once on the loop's thread when it has stopped: with 0, or with why it could
 * not go on; may be NULL
 * @param user handed to `ended`
 * @return 0; NRI_E_STATE (started already), NRI_E_ADDR_IN_USE (somebody listens on the socket),
 * NRI_E_NOT_SOCKET (its path is something else), NRI_E_PERMISSION, NRI_E_NOT_FOUND, NRI_E_INVALID
 * (a file of the plugin directory that may be run has no name NN-NAME, or a configuration is no
 * file; in words which), NRI_E_UTF8, NRI_E_LIMIT (a configuration is no text, or too large),
 * NRI_E_IO, NRI_E_NOMEM. After an error it may be tried again; a runtime that has run and ended
 * does not start again: NRI_E_STATE. The loop's thread. Since 0.1.0.
 */
NRI_API int nri_runtime_start(nri_runtime *runtime, struct uv_loop_s *loop,
                              void (*ended)(nri_runtime *runtime, int code, void *user),
                              void *user);
/** A descriptor that polls readable when nri_runtime_dispatch() has work; after nri_runtime_start()
 * with no loop. Else NRI_E_STATE. The same until nri_runtime_close(); never to be closed or read by
 * the caller. Since 0.1.0. */
NRI_API int nri_runtime_fd(const nri_runtime *runtime);
/** How long to poll at most until the next nri_runtime_dispatch(), in milliseconds; -1 for no
 * limit. To be asked anew before each poll, since nri_runtime_call() and its like change it. Since
 * 0.1.0. */
NRI_API int nri_runtime_timeout(const nri_runtime *runtime);
/** Does what there is to do, without blocking. 1 while it runs, 0 when it has ended, NRI_E_STATE,
 * NRI_E_DEADLOCK (in a callback). Since 0.1.0. */
NRI_API int nri_runtime_dispatch(nri_runtime *runtime);
/**
 * Stops it: events under way fail with NRI_E_STATE, plugins get Shutdown, connections are closed,
 * and launched plugins that do not end get SIGTERM, then SIGKILL, each after stop_timeout_ms. Any
 * thread, and signal handlers. Since 0.1.0.
 */
NRI_API void nri_runtime_stop(nri_runtime *runtime);
/**
 * Has a function called on the loop's thread, in the order of posting; also when the runtime is
 * closed first.
 * @return 0, NRI_E_INVALID, NRI_E_NOMEM, NRI_E_STATE (while it is being closed). Any thread, not in
 * signal handlers. Since 0.1.0.
 */
NRI_API int nri_runtime_post(nri_runtime *runtime, void (*fn)(nri_runtime *runtime, void *arg),
                             void *arg);
/** Ends a runtime for good: as nri_runtime_stop(), but launched plugins get SIGKILL at once if they
 * still run; then `closed` is called once, and the memory goes. Legal in callbacks. With a given
 * loop this takes turns of that loop, which must be run until `closed` came; without one it
 * is over when this returns, and in a callback when nri_runtime_dispatch() or nri_runtime_run()
 * does. Since 0.1.0. */
NRI_API void nri_runtime_close(nri_runtime *runtime, void (*closed)(void *user), void *user);
/** The last error of a function of this handle; never NULL. Since 0.1.0. */
NRI_API const nri_error *nri_runtime_last_error(const nri_runtime *runtime);

/* ---- plugins ---- */

/**
 * Takes a connected plugin: a unix stream socket whose other end speaks NRI, such as one end of a
 * socketpair. The plugin registers, is configured and synchronised as if it had connected.
 * @param runtime a started runtime
 * @param fd the descriptor; it belongs to the runtime once 0 was returned
 * @return 0, NRI_E_INVALID, NRI_E_NOT_SOCKET, NRI_E_STATE (not started), NRI_E_BUSY (max_plugins),
 * NRI_E_NOMEM, NRI_E_IO. The loop's thread. Since 0.1.0.
 */
NRI_API int nri_runtime_attach_fd(nri_runtime *runtime, int fd);
/**
 * Adds a plugin that is part of the program: its handlers are called as those of any other, on the
 * loop's thread, through the same messages, but no socket.
 * @param runtime the runtime, started or not; handlers come once it is started
 * @param ops its callback table; copied
 * @param name its name
 * @param index its plugin index, two digits
 * @param config the text that on_configure reads; NULL for none; copied
 * @param user handed to its handlers
 * @return 0, NRI_E_INVALID, NRI_E_ABI, NRI_E_BUSY (max_plugins), NRI_E_STATE (stopping),
 * NRI_E_NOMEM. nri_request_plugin() of its requests is NULL. The loop's thread. Since 0.1.0.
 */
NRI_API int nri_runtime_add_builtin(nri_runtime *runtime, const struct nri_plugin_ops *ops,
                                    const char *name, const char *index, const char *config,
                                    void *user);
/** Closes a plugin's connection, soon; a launched one is ended. `plugin_lost` is called, with 0.
 * NRI_E_INVALID for NULL. The loop's thread. Since 0.1.0. */
NRI_API int nri_runtime_drop_plugin(nri_runtime *runtime, nri_runtime_plugin *plugin);
/** The connected plugin after `plugin` in the order of asking, the first for NULL; NULL at the end.
 * Since 0.1.0. */
NRI_API nri_runtime_plugin *nri_runtime_next_plugin(const nri_runtime *runtime,
                                                    const nri_runtime_plugin *plugin);
/** A plugin's name. Since 0.1.0. */
NRI_API const char *nri_runtime_plugin_name(const nri_runtime_plugin *plugin);
/** Its index and name, "NN-name". Since 0.1.0. */
NRI_API const char *nri_runtime_plugin_id(const nri_runtime_plugin *plugin);
/** Its index, two digits. Since 0.1.0. */
NRI_API const char *nri_runtime_plugin_index(const nri_runtime_plugin *plugin);
/** Where it came from. Since 0.1.0. */
NRI_API enum nri_plugin_origin nri_runtime_plugin_origin(const nri_runtime_plugin *plugin);
/** Its process: of a launched one as it was started, else SO_PEERCRED's; 0 when it is not known.
 * Since 0.1.0. */
NRI_API int64_t nri_runtime_plugin_pid(const nri_runtime_plugin *plugin);
/** The events that it is asked about: a mask. Since 0.1.0. */
NRI_API uint32_t nri_runtime_plugin_events(const nri_runtime_plugin *plugin);
/** The NRI version that it told; "" when it told none. Since 0.1.0. */
NRI_API const char *nri_runtime_plugin_nri_version(const nri_runtime_plugin *plugin);
/**
 * Sets what to do when plugins fail.
 * @param runtime the runtime
 * @param plugin a plugin's name, or index and name ("NN-name"); NULL for all that have none of
 * their own
 * @param policy the policy; copied. NULL: none of its own any more; for all: NRI_FAILURE_PRESET_GO
 * @return 0, NRI_E_INVALID (no name that a plugin can have; no such choice; `required` for all),
 * NRI_E_ABI, NRI_E_NOMEM. The loop's thread. Since 0.1.0.
 */
NRI_API int nri_runtime_set_failure_policy(nri_runtime *runtime, const char *plugin,
                                           const struct nri_failure_policy *policy);

/* ---- events ---- */

/** An event to tell plugins of. Since 0.1.0. */
struct nri_runtime_event {
    size_t size;    /**< sizeof(struct nri_runtime_event) */
    uint32_t event; /**< enum nri_event: 1 to 13; validators are asked by CreateContainer itself */
    uint32_t reserved_number;       /**< must be 0 */
    const nri_pod *pod;             /**< the pod sandbox; of all events */
    const nri_container *container; /**< the container; of the events of containers */
    /** UpdateContainer and UpdatePodSandbox: the resources that are about to be applied. NULL for
     * other events. */
    const nri_resources *resources;
    /** UpdatePodSandbox: of the pod sandbox itself. NULL for other events. */
    const nri_resources *overhead;
    /** Pairs of key and value that go along with each call, as trace contexts do; UTF-8. */
    const char *const *metadata;
    size_t metadata_count;      /**< how many pairs; at most 256 */
    void *reserved_pointers[3]; /**< must be NULL */
};
/** Fills an event with zeros and its size. Since 0.1.0. */
NRI_API void nri_runtime_event_init(struct nri_runtime_event *event, size_t size);
/** The callback of an event; called once for each call that returned 0, never inside of
 * nri_runtime_call(). Since 0.1.0. */
typedef void (*nri_runtime_done)(nri_runtime *runtime, nri_outcome *outcome, void *user);
/**
 * Tells the plugins of an event.
 * @param runtime a started runtime
 * @param event the event; its objects and texts must live unchanged until `done` is called (in
 * there they may go already; the outcome needs them no more), the structure itself need not
 * @param done called with what became of it; may be NULL
 * @param user handed to `done`
 * @return 0, NRI_E_INVALID (an object is missing, or one that the event does not have is
 * there; metadata that cannot be sent), NRI_E_EVENT (no such event, or one that is not
 * called), NRI_E_ABI, NRI_E_BUSY (max_calls), NRI_E_STATE (not started, or stopping), NRI_E_NOMEM,
 * NRI_E_LIMIT (names larger than max_merge_bytes). The loop's thread. Since 0.1.0.
 */
NRI_API int nri_runtime_call(nri_runtime *runtime, const struct nri_runtime_event *event,
                             nri_runtime_done done, void *user);
/**
 * Keeps plugins from being synchronised until nri_runtime_release_sync(), to be put around what
 * changes the pod sandboxes and containers there are: between the end of a CreateContainer and the
 * moment when `enumerate` tells the container, a new plugin would not learn of it. Holds count.
 * One that lasts longer than the registration time-out is not waited for, and logged. NRI_E_INVALID
 * for NULL. Since 0.1.0.
 */
NRI_API int nri_runtime_hold_sync(nri_runtime *runtime);
/** The end of a hold. NRI_E_STATE when there is none. Since 0.1.0. */
NRI_API int nri_runtime_release_sync(nri_runtime *runtime);

/* ---- what the operations get ---- */

/** Tells of a pod sandbox; only in `enumerate`. 0, NRI_E_INVALID, NRI_E_LIMIT (larger than one
 * message, or the whole over max_sync_bytes), NRI_E_NOMEM. Since 0.1.0. */
NRI_API int nri_enumeration_add_pod(nri_enumeration *list, const nri_pod *pod);
/** Tells of a container, in the same way. Since 0.1.0. */
NRI_API int nri_enumeration_add_container(nri_enumeration *list, const nri_container *container);

/** What is to be updated and evicted. Never NULL. Since 0.1.0. */
NRI_API const nri_updates *nri_runtime_update_list(const nri_runtime_update *update);
/** The plugin that asks; NULL once it is gone. Since 0.1.0. */
NRI_API nri_runtime_plugin *nri_runtime_update_plugin(const nri_runtime_update *update);
/** Whether it is the answer to Synchronize, which has no failures to report. Since 0.1.0. */
NRI_API bool nri_runtime_update_is_sync(const nri_runtime_update *update);
/** Says that a container's update was not possible. The plugin is told, unless it asked for that
 * update with nri_update_set_ignore_failure(). 0, NRI_E_INVALID, NRI_E_NOT_FOUND (it is not in
 * the list), NRI_E_NOMEM and NRI_E_LIMIT (max_merge_bytes; the plugin is told then that the whole
 * failed). The loop's thread. Since 0.1.0. */
NRI_API int nri_runtime_update_fail(nri_runtime_update *update, const char *container_id);
/** Answers an update whose operation returned NRI_PENDING, or, within the operation, before it
 * returns anything; `code` other than 0 fails it whole, with `text` (may be NULL) as the reason.
 * The loop's thread; once, and not after the `closed` of nri_runtime_close(), with which it is
 * gone. Since 0.1.0. */
NRI_API void nri_runtime_update_complete(nri_runtime_update *update, int code, const char *text);

/**
 * Counters of the runtime side as OpenMetrics text: per plugin and event how often it was asked,
 * how long that took, what failed, what it adjusted; and the plugins that are connected.
 * @param runtime the runtime
 * @param text set to the text, which nri_metrics_free() frees
 * @param length set to its length in bytes; may be NULL
 * @return 0, NRI_E_INVALID, NRI_E_NOMEM. The loop's thread. Since 0.1.0.
 */
NRI_API int nri_runtime_metrics(const nri_runtime *runtime, char **text,
                                size_t *length) NRI_WARN_UNUSED;

NRI_END_DECLS

#endif
