/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What each operation is: the events it sends, by the states it finds, and what becomes of the
 * states with each of them.
 */
#include <stdlib.h>
#include <string.h>

#include "node_inside.h"
#include "revision.h"

#define STOPPED_CODE 143 /* as of a process that SIGTERM ended */

/* ---- plans ---- */

static void refuse(struct operation *operation, int code, const char *what, const char *id,
                   const char *why)
{
    operation->failed = true;
    (void)operation_fail(operation, code, "%s %s %s", what, id, why);
}

static bool is_alive(const struct store_container *container)
{
    return container->state == STORE_CREATED || container->state == STORE_RUNNING;
}

static const char *container_id(const struct store_container *container)
{
    return nri_container_id(container->now->container);
}

static void refuse_container(struct operation *operation, const char *wanted)
{
    struct store_container *container = operation->container;
    operation->failed = true;
    (void)operation_fail(operation, NRI_E_STATE, "container %s is %s, not %s",
                         container_id(container), store_container_state_name(container->state),
                         wanted);
}

static void add_pair(struct operation *operation, enum nri_event first, enum nri_event second,
                     struct store_container *container)
{
    if (operation_add_step(operation, first, container))
        (void)operation_add_step(operation, second, container);
}

static void plan_stop_pod(struct operation *operation, bool remove)
{
    struct store_pod *pod = operation->pod;
    bool good = true;
    for (struct store_container *at = pod->first; good && at != NULL; at = at->next) {
        if (at->state == STORE_RUNNING || (remove && at->state == STORE_CREATED))
            good = operation_add_step(operation, NRI_EVENT_STOP_CONTAINER, at);
    }
    if (good && pod->state == STORE_POD_READY)
        good = operation_add_step(operation, NRI_EVENT_STOP_POD_SANDBOX, NULL);
    for (struct store_container *at = pod->first; good && remove && at != NULL; at = at->next) {
        if (at->state != STORE_CREATING) /* that one waits behind us, and fails */
            good = operation_add_step(operation, NRI_EVENT_REMOVE_CONTAINER, at);
    }
    if (good && remove)
        (void)operation_add_step(operation, NRI_EVENT_REMOVE_POD_SANDBOX, NULL);
}

static void plan_pod(struct operation *operation)
{
    struct store_pod *pod = operation->pod;
    switch (operation->kind) {
    case OPERATION_RUN_POD:
        (void)operation_add_step(operation, NRI_EVENT_RUN_POD_SANDBOX, NULL);
        break;
    case OPERATION_UPDATE_POD:
        if (pod->state == STORE_POD_READY)
            add_pair(operation, NRI_EVENT_UPDATE_POD_SANDBOX, NRI_EVENT_POST_UPDATE_POD_SANDBOX,
                     NULL);
        else
            refuse(operation, NRI_E_STATE, "pod sandbox", nri_pod_id(pod->pod), "is not ready");
        break;
    default:
        plan_stop_pod(operation, operation->kind == OPERATION_REMOVE_POD);
        break;
    }
}

static void plan_create(struct operation *operation)
{
    struct store_container *container = operation->container;
    if (operation->pod->state == STORE_POD_READY) {
        add_pair(operation, NRI_EVENT_CREATE_CONTAINER, NRI_EVENT_POST_CREATE_CONTAINER, container);
        return;
    }
    refuse(operation, NRI_E_STATE, "pod sandbox", nri_pod_id(operation->pod->pod), "is not ready");
    store_remove_container(container);
}

static void plan_container(struct operation *operation)
{
    struct store_container *container = operation->container;
    switch (operation->kind) {
    case OPERATION_START:
        if (container->state != STORE_CREATED)
            refuse_container(operation, "created");
        else if (operation->pod->state != STORE_POD_READY)
            refuse(operation, NRI_E_STATE, "pod sandbox", nri_pod_id(operation->pod->pod),
                   "is not ready");
        else
            add_pair(operation, NRI_EVENT_START_CONTAINER, NRI_EVENT_POST_START_CONTAINER,
                     container);
        break;
    case OPERATION_UPDATE:
        if (is_alive(container))
            add_pair(operation, NRI_EVENT_UPDATE_CONTAINER, NRI_EVENT_POST_UPDATE_CONTAINER,
                     container);
        else
            refuse_container(operation, "created or running");
        break;
    case OPERATION_EXIT:
        if (container->state == STORE_RUNNING)
            (void)operation_add_step(operation, NRI_EVENT_STOP_CONTAINER, container);
        else
            refuse_container(operation, "running");
        break;
    default:
        if (is_alive(container) &&
            !operation_add_step(operation, NRI_EVENT_STOP_CONTAINER, container))
            break;
        if (operation->kind == OPERATION_REMOVE)
            (void)operation_add_step(operation, NRI_EVENT_REMOVE_CONTAINER, container);
        break;
    }
}

