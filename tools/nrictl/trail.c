/* SPDX-License-Identifier: Apache-2.0 */
#include "trail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "json/json.h"

void trail_begin(struct trail *trail)
{
    *trail = (struct trail){.lost = 0};
    memory_arena(&trail->arena, SIZE_MAX);
}

void trail_free(struct trail *trail)
{
    for (size_t i = 0; i < trail->event_count; i++)
        nri_outcome_unref(trail->events[i].outcome);
    free(trail->events);
    free(trail->updates);
    free(trail->evictions);
    nri_arena_fini(&trail->arena);
}

/* Room for one more; false: there is none. */
static bool grow(struct trail *trail, void *list, size_t count, size_t *room, size_t size)
{
    void **entries = list;
    if (count < *room)
        return true;
    const size_t larger = *room == 0 ? 64 : 2 * *room;
    void *made = count < TRAIL_MOST ? realloc(*entries, larger * size) : NULL;
    if (made == NULL) {
        trail->lost++;
        return false;
    }
    *entries = made;
    *room = larger;
    return true;
}

static const char *keep(struct trail *trail, const char *text)
{
    const char *kept = nri_arena_text(&trail->arena, text, strlen(text));
    return kept != NULL ? kept : "";
}

/* Who an event is about stands in the outcome's record only. */
static void read_about(struct trail *trail, struct trail_event *event)
{
    struct nri_arena arena;
    struct nri_json *record = NULL;
    char *text = NULL;
    size_t length = 0;
    memory_arena(&arena, SIZE_MAX);
    if (nri_outcome_json(event->outcome, NULL, &text, &length) == 0 &&
        nri_json_parse(&arena, text, length, NULL, NULL, &record, NULL) == 0) {
        event->pod = keep(trail, nri_json_string(nri_json_get(record, "pod"), NULL));
        event->pod_name = keep(trail, nri_json_string(nri_json_get(record, "pod_name"), NULL));
        event->container = keep(trail, nri_json_string(nri_json_get(record, "container"), NULL));
        event->container_name =
            keep(trail, nri_json_string(nri_json_get(record, "container_name"), NULL));
    }
    nri_outcome_text_free(text);
    nri_arena_fini(&arena);
}

void trail_add_event(struct trail *trail, nri_outcome *outcome)
{
    if (!grow(trail, &trail->events, trail->event_count, &trail->event_room, sizeof *trail->events))
        return;
    struct trail_event *event = &trail->events[trail->event_count++];
    *event = (struct trail_event){.outcome = nri_outcome_ref(outcome),
                                  .event = nri_outcome_event(outcome),
                                  .pod = "",
                                  .pod_name = "",
                                  .container = "",
                                  .container_name = ""};
    read_about(trail, event);
}

/* ---- of plugins' own accord ---- */

static bool is_among(const char *text, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], text) == 0)
            return true;
    }
    return false;
}

static bool is_ignored(const nri_updates *list, const char *id)
{
    for (size_t i = 0; i < nri_updates_count(list); i++) {
        const nri_update *update = nri_updates_at(list, i);
        if (strcmp(nri_update_container_id(update), id) == 0)
            return nri_update_ignore_failure(update);
    }
    return false;
}

void trail_add_update(struct trail *trail, const char *plugin, const nri_updates *list,
                      const char *const *failed, size_t failed_count, bool sync)
{
    const size_t count = nri_updates_count(list);
    const char **done = nri_arena_array(&trail->arena, count + 1, sizeof *done);
    const char **told = nri_arena_array(&trail->arena, failed_count + 1, sizeof *told);
    const char **ignored = nri_arena_array(&trail->arena, failed_count + 1, sizeof *ignored);
    if (done == NULL || told == NULL || ignored == NULL) {
        trail->lost++;
        return;
    }
    if (!grow(trail, &trail->updates, trail->update_count, &trail->update_room,
              sizeof *trail->updates))
        return;
    struct trail_update *update = &trail->updates[trail->update_count++];
    *update = (struct trail_update){.plugin = keep(trail, plugin),
                                    .sync = sync,
                                    .done = done,
                                    .failed = told,
                                    .ignored = ignored};
    for (size_t i = 0; i < failed_count; i++) {
        if (is_ignored(list, failed[i]))
            ignored[update->ignored_count++] = keep(trail, failed[i]);
        else
            told[update->failed_count++] = keep(trail, failed[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const char *id = nri_update_container_id(nri_updates_at(list, i));
        if (!is_among(id, failed, failed_count))
            done[update->done_count++] = keep(trail, id);
    }
}

void trail_add_eviction(struct trail *trail, const char *container, const char *plugin,
                        const char *reason)
{
    if (grow(trail, &trail->evictions, trail->eviction_count, &trail->eviction_room,
             sizeof *trail->evictions))
        trail->evictions[trail->eviction_count++] = (struct trail_eviction){
            keep(trail, container), keep(trail, plugin), keep(trail, reason)};
}

/* ---- reading ---- */

const struct trail_event *trail_find(const struct trail *trail, const nri_outcome *outcome)
{
    /* What is asked for is mostly among the last. */
    for (size_t i = trail->event_count; i-- > 0;) {
        if (trail->events[i].outcome == outcome)
            return &trail->events[i];
    }
    return NULL;
}

const char *trail_event_text(const struct trail_event *event, char *text, size_t room)
{
    const char *name = *event->container_name != '\0' ? event->container_name
                       : *event->container != '\0'    ? event->container
                       : *event->pod_name != '\0'     ? event->pod_name
                                                      : event->pod;
    (void)snprintf(text, room, "%s %s", nri_event_name(event->event), name);
    return text;
}

bool trail_event_about(const struct trail_event *event, const char *id_or_name)
{
    if (*event->container != '\0' && (strcmp(event->container, id_or_name) == 0 ||
                                      strcmp(event->container_name, id_or_name) == 0))
        return true;
    return strcmp(event->pod, id_or_name) == 0 || strcmp(event->pod_name, id_or_name) == 0;
}

bool trail_event_is(const struct trail_event *event, enum nri_event number, const char *said)
{
    const char *name = nri_event_name(number);
    const size_t length = strlen(name);
    if (strncmp(name, said, length) != 0 || (said[length] != '\0' && said[length] != ' '))
        return false;
    if (said[length] == '\0')
        return true;
    said += length + 1;
    if (*event->container != '\0')
        return strcmp(event->container, said) == 0 || strcmp(event->container_name, said) == 0;
    return strcmp(event->pod, said) == 0 || strcmp(event->pod_name, said) == 0;
}
