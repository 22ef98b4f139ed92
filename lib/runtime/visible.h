/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The container as the next plugin sees it: the runtime's, changed by all replies so far. It is
 * made when somebody asks, so that the last plugin's reply costs nothing here, and only what
 * changes is copied.
 */
#ifndef NRI_RUNTIME_VISIBLE_H
#define NRI_RUNTIME_VISIBLE_H

#include "runtime/merge.h"
#include "runtime/messages.h"
#include "runtime/rule.h"

struct nri_merge;
struct nri_visible_copy;

/* All zero but `given` is a container that nothing changed. */
struct nri_visible {
    const container_message *given;
    struct nri_visible_copy *copy;   /* NULL: nothing is changed yet */
    const adjustment_message **todo; /* replies that are not in it yet */
    size_t todo_count, todo_room;
    bool asked;          /* it was asked for before */
    nri_members changed; /* by replies that are in it */
};

/* Another reply. False with the arena's failure set. */
bool nri_visible_add(struct nri_merge *merge, const adjustment_message *adjust);
/* The container; NULL with the arena's failure set. *changed: as nri_merge_container(). */
const container_message *nri_visible_get(struct nri_merge *merge, nri_members *changed);

#endif