void operation_plan(struct operation *operation)
{
    const struct store_container *container = operation->container;
    if (operation->code != 0) { /* there was no such object when it was asked for */
        operation->failed = true;
        return;
    }
    if (operation->pod->state == STORE_POD_GONE)
        refuse(operation, NRI_E_NOT_FOUND, "pod sandbox", nri_pod_id(operation->pod->pod),
               "is gone");
    else if (container == NULL)
        plan_pod(operation);
    else if (container->state == STORE_GONE)
        refuse(operation, NRI_E_NOT_FOUND, "container", container_id(container), "is gone");
    else if (operation->kind == OPERATION_CREATE)
        plan_create(operation);
    else
        plan_container(operation);
}

/* ---- versions of a container ---- */

/* It goes on with what it was when there is no memory for more. */
static void replace(struct operation *operation, struct store_container *container,
                    nri_container *version)
{
    const int code = version == NULL ? NRI_E_NOMEM : store_replace(container, version);
    if (code != 0)
        (void)operation_fail(operation, code, "out of memory for container %s",
                             container_id(container));
}

static nri_container *next_version(const struct store_container *container)
{
    nri_container *next = NULL;
    return nri_container_dup(container->now->container, NULL, &next) == 0 ? next : NULL;
}

/* A setter fails only without memory, and says so at the end: nri_container_error(). */
static nri_container *whole(nri_container *version)
{
    return version != NULL && nri_container_error(version) != 0 ? nri_container_free(version)
                                                                : version;
}

static void set_stopped(struct operation *operation, struct store_container *container)
{
    nri_container *next = next_version(container);
    const bool by_itself = operation->kind == OPERATION_EXIT;
    const int32_t exit_code = by_itself                           ? operation->exit_code
                              : container->state == STORE_RUNNING ? STOPPED_CODE
                                                                  : 0;
    container->state = STORE_STOPPED;
    if (next != NULL) {
        (void)nri_container_set_state(next, NRI_CONTAINER_STOPPED);
        (void)nri_container_set_pid(next, 0);
    }
    if (next != NULL && node_tells_status(operation->node)) {
        (void)nri_container_set_finished_at(next, node_now());
        (void)nri_container_set_exit_code(next, exit_code);
        (void)nri_container_set_status_reason(next, operation->reason != NULL ? "Evicted"
                                                    : exit_code == 0          ? "Completed"
                                                                              : "Error");
        (void)nri_container_set_status_message(next,
                                               operation->reason != NULL ? operation->reason : "");
    }
    replace(operation, container, whole(next));
}

static void set_running(struct operation *operation, struct store_container *container)
{
    struct node *node = operation->node;
    nri_container *next = next_version(container);
    container->state = STORE_RUNNING;
    if (next != NULL) {
        (void)nri_container_set_state(next, NRI_CONTAINER_RUNNING);
        if (!node->imitate.no_container_pid)
            (void)nri_container_set_pid(next, node->next_pid++);
        if (node_tells_status(node))
            (void)nri_container_set_started_at(next, node_now());
    }
    replace(operation, container, whole(next));
}

/* ---- before ---- */

void operation_before(struct operation *operation, const struct operation_step *step)
{
    if (step->event == NRI_EVENT_STOP_CONTAINER && step->container->state != STORE_STOPPED)
        set_stopped(operation, step->container);
}

/* ---- after ---- */

/* It is not done: what was begun is taken back. */
static void undo(struct operation *operation, enum nri_event first, enum nri_event second,
                 struct store_container *container)
{
    operation->failed = true;
    operation_drop_steps(operation);
    add_pair(operation, first, second, container);
}

static void give_up(struct operation *operation)
{
    operation->failed = true;
    operation_drop_steps(operation);
}

/* The outcome calls the event's own container "". */
static const char *evicting_plugin(const nri_outcome *outcome, const char *id, const char *own)
{
    const char *about, *wanted = strcmp(id, own) == 0 ? "" : id;
    enum nri_change_action action;
    for (size_t i = 0; i < nri_outcome_step_count(outcome); i++)
        for (size_t j = 0; nri_outcome_change_at(outcome, i, j, NULL, NULL, &about, NULL, &action);
             j++)
            if (action == NRI_CHANGE_EVICTED && strcmp(about, wanted) == 0)
                return nri_outcome_step_plugin(outcome, i);
    return "";
}

/* What plugins answered about other containers. */
static void apply_updates(struct operation *operation, nri_outcome *outcome)
{
    struct node *node = operation->node;
    const nri_updates *updates = nri_outcome_updates(outcome);
    const char *own = operation->container == NULL ? "" : container_id(operation->container);
    const char *reason, *id;
    for (size_t i = 0; !node->imitate.no_updates && i < nri_updates_count(updates); i++) {
        const nri_update *update = nri_updates_at(updates, i);
        id = nri_update_container_id(update);
        if (strcmp(id, own) == 0 && operation->kind == OPERATION_UPDATE)
            continue; /* it is in nri_outcome_resources() */
        if (!node_apply_update(node, update) && !nri_update_ignore_failure(update))
            operation_note_not_updated(operation, id);
    }
    for (size_t i = 0; nri_updates_eviction_at(updates, i, &id, &reason); i++)
        node_evict(node, id, evicting_plugin(outcome, id, own), reason);
}

