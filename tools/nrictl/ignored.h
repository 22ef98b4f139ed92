/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a runtime that is imitated ignores of an adjustment: it does not know the field, or does not
 * put it into the container.
 */
#ifndef NRICTL_IGNORED_H
#define NRICTL_IGNORED_H

#include "imitate.h"
#include "runtime/messages.h"

/* Room for a copy without those fields; it shares all else with the adjustment. */
struct ignored {
    adjustment_message adjust;
    linux_adjustment_message linux_part;
    resources_message resources;
    memory_message memory;
};

/* The adjustment itself when `imitate` is NULL. */
const adjustment_message *ignored_drop(struct ignored *room, const struct imitate *imitate,
                                       const adjustment_message *adjust);

#endif
