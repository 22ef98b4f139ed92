/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An event along the chain of plugins, and what all of them together answered.
 *
 * Happy path: the next plugin by index that knows the event and is subscribed is asked -> its reply
 * is merged -> the next, with what changed, until there is none; then the validators, or the end.
 * Failure modes are the failure policy's: the plugin is skipped, or the event fails. What cannot be
 * merged (a conflict) fails the event always.
 *
 * The place in the chain is kept as index and number, not as a pointer, because plugins come and go
 * while one is asked.
 */
#include <string.h>

#include "model/model.h"
#include "model/reader.h"
#include "runtime/internal.h"
#include "wire/message.h"

/* ---- the next plugin ---- */

static bool is_past(const nri_runtime_plugin *plugin, const nri_outcome *event)
{
    const int order = strcmp(plugin->index, event->asked_index);

    return order != 0 ? order > 0 : plugin->number > event->asked_number;
}

static nri_runtime_plugin *next_plugin(const nri_outcome *event)
{
    const uint32_t bit = nri_event_bit(event->subject.event);
    nri_runtime_plugin *plugin = event->rt->plugins;

    while (plugin != NULL &&
           !(nri_rt_plugin_is_in_chain(plugin) && event->number >= plugin->first_event &&
             (plugin->events & bit) != 0 && is_past(plugin, event)))
        plugin = plugin->next;
    return plugin;
}

/* What the next plugin is to see. */
static int refresh(nri_outcome *event)
{
    if (event->merge == NULL)
        return 0;
    if (event->subject.event == NRI_EVENT_CREATE_CONTAINER) {
        nri_members changed = 0;
        event->subject.container = nri_merge_container(event->merge, &changed);
        if (event->subject.container == NULL)
            return event->arena.failure;
        if (changed != 0)
            nri_rt_request_change(&event->request, changed);
    } else if (event->subject.event == NRI_EVENT_UPDATE_CONTAINER) {
        bool changed = false;
        event->subject.resources = nri_merge_resources(event->merge, &changed);
        if (event->subject.resources == NULL && event->arena.failure != 0)
            return event->arena.failure;
        if (changed)
            nri_rt_request_change(&event->request, 0);
    }
    return 0;
}

/* ---- the whole ---- */

static int take_create(nri_outcome *event)
{
    const NRI_RT_MESSAGE(CreateContainerResponse) *whole = nri_merge_create_result(event->merge);

    if (whole == NULL)
        return event->arena.failure;
    event->owners = nri_merge_owners(event->merge);
    event->adjustment = nri_adjustment_view(&event->arena, whole->adjust, NRI_E_STATE,
                                            "the outcome of an event can only be read");
    event->updates = nri_updates_view_all(&event->arena, event->rt->seed, whole->update,
                                          whole->n_update, whole->evict, whole->n_evict,
                                          NRI_E_STATE, "the outcome of an event can only be read");
    return event->owners == NULL || event->adjustment == NULL || event->updates == NULL
               ? event->arena.failure
               : 0;
}

static int take_update(nri_outcome *event)
{
    const NRI_RT_MESSAGE(UpdateContainerResponse) *whole = nri_merge_update_result(event->merge);

    if (whole == NULL)
        return event->arena.failure;
    /* That of the container itself is the last, and is told as its resources. */
    const char *id = event->about.container;
    size_t count = whole->n_update;
    if (count > 0 && strcmp(nri_reader_text(whole->update[count - 1]->container_id), id) == 0)
        count--;
    /* Parts of them are the caller's own, and the outcome may outlive that. */
    const NRI_RT_MESSAGE(LinuxResources) *resources = nri_merge_resources(event->merge, NULL);
    if (resources != NULL)
        resources = (const void *)nri_message_copy(&resources->base, &event->arena);
    if (resources == NULL && event->arena.failure != 0)
        return event->arena.failure;
    event->resources_result = resources;
    event->owners = nri_merge_owners(event->merge);
    event->updates = nri_updates_view_all(&event->arena, event->rt->seed, whole->update, count,
                                          whole->evict, whole->n_evict, NRI_E_STATE,
                                          "the outcome of an event can only be read");
    return event->owners == NULL || event->updates == NULL ? event->arena.failure : 0;
}

static int take_stop(nri_outcome *event)
{
    const NRI_RT_MESSAGE(StopContainerResponse) *whole = nri_merge_stop_result(event->merge);

    if (whole == NULL)
        return event->arena.failure;
    event->owners = nri_merge_owners(event->merge);
    event->updates =
        nri_updates_view_all(&event->arena, event->rt->seed, whole->update, whole->n_update, NULL,
                             0, NRI_E_STATE, "the outcome of an event can only be read");
    return event->owners == NULL || event->updates == NULL ? event->arena.failure : 0;
}

static int take_whole(nri_outcome *event)
{
    if (event->merge == NULL)
        return 0;
    if (event->subject.event == NRI_EVENT_CREATE_CONTAINER)
        return take_create(event);
    if (event->subject.event == NRI_EVENT_UPDATE_CONTAINER)
        return take_update(event);
    return take_stop(event);
}

