/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/update_queue.h"

#include <string.h>

#include "plugin/internal.h"
#include "plugin/update_result.h"
#include "wire/message.h"

struct nri_update_call {
    struct nri_update_call *next;
    struct nri_task task; /* the callback, on the thread of handlers */
    struct nri_core *core;
    nri_update_fn callback;
    void *user;
    uint64_t timeout, deadline;
    bool waits; /* for a runtime */
    /* The request, in a block that goes when it is sent; metadata first. */
    struct nri_rpc_packed packed;
    void *block;
    /* The outcome, for another thread than the loop's. */
    nri_update_result result;
    struct nri_arena arena;
    char text[NRI_ERROR_TEXT_SIZE];
};

void nri_update_queue_init(struct nri_update_queue *queue)
{
    queue->posted = queue->waiting = NULL;
    queue->posted_end = &queue->posted;
    queue->waiting_end = &queue->waiting;
    atomic_init(&queue->held, 0);
    atomic_init(&queue->closed, false);
}

/* ---- packing, on any thread ---- */

static size_t size_of_metadata(const char *const *metadata, size_t count)
{
    size_t size = 2 * count * sizeof *metadata;

    for (size_t i = 0; i < 2 * count; i++)
        size += strlen(metadata[i]) + 1;
    return size;
}

/* Pointers, then texts; returns what follows. */
static uint8_t *copy_metadata(struct nri_update_call *call, const char *const *metadata,
                              size_t count)
{
    const char **pointers = call->block;
    char *at = (char *)(pointers + 2 * count);

    for (size_t i = 0; i < 2 * count; i++) {
        const size_t size = strlen(metadata[i]) + 1;
        pointers[i] = memcpy(at, metadata[i], size);
        at += size;
    }
    call->packed.metadata = pointers;
    call->packed.metadata_count = count;
    return (uint8_t *)at;
}

static int pack(struct nri_update_call *call, const nri_updates *updates,
                const char *const *metadata, size_t count, struct nri_error *error)
{
    Nri__Pkg__Api__V1alpha1__UpdateContainersRequest request;
    size_t size = 0;

    nri__pkg__api__v1alpha1__update_containers_request__init(&request);
    request.n_update = nri_updates_messages(updates, &request.update);
    request.n_evict = nri_updates_evictions(updates, &request.evict);
    int code = nri_message_size(&request.base, &size, error);
    if (code != 0)
        return code;
    /* One byte more, so that even an empty list has an address. */
    call->block = nri_alloc_raw(&call->core->alloc, size_of_metadata(metadata, count) + size + 1);
    if (call->block == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "UpdateContainers: out of memory");
    uint8_t *payload = copy_metadata(call, metadata, count);
    nri_message_encode(&request.base, payload);
    call->packed.service = &nri__pkg__api__v1alpha1__runtime__descriptor;
    call->packed.method = NRI_METHOD_UPDATE_CONTAINERS;
    call->packed.payload = payload;
    call->packed.size = size;
    return nri_rpc_check_packed(&call->packed, &call->core->config.limits, call->timeout, error);
}

static void free_call(struct nri_update_call *call)
{
    const struct nri_alloc alloc = call->core->alloc;

    nri_arena_fini(&call->arena);
    nri_alloc_release(&alloc, call->block);
    nri_alloc_release(&alloc, call);
}

/* ---- telling ---- */

static void call_back(struct nri_update_call *call)
{
    struct nri_core *core = call->core;

    if (call->callback != NULL)
        call->callback(core->config.plugin, &call->result, call->user);
    free_call(call);
    atomic_fetch_sub(&core->update_queue.held, 1);
}

static void run_callback(struct nri_task *task)
{
    call_back(
        (struct nri_update_call *)(void *)((char *)task - offsetof(struct nri_update_call, task)));
}

/* The result is of the loop's thread, and gone when another reads it. */
static void keep_result(struct nri_update_call *call)
{
    nri_update_result *result = &call->result;

    if (result->reply != NULL) {
        result->reply = (const Nri__Pkg__Api__V1alpha1__UpdateContainersResponse *)nri_message_copy(
            &result->reply->base, &call->arena);
        if (result->reply == NULL) {
            result->code = NRI_E_NOMEM;
            result->text = "UpdateContainers: no memory for the runtime's reply";
        }
    }
    const size_t length = strnlen(result->text, sizeof call->text - 1);
    memcpy(call->text, result->text, length);
    call->text[length] = '\0';
    result->text = call->text;
}

