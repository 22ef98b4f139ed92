/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a core and its requests share, and other threads may touch: the queue of completed requests,
 * and what of the core a request may need. It is counted, because requests may outlive their core.
 *
 * The happy path: nri_request_complete() on any thread puts the request into the queue and wakes
 * the loop; there nri_core_drain() takes the queue and replies. Failure modes: once the connection
 * is gone, requests are marked closed, and nothing enters the queue any more; once the core is
 * gone, plugin, host and wake are NULL.
 */
#ifndef NRI_PLUGIN_SHARED_H
#define NRI_PLUGIN_SHARED_H

#include <stdatomic.h>

#include <nri/plugin.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/host.h"
#include "base/lock.h"
#include "base/refcount.h"
#include "plugin/stats.h"
#include "plugin/task.h"

struct nri_core_config;

struct nri_shared {
    struct nri_refcount refs; /* the core's, and one for each request */
    struct nri_alloc alloc;
    struct nri_lock lock; /* of all down to the next lock, and of each request's state */
    nri_plugin *plugin;
    const struct nri_host *host;
    /* The queue. Written with the lock held, but that it is empty is seen without. */
    nri_request *_Atomic head;
    nri_request *tail;
    /* Held while `wake` is called, so that it cannot be called after nri_shared_detach(). A lock of
     * its own, because `lock` is taken for a few instructions only. */
    struct nri_lock wake_lock; /* and so it is with `offload` and nri_shared_end_offload() */
    void (*wake)(void *user);
    void *wake_user;
    int (*offload)(void *user, struct nri_task *task); /* as nri_core_config.offload */
    void *offload_user;
    _Atomic uint64_t late[NRI_STATS_ROWS]; /* completions after the guard's answer, by event */
    atomic_size_t sync_bytes; /* memory of delivered Synchronizes that are not yet released */
    /* Requests that are over for the runtime and not yet released, and what decoding took for them:
     * the deadline guard answered, or their connection went. */
    atomic_size_t held_count, held_bytes;
    /* The requests of the library's own events, made beforehand, so that telling a plugin of the
     * end needs no memory. */
    struct nri_arena arena;
    nri_request *connected, *disconnected;
    struct nri_shared_reason { /* a text of base/text.h */
        uint32_t length;
        char text[NRI_ERROR_TEXT_SIZE];
    } reason;
};

/* NRI_E_NOMEM. */
int nri_shared_new(struct nri_shared **shared, const struct nri_core_config *config);
void nri_shared_ref(struct nri_shared *shared);
void nri_shared_unref(struct nri_shared *shared);
/* The core goes: what belongs to it becomes NULL. When this returns, `wake` does not run and will
 * not. */
void nri_shared_detach(struct nri_shared *shared);

/* With the lock held: puts a request at the queue's end. */
void nri_shared_push(struct nri_shared *shared, nri_request *request);
/* Takes the whole queue; the requests hang together by their `next`. */
nri_request *nri_shared_take(struct nri_shared *shared);
/* Wakes the loop from any thread, with no lock held. */
void nri_shared_wake(struct nri_shared *shared);

/* Hands a task to the pool of threads. As nri_core_config.offload; NRI_E_STATE without one. Any
 * thread. */
int nri_shared_offload(struct nri_shared *shared, struct nri_task *task);
/* The pool is about to go: when this returns, it is not used and will not be. */
void nri_shared_end_offload(struct nri_shared *shared);

/* From now to its release the request counts as held: once, when it is over for the runtime, and
 * before anybody can release it. */
void nri_shared_hold(struct nri_shared *shared, nri_request *request);
/* The release of a request that counts as held. Any thread. */
void nri_shared_let_go(struct nri_shared *shared, size_t bytes);
/* A completion that came after the guard's answer. Any thread. */
void nri_shared_late(struct nri_shared *shared, enum nri_event event);

nri_plugin *nri_shared_plugin(struct nri_shared *shared);
/* Now, or 0 when there is no clock any more. */
uint64_t nri_shared_now(struct nri_shared *shared);
void nri_shared_set_reason(struct nri_shared *shared, const char *text);

#endif
