/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a state cache learns of events that no handler sees, because too many wait for one that does
 * not return.
 *
 * Happy path: the loop's thread notes the event in the batch that is open, or begins one, which is
 * a task for the thread of handlers -> that runs it in its turn, between the handlers that were
 * there before and those that came after. A batch keeps the last that was told of each object, so
 * that its size is that of what lives, however long the handler stays away. Failure modes: no
 * memory for a note (said by the caller; the state does not pass for synchronised any more).
 */
#ifndef NRI_PLUGIN_STATE_MISSED_H
#define NRI_PLUGIN_STATE_MISSED_H

#include <nri/request.h>
#include <nri/state.h>

#include "base/alloc.h"
#include "plugin/task.h"

struct nri_state_batch;

/* On the loop's thread, with its allocator. *task is set to what is to be queued, or NULL. 0 or
 * NRI_E_NOMEM. */
int nri_state_missed(nri_state *state, const struct nri_alloc *alloc, nri_request *request,
                     struct nri_task **task);
/* A handler is queued: what is missed from now on comes after it. On the loop's thread. */
void nri_state_missed_end(nri_state *state);

/* An event that could not be kept. As nri_state_hooks.lose. */
bool nri_state_lose(nri_state *state);

#endif
