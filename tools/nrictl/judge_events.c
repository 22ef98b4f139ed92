/* SPDX-License-Identifier: Apache-2.0 */
/* What happened, in its order: events, updates of plugins' own accord, who is connected. */
#include <stdio.h>
#include <string.h>

#include "judge.h"
#include "match.h"

/* ---- the sequence ---- */

struct sequence {
    const struct judge *judge;
    const char *plugin; /* what it was asked; NULL: the node's own */
    const char *about;  /* NULL: of everything */
    struct trail_event *entries;
    size_t count, room;
    bool failed;
};

static void add(struct sequence *sequence, const struct trail_event *event, enum nri_event number)
{
    if (sequence->about != NULL && !trail_event_about(event, sequence->about))
        return;
    if (sequence->count == sequence->room) {
        const size_t room = sequence->room == 0 ? 64 : 2 * sequence->room;
        struct trail_event *entries =
            nri_arena_array(sequence->judge->arena, room, sizeof *entries);
        if (entries == NULL) {
            sequence->failed = true;
            return;
        }
        if (sequence->count > 0)
            memcpy(entries, sequence->entries, sequence->count * sizeof *entries);
        sequence->entries = entries;
        sequence->room = room;
    }
    sequence->entries[sequence->count] = *event;
    sequence->entries[sequence->count++].event = number;
}

static void add_event(struct sequence *sequence, const struct trail_event *event)
{
    if (event == NULL)
        return;
    if (sequence->plugin == NULL) {
        add(sequence, event, event->event);
        return;
    }
    for (size_t i = 0; i < nri_outcome_step_count(event->outcome); i++) {
        if (judge_is_plugin(nri_outcome_step_plugin(event->outcome, i), sequence->plugin))
            add(sequence, event, nri_outcome_step_event(event->outcome, i));
    }
}

static void collect(struct sequence *sequence, bool since_start)
{
    const struct judge *judge = sequence->judge;
    const struct trail *trail = &judge->rehearsal->trail;
    for (size_t i = 0; since_start && i < trail->event_count; i++)
        add_event(sequence, &trail->events[i]);
    for (size_t i = 0; !since_start && i < judge->result->outcome_count; i++)
        add_event(sequence, trail_find(trail, judge->result->outcomes[i]));
}

static const char *sequence_text(const struct sequence *sequence)
{
    const struct judge *judge = sequence->judge;
    const char **texts = nri_arena_array(judge->arena, sequence->count + 1, sizeof *texts);
    for (size_t i = 0; texts != NULL && i < sequence->count; i++) {
        char text[300];
        (void)trail_event_text(&sequence->entries[i], text, sizeof text);
        texts[i] = nri_arena_text(judge->arena, text, strlen(text));
        if (texts[i] == NULL)
            texts[i] = "";
    }
    return judge_text(judge, texts == NULL ? NULL : judge_list(judge, texts, sequence->count));
}

static bool is(const struct sequence *sequence, size_t index, const struct nri_json *said)
{
    const struct trail_event *event = &sequence->entries[index];
    return trail_event_is(event, event->event, nri_json_string(said, NULL));
}

static bool holds_equal(const struct sequence *sequence, const struct nri_json *list)
{
    for (size_t i = 0; i < sequence->count && i < nri_json_count(list); i++) {
        if (!is(sequence, i, nri_json_at(list, i)))
            return false;
    }
    return sequence->count == nri_json_count(list);
}

static bool holds_contains(const struct sequence *sequence, const struct nri_json *list)
{
    size_t found = 0;
    for (size_t i = 0; i < sequence->count && found < nri_json_count(list); i++)
        found += is(sequence, i, nri_json_at(list, found)) ? 1 : 0;
    return found == nri_json_count(list);
}

static bool holds_absent(const struct sequence *sequence, const struct nri_json *list)
{
    for (size_t i = 0; i < sequence->count; i++) {
        for (size_t j = 0; j < nri_json_count(list); j++) {
            if (is(sequence, i, nri_json_at(list, j)))
                return false;
        }
    }
    return true;
}