/* Whether a plugin, by name or "NN-name", took part in an event: it answered, or it is there and
 * not interested in such events. One that the event does not know is not there yet. */
static bool took_part(void *user, const char *plugin)
{
    const nri_outcome *event = user;
    const uint32_t bit = nri_event_bit(event->subject.event);

    for (const struct nri_rt_step *step = event->steps; step != NULL; step = step->next) {
        if (step->result == NRI_STEP_ANSWERED &&
            (strcmp(step->plugin, plugin) == 0 || strcmp(step->plugin + 3, plugin) == 0))
            return true;
    }
    for (const nri_runtime_plugin *p = event->rt->plugins; p != NULL; p = p->next) {
        if (nri_rt_plugin_is_in_chain(p) && event->number >= p->first_event &&
            (p->events & bit) == 0 && (strcmp(p->name, plugin) == 0 || strcmp(p->id, plugin) == 0))
            return true;
    }
    return false;
}

static void end_of_chain(nri_outcome *event)
{
    if (event->subject.event == NRI_EVENT_CREATE_CONTAINER) {
        const char *missing = nri_failures_missing(&event->rt->failures, took_part, event);
        if (missing != NULL) {
            (void)nri_rt_event_fail(event, NRI_E_NOT_FOUND, missing,
                                    "the required plugin \"%s\" did not take part", missing);
            return;
        }
    }
    const int code = take_whole(event);

    if (code != 0)
        (void)nri_rt_event_fail(event, code, NULL, "merging: %s", nri_strerror(code));
    else if (event->subject.event == NRI_EVENT_CREATE_CONTAINER)
        nri_rt_validate_start(event);
    else
        nri_rt_event_done(event);
}

/* ---- going on ---- */

/* The plugin gets the event after its Synchronize; the chain does not wait. */
static void tell_later(nri_outcome *event, nri_runtime_plugin *plugin)
{
    const int code = nri_rt_ask_later(plugin, event);

    if (code != 0)
        nri_rt_drop(plugin, NRI_E_LIMIT,
                    "events that wait for its Synchronize exceed max_output_bytes: %s",
                    nri_strerror(code));
    (void)nri_rt_record(event, NULL, plugin, code == 0 ? NRI_STEP_QUEUED : NRI_STEP_SKIPPED, code,
                        code == 0 ? "" : nri_strerror(code));
}

static void move_to(nri_outcome *event, const nri_runtime_plugin *plugin)
{
    memcpy(event->asked_index, plugin->index, sizeof event->asked_index);
    event->asked_number = plugin->number;
}

void nri_rt_chain_advance(nri_outcome *event)
{
    struct nri_rt *rt = event->rt;

    if (event->code != 0) {
        nri_rt_event_done(event);
        return;
    }
    const int code = refresh(event);
    if (code != 0) {
        (void)nri_rt_event_fail(event, code, NULL, "merging: %s", nri_strerror(code));
        return;
    }
    for (;;) {
        nri_runtime_plugin *plugin = next_plugin(event);
        if (plugin == NULL) {
            end_of_chain(event);
            return;
        }
        move_to(event, plugin);
        if (plugin->state == NRI_RT_ACTIVE || !nri_rt_is_notification(event->subject.event)) {
            const bool notifies = nri_rt_is_notification(event->subject.event);
            nri_rt_ask_queue(&event->ask, plugin, event->subject.event,
                             notifies ? NRI_NEVER
                                      : nri_rt_after(rt->now, rt->config.request_timeout));
            return;
        }
        tell_later(event, plugin);
    }
}

/* ---- answers ---- */

/* The merge stands on the reply: it is kept until the event goes. */
static int keep_reply(nri_outcome *event, const struct nri_rpc_result *result)
{
    if (event->kept_count == event->kept_room) {
        const size_t room = event->kept_room == 0 ? 8 : 2 * event->kept_room;
        struct nri_rpc_call **grown =
            nri_alloc_resize(&event->alloc, event->kept, room * sizeof(void *));
        if (grown == NULL)
            return NRI_E_NOMEM;
        event->kept = grown;
        event->kept_room = room;
    }
    struct nri_rpc_call *kept = nri_rpc_result_keep(result);
    event->kept[event->kept_count++] = kept;
    event->kept_bytes += kept == NULL ? 0 : nri_rpc_call_memory(kept);
    return event->kept_bytes <= event->rt->config.max_merge_bytes ? 0 : NRI_E_LIMIT;
}

