/* SPDX-License-Identifier: Apache-2.0 */
/* One field: its value out of what was written. */
#ifndef NRI_APP_CONFIG_FIELD_H
#define NRI_APP_CONFIG_FIELD_H

#include <stdint.h>

#include <nri/app.h>

#include "config_tree.h"

/* A value of any type. */
union app_value {
    bool boolean;
    int64_t integer;
    double number;
    const char *text;
    int32_t choice;
    struct nri_app_texts texts;
};

/* What a type is. */
struct app_type {
    const char *name; /* as in "must be NAME" */
    size_t size;      /* of its values */
    bool is_ordered;  /* may have a minimum and a maximum */
    bool is_json;     /* its standard is written in JSON, else a text without quotes */
};

/* NULL: there is no such type. */
const struct app_type *app_type_find(int32_t type);
/* The value, with the minimum and maximum checked. 0, or -1: the reader's text says why. */
int app_field_read(struct app_reader *reader, const struct nri_app_field *field,
                   const struct app_node *node, union app_value *value);
/* Makes a node of a text of the table; `what` says in errors which: standard, minimum or maximum.
 * NULL: the text says why. */
const struct app_node *app_field_node(struct app_region *region, const struct nri_app_field *field,
                                      const char *written, const char *what, char *text);
/* The value that a field has without anything being given. */
int app_field_standard(struct app_region *region, const struct nri_app_field *field,
                       const struct app_node **node, union app_value *value, char *text);
/* Whether two values of a field are the same. */
bool app_field_equal(const struct nri_app_field *field, const union app_value *a,
                     const union app_value *b);
/* Reads a duration of at least 0 ns; NULL when it is one, else what is wrong with it. */
const char *app_duration_parse(const char *text, int64_t *nanoseconds);
/* Whether a text that nri_quantity_parse() takes is a whole number. */
bool app_quantity_is_whole(const char *text);

#endif
