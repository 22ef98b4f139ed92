/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pod sandboxes and containers of a simulated node: found by id or name, listed in the order of
 * their making. The node alone changes them; everybody else reads.
 */
#ifndef NRICTL_STORE_H
#define NRICTL_STORE_H

#include <nri/nri.h>

enum store_pod_state {
    STORE_POD_STARTING, /* its RunPodSandbox is under way, or waits */
    STORE_POD_READY,
    STORE_POD_STOPPED,
    STORE_POD_GONE /* removed, or never run; not found any more */
};
enum store_container_state {
    STORE_CREATING, /* its CreateContainer is under way, or waits */
    STORE_CREATED,
    STORE_RUNNING,
    STORE_STOPPED,
    STORE_GONE
};

struct store;
struct store_pod;
struct store_container;

const char *store_pod_state_name(enum store_pod_state state);
const char *store_container_state_name(enum store_container_state state);

/* By id, else by name, the oldest first; NULL: there is none that is not gone. */
struct store_pod *store_find_pod(struct store *store, const char *id_or_name);
struct store_container *store_find_container(struct store *store, const char *id_or_name);
/* In the order of their making; NULL for the first, NULL at the end. Those of one pod sandbox, or
 * of all (`pod` NULL). */
struct store_pod *store_next_pod(struct store *store, const struct store_pod *pod);
struct store_container *store_next_container(struct store *store, const struct store_pod *pod,
                                             const struct store_container *container);
size_t store_pod_count(const struct store *store);
size_t store_container_count(const struct store *store);

enum store_pod_state store_pod_state(const struct store_pod *pod);
const nri_pod *store_pod_get(const struct store_pod *pod); /* as it is now */

enum store_container_state store_container_state(const struct store_container *container);
struct store_pod *store_container_pod(const struct store_container *container);
/* As it is now, with adjustments and updates applied; until the next operation of it ends. */
const nri_container *store_container_get(const struct store_container *container);
/* As it was given to node_create(), before any plugin saw it. */
const nri_container *store_container_given(const struct store_container *container);
/* Why it was evicted; NULL: it was not. */
const char *store_container_evicted(const struct store_container *container);

#endif
