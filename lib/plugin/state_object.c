/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of pods and containers in a state cache: taken in, changed, removed.
 *
 * A container always hangs on a node of its pod, known or not, so that it finds its pod whichever
 * is told first. Whatever must be allocated is allocated before anything changes; removing
 * allocates nothing, but for the memory of what was removed without having been known, and that may
 * be missing.
 */
#include <string.h>

#include "model/dup.h"
#include "plugin/state.h"
#include "wire/digest.h"

/* ---- telling ---- */

static void tell_pod(nri_state *state, nri_state_pod *pod, enum nri_state_cause cause,
                     void (*tell)(nri_state *, nri_state_pod *, enum nri_state_cause, void *))
{
    if (tell != NULL)
        tell(state, pod, cause, state->config.user);
}

static void tell_container(nri_state_container *container, enum nri_state_cause cause,
                           void (*tell)(nri_state *, nri_state_container *, enum nri_state_cause,
                                        void *))
{
    if (tell != NULL)
        tell(container->state, container, cause, container->state->config.user);
}

static void drop_data(struct nri_state_node *node)
{
    void *data = node->data;
    node->data = NULL;
    if (data != NULL && node->destroy != NULL)
        node->destroy(data);
    node->destroy = NULL;
}

/* ---- ids and what may be done ---- */

/* A text of a message with its length. */
struct id {
    const char *text;
    size_t length;
};

static struct id id_of(const char *text)
{
    return (struct id){text, nri_text_length(text)};
}

static bool is_usable(struct id id)
{
    return id.length != 0 && memchr(id.text, '\0', id.length) == NULL;
}

/* Whether something that is not known may be taken in; `node` NULL: nothing is remembered of it. */
static bool may_come(const struct nri_state_node *node, unsigned may)
{
    if (node != NULL && node->presence == NRI_STATE_GONE)
        return (may & NRI_STATE_REVIVE) != 0;
    return (may & NRI_STATE_ADD) != 0;
}

static bool is_live(const struct nri_state_node *node)
{
    return node != NULL && node->presence == NRI_STATE_LIVE;
}

/* ---- pods ---- */

/* The node of a pod that nobody tells of and nothing hangs on goes. */
static void release_pod(nri_state *state, nri_state_pod *pod)
{
    if (pod != NULL && pod->node.presence == NRI_STATE_REFERRED && pod->first == NULL)
        nri_state_set_drop(&state->pods, &pod->node);
}

static int change_pod(nri_state *state, nri_state_pod *pod, const nri_pod *told, uint64_t digest,
                      enum nri_state_cause cause)
{
    nri_pod *copy;
    if (nri_pod_dup_with(told, &state->config.alloc, &copy) != 0)
        return NRI_E_NOMEM;
    nri_pod_free(pod->copy);
    pod->copy = copy;
    pod->node.digest = digest;
    tell_pod(state, pod, cause, state->config.ops.pod_changed);
    return 0;
}

static int add_pod(nri_state *state, nri_state_pod *pod, const nri_pod *told, uint64_t digest,
                   enum nri_state_cause cause)
{
    const struct id id = id_of(nri_pod_id(told));
    nri_pod *copy;
    if (nri_pod_dup_with(told, &state->config.alloc, &copy) != 0)
        return NRI_E_NOMEM;
    if (pod == NULL)
        pod = nri_state_set_add(&state->pods, sizeof *pod, id.text, id.length);
    if (pod == NULL) {
        nri_pod_free(copy);
        return NRI_E_NOMEM;
    }
    pod->copy = copy;
    pod->node.digest = digest;
    pod->node.generation = state->generation;
    nri_state_set_enliven(&state->pods, &pod->node);
    tell_pod(state, pod, cause, state->config.ops.pod_added);
    return 0;
}

int nri_state_put_pod(nri_state *state, const nri_pod *pod, unsigned may,
                      enum nri_state_cause cause)
{
    const struct id id = id_of(nri_pod_id(pod));
    if (!is_usable(id))
        return 0;
    nri_state_pod *known = nri_state_set_find(&state->pods, id.text, id.length);
    const uint64_t digest = nri_message_digest((const void *)pod, state->seed);
    if (known == NULL || !is_live(&known->node))
        return may_come(known != NULL ? &known->node : NULL, may)
                   ? add_pod(state, known, pod, digest, cause)
                   : 0;
    known->node.generation = state->generation;
    if ((may & NRI_STATE_CHANGE) == 0 || digest == known->node.digest)
        return 0;
    return change_pod(state, known, pod, digest, cause);
}

