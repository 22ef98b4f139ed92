/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a rehearsal came to: as text for people, as JSON, as JUnit XML and as TAP for CI.
 */
#ifndef NRICTL_REPORT_H
#define NRICTL_REPORT_H

#include "rehearsal.h"

/* Whether all was done, and held. */
bool report_passed(const struct rehearsal *rehearsal);
/* Why it is not whole, in words; NULL: it is. */
const char *report_end_text(const struct rehearsal *rehearsal);
/* The findings of a step that did not hold: the first one from `at` on; NULL: no more. */
const struct finding *report_failure(const struct rehearsal *rehearsal, size_t step, size_t *at);

/* NRICTL_OK, or NRICTL_ENVIRONMENT after a message. */
int report_text(const struct rehearsal *rehearsal);
int report_json(const struct rehearsal *rehearsal);
int report_junit(const struct rehearsal *rehearsal, FILE *out);
int report_tap(const struct rehearsal *rehearsal, FILE *out);

/* ---- what they share: latencies of a plugin's answers ---- */

struct report_latency {
    const char *plugin;
    uint64_t answers, failures, sum, longest; /* nanoseconds */
};
/* One for each plugin that was asked, in the order of the first question; *list is freed by the
 * caller. False: no memory. */
bool report_latencies(const struct rehearsal *rehearsal, struct report_latency **list,
                      size_t *count);

/* Who set what in an adjustment, in the order of the plugins' answers: calls `each` for everything
 * that has an owner in the end, and for removals. */
struct report_owner {
    int field;
    const char *key, *plugin;
    bool removed;
};
void report_owners(const nri_outcome *outcome,
                   void (*each)(const struct report_owner *owner, void *user), void *user);

/* A field for people: NRI's name; rules of the device cgroup have none. */
const char *report_field(int field);

#endif
