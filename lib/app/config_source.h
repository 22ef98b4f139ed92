/* SPDX-License-Identifier: Apache-2.0 */
/* Where a configuration comes from: a file, its drop-ins, the text of Configure. */
#ifndef NRI_APP_CONFIG_SOURCE_H
#define NRI_APP_CONFIG_SOURCE_H

#include "config_tree.h"

#define APP_SOURCE_MAX_DROP_INS ((size_t)256)

/* The paths to be read, in order, and beside them what was looked at only. */
struct app_source_paths {
    const char *directory;    /* PATH.d, whether it is there or not */
    const char *const *files; /* PATH, then its drop-ins */
    size_t count;
};

/* Finds the drop-ins of a file. 0, or -1 with a text. */
int app_source_find(struct app_region *region, const char *path, struct app_source_paths *paths,
                    char *text);
/* Reads a file whole. 0, or -1 with a text. */
int app_source_read(struct app_region *region, const char *path, const char **bytes, size_t *length,
                    char *text);
/* Whether a file is JSON by its name. */
bool app_source_is_json(const char *path);
/* Whether a text without a file name is JSON: it begins with "{" and then a quote or "}". */
bool app_source_looks_like_json(const char *bytes);

#endif
