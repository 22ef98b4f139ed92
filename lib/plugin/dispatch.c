/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a call of the runtime to a handler, and from the handler's result to the reply.
 *
 * The happy path: a call -> its row in the table of methods -> a request -> the handler -> 0, a
 * refusal, or NRI_PENDING. Failure modes: no handler (success, empty reply: an event without a
 * handler is no error); no memory for the request, or the plugin is ending (the call is refused); a
 * result that is neither (refused as INTERNAL, naming it).
 */
#include "plugin/internal.h"

static void log_call(struct nri_core *core, const nri_request *request)
{
    if (!nri_log_wants(core->log, NRI_LOG_DEBUG))
        return;
    const struct nri_log_about about = {
        .event = nri_event_name(request->event),
        .pod = nri_pod_id(request->pod),
        .container = nri_container_id(request->container),
    };
    nri_log_write(core->log, core->now, NRI_LOG_DEBUG, &about, "%s received, %zu bytes",
                  nri_event_name(request->event), nri_rpc_call_size(request->call));
}

void nri_dispatch_run(struct nri_core *core, nri_request *request, nri_handler handler)
{
    log_call(core, request);
    if (core->config.queue != NULL) {
        nri_handler_queue(core, request, handler);
        return;
    }
    if (handler != NULL && nri_guard_is_full(core, request)) {
        nri_handler_pass(core, request);
        return;
    }
    core->depth++;
    int code = nri_handler_call(core, request, handler);
    core->depth--;
    if (code == NRI_PENDING)
        return; /* the reference is the handler's, and the request may be gone already */
    code = nri_request_take_code(request, code, "the handler of", "returned");
    if (nri_request_claim(request))
        nri_reply_send(core, request, code);
    nri_request_unref(request);
}

static const struct nri_method *method_of_state_change(const struct nri_rpc_call *call)
{
    const Nri__Pkg__Api__V1alpha1__StateChangeEvent *message =
        (const Nri__Pkg__Api__V1alpha1__StateChangeEvent *)nri_rpc_call_message(call);

    return nri_method_of_state_change((int)message->event);
}

/* The handler to run, if the plugin wants the event: NULL also when on_configure narrowed it away.
 */
static nri_handler wanted_handler(const struct nri_core *core, const struct nri_method *method)
{
    const uint32_t bit = method == NULL ? 0 : nri_event_bit(method->event);

    if (method == NULL || (bit != 0 && (bit & core->wanted) == 0))
        return NULL;
    return nri_method_handler(method, &core->ops);
}

static void dispatch_event(struct nri_core *core, struct nri_rpc_call *call, unsigned index)
{
    const struct nri_method *method = &nri_methods[index];

    if (index == NRI_METHOD_STATE_CHANGE)
        method = method_of_state_change(call);
    if (method != NULL && method->event == NRI_EVENT_SHUTDOWN)
        core->shutdown_came = true;
    const enum nri_event event = method == NULL ? NRI_EVENT_UNKNOWN : method->event;
    nri_handler handler = wanted_handler(core, method);
    if (handler != NULL && nri_event_bit(event) != 0 && nri_core_bypass(core)) {
        handler = NULL;
        nri_stats_count(&core->stats, event, NRI_COUNT_BYPASSED);
    }
    if (method == NULL || (handler == NULL && (nri_event_bit(event) & core->state_events) == 0)) {
        nri_reply_empty(core, call);
        nri_rpc_call_release(call);
        return;
    }
    nri_request *request = nri_request_make(core, call, method->event, method, &nri_methods[index]);
    if (request == NULL) {
        static const char nomem[] = "no memory for the request";
        nri_handler_lost(core, nomem);
        nri_reply_refuse(core, call, nri_rpc_call_arena(call)->failure, nomem);
        nri_rpc_call_release(call);
        return;
    }
    nri_dispatch_run(core, request, handler);
}

static bool is_wanted(const struct nri_core *core)
{
    const struct nri_core_config *config = &core->config;

    return config->wanted == NULL || config->wanted(config->wanted_user);
}

/* The plugin is about to stop: a runtime goes on without it, as it will in a moment. A refusal
 * would fail what the runtime is doing. */
static bool passes(const struct nri_rpc_call *call)
{
    switch (nri_methods[nri_rpc_call_method(call)].event) {
    case NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT:
    case NRI_EVENT_CONFIGURE:
    case NRI_EVENT_SYNCHRONIZE:
        return false;
    default:
        return true;
    }
}

void nri_dispatch_call(void *user, struct nri_rpc_call *call)
{
    struct nri_core *core = user;
    const unsigned index = nri_rpc_call_method(call);
    const bool wanted = core->failure.code == 0 && is_wanted(core);

    if (!wanted && core->failure.code == 0 && passes(call)) {
        nri_reply_empty(core, call);
        nri_rpc_call_release(call);
    } else if (!wanted) {
        nri_reply_refuse(core, call, NRI_E_CLOSED, "the plugin is closing the connection");
        nri_rpc_call_release(call);
    } else if (index == NRI_METHOD_CONFIGURE) {
        nri_configure_request(core, call);
    } else if (index == NRI_METHOD_SYNCHRONIZE) {
        nri_sync_request(core, call);
    } else {
        dispatch_event(core, call, index);
    }
}

static void set_state(nri_request *request, enum nri_request_state state)
{
    nri_lock_take(&request->shared->lock);
    request->state = state;
    nri_lock_give(&request->shared->lock);
}

/* One by one from a queue that was taken whole: what is completed meanwhile waits for the next
 * wake. */
void nri_dispatch_drain(struct nri_core *core)
{
    nri_request *request = nri_shared_take(core->shared);

    while (request != NULL) {
        nri_request *next = request->next;
        set_state(request, NRI_REQUEST_ANSWERED);
        nri_reply_send(core, request, request->result);
        nri_request_unref(request);
        request = next;
    }
}

void nri_dispatch_close(struct nri_core *core)
{
    /* First the state, under the lock: after this nothing enters the queue. */
    nri_lock_take(&core->shared->lock);
    while (core->open != NULL) {
        nri_request *request = core->open;
        core->open = request->open_next;
        atomic_fetch_sub(&core->open_count, 1);
        request->state = NRI_REQUEST_CLOSED;
        nri_shared_hold(core->shared, request); /* nobody is released while the lock is held */
    }
    nri_lock_give(&core->shared->lock);
    nri_request *request = nri_shared_take(core->shared);
    while (request != NULL) {
        nri_request *next = request->next;
        nri_request_unref(request);
        request = next;
    }
}
