/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the store, for the node alone.
 *
 * An object that is gone is found no more, but lives as long as somebody holds it: an operation
 * that waits for its turn, the pod sandbox of a container.
 */
#ifndef NRICTL_STORED_H
#define NRICTL_STORED_H

#include "base/map.h"
#include "store.h"

struct operation;

/* A container as it is at one moment. An event that is under way holds it, and what changes
 * meanwhile is another one. */
struct snapshot {
    nri_container *container;
    size_t refs;
};
struct snapshot *snapshot_new(nri_container *container); /* takes it; NULL: no memory, not taken */
struct snapshot *snapshot_ref(struct snapshot *snapshot);
void snapshot_unref(struct snapshot *snapshot);

struct store_pod {
    struct store *store;
    struct store_pod *next, *previous;
    struct store_container *first, *last;
    nri_pod *pod;
    enum store_pod_state state;
    struct operation *queue, *queue_end; /* the first is under way once `busy` */
    bool busy, runnable;
    struct store_pod *next_runnable;
    size_t refs;
};

struct store_container {
    struct store *store;
    struct store_pod *pod;                   /* held */
    struct store_container *next, *previous; /* of the pod sandbox */
    struct snapshot *given, *now;
    enum store_container_state state;
    char *evicted;
    size_t refs;
};

struct store {
    struct store_pod *first, *last;
    struct nri_map pods, containers; /* by id */
};

void store_init(struct store *store);
void store_fini(struct store *store); /* all is gone and let go */

/* Adds it as STARTING or CREATING and takes the object; NULL: no memory, not taken. The id is not
 * taken already. */
struct store_pod *store_add_pod(struct store *store, nri_pod *pod);
struct store_container *store_add_container(struct store_pod *pod, nri_container *container);
/* From now on it is gone; a pod sandbox with its containers. */
void store_remove_pod(struct store_pod *pod);
void store_remove_container(struct store_container *container);

struct store_pod *store_ref_pod(struct store_pod *pod);
void store_unref_pod(struct store_pod *pod);
struct store_container *store_ref_container(struct store_container *container);
void store_unref_container(struct store_container *container);

/* Another version of a container takes the place of the one that was; takes it also when there is
 * no memory (NRI_E_NOMEM). */
int store_replace(struct store_container *container, nri_container *version);

#endif
