/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in one form, so that their bytes can be compared. */
#ifndef NRI_TESTS_MERGE_CANON_H
#define NRI_TESTS_MERGE_CANON_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"

/*
 * The JSON text of a message of which every map is sorted by its keys, of a container the
 * namespaces by their types (Go takes them from a map), and of an adjustment's mounts each run of
 * removals (Go takes those of one reply from a map). The text lives in the arena. "" for a message
 * of no bytes at all, "?" for bytes that are none.
 */
const char *canon(struct nri_arena *arena, const ProtobufCMessageDescriptor *type,
                  const uint8_t *bytes, size_t size);

#endif
