/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Operations in turn: each pod sandbox has a queue, whose first operation is under way.
 *
 * Happy path: operation_queue() -> a turn of the loop -> plan -> before, send, outcome, after for
 * each step -> the callback -> the next of the queue. Failure modes: no such object (the plan says
 * so), a plugin refuses (`after` changes the steps), the runtime does not take the event (the same
 * as an outcome with a code), the runtime goes away (the operation is parked, and goes on where it
 * was), the node is closed (all end at once).
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "node_inside.h"

static void run_queue(struct store_pod *pod);

/* ---- one operation ---- */

struct operation *operation_new(struct node *node, enum operation_kind kind, struct store_pod *pod,
                                struct store_container *container, node_done done, void *user)
{
    struct operation *operation = calloc(1, sizeof *operation);
    if (operation == NULL)
        return NULL;
    operation->node = node;
    operation->kind = kind;
    operation->pod = pod == NULL ? NULL : store_ref_pod(pod);
    operation->container = container == NULL ? NULL : store_ref_container(container);
    operation->done = done;
    operation->user = user;
    return operation;
}

void operation_free(struct operation *operation)
{
    for (size_t i = 0; i < operation->step_count; i++)
        store_unref_container(operation->steps[i].container);
    for (size_t i = 0; i < operation->outcome_count; i++)
        nri_outcome_unref(operation->outcomes[i]);
    for (size_t i = 0; i < operation->not_updated_count; i++)
        free(operation->not_updated[i]);
    snapshot_unref(operation->told);
    store_unref_container(operation->container);
    store_unref_pod(operation->pod);
    nri_container_free(operation->update);
    nri_pod_free(operation->pod_update);
    free(operation->steps);
    free(operation->outcomes);
    free(operation->event_nanoseconds);
    free(operation->not_updated);
    free(operation->reason);
    free(operation->text);
    free(operation);
}

int operation_fail(struct operation *operation, int code, const char *format, ...)
{
    va_list arguments;
    if (operation->code != 0)
        return code;
    operation->code = code;
    va_start(arguments, format);
    if (vasprintf(&operation->text, format, arguments) < 0)
        operation->text = NULL;
    va_end(arguments);
    return code;
}

bool operation_add_step(struct operation *operation, enum nri_event event,
                        struct store_container *container)
{
    if (operation->step_count == operation->step_room) {
        const size_t room = operation->step_room == 0 ? 4 : 2 * operation->step_room;
        struct operation_step *steps = realloc(operation->steps, room * sizeof *steps);
        if (steps == NULL) {
            operation->failed = true;
            (void)operation_fail(operation, NRI_E_NOMEM, "out of memory for an operation");
            return false;
        }
        operation->steps = steps;
        operation->step_room = room;
    }
    operation->steps[operation->step_count++] =
        (struct operation_step){event, container == NULL ? NULL : store_ref_container(container)};
    return true;
}

void operation_drop_steps(struct operation *operation)
{
    while (operation->step_count > operation->step_at + 1)
        store_unref_container(operation->steps[--operation->step_count].container);
}

/* A list of pointers with room for one more; NULL: no memory, and the list stays. */
static void *grown(void *list, size_t count)
{
    return realloc(list, (count + 1) * sizeof(void *));
}

void operation_note_not_updated(struct operation *operation, const char *id)
{
    char *copy = strdup(id);
    char **list = copy == NULL ? NULL : grown(operation->not_updated, operation->not_updated_count);
    if (list == NULL) {
        free(copy);
        (void)operation_fail(operation, NRI_E_NOMEM, "out of memory for an operation");
        return;
    }
    operation->not_updated = list;
    list[operation->not_updated_count++] = copy;
}

static void keep_outcome(struct operation *operation, nri_outcome *outcome)
{
    const size_t count = operation->outcome_count;
    nri_outcome **list = grown(operation->outcomes, count);
    uint64_t *times =
        list == NULL ? NULL : realloc(operation->event_nanoseconds, (count + 1) * sizeof *times);
    operation->node->event_nanoseconds = uv_hrtime() - operation->sent_at;
    if (list != NULL)
        operation->outcomes = list;
    if (times == NULL) {
        (void)operation_fail(operation, NRI_E_NOMEM, "out of memory for an outcome");
        return;
    }
    operation->event_nanoseconds = times;
    times[count] = operation->node->event_nanoseconds;
    list[operation->outcome_count++] = nri_outcome_ref(outcome);
}

