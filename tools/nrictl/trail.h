/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What has happened on a simulated node, in order: events with what plugins made of them, and what
 * plugins asked for of their own accord. It holds the outcomes until trail_free().
 */
#ifndef NRICTL_TRAIL_H
#define NRICTL_TRAIL_H

#include <nri/nri.h>

#include "base/arena.h"

struct trail_event {
    nri_outcome *outcome;
    enum nri_event event;
    const char *pod, *pod_name, *container, *container_name; /* "" for none */
};

struct trail_update {
    const char *plugin;
    bool sync; /* its answer to Synchronize */
    /* Of what was not possible, what the plugin is told, and what it wanted to be ignored. */
    const char **done, **failed, **ignored;
    size_t done_count, failed_count, ignored_count;
};

struct trail_eviction {
    const char *container, *plugin, *reason;
};

/* Further ones are counted, and no more. */
#define TRAIL_MOST 50000

struct trail {
    struct nri_arena arena;
    struct trail_event *events;
    struct trail_update *updates;
    struct trail_eviction *evictions;
    size_t event_count, event_room, update_count, update_room, eviction_count, eviction_room;
    size_t lost; /* what there was no room or memory for */
};

void trail_begin(struct trail *trail);
void trail_free(struct trail *trail);
void trail_add_event(struct trail *trail, nri_outcome *outcome);
void trail_add_update(struct trail *trail, const char *plugin, const nri_updates *list,
                      const char *const *failed, size_t failed_count, bool sync);
void trail_add_eviction(struct trail *trail, const char *container, const char *plugin,
                        const char *reason);
/* The entry of an outcome; NULL: it is none of these. */
const struct trail_event *trail_find(const struct trail *trail, const nri_outcome *outcome);
/* "CreateContainer app", with the name of the container, or the pod sandbox. */
const char *trail_event_text(const struct trail_event *event, char *text, size_t room);
/* Whether an event is the one that "CreateContainer", or "CreateContainer app", says. */
bool trail_event_is(const struct trail_event *event, enum nri_event number, const char *said);
bool trail_event_about(const struct trail_event *event, const char *id_or_name);

#endif
