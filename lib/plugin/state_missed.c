/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/state_missed.h"

#include <string.h>

#include "model/dup.h"
#include "plugin/state.h"

/* The last that was told of an object. */
struct missed {
    struct missed *pod;       /* of a container: its event's; NULL: without an id */
    nri_pod *pod_copy;        /* of a pod sandbox */
    nri_container *container; /* of a container */
    unsigned may;             /* NRI_STATE_... of all that told it */
    bool removed;             /* before what the copy tells, if there is one */
    size_t length;
    char id[];
};

struct nri_state_batch {
    struct nri_task task; /* first */
    nri_state *state;
    struct nri_alloc alloc;
    struct nri_map pods, containers; /* struct missed, in the order of coming */
};

/* ---- noting, on the loop's thread with the lock held ---- */

static struct missed *find(struct nri_state_batch *batch, struct nri_map *map, const char *id)
{
    const size_t length = nri_text_length(id);
    struct missed *missed = nri_map_get(map, id, length);
    if (missed != NULL)
        return missed;
    missed = nri_alloc_zero(&batch->alloc, sizeof *missed + length);
    if (missed == NULL)
        return NULL;
    missed->length = length;
    memcpy(missed->id, id, length);
    if (nri_map_set(map, missed->id, length, missed, NULL) != 0) {
        nri_alloc_release(&batch->alloc, missed);
        return NULL;
    }
    return missed;
}

static bool has_copy(const struct missed *missed)
{
    return missed->pod_copy != NULL || missed->container != NULL;
}

/* Whether the state would take it in after what came before; adds to what may be done. */
static bool counts(struct missed *missed, unsigned may)
{
    if (missed->removed && !has_copy(missed) && (may & NRI_STATE_REVIVE) == 0)
        return false;
    missed->may |= may;
    return !has_copy(missed) || (may & NRI_STATE_CHANGE) != 0;
}

static void drop_copies(struct missed *missed)
{
    missed->pod_copy = nri_pod_free(missed->pod_copy);
    missed->container = nri_container_free(missed->container);
}

static void note_removal(struct missed *missed)
{
    drop_copies(missed);
    missed->may = 0;
    missed->removed = true;
}

static int note_pod(struct nri_state_batch *batch, const nri_pod *pod, unsigned may,
                    struct missed **noted)
{
    nri_pod *copy;
    *noted = NULL;
    if (nri_pod_id(pod)[0] == '\0') /* the state leaves it out */
        return 0;
    struct missed *missed = find(batch, &batch->pods, nri_pod_id(pod));
    if (missed == NULL)
        return NRI_E_NOMEM;
    *noted = missed;
    if (!counts(missed, may))
        return 0;
    if (nri_pod_dup_with(pod, &batch->alloc, &copy) != 0)
        return NRI_E_NOMEM;
    drop_copies(missed);
    missed->pod_copy = copy;
    return 0;
}

static int note_container(struct nri_state_batch *batch, const nri_container *container,
                          struct missed *pod, unsigned may, bool removed)
{
    nri_container *copy;
    if (nri_container_id(container)[0] == '\0')
        return 0;
    struct missed *missed = find(batch, &batch->containers, nri_container_id(container));
    if (missed == NULL)
        return NRI_E_NOMEM;
    missed->pod = pod;
    if (removed) {
        note_removal(missed);
        return 0;
    }
    if (!counts(missed, may))
        return 0;
    if (nri_container_dup_with(container, &batch->alloc, &copy) != 0)
        return NRI_E_NOMEM;
    drop_copies(missed);
    missed->container = copy;
    return 0;
}

/* A pod sandbox takes its containers with it. */
static void remove_with(void *pod, const void *id, size_t length, void *missed)
{
    (void)id;
    (void)length;
    if (((struct missed *)missed)->pod == pod)
        note_removal(missed);
}

