/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The audit: from time to time, on a thread of its own, each container's CPUs are compared with
 * those of its cgroup. A difference that is seen twice is put right. CPUs of containers that never
 * came to be are freed then, too.
 */
#ifndef PINNER_AUDIT_H
#define PINNER_AUDIT_H

#include "keeper.h"

/* Begins to audit. 0, or -1 after it was logged. */
int audit_start(struct keeper *keeper);
/* Ends the thread, if there is one. */
void audit_stop(struct keeper *keeper);

/* One round, without a thread: how many containers were found to be off their CPUs for certain. -1
 * without memory. */
int audit_round(struct keeper *keeper);

#endif