static void tell(struct nri_update_call *call, int code, const char *text,
                 const Nri__Pkg__Api__V1alpha1__UpdateContainersResponse *reply)
{
    struct nri_core *core = call->core;

    call->result = (nri_update_result){.code = code, .text = text, .reply = reply};
    nri_update_count(core, &call->result);
    if (core->config.queue != NULL && call->callback != NULL) {
        keep_result(call);
        call->task.run = run_callback;
        core->config.queue(core->config.queue_user, &call->task);
        return;
    }
    core->depth++;
    call_back(call);
    core->depth--;
}

static void replied(void *user, const struct nri_rpc_result *outcome)
{
    const bool good = outcome->code == 0;

    tell(user, outcome->code, good ? "" : outcome->text,
         good ? (const Nri__Pkg__Api__V1alpha1__UpdateContainersResponse *)outcome->message : NULL);
}

/* ---- sending, on the loop's thread ---- */

static void take_posted(struct nri_core *core)
{
    struct nri_update_queue *queue = &core->update_queue;
    struct nri_update_call **first = queue->waiting_end;

    nri_lock_take(&core->shared->lock);
    if (queue->posted != NULL) {
        *queue->waiting_end = queue->posted;
        queue->waiting_end = queue->posted_end;
        queue->posted = NULL;
        queue->posted_end = &queue->posted;
    }
    nri_lock_give(&core->shared->lock);
    /* Here and not where they are made, since counters have one thread. */
    for (const struct nri_update_call *call = *first; call != NULL; call = call->next)
        nri_core_add(core, NRI_COUNT_UPDATE_CALLS, 1);
}

static struct nri_update_call *unlink_call(struct nri_update_queue *queue,
                                           struct nri_update_call **link)
{
    struct nri_update_call *call = *link;

    *link = call->next;
    if (queue->waiting_end == &call->next)
        queue->waiting_end = link;
    call->next = NULL;
    return call;
}

static void time_out(struct nri_update_call *call)
{
    struct nri_error error;

    nri_error_set(&error, NRI_E_TIMEOUT,
                  "UpdateContainers: no runtime has taken the call within %llu ms",
                  (unsigned long long)(call->timeout / NRI_MSEC));
    tell(call, NRI_E_TIMEOUT, error.text, NULL);
}

/* True: it is not in the queue any more. NRI_E_BUSY leaves it there: replies make room. */
static bool send_call(struct nri_core *core, struct nri_update_call **link)
{
    struct nri_update_call *call = *link;
    struct nri_error error;

    nri_error_clear(&error);
    const int code = nri_rpc_invoke_packed(core->rpc, &call->packed, core->now,
                                           call->deadline - core->now, replied, call, &error);
    if (code == NRI_E_BUSY)
        return false;
    (void)unlink_call(&core->update_queue, link);
    if (code != 0) {
        tell(call, code, error.text, NULL);
        return true;
    }
    nri_alloc_release(&core->alloc, call->block);
    call->block = NULL;
    return true;
}

/* What becomes of one that waits, now. True: it is not in the queue any more. *full: one before it
 * found no room, and must not be overtaken. */
static bool settle_call(struct nri_core *core, struct nri_update_call **link, bool *full)
{
    struct nri_update_queue *queue = &core->update_queue;
    struct nri_update_call *call = *link;

    if (atomic_load(&queue->closed))
        tell(unlink_call(queue, link), NRI_E_CLOSED, "UpdateContainers: the plugin's run has ended",
             NULL);
    else if (call->deadline <= core->now)
        time_out(unlink_call(queue, link));
    else if (nri_core_serves(core)) {
        *full = *full || !send_call(core, link);
        return !*full;
    } else if (!call->waits)
        tell(unlink_call(queue, link), NRI_E_NO_SERVICE,
             "UpdateContainers: no runtime has configured the plugin", NULL);
    else
        return false;
    return true;
}

bool nri_update_waits(const struct nri_core *core)
{
    const struct nri_update_queue *queue = &core->update_queue;

    nri_lock_take(&core->shared->lock);
    const bool posted = queue->posted != NULL;
    nri_lock_give(&core->shared->lock);
    return posted || queue->waiting != NULL;
}

