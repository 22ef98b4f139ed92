/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole session of a plugin as a list of steps, each of which goes on whatever failed before:
 * connect, register, Configure, a Synchronize in parts, every event, adjustments, refusals,
 * completions later, unsolicited updates, Shutdown. It is made to be cut off and starved.
 */
#ifndef NRI_TESTS_SCENARIO_H
#define NRI_TESTS_SCENARIO_H

#include <nri/nri.h>

#include "fail_alloc.h"
#include "fake_runtime.h"

struct scenario {
    struct fail_alloc memory; /* of the core */
    size_t starve_at;         /* from this allocation on, all fail; 0: none */
    size_t asked;             /* allocations so far, while starving may be */
    struct fake_runtime fr;
    size_t connected, disconnected; /* the library's own events */
    size_t events;                  /* of the runtime, that reached a handler */
    size_t calls_sent, calls_told;  /* unsolicited updates */
    nri_request *held;
    struct rpc_outcome *outcomes[64];
    size_t outcome_count;
    size_t succeeded, refused, lost; /* what became of the runtime's calls */
};

/* How many steps there are. */
size_t scenario_steps(void);
/* Runs the first `steps` of them with the `fail_at`-th allocation failing, and all from the
 * `starve_at`-th on (0: none), then ends the connection with `reason` and frees all but `scenario`.
 * The counters stay. */
void scenario_run(struct scenario *scenario, size_t steps, size_t fail_at, size_t starve_at,
                  int reason);

#endif
