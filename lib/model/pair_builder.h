/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds lists of a key and a value, both texts: a list of KeyValue, or a map, whose entries
 * protobuf-c lays out the same. A key can also be removed.
 */
#ifndef NRI_MODEL_PAIR_BUILDER_H
#define NRI_MODEL_PAIR_BUILDER_H

#include "model/keyed.h"

/* What the pairs are, and how errors name them. */
struct nri_pair_kind {
    const ProtobufCMessageDescriptor *type; /* laid out like KeyValue */
    const char *noun;                       /* "env" */
    const char *key_name;                   /* "env name" */
    const char *remover;                    /* the public call that removes one */
    char forbidden;                         /* a character that no key has; 0: none */
};

/* The three calls of each kind; all checks are made here. The caller has called
 * nri_builder_enter(). */
int nri_pair_add(struct nri_keyed *list, struct nri_builder *builder,
                 const struct nri_pair_kind *kind, const char *key, const char *value);
int nri_pair_remove(struct nri_keyed *list, struct nri_builder *builder,
                    const struct nri_pair_kind *kind, const char *key);
int nri_pair_replace(struct nri_keyed *list, struct nri_builder *builder,
                     const struct nri_pair_kind *kind, const char *key, const char *value);

#endif
