/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A map from byte strings to pointers with a seeded hash, on uthash. The seed is the caller's (from
 * nri_host.random), so that a peer cannot choose colliding keys. Keys are not copied: they must
 * live as long as the entry.
 */
#ifndef NRI_BASE_MAP_H
#define NRI_BASE_MAP_H

#include "base/alloc.h"

struct nri_map_entry;

struct nri_map {
    struct nri_alloc alloc;
    struct nri_map_entry *head;
    uint64_t seed[2]; /* SipHash-2-4 key or as good */
};

void nri_map_init(struct nri_map *map, const struct nri_alloc *alloc, const uint64_t seed[2]);
void nri_map_fini(struct nri_map *map); /* forgets all entries */
size_t nri_map_count(const struct nri_map *map);
void *nri_map_get(const struct nri_map *map, const void *key,
                  size_t length); /* NULL when there is none */
/* Sets or replaces; `value` must not be NULL. *old (may be NULL) is what was there. NRI_E_NOMEM
 * leaves the map as it was. */
int nri_map_set(struct nri_map *map, const void *key, size_t length, void *value, void **old);
void *nri_map_remove(struct nri_map *map, const void *key,
                     size_t length); /* what was there, or NULL */
/* Calls `fn` for each entry in the order of insertion; it may remove the entry it is called for,
 * and no other. */
void nri_map_each(struct nri_map *map,
                  void (*fn)(void *user, const void *key, size_t length, void *value), void *user);

#endif
