/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Looking at what a step expects: each part of an expectation becomes a finding.
 */
#ifndef NRICTL_JUDGE_H
#define NRICTL_JUDGE_H

#include "rehearsal.h"

struct judge {
    struct rehearsal *rehearsal;
    size_t number;                    /* of the step that expects */
    const struct nri_json *value;     /* the expectation */
    size_t about;                     /* of the step that it is about */
    const struct step_result *result; /* that step's */
    const char *subject;              /* the id that container, pod, oci, state are about */
    bool is_pod;
    struct nri_arena *arena; /* for the time of this expectation */
};

/* What an expectation came to: `member` is the part of it, for its line. */
void judge_say(const struct judge *judge, const struct nri_json *member, bool held,
               const char *what, const char *expected, const char *seen);
/* The text of a value, short enough for a report; "absent" for NULL. */
const char *judge_text(const struct judge *judge, const struct nri_json *value);
/* A list of texts as a value of the arena; NULL: no memory. */
struct nri_json *judge_list(const struct judge *judge, const char *const *texts, size_t count);
/* The outcome of a step's event; NULL: it was not sent. */
nri_outcome *judge_outcome(const struct judge *judge, enum nri_event event);
bool judge_is_plugin(const char *id, const char *name);

/* judge_outcome.c: ok, code, error, refused_by, conflict, skipped, not_updated, latency */
void judge_outcomes(const struct judge *judge);
/* judge_events.c: events, updated, plugins */
void judge_events(const struct judge *judge);
/* judge_values.c: adjustment, resources, updates, container, pod, oci, state, owners */
void judge_values(const struct judge *judge);

#endif
