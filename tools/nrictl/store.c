/* SPDX-License-Identifier: Apache-2.0 */
#include "store.h"

#include <stdlib.h>
#include <string.h>

#include "stored.h"

/* ---- names of states ---- */

const char *store_pod_state_name(enum store_pod_state state)
{
    static const char *const names[] = {"starting", "ready", "stopped", "gone"};
    return (size_t)state < sizeof names / sizeof *names ? names[state] : "unknown";
}

const char *store_container_state_name(enum store_container_state state)
{
    static const char *const names[] = {"creating", "created", "running", "stopped", "gone"};
    return (size_t)state < sizeof names / sizeof *names ? names[state] : "unknown";
}

/* ---- snapshots ---- */

struct snapshot *snapshot_new(nri_container *container)
{
    struct snapshot *snapshot = malloc(sizeof *snapshot);
    if (snapshot != NULL)
        *snapshot = (struct snapshot){container, 1};
    return snapshot;
}

struct snapshot *snapshot_ref(struct snapshot *snapshot)
{
    snapshot->refs++;
    return snapshot;
}

void snapshot_unref(struct snapshot *snapshot)
{
    if (snapshot == NULL || --snapshot->refs > 0)
        return;
    nri_container_free(snapshot->container);
    free(snapshot);
}

/* ---- the store ---- */

void store_init(struct store *store)
{
    /* Ids are this machine's user's: nobody chooses them to collide. */
    static const uint64_t seed[2] = {0, 0};
    struct nri_alloc alloc;
    memset(store, 0, sizeof *store);
    (void)nri_alloc_resolve(&alloc, NULL);
    nri_map_init(&store->pods, &alloc, seed);
    nri_map_init(&store->containers, &alloc, seed);
}

void store_fini(struct store *store)
{
    struct store_pod *next;
    for (struct store_pod *at = store->first; at != NULL; at = next) {
        next = at->next;
        store_remove_pod(at);
    }
    nri_map_fini(&store->pods);
    nri_map_fini(&store->containers);
}

/* ---- adding ---- */

struct store_pod *store_add_pod(struct store *store, nri_pod *pod)
{
    struct store_pod *added = calloc(1, sizeof *added);
    if (added == NULL)
        return NULL;
    const char *id = nri_pod_id(pod);
    if (nri_map_set(&store->pods, id, strlen(id), added, NULL) != 0) {
        free(added);
        return NULL;
    }
    added->store = store;
    added->pod = pod;
    added->refs = 1;
    added->previous = store->last;
    if (store->last != NULL)
        store->last->next = added;
    else
        store->first = added;
    store->last = added;
    return added;
}

struct store_container *store_add_container(struct store_pod *pod, nri_container *container)
{
    struct store *store = pod->store;
    struct store_container *added = calloc(1, sizeof *added);
    struct snapshot *snapshot = snapshot_new(container);
    const char *id = nri_container_id(container);
    if (added == NULL || snapshot == NULL ||
        nri_map_set(&store->containers, id, strlen(id), added, NULL) != 0) {
        free(added);
        free(snapshot); /* not what is in it */
        return NULL;
    }
    added->store = store;
    added->pod = store_ref_pod(pod);
    added->now = snapshot;
    added->given = snapshot_ref(snapshot);
    added->refs = 1;
    added->previous = pod->last;
    if (pod->last != NULL)
        pod->last->next = added;
    else
        pod->first = added;
    pod->last = added;
    return added;
}

/* ---- removing ---- */

void store_remove_container(struct store_container *container)
{
    struct store_pod *pod = container->pod;
    const char *id = nri_container_id(container->now->container);
    if (container->state == STORE_GONE)
        return;
    container->state = STORE_GONE;
    (void)nri_map_remove(&container->store->containers, id, strlen(id));
    if (container->previous != NULL)
        container->previous->next = container->next;
    else
        pod->first = container->next;
    if (container->next != NULL)
        container->next->previous = container->previous;
    else
        pod->last = container->previous;
    container->next = container->previous = NULL;
    store_unref_container(container);
}

