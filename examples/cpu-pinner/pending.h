/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runtime has against what it should have: which containers must be told other CPUs, in a
 * reply or unasked, and what became of it.
 *
 * An unsolicited update that is under way is applied after the replies that go out meanwhile, and
 * so may bring back what was true when it was sent. One is under way at a time, and a container
 * that was told something else meanwhile is told again after it.
 */
#ifndef PINNER_PENDING_H
#define PINNER_PENDING_H

#include "ledger.h"

/* The next container that is not on the CPUs that it should be on; the first for NULL; NULL at the
 * end. Containers that are being created, or have ended, have none to be told. */
struct container *pending_next(const struct ledger *ledger, const struct container *container);

/* The runtime has, or will have with the reply that is being written, what it should have. */
void pending_told(struct ledger *ledger, struct container *container);
/* The runtime says what it has; "" and what is no list say nothing. */
void pending_heard(struct container *container, const char *cpus);
/* The runtime is about to set these CPUs, as UpdateContainer has it. */
void pending_asked(struct container *container, const char *cpus);

/* An unsolicited update takes this container along: pending_told() was called. */
void pending_begin(struct container *container);
/* It failed for this container. Before pending_end(). */
void pending_failed(struct ledger *ledger, const char *id);
/* It is over; `sent`: it may have been applied. Whether there is something to tell again at once:
 * never for what has failed, which waits for the next occasion. */
bool pending_end(struct ledger *ledger, bool sent);

/* What an audit saw of a container, whose serial was `serial` when it was looked up. Once is no
 * proof, since a reply may be on its way. Returns whether it is off its CPUs for certain: it is to
 * be told again then. */
bool pending_audited(struct ledger *ledger, const char *id, uint64_t serial,
                     const nri_cpuset *seen);

#endif
