/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plugin's own functions are called here: on the loop's thread, or as tasks on the thread that
 * the driver has for them.
 *
 * Happy path with a thread: nri_handler_queue() -> the task runs the handler between the hooks of
 * the state cache -> what it returned completes the request, as nri_request_complete() does, and
 * the loop replies. Failure modes: so many handlers wait that one must be stuck: what comes is
 * answered by the deadline guard's policy at once, and no handler sees it, because memory is
 * bounded, but the state cache learns of it in its turn; a Synchronize comes then, which nobody can
 * take in: the connection ends, so that the next one has another; the plugin keeps so many requests
 * that were answered in its place (guard.c) that it is to get no more: the same; the connection
 * goes: handlers that wait still run, and their answers go nowhere.
 */
#include "plugin/internal.h"
#include "plugin/state_hooks.h"

static struct nri_request *request_of(struct nri_task *task)
{
    return (nri_request *)(void *)((char *)task - offsetof(struct nri_request, task));
}

static bool is_for_state(const nri_request *request)
{
    return request->core->config.state != NULL &&
           (nri_event_bit(request->event) != 0 || request->event == NRI_EVENT_SYNCHRONIZE ||
            request->event == NRI_EVENT_SYNCHRONIZE_PART);
}

/* When the handler counts as stuck: after twice what the request may take. A peer may name a time
 * whose double no number holds. */
static uint64_t patience_ends(const nri_request *request, uint64_t now)
{
    uint64_t whole = NRI_REQUEST_TIMEOUT_MS * NRI_MSEC;

    if (request->call != NULL)
        whole = request->deadline - nri_rpc_call_received(request->call);
    return whole < (NRI_NEVER - now) / 2 ? now + 2 * whole : NRI_NEVER;
}

/* A handler that returns NRI_PENDING may have given its reference up by then: hence one more. */
static int call_with_state(struct nri_core *core, nri_request *request, nri_handler handler)
{
    nri_state *state = core->config.state;
    const struct nri_state_hooks *hooks = nri_state_hooks_of(state);

    (void)nri_request_ref(request);
    int code = hooks->before(state, request);
    if (code == 0 && handler != NULL)
        code = handler(request, core->config.user);
    hooks->after(state, request);
    (void)nri_request_unref(request);
    return code;
}

static uint64_t clock_now(const struct nri_core *core)
{
    return core->config.host->now(core->config.host->context);
}

/* By the clock: `core->now` is that of a read, which may have brought several requests, and a
 * handler that ran before this one may have taken its time. */
int nri_handler_call(struct nri_core *core, nri_request *request, nri_handler handler)
{
    int code = 0;

    request->core = core;
    atomic_store_explicit(&core->busy_until, patience_ends(request, clock_now(core)),
                          memory_order_relaxed);
    if (is_for_state(request))
        code = call_with_state(core, request, handler);
    else if (handler != NULL)
        code = handler(request, core->config.user);
    atomic_store_explicit(&core->busy_until, 0, memory_order_relaxed);
    return code;
}

static void run_request(struct nri_task *task)
{
    nri_request *request = request_of(task);
    struct nri_core *core = request->core;

    atomic_fetch_sub(&core->queued, 1);
    int code = nri_handler_call(core, request, request->work);
    if (code == NRI_PENDING)
        return;
    code = nri_request_take_code(request, code, "the handler of", "returned");
    (void)nri_request_complete(request, code);
    (void)nri_request_unref(request);
}

static void queue_task(struct nri_core *core, struct nri_task *task)
{
    core->config.queue(core->config.queue_user, task);
}

/* Half a node must not pass for a whole one, and an empty answer would say that it was seen. */
static void refuse_synchronize(struct nri_core *core, nri_request *request)
{
    static const char why[] = "Synchronize finds a handler that does not return, and as many that "
                              "wait behind it as may (max_in_flight)";

    nri_request_failf(request, NRI_E_LIMIT, "%s", why);
    if (nri_request_claim(request))
        nri_reply_send(core, request, NRI_E_LIMIT);
    nri_core_fail(core, NRI_E_LIMIT, "%s", why);
}

static void tell_state(struct nri_core *core, nri_request *request)
{
    nri_state *state = core->config.state;
    struct nri_task *task;

    if (!is_for_state(request))
        return;
    const int code = nri_state_hooks_of(state)->missed(state, &core->alloc, request, &task);
    if (task != NULL) {
        core->misses = true;
        queue_task(core, task);
    }
    if (code != 0)
        nri_core_log(core, NRI_LOG_ERROR,
                     "no memory for what %s tells: the state cache is not right before the next "
                     "Synchronize",
                     nri_event_name(request->event));
}

