/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A message with every field set, down to the last, to a value that tells where it belongs: a text
 * is its own path, such as "pod.linux.namespaces[1].type", a number is golden_number() of it. Each
 * repeated field and map has two elements; keys of maps are texts too ("pod.labels[0].key"), a
 * bool is true, an enum has a number above 0.
 */
#ifndef NRI_TESTS_GOLDEN_H
#define NRI_TESTS_GOLDEN_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"

/* Ends the program when there is no memory. */
void *golden_message(struct nri_arena *arena, const ProtobufCMessageDescriptor *type,
                     const char *path);
/* Never 0, and never small: it fills 64 bits, of which a field takes as many as it has. */
uint64_t golden_number(const char *path);
/* The number of an enum's field. */
int golden_enum(const ProtobufCEnumDescriptor *type, const char *path);

#endif
