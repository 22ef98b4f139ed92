/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Taking in containers that are there already: after a restart of the plugin or of the runtime, or
 * because they were made while the plugin was away. What the notes of the checkpoint say counts,
 * then what the container is marked with, then what it runs on, then what it asks for.
 */
#ifndef PINNER_ADOPT_H
#define PINNER_ADOPT_H

#include "pinner.h"

/* One that an event tells of: `container` if it is known and has ended, NULL if it is not known.
 * NULL without memory. */
struct container *adopt_one(struct ledger *ledger, struct container *container,
                            const struct told *told, uint64_t now);

#endif
