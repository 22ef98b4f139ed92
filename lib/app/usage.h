/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What --help prints.
 */
#ifndef NRI_APP_USAGE_H
#define NRI_APP_USAGE_H

#include <stdio.h>

#include <nri/app.h>

#define APP_OPTION_LONG 256

/* One of nri-app's own options. */
struct app_option {
    const char *name, *argument, *help;
    int value;   /* its letter; from APP_OPTION_LONG on it has none */
    int configs; /* only for programs that have a configuration */
};

void app_usage_print(FILE *out, const char *program, const struct nri_app_options *options,
                     const struct app_option *own, size_t count);

#endif
