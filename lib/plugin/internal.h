/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core's structure, and what its files call of one another.
 */
#ifndef NRI_PLUGIN_INTERNAL_H
#define NRI_PLUGIN_INTERNAL_H

#include "plugin/core.h"
#include "plugin/method.h"
#include "plugin/request.h"
#include "plugin/shared.h"
#include "plugin/update_queue.h"

#define NRI_REQUEST_TIMEOUT_MS                                                                     \
    UINT64_C(2000) /* assumed when neither call nor Configure name one                             \
                    */
#define NRI_REGISTRATION_TIMEOUT_MS UINT64_C(5000) /* what Go runtimes that don't tell have */
#define NRI_UNKNOWN_VERSION         "unknown"
/* Of a sentence on a missed deadline. */
#define NRI_MISSED_SIZE 512
/* Of an event with the ids of its pod sandbox and container. */
#define NRI_WHAT_SIZE 320
/* The longest name that a text of the library's own starts with: NRI has no limit for names, and
 * the text behind it must not get lost. */
#define NRI_LABEL_SIZE 128
/* What RegisterPlugin tells. Go peers compare versions as Go modules have them: with the "v". */
#define NRI_OWN_VERSION "v0.12.2"

/* A Synchronize that is being collected. */
struct nri_sync {
    struct nri_sync_part *head, *tail;
    size_t parts, pods, containers;
    size_t bytes;     /* memory that the parts hold */
    size_t length;    /* of the parts on the wire */
    size_t empty_run; /* empty parts in a row */
    bool refused;     /* over a limit: the rest is refused too */
};

/* The last reply that went out too late. */
struct nri_missed {
    uint64_t replied; /* when; 0: there was none */
    char text[NRI_MISSED_SIZE];
};

/* The texts of one Configure. They never change: the next ones take their place, and these go once
 * the thread of handlers is through with all that may have seen them. */
struct nri_told {
    struct nri_task task; /* first; lets it go, on the thread of handlers */
    struct nri_alloc alloc;
    struct nri_arena arena; /* of the texts */
    const char *runtime_name, *runtime_version, *nri_version;
    bool version_inferred;
};

struct nri_core {
    struct nri_alloc alloc;
    struct nri_plugin_ops ops;
    struct nri_core_config config; /* its texts and ops point into the core */
    struct nri_log *log;
    struct nri_shared *shared;
    struct nri_arena arena;     /* of the texts of config, and the next */
    const char *own_version;    /* NRI_OWN_VERSION as a text of base/text.h */
    char label[NRI_LABEL_SIZE]; /* "NN-name": runtimes add no name to a refusal */
    uint32_t derived;           /* events that have a handler */
    uint64_t now;               /* of the driver's last call */
    unsigned depth;             /* handlers that are running on the loop's thread */
    uint32_t state_events;      /* what the state cache needs */
    struct nri_stats stats;
    _Atomic uint64_t busy_until; /* when the handler that runs counts as stuck; 0: none runs */
    atomic_size_t queued;        /* requests that wait for the thread of handlers */
    bool misses;                 /* the state cache has a batch that may be open */
    bool full;                   /* it was said that the plugin holds too many old requests */
    atomic_size_t open_count;    /* of `open`, which belongs to the loop's thread */
    atomic_bool bypass, synchronized;
    struct nri_update_queue update_queue;

    /* Of one connection. */
    struct nri_rpc *rpc;
    _Atomic enum nri_plugin_state state; /* written on the loop's thread */
    uint64_t registration_deadline;
    bool registered, configure_came, configured, shutdown_came;
    atomic_bool serves;       /* configured, and nothing has ended it */
    uint64_t ready_since;     /* 0: not yet */
    struct nri_error failure; /* code 0: the connection may go on */
    nri_request *open;        /* requests without an answer */
    uint64_t guard_at;        /* none of them is due earlier; holds while there are some */
    struct nri_sync sync;
    uint64_t settled_features; /* the runtime has them, or it was said that it ignores them */
    struct nri_missed missed;

    /* What Configure told; kept after the end, until the next connection. Written on the loop's
     * thread, read there and on that of handlers; never NULL. */
    _Atomic(const struct nri_told *) told;
    _Atomic uint64_t registration_timeout_ms, request_timeout_ms; /* 0: not told */
    uint32_t wanted;         /* derived, or narrowed by on_configure */
    _Atomic uint32_t events; /* and clipped to what the runtime knows */
};

