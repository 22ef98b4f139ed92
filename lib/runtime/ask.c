/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions to one plugin: they wait in order until it is ready and may have another, go out, and
 * come back with an answer or a failure.
 *
 * Happy path: nri_rt_ask_queue() -> nri_rt_ask_send() at the end of a turn -> the answer goes to
 * whose question it was. Failure modes: the plugin is not ready in time, does not answer in time,
 * goes away, or a request cannot be sent (too large, no memory, a plugin that does not read). A
 * plugin that does not know a method of NRI 0.12 is asked again by StateChange, and from then on.
 */
#include <string.h>

#include "model/model.h"
#include "runtime/internal.h"
#include "wire/message.h"

/* ---- lists ---- */

static void put(struct nri_rt_list *list, struct nri_rt_ask *ask)
{
    ask->next = NULL;
    ask->previous = list->last;
    if (list->last != NULL)
        list->last->next = ask;
    else
        list->first = ask;
    list->last = ask;
}

static void put_first(struct nri_rt_list *list, struct nri_rt_ask *ask)
{
    ask->previous = NULL;
    ask->next = list->first;
    if (ask->next != NULL)
        ask->next->previous = ask;
    else
        list->last = ask;
    list->first = ask;
}

static void take(struct nri_rt_list *list, struct nri_rt_ask *ask)
{
    if (ask->previous != NULL)
        ask->previous->next = ask->next;
    else
        list->first = ask->next;
    if (ask->next != NULL)
        ask->next->previous = ask->previous;
    else
        list->last = ask->previous;
    ask->next = ask->previous = NULL;
}

/* Mostly at the end; one that comes back, near the front. */
static void put_timed(struct nri_rt_list *list, struct nri_rt_ask *ask)
{
    struct nri_rt_ask *before = list->last;

    while (before != NULL && before->give_up_at > ask->give_up_at)
        before = before->timed_previous;
    ask->timed_previous = before;
    ask->timed_next = before != NULL ? before->timed_next : list->first;
    if (ask->timed_next != NULL)
        ask->timed_next->timed_previous = ask;
    else
        list->last = ask;
    if (before != NULL)
        before->timed_next = ask;
    else
        list->first = ask;
}

static void take_timed(struct nri_rt_list *list, struct nri_rt_ask *ask)
{
    if (ask->timed_previous != NULL)
        ask->timed_previous->timed_next = ask->timed_next;
    else
        list->first = ask->timed_next;
    if (ask->timed_next != NULL)
        ask->timed_next->timed_previous = ask->timed_previous;
    else
        list->last = ask->timed_previous;
    ask->timed_next = ask->timed_previous = NULL;
}

static void begin_waiting(struct nri_rt_ask *ask, bool first)
{
    nri_runtime_plugin *plugin = ask->plugin;

    if (first)
        put_first(&plugin->waiting, ask);
    else
        put(&plugin->waiting, ask);
    plugin->waiting_count++;
    if (ask->give_up_at != NRI_NEVER)
        put_timed(&plugin->timed, ask);
}

static void end_waiting(struct nri_rt_ask *ask)
{
    nri_runtime_plugin *plugin = ask->plugin;

    take(&plugin->waiting, ask);
    plugin->waiting_count--;
    if (ask->give_up_at != NRI_NEVER)
        take_timed(&plugin->timed, ask);
}

void nri_rt_ask_queue(struct nri_rt_ask *ask, nri_runtime_plugin *plugin, enum nri_event what,
                      uint64_t give_up_at)
{
    ask->plugin = plugin;
    ask->what = what;
    ask->out = false;
    ask->state_change = false;
    ask->queued_at = plugin->rt->now;
    ask->sent_at = 0;
    ask->give_up_at = give_up_at;
    begin_waiting(ask, false);
}

void nri_rt_ask_cancel(struct nri_rt_ask *ask)
{
    if (ask->plugin == NULL || ask->out)
        return;
    end_waiting(ask);
    ask->plugin = NULL;
}

/* ---- of events that went on ---- */

static void link_later(struct nri_rt_ask *ask, nri_outcome *event)
{
    ask->of = event;
    ask->later_next = event->later;
    if (event->later != NULL)
        event->later->later_previous = ask;
    event->later = ask;
}

static void unlink_later(struct nri_rt_ask *ask)
{
    if (ask->of == NULL)
        return;
    if (ask->later_previous != NULL)
        ask->later_previous->later_next = ask->later_next;
    else
        ask->of->later = ask->later_next;
    if (ask->later_next != NULL)
        ask->later_next->later_previous = ask->later_previous;
    ask->of = NULL;
    ask->later_next = ask->later_previous = NULL;
}

void nri_rt_ask_over(nri_outcome *event)
{
    while (event->later != NULL)
        unlink_later(event->later);
}

static void forget(nri_runtime_plugin *plugin, struct nri_rt_ask *ask)
{
    unlink_later(ask);
    plugin->detached_bytes -= ask->arena.taken;
    nri_arena_fini(&ask->arena);
    nri_alloc_release(&plugin->rt->alloc, ask);
}

