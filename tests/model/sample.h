/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages with good values, made by reflection over the descriptors from a table of values
 * (sample_values.c), so that no builder, reader or JSON of the library has a part in them.
 *
 * A path is a way from a root message to a field that can be set by itself. What only makes sense
 * as a whole, such as a mount or the scheduler's attributes, is one step: sample_make() fills it
 * whole. Repeated fields get two elements, maps two keys, each with values of its own.
 */
#ifndef NRI_TESTS_SAMPLE_H
#define NRI_TESTS_SAMPLE_H

#include <stdbool.h>

#include "base/arena.h"
#include "proto/nri.pb-c.h"

#define SAMPLE_VARIANTS                                                                            \
    3 /* of the values, where a message allows not all of its fields at once                       \
       */
#define SAMPLE_DEPTH 8

struct sample_path {
    const ProtobufCMessageDescriptor *root;
    const ProtobufCFieldDescriptor *steps[SAMPLE_DEPTH];
    size_t count;
    char name[256]; /* "ContainerAdjustment.linux.resources.cpu.shares" */
};

/* Calls `visit` for each path from a root; stops when that returns false. */
bool sample_each_path(const ProtobufCMessageDescriptor *root,
                      bool (*visit)(const struct sample_path *path, void *user), void *user);

/* The message in which only the path is set, and what it cannot be without. */
ProtobufCMessage *sample_make(struct nri_arena *arena, const struct sample_path *path,
                              unsigned variant);
/* The message in which everything is set. */
ProtobufCMessage *sample_make_whole(struct nri_arena *arena, const ProtobufCMessageDescriptor *root,
                                    unsigned variant);

/* The message in the one form of JSON that nri/json.h promises; made by hand, without the library's
 * writer. Valid until the arena goes. */
const char *sample_json(struct nri_arena *arena, const ProtobufCMessage *message);

/* The value of "Message.field"; NULL when the table has none. Variants are separated by "|", and
 * in each the elements of a repeated field, or of messages that are repeated, by ";". */
const char *sample_values(const char *field);

#endif
