/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The option --plugin: a plugin's command line in one text, COMMAND or NN-NAME=COMMAND.
 */
#ifndef NRICTL_PLUGIN_OPTION_H
#define NRICTL_PLUGIN_OPTION_H

#include "scenario.h"

/* Fills a plugin, whose texts live in the arena. 0, or one of enum nrictl_exit after a message. */
int plugin_option(struct nrictl *ctl, struct nri_arena *arena, const char *argument,
                  struct scenario_plugin *plugin);

#endif