/* ---- all of them ---- */

static void link_all(struct operation *operation)
{
    struct node *node = operation->node;
    operation->all_next = node->operations;
    if (node->operations != NULL)
        node->operations->all_previous = operation;
    else
        node->oldest = operation;
    node->operations = operation;
    node->pending++;
}

static void unlink_all(struct operation *operation)
{
    struct node *node = operation->node;
    if (operation->all_previous != NULL)
        operation->all_previous->all_next = operation->all_next;
    else
        node->operations = operation->all_next;
    if (operation->all_next != NULL)
        operation->all_next->all_previous = operation->all_previous;
    else
        node->oldest = operation->all_previous;
    node->pending--;
}

/* Its callback, and its end. */
static void finish(struct operation *operation)
{
    struct node *node = operation->node;
    const struct node_result result = {
        .code = operation->code,
        .text = operation->text != NULL ? operation->text
                : operation->code != 0  ? nri_strerror(operation->code)
                                        : "",
        .done = !operation->failed,
        .outcomes = operation->outcomes,
        .event_nanoseconds = operation->event_nanoseconds,
        .outcome_count = operation->outcome_count,
        .not_updated = (const char *const *)operation->not_updated,
        .not_updated_count = operation->not_updated_count,
        .nanoseconds = operation->began == 0 ? 0 : uv_hrtime() - operation->began,
    };
    unlink_all(operation);
    if (operation->done != NULL)
        operation->done(node, &result, operation->user);
    operation_free(operation);
}

/* ---- steps ---- */

static void on_outcome(nri_runtime *runtime, nri_outcome *outcome, void *user);

/* 0: `on_outcome` comes. */
static int send_event(struct operation *operation, const struct operation_step *step)
{
    struct nri_runtime_event event;
    nri_runtime_event_init(&event, sizeof event);
    event.event = step->event;
    event.pod = operation->pod->pod;
    if (step->container != NULL) {
        operation->told = snapshot_ref(step->container->now);
        event.container = operation->told->container;
    }
    if (step->event == NRI_EVENT_UPDATE_CONTAINER)
        event.resources = nri_container_resources(operation->update);
    if (step->event == NRI_EVENT_UPDATE_POD_SANDBOX) {
        event.overhead = nri_pod_overhead(operation->pod_update);
        event.resources = nri_pod_pod_resources(operation->pod_update);
    }
    if (operation->node->watch.asked != NULL)
        operation->node->watch.asked(operation->node, &event, operation->node->user);
    operation->sent_at = uv_hrtime();
    const int code = nri_runtime_call(operation->node->runtime, &event, on_outcome, operation);
    operation->sent = code == 0;
    return code;
}

static void step_done(struct operation *operation, int code, nri_outcome *outcome)
{
    const struct operation_step step = operation->steps[operation->step_at];
    snapshot_unref(operation->told);
    operation->told = NULL;
    operation->sent = false;
    operation_after(operation, &step, code, outcome);
    operation->step_at++;
}

/* True: it is at its end. False: an event is under way, or it waits for the runtime. */
static bool advance(struct operation *operation)
{
    struct node *node = operation->node;
    while (operation->step_at < operation->step_count) {
        const struct operation_step *step = &operation->steps[operation->step_at];
        if (node->phase != NODE_READY) {
            operation->parked = true;
            return false;
        }
        operation_before(operation, step);
        if (!node_sends(node, step->event)) {
            step_done(operation, 0, NULL);
            continue;
        }
        const int code = send_event(operation, step);
        if (code == 0)
            return false;
        (void)operation_fail(operation, code, "%s: %s", nri_event_name(step->event),
                             nri_error_get_text(nri_runtime_last_error(node->runtime)));
        step_done(operation, code, NULL);
    }
    return true;
}

static void end_first(struct store_pod *pod)
{
    struct operation *operation = pod->queue;
    pod->queue = operation->next;
    if (pod->queue == NULL)
        pod->queue_end = NULL;
    pod->busy = false;
    finish(operation);
}

