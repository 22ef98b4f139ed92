/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a document is made of, for the files of this room.
 */
#ifndef NRI_JSON_DOCUMENT_H
#define NRI_JSON_DOCUMENT_H

#include "json/json.h"

/* The members of an object or the elements of an array, in order. */
struct nri_json_list {
    size_t count, capacity;
    struct nri_json **values;
    char **keys;       /* texts with their length (base/text.h); NULL for an array */
    uint32_t *slots;   /* hash table of positions + 1, 0 is free; NULL while `capacity` is small */
    size_t slot_count; /* a power of two, at least twice `capacity` */
    uint64_t seed[2];
};

struct nri_json {
    enum nri_json_type type;
    bool boolean;
    size_t line, column;
    size_t key_line, key_column; /* of a member's key */
    union {
        char *text;                 /* of a string or a number: a text with its length */
        struct nri_json_list *list; /* of an array or an object; NULL while it is empty */
    } u;
};

/* Up to this many members are compared one by one. */
#define NRI_JSON_FEW       8

#define NRI_JSON_NO_MEMBER SIZE_MAX

/* A value with nothing in it; NULL on no memory. */
struct nri_json *nri_json_blank(struct nri_arena *arena, enum nri_json_type type);
/*
 * Makes the hash table of a list of keys that are all there, when there are more than a few.
 * *duplicate is the position of the first key that was there before, or NRI_JSON_NO_MEMBER. False:
 * no memory.
 */
bool nri_json_index(struct nri_arena *arena, struct nri_json_list *list, size_t *duplicate);

/* Appends `text` as a JSON string. NRI_E_UTF8 when it is not UTF-8; a NUL is written as an escape.
 */
int nri_json_quote(struct nri_buf *out, const char *text, size_t length);
/* Appends a line break and the blanks of so many levels; nothing when `indent` is 0. */
int nri_json_break_line(struct nri_buf *out, unsigned indent, size_t depth);

#endif
