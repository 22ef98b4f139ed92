/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: nri-app's options and the program's own flags.
 */
#ifndef NRI_APP_OPTIONS_H
#define NRI_APP_OPTIONS_H

#include <nri/app.h>

/* What the command line and the environment said; texts are theirs, NULL when not given. */
struct app_command {
    const char *program; /* the last part of argv[0] */
    const char *name, *index, *socket, *config, *http;
    int32_t level; /* enum nri_log_level */
    bool json, bypass, no_reconnect, print_config, check_config;
};

/* Structures of the program's, as large as it knows them, brought to the size known here. 0,
 * NRI_E_ABI. */
int app_options_copy(void *known, size_t known_size, const void *given, size_t given_size);

/*
 * Parses; calls the program's flags. -1 to go on, else what the program ends with: --help and
 * --version were printed (0), or a line on standard error says what is wrong (2; 1 when the program
 * was made wrongly).
 */
int app_options_parse(struct app_command *command, const struct nri_app_options *options, int argc,
                      char **argv);

#endif
