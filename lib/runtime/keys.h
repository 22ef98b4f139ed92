/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table of keys, in the order in which they first came: who owns each, and where its value
 * stands. A short table is searched from end to end; a long one has a seeded hash, so that a reply
 * with 50 000 keys costs 50 000 steps.
 */
#ifndef NRI_RUNTIME_KEYS_H
#define NRI_RUNTIME_KEYS_H

#include "base/arena.h"
#include "base/map.h"
#include "runtime/key.h"

#define NRI_KEYS_LINEAR 16 /* up to so many keys there is no hash */
#define NRI_NO_SLOT     SIZE_MAX

struct nri_keys_item {
    struct nri_key key;
    const char *plugin; /* who owns it, or took it away; NULL: nobody */
    const void *value;  /* what it was set to; NULL: nothing, or not any more */
    size_t slot;        /* where that stands in its list (slots.h), or NRI_NO_SLOT */
    bool cleared;       /* `plugin` took it away */
};

/* All zero is an empty table. */
struct nri_keys {
    struct nri_keys_item *items;
    size_t count, room;
    struct nri_map *map; /* NULL while the table is short */
};

/* NULL when the key is not there. An item moves when one is added. */
struct nri_keys_item *nri_keys_find(const struct nri_keys *keys, struct nri_key key);
/* The item of a key, added with everything in it empty when it is not there. The key is not copied.
 * NULL with arena->failure set. */
struct nri_keys_item *nri_keys_get(struct nri_keys *keys, struct nri_arena *arena,
                                   const uint64_t seed[2], struct nri_key key);

#endif
