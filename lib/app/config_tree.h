/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What was written in a configuration: values with file and line, the same for JSON and YAML. All
 * of it lives in the region of the reading.
 */
#ifndef NRI_APP_CONFIG_TREE_H
#define NRI_APP_CONFIG_TREE_H

#include <stdbool.h>
#include <stddef.h>

#include "config_region.h"

/* Of one source. */
#define APP_TREE_MAX_BYTES  ((size_t)1048576)
#define APP_TREE_MAX_DEPTH  32
#define APP_TREE_MAX_VALUES ((size_t)100000)

enum app_node_type {
    APP_NODE_NULL,
    APP_NODE_BOOL,
    APP_NODE_NUMBER,
    APP_NODE_TEXT,
    APP_NODE_LIST,
    APP_NODE_OBJECT
};

struct app_node {
    enum app_node_type type;
    bool boolean;
    const char *key;  /* of a member of an object, else NULL */
    const char *text; /* a text; a number as JSON writes it; NULL for others */
    const char *file; /* what the source is called */
    size_t line;      /* of a member: where its key stands, as far as known; 0: of no file */
    struct app_node *first, *last, *next; /* elements or members in order */
    size_t count;
    const struct app_node **sorted; /* the members of an object by key */
};

/* One source being read. */
struct app_reader {
    struct app_region *region;
    const char *file;
    char *text;    /* APP_CONFIG_TEXT bytes, for an error */
    size_t values; /* made so far */
};

/* Makes a value. `parent` NULL: the outermost one. `key` and `text` (which may be NULL) are kept as
 * they are. NULL: the reader's text says why. */
struct app_node *app_tree_add(struct app_reader *reader, struct app_node *parent,
                              enum app_node_type type, const char *key, const char *text,
                              size_t line);
/* To be called when an object is complete: refuses a key that is there twice. 0 or -1. */
int app_tree_close(struct app_reader *reader, struct app_node *object);
/* Notes that memory ran out. Returns -1. */
int app_tree_out_of_memory(struct app_reader *reader);

/* Read a text. 0, or -1: the reader's text says why. *root is NULL for a YAML text that holds
 * nothing. */
int app_tree_read_json(struct app_reader *reader, const char *bytes, size_t length,
                       struct app_node **root);
int app_tree_read_yaml(struct app_reader *reader, const char *bytes, size_t length,
                       struct app_node **root);
/* Makes a value of a YAML scalar without quotes, by the core schema of YAML 1.2. *reason, when it
 * gives false, is why it is not taken; NULL: no memory. */
bool app_tree_resolve(struct app_region *region, const char *plain, size_t length,
                      enum app_node_type *type, bool *boolean, const char **text,
                      const char **reason);

/* "a bool", "a number" and so on. */
const char *app_node_type_name(enum app_node_type type);
/* Writes a value as JSON without blanks, with members by key, so that equal values have equal
 * texts. Control characters are escaped as both JSON and YAML read them. Returns the length; NULL
 * and 0 only measures. */
size_t app_node_write(const struct app_node *node, char *written, size_t size);
/* The same for a text alone. */
size_t app_text_write(const char *text, char *written, size_t size);

#endif
