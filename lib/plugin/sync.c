/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synchronize, which may come in parts.
 *
 * The happy path with on_synchronize: each part but the last is answered at once with more=true and
 * kept; with the last one, all go to the handler as one request, and its reply carries the updates.
 * With on_synchronize_part each part is a request and nothing is collected. Failure modes: over
 * max_sync_bytes or max_sync_parts the part is refused and what was collected dropped, and so is
 * the rest of that Synchronize, because half a node must not pass for a whole one; the connection
 * goes: dropped.
 *
 * What counts towards max_sync_bytes is the memory that holds the parts, not their bytes on the
 * wire: a part of many tiny objects takes several times its length. It counts until the request
 * that they became is released, on whatever thread: a Synchronize that a handler keeps leaves less
 * room for the next one.
 */
#include "plugin/internal.h"

/* Empty parts in a row that are worth a word: NRI 0.8.0 sends them without end when a node has few
 * but large objects. */
#define EMPTY_PARTS 16u

static const char no_memory[] = "no memory for a part of Synchronize";

typedef Nri__Pkg__Api__V1alpha1__SynchronizeRequest sync_message;

static const sync_message *message_of(const struct nri_rpc_call *call)
{
    return (const sync_message *)nri_rpc_call_message(call);
}

void nri_sync_drop(struct nri_core *core)
{
    struct nri_sync_part *part = core->sync.head;

    while (part != NULL) {
        struct nri_sync_part *next = part->next; /* a part is in its call's arena */
        nri_rpc_call_release(part->call);
        part = next;
    }
    core->sync = (struct nri_sync){0};
}

static void refuse(struct nri_core *core, struct nri_rpc_call *call, int code, const char *text)
{
    const bool more = message_of(call)->more != 0;

    nri_reply_refuse(core, call, code, text);
    nri_rpc_call_release(call);
    nri_sync_drop(core);
    core->sync.refused = more;
}

/* 0, or NRI_E_LIMIT when there is one part too many. */
static int count_part(struct nri_core *core, struct nri_error *error)
{
    const size_t most = core->config.max_sync_parts;

    if (core->sync.parts >= most)
        return nri_error_set(error, NRI_E_LIMIT,
                             "Synchronize: more than %zu parts (max_sync_parts)", most);
    core->sync.parts++;
    return 0;
}

/* Counts what a part takes, once all that belongs to it is in its memory. 0, or NRI_E_LIMIT. */
static int count_bytes(struct nri_core *core, const struct nri_rpc_call *call,
                       struct nri_error *error)
{
    struct nri_sync *sync = &core->sync;
    const size_t most = core->config.max_sync_bytes;
    const size_t bytes = nri_rpc_call_memory(call);
    const size_t delivered = atomic_load(&core->shared->sync_bytes);
    const size_t used = sync->bytes + delivered;

    if (bytes > most || used > most - bytes)
        return nri_error_set(error, NRI_E_LIMIT,
                             "Synchronize: its parts take %zu bytes and earlier ones, which the "
                             "plugin still holds, %zu, over the limit of %zu (max_sync_bytes)",
                             sync->bytes + bytes, delivered, most);
    sync->bytes += bytes;
    return 0;
}

static struct nri_sync_part *make_part(struct nri_rpc_call *call)
{
    struct nri_sync_part *part = nri_arena_zero(nri_rpc_call_arena(call), sizeof *part);

    if (part == NULL)
        return NULL;
    part->call = call;
    part->message = message_of(call);
    return part;
}

static void append(struct nri_core *core, struct nri_sync_part *part)
{
    struct nri_sync *sync = &core->sync;

    if (sync->tail == NULL)
        sync->head = part;
    else
        sync->tail->next = part;
    sync->tail = part;
    sync->length += nri_rpc_call_size(part->call);
    sync->pods += part->message->n_pods;
    sync->containers += part->message->n_containers;
}

/* An empty part holds nothing that is worth keeping its memory. */
static void take_empty_part(struct nri_core *core, struct nri_rpc_call *call)
{
    nri_reply_empty(core, call);
    nri_rpc_call_release(call);
    if (++core->sync.empty_run == EMPTY_PARTS)
        nri_core_log(core, NRI_LOG_WARN,
                     "%u empty parts of Synchronize in a row: NRI 0.8.0 loops like this when a "
                     "node has few objects and "
                     "they are too large for one message; the runtime will give up at its request "
                     "time-out and drop "
                     "the plugin",
                     EMPTY_PARTS);
}

