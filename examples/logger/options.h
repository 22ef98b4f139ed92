/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of nri-logger. */
#ifndef LOGGER_OPTIONS_H
#define LOGGER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_CHANGES 64

struct change {
    enum { ADD_ENV, SET_ENV, ADD_ANNOTATION, SET_ANNOTATION } kind;
    char *key; /* cut out of argv */
    const char *value;
};

struct options {
    const char *name, *index, *socket;
    uint32_t events; /* a mask */
    struct change changes[MAX_CHANGES];
    size_t change_count;
};

/* Returns -1 to go on, else the exit code: 0 after --help and --version (1 when they could not be
 * printed), 2 after a usage error, which has been printed. */
int options_parse(struct options *options, int argc, char **argv);

#endif
