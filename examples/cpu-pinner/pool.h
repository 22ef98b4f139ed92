/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may have which CPUs. Each CPU that is online is of one of three sets: reserved, which nobody
 * is given; exclusive, which somebody has alone; shared, which everybody else runs on. Reserved
 * never changes, and what leaves one of the other two enters the other.
 *
 * Pure: the same calls give the same CPUs. For one thread at a time.
 */
#ifndef PINNER_POOL_H
#define PINNER_POOL_H

#include <nri/cpuset.h>
#include <stddef.h>

#include "topology.h"

#define POOL_TEXT 512

/* What its functions return, besides 0. */
#define POOL_NO_MEMORY (-1)
#define POOL_SHORT     (-2) /* there are not so many, or the shared set would get too small */
#define POOL_CONFLICT  (-3) /* not all of them are free and usable */
#define POOL_WRONG     (-4) /* the text says what */

struct pool;

/*
 * Makes a pool in which all is shared but for what is reserved. `minimum` is how many CPUs must
 * stay shared, at least 1. `topology` must outlive the pool. 0, POOL_NO_MEMORY or POOL_WRONG, each
 * with a text.
 */
int pool_new(struct pool **result, const struct topology *topology, const nri_cpuset *reserved,
             size_t minimum, char text[POOL_TEXT]);
void pool_free(struct pool *pool); /* NULL is ignored */

/* Takes `count` CPUs out of the shared set, as near to each other as can be: of one NUMA node if
 * one has enough, whole cores before parts of cores, and what others have broken before what is
 * whole. Sets `taken`. 0, POOL_SHORT, POOL_NO_MEMORY; nothing has changed then. */
int pool_take(struct pool *pool, size_t count, nri_cpuset *taken);
/* Makes `cpus`, which were taken or claimed, so many: by taking more, of the nodes that they are of
 * first, or by giving some back. Returns as pool_take(). */
int pool_resize(struct pool *pool, nri_cpuset *cpus, size_t count);
/* Takes exactly these, whatever the minimum says, but never the last shared one. 0, POOL_CONFLICT,
 * POOL_NO_MEMORY; nothing has changed then. */
int pool_claim(struct pool *pool, const nri_cpuset *cpus);
/* Gives back what was taken or claimed. */
void pool_give(struct pool *pool, const nri_cpuset *cpus);

/* CPUs that pool_take() passes over, though they are shared: somebody is pinned to them who is not
 * to be moved. Replaces those before. 0 or POOL_NO_MEMORY. */
int pool_set_kept(struct pool *pool, const nri_cpuset *cpus);
void pool_set_minimum(struct pool *pool, size_t minimum);

const nri_cpuset *pool_shared(const struct pool *pool);
const nri_cpuset *pool_exclusive(const struct pool *pool);
const nri_cpuset *pool_reserved(const struct pool *pool);
const nri_cpuset *pool_usable(const struct pool *pool); /* shared and exclusive together */
/* How many pool_take() could take at most; on one NUMA node, without regard to the minimum. */
size_t pool_available(const struct pool *pool);
size_t pool_available_on(const struct pool *pool, unsigned node);

#endif
