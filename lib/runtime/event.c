/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of an event: called, waiting for older ones of the same pod sandbox or container, along
 * the chain, with the validators, done.
 *
 * An event that fails is done once nothing of it is with a plugin any more: what comes back late
 * has a place to come to. Events are used again, with their memory.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/model.h"
#include "runtime/internal.h"

#define FIRST_CHUNK  ((size_t)16 * 1024)
#define SPARE_EVENTS 16u
#define KEPT_REQUEST ((size_t)128 * 1024)
#define KEPT_ARENA   ((size_t)128 * 1024)

/* ---- making ---- */

/* The first chunk becomes as large as this event needed, so that the next one of its kind finds its
 * memory there. */
static void reset_arena(nri_outcome *event)
{
    struct nri_arena *arena = &event->arena;
    const size_t taken = arena->taken, chunk = arena->chunk_size, limit = arena->limit;

    nri_arena_reset(arena);
    if (taken <= chunk || chunk >= KEPT_ARENA)
        return;
    nri_arena_fini(arena);
    nri_arena_init(arena, &event->alloc, taken < KEPT_ARENA ? taken : KEPT_ARENA, limit);
}

static void reset(nri_outcome *event)
{
    for (size_t i = 0; i < event->kept_count; i++)
        nri_rpc_call_release(event->kept[i]);
    event->kept_count = 0;
    event->kept_bytes = 0;
    event->merge = NULL;
    event->validators = NULL;
    event->validators_out = 0;
    event->steps = NULL;
    event->steps_end = &event->steps;
    event->step_count = 0;
    event->code = 0;
    event->text = event->plugin = "";
    event->adjustment = NULL;
    event->updates = NULL;
    event->resources_result = NULL;
    event->owners = NULL;
    event->asked_index[0] = '\0';
    event->asked_number = 0;
    event->ask = (struct nri_rt_ask){.event = event};
    reset_arena(event);
    nri_rt_request_reset(&event->request, KEPT_REQUEST);
}

void nri_rt_event_destroy(nri_outcome *event)
{
    const struct nri_alloc alloc = event->alloc;

    reset(event);
    nri_alloc_release(&alloc, event->kept);
    nri_rt_request_fini(&event->request);
    nri_arena_fini(&event->arena);
    nri_alloc_release(&alloc, event);
}

nri_outcome *nri_rt_event_new(struct nri_rt *rt)
{
    nri_outcome *event = rt->spare;

    if (event != NULL) {
        rt->spare = event->next;
        rt->spare_count--;
    } else {
        event = nri_alloc_zero(&rt->alloc, sizeof *event);
        if (event == NULL)
            return NULL;
        event->alloc = rt->alloc;
        nri_arena_init(&event->arena, &event->alloc, FIRST_CHUNK, rt->config.max_merge_bytes);
        nri_rt_request_init(&event->request, &event->alloc, rt->config.limits.max_send);
        reset(event);
    }
    atomic_init(&event->references, 1);
    event->rt = rt;
    event->next = event->previous = event->next_todo = NULL;
    event->todo = false;
    event->stage = NRI_RT_WAITING;
    return event;
}

nri_outcome *nri_outcome_ref(nri_outcome *outcome)
{
    if (outcome != NULL)
        atomic_fetch_add_explicit(&outcome->references, 1, memory_order_relaxed);
    return outcome;
}

nri_outcome *nri_outcome_unref(nri_outcome *outcome)
{
    if (outcome != NULL &&
        atomic_fetch_sub_explicit(&outcome->references, 1, memory_order_acq_rel) == 1)
        nri_rt_event_destroy(outcome);
    return NULL;
}

/* ---- the list of what is under way ---- */

static void link_event(nri_outcome *event)
{
    struct nri_rt *rt = event->rt;

    rt->next_event = event->number;
    event->previous = rt->events_last;
    if (rt->events_last != NULL)
        rt->events_last->next = event;
    else
        rt->events = event;
    rt->events_last = event;
    rt->event_count++;
}

static void unlink_event(nri_outcome *event)
{
    struct nri_rt *rt = event->rt;

    if (event->previous != NULL)
        event->previous->next = event->next;
    else
        rt->events = event->next;
    if (event->next != NULL)
        event->next->previous = event->previous;
    else
        rt->events_last = event->previous;
    event->next = event->previous = NULL;
    rt->event_count--;
}

void nri_rt_event_todo(nri_outcome *event)
{
    struct nri_rt *rt = event->rt;

    if (event->todo)
        return;
    event->todo = true;
    event->next_todo = NULL;
    *rt->todo_end = event;
    rt->todo_end = &event->next_todo;
    nri_rt_wake(rt);
}

/* ---- the call ---- */

static bool keep_text(nri_outcome *event, const char *text, const char **kept)
{
    *kept = text[0] == '\0' ? "" : nri_arena_text(&event->arena, text, strlen(text));
    return *kept != NULL;
}