static bool updates_fail(struct operation *operation, nri_outcome *outcome)
{
    const struct imitate *imitate = &operation->node->imitate;
    if (imitate->no_updates && nri_updates_count(nri_outcome_updates(outcome)) > 0)
        return operation_fail(operation, NRI_E_UNSUPPORTED,
                              "%s does not update containers for plugins", imitate->name) != 0;
    if (!imitate->strict_updates || operation->not_updated_count == 0)
        return false;
    return operation_fail(operation, NRI_E_INVALID, "container %s cannot be updated",
                          operation->not_updated[0]) != 0;
}

static void after_create(struct operation *operation, struct store_container *container, int code,
                         nri_outcome *outcome)
{
    struct nri_error error = {.code = 0};
    nri_container *next = NULL;
    if (code == 0) {
        apply_updates(operation, outcome);
        if (updates_fail(operation, outcome))
            code = operation->code;
    }
    if (code == 0) {
        code = revision_adjust(container->now->container, nri_outcome_adjustment(outcome),
                               node_imitate(operation->node), &next, &error);
        if (code != 0)
            (void)operation_fail(operation, code, "container %s: %s", container_id(container),
                                 error.text);
    }
    if (code != 0) {
        undo(operation, NRI_EVENT_STOP_CONTAINER, NRI_EVENT_REMOVE_CONTAINER, container);
        return;
    }
    container->state = STORE_CREATED;
    (void)nri_container_set_state(next, NRI_CONTAINER_CREATED);
    replace(operation, container, whole(next));
}

static void after_update(struct operation *operation, struct store_container *container, int code,
                         nri_outcome *outcome)
{
    struct nri_error error = {.code = 0};
    nri_container *next = NULL;
    const nri_resources *resources = outcome != NULL ? nri_outcome_resources(outcome)
                                                     : nri_container_resources(operation->update);
    if (code == 0) {
        apply_updates(operation, outcome);
        if (updates_fail(operation, outcome))
            code = operation->code;
    }
    if (code == 0) {
        code = revision_update(container->now->container, resources, &next, &error);
        if (code != 0)
            (void)operation_fail(operation, code, "container %s: %s", container_id(container),
                                 error.text);
    }
    if (code != 0)
        give_up(operation);
    else
        replace(operation, container, whole(next));
}

static void after_update_pod(struct operation *operation, int code)
{
    struct nri_error error = {.code = 0};
    nri_pod *pod = operation->pod->pod;
    const nri_resources *overhead = nri_pod_overhead(operation->pod_update);
    const nri_resources *resources = nri_pod_pod_resources(operation->pod_update);
    if (code == 0 && nri_resources_is_present(overhead))
        code = revision_resources(nri_pod_edit_overhead(pod), overhead, &error);
    if (code == 0 && nri_resources_is_present(resources))
        code = revision_resources(nri_pod_edit_pod_resources(pod), resources, &error);
    if (code != 0) {
        (void)operation_fail(operation, code, "pod sandbox %s: %s", nri_pod_id(pod), error.text);
        give_up(operation);
    }
}

static void after_pod(struct operation *operation, const struct operation_step *step, int code)
{
    struct store_pod *pod = operation->pod;
    switch (step->event) {
    case NRI_EVENT_RUN_POD_SANDBOX:
        pod->state = STORE_POD_READY;
        if (code != 0)
            undo(operation, NRI_EVENT_STOP_POD_SANDBOX, NRI_EVENT_REMOVE_POD_SANDBOX, NULL);
        break;
    case NRI_EVENT_UPDATE_POD_SANDBOX:
        after_update_pod(operation, code);
        break;
    case NRI_EVENT_STOP_POD_SANDBOX:
        pod->state = STORE_POD_STOPPED;
        break;
    case NRI_EVENT_REMOVE_POD_SANDBOX:
        store_remove_pod(pod);
        break;
    default:
        break;
    }
}

void operation_after(struct operation *operation, const struct operation_step *step, int code,
                     nri_outcome *outcome)
{
    struct store_container *container = step->container;
    switch (step->event) {
    case NRI_EVENT_CREATE_CONTAINER:
        after_create(operation, container, code, outcome);
        break;
    case NRI_EVENT_START_CONTAINER:
        if (code == 0)
            set_running(operation, container);
        else
            give_up(operation);
        break;
    case NRI_EVENT_UPDATE_CONTAINER:
        after_update(operation, container, code, outcome);
        break;
    case NRI_EVENT_STOP_CONTAINER:
        apply_updates(operation, outcome);
        break;
    case NRI_EVENT_REMOVE_CONTAINER:
        store_remove_container(container);
        break;
    default:
        after_pod(operation, step, code);
        break;
    }
}
