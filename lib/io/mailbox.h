/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other threads and signal handlers may do to a plugin or a runtime: wake its loop, stop it,
 * post functions to it.
 *
 * The bell is an eventfd of the handle's own and no uv_async_t, because an async handle belongs to
 * one loop and goes with it, while nri_plugin_stop() must be safe at any time between
 * nri_plugin_new() and nri_plugin_close(), on any loop or none.
 *
 * Happy path: ring() marks the mailbox and, when the loop may be asleep, writes the eventfd -> the
 * loop's thread calls begin(), looks for work of every kind, and end(): true means nothing was rung
 * meanwhile, and it may sleep. While it works, ring() costs no system call: the handlers' own
 * replies ring on every event. Failure modes: writing an eventfd fails only when its counter is
 * full, and then it is readable anyway.
 */
#ifndef NRI_IO_MAILBOX_H
#define NRI_IO_MAILBOX_H

#include <stdatomic.h>

#include <nri/plugin.h>

#include "base/error.h"
#include "base/lock.h"

struct nri_letter;

/* What is posted: of the owner's kind. */
union nri_letter_fn {
    void (*plugin)(nri_plugin *plugin, void *arg);
    void (*runtime)(nri_runtime *runtime, void *arg);
};
typedef void (*nri_mailbox_call)(void *owner, union nri_letter_fn fn, void *arg);

struct nri_mailbox {
    struct nri_alloc alloc;
    nri_mailbox_call call; /* calls what was posted */
    int fd;                /* polls readable when rung in the loop's sleep */
    atomic_int state;
    atomic_bool stop;
    atomic_bool filled;   /* something was posted; written with the lock held */
    struct nri_lock lock; /* of what follows */
    struct nri_letter *first, **end;
    bool closed;
};

int nri_mailbox_init(struct nri_mailbox *mailbox, const struct nri_alloc *alloc,
                     nri_mailbox_call call, struct nri_error *error);
void nri_mailbox_fini(struct nri_mailbox *mailbox); /* after nri_mailbox_close() */

/* Any thread, and signal handlers. */
void nri_mailbox_ring(struct nri_mailbox *mailbox);
void nri_mailbox_stop(struct nri_mailbox *mailbox);
/* Any thread. 0, NRI_E_NOMEM, NRI_E_STATE (closed). */
int nri_mailbox_post(struct nri_mailbox *mailbox, union nri_letter_fn fn, void *arg);

/* The loop's thread. */
static inline bool nri_mailbox_stop_wanted(const struct nri_mailbox *mailbox)
{
    return atomic_load(&mailbox->stop);
}
bool nri_mailbox_take_stop(struct nri_mailbox *mailbox); /* and forgets it */
/* Before looking for work. `readable`: the eventfd polled readable, so that it is emptied. */
void nri_mailbox_begin(struct nri_mailbox *mailbox, bool readable);
/* After it: true when nothing was rung since, and the loop may sleep; else begin again, or defer.
 */
bool nri_mailbox_end(struct nri_mailbox *mailbox);
void nri_mailbox_defer(
    struct nri_mailbox *mailbox); /* to the loop's next turn, so that others get theirs */
/* Calls what was posted up to now, in order. What these functions post waits for the next time, so
 * that none can keep the loop. */
void nri_mailbox_deliver(struct nri_mailbox *mailbox, void *owner);
/* Takes no more, and delivers the rest. */
void nri_mailbox_close(struct nri_mailbox *mailbox, void *owner);

#endif
