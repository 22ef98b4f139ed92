/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A simulated node: what a container runtime is to its plugins, without containers.
 *
 * It stands on nri/runtime.h and a loop of the caller's, keeps the pod sandboxes and containers and
 * the state each is in, sends the events that a runtime sends, and applies what plugins answer to
 * what it keeps, so that the next event, a Synchronize and a view of the container show it.
 *
 * An operation is what Kubernetes would ask a runtime for: each is asynchronous, sends one event or
 * several, and has exactly one callback, never inside the call that began it. Operations of one pod
 * sandbox and its containers are done one after the other in the order of the calls, those of
 * different ones side by side; so an operation need not wait for the callback of the one before: a
 * container may be started before the callback of its creation came. A failed one does not stop
 * those behind it, which then fail because of the state they find. An id is free again once the
 * callback of its removal, or of its failed creation, came.
 *
 *     run pod           RunPodSandbox; when that is refused StopPodSandbox, RemovePodSandbox
 *     update pod        UpdatePodSandbox, PostUpdatePodSandbox; NRI_E_STATE unless it is ready
 *     stop pod          StopContainer of each that runs, StopPodSandbox; of a stopped one nothing
 *     remove pod        what stop does, RemoveContainer of each, RemovePodSandbox
 *     create            CreateContainer, PostCreateContainer; NRI_E_STATE unless the pod sandbox is
 *                       ready; when refused StopContainer, RemoveContainer
 *     start             StartContainer, PostStartContainer; NRI_E_STATE unless it is created
 *     update            UpdateContainer, PostUpdateContainer; NRI_E_STATE unless created or running
 *     stop              StopContainer, exit code 143; of a stopped one nothing
 *     exit              the same, of itself, with its exit code; NRI_E_STATE unless it runs
 *     remove            what stop does, RemoveContainer
 *     restart           the runtime goes away and comes back with the same containers
 *
 * NRI_E_NOT_FOUND: no such pod sandbox or container, or it has been removed. All other codes are
 * those of nri_outcome_code().
 *
 * All is for the loop's thread. Callbacks may call everything here. The caller runs the loop.
 */
#ifndef NRICTL_NODE_H
#define NRICTL_NODE_H

#include <uv.h>

#include <nri/nri.h>

#include "child.h"
#include "imitate.h"
#include "store.h"

struct node;

/* ---- what an operation came to ---- */

struct node_result {
    /* 0, or why it failed: of the node, or of the first outcome that has one. */
    int code;
    const char *text; /* the same in words, with the plugin's name; "" for 0 */
    /* Whether it was done all the same: of Stop..., Remove... and Post... a runtime only logs that
     * a plugin failed. True for code 0. */
    bool done;
    /* An outcome for each event that was sent, in order; nri_outcome_ref() keeps one. */
    nri_outcome *const *outcomes;
    const uint64_t *event_nanoseconds; /* of each of them, from the call to the outcome */
    size_t outcome_count;
    /* Of the updates of other containers that plugins answered with, the ids of those that were not
     * possible (not told to plugins, as no runtime does). */
    const char *const *not_updated;
    size_t not_updated_count;
    uint64_t nanoseconds; /* from its turn to its end */
};
/* The outcome of an event among them (the last one of several); NULL: it was not sent. */
nri_outcome *node_result_outcome(const struct node_result *result, enum nri_event event);

/* Called once for each operation that returned 0. `result` lives during the call. */
typedef void (*node_done)(struct node *node, const struct node_result *result, void *user);

/* ---- a node's life ---- */

struct node_options {
    const struct imitate *imitate; /* the runtime that it is like; copied; NULL: libnri's own */
    /* The socket for plugins. NULL: one in a new directory below TMPDIR, which goes with the node;
     * node_socket() has its path. */
    const char *socket_path;
    const char *plugin_directory;             /* NULL: no plugin is launched from one */
    const char *config_directory;             /* NULL: no plugin has a configuration */
    const char *validator_config;             /* of struct nri_runtime_options */
    const struct nri_failure_policy *failure; /* NULL: as Go's runtimes */
    uint64_t registration_timeout_ms;         /* 0: the imitated runtime's, else 5000 */
    uint64_t request_timeout_ms;              /* 0: the imitated runtime's, else 2000 */
    nri_log_fn log;                           /* of the runtime; NULL: silent */
    void *log_user;
    int log_level; /* enum nri_log_level */
};

/* What happens beside operations; each may be NULL. `user` is node_new()'s. */
struct node_watch {
    /* The plugins of the plugin directory are there or have failed, and the socket is open: after
     * node_start(), and after each restart. */
    void (*ready)(struct node *node, void *user);
    void (*connected)(struct node *node, nri_runtime_plugin *plugin, void *user);
    /* `plugin` lives during the call; code 0: the node dropped it. */
    void (*lost)(struct node *node, nri_runtime_plugin *plugin, int code, const char *text,
                 void *user);
    /* An event is sent, before its outcome comes. */
    void (*asked)(struct node *node, const struct nri_runtime_event *event, void *user);
    /* Each event's outcome, of whatever operation, also of evictions: for latencies and records. */
    void (*outcome)(struct node *node, nri_outcome *outcome, void *user);
    /* A plugin updated containers of its own accord, or in its answer to Synchronize; `failed` are
     * the ids that were not possible. All others are applied. */
    void (*updated)(struct node *node, const char *plugin, const nri_updates *list,
                    const char *const *failed, size_t failed_count, bool sync, void *user);
    /* A plugin ("" when several answered the event together) asked for a container's end, and it is
     * being stopped (as an operation). */
    void (*evicted)(struct node *node, const char *container_id, const char *plugin,
                    const char *reason, void *user);
    /* A plugin that was started by node_start_child() has ended; as waitpid()'s status. */
    void (*child_ended)(struct node *node, struct child *child, int status, void *user);
    /* The runtime could not start again, or ended by itself: nothing works any more. */
    void (*failed)(struct node *node, int code, const char *text, void *user);
};