static bool copy_part(struct nri_arena *arena, const void *from, const void **to)
{
    if (from != NULL)
        *to = nri_message_copy(from, arena);
    return from == NULL || *to != NULL;
}

static bool copy_subject(struct nri_rt_ask *ask, const struct nri_rt_subject *from)
{
    const void *pod = NULL, *container = NULL, *resources = NULL, *overhead = NULL;
    const bool done = copy_part(&ask->arena, from->pod, &pod) &&
                      copy_part(&ask->arena, from->container, &container) &&
                      copy_part(&ask->arena, from->resources, &resources) &&
                      copy_part(&ask->arena, from->overhead, &overhead);

    ask->subject = (struct nri_rt_subject){from->event, pod, container, resources, overhead};
    return done;
}

int nri_rt_ask_later(nri_runtime_plugin *plugin, nri_outcome *event)
{
    struct nri_rt *rt = plugin->rt;
    struct nri_rt_ask *ask = nri_alloc_zero(&rt->alloc, sizeof *ask);

    if (ask == NULL)
        return NRI_E_NOMEM;
    nri_arena_init(&ask->arena, &rt->alloc, 0,
                   rt->config.limits.max_output_bytes - plugin->detached_bytes);
    if (!copy_subject(ask, &event->subject)) {
        const int code = ask->arena.failure;
        nri_arena_fini(&ask->arena);
        nri_alloc_release(&rt->alloc, ask);
        return code;
    }
    plugin->detached_bytes += ask->arena.taken;
    link_later(ask, event);
    nri_rt_ask_queue(ask, plugin, event->subject.event, NRI_NEVER);
    return 0;
}

void nri_rt_ask_forget_told(nri_runtime_plugin *plugin)
{
    struct nri_rt_ask *ask = plugin->waiting.first;

    while (ask != NULL) {
        struct nri_rt_ask *next = ask->next;
        if (ask->event == NULL && ask->of == NULL) {
            nri_rt_ask_cancel(ask);
            forget(plugin, ask);
        }
        ask = next;
    }
}

/* ---- answers ---- */

/* Of an event that went on: there is nobody to tell but the log, and the plugin's own policy. */
static void answer_detached(struct nri_rt_ask *ask, nri_runtime_plugin *plugin,
                            const struct nri_rpc_result *result)
{
    const struct nri_failure_policy *policy =
        nri_failures_of(&plugin->rt->failures, plugin->name, plugin->id);
    const enum nri_failure kind =
        result->code == NRI_E_TIMEOUT ? NRI_FAILURE_TIMEOUT : NRI_FAILURE_ERROR;

    if (result->code != 0 && !plugin->closing) {
        nri_rt_plugin_log(plugin, nri_event_name(ask->what), NRI_LOG_WARN, "plugin %s: %s: %s",
                          plugin->id, nri_event_name(ask->what), result->text);
        if (nri_failure_drops(policy, kind))
            nri_rt_drop(plugin, result->code, "%s: %s", nri_event_name(ask->what), result->text);
    }
    forget(plugin, ask);
}

static void deliver(struct nri_rt_ask *ask, nri_runtime_plugin *plugin,
                    const struct nri_rpc_result *result)
{
    if (ask->sent_at != 0)
        nri_rt_stats_count(&plugin->rt->stats, plugin->id, ask->what, result->code,
                           plugin->rt->now - ask->sent_at);
    if (ask->event == NULL)
        answer_detached(ask, plugin, result);
    else if (ask->what == NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)
        nri_rt_validate_answer(ask, result);
    else
        nri_rt_chain_answer(ask, result);
}

/* The plugin turned out not to know the method: again, in the same place. */
static bool falls_back(struct nri_rt_ask *ask, nri_runtime_plugin *plugin,
                       const struct nri_rpc_result *result)
{
    if (result->grpc != NRI_GRPC_UNIMPLEMENTED || ask->state_change || plugin->closing ||
        !nri_rt_has_state_change(ask->what))
        return false;
    plugin->dedicated = false;
    ask->out = false;
    begin_waiting(ask, true);
    return true;
}

static void answered(void *user, const struct nri_rpc_result *result)
{
    struct nri_rt_ask *ask = user;
    nri_runtime_plugin *plugin = ask->plugin;

    take(&plugin->out, ask);
    plugin->out_count--;
    nri_rt_wake(plugin->rt);
    if (falls_back(ask, plugin, result))
        return;
    deliver(ask, plugin, result);
}

static void fail(struct nri_rt_ask *ask, int code, const char *text)
{
    nri_runtime_plugin *plugin = ask->plugin;
    const struct nri_rpc_result result = {.code = code, .text = text};

    end_waiting(ask);
    deliver(ask, plugin, &result);
}

