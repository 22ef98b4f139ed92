/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A history told: who set what, as a table or as JSON, and how the container changed step by step.
 */
#ifndef NRICTL_ACCOUNT_H
#define NRICTL_ACCOUNT_H

#include "history.h"

/* A table for each event: field, key, plugin, value before and after. NRICTL_OK; NRICTL_FINDING: an
 * event was refused; NRICTL_ENVIRONMENT after a message. */
int account_table(struct nrictl *ctl, struct history *history);
/* The differences: what the runtime asked for, after each plugin, and at the end. As above. */
int account_steps(struct nrictl *ctl, struct history *history);

/* {"events": [...]}: of the first form each plugin with its changes, of the second the differences,
 * too. */
int account_json(struct nrictl *ctl, struct history *history, bool differences);

#endif
