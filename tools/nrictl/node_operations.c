/* SPDX-License-Identifier: Apache-2.0 */
/* How operations are asked for. */
#include <stdlib.h>
#include <string.h>

#include "node_inside.h"
#include "revision.h"

static int fail(struct node *node, int code, const char *text)
{
    return nri_error_set(&node->error, code, "%s", text);
}

static int check(struct node *node, bool given)
{
    if (node->phase == NODE_CLOSING || node->phase == NODE_FAILED || node->phase == NODE_NEW)
        return fail(node, NRI_E_STATE, "the node does not run");
    return given ? 0 : fail(node, NRI_E_INVALID, "an object with an id is needed");
}

/* An operation that is queued whether there is such an object or not, since its callback comes in
 * both cases. */
static struct operation *make(struct node *node, enum operation_kind kind, struct store_pod *pod,
                              struct store_container *container, node_done done, void *user)
{
    struct operation *operation = operation_new(node, kind, pod, container, done, user);
    if (operation == NULL)
        (void)fail(node, NRI_E_NOMEM, "out of memory for an operation");
    return operation;
}

static struct operation *make_for_pod(struct node *node, enum operation_kind kind, const char *id,
                                      node_done done, void *user)
{
    struct store_pod *pod = store_find_pod(&node->store, id);
    struct operation *operation = make(node, kind, pod, NULL, done, user);
    if (operation != NULL && pod == NULL)
        (void)operation_fail(operation, NRI_E_NOT_FOUND, "there is no pod sandbox %s", id);
    return operation;
}

static struct operation *make_for_container(struct node *node, enum operation_kind kind,
                                            const char *id, node_done done, void *user)
{
    struct store_container *container = store_find_container(&node->store, id);
    struct operation *operation =
        make(node, kind, container == NULL ? NULL : container->pod, container, done, user);
    if (operation != NULL && container == NULL)
        (void)operation_fail(operation, NRI_E_NOT_FOUND, "there is no container %s", id);
    return operation;
}

static int queue(struct operation *operation)
{
    if (operation == NULL)
        return NRI_E_NOMEM;
    operation_queue(operation);
    return 0;
}

/* ---- pod sandboxes ---- */

static int taken(struct node *node, enum operation_kind kind, const char *what, const char *id,
                 node_done done, void *user)
{
    struct operation *operation = make(node, kind, NULL, NULL, done, user);
    if (operation != NULL)
        (void)operation_fail(operation, NRI_E_STATE, "there is a %s %s already", what, id);
    return queue(operation);
}

int node_run_pod(struct node *node, nri_pod *pod, node_done done, void *user)
{
    int code = check(node, pod != NULL && nri_pod_id(pod)[0] != '\0');
    if (code != 0)
        return code;
    if (nri_map_get(&node->store.pods, nri_pod_id(pod), strlen(nri_pod_id(pod))) != NULL) {
        code = taken(node, OPERATION_RUN_POD, "pod sandbox", nri_pod_id(pod), done, user);
        if (code == 0)
            nri_pod_free(pod);
        return code;
    }
    if ((code = nri_pod_set_pid(pod, node->next_pid++)) != 0)
        return fail(node, code, nri_pod_error_text(pod));
    struct store_pod *added = store_add_pod(&node->store, pod);
    if (added == NULL)
        return fail(node, NRI_E_NOMEM, "out of memory for a pod sandbox");
    struct operation *operation = make(node, OPERATION_RUN_POD, added, NULL, done, user);
    if (operation == NULL) {
        (void)store_ref_pod(added);
        store_remove_pod(added);
        added->pod = NULL; /* the caller's again */
        store_unref_pod(added);
    }
    return queue(operation);
}

int node_update_pod(struct node *node, const char *pod, const nri_resources *overhead,
                    const nri_resources *resources, node_done done, void *user)
{
    int code = check(node, pod != NULL);
    if (code != 0)
        return code;
    struct operation *operation = make_for_pod(node, OPERATION_UPDATE_POD, pod, done, user);
    if (operation == NULL)
        return NRI_E_NOMEM;
    code = nri_pod_new(&operation->pod_update, NULL);
    if (code == 0 && nri_resources_is_present(overhead))
        code = revision_resources(nri_pod_edit_overhead(operation->pod_update), overhead,
                                  &node->error);
    if (code == 0 && nri_resources_is_present(resources))
        code = revision_resources(nri_pod_edit_pod_resources(operation->pod_update), resources,
                                  &node->error);
    if (code == 0)
        return queue(operation);
    operation_free(operation);
    return code;
}

static int pod_operation(struct node *node, enum operation_kind kind, const char *pod,
                         node_done done, void *user)
{
    const int code = check(node, pod != NULL);
    return code != 0 ? code : queue(make_for_pod(node, kind, pod, done, user));
}

