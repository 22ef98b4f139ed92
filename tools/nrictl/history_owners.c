/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a validator is told, as a history: all that plugins adjusted is merged already, and of each
 * field, or each of its keys, the owner is named.
 */
#include <string.h>

#include "history.h"
#include "wire/message.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

struct telling {
    struct history *history;
    struct history_event *event;
    struct history_turn *turn;
    const char *plugin;
};

/* Whether an owner is this plugin: "NN-name", "-NN-name" of what it removed, or one of several that
 * are separated by commas. */
static bool is_owner(const char *owner, const char *plugin, bool *removed)
{
    const size_t length = strlen(plugin);
    *removed = owner[0] == '-';
    const char *at = *removed ? owner + 1 : owner;
    for (;;) {
        const size_t count = strcspn(at, ",");
        if (count == length && memcmp(at, plugin, count) == 0)
            return true;
        if (at[count] == '\0')
            return false;
        at += count + 1;
    }
}

static int add_change(struct telling *telling, int field, const char *key, const char *owner)
{
    struct history *history = telling->history;
    bool removed;
    if (!is_owner(owner, telling->plugin, &removed))
        return 0;
    struct history_change *change = nri_arena_zero(&history->arena, sizeof *change);
    if (change == NULL)
        return NRI_E_NOMEM;
    change->field = field;
    change->action = removed ? NRI_CHANGE_REMOVED : NRI_CHANGE_SET;
    change->container = change->from = "";
    change->key = nri_arena_text(&history->arena, key, nri_message_text_length(key));
    if (change->key == NULL)
        return NRI_E_NOMEM;
    *telling->turn->changes_end = change;
    telling->turn->changes_end = &change->next;
    telling->turn->change_count++;
    int code =
        view_value(&history->view, &telling->event->given, field, change->key, &change->before);
    if (code == 0)
        code =
            view_value(&history->view, &telling->event->last, field, change->key, &change->after);
    change->no_effect = !removed && change->after == NULL;
    return code;
}

static int add_changes(struct telling *telling, const MESSAGE(FieldOwners) * owners)
{
    int code = 0;
    for (size_t i = 0; code == 0 && i < owners->n_simple; i++)
        code = add_change(telling, (int)owners->simple[i]->key, protobuf_c_empty_string,
                          owners->simple[i]->value);
    for (size_t i = 0; code == 0 && i < owners->n_compound; i++) {
        const MESSAGE(CompoundFieldOwners) *keys = owners->compound[i]->value;
        for (size_t j = 0; code == 0 && keys != NULL && j < keys->n_owners; j++)
            code = add_change(telling, (int)owners->compound[i]->key, keys->owners[j]->key,
                              keys->owners[j]->value);
    }
    return code;
}

static int add_turn(struct history *history, struct history_event *event,
                    const MESSAGE(PluginInstance) * plugin, const MESSAGE(OwningPlugins) * owners)
{
    char name[512];
    (void)snprintf(name, sizeof name, "%.2s-%.500s", plugin->index, plugin->name);
    const struct history_answer answer = {.plugin = name, .event = NRI_EVENT_CREATE_CONTAINER};
    int code = history_answer(history, event, &answer);
    if (code != 0)
        return code;
    struct telling telling = {.history = history, .event = event, .plugin = name};
    for (telling.turn = event->turns; telling.turn->next != NULL;)
        telling.turn = telling.turn->next;
    for (size_t i = 0; code == 0 && owners != NULL && i < owners->n_owners; i++) {
        if (strcmp(owners->owners[i]->key, event->id) == 0 && owners->owners[i]->value != NULL)
            code = add_changes(&telling, owners->owners[i]->value);
    }
    return code;
}

int history_validated(struct history *history,
                      const MESSAGE(ValidateContainerAdjustmentRequest) * request)
{
    struct history_event *event;
    struct view_document after;
    int code = history_begin(history, NRI_EVENT_CREATE_CONTAINER, request->pod, request->container,
                             NULL, &event);
    if (code == 0)
        code =
            view_adjusted(&history->view, &event->given, request->adjust, &after, &history->error);
    if (code != 0)
        return code;
    event->last = after;
    for (size_t i = 0; code == 0 && i < request->n_plugins; i++)
        code = add_turn(history, event, request->plugins[i], request->owners);
    return code != 0 ? code : history_conclude(history, event, 0, NULL, NULL);
}
