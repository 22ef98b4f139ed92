/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <stdlib.h>
#include <string.h>

bool report_passed(const struct rehearsal *rehearsal)
{
    return rehearsal->end == END_WHOLE && rehearsal->findings.failed == 0;
}

const char *report_end_text(const struct rehearsal *rehearsal)
{
    switch (rehearsal->end) {
    case END_WAIT:
        return "what was waited for did not come";
    case END_TIMEOUT:
        return "it took longer than --timeout";
    case END_INTERRUPTED:
        return "it was interrupted";
    case END_BROKEN:
        return "it could not be run";
    default:
        return NULL;
    }
}

const struct finding *report_failure(const struct rehearsal *rehearsal, size_t step, size_t *at)
{
    const struct findings *findings = &rehearsal->findings;
    while (*at < findings->count) {
        const struct finding *finding = &findings->list[(*at)++];
        if (finding->step == step && !finding->held)
            return finding;
    }
    return NULL;
}

/* ---- latencies ---- */

static struct report_latency *find(struct report_latency **list, size_t *count, size_t *room,
                                   const char *plugin)
{
    for (size_t i = 0; i < *count; i++) {
        if (strcmp((*list)[i].plugin, plugin) == 0)
            return &(*list)[i];
    }
    if (*count == *room) {
        const size_t larger = *room == 0 ? 16 : 2 * *room;
        struct report_latency *made = realloc(*list, larger * sizeof *made);
        if (made == NULL)
            return NULL;
        *list = made;
        *room = larger;
    }
    (*list)[*count] = (struct report_latency){.plugin = plugin};
    return &(*list)[(*count)++];
}

bool report_latencies(const struct rehearsal *rehearsal, struct report_latency **list,
                      size_t *count)
{
    const struct trail *trail = &rehearsal->trail;
    size_t room = 0;
    *list = NULL;
    *count = 0;
    for (size_t i = 0; i < trail->event_count; i++) {
        const nri_outcome *outcome = trail->events[i].outcome;
        for (size_t j = 0; j < nri_outcome_step_count(outcome); j++) {
            if (nri_outcome_step_result(outcome, j) == NRI_STEP_QUEUED)
                continue;
            struct report_latency *latency =
                find(list, count, &room, nri_outcome_step_plugin(outcome, j));
            if (latency == NULL)
                return false;
            const uint64_t took = nri_outcome_step_latency(outcome, j);
            latency->answers++;
            latency->failures += nri_outcome_step_result(outcome, j) == NRI_STEP_ANSWERED ? 0 : 1;
            latency->sum += took;
            latency->longest = took > latency->longest ? took : latency->longest;
        }
    }
    return true;
}

/* ---- owners ---- */

const char *report_field(int field)
{
    return field == NRI_FIELD_NONE ? "device rules" : nri_field_name(field);
}

/* Whether a later step of the outcome has something to say about the same thing: then that counts.
 * Rules of the device cgroup of several plugins stand side by side. */
static bool is_last(const nri_outcome *outcome, size_t step, size_t change, int field,
                    const char *key)
{
    const size_t end = field == NRI_FIELD_NONE ? step + 1 : nri_outcome_step_count(outcome);
    for (size_t i = step; i < end; i++) {
        const char *other_key, *container;
        enum nri_change_action action;
        int other;
        for (size_t j = i == step ? change + 1 : 0;
             nri_outcome_change_at(outcome, i, j, &other, &other_key, &container, NULL, &action);
             j++) {
            if (other == field && *container == '\0' && strcmp(other_key, key) == 0 &&
                action != NRI_CHANGE_KEPT && action != NRI_CHANGE_EVICTED &&
                field != NRI_FIELD_OCI_HOOKS)
                return false;
        }
    }
    return true;
}

void report_owners(const nri_outcome *outcome,
                   void (*each)(const struct report_owner *owner, void *user), void *user)
{
    for (size_t i = 0; i < nri_outcome_step_count(outcome); i++) {
        const char *key, *container;
        enum nri_change_action action;
        int field;
        for (size_t j = 0;
             nri_outcome_change_at(outcome, i, j, &field, &key, &container, NULL, &action); j++) {
            if (*container != '\0' || action == NRI_CHANGE_KEPT || action == NRI_CHANGE_DROPPED ||
                action == NRI_CHANGE_EVICTED || !is_last(outcome, i, j, field, key))
                continue;
            const struct report_owner owner = {.field = field,
                                               .key = key,
                                               .plugin = nri_outcome_step_plugin(outcome, i),
                                               .removed = action == NRI_CHANGE_REMOVED};
            each(&owner, user);
        }
    }
}
