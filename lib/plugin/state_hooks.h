/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plugin calls of its state cache. Pointers, so that a program without a state cache need
 * not hold its code: every nri_state begins with one to this table. All of it is called on the
 * thread that handlers run on, in the order of the events, but for what says otherwise.
 */
#ifndef NRI_PLUGIN_STATE_HOOKS_H
#define NRI_PLUGIN_STATE_HOOKS_H

#include <nri/request.h>
#include <nri/state.h>

#include "base/alloc.h"
#include "plugin/task.h"

struct nri_state_hooks {
    uint32_t events; /* what the state needs to be told, whatever handlers there are */
    /* A connection stands: what was half told is forgotten, nothing is synchronised. */
    void (*connected)(nri_state *state);
    /* Before the handler of one of the 14 events, of each part of a Synchronize, or of a whole one.
     * A part is a request with nri_request_more() true, but for the last. 0; or NRI_E_NOMEM: the
     * request was failed with a text, and its handler must not run, because it would not find what
     * the event tells of; after() follows all the same. */
    int (*before)(nri_state *state, nri_request *request);
    /* After it, whatever it returned, and before its answer goes out: what was removed is
     * forgotten, and the checkpoint written. */
    void (*after)(nri_state *state, nri_request *request);
    /* state_missed.h: an event that no handler sees. On the loop's thread. */
    int (*missed)(nri_state *state, const struct nri_alloc *alloc, nri_request *request,
                  struct nri_task **task);
    void (*missed_end)(nri_state *state);
    /* An event was lost: until the next connection the state is not synchronised. True when that
     * was not so before. Any thread. */
    bool (*lose)(nri_state *state);
};

/* The first member of struct nri_state. */
static inline const struct nri_state_hooks *nri_state_hooks_of(const nri_state *state)
{
    return *(const struct nri_state_hooks *const *)(const void *)state;
}

#endif