/* core.c */
void nri_core_fail(struct nri_core *core, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* REGISTERING -> READY, when both halves are done. */
void nri_core_become_ready(struct nri_core *core);
#define nri_core_log(core, level, ...)                                                             \
    nri_log_write((core)->log, (core)->now, (level), NULL, __VA_ARGS__)

/* register.c */
int nri_register_send(struct nri_core *core, struct nri_error *error);
void nri_register_check_deadline(struct nri_core *core);

/* configure.c */
void nri_configure_init(struct nri_core *core); /* nothing is told */
void nri_configure_reset(struct nri_core *core);
void nri_configure_fini(struct nri_core *core);
void nri_configure_request(struct nri_core *core, struct nri_rpc_call *call);
/* Before the reply: the mask to answer with, or why Configure is refused after all. */
int nri_configure_mask(struct nri_core *core, const nri_request *request, uint32_t *mask,
                       struct nri_error *error);
/* After the reply. */
void nri_configure_done(struct nri_core *core, const nri_request *request, uint32_t mask);
void nri_configure_refused(struct nri_core *core, int code, const char *text);

/* sync.c */
void nri_sync_request(struct nri_core *core, struct nri_rpc_call *call);
void nri_sync_drop(struct nri_core *core);

/* dispatch.c */
void nri_dispatch_call(void *user, struct nri_rpc_call *call); /* nri_rpc_config.request */
/* Runs a handler (NULL counts as one that returns 0) and replies, unless it returned NRI_PENDING.
 * Takes the reference. */
void nri_dispatch_run(struct nri_core *core, nri_request *request, nri_handler handler);
void nri_dispatch_drain(struct nri_core *core);
/* The connection is gone: no request can be answered any more. */
void nri_dispatch_close(struct nri_core *core);

/* handler.c */
/* Runs a handler (may be NULL) with the state cache's hooks around it, on this thread. */
int nri_handler_call(struct nri_core *core, nri_request *request, nri_handler handler);
/* Hands it to the thread of handlers, which completes the request. Takes the reference. */
void nri_handler_queue(struct nri_core *core, nri_request *request, nri_handler handler);
/* No handler is to see it: tells the state cache, and answers by the deadline guard's policy. Takes
 * the reference. */
void nri_handler_pass(struct nri_core *core, nri_request *request);
/* A request was refused before the state cache saw it: it passes for synchronised no more. */
void nri_handler_lost(struct nri_core *core, const char *why);
/* Runs the handler (may be NULL) of a library event, or hands it over. */
void nri_handler_own(struct nri_core *core, nri_request *request, nri_handler handler);

/* update.c */
#define NRI_METHOD_UPDATE_CONTAINERS 1u /* in the service Runtime */
uint64_t nri_update_timeout(const struct nri_core *core, uint64_t timeout); /* with defaults */
int nri_update_check(const nri_updates *updates, struct nri_error *error);
int nri_update_check_service(const struct nri_core *core, struct nri_error *error);
void nri_update_count(struct nri_core *core, const nri_update_result *result); /* and log */

/* missed.c */
/* "CreateContainer (pod P, container C)", with what of the two the event has. */
void nri_missed_describe(const nri_request *request, char text[NRI_WHAT_SIZE]);
/* A reply is about to go out: counts its time, says so when that is long, and remembers it when it
 * is past the deadline. */
void nri_missed_reply(struct nri_core *core, const nri_request *request);
/* What the peer closed the connection for, if that was a missed deadline: a sentence in `text`, ""
 * when none was missed. Before nri_dispatch_close(). */
void nri_missed_explain(const struct nri_core *core, char text[NRI_MISSED_SIZE]);

/* reply.c */
void nri_reply_send(struct nri_core *core, nri_request *request,
                    int code); /* for a claimed or queued request */
void nri_reply_empty(struct nri_core *core,
                     struct nri_rpc_call *call); /* no handler: success, nothing in it */
/* For a request that was taken over: an empty success, or a refusal. */
void nri_reply_in_place(struct nri_core *core, nri_request *request, bool refused);
void nri_reply_refuse(struct nri_core *core, struct nri_rpc_call *call, int code, const char *text);

#endif
