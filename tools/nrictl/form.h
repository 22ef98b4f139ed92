/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Forms: tables that say what a document of a file of nrictl's may have. A document is checked
 * against them before it is read, with the place and what would be right in each error, and a JSON
 * Schema is made of them, so that the two cannot differ.
 */
#ifndef NRICTL_FORM_H
#define NRICTL_FORM_H

#include "base/error.h"
#include "json/json.h"

/* What a value may be; several together are alternatives. */
enum form_type {
    FORM_TEXT = 1 << 0,   /* not empty */
    FORM_FLAG = 1 << 1,   /* true or false */
    FORM_NUMBER = 1 << 2, /* whole, from `least` to `most` */
    FORM_TIME = 1 << 3,   /* "250ms", "2s", "1m30s": milliseconds from `least` to `most` */
    FORM_CHOICE = 1 << 4, /* one of `choices` */
    FORM_OBJECT = 1 << 5, /* as `form` says */
    FORM_LIST = 1 << 6,   /* of what `item` says */
    FORM_MAP = 1 << 7,    /* an object with any keys, of what `item` says */
    FORM_JSON = 1 << 8,   /* an object that others read: NRI's messages */
    FORM_ANY = 1 << 9,    /* whatever there is */
    FORM_NULL = 1 << 10,
    FORM_PATTERN = 1 << 11, /* an extended regular expression */
    FORM_PLAIN = 1 << 12    /* anything but an object */
};

struct form;

struct form_key {
    const char *name; /* NULL for an item, and at the end of a list of keys */
    const char *help; /* a sentence without a full stop */
    int64_t least, most;
    const char *const *choices; /* ends with NULL */
    const struct form *form;
    const struct form_key *item;
    size_t most_items; /* of a list or map; 0: FORM_MOST_ITEMS */
    unsigned types;
    bool required;
};

struct form {
    const char *name; /* "step": for messages, and as the schema's name of it */
    const char *help;
    const struct form_key *keys; /* ends with a NULL name */
    /* Exactly one of these is there besides: the first key of a variant says which, and its other
     * keys may stand with it alone. NULL: none. */
    const struct form *const *variants; /* ends with NULL */
    /* Members that no key names are for others to read, as those of NRI's messages. */
    bool open;
    /* At least one member has to be there. */
    bool some;
};

#define FORM_MOST_ITEMS 10000

/* What a check needs. */
struct form_check {
    const char *name; /* of the file */
    struct nri_error *error;
    const struct form *const *all; /* every form, for keys that are at the wrong place; NULL ends */
};

/* 0, or NRI_E_SYNTAX, NRI_E_RANGE with an error that has the place. */
int form_check(const struct form_check *check, const struct form *form,
               const struct nri_json *value);
/* The variant that an object is of, once it is checked. */
const struct form *form_variant(const struct form *form, const struct nri_json *value);
/* The time that a checked text says, in milliseconds; false: it is none. */
bool form_time(const char *text, uint64_t *milliseconds);

/* Sets "FILE:LINE:COLUMN: ..." and returns NRI_E_SYNTAX. */
int form_refuse(const struct form_check *check, const struct nri_json *value, const char *format,
                ...) __attribute__((format(printf, 3, 4)));

/* Writes a JSON Schema (draft 2020-12) of a form and of what it is made of. */
void form_schema(struct nri_json_writer *writer, const struct form *form,
                 const struct form *const *all, const char *id, const char *title);

#endif
