/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods, or the containers, of a state cache: found by id, kept in the order of adding. Those
 * that went are remembered for a while, so that a late event does not bring them back; a pod that
 * only its containers tell of has a node too.
 *
 *     REFERRED -> LIVE -> GONE -> forgotten        GONE -> LIVE: told anew
 */
#ifndef NRI_PLUGIN_STATE_SET_H
#define NRI_PLUGIN_STATE_SET_H

#include "base/map.h"

/* How many that went are remembered. */
#define NRI_STATE_REMEMBERED ((size_t)256)

enum nri_state_presence {
    NRI_STATE_REFERRED, /* not known, or forgotten, but something hangs on it */
    NRI_STATE_LIVE,
    NRI_STATE_GONE
};

/* What pods and containers have in common; their first member. */
struct nri_state_node {
    struct nri_state_node *previous, *next; /* in the list of its presence */
    enum nri_state_presence presence;
    uint64_t generation; /* of the last Synchronize during or since which it was told */
    uint64_t digest;     /* of what was told last */
    void *data;
    void (*destroy)(void *data);
    size_t id_length;
    char *id; /* in the same memory */
};

struct nri_state_list {
    struct nri_state_node *first, *last;
    size_t count;
};

struct nri_state_set {
    struct nri_map nodes; /* by id, whatever their presence */
    struct nri_state_list live, gone;
};

void nri_state_set_init(struct nri_state_set *set, const struct nri_alloc *alloc,
                        const uint64_t seed[2]);
/* Every node must have been dropped. */
void nri_state_set_fini(struct nri_state_set *set);

/* A node of any presence, or NULL. */
void *nri_state_set_find(const struct nri_state_set *set, const char *id, size_t length);
/* A new node, REFERRED, of `size` bytes that begin with a struct nri_state_node and are zero
 * besides. NULL when there is no memory. */
void *nri_state_set_add(struct nri_state_set *set, size_t size, const char *id, size_t length);
/* Forgets and frees a node that is REFERRED. */
void nri_state_set_drop(struct nri_state_set *set, struct nri_state_node *node);

/* To LIVE, at the end of the order. */
void nri_state_set_enliven(struct nri_state_set *set, struct nri_state_node *node);
/* LIVE to REFERRED. */
void nri_state_set_withdraw(struct nri_state_set *set, struct nri_state_node *node);
/* REFERRED to GONE. */
void nri_state_set_remember(struct nri_state_set *set, struct nri_state_node *node);
/* Takes the node that went first, if more than `most` are remembered: it is REFERRED then. NULL:
 * no more are. */
void *nri_state_set_forget(struct nri_state_set *set, size_t most);

#endif
