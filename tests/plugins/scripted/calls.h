/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unsolicited updates: one made inside a handler, and entries of them in the background.
 *
 * An entry's calls are made one after another on the handlers' thread, each `delay_ms` after the
 * outcome of the one before; entries run side by side. An entry ends with the connection, so that
 * the plugin is never used after its end.
 */
#ifndef SCRIPTED_CALLS_H
#define SCRIPTED_CALLS_H

#include "alarm.h"
#include "report.h"
#include "script.h"

struct calls {
    struct report *report;
    struct alarms *alarms;
    pthread_mutex_t lock;
    uint64_t connection; /* its number; odd while it stands */
};

void calls_init(struct calls *calls, struct report *report, struct alarms *alarms);
void calls_fini(struct calls *calls);
/* on_connected and on_disconnected. */
void calls_connected(struct calls *calls);
void calls_disconnected(struct calls *calls);
/* In a handler: makes the call of a rule, and starts its entries. */
void calls_make(struct calls *calls, nri_plugin *plugin, const struct script_rule *rule);

#endif
