/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What NRI's messages are as JSON: which of them are plain values, how members and enum values are
 * named, and which messages there are. For the writer, the reader and the search for a place.
 */
#ifndef NRI_MODEL_JSON_SCHEMA_H
#define NRI_MODEL_JSON_SCHEMA_H

#include <protobuf-c/protobuf-c.h>

#include <stdbool.h>
#include <stddef.h>

/* Members of a message are noted in 64 bits; the test test_json_schema checks that none has more.
 */
#define NRI_JSON_FIELDS 64

/* The message of nri.proto with a name such as "Container"; NULL when there is none. Entries of
 * maps have no name. */
const ProtobufCMessageDescriptor *nri_json_type_find(const char *name);
/* All of them, for the test that none is missing. */
size_t nri_json_type_count(void);
const ProtobufCMessageDescriptor *nri_json_type_at(size_t index);

/* Whether a message is written as its one member's value: OptionalInt and its like. */
bool nri_json_is_wrapper(const ProtobufCMessageDescriptor *type);
/* Whether a list of variables may also be an object of names and values: `env`. */
bool nri_json_is_env(const ProtobufCFieldDescriptor *field);
/*
 * The field that a member's name means: as NRI spells it, in lower case, or either of them in
 * camelCase. NULL when there is none.
 */
const ProtobufCFieldDescriptor *nri_json_field_find(const ProtobufCMessageDescriptor *type,
                                                    const char *name);

#endif