static bool take_about(nri_outcome *event)
{
    const nri_pod *pod = nri_pod_view(event->subject.pod);
    const nri_container *container = nri_container_view(event->subject.container);
    struct nri_rt_about *about = &event->about;

    if (!keep_text(event, nri_pod_id(pod), &about->pod) ||
        !keep_text(event, nri_pod_name(pod), &about->pod_name) ||
        !keep_text(event, nri_pod_namespace(pod), &about->pod_namespace))
        return false;
    about->container = about->container_name = NULL;
    return event->subject.container == NULL ||
           (keep_text(event, nri_container_id(container), &about->container) &&
            keep_text(event, nri_container_name(container), &about->container_name));
}

/* A NULL would be read, and peers drop a connection for what is not UTF-8 or too many. */
static int check_metadata(const struct nri_rt *rt, const struct nri_runtime_event *event,
                          struct nri_error *error)
{
    const char *name = nri_event_name((enum nri_event)event->event);
    const size_t most = rt->config.limits.max_metadata;

    if (event->metadata == NULL && event->metadata_count > 0)
        return nri_error_set(error, NRI_E_INVALID, "%s: metadata is NULL", name);
    if (event->metadata_count > most)
        return nri_error_set(error, NRI_E_INVALID,
                             "%s: metadata has %zu pairs: must be at most %zu", name,
                             event->metadata_count, most);
    for (size_t i = 0; i < 2 * event->metadata_count; i++) {
        const char *text = event->metadata[i];
        if (text == NULL || !nri_utf8_valid(text, strlen(text), NULL))
            return nri_error_set(error, NRI_E_INVALID, "%s: metadata: the %s of pair %zu is %s",
                                 name, i % 2 == 0 ? "key" : "value", i / 2,
                                 text == NULL ? "NULL" : "not UTF-8");
    }
    return 0;
}

/* Other events have no room for them in their requests. */
static int check_resources(const struct nri_runtime_event *event, struct nri_error *error)
{
    const bool pod = event->event == NRI_EVENT_UPDATE_POD_SANDBOX;
    const char *name = nri_event_name((enum nri_event)event->event);

    if (event->resources != NULL && !pod && event->event != NRI_EVENT_UPDATE_CONTAINER)
        return nri_error_set(error, NRI_E_INVALID,
                             "%s: resources are of UpdateContainer and UpdatePodSandbox: must be "
                             "NULL",
                             name);
    if (event->overhead != NULL && !pod)
        return nri_error_set(error, NRI_E_INVALID,
                             "%s: overhead is of UpdatePodSandbox: must be NULL", name);
    return 0;
}

static int check_event(const struct nri_rt *rt, const struct nri_runtime_event *event,
                       struct nri_error *error)
{
    const bool known = event->event >= NRI_EVENT_RUN_POD_SANDBOX &&
                       event->event <= NRI_EVENT_POST_UPDATE_POD_SANDBOX;
    const char *name = nri_event_name((enum nri_event)event->event);

    if (!known)
        return nri_error_set(error, NRI_E_EVENT,
                             "event %d (%s) cannot be called: must be from 1 "
                             "to 13",
                             (int)event->event, name);
    const bool of_container =
        event->event >= NRI_EVENT_CREATE_CONTAINER && event->event <= NRI_EVENT_REMOVE_CONTAINER;
    if (event->pod == NULL)
        return nri_error_set(error, NRI_E_INVALID, "%s: pod is NULL", name);
    if (of_container && event->container == NULL)
        return nri_error_set(error, NRI_E_INVALID, "%s: container is NULL", name);
    if (!of_container && event->container != NULL)
        return nri_error_set(error, NRI_E_INVALID,
                             "%s: is of a pod sandbox alone: container must "
                             "be NULL",
                             name);
    const int code = check_resources(event, error);
    return code != 0 ? code : check_metadata(rt, event, error);
}

