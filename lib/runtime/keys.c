/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/keys.h"

#define FIRST_ROOM 4

struct nri_keys_item *nri_keys_find(const struct nri_keys *keys, struct nri_key key)
{
    if (keys->map != NULL) {
        /* The map's values are positions, and one more, because no value may be NULL. */
        size_t at = (size_t)(uintptr_t)nri_map_get(keys->map, key.text, key.length);
        return at == 0 ? NULL : keys->items + at - 1;
    }
    for (size_t i = 0; i < keys->count; i++) {
        if (nri_key_same(keys->items[i].key, key))
            return keys->items + i;
    }
    return NULL;
}

/* Memory of the arena is never given back, so growing by doubling wastes as much again at most. */
static bool grow(struct nri_keys *keys, struct nri_arena *arena)
{
    size_t room = keys->room == 0 ? FIRST_ROOM : keys->room * 2;
    struct nri_keys_item *items = nri_arena_array(arena, room, sizeof *items);
    if (items == NULL)
        return false;
    if (keys->count > 0)
        memcpy(items, keys->items, keys->count * sizeof *items);
    keys->items = items;
    keys->room = room;
    return true;
}

static bool note(struct nri_map *map, const struct nri_keys *keys, size_t at)
{
    const struct nri_key *key = &keys->items[at].key;
    return nri_map_set(map, key->text, key->length, (void *)(uintptr_t)(at + 1), NULL) == 0;
}

static bool make_map(struct nri_keys *keys, struct nri_arena *arena, const uint64_t seed[2])
{
    struct nri_alloc alloc;
    struct nri_map *map = nri_arena_alloc(arena, sizeof *map);
    if (map == NULL)
        return false;
    nri_arena_allocator(arena, &alloc);
    nri_map_init(map, &alloc, seed);
    for (size_t i = 0; i < keys->count; i++) {
        if (!note(map, keys, i))
            return false;
    }
    keys->map = map;
    return true;
}

struct nri_keys_item *nri_keys_get(struct nri_keys *keys, struct nri_arena *arena,
                                   const uint64_t seed[2], struct nri_key key)
{
    struct nri_keys_item *item = nri_keys_find(keys, key);
    if (item != NULL)
        return item;
    if (keys->count == keys->room && !grow(keys, arena))
        return NULL;
    if (keys->map == NULL && keys->count == NRI_KEYS_LINEAR && !make_map(keys, arena, seed))
        return NULL;
    item = keys->items + keys->count;
    *item = (struct nri_keys_item){.key = key, .slot = NRI_NO_SLOT};
    if (keys->map != NULL && !note(keys->map, keys, keys->count))
        return NULL;
    keys->count++;
    return item;
}
