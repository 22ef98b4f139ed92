/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What differs between two JSON documents, in the order of the first one, then of what only the
 * second one has.
 *
 * Objects are compared member by member, whatever their order. Lists whose elements have keys
 * (element.h) are compared by these: their order is no difference; of elements with the same key
 * the first is compared with the first. Lists of objects are compared by place, other lists are one
 * value, as a command line is. Numbers are compared by value where they are integers.
 *
 * Time and memory go with the size of the documents, whatever is in them.
 */
#ifndef NRICTL_DIFFERENCE_H
#define NRICTL_DIFFERENCE_H

#include "element.h"
#include "print.h"

/* A piece of a path; pieces are shared, so that a long path costs nothing. */
struct difference_place {
    const struct difference_place *parent; /* NULL: the document */
    const char *name;                      /* of a member or a key; NULL: an element by place */
    size_t length, index;
    bool element; /* in brackets */
};

struct difference {
    const struct difference_place *place;  /* NULL: the whole document */
    const struct nri_json *before, *after; /* NULL: it is not there */
};

struct difference_list {
    struct difference *items;
    size_t count, capacity;
};

/* Everything lives in the arena, with both documents. NRI_E_NOMEM, NRI_E_LIMIT. */
int difference_make(struct nri_arena *arena, const uint64_t seed[2], const struct nri_json *before,
                    const struct nri_json *after, struct difference_list *list);
/* Whether two values are the same by the rules above, but that the order of all lists counts. */
bool difference_none(const struct nri_json *a, const struct nri_json *b);

/* "process.env[PATH]"; a piece of more than 200 bytes is cut, and ends in "...". NRI_E_NOMEM. */
int difference_path(const struct difference_place *place, struct nri_buf *path);
/* Lines with + and - under two titles; nothing when there is no difference. NRICTL_OK, or
 * NRICTL_ENVIRONMENT after a message. */
int difference_print(struct nrictl *ctl, const struct difference_list *list, const char *before,
                     const char *after);
/* The list as a JSON array in the arena: path, before and after (missing for what is not there),
 * and plugin unless it is NULL. NULL: no memory. */
struct nri_json *difference_document(struct nri_arena *arena, const struct difference_list *list,
                                     const char *plugin);

#endif
