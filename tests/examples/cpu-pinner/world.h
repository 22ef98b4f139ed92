/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A runtime for the property test: its containers, the CPUs that the kernel has for them, and the
 * notes that a state cache keeps over a restart of the plugin. It forgets, fails and repeats as
 * real ones do.
 */
#ifndef TEST_WORLD_H
#define TEST_WORLD_H

#include "pinner.h"
#include "thing.h"

#define WORLD_CONTAINERS 24
#define WORLD_GONE       32 /* ids whose events may still come */

struct world {
    uint64_t random;
    struct topology topology;
    nri_cpuset *reserved;
    size_t minimum;
    struct rules rules;
    struct ledger ledger;
    struct thing things[WORLD_CONTAINERS];
    char gone[WORLD_GONE][16];
    unsigned next_gone, next_id, next_pod;
    bool calling; /* an unsolicited update is under way */
    bool doubt;   /* something was lost that only an audit can find */
    uint64_t now;
    uint64_t events, grants, refusals, crashes, restarts, failures, resizes;
};

/* A machine and a node without containers, all drawn from `seed`. */
void world_make(struct world *world, uint64_t seed);
void world_free(struct world *world);
/* Something happens. */
void world_step(struct world *world);
/* Checks what must be true after every event; NULL, or what is not. */
const char *world_fault(struct world *world);
/* Nothing fails any more, and what is under way ends: every container must be on its CPUs then.
 * NULL, or what is wrong. */
const char *world_settle(struct world *world);
/* All containers end and are removed: all CPUs must be shared then. NULL, or what is wrong. */
const char *world_drain(struct world *world);

#endif
