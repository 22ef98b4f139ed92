/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A list of messages with a key each, in the order in which the keys first came. A key has an
 * entry, or a removal marker, or both, which is how NRI says "replace": marker first, then the
 * entry. Setting a key again replaces its entry in place.
 *
 * A short list is searched from end to end; a long one has a hash, so that 50 000 calls cost 50 000
 * steps.
 */
#ifndef NRI_MODEL_KEYED_H
#define NRI_MODEL_KEYED_H

#include <protobuf-c/protobuf-c.h>

#include "base/map.h"
#include "model/builder.h"

#define NRI_KEYED_LINEAR 16 /* up to so many keys there is no hash */

struct nri_keyed_item {
    const char *key;
    size_t length;
    ProtobufCMessage *removal, *entry; /* NULL: none */
};

/* All zero is an empty list. */
struct nri_keyed {
    struct nri_keyed_item **items;
    ProtobufCMessage *
        *messages; /* room for all items' messages, so that listing them cannot fail */
    size_t count, capacity;
    struct nri_map *map; /* NULL while the list is short */
};

struct nri_keyed_item *nri_keyed_find(const struct nri_keyed *list, const char *key, size_t length);

/*
 * Sets what a key has. `entry` replaces the entry, also by NULL; `removal`, unless it is NULL,
 * becomes the marker, which nothing takes away. Neither the key (a NUL-terminated text) nor the
 * messages are copied; they must live in the builder's arena. Returns 0, or NRI_E_NOMEM or
 * NRI_E_LIMIT with the list unchanged and the arena's failure set.
 */
int nri_keyed_set(struct nri_keyed *list, struct nri_builder *builder, const char *key,
                  ProtobufCMessage *removal, ProtobufCMessage *entry);

/* All messages in order, for a repeated field of a message. Returns their number. */
size_t nri_keyed_messages(const struct nri_keyed *list, ProtobufCMessage ***messages);

#endif
