/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The record of an event: who was asked, how long that took, what it changed. It is kept in the
 * event's arena; where that has no more, the record has a gap, and the event goes on.
 */
#include <string.h>

#include "model/model.h"
#include "runtime/internal.h"

static const char *keep(nri_outcome *event, const char *text, size_t length)
{
    const char *kept = nri_arena_text(&event->arena, text, length);

    return kept != NULL ? kept : "";
}

struct nri_rt_step *nri_rt_record(nri_outcome *event, const struct nri_rt_ask *ask,
                                  const nri_runtime_plugin *plugin, enum nri_step_result result,
                                  int code, const char *text)
{
    const uint64_t now = event->rt->now;
    struct nri_rt_step *step = nri_arena_zero(&event->arena, sizeof *step);

    if (step == NULL)
        return NULL;
    step->plugin = keep(event, plugin->id, strlen(plugin->id));
    step->text = text[0] == '\0' ? "" : keep(event, text, strlen(text));
    step->event = ask == NULL ? event->subject.event : ask->what;
    step->result = result;
    step->code = code;
    if (ask != NULL) {
        const uint64_t sent = ask->sent_at != 0 ? ask->sent_at : now;
        step->wait = sent - ask->queued_at;
        step->latency = now - sent;
    }
    *event->steps_end = step;
    event->steps_end = &step->next;
    event->step_count++;
    return step;
}

struct recording {
    nri_outcome *event;
    struct nri_rt_step *step;
};

static enum nri_change_action action_of(enum nri_merge_what what)
{
    switch (what) {
    case NRI_MERGE_SET:
        return NRI_CHANGE_SET;
    case NRI_MERGE_REPLACED:
        return NRI_CHANGE_REPLACED;
    case NRI_MERGE_KEPT:
        return NRI_CHANGE_KEPT;
    case NRI_MERGE_REMOVED:
        return NRI_CHANGE_REMOVED;
    case NRI_MERGE_EVICTED:
        return NRI_CHANGE_EVICTED;
    case NRI_MERGE_DROPPED:
        break;
    }
    return NRI_CHANGE_DROPPED;
}

static void take_change(void *user, const struct nri_merge_change *change)
{
    const struct recording *recording = user;
    nri_outcome *event = recording->event;
    struct nri_rt_step *step = recording->step;
    struct nri_rt_change *kept = &step->changes[step->change_count++];

    kept->field = (int)change->field;
    kept->action = action_of(change->what);
    kept->key = change->key == NULL ? "" : keep(event, change->key, change->key_length);
    kept->container =
        change->container == NULL || strcmp(change->container, event->about.container) == 0
            ? ""
            : change->container;
    kept->other = change->from == NULL ? "" : change->from;
}

void nri_rt_record_changes(nri_outcome *event, struct nri_rt_step *step)
{
    struct recording recording = {event, step};
    const size_t count = nri_merge_change_count(event->merge);

    step->changes = nri_arena_array(&event->arena, count + 1, sizeof *step->changes);
    if (step->changes == NULL)
        return;
    nri_merge_each_change(event->merge, take_change, &recording);
    struct nri_rt_event_stats *row =
        nri_rt_stats_of(&event->rt->stats, step->plugin, event->subject.event);
    if (row != NULL)
        row->adjustments += step->change_count;
}