void nri_rt_ask_pass(nri_runtime_plugin *plugin)
{
    struct nri_rt_ask *ask = plugin->waiting.first;

    while (ask != NULL) {
        struct nri_rt_ask *next = ask->next;
        if (ask->event != NULL && ask->event->stage == NRI_RT_CHAIN) {
            nri_outcome *event = ask->event;
            nri_rt_ask_cancel(ask);
            nri_rt_event_todo(event);
        }
        ask = next;
    }
}

/* ---- sending ---- */

static const struct nri_rt_subject *subject_of(const struct nri_rt_ask *ask)
{
    return ask->event == NULL ? &ask->subject : &ask->event->subject;
}

/* Events of one pod sandbox keep their order with a plugin that may have several requests. */
static bool is_blocked(const nri_runtime_plugin *plugin, const struct nri_rt_ask *ask)
{
    const char *id = nri_pod_id(nri_pod_view(subject_of(ask)->pod));

    for (const struct nri_rt_ask *out = plugin->out.first; out != NULL; out = out->next) {
        if (strcmp(nri_pod_id(nri_pod_view(subject_of(out)->pod)), id) == 0)
            return true;
    }
    return false;
}

static int send_out(nri_runtime_plugin *plugin, struct nri_rt_ask *ask, struct nri_error *error)
{
    struct nri_rt *rt = plugin->rt;
    nri_outcome *event = ask->event;
    struct nri_rt_request own, *request = event == NULL ? &own : &event->request;

    ask->state_change = !plugin->dedicated && nri_rt_has_state_change(ask->what);
    struct nri_rpc_packed packed = {
        .service = &nri__pkg__api__v1alpha1__plugin__descriptor,
        .method = nri_rt_method(ask->what, ask->state_change),
    };
    if (event == NULL)
        nri_rt_request_init(&own, &rt->alloc, rt->config.limits.max_send);
    int code = nri_rt_request_make(request, packed.method, subject_of(ask), error);
    if (code == 0) {
        const struct nri_buf *bytes = &request->bytes;
        packed.size = nri_buf_size(bytes);
        packed.payload = packed.size == 0 ? (const uint8_t *)"" : bytes->data + bytes->start;
        packed.metadata = event == NULL ? NULL : event->metadata;
        packed.metadata_count = event == NULL ? 0 : event->metadata_count;
        code = nri_rpc_invoke_packed(plugin->rpc, &packed, rt->now, rt->config.request_timeout,
                                     answered, ask, error);
    }
    if (event == NULL)
        nri_rt_request_fini(&own);
    return code;
}

static void send_one(nri_runtime_plugin *plugin, struct nri_rt_ask *ask)
{
    struct nri_error error;
    const int code = send_out(plugin, ask, &error);

    if (code == 0) {
        end_waiting(ask);
        ask->out = true;
        ask->sent_at = plugin->rt->now;
        put(&plugin->out, ask);
        plugin->out_count++;
        return;
    }
    /* Nothing was sent. A plugin that does not read is of no more use; a request that is too large
     * or has no memory is that request's fault alone. */
    if (code == NRI_E_BUSY || code == NRI_E_CLOSED)
        nri_rt_drop(plugin, NRI_E_LIMIT, "%s", error.text);
    fail(ask, code == NRI_E_BUSY ? NRI_E_CLOSED : code, error.text);
}

void nri_rt_ask_send(nri_runtime_plugin *plugin)
{
    struct nri_rt_ask *ask = plugin->waiting.first;

    while (ask != NULL && !plugin->closing && plugin->state == NRI_RT_ACTIVE &&
           plugin->out_count < plugin->rt->config.max_outstanding) {
        struct nri_rt_ask *next = ask->next;
        if (plugin->out_count == 0 || !is_blocked(plugin, ask))
            send_one(plugin, ask);
        ask = next;
    }
}

/* ---- time, and the end ---- */

/* It is being synchronised, or told of what happened meanwhile. */
static bool is_behind(const nri_runtime_plugin *plugin)
{
    return plugin->state != NRI_RT_ACTIVE || plugin->detached_bytes > 0;
}

uint64_t nri_rt_ask_deadline(const nri_runtime_plugin *plugin)
{
    const struct nri_rt_ask *first = plugin->timed.first;

    return first != NULL && is_behind(plugin) ? first->give_up_at : NRI_NEVER;
}

void nri_rt_ask_tick(nri_runtime_plugin *plugin)
{
    struct nri_rt_ask *first = plugin->timed.first;

    while (first != NULL && is_behind(plugin) && plugin->rt->now >= first->give_up_at) {
        fail(first, NRI_E_TIMEOUT,
             plugin->state == NRI_RT_ACTIVE ? "it is still being told what it missed"
                                            : "it is still being synchronised");
        first = plugin->timed.first;
    }
}

void nri_rt_ask_end(nri_runtime_plugin *plugin)
{
    while (plugin->waiting.first != NULL)
        fail(plugin->waiting.first, NRI_E_CLOSED, plugin->failure.text);
}
