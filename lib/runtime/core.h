/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime side's state machine: plugins in order, events along the chain, synchronisation,
 * failure policy. Sans-IO: no clock, no system call. lib/io drives it; tests drive it with a clock
 * and plugins of their own.
 *
 * Happy path: nri_rt_attach() -> nri_rt_input() brings RegisterPlugin -> Configure goes out, its
 * reply has the events -> the plugin stands in the chain and waits until no older event is under
 * way -> what `enumerate` tells goes out in parts -> the plugin is asked about events.
 * nri_rt_call() puts an event into the chain; each reply is merged, and nri_rt_process() hands it
 * on to the next plugin, then to the validators, then calls `done`. Failure modes: a plugin that is
 * to go has nri_rt_should_close(); the driver writes what is queued, closes, and calls
 * nri_rt_ended(), once. What it was asked goes on by the failure policy.
 *
 * After each of the calls below that may bring work the driver calls nri_rt_process(), where all of
 * the user's functions are called from but `update` and `evict`, which nri_rt_input() calls too,
 * and `plugin_lost`, which nri_rt_ended() calls. Everything is for the loop's thread, but what
 * config.wake says.
 */
#ifndef NRI_RUNTIME_CORE_H
#define NRI_RUNTIME_CORE_H

#include <nri/runtime.h>
#include <protobuf-c/protobuf-c.h>

#include "base/error.h"
#include "base/host.h"
#include "base/log.h"
#include "rpc/rpc.h"
#include "runtime/default_validator.h"

struct nri_rt;

/* Resolved options. Texts are copied. */
struct nri_rt_config {
    const char *name, *version, *nri_version;
    struct nri_runtime_ops ops; /* whole */
    void *user;                 /* of the ops */
    nri_runtime *runtime;       /* what callbacks hand out */
    struct nri_alloc alloc;
    const struct nri_host *host; /* must outlive the core */
    struct nri_log *log;         /* must outlive the core */
    struct nri_rpc_limits limits;
    uint64_t registration_timeout, request_timeout; /* ns */
    size_t max_outstanding, max_plugins, max_calls;
    size_t max_merge_bytes, max_sync_bytes;
    struct nri_failure_policy failure;
    uint8_t merge_policy[NRI_MERGE_FIELDS];
    bool go_compatible;
    /* Of nri_default_validator_new(); must outlive the core. NULL: none. */
    const struct nri_default_validator *validator;
    /* There is work for nri_rt_process(), or a deadline moved. Any thread: built-in plugins
     * complete requests anywhere. It must not call back. */
    void (*wake)(void *user);
    void *wake_user;
};

/* Where a plugin comes from. Texts are copied. */
struct nri_rt_origin {
    enum nri_plugin_origin kind;
    const char *name, *index; /* of a launched plugin; NULL: it tells them when it registers */
    const char *config;       /* what Configure tells; NULL: "" */
    const char *peer;         /* what it is called until it has a name, such as "pid 17" */
    int64_t pid;              /* 0: not known */
    void *driver;             /* the driver's own */
};

/* NRI_E_NOMEM; what host->random returned. */
int nri_rt_new(struct nri_rt **rt, const struct nri_rt_config *config, struct nri_error *error);
/* After nri_rt_ended() of all plugins. Not in a callback. NULL is ignored. */
void nri_rt_free(struct nri_rt *rt);

/* ---- what the driver tells ---- */

/* A plugin's connection stands. NRI_E_BUSY (max_plugins), NRI_E_STATE (stopping), NRI_E_NOMEM. */
int nri_rt_attach(struct nri_rt *rt, const struct nri_rt_origin *origin, uint64_t now,
                  nri_runtime_plugin **plugin, struct nri_error *error);
/* The driver's own of nri_rt_attach(). */
void *nri_rt_driver(const nri_runtime_plugin *plugin);
void nri_rt_input(nri_runtime_plugin *plugin, const uint8_t *bytes, size_t count, uint64_t now);
void nri_rt_output(nri_runtime_plugin *plugin, const uint8_t **bytes, size_t *count);
void nri_rt_written(nri_runtime_plugin *plugin, size_t count);
/* Whether the connection is to be closed once what is queued was written, as far as that goes. */
bool nri_rt_should_close(const nri_runtime_plugin *plugin);
/* The connection is closed. `code` and `text` count unless the core had a reason of its own. The
 * driver must not use the plugin any more. */
void nri_rt_ended(nri_runtime_plugin *plugin, int code, const char *text, uint64_t now);
/* Whether the peer's EOF now would cut a message in two. */
bool nri_rt_in_message(const nri_runtime_plugin *plugin);
/* Has the connection closed; the first reason stays. `code` 0: the runtime wants it so. */
void nri_rt_drop(nri_runtime_plugin *plugin, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Does what there is to do, and calls the user's functions. */
void nri_rt_process(struct nri_rt *rt, uint64_t now);
uint64_t nri_rt_deadline(const struct nri_rt *rt); /* NRI_NEVER for none */
void nri_rt_tick(struct nri_rt *rt, uint64_t now); /* before nri_rt_process() */

/* Events under way fail, no more are taken, plugins get Shutdown, and should close when they have
 * answered or `grace` ns have passed. Again: only to shorten the grace. */
void nri_rt_shutdown(struct nri_rt *rt, uint64_t grace, uint64_t now);
/* How many plugins there are in any state, for the driver to wait for none. */
size_t nri_rt_plugin_count(const struct nri_rt *rt);
/* How many of the launched and built-in ones have yet to register and be configured, or, with
 * `synced`, to be synchronised. Those that failed do not count. */
size_t nri_rt_starting_count(const struct nri_rt *rt, bool synced);

/* ---- what nri_runtime's functions do ---- */

int nri_rt_call(struct nri_rt *rt, const struct nri_runtime_event *event, nri_runtime_done done,
                void *user, uint64_t now, struct nri_error *error);
/* Holds of the driver's count too, but are waited for however long they last. */
void nri_rt_hold_sync(struct nri_rt *rt, bool drivers, uint64_t now);
int nri_rt_release_sync(struct nri_rt *rt, bool drivers);
int nri_rt_set_failure_policy(struct nri_rt *rt, const char *plugin,
                              const struct nri_failure_policy *policy, struct nri_error *error);
int nri_rt_add_builtin(struct nri_rt *rt, const struct nri_plugin_ops *ops, const char *name,
                       const char *index, const char *config, void *user, uint64_t now,
                       struct nri_error *error);
/* As nri_runtime_metrics(): `text` is not NULL. */
int nri_rt_metrics(const struct nri_rt *rt, char **text, size_t *length);
nri_runtime_plugin *nri_rt_next_plugin(const struct nri_rt *rt, const nri_runtime_plugin *plugin);
/* What the plugin of a step answered, as it came: a CreateContainerResponse,
 * UpdateContainerResponse or StopContainerResponse that lives as the outcome does. NULL: the step
 * has no answer that could be merged. */
const ProtobufCMessage *nri_rt_outcome_reply(const nri_outcome *outcome, size_t step);
/* The id of the container that the event is about; "" for none. */
const char *nri_rt_outcome_container(const nri_outcome *outcome);

#endif
