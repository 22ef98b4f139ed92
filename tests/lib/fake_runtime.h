/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime for a plugin's core, without sockets: an nri_rpc in the runtime's role, a clock that
 * the test sets, a log that the test reads, and short ways to say what a runtime says. Every byte
 * of either side passes the model of the strict Go reader (rpc_pair.h).
 *
 * The usual test: fake_runtime_init(), changes to `config`, fake_runtime_start(), calls and events,
 * fake_runtime_fini(). fake_runtime_connect() and fake_runtime_configure() are the halves of
 * fake_runtime_start().
 */
#ifndef NRI_TESTS_FAKE_RUNTIME_H
#define NRI_TESTS_FAKE_RUNTIME_H

#include <stdatomic.h>

#include "plugin/core.h"
#include "proto/nri.pb-c.h"
#include "rpc_pair.h"

#define FAKE_PEER "/run/fake/nri.sock" /* what the peer is called in errors */

struct fake_record {
    enum nri_log_level level;
    char text[640], event[64], pod[64], container[64];
};

struct fake_runtime {
    /* May be changed before fake_runtime_connect(). */
    struct nri_core_config config;
    const char *name, *version, *nri_version; /* told in Configure */
    const char *config_text;
    int64_t registration_timeout, request_timeout; /* ms, told in Configure; 0: not told */
    int refuse_register;                           /* a gRPC code; 0: RegisterPlugin succeeds */
    const char *refusal;
    bool hold_register;          /* RegisterPlugin goes to peer.held */
    bool hold_updates;           /* so does UpdateContainers */
    int64_t call_timeout;        /* timeout_nano of the runtime's calls; 0: absent */
    const char *const *metadata; /* of the runtime's calls */
    size_t metadata_count;

    struct nri_plugin_ops ops;
    struct nri_core *core; /* made by fake_runtime_connect() when it is NULL */
    struct nri_error error;
    struct nri_host host;
    struct nri_log log;
    uint64_t now; /* the clock; link.now follows it */
    uint64_t random;
    atomic_size_t wakes;
    struct rpc_peer peer;
    struct rpc_link link; /* side 0 is the runtime, side 1 the core */
    bool connected;
    struct nri_arena arena; /* of messages and outcomes; goes with fake_runtime_fini() */

    /* What the plugin said. */
    size_t registrations;
    char registered_name[64], registered_index[8], registered_version[32];
    size_t updates;                                                /* UpdateContainers that came */
    Nri__Pkg__Api__V1alpha1__UpdateContainersRequest *last_update; /* a copy */
    const char *const *fail_updates;                               /* ids to answer as failed */
    size_t fail_updates_count;

    struct fake_record *records;
    size_t record_count, record_room;
};

/* Everything zero but what a plugin's core needs: a config with large limits and 5 s to register.
 * `user` is what handlers get. */
void fake_runtime_init(struct fake_runtime *fr, void *user);
/* Ends what is connected, as a local stop, and frees all. */
void fake_runtime_fini(struct fake_runtime *fr);

/* Makes the core if there is none, and connects it; RegisterPlugin is answered, unless held. */
int fake_runtime_connect(struct fake_runtime *fr);
/* Sends Configure and returns its outcome. */
struct rpc_outcome *fake_runtime_configure(struct fake_runtime *fr);
/* Both; ends the program when the plugin is not READY then. */
void fake_runtime_start(struct fake_runtime *fr);
/* The connection goes: the core is told, and the runtime's side closes. */
void fake_runtime_disconnect(struct fake_runtime *fr, int reason, const char *text);

/* Moves bytes both ways until nothing moves, and drains the core. */
void fake_runtime_run(struct fake_runtime *fr);
/* Sets the clock forward and lets both sides look at it. */
void fake_runtime_advance(struct fake_runtime *fr, uint64_t ns);

/* Calls a method of Plugin and runs; the outcome's count is 0 while it is pending. */
struct rpc_outcome *fake_runtime_call(struct fake_runtime *fr, const char *method,
                                      const ProtobufCMessage *message);
/* Tells an event (1 to 14), with pod and container, by its own method. */
struct rpc_outcome *fake_runtime_event(struct fake_runtime *fr, enum nri_event event);
/* The same through StateChange; any number. */
struct rpc_outcome *fake_runtime_state_change(struct fake_runtime *fr, int event);
/* A Synchronize with `pods` pods "pod0".. and `containers` containers "ctr0".., counted from the
 * given starts. */
struct rpc_outcome *fake_runtime_sync(struct fake_runtime *fr, size_t first_pod, size_t pods,
                                      size_t first_container, size_t containers, bool more);
/* Replies success to a call that was held. */
void fake_runtime_reply(struct fake_runtime *fr, struct nri_rpc_call *call);

/* Messages in the runtime's arena. */
char *fake_text(struct fake_runtime *fr, const char *text);
Nri__Pkg__Api__V1alpha1__PodSandbox *fake_pod(struct fake_runtime *fr, const char *id,
                                              const char *name);
Nri__Pkg__Api__V1alpha1__Container *fake_container(struct fake_runtime *fr, const char *id,
                                                   const char *pod, const char *name);

/* How many records there are of a level, and the last one whose text holds a part (NULL: none). */
size_t fake_runtime_logged(const struct fake_runtime *fr, enum nri_log_level level);
const struct fake_record *fake_runtime_find_record(const struct fake_runtime *fr, const char *part);

/* Ends the program with a text when something that only a broken test can cause goes wrong. */
#define fake_require(what)                                                                         \
    do {                                                                                           \
        if (!(what))                                                                               \
            fake_broken(__FILE__, __LINE__, #what);                                                \
    } while (0)
void fake_broken(const char *file, int line, const char *what);

#endif
