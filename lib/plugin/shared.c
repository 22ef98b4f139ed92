/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/shared.h"

#include <string.h>

#include "base/text.h"
#include "plugin/core.h"
#include "plugin/request.h"

/* The two requests with their builders need less; a limit all the same, as every arena has. */
#define OWN_ARENA ((size_t)64 * 1024)

int nri_shared_new(struct nri_shared **shared, const struct nri_core_config *config)
{
    struct nri_shared *s = nri_alloc_zero(&config->alloc, sizeof *s);

    if (s == NULL)
        return NRI_E_NOMEM;
    nri_refcount_init(&s->refs);
    atomic_init(&s->sync_bytes, 0);
    atomic_init(&s->held_count, 0);
    atomic_init(&s->held_bytes, 0);
    atomic_init(&s->head, NULL);
    s->alloc = config->alloc;
    s->plugin = config->plugin;
    s->host = config->host;
    s->wake = config->wake;
    s->wake_user = config->wake_user;
    s->offload = config->offload;
    s->offload_user = config->offload_user;
    if (nri_lock_init(&s->lock) != 0)
        goto fail_lock;
    if (nri_lock_init(&s->wake_lock) != 0)
        goto fail_wake_lock;
    nri_arena_init(&s->arena, &s->alloc, 0, OWN_ARENA);
    s->connected = nri_request_make_own(s, NRI_EVENT_CONNECTED);
    s->disconnected = nri_request_make_own(s, NRI_EVENT_DISCONNECTED);
    if (s->connected == NULL || s->disconnected == NULL)
        goto fail_arena;
    *shared = s;
    return 0;

fail_arena:
    nri_arena_fini(&s->arena);
    nri_lock_fini(&s->wake_lock);
fail_wake_lock:
    nri_lock_fini(&s->lock);
fail_lock:
    nri_alloc_release(&config->alloc, s);
    return NRI_E_NOMEM;
}

void nri_shared_ref(struct nri_shared *shared)
{
    nri_refcount_ref(&shared->refs);
}

void nri_shared_unref(struct nri_shared *shared)
{
    if (!nri_refcount_unref(&shared->refs))
        return;
    const struct nri_alloc alloc = shared->alloc;
    nri_arena_fini(&shared->arena);
    nri_lock_fini(&shared->wake_lock);
    nri_lock_fini(&shared->lock);
    nri_alloc_release(&alloc, shared);
}

void nri_shared_detach(struct nri_shared *shared)
{
    nri_lock_take(&shared->lock);
    shared->plugin = NULL;
    shared->host = NULL;
    nri_lock_give(&shared->lock);
    nri_lock_take(&shared->wake_lock);
    shared->wake = NULL;
    nri_lock_give(&shared->wake_lock);
    nri_shared_end_offload(shared);
}

int nri_shared_offload(struct nri_shared *shared, struct nri_task *task)
{
    int code = NRI_E_STATE;

    nri_lock_take(&shared->wake_lock);
    if (shared->offload != NULL)
        code = shared->offload(shared->offload_user, task);
    nri_lock_give(&shared->wake_lock);
    return code;
}

void nri_shared_end_offload(struct nri_shared *shared)
{
    nri_lock_take(&shared->wake_lock);
    shared->offload = NULL;
    nri_lock_give(&shared->wake_lock);
}

void nri_shared_push(struct nri_shared *shared, nri_request *request)
{
    request->next = NULL;
    if (shared->tail == NULL)
        shared->head = request;
    else
        shared->tail->next = request;
    shared->tail = request;
}

/* Whoever puts a request into the queue wakes the loop afterwards, so that one that is missed here
 * is seen by the look that follows. */
nri_request *nri_shared_take(struct nri_shared *shared)
{
    if (atomic_load(&shared->head) == NULL)
        return NULL;
    nri_lock_take(&shared->lock);
    nri_request *head = shared->head;
    shared->head = NULL;
    shared->tail = NULL;
    nri_lock_give(&shared->lock);
    return head;
}

void nri_shared_wake(struct nri_shared *shared)
{
    nri_lock_take(&shared->wake_lock);
    if (shared->wake != NULL)
        shared->wake(shared->wake_user);
    nri_lock_give(&shared->wake_lock);
}

void nri_shared_hold(struct nri_shared *shared, nri_request *request)
{
    request->held = true;
    atomic_fetch_add(&shared->held_count, 1);
    atomic_fetch_add(&shared->held_bytes, nri_rpc_call_charge(request->call));
}

void nri_shared_let_go(struct nri_shared *shared, size_t bytes)
{
    atomic_fetch_sub(&shared->held_bytes, bytes);
    atomic_fetch_sub(&shared->held_count, 1);
}

void nri_shared_late(struct nri_shared *shared, enum nri_event event)
{
    const size_t row = nri_stats_row_of(event);

    if (row != SIZE_MAX)
        atomic_fetch_add(&shared->late[row], 1);
}

nri_plugin *nri_shared_plugin(struct nri_shared *shared)
{
    nri_lock_take(&shared->lock);
    nri_plugin *plugin = shared->plugin;
    nri_lock_give(&shared->lock);
    return plugin;
}

/* The clock is read with the lock held: a core that is freed on the loop's thread waits, and its
 * host is not used later. */
uint64_t nri_shared_now(struct nri_shared *shared)
{
    uint64_t now = 0;

    nri_lock_take(&shared->lock);
    if (shared->host != NULL)
        now = shared->host->now(shared->host->context);
    nri_lock_give(&shared->lock);
    return now;
}

void nri_shared_set_reason(struct nri_shared *shared, const char *text)
{
    size_t length = strlen(text);

    if (length >= sizeof shared->reason.text)
        length = nri_utf8_cut(text, sizeof shared->reason.text - 1);
    memcpy(shared->reason.text, text, length);
    shared->reason.text[length] = '\0';
    shared->reason.length = (uint32_t)length;
}
