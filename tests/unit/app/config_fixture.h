/* SPDX-License-Identifier: Apache-2.0 */
/* Reading configurations in tests: texts, and files in a directory of the test's own. */
#ifndef NRI_TESTS_CONFIG_FIXTURE_H
#define NRI_TESTS_CONFIG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "app/config.h"

/* A configuration with a field of each type, some within objects. */
struct settings {
    bool flag;
    int64_t workers;          /* 1 to 64 */
    double ratio;             /* 0 to 1 */
    const char *greeting;     /* standard "hello" */
    const char *token;        /* secret */
    int64_t request, connect; /* in "timeouts"; request 1ms to 1h */
    int64_t memory;           /* in "pool.limits" */
    const char *cpus;         /* in "pool" */
    int32_t mode;             /* "off", "warn", "refuse" */
    struct nri_app_texts names;
    const char *rules;
};
extern const struct nri_app_field settings_fields[];
extern const size_t settings_count;

/* Reads a text that Configure brought, called "conf". */
const struct settings *settings_good(struct app_config **config, const char *text);
/* The same with what must be wrong, and the exact error. */
void settings_bad(const char *text, const char *error);

/* A table of one field "v" at offset 0 of a union app_value's size. NULL, and why in `error`. */
struct app_config *one_read(const struct nri_app_field *field, const char *text, char *error);

/* A directory that config_directory_end() removes with all that is in it. */
struct config_directory {
    char path[128];
};
void config_directory_start(struct config_directory *directory);
void config_directory_end(struct config_directory *directory);
/* Writes a file; `name` may be in a directory of one level, which is made. */
void config_directory_write(const struct config_directory *directory, const char *name,
                            const char *text);
/* DIRECTORY/NAME in `path`. */
const char *config_directory_file(const struct config_directory *directory, const char *name,
                                  char path[256]);

#endif
