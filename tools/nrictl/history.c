/* SPDX-License-Identifier: Apache-2.0 */
#include "history.h"

#include <string.h>

#include "difference.h"
#include "io/host.h"
#include "memory.h"
#include "model/model.h"
#include "runtime/core.h"
#include "runtime/merge.h"
#include "wire/message.h"

#define MESSAGE(type) Nri__Pkg__Api__V1alpha1__##type

/* Views of many plugins' steps are large; more than this is no recording of a node's. */
#define MOST_MEMORY ((size_t)2 << 30)

int history_open(struct history *history, bool go_compatible, const uint8_t *merge_policy)
{
    const struct nri_host *host = nri_host_system();
    memset(history, 0, sizeof *history);
    memory_arena(&history->arena, MOST_MEMORY);
    history->view = (struct view){.arena = &history->arena, .go_compatible = go_compatible};
    history->events_end = &history->events;
    if (merge_policy != NULL)
        memcpy(history->merge_policy, merge_policy, sizeof history->merge_policy);
    if (host->random(host->context, history->view.seed, sizeof history->view.seed) != 0)
        return nri_error_set(&history->error, NRI_E_IO, "no random numbers");
    return 0;
}

void history_fini(struct history *history)
{
    nri_arena_fini(&history->arena);
}

static int no_memory(struct history *history)
{
    const int code = history->arena.failure != 0 ? history->arena.failure : NRI_E_NOMEM;
    return nri_error_set(&history->error, code, "no memory for what plugins made of a container");
}

static const char *keep(struct history *history, const char *text)
{
    const char *from = text != NULL ? text : "";
    return nri_arena_text(&history->arena, from, strlen(from));
}

/* ---- an event begins ---- */

struct history_event *history_last(const struct history *history, const char *id)
{
    struct history_event *found = NULL;
    for (struct history_event *at = history->events; at != NULL; at = at->next) {
        if (strcmp(at->id, id) == 0)
            found = at;
    }
    return found;
}

static int make_views(struct history *history, struct history_event *event,
                      const struct history_event *known, const nri_container *container,
                      const MESSAGE(LinuxResources) * resources)
{
    int code = 0;
    if (known != NULL && event->event == NRI_EVENT_UPDATE_CONTAINER)
        event->given = (struct view_document){.root = known->last.root};
    else
        code = view_container(&history->view, container, false, &event->given, &history->error);
    event->asked = event->given;
    if (code == 0 && resources != NULL)
        code =
            view_updated(&history->view, &event->given, resources, &event->asked, &history->error);
    event->last = event->asked;
    return code;
}

int history_begin(struct history *history, enum nri_event what, const MESSAGE(PodSandbox) * pod,
                  const MESSAGE(Container) * container, const MESSAGE(LinuxResources) * resources,
                  struct history_event **event)
{
    struct nri_merge_settings settings = {.go_compatible = history->view.go_compatible,
                                          .changes = true};
    struct history_event *made = nri_arena_zero(&history->arena, sizeof *made);
    const nri_container *reader = nri_container_view(container);
    if (made == NULL)
        return no_memory(history);
    memcpy(settings.policy, history->merge_policy, sizeof settings.policy);
    made->event = what;
    made->turns_end = &made->turns;
    made->id = keep(history, nri_container_id(reader));
    made->name = keep(history, nri_container_name(reader));
    made->pod = keep(history, nri_pod_name(nri_pod_view(pod)));
    made->text = made->refused_by = "";
    /* The merge stands on what it is given. */
    const MESSAGE(Container) *kept =
        container != NULL ? (const void *)nri_message_copy(&container->base, &history->arena)
                          : NULL;
    const MESSAGE(LinuxResources) *asked =
        resources != NULL ? (const void *)nri_message_copy(&resources->base, &history->arena)
                          : NULL;
    if (made->id == NULL || made->name == NULL || made->pod == NULL ||
        (container != NULL && kept == NULL) || (resources != NULL && asked == NULL))
        return no_memory(history);
    int code =
        make_views(history, made, history_last(history, made->id), nri_container_view(kept), asked);
    if (code == 0)
        code = nri_merge_new(&made->merge, &history->arena, history->view.seed, &settings, what,
                             NULL, kept, asked, &history->error);
    if (code != 0)
        return code;
    *history->events_end = made;
    history->events_end = &made->next;
    *event = made;
    return 0;
}

/* ---- what a plugin changed ---- */

/* Taking the changes of one answer. */
struct taking {
    struct history *history;
    struct history_event *event;
    struct history_turn *turn;
    MESSAGE(ContainerUpdate) *const *updates; /* of the answer */
    size_t update_count, update_at;           /* changes come in the order of updates */
    const char *other_id;                     /* whose view `other` is; NULL: none */
    struct view_document other;
    int failure;
};