void store_remove_pod(struct store_pod *pod)
{
    struct store *store = pod->store;
    struct store_container *next_container;
    const char *id = nri_pod_id(pod->pod);
    if (pod->state == STORE_POD_GONE)
        return;
    for (struct store_container *at = pod->first; at != NULL; at = next_container) {
        next_container = at->next;
        store_remove_container(at);
    }
    pod->state = STORE_POD_GONE;
    (void)nri_map_remove(&store->pods, id, strlen(id));
    if (pod->previous != NULL)
        pod->previous->next = pod->next;
    else
        store->first = pod->next;
    if (pod->next != NULL)
        pod->next->previous = pod->previous;
    else
        store->last = pod->previous;
    pod->next = pod->previous = NULL;
    store_unref_pod(pod);
}

struct store_pod *store_ref_pod(struct store_pod *pod)
{
    pod->refs++;
    return pod;
}

void store_unref_pod(struct store_pod *pod)
{
    if (pod == NULL || --pod->refs > 0)
        return;
    nri_pod_free(pod->pod);
    free(pod);
}

struct store_container *store_ref_container(struct store_container *container)
{
    container->refs++;
    return container;
}

void store_unref_container(struct store_container *container)
{
    if (container == NULL || --container->refs > 0)
        return;
    snapshot_unref(container->given);
    snapshot_unref(container->now);
    store_unref_pod(container->pod);
    free(container->evicted);
    free(container);
}

int store_replace(struct store_container *container, nri_container *version)
{
    const char *id = nri_container_id(version);
    struct snapshot *snapshot = snapshot_new(version);
    if (snapshot == NULL) {
        nri_container_free(version);
        return NRI_E_NOMEM;
    }
    /* The map's key is a text of the version that goes. An entry that is there needs no memory. */
    if (container->state != STORE_GONE)
        (void)nri_map_set(&container->store->containers, id, strlen(id), container, NULL);
    snapshot_unref(container->now);
    container->now = snapshot;
    return 0;
}

/* ---- finding ---- */

struct store_pod *store_find_pod(struct store *store, const char *id_or_name)
{
    struct store_pod *found = nri_map_get(&store->pods, id_or_name, strlen(id_or_name));
    if (found != NULL)
        return found;
    for (found = store->first; found != NULL; found = found->next) {
        if (strcmp(nri_pod_name(found->pod), id_or_name) == 0)
            return found;
    }
    return NULL;
}

struct store_container *store_find_container(struct store *store, const char *id_or_name)
{
    struct store_container *found = nri_map_get(&store->containers, id_or_name, strlen(id_or_name));
    if (found != NULL)
        return found;
    while ((found = store_next_container(store, NULL, found)) != NULL) {
        if (strcmp(nri_container_name(found->now->container), id_or_name) == 0)
            return found;
    }
    return NULL;
}

struct store_pod *store_next_pod(struct store *store, const struct store_pod *pod)
{
    return pod == NULL ? store->first : pod->next;
}

struct store_container *store_next_container(struct store *store, const struct store_pod *pod,
                                             const struct store_container *container)
{
    if (pod != NULL)
        return container == NULL ? pod->first : container->next;
    if (container != NULL && container->next != NULL)
        return container->next;
    const struct store_pod *at = container == NULL ? NULL : container->pod;
    while ((at = store_next_pod(store, at)) != NULL) {
        if (at->first != NULL)
            return at->first;
    }
    return NULL;
}

size_t store_pod_count(const struct store *store)
{
    return nri_map_count(&store->pods);
}

size_t store_container_count(const struct store *store)
{
    return nri_map_count(&store->containers);
}

/* ---- reading ---- */

enum store_pod_state store_pod_state(const struct store_pod *pod)
{
    return pod->state;
}

const nri_pod *store_pod_get(const struct store_pod *pod)
{
    return pod->pod;
}

enum store_container_state store_container_state(const struct store_container *container)
{
    return container->state;
}

struct store_pod *store_container_pod(const struct store_container *container)
{
    return container->pod;
}

const nri_container *store_container_get(const struct store_container *container)
{
    return container->now->container;
}

const nri_container *store_container_given(const struct store_container *container)
{
    return container->given->container;
}

const char *store_container_evicted(const struct store_container *container)
{
    return container->evicted;
}
