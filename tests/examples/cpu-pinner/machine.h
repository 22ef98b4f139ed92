/* SPDX-License-Identifier: Apache-2.0 */
/* Machines for tests: topologies made of three numbers, and sets of CPUs made of lists. */
#ifndef TEST_MACHINE_H
#define TEST_MACHINE_H

#include "ledger.h"

/* A machine of `nodes` NUMA nodes with `cores` cores each, of `threads` CPUs; numbered as Linux
 * does it: first one thread of every core, then the next. Ends the test without memory. */
void machine_make(struct topology *topology, unsigned nodes, unsigned cores, unsigned threads);
/* A set that a list names; the caller frees it. */
nri_cpuset *machine_set(const char *list);
/* Whether a set is that of a list; prints both if not. */
bool machine_is(const nri_cpuset *set, const char *list);

#endif
