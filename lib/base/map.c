/* SPDX-License-Identifier: Apache-2.0 */
/* The only user of uthash. Its memory comes from the map's allocator, and it must not exit when
 * there is none. */
#include "base/map.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

#include <nri/error.h>

#include "base/hash.h"

/* Every function with a uthash macro that may allocate or release has these two names in scope:
 * map, out_of_memory. */
#define HASH_NONFATAL_OOM          1
#define uthash_malloc(size)        nri_alloc_raw(&map->alloc, (size))
#define uthash_free(block, size)   nri_alloc_release(&map->alloc, (block))
#define uthash_nonfatal_oom(entry) (out_of_memory = true)
#include <uthash.h>

struct nri_map_entry {
    UT_hash_handle hh;
    void *value;
};

static unsigned hash_of(const struct nri_map *map, const void *key, size_t length)
{
    return (unsigned)nri_hash(map->seed, key, length);
}

static struct nri_map_entry *find(const struct nri_map *map, const void *key, size_t length)
{
    struct nri_map_entry *entry = NULL;
    if (map->head != NULL && length <= UINT_MAX) /* uthash counts key lengths in unsigned */
        HASH_FIND_BYHASHVALUE(hh, map->head, key, (unsigned)length, hash_of(map, key, length),
                              entry);
    return entry;
}

void nri_map_init(struct nri_map *map, const struct nri_alloc *alloc, const uint64_t seed[2])
{
    *map = (struct nri_map){.alloc = *alloc, .seed = {seed[0], seed[1]}};
}

void nri_map_fini(struct nri_map *map)
{
    struct nri_map_entry *entry = map->head;
    if (entry == NULL)
        return;
    HASH_CLEAR(hh, map->head); /* the table only: the list through the entries still stands */
    while (entry != NULL) {
        struct nri_map_entry *next = entry->hh.next;
        nri_alloc_release(&map->alloc, entry);
        entry = next;
    }
}

size_t nri_map_count(const struct nri_map *map)
{
    return HASH_COUNT(map->head);
}

void *nri_map_get(const struct nri_map *map, const void *key, size_t length)
{
    struct nri_map_entry *entry = find(map, key, length);
    return entry == NULL ? NULL : entry->value;
}

int nri_map_set(struct nri_map *map, const void *key, size_t length, void *value, void **old)
{
    if (old != NULL)
        *old = NULL;
    if (length > UINT_MAX)
        return NRI_E_LIMIT;
    struct nri_map_entry *entry = find(map, key, length);
    if (entry != NULL) {
        if (old != NULL)
            *old = entry->value;
        entry->value = value;
        entry->hh.key = key; /* the new key outlives this entry, the old one need not */
        return 0;
    }
    entry = nri_alloc_zero(&map->alloc, sizeof *entry);
    if (entry == NULL)
        return NRI_E_NOMEM;
    entry->value = value;
    bool out_of_memory = false;
    HASH_ADD_KEYPTR_BYHASHVALUE(hh, map->head, key, (unsigned)length, hash_of(map, key, length),
                                entry);
    if (out_of_memory) {
        nri_alloc_release(&map->alloc, entry);
        return NRI_E_NOMEM;
    }
    return 0;
}

void *nri_map_remove(struct nri_map *map, const void *key, size_t length)
{
    struct nri_map_entry *entry = find(map, key, length);
    if (entry == NULL)
        return NULL;
    void *value = entry->value;
    HASH_DELETE(hh, map->head, entry);
    nri_alloc_release(&map->alloc, entry);
    return value;
}

void nri_map_each(struct nri_map *map,
                  void (*fn)(void *user, const void *key, size_t length, void *value), void *user)
{
    struct nri_map_entry *entry = map->head;
    while (entry != NULL) {
        struct nri_map_entry *next = entry->hh.next; /* before `fn`, which may remove this entry */
        fn(user, entry->hh.key, entry->hh.keylen, entry->value);
        entry = next;
    }
}
