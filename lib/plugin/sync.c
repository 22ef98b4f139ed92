/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Synchronize, which may come in parts.
 *
 * The happy path with on_synchronize: each part but the last is answered at once with more=true and
 * kept; with the last one, all go to the handler as one request, and its reply carries the updates.
 * With on_synchronize_part each part is a request and nothing is kept. Failure modes: over
 * max_sync_bytes or max_sync_parts the part is refused and what was collected dropped, and so is
 * the rest of that Synchronize, because half a node must not pass for a whole one; the connection
 * goes: dropped.
 *
 * What counts towards max_sync_bytes is the memory that holds the parts (their arenas), not their
 * bytes on the wire: a part of many tiny objects takes several times its length.
 */
#include "plugin/internal.h"

/* Empty parts in a row that are worth a word: NRI 0.8.0 sends them without end when a node has few
 * but large objects. */
#define EMPTY_PARTS 16u

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

/* Counts a part. 0, or NRI_E_LIMIT. */
static int count_part(struct nri_core *core, struct nri_rpc_call *call, struct nri_error *error)
{
    struct nri_sync *sync = &core->sync;
    const size_t bytes = nri_rpc_call_arena(call)->taken;
    const size_t max_parts = core->config.max_sync_parts, max_bytes = core->config.max_sync_bytes;

    if (sync->parts >= max_parts)
        return nri_error_set(error, NRI_E_LIMIT,
                             "Synchronize: more than %zu parts (max_sync_parts)", max_parts);
    if (bytes > max_bytes || sync->bytes > max_bytes - bytes)
        return nri_error_set(
            error, NRI_E_LIMIT,
            "Synchronize: its parts take %zu bytes, over the limit of %zu (max_sync_bytes)",
            sync->bytes + bytes, max_bytes);
    sync->parts++;
    sync->bytes += bytes;
    sync->length += nri_rpc_call_size(call);
    return 0;
}

/* Appends a part; NULL when its arena has no room. */
static struct nri_sync_part *append(struct nri_core *core, struct nri_rpc_call *call)
{
    struct nri_sync *sync = &core->sync;
    struct nri_sync_part *part = nri_arena_zero(nri_rpc_call_arena(call), sizeof *part);

    if (part == NULL)
        return NULL;
    part->call = call;
    part->message = message_of(call);
    if (sync->tail == NULL)
        sync->head = part;
    else
        sync->tail->next = part;
    sync->tail = part;
    sync->pods += part->message->n_pods;
    sync->containers += part->message->n_containers;
    return part;
}

/* An empty part holds nothing that is worth keeping its memory. */
static void take_empty_part(struct nri_core *core, struct nri_rpc_call *call)
{
    core->sync.bytes -= nri_rpc_call_arena(call)->taken;
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

static void take_part(struct nri_core *core, struct nri_rpc_call *call)
{
    const sync_message *message = message_of(call);

    if (message->n_pods == 0 && message->n_containers == 0) {
        take_empty_part(core, call);
        return;
    }
    core->sync.empty_run = 0;
    if (append(core, call) == NULL) {
        refuse(core, call, nri_rpc_call_arena(call)->failure,
               "no memory for a part of Synchronize");
        return;
    }
    nri_reply_empty(core, call); /* with more=true, as the request has */
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
static void deliver(struct nri_core *core, struct nri_rpc_call *call, enum nri_event event,
                    nri_handler handler)
{
    const struct nri_method *method = &nri_methods[NRI_METHOD_SYNCHRONIZE];
    nri_request *request = NULL;

    widen(core, call);
    struct nri_sync_part *last = append(core, call);

    if (last != NULL) {
        last->call = NULL; /* the request gives its own call back by itself */
        request = nri_request_make(core, call, event, method, method);
    }
    if (request == NULL) {
        const int code = nri_rpc_call_arena(call)->failure;
        if (last != NULL)
            last->call = call;
        nri_reply_refuse(core, call, code, "no memory for Synchronize");
        if (last == NULL)
            nri_rpc_call_release(call);
        nri_sync_drop(core);
        return;
    }
    request->parts = core->sync.head;
    request->pods = core->sync.pods;
    request->containers = core->sync.containers;
    core->sync = (struct nri_sync){0};
    nri_dispatch_run(core, request, handler);
}

void nri_sync_request(struct nri_core *core, struct nri_rpc_call *call)
{
    struct nri_error error;

    if (core->ops.on_synchronize_part != NULL) {
        deliver(core, call, NRI_EVENT_SYNCHRONIZE_PART, core->ops.on_synchronize_part);
    } else if (core->ops.on_synchronize == NULL) {
        nri_reply_empty(core, call);
        nri_rpc_call_release(call);
    } else if (core->sync.refused) {
        refuse(core, call, NRI_E_LIMIT, "an earlier part of this Synchronize was refused");
    } else if (count_part(core, call, &error) != 0) {
        refuse(core, call, error.code, error.text);
    } else if (message_of(call)->more != 0) {
        take_part(core, call);
    } else {
        deliver(core, call, NRI_EVENT_SYNCHRONIZE, core->ops.on_synchronize);
    }
}