/* Which request it was is not known to who had no memory for it: any may have been an event. Said
 * once, as the refusals themselves are each. */
void nri_handler_lost(struct nri_core *core, const char *why)
{
    nri_state *state = core->config.state;

    if (state != NULL && nri_state_hooks_of(state)->lose(state))
        nri_core_log(core, NRI_LOG_ERROR,
                     "the state cache is not right before the next Synchronize: a request was "
                     "refused before it could see it: %s",
                     why);
}

/* No handler will see it. */
static void answer_at_once(struct nri_core *core, nri_request *request)
{
    if (request->event == NRI_EVENT_SYNCHRONIZE || request->event == NRI_EVENT_SYNCHRONIZE_PART) {
        refuse_synchronize(core, request);
    } else {
        tell_state(core, request);
        nri_guard_answer(core, request, NRI_LOG_WARN, "finds a handler that does not return");
    }
    (void)nri_request_unref(request);
}

/* Without a thread of handlers the cache is told here and now, as with a handler. */
void nri_handler_pass(struct nri_core *core, nri_request *request)
{
    int code = 0;

    request->core = core;
    if (core->config.queue != NULL) {
        tell_state(core, request);
    } else if (is_for_state(request)) {
        core->depth++;
        code = nri_handler_call(core, request, NULL);
        core->depth--;
    }
    if (code == 0)
        nri_guard_answer(core, request, NRI_LOG_DEBUG,
                         "finds a plugin that holds too many older requests");
    else if (nri_request_claim(request))
        nri_reply_send(core, request, code);
    (void)nri_request_unref(request);
}

void nri_handler_queue(struct nri_core *core, nri_request *request, nri_handler handler)
{
    request->core = core;
    if (atomic_load(&core->queued) >= core->config.limits.max_in_flight &&
        request->event != NRI_EVENT_CONFIGURE) {
        answer_at_once(core, request);
        return;
    }
    if (handler != NULL && nri_guard_is_full(core, request)) {
        nri_handler_pass(core, request);
        return;
    }
    if (core->misses)
        nri_state_hooks_of(core->config.state)->missed_end(core->config.state);
    core->misses = false;
    request->work = handler;
    request->task.run = run_request;
    atomic_fetch_add(&core->queued, 1);
    queue_task(core, &request->task);
}

/* ---- the library's own events ---- */

static void call_own(struct nri_core *core, nri_request *request, nri_handler handler)
{
    nri_state *state = core->config.state;

    if (state != NULL && request->event == NRI_EVENT_CONNECTED)
        nri_state_hooks_of(state)->connected(state);
    if (handler == NULL || nri_handler_call(core, request, handler) != NRI_PENDING)
        return;
    /* Nothing waits for an answer; but who returns this believes to hold a reference, and will drop
     * it. */
    (void)nri_request_ref(request);
    nri_core_log(core, NRI_LOG_WARN,
                 "the handler of %s returned NRI_PENDING: it has nothing to complete",
                 nri_event_name(request->event));
}

static void run_own(struct nri_task *task)
{
    nri_request *request = request_of(task);

    call_own(request->core, request, request->work);
}

void nri_handler_own(struct nri_core *core, nri_request *request, nri_handler handler)
{
    if (handler == NULL && core->config.state == NULL)
        return;
    if (core->config.queue == NULL) {
        core->depth++;
        call_own(core, request, handler);
        core->depth--;
        return;
    }
    request->core = core;
    request->work = handler;
    request->task.run = run_own;
    queue_task(core, &request->task);
}

/* ---- work that a handler has done elsewhere ---- */

static void run_offloaded(struct nri_task *task)
{
    nri_request *request = request_of(task);
    int code = request->work(request, request->work_user);

    if (code == NRI_PENDING)
        return;
    code = nri_request_take_code(request, code, "the offloaded work of", "returned");
    (void)nri_request_complete(request, code);
    (void)nri_request_unref(request);
}

int nri_request_offload(nri_request *request, int (*work)(nri_request *request, void *user),
                        void *user)
{
    if (request == NULL || work == NULL)
        return NRI_E_INVALID;
    if (request->call == NULL)
        return NRI_E_EVENT;
    /* There is one task in a request, and one reference for the work to give up. */
    if (atomic_exchange(&request->offloaded, true))
        return NRI_E_STATE;
    request->work = work;
    request->work_user = user;
    request->task.run = run_offloaded;
    const int code = nri_shared_offload(request->shared, &request->task);
    if (code == 0)
        return NRI_PENDING; /* the request may be gone already */
    atomic_store(&request->offloaded, false);
    return code;
}
