/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A request inside the library: it lives in the arena of its call, so that it costs no allocation,
 * and gives the call back with its last reference.
 *
 * Its state changes under nri_shared.lock and only forward:
 *     HANDED -> ANSWERED             the handler returned
 *     HANDED -> ANSWERED             the deadline guard answered; builders are not touched
 *     HANDED -> QUEUED -> ANSWERED   completed, or dropped without a reply, on any thread
 *     HANDED or QUEUED -> CLOSED     the connection went first
 * While QUEUED the queue holds a reference. A request without a call is one of the library's own
 * events: it lives in nri_shared, is ANSWERED from the start, and its first reference is never
 * dropped.
 */
#ifndef NRI_PLUGIN_REQUEST_H
#define NRI_PLUGIN_REQUEST_H

#include <nri/request.h>

#include "base/refcount.h"
#include "model/model.h"
#include "plugin/method.h"
#include "plugin/shared.h"
#include "plugin/task.h"
#include "rpc/rpc.h"

struct nri_core;

enum nri_request_state {
    NRI_REQUEST_HANDED,
    NRI_REQUEST_QUEUED,
    NRI_REQUEST_ANSWERED,
    NRI_REQUEST_CLOSED
};

/* One part of a Synchronize, in the arena of its call. */
struct nri_sync_part {
    struct nri_sync_part *next;
    struct nri_rpc_call
        *call; /* given back with the request; NULL for the part whose call is the request's own */
    const Nri__Pkg__Api__V1alpha1__SynchronizeRequest *message;
};

/* Where the last look-up by index was, so that going through all costs a step each. */
struct nri_sync_cursor {
    const struct nri_sync_part *part;
    size_t first; /* index of the part's first item */
};

struct nri_request {
    struct nri_refcount refs;
    size_t own_refs; /* of a request without a call; nri_shared.lock */
    struct nri_shared *shared;
    struct nri_rpc_call *call;
    struct nri_arena *arena; /* the call's, or nri_shared's */
    const struct nri_method *method;
    enum nri_event event;
    enum nri_request_state state;
    bool guarded;                               /* answered in the plugin's place */
    bool kept, orphaned;                        /* the guard is at it; and is the last one */
    bool held;                                  /* counts in nri_shared.held_count */
    atomic_bool offloaded;                      /* its task is the pool's, or was */
    int result;                                 /* of nri_request_complete() */
    struct nri_request *next;                   /* in the queue */
    struct nri_request *open_next, **open_link; /* in nri_core.open; the loop's thread */

    const ProtobufCMessage *message;
    const nri_pod *pod;
    const nri_container *container;
    const nri_resources *resources, *overhead;
    nri_adjustment *adjustment;
    nri_updates *updates;
    int adjustment_error, updates_error; /* theirs, when they were sealed */

    struct nri_sync_part *parts;
    size_t sync_bytes; /* their part of nri_shared.sync_bytes */
    size_t pods, containers;
    struct nri_sync_cursor pod_cursor, container_cursor;
    bool more;
    bool deadline_assumed;

    uint32_t derived, events; /* of Configure: those with a handler, those wanted */
    uint64_t deadline;
    uint64_t guard_at;     /* when it is answered in the plugin's place; NRI_NEVER */
    struct nri_task task;  /* for the threads of handlers and of offloaded work */
    struct nri_core *core; /* while a task of it waits or runs */
    int (*work)(nri_request *request, void *user);
    void *work_user;
    int reason;            /* of DISCONNECTED */
    uint64_t next_attempt; /* of DISCONNECTED, in ms */

    int failure;              /* the first nri_request_fail(), 0 for none */
    bool failure_is_own;      /* its text is the library's, not the plugin's author's */
    const char *failure_text; /* NULL: the code's own */
};

/* The longest text of a refusal, in bytes: with it a status is one mux frame. */
#define NRI_REFUSAL_MAX ((size_t)4000)

/*
 * Makes the request of a call. NULL when the call's arena has no room or memory (arena->failure).
 * `event` and `method` say what the plugin sees; the message is laid out as `layout` says, which
 * differs for StateChange.
 */
nri_request *nri_request_make(struct nri_core *core, struct nri_rpc_call *call,
                              enum nri_event event, const struct nri_method *method,
                              const struct nri_method *layout);
/* Makes one of the library's own events; NULL when there is no memory. */
nri_request *nri_request_make_own(struct nri_shared *shared, enum nri_event event);
/* HANDED -> ANSWERED: true when the caller is now the one who replies. Seals the builders. */
bool nri_request_claim(nri_request *request);
/* HANDED -> ANSWERED for the guard: the builders may be in use by another thread, and are left
 * alone. When true, the request stays until nri_request_let_go(), whoever drops its last reference
 * meanwhile. */
bool nri_request_take_over(nri_request *request);
void nri_request_let_go(nri_request *request);
/* Fails with a text of the library's own; the first failure stays. */
void nri_request_failf(nri_request *request, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A code that the plugin gave, 0 for success: NRI_E_INTERNAL for what is none, with a text that
 * says so, such as "the handler of" "CreateContainer" "returned" "-77". */
int nri_request_take_code(nri_request *request, int code, const char *before, const char *after);
/* A copy of a text that a peer can read: UTF-8, at most NRI_REFUSAL_MAX bytes. NULL when there is
 * no room even for a short one. */
char *nri_request_text(struct nri_arena *arena, const char *text);

#endif
