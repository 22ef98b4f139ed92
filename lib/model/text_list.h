/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists of texts in which each key is once: environments ("NAME=value"), addresses (the whole text
 * is the key). Room in arrays is as in model/unique.h.
 */
#ifndef NRI_MODEL_TEXT_LIST_H
#define NRI_MODEL_TEXT_LIST_H

#include "base/map.h"
#include "model/builder.h"

/* The hash over a long list's keys. All zero is right for any list; it is made when it is needed.
 */
struct nri_text_list {
    struct nri_map *map;
};

/*
 * Replaces the text that has the same key, in place (the last one where several have, which is the
 * one that readers find), or appends. The key is what stands in front of the first `delimiter`;
 * '\0' says that the whole text is. `text` is an arena text. 0, or the arena's failure with the
 * list unchanged. The list is changed through its own nri_text_list alone, once it has one.
 */
int nri_text_list_set(struct nri_text_list *list, struct nri_builder *builder, size_t *count,
                      char ***array, char delimiter, char *text);

#endif
