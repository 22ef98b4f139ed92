/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unsolicited updates that are not sent at once: for want of a runtime, or because they are made on
 * the thread of handlers.
 *
 * Happy path: nri_core_update_later() packs the list on the caller's thread -> the loop's thread
 * takes it with nri_update_turn() and sends it, at once or when a runtime has configured the plugin
 * -> the reply, or a copy of it for the thread of handlers -> the callback. Failure modes, each
 * told to the callback, once: the time-out, which counts from the call; no runtime, for a call that
 * does not wait for one; the connection ends after the sending; the run ends.
 */
#ifndef NRI_PLUGIN_UPDATE_QUEUE_H
#define NRI_PLUGIN_UPDATE_QUEUE_H

#include <stdatomic.h>

#include "plugin/core.h"

struct nri_update_call;

struct nri_update_queue {
    struct nri_update_call *posted, **posted_end;   /* nri_shared.lock */
    struct nri_update_call *waiting, **waiting_end; /* the loop's thread */
    atomic_size_t held; /* calls whose callback has not returned: bounds them all */
    atomic_bool closed; /* the run ends: none is taken */
};

void nri_update_queue_init(struct nri_update_queue *queue);
/* Takes what was posted, sends what can be sent, tells what is over. */
void nri_update_turn(struct nri_core *core);
/* Whether there are some that are not sent yet: one that is sent now would overtake them. */
bool nri_update_waits(const struct nri_core *core);
/* When one that waits runs out of time; NRI_NEVER. */
uint64_t nri_update_deadline(const struct nri_core *core);

#endif
