/* SPDX-License-Identifier: Apache-2.0 */
#include "account.h"

#include <string.h>

#include "difference.h"
#include "document.h"

static const char *const actions[] = {"set", "replaced", "kept", "removed", "dropped", "evicted"};
static const char *const results[] = {"answered", "skipped", "failed", "queued"};

static bool set_list(struct history *history, struct nri_json *object, const char *key,
                     const struct view_document *before, const struct view_document *after,
                     const char *plugin)
{
    struct difference_list list;
    if (difference_make(&history->arena, history->view.seed, before->root, after->root, &list) != 0)
        return false;
    return document_set(&history->arena, object, key,
                        difference_document(&history->arena, &list, plugin));
}

static struct nri_json *change_document(struct nri_arena *arena,
                                        const struct history_change *change)
{
    struct nri_json *object = nri_json_new(arena, NRI_JSON_OBJECT);
    const char *path = view_field_path(change->field);
    bool whole = document_set_text(arena, object, "field", nri_field_name(change->field)) &&
                 document_set_text(arena, object, "path", path != NULL ? path : "") &&
                 document_set_text(arena, object, "action", actions[change->action]);
    if (change->key[0] != '\0')
        whole = whole && document_set_text(arena, object, "key", change->key);
    if (change->container[0] != '\0')
        whole = whole && document_set_text(arena, object, "container", change->container);
    if (change->from[0] != '\0')
        whole = whole && document_set_text(arena, object, "from", change->from);
    if (change->no_effect)
        whole = whole && document_set(arena, object, "no_effect", nri_json_new_bool(arena, true));
    if (change->before != NULL)
        whole = whole && document_set(arena, object, "before", change->before);
    if (change->after != NULL)
        whole = whole && document_set(arena, object, "after", change->after);
    return whole ? object : NULL;
}

static struct nri_json *changes_document(struct nri_arena *arena, const struct history_turn *turn)
{
    struct nri_json *array = nri_json_new(arena, NRI_JSON_ARRAY);
    for (const struct history_change *at = turn->changes; array != NULL && at != NULL;
         at = at->next) {
        if (!document_append(arena, array, change_document(arena, at)))
            return NULL;
    }
    return array;
}

static struct nri_json *turn_document(struct history *history, const struct history_turn *turn,
                                      const struct view_document *before, bool differences)
{
    struct nri_arena *arena = &history->arena;
    struct nri_json *object = nri_json_new(arena, NRI_JSON_OBJECT);
    bool whole = document_set_text(arena, object, "plugin", turn->plugin) &&
                 document_set_text(arena, object, "event", nri_event_name(turn->event)) &&
                 document_set_text(arena, object, "result", results[turn->result]);
    if (turn->timed)
        whole = whole && document_set_number(arena, object, "latency_ns", turn->latency);
    if (turn->code != 0)
        whole = whole && document_set_text(arena, object, "code", nri_strerror(turn->code)) &&
                document_set_text(arena, object, "text", turn->text);
    whole = whole && document_set(arena, object, "changes", changes_document(arena, turn));
    if (differences)
        whole =
            whole && set_list(history, object, "differences", before, &turn->after, turn->plugin);
    return whole ? object : NULL;
}

static struct nri_json *turns_document(struct history *history, const struct history_event *event,
                                       bool differences)
{
    struct nri_json *array = nri_json_new(&history->arena, NRI_JSON_ARRAY);
    const struct view_document *before = &event->asked;
    for (const struct history_turn *at = event->turns; array != NULL && at != NULL; at = at->next) {
        if (!document_append(&history->arena, array,
                             turn_document(history, at, before, differences)))
            return NULL;
        before = &at->after;
    }
    return array;
}

static struct nri_json *event_document(struct history *history, const struct history_event *event,
                                       bool differences)
{
    struct nri_arena *arena = &history->arena;
    struct nri_json *object = nri_json_new(arena, NRI_JSON_OBJECT);
    bool whole =
        document_set_text(arena, object, "event", nri_event_name(event->event)) &&
        document_set_text(arena, object, "container", event->id) &&
        document_set_text(arena, object, "name", event->name) &&
        document_set_text(arena, object, "pod", event->pod) &&
        document_set(arena, object, "attributed", nri_json_new_bool(arena, !event->unattributed)) &&
        document_set(arena, object, "refused", nri_json_new_bool(arena, event->code != 0));
    if (event->code != 0)
        whole = whole && document_set_text(arena, object, "refused_by", event->refused_by) &&
                document_set_text(arena, object, "code", nri_strerror(event->code)) &&
                document_set_text(arena, object, "text", event->text);
    whole = whole &&
            document_set(arena, object, "plugins", turns_document(history, event, differences));
    if (differences || event->unattributed)
        whole =
            whole && set_list(history, object, "differences", &event->given, &event->last, NULL);
    if (differences)
        whole = whole && document_set(arena, object, "before", event->given.root) &&
                document_set(arena, object, "after", event->last.root);
    return whole ? object : NULL;
}

int account_json(struct nrictl *ctl, struct history *history, bool differences)
{
    struct nri_arena *arena = &history->arena;
    struct nri_json *object = nri_json_new(arena, NRI_JSON_OBJECT);
    struct nri_json *array = nri_json_new(arena, NRI_JSON_ARRAY);
    bool whole = array != NULL;
    int code = NRICTL_OK;
    for (const struct history_event *at = history->events; whole && at != NULL; at = at->next) {
        whole = document_append(arena, array, event_document(history, at, differences));
        if (at->code != 0)
            code = NRICTL_FINDING;
    }
    whole = whole && document_set(arena, object, "events", array);
    const int written = document_print(ctl, whole ? object : NULL);
    return written != NRICTL_OK ? written : code;
}