int nri_rt_call(struct nri_rt *rt, const struct nri_runtime_event *event, nri_runtime_done done,
                void *user, uint64_t now, struct nri_error *error)
{
    nri_rt_take_time(rt, now);
    if (rt->stopping)
        return nri_error_set(error, NRI_E_STATE, "the runtime stops");
    const int code = check_event(rt, event, error);
    if (code != 0)
        return code;
    if (rt->event_count >= rt->config.max_calls)
        return nri_error_set(error, NRI_E_BUSY, "%zu events are under way, which is max_calls",
                             rt->event_count);
    nri_outcome *e = nri_rt_event_new(rt);
    if (e == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for an event");
    e->subject = (struct nri_rt_subject){
        .event = (enum nri_event)event->event,
        .pod = (const void *)event->pod,
        .container = (const void *)event->container,
        .resources = (const void *)event->resources,
        .overhead = (const void *)event->overhead,
    };
    e->pristine = e->subject.container;
    e->metadata = event->metadata;
    e->metadata_count = event->metadata_count;
    e->done = done;
    e->user = user;
    if (!take_about(e)) {
        const int failure = e->arena.failure;
        (void)nri_outcome_unref(e);
        return nri_error_set(error, failure, "an event's names: %s", nri_strerror(failure));
    }
    e->number = rt->next_event + 1;
    if (!nri_rt_lane_enter(e)) {
        (void)nri_outcome_unref(e);
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for an event");
    }
    link_event(e);
    nri_rt_sync_pass(rt);
    nri_rt_event_todo(e);
    return 0;
}

/* ---- steps ---- */

static bool is_connected(void *user, const char *plugin)
{
    const nri_outcome *event = user;

    for (const nri_runtime_plugin *p = event->rt->plugins; p != NULL; p = p->next) {
        if (nri_rt_plugin_is_in_chain(p) && event->number >= p->first_event &&
            (strcmp(p->name, plugin) == 0 || strcmp(p->id, plugin) == 0))
            return true;
    }
    return false;
}

static bool has_merge(enum nri_event event)
{
    return event == NRI_EVENT_CREATE_CONTAINER || event == NRI_EVENT_UPDATE_CONTAINER ||
           event == NRI_EVENT_STOP_CONTAINER;
}

static int start_merge(nri_outcome *event, struct nri_error *error)
{
    const struct nri_rt *rt = event->rt;
    struct nri_merge_settings settings = {
        .go_compatible = rt->config.go_compatible,
        .changes = true,
    };

    memcpy(settings.policy, rt->config.merge_policy, sizeof settings.policy);
    return nri_merge_new(&event->merge, &event->arena, rt->seed, &settings, event->subject.event,
                         event->subject.pod, event->subject.container, event->subject.resources,
                         error);
}

static void start(nri_outcome *event)
{
    struct nri_error error;

    event->stage = NRI_RT_CHAIN;
    if (event->subject.event == NRI_EVENT_CREATE_CONTAINER) {
        const char *missing = nri_failures_missing(&event->rt->failures, is_connected, event);
        if (missing != NULL) {
            (void)nri_rt_event_fail(event, NRI_E_NOT_FOUND, missing,
                                    "the required plugin \"%s\" is not connected", missing);
            return;
        }
    }
    if (has_merge(event->subject.event)) {
        const int code = start_merge(event, &error);
        if (code != 0) {
            (void)nri_rt_event_fail(event, code, NULL, "%s", error.text);
            return;
        }
    }
    nri_rt_chain_advance(event);
}

void nri_rt_event_run(nri_outcome *event)
{
    switch (event->stage) {
    case NRI_RT_WAITING:
        if (nri_rt_lane_is_free(event))
            start(event);
        break;
    case NRI_RT_CHAIN:
        if (event->ask.plugin == NULL)
            nri_rt_chain_advance(event);
        break;
    case NRI_RT_VALIDATING:
        break; /* each answer tells by itself */
    case NRI_RT_DONE:
        nri_rt_event_finish(event->rt, event);
        break;
    }
}

/* ---- the end ---- */

void nri_rt_event_done(nri_outcome *event)
{
    if (event->stage == NRI_RT_DONE || event->ask.plugin != NULL || event->validators_out > 0)
        return;
    event->stage = NRI_RT_DONE;
    nri_rt_event_todo(event);
}

static void give_up(nri_outcome *event)
{
    if (event->ask.plugin != NULL && !event->ask.out)
        nri_rt_ask_cancel(&event->ask);
    nri_rt_event_done(event);
}

int nri_rt_event_fail(nri_outcome *event, int code, const char *plugin, const char *format, ...)
{
    char text[NRI_ERROR_TEXT_SIZE];
    va_list arguments;

    if (event->code != 0 || event->stage == NRI_RT_DONE)
        return event->code;
    va_start(arguments, format);
    (void)nri_error_format(text, format, arguments);
    va_end(arguments);
    event->code = code;
    /* Without memory the code's own text has to do. */
    event->text = nri_arena_text(&event->arena, text, strlen(text));
    if (event->text == NULL)
        event->text = nri_strerror(code);
    if (plugin != NULL)
        event->plugin = nri_arena_text(&event->arena, plugin, strlen(plugin));
    if (event->plugin == NULL)
        event->plugin = "";
    if (event->stage == NRI_RT_WAITING)
        event->stage = NRI_RT_CHAIN;
    give_up(event);
    return code;
}

/* Unused again: with nobody else's reference its memory is the next event's. */
static void retire(struct nri_rt *rt, nri_outcome *event)
{
    event->rt = NULL;
    if (atomic_load_explicit(&event->references, memory_order_acquire) > 1 ||
        rt->spare_count >= SPARE_EVENTS) {
        nri_outcome_unref(event);
        return;
    }
    reset(event);
    event->next = rt->spare;
    rt->spare = event;
    rt->spare_count++;
}

void nri_rt_event_finish(struct nri_rt *rt, nri_outcome *event)
{
    nri_rt_lane_leave(event);
    nri_rt_ask_over(event);
    unlink_event(event);
    /* Whoever called may free them in `done`, and keep the outcome. */
    event->subject = (struct nri_rt_subject){.event = event->subject.event};
    event->pristine = NULL;
    event->metadata = NULL;
    nri_rt_enter_user(rt);
    if (event->done != NULL)
        event->done(rt->config.runtime, event, event->user);
    if (rt->config.ops.audit != NULL)
        rt->config.ops.audit(rt->config.runtime, event, rt->config.user);
    nri_rt_leave_user(rt);
    retire(rt, event);
}
