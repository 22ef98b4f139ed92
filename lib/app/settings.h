/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's configuration while it runs: which one holds, and how another takes its place, as a
 * whole or not at all. After the start all of it happens on the thread of the handlers.
 */
#ifndef NRI_APP_SETTINGS_H
#define NRI_APP_SETTINGS_H

#include "config.h"

struct app_settings {
    const struct nri_app_options *options;
    const char *path;           /* of --config; NULL */
    struct app_config *current; /* NULL before the first one is taken, and without fields */
    char *configure;            /* what Configure brought last; NULL: nothing */
    bool incomplete;            /* what is required has to come with Configure */
};

/* What app_settings_load() found wrong. */
enum app_settings_fault {
    APP_SETTINGS_FINE = 0,
    APP_SETTINGS_PROGRAM = 1, /* the table of fields is wrong */
    APP_SETTINGS_INVALID = 2  /* the configuration is */
};

void app_settings_init(struct app_settings *settings, const struct nri_app_options *options,
                       const char *path);
void app_settings_fini(struct app_settings *settings);
/* The first configuration, before the plugin is made: the file over the standard values. Of a
 * program that its runtime has `launched`, without a command line, Configure may bring what is
 * required and the file does not have. */
enum app_settings_fault app_settings_load(struct app_settings *settings, bool launched,
                                          char text[APP_CONFIG_TEXT]);
/* Reads it all again. 0 and the program's values are new; -1 with a text, and nothing changed. */
int app_settings_reload(struct app_settings *settings, char text[APP_CONFIG_TEXT]);
/* Configure brought a text, which goes over the file. 1: taken, the values are new; 0: it is the
 * one that holds already; -1 with a text, and nothing changed. */
int app_settings_configure(struct app_settings *settings, const char *configure,
                           char text[APP_CONFIG_TEXT]);

#endif
