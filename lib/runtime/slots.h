/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of messages under collection: what is taken away again leaves a hole, so that every other
 * message keeps its place, its slot.
 */
#ifndef NRI_RUNTIME_SLOTS_H
#define NRI_RUNTIME_SLOTS_H

#include "base/arena.h"

/* All zero is an empty list. */
struct nri_slots {
    void **items; /* messages; NULL: a hole */
    size_t count, room;
    size_t holes, marks; /* how many of them are holes; how many say "remove" */
};

/* Appends; *slot (may be NULL) is where. False with arena->failure set. */
bool nri_slots_add(struct nri_slots *slots, struct nri_arena *arena, void *item, size_t *slot);
/* Makes a hole. */
void nri_slots_drop(struct nri_slots *slots, size_t slot);

/* How many there are that are no holes. */
static inline size_t nri_slots_count(const struct nri_slots *slots)
{
    return slots->count - slots->holes;
}

/* The messages without holes; `removals_first`: those whose key is marked come first, each part in
 * order. NULL with arena->failure set; the list must have something. */
void **nri_slots_list(const struct nri_slots *slots, struct nri_arena *arena, bool removals_first);

#endif
