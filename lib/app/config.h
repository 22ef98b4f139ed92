/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Configurations: a table of fields (struct nri_app_field) makes of JSON or YAML texts the values
 * of a structure. Sources are laid over one another in order: the standard values, the file, its
 * drop-ins by name, what Configure brought. All or nothing: an error leaves everything as it was.
 */
#ifndef NRI_APP_CONFIG_H
#define NRI_APP_CONFIG_H

#include <stdio.h>

#include <nri/app.h>

/* Room for "FILE:LINE: KEY: REASON; did you mean KEY?". */
#define APP_CONFIG_TEXT 1024

struct app_config; /* the values of one reading, and the memory that they point into */

/* What is read: all of it may be NULL. */
struct app_config_sources {
    const char *path;           /* a file, .json or YAML; its drop-ins are the files *.json, *.yaml
                                   and *.yml of the directory PATH.d, by name */
    const char *configure;      /* the text that Configure brought; "" as NULL */
    const char *configure_name; /* what that is called in errors */
    bool more_to_come;          /* Configure will bring what is required, unless it is fixed */
};

/* Checks a table of fields: names, types, that standard, minimum and maximum can be read, that
 * offsets fit `size`. 0, or -1 with a text: a mistake of the program's author. */
int app_config_check_table(const struct nri_app_field *fields, size_t count, size_t size,
                           char text[APP_CONFIG_TEXT]);
/*
 * Reads. *config is the caller's, for app_config_free(). 0, or -1 with a text that names file,
 * line, key, reason and, for an unknown key, the nearest one.
 */
int app_config_read(struct app_config **config, const struct nri_app_field *fields, size_t count,
                    size_t size, const struct app_config_sources *sources,
                    char text[APP_CONFIG_TEXT]);
void app_config_free(struct app_config *config); /* NULL is ignored */
/* The structure, `size` bytes, laid out as the table says; its texts live as `config` does. */
const void *app_config_values(const struct app_config *config);
/* Whether a field marked `fixed` differs: its name, else NULL. */
const char *app_config_fixed_change(const struct app_config *before,
                                    const struct app_config *after);
/* Writes it all as YAML with each field's help as a comment, and where its value is from; secrets
 * as "***". */
void app_config_print(const struct app_config *config, FILE *out);
/* Whether a required field was not given, which only `more_to_come` lets pass. */
bool app_config_is_incomplete(const struct app_config *config);
/* The files and directories that were looked at, for watching: ends with NULL; lives as `config`
 * does. */
const char *const *app_config_paths(const struct app_config *config);

#endif