/* Makes a node; nothing is started yet. NRI_E_NOMEM, NRI_E_IO (the directory of the socket), and
 * what nri_runtime_new() returns; `error` as there. */
int node_new(struct node **node, uv_loop_t *loop, const struct node_options *options,
             const struct node_watch *watch, void *user, nri_error **error);
/* Starts the runtime. 0, then `ready` comes; else as nri_runtime_start(), with node_error(). */
int node_start(struct node *node);
/* Ends it: operations under way and waiting get their callbacks with NRI_E_CLOSED, plugins that
 * were started are ended and reaped, sockets removed; then `closed` is called and the node is gone.
 * This takes turns of the loop. Legal in callbacks. */
void node_close(struct node *node, void (*closed)(void *user), void *user);
/* The error of the last function that returned a code; "" for none. */
const char *node_error(const struct node *node);

uv_loop_t *node_loop(const struct node *node);
const char *node_socket(const struct node *node);
struct store *node_store(struct node *node); /* pod sandboxes and containers, to read */
/* For nri_runtime_next_plugin() and the like; another one after each restart, NULL in between. */
nri_runtime *node_runtime(const struct node *node);
const struct imitate *node_imitate(const struct node *node);
/* A connected plugin by "NN-name" or its name; NULL: there is none. */
nri_runtime_plugin *node_find_plugin(const struct node *node, const char *name);
/* In the callback `outcome` of the watch: from the call of that event to its outcome. */
uint64_t node_event_nanoseconds(const struct node *node);
/* Operations that have not had their callback. */
size_t node_pending(const struct node *node);

/* ---- operations ----
 * 0: `done` (may be NULL) is called once. NRI_E_NOMEM; NRI_E_INVALID (an object without an id, or
 * NULL); NRI_E_STATE (it is being closed): it is not called. `pod` and `container` are ids, or
 * names, of which the first that is not removed counts. */

/* Takes the pod once 0 was returned. It has an id; its pid is set. NRI_E_STATE: that id is taken.
 */
int node_run_pod(struct node *node, nri_pod *pod, node_done done, void *user);
/* What is NULL is not changed; the resources are copied. */
int node_update_pod(struct node *node, const char *pod, const nri_resources *overhead,
                    const nri_resources *resources, node_done done, void *user);
int node_stop_pod(struct node *node, const char *pod, node_done done, void *user);
int node_remove_pod(struct node *node, const char *pod, node_done done, void *user);

/* Takes the container once 0 was returned. It has an id; state, pid, pod sandbox id and times are
 * set. */
int node_create(struct node *node, const char *pod, nri_container *container, node_done done,
                void *user);
int node_start_container(struct node *node, const char *container, node_done done, void *user);
/* The resources are copied. */
int node_update_container(struct node *node, const char *container, const nri_resources *resources,
                          node_done done, void *user);
int node_stop_container(struct node *node, const char *container, node_done done, void *user);
int node_exit_container(struct node *node, const char *container, int32_t exit_code, node_done done,
                        void *user);
int node_remove_container(struct node *node, const char *container, node_done done, void *user);

/*
 * The runtime goes away (plugins lose their connections, what they are asked fails with
 * NRI_E_STATE), stays away for `away_ms`, and comes back: `done` is called when it is ready.
 * What operations have yet to do waits for that. Plugins launched from the directory are launched
 * again; those of node_start_child() are left alone: they connect again, or end, as they like.
 */
int node_restart(struct node *node, uint64_t away_ms, node_done done, void *user);

/* ---- plugins as processes ---- */

/*
 * Starts a plugin of a command line (child.h says how it learns of the socket). `done` is called
 * when it is connected and synchronised; with NRI_E_CLOSED when it ended before, NRI_E_TIMEOUT when
 * that takes longer than options->timeout_ms. *child (may be NULL) lives until node_close(), or
 * until child_ended returned. NRI_E_NOT_FOUND (no such program), NRI_E_PERMISSION, NRI_E_NOMEM,
 * NRI_E_IO, NRI_E_STATE: `done` is not called; node_error() says why.
 */
int node_start_child(struct node *node, const struct child_options *options, struct child **child,
                     node_done done, void *user);
/* The process of a connected plugin that node_start_child() started; NULL: it is none of those. */
struct child *node_child_of(const struct node *node, const nri_runtime_plugin *plugin);
/* Sends SIGKILL, SIGTERM, SIGSTOP ("pause") or SIGCONT to a plugin's process, whatever started it.
 * NRI_E_NOT_FOUND (its process is not known, or is this one), NRI_E_PERMISSION. */
int node_signal_plugin(struct node *node, const nri_runtime_plugin *plugin, int number);
/*
 * Adds a plugin of the node's own that is subscribed to all events and answers them with nothing,
 * but reads at most `bytes_per_second` of what it is sent. `done` is called when it is
 * synchronised. It goes with the runtime, also at a restart.
 */
int node_add_slow_reader(struct node *node, const char *name, const char *index,
                         uint64_t bytes_per_second, node_done done, void *user);

/*
 * Before a node is made: standard output becomes standard error for all processes that the runtime
 * starts, and ctl->out a stream of its own, so that what plugins print never gets into a result.
 * NRICTL_OK, or NRICTL_ENVIRONMENT after a message.
 */
struct nrictl;
int node_keep_output(struct nrictl *ctl);

#endif
