/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of a message that grow: repeated fields, with or without a key.
 *
 * An array's room is always the next power of two of its count, so that it needs no record of its
 * own: it grows when the count is a power of two that it never had before. nri_message_copy() makes
 * its arrays so.
 */
#ifndef NRI_MODEL_UNIQUE_H
#define NRI_MODEL_UNIQUE_H

#include <protobuf-c/protobuf-c.h>

#include "base/map.h"
#include "model/builder.h"

/* Appends a pointer to an array of pointers, `T **array` of a message given as `&message->array`
 * and `&message->n_array`. 0, or the arena's failure with the list unchanged. */
int nri_list_append(struct nri_builder *builder, size_t *count, void *array, void *item);
/* The same for a list that entries are taken from too, with the largest count it had, 0 at first:
 * what it had room for it has room for still. */
int nri_list_append_again(struct nri_builder *builder, size_t *count, size_t *most, void *array,
                          void *item);

/* The hash over a long list's keys. All zero is right for any list; it is made when it is needed.
 */
struct nri_unique {
    struct nri_map *map;
};

/*
 * Replaces the entry of a list that has the same key, in place (the last one where a peer sent
 * several, which is the one that readers find), or appends. The key is the string
 * directly behind the entry's base, as in KeyValue, Mount, HugepageLimit, POSIXRlimit,
 * LinuxNamespace, LinuxDevice, CDIDevice and the entries of maps. 0, or the arena's failure with
 * the list unchanged. The list is changed through its own nri_unique alone, once it has one.
 */
int nri_unique_set(struct nri_unique *unique, struct nri_builder *builder, size_t *count,
                   void *array, ProtobufCMessage *entry);
/* The position of a key, or SIZE_MAX. */
size_t nri_unique_find(const struct nri_unique *unique, size_t count, void *array, const char *key);

#endif