/* The resources of the update of another container, on their own. */
static int view_other(struct taking *taking, const char *id)
{
    struct view_document empty = {.root = NULL};
    struct nri_error error;
    if (taking->other_id != NULL && strcmp(taking->other_id, id) == 0)
        return 0;
    empty.root = nri_json_new(&taking->history->arena, NRI_JSON_OBJECT);
    if (empty.root == NULL)
        return NRI_E_NOMEM;
    taking->other_id = id;
    taking->other = empty;
    for (size_t i = 0; i < taking->update_count; i++) {
        const size_t at = (taking->update_at + i) % taking->update_count;
        const MESSAGE(ContainerUpdate) *update = taking->updates[at];
        if (strcmp(update->container_id, id) != 0)
            continue;
        taking->update_at = at;
        return update->linux == NULL
                   ? 0
                   : view_updated(&taking->history->view, &empty, update->linux->resources,
                                  &taking->other, &error);
    }
    return 0;
}

static enum nri_change_action action_of(enum nri_merge_what what)
{
    static const enum nri_change_action actions[] = {
        [NRI_MERGE_SET] = NRI_CHANGE_SET,         [NRI_MERGE_REPLACED] = NRI_CHANGE_REPLACED,
        [NRI_MERGE_KEPT] = NRI_CHANGE_KEPT,       [NRI_MERGE_REMOVED] = NRI_CHANGE_REMOVED,
        [NRI_MERGE_DROPPED] = NRI_CHANGE_DROPPED, [NRI_MERGE_EVICTED] = NRI_CHANGE_EVICTED,
    };
    return actions[what];
}

static int find_values(struct taking *taking, struct history_change *change)
{
    const struct view *view = &taking->history->view;
    int code;
    if (change->container[0] != '\0') {
        code = view_other(taking, change->container);
        return code != 0
                   ? code
                   : view_value(view, &taking->other, change->field, change->key, &change->after);
    }
    code = view_value(view, &taking->event->last, change->field, change->key, &change->before);
    if (code == 0)
        code = view_value(view, &taking->turn->after, change->field, change->key, &change->after);
    change->no_effect =
        change->action == NRI_CHANGE_REMOVED
            ? change->after != NULL && difference_none(change->before, change->after)
            : change->after == NULL &&
                  (change->action == NRI_CHANGE_SET || change->action == NRI_CHANGE_REPLACED);
    return code;
}

static void take_change(void *user, const struct nri_merge_change *from)
{
    struct taking *taking = user;
    struct history *history = taking->history;
    const bool own = from->container == NULL || strcmp(from->container, taking->event->id) == 0;
    struct history_change *change = nri_arena_zero(&history->arena, sizeof *change);
    if (change == NULL) {
        taking->failure = NRI_E_NOMEM;
        return;
    }
    change->field = (int)from->field;
    change->action = action_of(from->what);
    change->key = nri_arena_text(&history->arena, from->key != NULL ? from->key : "",
                                 from->key != NULL ? from->key_length : 0);
    change->container = own ? "" : from->container;
    change->from = from->from != NULL ? from->from : "";
    *taking->turn->changes_end = change;
    taking->turn->changes_end = &change->next;
    taking->turn->change_count++;
    if (change->key == NULL)
        taking->failure = NRI_E_NOMEM;
    if (taking->failure == 0 && change->action != NRI_CHANGE_EVICTED)
        taking->failure = find_values(taking, change);
}

/* ---- an answer ---- */

static int merge_reply(struct history *history, struct history_event *event,
                       struct history_turn *turn, const ProtobufCMessage *reply)
{
    if (event->event == NRI_EVENT_CREATE_CONTAINER)
        return nri_merge_create_reply(event->merge, turn->plugin, (const void *)reply,
                                      &history->error);
    return nri_merge_update_reply(event->merge, turn->plugin, (const void *)reply, &history->error);
}

static int make_view(struct history *history, struct history_event *event,
                     struct history_turn *turn)
{
    if (event->event == NRI_EVENT_CREATE_CONTAINER) {
        const MESSAGE(CreateContainerResponse) *whole = nri_merge_create_result(event->merge);
        return whole == NULL ? no_memory(history)
                             : view_adjusted(&history->view, &event->given, whole->adjust,
                                             &turn->after, &history->error);
    }
    return view_updated(&history->view, &event->given, nri_merge_resources(event->merge, NULL),
                        &turn->after, &history->error);
}