static void on_outcome(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct operation *operation = user;
    struct node *node = operation->node;
    struct store_pod *pod = store_ref_pod(operation->pod);
    const int code = nri_outcome_code(outcome);
    (void)runtime;
    keep_outcome(operation, outcome);
    if (code != 0)
        (void)operation_fail(operation, code, "%s: %s", nri_event_name(nri_outcome_event(outcome)),
                             nri_outcome_text(outcome));
    if (node->watch.outcome != NULL)
        node->watch.outcome(node, outcome, node->user);
    step_done(operation, code, outcome);
    if (advance(operation)) {
        end_first(pod);
        run_queue(pod);
    }
    store_unref_pod(pod);
}

/* ---- queues ---- */

/* Whether operations may begin. */
static bool is_open(const struct node *node)
{
    return node->phase == NODE_READY;
}

static void run_queue(struct store_pod *pod)
{
    while (pod->queue != NULL && !pod->busy && is_open(pod->queue->node)) {
        struct operation *operation = pod->queue;
        pod->busy = true;
        operation->began = uv_hrtime();
        operation_plan(operation);
        if (!advance(operation))
            return;
        end_first(pod);
    }
}

static void make_runnable(struct node *node, struct store_pod *pod)
{
    if (pod->runnable)
        return;
    pod->runnable = true;
    pod->next_runnable = NULL;
    (void)store_ref_pod(pod);
    if (node->runnable_end != NULL)
        node->runnable_end->next_runnable = pod;
    else
        node->runnable = pod;
    node->runnable_end = pod;
}

static struct store_pod *take_runnable(struct node *node)
{
    struct store_pod *pod = node->runnable;
    node->runnable = pod->next_runnable;
    if (node->runnable == NULL)
        node->runnable_end = NULL;
    pod->runnable = false;
    return pod;
}

static void run_loose(struct node *node)
{
    struct operation *operation = node->loose;
    node->loose = operation->next;
    if (node->loose == NULL)
        node->loose_end = NULL;
    operation_plan(operation);
    finish(operation);
}

static void on_kick(uv_timer_t *timer)
{
    struct node *node = timer->data;
    node->kicked = false;
    while (node->loose != NULL && is_open(node))
        run_loose(node);
    while (node->runnable != NULL) {
        struct store_pod *pod = take_runnable(node);
        run_queue(pod);
        store_unref_pod(pod);
    }
}

void operation_kick(struct node *node)
{
    if (node->kicked || node->phase == NODE_CLOSING)
        return;
    node->kicked = uv_timer_start(&node->kick, on_kick, 0, 0) == 0;
}

void operation_queue(struct operation *operation)
{
    struct node *node = operation->node;
    struct store_pod *pod = operation->pod;
    struct operation **end = pod == NULL ? &node->loose_end : &pod->queue_end;
    link_all(operation);
    if (*end != NULL)
        (*end)->next = operation;
    else if (pod == NULL)
        node->loose = operation;
    else
        pod->queue = operation;
    *end = operation;
    if (pod != NULL)
        make_runnable(node, pod);
    operation_kick(node);
}

/* Those that were parked go on; the other queues begin. */
void operation_resume(struct node *node)
{
    struct operation *next;
    for (struct operation *at = node->operations; at != NULL; at = at->all_next) {
        if (at->pod != NULL)
            make_runnable(node, at->pod);
    }
    operation_kick(node);
    for (struct operation *at = node->operations; at != NULL; at = next) {
        next = at->all_next;
        if (!at->parked)
            continue;
        at->parked = false;
        struct store_pod *pod = store_ref_pod(at->pod);
        if (advance(at)) {
            end_first(pod);
            next = node->operations; /* a callback may have made or ended any */
        }
        store_unref_pod(pod);
    }
}

/* The oldest first. */
void operation_end_all(struct node *node)
{
    struct operation *next;
    while (node->runnable != NULL)
        store_unref_pod(take_runnable(node));
    /* No callback makes a new one: the node is closing. */
    for (struct operation *at = node->oldest; at != NULL; at = next) {
        next = at->all_previous;
        operation_drop_steps(at);
        (void)operation_fail(at, NRI_E_CLOSED, "the node is closed");
        at->failed = true;
        if (at->pod != NULL)
            at->pod->queue = at->pod->queue_end = NULL;
        finish(at);
    }
    node->loose = node->loose_end = NULL;
}

nri_outcome *node_result_outcome(const struct node_result *result, enum nri_event event)
{
    for (size_t i = result->outcome_count; i > 0; i--) {
        if (nri_outcome_event(result->outcomes[i - 1]) == event)
            return result->outcomes[i - 1];
    }
    return NULL;
}