static void judge_sequence(const struct judge *judge, const struct nri_json *member)
{
    static const struct {
        const char *key, *what;
        bool (*holds)(const struct sequence *sequence, const struct nri_json *list);
    } ways[] = {{"equal", "events equal", holds_equal},
                {"contains", "events contain", holds_contains},
                {"absent", "events without", holds_absent}};
    const struct nri_json *plugin = nri_json_get(member, "plugin");
    const struct nri_json *about = nri_json_get(member, "about");
    const struct nri_json *since = nri_json_get(member, "since");
    struct sequence sequence = {
        .judge = judge,
        .plugin = plugin != NULL ? nri_json_string(plugin, NULL) : NULL,
        .about = about != NULL ? nri_json_string(about, NULL) : NULL,
    };
    collect(&sequence, since != NULL && strcmp(nri_json_string(since, NULL), "start") == 0);
    const char *seen = sequence_text(&sequence);
    if (nri_json_type(member) == NRI_JSON_ARRAY) {
        judge_say(judge, member, !sequence.failed && holds_equal(&sequence, member), "events",
                  judge_text(judge, member), seen);
        return;
    }
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const struct nri_json *list = nri_json_get(member, ways[i].key);
        if (list != NULL)
            judge_say(judge, list, !sequence.failed && ways[i].holds(&sequence, list), ways[i].what,
                      judge_text(judge, list), seen);
    }
}

/* ---- updates of plugins' own accord ---- */

static void judge_updated(const struct judge *judge, const struct nri_json *member)
{
    const struct trail *trail = &judge->rehearsal->trail;
    const char *plugin = nri_json_string(nri_json_get(member, "plugin"), NULL);
    const struct trail_update *last = NULL;
    for (size_t i = 0; i < trail->update_count; i++) {
        if (!trail->updates[i].sync && judge_is_plugin(trail->updates[i].plugin, plugin))
            last = &trail->updates[i];
    }
    if (last == NULL) {
        judge_say(judge, member, false, "updated", judge_text(judge, member),
                  "no update of this plugin's own accord");
        return;
    }
    const struct nri_json *parts[] = {judge_list(judge, last->done, last->done_count),
                                      judge_list(judge, last->failed, last->failed_count),
                                      judge_list(judge, last->ignored, last->ignored_count)};
    static const char *const keys[] = {"done", "failed", "ignored"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const struct nri_json *expected = nri_json_get(member, keys[i]);
        char what[40];
        (void)snprintf(what, sizeof what, "updated, %s", keys[i]);
        if (expected != NULL)
            judge_say(judge, expected, parts[i] != NULL && match_equal(expected, parts[i]), what,
                      judge_text(judge, expected), judge_text(judge, parts[i]));
    }
}

/* ---- who is connected ---- */

static void judge_plugins(const struct judge *judge, const struct nri_json *member)
{
    const nri_runtime *runtime = node_runtime(judge->rehearsal->node);
    struct nri_json *seen = judge_list(judge, NULL, 0);
    nri_runtime_plugin *plugin = NULL;
    size_t count = 0;
    bool held = seen != NULL;
    while ((plugin = nri_runtime_next_plugin(runtime, plugin)) != NULL) {
        const char *id = nri_runtime_plugin_id(plugin);
        const struct nri_json *expected = nri_json_at(member, count++);
        struct nri_json *text = nri_json_new_string(judge->arena, id, strlen(id));
        held = held && text != NULL && nri_json_append(judge->arena, seen, text) == 0 &&
               expected != NULL && judge_is_plugin(id, nri_json_string(expected, NULL));
    }
    judge_say(judge, member, held && count == nri_json_count(member), "plugins",
              judge_text(judge, member), judge_text(judge, seen));
}

void judge_events(const struct judge *judge)
{
    const struct nri_json *member;
    if ((member = nri_json_get(judge->value, "events")) != NULL)
        judge_sequence(judge, member);
    if ((member = nri_json_get(judge->value, "updated")) != NULL)
        judge_updated(judge, member);
    if ((member = nri_json_get(judge->value, "plugins")) != NULL)
        judge_plugins(judge, member);
}
