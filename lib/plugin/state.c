/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a state cache, and reading it. */
#include "plugin/state.h"

#include <string.h>

#include "model/model.h"

/* ---- life ---- */

int nri_state_make(nri_state **state, const struct nri_state_config *config,
                   struct nri_error *error)
{
    uint64_t seed[2];
    int code = config->host->random(config->host->context, seed, sizeof seed);
    if (code != 0)
        return nri_error_set(error, code, "no random numbers for a state");
    nri_state *made = nri_alloc_zero(&config->alloc, sizeof *made);
    if (made == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a state");
    code = nri_lock_init(&made->missed_lock);
    if (code != 0) {
        nri_alloc_release(&config->alloc, made);
        return nri_error_set(error, code, "out of memory for a state");
    }
    atomic_init(&made->lost, false);
    made->hooks = &nri_state_hooks;
    made->config = *config;
    memcpy(made->seed, seed, sizeof made->seed);
    nri_log_init(&made->log, config->log, config->log_user, NRI_LOG_INFO);
    nri_state_set_init(&made->pods, &made->config.alloc, seed);
    nri_state_set_init(&made->containers, &made->config.alloc, seed);
    nri_state_note_init(made);
    code = nri_state_load(made, error);
    if (code != 0) {
        made->config.store = (struct nri_state_store){0}; /* the caller's again */
        (void)nri_state_free(made);
        return code;
    }
    *state = made;
    return 0;
}

nri_state *nri_state_free(nri_state *state)
{
    if (state == NULL)
        return NULL;
    const struct nri_alloc alloc = state->config.alloc;
    const struct nri_state_store store = state->config.store;
    /* What was set since the last handler; objects go after it, because they may live on. */
    (void)nri_state_save(state, NULL);
    nri_state_remove_all(state);
    nri_state_note_fini(state);
    nri_state_set_fini(&state->containers);
    nri_state_set_fini(&state->pods);
    nri_lock_fini(&state->missed_lock);
    nri_alloc_release(&alloc, state);
    if (store.release != NULL)
        store.release(store.context);
    return NULL;
}

/* ---- reading ---- */

static nri_state_pod *pod_of(const struct nri_state_node *node)
{
    return (nri_state_pod *)(uintptr_t)node;
}

static nri_state_container *container_of(const struct nri_state_node *node)
{
    return (nri_state_container *)(uintptr_t)node;
}

static struct nri_state_node *find(const struct nri_state_set *set, const char *id)
{
    struct nri_state_node *node = id != NULL ? nri_state_set_find(set, id, strlen(id)) : NULL;
    return node != NULL && node->presence == NRI_STATE_LIVE ? node : NULL;
}

size_t nri_state_pod_count(const nri_state *state)
{
    return state != NULL ? state->pods.live.count : 0;
}

size_t nri_state_container_count(const nri_state *state)
{
    return state != NULL ? state->containers.live.count : 0;
}

bool nri_state_is_synchronized(const nri_state *state)
{
    return state != NULL && state->synchronized && !atomic_load(&state->lost);
}

nri_state_pod *nri_state_find_pod(const nri_state *state, const char *id)
{
    return state != NULL ? pod_of(find(&state->pods, id)) : NULL;
}

nri_state_container *nri_state_find_container(const nri_state *state, const char *id)
{
    return state != NULL ? container_of(find(&state->containers, id)) : NULL;
}

nri_state_pod *nri_state_next_pod(const nri_state *state, const nri_state_pod *pod)
{
    if (state == NULL)
        return NULL;
    return pod_of(pod != NULL ? pod->node.next : state->pods.live.first);
}

nri_state_container *nri_state_next_container(const nri_state *state,
                                              const nri_state_container *container)
{
    if (state == NULL)
        return NULL;
    return container_of(container != NULL ? container->node.next : state->containers.live.first);
}

/* ---- objects ---- */

static void set_data(struct nri_state_node *node, void *data, void (*destroy)(void *data))
{
    void *old = node->data;
    void (*destroy_old)(void *data) = node->destroy;
    node->data = data;
    node->destroy = destroy;
    if (old != NULL && old != data && destroy_old != NULL)
        destroy_old(old);
}

const nri_pod *nri_state_pod_get(const nri_state_pod *pod)
{
    return pod != NULL && pod->copy != NULL ? pod->copy : nri_pod_view(NULL);
}

nri_state_container *nri_state_pod_next_container(const nri_state_pod *pod,
                                                  const nri_state_container *container)
{
    if (pod == NULL)
        return NULL;
    return container != NULL ? container->newer : pod->first;
}

void *nri_state_pod_data(const nri_state_pod *pod)
{
    return pod != NULL ? pod->node.data : NULL;
}

void nri_state_pod_set_data(nri_state_pod *pod, void *data, void (*destroy)(void *data))
{
    if (pod != NULL)
        set_data(&pod->node, data, destroy);
}

const nri_container *nri_state_container_get(const nri_state_container *container)
{
    return container != NULL && container->copy != NULL ? container->copy
                                                        : nri_container_view(NULL);
}

nri_state_pod *nri_state_container_pod(const nri_state_container *container)
{
    nri_state_pod *pod = container != NULL ? container->pod : NULL;
    return pod != NULL && pod->node.presence == NRI_STATE_LIVE ? pod : NULL;
}

void *nri_state_container_data(const nri_state_container *container)
{
    return container != NULL ? container->node.data : NULL;
}

void nri_state_container_set_data(nri_state_container *container, void *data,
                                  void (*destroy)(void *data))
{
    if (container != NULL)
        set_data(&container->node, data, destroy);
}
