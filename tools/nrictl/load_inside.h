/* SPDX-License-Identifier: Apache-2.0 */
/* The inside of a load: load.c makes it, load_print.c tells it. */
#ifndef NRICTL_LOAD_INSIDE_H
#define NRICTL_LOAD_INSIDE_H

#include "histogram.h"
#include "load.h"

/* An event, of all plugins together ("") or of one. */
struct load_row {
    struct load_row *next;
    enum nri_event event;
    uint64_t errors;
    struct histogram times;
    char plugin[];
};

struct load {
    struct nrictl *ctl;
    struct node *node;
    struct load_options options;
    void (*done)(struct load *load, void *user);
    void *user;
    nri_container *wish; /* the resources of updates */
    uv_timer_t tick, progress;
    unsigned closed; /* of these two */
    uint64_t began, nanoseconds;
    uint64_t begun, pods, containers, operations, events, errors;
    size_t alive;
    bool over, ended, beginning, drawn;
    char error[512]; /* the first */
    struct load_row *rows, **rows_end;
};

#endif
