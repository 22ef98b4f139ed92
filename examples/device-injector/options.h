/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of nri-device-injector. */
#ifndef INJECTOR_OPTIONS_H
#define INJECTOR_OPTIONS_H

#include <stdbool.h>

struct options {
    const char *name, *index, *socket;
    bool verbose;
};

/* Returns -1 to go on, else the exit code: 0 after --help and --version (1 when they could not be
 * printed), 2 after a usage error, which has been printed. */
int options_parse(struct options *options, int argc, char **argv);

#endif
