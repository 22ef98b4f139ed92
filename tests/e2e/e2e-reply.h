/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the test plugin's options ask for, put into replies and updates.
 */
#ifndef E2E_REPLY_H
#define E2E_REPLY_H

#include "e2e-options.h"

#include <nri/nri.h>

/* Fills the adjustment of a CreateContainer reply. Returns 0 or a negative code. */
int reply_adjust(const struct options *options, nri_adjustment *adjustment);

/* Whether the options name anything to update. */
bool reply_wants_update(const struct options *options);

/* Fills one update; a failure sticks to the list that it belongs to. */
void reply_update(const struct options *options, nri_update *one);

/* Fills the unsolicited update of the containers `ids`. Returns 0 or a negative code. */
int reply_unsolicited(const struct options *options, char **ids, size_t id_count,
                      nri_updates *updates);

#endif
