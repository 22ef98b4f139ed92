/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Load: pod sandboxes that come and go on a simulated node, and how long their events took.
 *
 * A life is one pod sandbox with its containers: run, create, start and update each, stop, remove.
 */
#ifndef NRICTL_LOAD_H
#define NRICTL_LOAD_H

#include "node.h"
#include "nrictl.h"

struct load;

struct load_options {
    uint64_t pods;       /* that live at a time, at most; 0: 10 */
    uint64_t containers; /* of each; 0: 1 */
    uint64_t rate;       /* lives begun a second; 0: as many as there can be */
    /* How long lives are begun; those under way go on to their end. 0: as many lives as `pods`, and
     * no more. */
    uint64_t duration_ms;
};

/* Limits of the options, for those who parse them. */
#define LOAD_MOST_PODS        100000
#define LOAD_MOST_CONTAINERS  1000
#define LOAD_MOST_RATE        1000000
#define LOAD_MOST_DURATION_MS ((uint64_t)24 * 3600 * 1000)

/*
 * Begins on a node that is ready; `done` is called once, when the last life is over. With
 * ctl->progress a line is drawn on ctl->err. NULL: no memory. The node must live until `done`.
 */
struct load *load_start(struct nrictl *ctl, struct node *node, const struct load_options *options,
                        void (*done)(struct load *load, void *user), void *user);
/* To be called from the node's watch. */
void load_outcome(struct load *load, nri_outcome *outcome);
/* No more lives begin; `done` comes as ever. */
void load_stop(struct load *load);
/* Operations and events that failed. */
uint64_t load_errors(const struct load *load);
/* The result, as tables or JSON: counts, errors, latencies of each event and each plugin.
 * NRICTL_OK, or NRICTL_ENVIRONMENT after a message. */
int load_print(struct nrictl *ctl, const struct load *load);
/* After `done`, or once the node is closed; it takes turns of the loop. NULL is ignored. */
void load_free(struct load *load);

#endif