static int take_changes(struct history *history, struct history_event *event,
                        struct history_turn *turn, const ProtobufCMessage *reply)
{
    struct taking taking = {.history = history, .event = event, .turn = turn};
    if (event->event == NRI_EVENT_CREATE_CONTAINER) {
        const MESSAGE(CreateContainerResponse) *create = (const void *)reply;
        taking.updates = create->update;
        taking.update_count = create->n_update;
    } else {
        const MESSAGE(UpdateContainerResponse) *update = (const void *)reply;
        taking.updates = update->update;
        taking.update_count = update->n_update;
    }
    nri_merge_each_change(event->merge, take_change, &taking);
    return taking.failure == 0 ? 0 : no_memory(history);
}

/* What is wrong with an answer, a conflict or what cannot be applied, ends the event there, as it
 * does for the runtime. */
static int take_fault(struct history *history, struct history_event *event,
                      struct history_turn *turn, int code)
{
    if (code == NRI_E_NOMEM || code == NRI_E_LIMIT)
        return code;
    event->merge = NULL;
    event->code = turn->code = code;
    event->text = turn->text = keep(history, history->error.text);
    event->refused_by = turn->plugin;
    turn->result = NRI_STEP_FAILED;
    turn->after = event->last;
    return turn->text == NULL ? no_memory(history) : 0;
}

static int take_reply(struct history *history, struct history_event *event,
                      struct history_turn *turn, const ProtobufCMessage *reply)
{
    const ProtobufCMessage *kept = nri_message_copy(reply, &history->arena);
    if (kept == NULL)
        return no_memory(history);
    int code = merge_reply(history, event, turn, kept);
    if (code == 0)
        code = make_view(history, event, turn);
    const int changes = take_changes(history, event, turn, kept);
    if (code != 0)
        code = take_fault(history, event, turn, code);
    event->last = turn->after;
    return code != 0 ? code : changes;
}

int history_answer(struct history *history, struct history_event *event,
                   const struct history_answer *answer)
{
    struct history_turn *turn = nri_arena_zero(&history->arena, sizeof *turn);
    if (turn == NULL)
        return no_memory(history);
    turn->plugin = keep(history, answer->plugin);
    turn->event = answer->event;
    turn->result = answer->result;
    turn->code = answer->code;
    turn->text = keep(history, answer->text);
    turn->timed = answer->timed;
    turn->latency = answer->latency;
    turn->changes_end = &turn->changes;
    turn->after = event->last;
    if (turn->plugin == NULL || turn->text == NULL)
        return no_memory(history);
    *event->turns_end = turn;
    event->turns_end = &turn->next;
    if (answer->reply == NULL || event->merge == NULL)
        return 0;
    return take_reply(history, event, turn, answer->reply);
}

int history_conclude(struct history *history, struct history_event *event, int code,
                     const char *text, const char *plugin)
{
    event->ended = true;
    event->merge = NULL;
    if (code == 0 || event->code != 0)
        return 0;
    event->code = code;
    event->text = keep(history, text);
    event->refused_by = keep(history, plugin);
    return event->text == NULL || event->refused_by == NULL ? no_memory(history) : 0;
}

/* ---- outcomes ---- */

int history_outcome(struct history *history, const nri_outcome *outcome)
{
    const enum nri_event what = nri_outcome_event(outcome);
    struct history_event *event = history_last(history, nri_rt_outcome_container(outcome));
    int code = 0;
    if (event == NULL || event->ended || event->event != what)
        return 0;
    for (size_t i = 0; code == 0 && i < nri_outcome_step_count(outcome); i++) {
        const struct history_answer answer = {
            .plugin = nri_outcome_step_plugin(outcome, i),
            .event = nri_outcome_step_event(outcome, i),
            .result = nri_outcome_step_result(outcome, i),
            .code = nri_outcome_step_code(outcome, i),
            .text = nri_outcome_step_text(outcome, i),
            .reply = nri_rt_outcome_reply(outcome, i),
            .timed = true,
            .latency = nri_outcome_step_latency(outcome, i),
        };
        code = history_answer(history, event, &answer);
    }
    return code != 0 ? code
                     : history_conclude(history, event, nri_outcome_code(outcome),
                                        nri_outcome_text(outcome), nri_outcome_plugin(outcome));
}

/* ---- choosing ---- */

static bool is_meant(const struct history_event *event, const char *container)
{
    return strcmp(event->name, container) == 0 ||
           (container[0] != '\0' && strncmp(event->id, container, strlen(container)) == 0);
}

bool history_select(struct history *history, const char *container)
{
    const char *id = container == NULL && history->events != NULL ? history->events->id : NULL;
    struct history_event *at = history->events;
    history->events = NULL;
    history->events_end = &history->events;
    while (at != NULL) {
        struct history_event *next = at->next;
        at->next = NULL;
        if (id != NULL ? strcmp(at->id, id) == 0 : container != NULL && is_meant(at, container)) {
            *history->events_end = at;
            history->events_end = &at->next;
        }
        at = next;
    }
    return history->events != NULL;
}