/* ---- containers ---- */

static void join_pod(nri_state_container *container, nri_state_pod *pod)
{
    container->pod = pod;
    container->newer = NULL;
    container->older = pod != NULL ? pod->last : NULL;
    if (pod == NULL)
        return;
    if (pod->last != NULL)
        pod->last->newer = container;
    else
        pod->first = container;
    pod->last = container;
}

/* Out of the pod's list; container->pod stays, for whoever is told. */
static void leave_pod(nri_state_container *container)
{
    nri_state_pod *pod = container->pod;
    if (pod == NULL)
        return;
    if (container->older != NULL)
        container->older->newer = container->newer;
    else
        pod->first = container->newer;
    if (container->newer != NULL)
        container->newer->older = container->older;
    else
        pod->last = container->older;
    container->older = container->newer = NULL;
}

/* The node of the pod that a container names, made if there is none. */
static int find_pod(nri_state *state, struct id id, nri_state_pod **pod)
{
    *pod = NULL;
    if (id.length == 0)
        return 0;
    *pod = nri_state_set_find(&state->pods, id.text, id.length);
    if (*pod == NULL)
        *pod = nri_state_set_add(&state->pods, sizeof **pod, id.text, id.length);
    return *pod != NULL ? 0 : NRI_E_NOMEM;
}

/* What a container is told with. */
struct told {
    const nri_container *container;
    struct id id, pod;
    uint64_t digest;
    enum nri_state_cause cause;
};

static int change_container(nri_state *state, nri_state_container *container,
                            const struct told *told)
{
    nri_state_pod *pod, *former = container->pod;
    nri_container *copy;
    if (nri_container_dup_with(told->container, &state->config.alloc, &copy) != 0)
        return NRI_E_NOMEM;
    if (find_pod(state, told->pod, &pod) != 0) {
        nri_container_free(copy);
        return NRI_E_NOMEM;
    }
    nri_container_free(container->copy);
    container->copy = copy;
    container->node.digest = told->digest;
    if (pod != former) {
        leave_pod(container);
        join_pod(container, pod);
        release_pod(state, former);
    }
    tell_container(container, told->cause, state->config.ops.container_changed);
    return 0;
}

static int add_container(nri_state *state, nri_state_container *container, const struct told *told)
{
    nri_state_pod *pod;
    nri_container *copy;
    if (nri_container_dup_with(told->container, &state->config.alloc, &copy) != 0)
        return NRI_E_NOMEM;
    if (find_pod(state, told->pod, &pod) != 0)
        goto fail_pod;
    if (container == NULL)
        container = nri_state_set_add(&state->containers, sizeof *container, told->id.text,
                                      told->id.length);
    if (container == NULL)
        goto fail_container;
    container->state = state;
    container->copy = copy;
    container->node.digest = told->digest;
    container->node.generation = state->generation;
    join_pod(container, pod);
    nri_state_set_enliven(&state->containers, &container->node);
    nri_state_note_claim(container);
    tell_container(container, told->cause, state->config.ops.container_added);
    return 0;

fail_container:
    release_pod(state, pod);
fail_pod:
    nri_container_free(copy);
    return NRI_E_NOMEM;
}

/* A container of a pod that went, and that does not come back, went with it. */
static bool went_with_pod(const nri_state *state, const struct told *told, unsigned may)
{
    const nri_state_pod *pod = nri_state_set_find(&state->pods, told->pod.text, told->pod.length);
    return pod != NULL && pod->node.presence == NRI_STATE_GONE && (may & NRI_STATE_REVIVE) == 0;
}

int nri_state_put_container(nri_state *state, const nri_container *container, const nri_pod *pod,
                            unsigned may, enum nri_state_cause cause)
{
    struct told told = {
        .container = container,
        .id = id_of(nri_container_id(container)),
        .pod = id_of(nri_container_pod_sandbox_id(container)),
        .cause = cause,
    };
    if (!is_usable(told.id))
        return 0;
    if (told.pod.length == 0)
        told.pod = id_of(nri_pod_id(pod));
    nri_state_container *known =
        nri_state_set_find(&state->containers, told.id.text, told.id.length);
    told.digest = nri_message_digest((const void *)container, state->seed);
    if (known == NULL || !is_live(&known->node)) {
        const bool comes =
            may_come(known != NULL ? &known->node : NULL, may) && !went_with_pod(state, &told, may);
        return comes ? add_container(state, known, &told) : 0;
    }
    known->node.generation = state->generation;
    if ((may & NRI_STATE_CHANGE) == 0 || told.digest == known->node.digest)
        return 0;
    return change_container(state, known, &told);
}

