/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading single values of JSON into the members of a message: numbers, bools, names of enums,
 * texts, and the keys of maps.
 */
#ifndef NRI_MODEL_JSON_VALUE_H
#define NRI_MODEL_JSON_VALUE_H

#include "model/json_message.h"

/* A value of any type but a message. 0, NRI_E_SYNTAX, NRI_E_RANGE, NRI_E_INTERNAL. */
int nri_json_read_value(const struct nri_json_source *source, const struct nri_json_place *place,
                        const ProtobufCFieldDescriptor *field, const struct nri_json *value,
                        void *member);
/* The key of a map's entry, whose value stands at `value`. The same. */
int nri_json_read_key(const struct nri_json_source *source, const struct nri_json_place *place,
                      const ProtobufCFieldDescriptor *field, const char *key,
                      const struct nri_json *value, void *member);
/* NAME=VALUE; NULL with the arena's failure. */
char *nri_json_join(struct nri_arena *arena, const char *name, const char *value, size_t length);
/* What a value is, for errors: "a number", "null". */
const char *nri_json_value_shown(const struct nri_json *value);

#endif