static int note(struct nri_state_batch *batch, const nri_request *request)
{
    const enum nri_event event = nri_request_event(request);
    const struct nri_state_effect effect = nri_state_effect_of(event);
    struct missed *pod;
    int code = note_pod(batch, nri_request_pod(request), effect.pod, &pod);
    if (code == 0 && effect.container != 0)
        code = note_container(batch, nri_request_container(request), pod, effect.container,
                              event == NRI_EVENT_REMOVE_CONTAINER);
    if (code == 0 && pod != NULL && event == NRI_EVENT_REMOVE_POD_SANDBOX) {
        note_removal(pod);
        nri_map_each(&batch->containers, remove_with, pod);
    }
    return code;
}

/* ---- telling the state, on the thread of handlers ---- */

static void remove_container(void *state, const void *id, size_t length, void *user)
{
    const struct missed *missed = user;
    if (missed->removed)
        nri_state_remove_container(state, id, length);
}

bool nri_state_lose(nri_state *state)
{
    return !atomic_exchange(&state->lost, true);
}

static void tell_pod(void *state, const void *id, size_t length, void *user)
{
    const struct missed *missed = user;
    if (missed->removed)
        nri_state_remove_pod(state, id, length);
    if (missed->pod_copy != NULL &&
        nri_state_put_pod(state, missed->pod_copy, missed->may, NRI_STATE_EVENT) != 0)
        (void)nri_state_lose(state);
}

static void tell_container(void *state, const void *id, size_t length, void *user)
{
    const struct missed *missed = user;
    (void)id;
    (void)length;
    if (missed->container != NULL &&
        nri_state_put_container(state, missed->container,
                                missed->pod != NULL ? missed->pod->pod_copy : NULL, missed->may,
                                NRI_STATE_EVENT) != 0)
        (void)nri_state_lose(state);
}

static void release(void *batch, const void *id, size_t length, void *missed)
{
    (void)id;
    (void)length;
    drop_copies(missed);
    nri_alloc_release(&((struct nri_state_batch *)batch)->alloc, missed);
}

static void free_batch(struct nri_state_batch *batch)
{
    const struct nri_alloc alloc = batch->alloc;
    nri_map_each(&batch->containers, release, batch);
    nri_map_each(&batch->pods, release, batch);
    nri_map_fini(&batch->containers);
    nri_map_fini(&batch->pods);
    nri_alloc_release(&alloc, batch);
}

/* Containers that went before their pod sandboxes do, so that the cause that is told is their own;
 * those that came after theirs. */
static void run_batch(struct nri_task *task)
{
    struct nri_state_batch *batch = (void *)task;
    nri_state *state = batch->state;
    nri_lock_take(&state->missed_lock);
    if (state->missed == batch)
        state->missed = NULL;
    nri_lock_give(&state->missed_lock);
    nri_map_each(&batch->containers, remove_container, state);
    nri_map_each(&batch->pods, tell_pod, state);
    nri_map_each(&batch->containers, tell_container, state);
    free_batch(batch);
    (void)nri_state_save(state, NULL); /* as after a handler */
}

/* ---- the batch that is open ---- */

static struct nri_state_batch *begin(nri_state *state, const struct nri_alloc *alloc)
{
    struct nri_state_batch *batch = nri_alloc_zero(alloc, sizeof *batch);
    if (batch == NULL)
        return NULL;
    batch->task.run = run_batch;
    batch->state = state;
    batch->alloc = *alloc;
    nri_map_init(&batch->pods, alloc, state->seed);
    nri_map_init(&batch->containers, alloc, state->seed);
    return batch;
}

int nri_state_missed(nri_state *state, const struct nri_alloc *alloc, nri_request *request,
                     struct nri_task **task)
{
    int code = NRI_E_NOMEM;
    *task = NULL;
    nri_lock_take(&state->missed_lock);
    if (state->missed == NULL) {
        state->missed = begin(state, alloc);
        *task = state->missed != NULL ? &state->missed->task : NULL;
    }
    if (state->missed != NULL)
        code = note(state->missed, request);
    nri_lock_give(&state->missed_lock);
    if (code != 0)
        (void)nri_state_lose(state);
    return code;
}

void nri_state_missed_end(nri_state *state)
{
    nri_lock_take(&state->missed_lock);
    state->missed = NULL;
    nri_lock_give(&state->missed_lock);
}
