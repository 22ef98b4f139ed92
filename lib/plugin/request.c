/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The life of a request: made in the arena of its call, completed and dropped on any thread.
 *
 * The happy path: made -> the handler returns -> claimed, replied -> last reference -> the call
 * goes back. Failure modes: no room for it (its maker refuses the call); dropped without a reply
 * (it queues itself, and the loop's thread answers INTERNAL); completed twice (NRI_E_LATE) or after
 * the end of the connection (NRI_E_CLOSED).
 */
#include "plugin/request.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "plugin/internal.h"

/* What a refusal is cut to when the request's memory is used up. */
#define SHORT_TEXT ((size_t)1024)

static const char no_adjustment[] = "this event has no adjustment; only CreateContainer has";
static const char no_updates[] = "this event has no updates; only CreateContainer, "
                                 "UpdateContainer, StopContainer and Synchronize have";
static const char only_validated[] =
    "ValidateContainerAdjustment: what is validated can be read but not changed";
static const char not_last_part[] = "only the last part of a Synchronize carries updates";

/* ---- making ---- */

/* What other plugins built, for a validator to read. */
static void view_proposed(nri_request *request)
{
    const Nri__Pkg__Api__V1alpha1__ValidateContainerAdjustmentRequest *message =
        (const void *)request->message;

    request->adjustment =
        nri_adjustment_view(request->arena, message->adjust, NRI_E_EVENT, only_validated);
    request->updates = nri_updates_view(request->arena, message->update, message->n_update,
                                        NRI_E_EVENT, only_validated);
}

static void build_reply(nri_request *request, const uint64_t seed[2])
{
    const bool create = request->method != NULL && request->method->reply == NRI_REPLY_CREATE;
    const bool evicts =
        create || (request->method != NULL && request->method->reply == NRI_REPLY_UPDATE);
    const char *blocked = no_updates;

    if (evicts || (request->method != NULL && (request->method->reply == NRI_REPLY_STOP ||
                                               request->method->reply == NRI_REPLY_SYNCHRONIZE)))
        blocked = request->more ? not_last_part : NULL;
    request->adjustment = nri_adjustment_make(request->arena, seed, create ? 0 : NRI_E_EVENT,
                                              create ? NULL : no_adjustment);
    request->updates =
        nri_updates_make(request->arena, seed, evicts, blocked == NULL ? 0 : NRI_E_EVENT, blocked);
}

static bool make_builders(nri_request *request, const uint64_t seed[2])
{
    if (request->method != NULL && request->method->reply == NRI_REPLY_VALIDATE)
        view_proposed(request);
    else
        build_reply(request, seed);
    return request->adjustment != NULL && request->updates != NULL;
}

static void set_deadline(nri_request *request, const struct nri_core *core)
{
    const int64_t timeout = nri_rpc_call_timeout(request->call);
    const uint64_t received = nri_rpc_call_received(request->call);
    uint64_t ns = NRI_REQUEST_TIMEOUT_MS * NRI_MSEC;

    if (timeout > 0)
        ns = (uint64_t)timeout;
    else if (core->request_timeout_ms != 0)
        ns = core->request_timeout_ms * NRI_MSEC;
    else
        request->deadline_assumed = true;
    request->deadline = ns < NRI_NEVER - received ? received + ns : NRI_NEVER - 1;
}

static void set_parts(nri_request *request, const struct nri_method *layout)
{
    request->pod = nri_pod_view(nri_method_part(request->message, layout->pod));
    request->container = nri_container_view(nri_method_part(request->message, layout->container));
    request->resources = nri_resources_view(nri_method_part(request->message, layout->resources));
    request->overhead = nri_resources_view(nri_method_part(request->message, layout->overhead));
    if (layout->reply == NRI_REPLY_SYNCHRONIZE)
        request->more =
            ((const Nri__Pkg__Api__V1alpha1__SynchronizeRequest *)request->message)->more != 0;
}

nri_request *nri_request_make(struct nri_core *core, struct nri_rpc_call *call,
                              enum nri_event event, const struct nri_method *method,
                              const struct nri_method *layout)
{
    struct nri_arena *arena = nri_rpc_call_arena(call);
    nri_request *request = nri_arena_zero(arena, sizeof *request);

    if (request == NULL)
        return NULL;
    nri_refcount_init(&request->refs);
    request->arena = arena;
    request->call = call;
    request->method = method;
    request->event = event;
    request->state = NRI_REQUEST_HANDED;
    request->message = nri_rpc_call_message(call);
    set_parts(request, layout);
    set_deadline(request, core);
    if (!make_builders(request, nri_rpc_call_seed(call)))
        return NULL;
    request->shared = core->shared;
    nri_shared_ref(core->shared);
    nri_guard_arm(core, request);
    nri_stats_count(&core->stats, event, NRI_COUNT_REQUESTS);
    request->open_next = core->open;
    request->open_link = &core->open;
    if (request->open_next != NULL)
        request->open_next->open_link = &request->open_next;
    core->open = request;
    atomic_fetch_add(&core->open_count, 1);
    return request;
}

nri_request *nri_request_make_own(struct nri_shared *shared, enum nri_event event)
{
    static const uint64_t unused_seed[2] = {0, 0}; /* blocked builders hold no keys */
    nri_request *request = nri_arena_zero(&shared->arena, sizeof *request);

    if (request == NULL)
        return NULL;
    request->arena = &shared->arena;
    request->shared = shared;
    request->event = event;
    request->state = NRI_REQUEST_ANSWERED;
    request->pod = nri_pod_view(NULL);
    request->container = nri_container_view(NULL);
    request->resources = nri_resources_view(NULL);
    request->overhead = nri_resources_view(NULL);
    return make_builders(request, unused_seed) ? request : NULL;
}

/* ---- answering ---- */

/* From here on the loop's thread reads the builders. Their errors are looked at now, because a call
 * on a sealed builder is an error of its own, which must not change the answer. */
static void seal(nri_request *request)
{
    (void)nri_adjustment_check(request->adjustment); /* a failure of it is an error like others */
    request->adjustment_error = nri_adjustment_error(request->adjustment);
    request->updates_error = nri_updates_error(request->updates);
    nri_adjustment_seal(request->adjustment);
    nri_updates_seal(request->updates);
}

bool nri_request_claim(nri_request *request)
{
    nri_lock_take(&request->shared->lock);
    const bool claimed = request->state == NRI_REQUEST_HANDED;
    if (claimed) {
        request->state = NRI_REQUEST_ANSWERED;
        seal(request);
    }
    nri_lock_give(&request->shared->lock);
    return claimed;
}

bool nri_request_take_over(nri_request *request)
{
    nri_lock_take(&request->shared->lock);
    const bool taken = request->state == NRI_REQUEST_HANDED;
    if (taken) {
        request->state = NRI_REQUEST_ANSWERED;
        request->guarded = request->kept = true;
    }
    nri_lock_give(&request->shared->lock);
    return taken;
}

static bool is_handed(nri_request *request)
{
    nri_lock_take(&request->shared->lock);
    const bool handed = request->state == NRI_REQUEST_HANDED;
    nri_lock_give(&request->shared->lock);
    return handed;
}

char *nri_request_text(struct nri_arena *arena, const char *text)
{
    size_t length = strlen(text);

    if (length > NRI_REFUSAL_MAX)
        length = nri_utf8_cut(text, NRI_REFUSAL_MAX);
    char *copy = nri_arena_text(arena, text, length);
    if (copy == NULL && length > SHORT_TEXT) {
        length = nri_utf8_cut(text, SHORT_TEXT);
        copy = nri_arena_text(arena, text, length);
    }
    /* A status that is no UTF-8 would be a malformed message to the peer. */
    size_t bad;
    for (size_t at = 0; copy != NULL && !nri_utf8_valid(copy + at, length - at, &bad);
         at += bad + 1)
        copy[at + bad] = '?';
    return copy;
}

static void fail(nri_request *request, int code, const char *text, bool is_own)
{
    if (request->failure != 0 || !is_handed(request))
        return;
    request->failure_text = text == NULL ? NULL : nri_request_text(request->arena, text);
    request->failure_is_own = is_own;
    request->failure = code;
}

void nri_request_failf(nri_request *request, int code, const char *format, ...)
{
    char text[NRI_ERROR_TEXT_SIZE];
    va_list arguments;

    va_start(arguments, format);
    (void)nri_error_format(text, format, arguments);
    va_end(arguments);
    fail(request, code, text, true);
}

int nri_request_take_code(nri_request *request, int code, const char *before, const char *after)
{
    if (nri_error_is_code(code))
        return code;
    nri_request_failf(request, NRI_E_INTERNAL, "%s %s %s %d, which is no code", before,
                      nri_event_name(request->event), after, code);
    return NRI_E_INTERNAL;
}

int nri_request_fail(nri_request *request, int code, const char *text)
{
    if (request == NULL)
        return NRI_E_INVALID;
    if (code >= 0)
        code = NRI_E_REJECTED;
    if (text == NULL) /* else the number tells nothing that the text does not */
        (void)nri_request_take_code(request, code, "the plugin refused", "with");
    fail(request, code, text, false);
    return code;
}

/*
 * Sealing happens here and not when the reply is packed: what the completing thread does to a
 * builder afterwards fails on that very thread, instead of racing with the loop's.
 */
int nri_request_complete(nri_request *request, int code)
{
    static const int answered[] = {
        [NRI_REQUEST_HANDED] = 0,
        [NRI_REQUEST_QUEUED] = NRI_E_LATE,
        [NRI_REQUEST_ANSWERED] = NRI_E_LATE,
        [NRI_REQUEST_CLOSED] = NRI_E_CLOSED,
    };
    if (request == NULL)
        return NRI_E_INVALID;
    code = nri_request_take_code(request, code, "the plugin completed", "with");
    nri_lock_take(&request->shared->lock);
    const int result = answered[request->state];
    if (result == 0) {
        seal(request);
        request->state = NRI_REQUEST_QUEUED;
        request->result = code;
        nri_refcount_ref(&request->refs);
        nri_shared_push(request->shared, request);
    }
    nri_lock_give(&request->shared->lock);
    if (result == 0)
        nri_shared_wake(request->shared);
    else if (result == NRI_E_LATE && request->guarded)
        nri_shared_late(request->shared, request->event);
    return result;
}

/* ---- references ---- */

/* The library's own requests live in nri_shared: a reference to one is a reference to that, and the
 * core's is never dropped. */
static void unref_own(nri_request *request)
{
    struct nri_shared *shared = request->shared;

    nri_lock_take(&shared->lock);
    const bool dropped = request->own_refs > 0;
    if (dropped)
        request->own_refs--;
    nri_lock_give(&shared->lock);
    if (dropped)
        nri_shared_unref(shared);
}

nri_request *nri_request_ref(nri_request *request)
{
    if (request == NULL)
        return NULL;
    if (request->call != NULL) {
        nri_refcount_ref(&request->refs);
        return request;
    }
    nri_lock_take(&request->shared->lock);
    request->own_refs++;
    nri_lock_give(&request->shared->lock);
    nri_shared_ref(request->shared);
    return request;
}

static void release(nri_request *request)
{
    struct nri_shared *shared = request->shared;
    struct nri_rpc_call *call = request->call; /* the request goes with it */
    struct nri_sync_part *part = request->parts;
    const size_t sync_bytes = request->sync_bytes;

    if (request->held)
        nri_shared_let_go(shared, nri_rpc_call_charge(call));
    while (part != NULL) {
        struct nri_sync_part *next = part->next;
        if (part->call != NULL)
            nri_rpc_call_release(part->call);
        part = next;
    }
    nri_rpc_call_release(call);
    atomic_fetch_sub(&shared->sync_bytes, sync_bytes);
    nri_shared_unref(shared);
}

/* Nobody refers to the request any more. Without an answer it comes back to life, held by the
 * queue. */
static void end(nri_request *request)
{
    struct nri_shared *shared = request->shared;

    nri_lock_take(&shared->lock);
    const bool abandoned = request->state == NRI_REQUEST_HANDED;
    const bool kept = request->kept;
    request->orphaned = kept;
    if (abandoned) {
        if (request->failure == 0) {
            request->failure = NRI_E_INTERNAL;
            request->failure_text = "the plugin dropped the request without an answer";
            request->failure_is_own = true;
        }
        nri_refcount_init(&request->refs);
        request->state = NRI_REQUEST_QUEUED;
        request->result = NRI_E_INTERNAL;
        nri_shared_push(shared, request);
        nri_shared_ref(shared); /* until the wake below: the loop may release the request before */
    }
    nri_lock_give(&shared->lock);
    if (abandoned) {
        nri_shared_wake(shared);
        nri_shared_unref(shared);
    } else if (!kept) {
        release(request);
    }
}

/* No reference, because the last one may be dropped at the very moment of taking over, and a count
 * does not come back from 0. */
void nri_request_let_go(nri_request *request)
{
    struct nri_shared *shared = request->shared;

    nri_lock_take(&shared->lock);
    const bool orphaned = request->orphaned;
    request->kept = false;
    nri_lock_give(&shared->lock);
    if (orphaned)
        release(request);
}

nri_request *nri_request_unref(nri_request *request)
{
    if (request == NULL)
        return NULL;
    if (request->call == NULL)
        unref_own(request);
    else if (nri_refcount_unref(&request->refs))
        end(request);
    return NULL;
}
