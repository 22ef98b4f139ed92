/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What makes a map of the entries that protobuf sends: one entry a key, and a value in each.
 */
#ifndef NRI_WIRE_MAP_ENTRIES_H
#define NRI_WIRE_MAP_ENTRIES_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"

/* A map field of a decoded message, in a list of them. */
struct nri_map_field {
    struct nri_map_field *next;
    ProtobufCMessage *message;
    const ProtobufCFieldDescriptor *field;
};

/*
 * Of entries with the same key the last replaces the first in its place; an absent message value
 * becomes an empty message. Time in proportion to the bytes of the keys. Returns 0 or
 * arena->failure.
 */
int nri_map_entries_settle(const struct nri_map_field *map, struct nri_arena *arena,
                           const uint64_t seed[2]);

#endif
