/* SPDX-License-Identifier: Apache-2.0 */
/* The plugin's handlers: what the script says is done, and the report told of it. */
#ifndef SCRIPTED_PLAYER_H
#define SCRIPTED_PLAYER_H

#include "alarm.h"
#include "calls.h"
#include "report.h"
#include "script.h"

struct player {
    struct script script;
    struct report report;
    struct alarms alarms;
    struct calls calls;
    char text[SCRIPT_TEXT]; /* of what is wrong with an option */
};

/* Handlers for all calls of NRI, so that the report has every event. */
void player_fill_ops(struct nri_plugin_ops *ops);

#endif