/* ---- removal ---- */

static void forget_containers(nri_state *state, size_t most)
{
    struct nri_state_node *node;
    while ((node = nri_state_set_forget(&state->containers, most)) != NULL)
        nri_state_set_drop(&state->containers, node);
}

static void forget_pods(nri_state *state, size_t most)
{
    nri_state_pod *pod;
    while ((pod = nri_state_set_forget(&state->pods, most)) != NULL)
        release_pod(state, pod);
}

void nri_state_forget_gone(nri_state *state)
{
    forget_containers(state, 0);
    forget_pods(state, 0);
}

/* Out of everything first, so that who is told finds the state as it is from now on. */
static void end_container(nri_state_container *container, enum nri_state_cause cause)
{
    nri_state *state = container->state;
    leave_pod(container);
    nri_state_set_withdraw(&state->containers, &container->node);
    tell_container(container, cause, state->config.ops.container_removed);
    drop_data(&container->node);
    nri_state_note_drop(container);
    container->copy = nri_container_free(container->copy);
    release_pod(state, container->pod);
    container->pod = NULL;
    nri_state_set_remember(&state->containers, &container->node);
    forget_containers(state, NRI_STATE_REMEMBERED);
}

static void end_pod(nri_state *state, nri_state_pod *pod, enum nri_state_cause cause)
{
    nri_state_set_withdraw(&state->pods, &pod->node);
    tell_pod(state, pod, cause, state->config.ops.pod_removed);
    drop_data(&pod->node);
    pod->copy = nri_pod_free(pod->copy);
}

static void remember_pod(nri_state *state, nri_state_pod *pod)
{
    nri_state_set_remember(&state->pods, &pod->node);
    forget_pods(state, NRI_STATE_REMEMBERED);
}

void nri_state_remove_container(nri_state *state, const char *id, size_t length)
{
    if (!is_usable((struct id){id, length}))
        return;
    nri_state_container *container = nri_state_set_find(&state->containers, id, length);
    if (container != NULL && is_live(&container->node)) {
        end_container(container, NRI_STATE_EVENT);
        return;
    }
    nri_state_note_expire(state, id, length);
    if (container != NULL)
        return;
    container = nri_state_set_add(&state->containers, sizeof *container, id, length);
    if (container == NULL)
        return;
    container->state = state;
    nri_state_set_remember(&state->containers, &container->node);
    forget_containers(state, NRI_STATE_REMEMBERED);
}

void nri_state_remove_pod(nri_state *state, const char *id, size_t length)
{
    if (!is_usable((struct id){id, length}))
        return;
    nri_state_pod *pod = nri_state_set_find(&state->pods, id, length);
    if (pod == NULL)
        pod = nri_state_set_add(&state->pods, sizeof *pod, id, length);
    if (pod == NULL)
        return;
    /* One that is not known stays as long as this: it would go with its last container. */
    const bool known = is_live(&pod->node);
    if (pod->node.presence == NRI_STATE_REFERRED)
        remember_pod(state, pod);
    while (pod->first != NULL)
        end_container(pod->first, NRI_STATE_POD_REMOVED);
    if (!known)
        return;
    end_pod(state, pod, NRI_STATE_EVENT);
    remember_pod(state, pod);
}

void nri_state_sweep(nri_state *state)
{
    struct nri_state_node *node, *next;
    for (node = state->containers.live.first; node != NULL; node = next) {
        next = node->next;
        if (node->generation != state->generation)
            end_container((nri_state_container *)(void *)node, NRI_STATE_SYNCHRONIZE);
    }
    for (node = state->pods.live.first; node != NULL; node = next) {
        nri_state_pod *pod = (nri_state_pod *)(void *)node;
        next = node->next;
        if (node->generation == state->generation)
            continue;
        end_pod(state, pod, NRI_STATE_SYNCHRONIZE);
        remember_pod(state, pod);
    }
}

void nri_state_remove_all(nri_state *state)
{
    while (state->containers.live.first != NULL)
        end_container((nri_state_container *)(void *)state->containers.live.first, NRI_STATE_FREED);
    while (state->pods.live.first != NULL) {
        nri_state_pod *pod = (nri_state_pod *)(void *)state->pods.live.first;
        end_pod(state, pod, NRI_STATE_FREED);
        remember_pod(state, pod);
    }
    nri_state_forget_gone(state);
}
