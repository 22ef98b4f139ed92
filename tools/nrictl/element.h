/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the elements of the lists of an OCI configuration are known by: a variable by its name, a
 * mount by its destination, a device node by its path, and so on; those of other lists by their
 * place. A list is told by the name of the member that holds it.
 */
#ifndef NRICTL_ELEMENT_H
#define NRICTL_ELEMENT_H

#include "base/arena.h"
#include "base/map.h"
#include "json/json.h"

struct element_form; /* of the elements of one list */

/* NULL: the elements have no keys. */
const struct element_form *element_form(const char *list, size_t length);
/* False when this element has none, as what is no mount in a list of mounts. */
bool element_key(const struct element_form *form, const struct nri_json *element, const char **key,
                 size_t *length);

/*
 * The elements of a list by their keys: a step for each to make it, and one for each to find it,
 * however many have the same key. `seed` is nobody's to guess.
 */
struct element_index {
    const struct nri_json *list;
    struct nri_map map;
    size_t *next; /* from each element, the next one with its key; SIZE_MAX: none */
};
/* NRI_E_NOMEM, NRI_E_LIMIT. The index lives in the arena, with the list. */
int element_index_make(struct element_index *index, struct nri_arena *arena, const uint64_t seed[2],
                       const struct element_form *form, const struct nri_json *list);
/* The place of the first element with a key that was not taken; SIZE_MAX: there is none. */
size_t element_index_take(struct element_index *index, const char *key, size_t length);
/* The last one with a key, taken or not, which is the one that counts; NULL: there is none. */
const struct nri_json *element_index_last(const struct element_index *index, const char *key,
                                          size_t length);

#endif