int node_stop_pod(struct node *node, const char *pod, node_done done, void *user)
{
    return pod_operation(node, OPERATION_STOP_POD, pod, done, user);
}

int node_remove_pod(struct node *node, const char *pod, node_done done, void *user)
{
    return pod_operation(node, OPERATION_REMOVE_POD, pod, done, user);
}

/* ---- containers ---- */

/* What a runtime sets of a container that it creates. */
static int prepare(struct node *node, const struct store_pod *pod, nri_container *container)
{
    int code = nri_container_set_pod_sandbox_id(container, nri_pod_id(pod->pod));
    if (code == 0)
        code = nri_container_set_state(container, NRI_CONTAINER_UNKNOWN);
    if (code == 0 && node_tells_status(node))
        code = nri_container_set_created_at(container, node_now());
    return code == 0 ? 0 : fail(node, code, nri_container_error_text(container));
}

static int refuse_create(struct node *node, const char *pod, nri_container *container,
                         node_done done, void *user)
{
    struct operation *operation = make(node, OPERATION_CREATE, NULL, NULL, done, user);
    if (operation == NULL)
        return NRI_E_NOMEM;
    (void)operation_fail(operation, NRI_E_NOT_FOUND, "there is no pod sandbox %s", pod);
    nri_container_free(container);
    return queue(operation);
}

int node_create(struct node *node, const char *pod, nri_container *container, node_done done,
                void *user)
{
    int code =
        check(node, pod != NULL && container != NULL && nri_container_id(container)[0] != '\0');
    if (code != 0)
        return code;
    const char *id = nri_container_id(container);
    struct store_pod *found = store_find_pod(&node->store, pod);
    if (found == NULL)
        return refuse_create(node, pod, container, done, user);
    if (nri_map_get(&node->store.containers, id, strlen(id)) != NULL) {
        if ((code = taken(node, OPERATION_CREATE, "container", id, done, user)) == 0)
            nri_container_free(container);
        return code;
    }
    if ((code = prepare(node, found, container)) != 0)
        return code;
    struct operation *operation = make(node, OPERATION_CREATE, found, NULL, done, user);
    struct store_container *added =
        operation == NULL ? NULL : store_add_container(found, container);
    if (added == NULL) {
        if (operation != NULL)
            operation_free(operation);
        return fail(node, NRI_E_NOMEM, "out of memory for a container");
    }
    operation->container = store_ref_container(added);
    return queue(operation);
}

static int container_operation(struct node *node, enum operation_kind kind, const char *container,
                               node_done done, void *user)
{
    const int code = check(node, container != NULL);
    return code != 0 ? code : queue(make_for_container(node, kind, container, done, user));
}

int node_start_container(struct node *node, const char *container, node_done done, void *user)
{
    return container_operation(node, OPERATION_START, container, done, user);
}

int node_stop_container(struct node *node, const char *container, node_done done, void *user)
{
    return container_operation(node, OPERATION_STOP, container, done, user);
}

int node_remove_container(struct node *node, const char *container, node_done done, void *user)
{
    return container_operation(node, OPERATION_REMOVE, container, done, user);
}

int node_exit_container(struct node *node, const char *container, int32_t exit_code, node_done done,
                        void *user)
{
    const int code = check(node, container != NULL);
    if (code != 0)
        return code;
    struct operation *operation = make_for_container(node, OPERATION_EXIT, container, done, user);
    if (operation != NULL)
        operation->exit_code = exit_code;
    return queue(operation);
}

int node_update_container(struct node *node, const char *container, const nri_resources *resources,
                          node_done done, void *user)
{
    int code = check(node, container != NULL);
    if (code != 0)
        return code;
    struct operation *operation = make_for_container(node, OPERATION_UPDATE, container, done, user);
    if (operation == NULL)
        return NRI_E_NOMEM;
    code = nri_container_new(&operation->update, NULL);
    if (code == 0)
        code = revision_resources(nri_container_edit_resources(operation->update), resources,
                                  &node->error);
    if (code == 0)
        return queue(operation);
    operation_free(operation);
    return code;
}

/* ---- evictions ---- */

void node_evict(struct node *node, const char *container_id, const char *plugin, const char *reason)
{
    struct store_container *container =
        nri_map_get(&node->store.containers, container_id, strlen(container_id));
    if (node->imitate.no_evictions || container == NULL || container->evicted != NULL ||
        container->state == STORE_STOPPED || check(node, true) != 0)
        return;
    struct operation *operation =
        operation_new(node, OPERATION_STOP, container->pod, container, NULL, NULL);
    if (operation == NULL)
        return;
    operation->reason = strdup(reason);
    container->evicted = strdup(reason);
    operation_queue(operation);
    if (node->watch.evicted != NULL)
        node->watch.evicted(node, container_id, plugin, reason, node->user);
}