/* What a callback adds is posted, and taken the next time. */
void nri_update_turn(struct nri_core *core)
{
    if (atomic_load(&core->update_queue.held) == 0 || core->depth > 0)
        return;
    take_posted(core);
    struct nri_update_call **link = &core->update_queue.waiting;
    bool full = false;
    while (*link != NULL) {
        if (!settle_call(core, link, &full))
            link = &(*link)->next;
    }
}

uint64_t nri_update_deadline(const struct nri_core *core)
{
    uint64_t earliest = NRI_NEVER;

    for (const struct nri_update_call *call = core->update_queue.waiting; call != NULL;
         call = call->next) {
        if (call->deadline < earliest)
            earliest = call->deadline;
    }
    return earliest;
}

/* ---- the calls ---- */

static int refuse_ending(struct nri_error *error)
{
    return nri_error_set(error, NRI_E_NO_SERVICE, "UpdateContainers: the plugin's run is ending");
}

static int take_place(struct nri_core *core, struct nri_error *error)
{
    struct nri_update_queue *queue = &core->update_queue;
    const size_t limit = core->config.max_queued_updates;

    if (atomic_load(&queue->closed))
        return refuse_ending(error);
    if (atomic_fetch_add(&queue->held, 1) < limit)
        return 0;
    atomic_fetch_sub(&queue->held, 1);
    return nri_error_set(error, NRI_E_BUSY,
                         "UpdateContainers: %zu updates wait, which max_queued_updates allows",
                         limit);
}

static int make_call(struct nri_core *core, const nri_updates *updates,
                     const struct nri_update_options *options, uint64_t now,
                     struct nri_update_call **made, struct nri_error *error)
{
    struct nri_update_call *call = nri_alloc_zero(&core->alloc, sizeof *call);

    if (call == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "UpdateContainers: out of memory");
    call->core = core;
    call->waits = options->waits;
    call->timeout = nri_update_timeout(core, options->timeout);
    call->deadline = call->timeout < NRI_NEVER - now ? now + call->timeout : NRI_NEVER;
    nri_arena_init(&call->arena, &core->alloc, 0, SIZE_MAX); /* the reply's size is limited */
    const int code = pack(call, updates, options->metadata, options->metadata_count, error);
    if (code != 0)
        free_call(call);
    else
        *made = call;
    return code;
}

/* The run may have ended on the loop's thread since the first look. Takes the call on success. */
static int post(struct nri_core *core, struct nri_update_call *call, struct nri_error *error)
{
    struct nri_update_queue *queue = &core->update_queue;

    nri_lock_take(&core->shared->lock);
    const bool closed = atomic_load(&queue->closed);
    if (!closed) {
        *queue->posted_end = call;
        queue->posted_end = &call->next;
    }
    nri_lock_give(&core->shared->lock);
    if (!closed)
        return 0;
    free_call(call);
    atomic_fetch_sub(&queue->held, 1);
    return refuse_ending(error);
}

int nri_core_update_later(struct nri_core *core, const nri_updates *updates,
                          const struct nri_update_options *options, nri_update_fn callback,
                          void *user, uint64_t now, struct nri_error *error)
{
    struct nri_update_call *call = NULL;
    int code = options->waits ? 0 : nri_update_check_service(core, error);

    if (code == 0)
        code = nri_update_check(updates, error);
    if (code == 0)
        code = take_place(core, error);
    if (code != 0)
        return code;
    code = make_call(core, updates, options, now, &call, error);
    if (code != 0 || call == NULL) {
        atomic_fetch_sub(&core->update_queue.held, 1);
        return code;
    }
    call->callback = callback;
    call->user = user;
    code = post(core, call, error);
    if (code == 0)
        nri_shared_wake(core->shared);
    return code;
}

void nri_core_end_updates(struct nri_core *core, uint64_t now)
{
    core->now = now;
    nri_lock_take(&core->shared->lock); /* what is posted is before this, and told below */
    atomic_store(&core->update_queue.closed, true);
    nri_lock_give(&core->shared->lock);
    nri_update_turn(core);
}

void nri_core_allow_updates(struct nri_core *core)
{
    atomic_store(&core->update_queue.closed, false);
}
