/* SPDX-License-Identifier: Apache-2.0 */
/* The texts of errors: FILE:LINE: KEY: REASON. */
#ifndef NRI_APP_CONFIG_ERROR_H
#define NRI_APP_CONFIG_ERROR_H

#include <stddef.h>

#include "config_tree.h"

/* Room for a quoted value. */
#define APP_QUOTE 96

/* Writes a text between quotes, cut when it is long, with escapes for what is not to be seen. */
const char *app_quote(char out[APP_QUOTE], const char *text);
/* Writes an error about a value; `key` is its whole name. Returns -1. */
int app_config_refuse(char *text, const struct app_node *node, const char *key, const char *format,
                      ...) __attribute__((format(printf, 4, 5)));
/* Writes any other error. Returns -1. */
int app_config_fail(char *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