/* The reply to the last part is about all of them, so its memory is that of a request as large as
 * all of them. */
static void widen(struct nri_core *core, struct nri_rpc_call *call)
{
    struct nri_arena *arena = nri_rpc_call_arena(call);
    const size_t factor = core->config.limits.arena_factor;
    const size_t more = core->sync.length > nri_rpc_call_size(call)
                            ? core->sync.length - nri_rpc_call_size(call)
                            : 0;

    if (factor != 0 && more <= (SIZE_MAX - arena->limit) / factor)
        arena->limit += more * factor;
}

/* The last part: everything becomes one request. */
static void deliver(struct nri_core *core, struct nri_sync_part *last, enum nri_event event,
                    nri_handler handler)
{
    const struct nri_method *method = &nri_methods[NRI_METHOD_SYNCHRONIZE];
    struct nri_rpc_call *call = last->call;

    widen(core, call);
    nri_request *request = nri_request_make(core, call, event, method, method);
    if (request == NULL) {
        nri_reply_refuse(core, call, nri_rpc_call_arena(call)->failure,
                         "no memory for Synchronize");
        nri_sync_drop(core);
        return;
    }
    last->call = NULL; /* the request gives its own call back by itself */
    request->parts = core->sync.head;
    request->pods = core->sync.pods;
    request->containers = core->sync.containers;
    request->sync_bytes = core->sync.bytes;
    atomic_fetch_add(&core->shared->sync_bytes, request->sync_bytes);
    core->sync = (struct nri_sync){0};
    nri_dispatch_run(core, request, handler);
}

/* A part that is a request in its own right. Alone it may be as large as any request; what counts
 * is what the plugin keeps of earlier ones. */
static void deliver_part(struct nri_core *core, struct nri_rpc_call *call)
{
    struct nri_sync_part *part = make_part(call);
    struct nri_error error;

    if (part == NULL) {
        refuse(core, call, nri_rpc_call_arena(call)->failure, no_memory);
        return;
    }
    if (atomic_load(&core->shared->sync_bytes) == 0) {
        core->sync.bytes = nri_rpc_call_memory(call);
    } else if (count_bytes(core, call, &error) != 0) {
        refuse(core, call, error.code, error.text);
        return;
    }
    append(core, part);
    deliver(core, part, NRI_EVENT_SYNCHRONIZE_PART, core->ops.on_synchronize_part);
}

/* Keeps a part, and delivers them all with the last one. */
static void collect(struct nri_core *core, struct nri_rpc_call *call)
{
    const sync_message *message = message_of(call);
    struct nri_error error;

    if (count_part(core, &error) != 0) {
        refuse(core, call, error.code, error.text);
        return;
    }
    if (message->more != 0 && message->n_pods == 0 && message->n_containers == 0) {
        take_empty_part(core, call);
        return;
    }
    core->sync.empty_run = 0;
    struct nri_sync_part *part = make_part(call);
    if (part == NULL) {
        refuse(core, call, nri_rpc_call_arena(call)->failure, no_memory);
        return;
    }
    if (count_bytes(core, call, &error) != 0) {
        refuse(core, call, error.code, error.text);
        return;
    }
    append(core, part);
    if (message->more != 0)
        nri_reply_empty(core, call); /* with more=true, as the request has */
    else
        deliver(core, part, NRI_EVENT_SYNCHRONIZE, core->ops.on_synchronize);
}

void nri_sync_request(struct nri_core *core, struct nri_rpc_call *call)
{
    if (core->ops.on_synchronize_part != NULL) {
        deliver_part(core, call);
    } else if (core->ops.on_synchronize == NULL && core->config.state != NULL) {
        deliver_part(core, call);
    } else if (core->ops.on_synchronize == NULL) {
        nri_reply_empty(core, call);
        nri_rpc_call_release(call);
    } else if (core->sync.refused) {
        refuse(core, call, NRI_E_LIMIT, "an earlier part of this Synchronize was refused");
    } else {
        collect(core, call);
    }
}
