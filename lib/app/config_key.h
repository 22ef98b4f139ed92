/* SPDX-License-Identifier: Apache-2.0 */
/* The keys of a table of fields, and what to say of one that is not among them. */
#ifndef NRI_APP_CONFIG_KEY_H
#define NRI_APP_CONFIG_KEY_H

#include <nri/app.h>

#include "config_tree.h"

/* The longest name of a field, in bytes. */
#define APP_KEY_LENGTH 128

struct app_table {
    const struct nri_app_field *fields;
    size_t count;
};

/* The field of that name; NULL when there is none. */
const struct nri_app_field *app_key_find(const struct app_table *table, const char *name);
/* Whether fields are within an object of that name. */
bool app_key_is_group(const struct app_table *table, const char *name);
/* Refuses a member of that name, which is neither. Returns -1. */
int app_key_refuse(const struct app_reader *reader, const struct app_table *table,
                   const struct app_node *member, const char *path);
/* How many letters must change (or trade places) to make `b` of `a`, whatever their case. For texts
 * of at most APP_KEY_LENGTH bytes; longer ones are SIZE_MAX apart. */
size_t app_key_distance(const char *a, const char *b);

#endif
