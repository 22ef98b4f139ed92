/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the setters of whole objects share: each checks a value, copies it, and changes one member
 * of a message, or fails and changes nothing. The caller has entered (model/object.h).
 */
#ifndef NRI_MODEL_MEMBER_H
#define NRI_MODEL_MEMBER_H

#include "model/builder.h"
#include "model/unique.h"

/* A text, checked and copied: `filled` says that it must not be empty. */
int nri_member_text(struct nri_builder *builder, const struct nri_where *field, const char *text,
                    bool filled, char **copy);

/* What an entry of a map from text to text is, and how errors name it. */
struct nri_member_pair {
    const ProtobufCMessageDescriptor *type; /* laid out like KeyValue */
    const char *noun;                       /* "label" */
    const char *key_name;                   /* "label key" */
};

/* Sets the value of a key, which must not be empty. `count` and `array` are the map's. */
int nri_member_set_pair(struct nri_builder *builder, const struct nri_member_pair *kind,
                        struct nri_unique *unique, size_t *count, void *array, const char *key,
                        const char *value);

#endif