static void count_updates(nri_outcome *event, const char *plugin, const ProtobufCMessage *message)
{
    struct nri_rt_stats *stats = &event->rt->stats;
    const enum nri_event what = event->subject.event;

    if (what == NRI_EVENT_CREATE_CONTAINER) {
        const NRI_RT_MESSAGE(CreateContainerResponse) *reply = (const void *)message;
        nri_rt_stats_updates(stats, plugin, what, reply->n_update, reply->n_evict);
    } else if (what == NRI_EVENT_UPDATE_CONTAINER) {
        const NRI_RT_MESSAGE(UpdateContainerResponse) *reply = (const void *)message;
        nri_rt_stats_updates(stats, plugin, what, reply->n_update, reply->n_evict);
    } else {
        const NRI_RT_MESSAGE(StopContainerResponse) *reply = (const void *)message;
        nri_rt_stats_updates(stats, plugin, what, reply->n_update, 0);
    }
}

static int merge_reply(nri_outcome *event, const char *plugin, const struct nri_rpc_result *result,
                       struct nri_error *error)
{
    const ProtobufCMessage *message = result->message;

    if (event->merge == NULL)
        return 0;
    const int code = keep_reply(event, result);
    if (code != 0)
        return nri_error_set(error, code,
                             code == NRI_E_LIMIT ? "what plugins answered takes more than "
                                                   "max_merge_bytes"
                                                 : "out of memory for a reply");
    count_updates(event, plugin, message);
    switch (event->subject.event) {
    case NRI_EVENT_CREATE_CONTAINER:
        return nri_merge_create_reply(event->merge, plugin, (const void *)message, error);
    case NRI_EVENT_UPDATE_CONTAINER:
        return nri_merge_update_reply(event->merge, plugin, (const void *)message, error);
    default:
        return nri_merge_stop_reply(event->merge, plugin, (const void *)message, error);
    }
}

static void take_answer(nri_outcome *event, const struct nri_rt_ask *ask,
                        nri_runtime_plugin *plugin, const struct nri_rpc_result *result)
{
    struct nri_error error;

    /* The name stays in the owners when the plugin is gone. */
    const char *id = nri_arena_text(&event->arena, plugin->id, strlen(plugin->id));
    int code = id == NULL ? event->arena.failure : 0;
    if (code != 0)
        nri_error_set(&error, code, "out of memory for a plugin's name");
    else
        code = merge_reply(event, id, result, &error);
    struct nri_rt_step *step =
        nri_rt_record(event, ask, plugin, code == 0 ? NRI_STEP_ANSWERED : NRI_STEP_FAILED, code,
                      code == 0 ? "" : error.text);
    if (step != NULL && event->merge != NULL && id != NULL) {
        step->reply = result->message;
        nri_rt_record_changes(event, step);
    }
    if (code != 0)
        (void)nri_rt_event_fail(event, code, plugin->id, "%s", error.text);
}

static enum nri_failure kind_of(const nri_runtime_plugin *plugin,
                                const struct nri_rpc_result *result)
{
    if (result->code == NRI_E_TIMEOUT && result->grpc == 0)
        return NRI_FAILURE_TIMEOUT;
    /* What cannot be read is no answer: the plugin is dropped, however much of it was readable. */
    const bool lost = result->code == NRI_E_CLOSED || result->code == NRI_E_PROTOCOL;
    return lost || plugin->closing ? NRI_FAILURE_LOSS : NRI_FAILURE_ERROR;
}

static void take_failure(nri_outcome *event, const struct nri_rt_ask *ask,
                         nri_runtime_plugin *plugin, const struct nri_rpc_result *result)
{
    struct nri_rt *rt = event->rt;
    const struct nri_failure_policy *policy =
        nri_failures_of(&rt->failures, plugin->name, plugin->id);
    const enum nri_failure kind = kind_of(plugin, result);
    const bool fails = nri_failure_fails(policy, kind, ask->what == NRI_EVENT_CREATE_CONTAINER);
    const char *name = nri_event_name(ask->what);

    (void)nri_rt_record(event, ask, plugin, fails ? NRI_STEP_FAILED : NRI_STEP_SKIPPED,
                        result->code, result->text);
    nri_rt_plugin_log(plugin, name, NRI_LOG_WARN, "plugin %s: %s: %s%s", plugin->id, name,
                      result->text, fails ? "" : "; going on without it");
    /* A plugin that could not be asked is not to blame. */
    if (ask->sent_at != 0 && (nri_failure_drops(policy, kind) || result->code == NRI_E_PROTOCOL))
        nri_rt_drop(plugin, result->code, "%s: %s", name, result->text);
    if (fails)
        (void)nri_rt_event_fail(event, result->code, plugin->id, "plugin \"%s\": %s", plugin->id,
                                result->text);
}

void nri_rt_chain_answer(struct nri_rt_ask *ask, const struct nri_rpc_result *result)
{
    nri_outcome *event = ask->event;
    nri_runtime_plugin *plugin = ask->plugin;

    ask->plugin = NULL;
    ask->out = false;
    if (event->code == 0) {
        if (result->code == 0)
            take_answer(event, ask, plugin, result);
        else
            take_failure(event, ask, plugin, result);
    }
    if (event->code != 0)
        nri_rt_event_done(event);
    else
        nri_rt_event_todo(event);
}
