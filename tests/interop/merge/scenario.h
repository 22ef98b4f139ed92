/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Random requests with three plugins' replies, from a seed that is fixed by the index, in JSON; and
 * a count of what was tried with each field.
 */
#ifndef NRI_TESTS_MERGE_SCENARIO_H
#define NRI_TESTS_MERGE_SCENARIO_H

#include <nri/event.h>
#include <nri/field.h>
#include <stddef.h>

#define SCENARIO_PLUGINS 3
#define SCENARIO_FIELDS  (NRI_FIELD_MEMORY_POLICY + 1)
#define SCENARIO_TEXT    8192

struct scenario {
    enum nri_event event;
    char request[SCENARIO_TEXT + 128];             /* the event's request */
    char replies[SCENARIO_PLUGINS][SCENARIO_TEXT]; /* the event's responses */
};

/* How often a field was set, removed, and set again in an update that may fail. Conflicts are
 * counted where they are found. */
struct scenario_counts {
    size_t set[SCENARIO_FIELDS], removed[SCENARIO_FIELDS], ignored[SCENARIO_FIELDS];
};

void scenario_make(struct scenario *scenario, size_t index, struct scenario_counts *counts);
/* Whether a field can be removed, and whether it can be updated. */
int scenario_can_remove(int field);
int scenario_can_update(int field);

#endif
