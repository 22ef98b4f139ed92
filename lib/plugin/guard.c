/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deadline guard: a runtime that waits too long drops the plugin, so that what is still pending
 * shortly before is answered in the plugin's place, and the connection lives.
 *
 * Happy path: a request is armed when it is made -> it is answered in time, and nothing else
 * happens. Failure modes: it is due (nri_core_tick() answers it by the policy of its event; what
 * its handler still does comes too late, and is told so); its handler has its builders in its hands
 * just then, on another thread: they are left alone; its handler drops the last reference just
 * then: the request goes when the guard is done with it; its plugin never completes what was
 * answered so: beyond max_in_flight or max_request_bytes of it no handler sees an event, until some
 * is released.
 */
#include "plugin/internal.h"

void nri_guard_arm(struct nri_core *core, nri_request *request)
{
    const struct nri_deadline_settings *settings = &core->config.deadlines;

    request->guard_at = NRI_NEVER;
    if (core->open == NULL)
        core->guard_at = NRI_NEVER;
    if (!settings->guard || request->event == NRI_EVENT_CONFIGURE)
        return;
    const uint64_t whole = request->deadline - nri_rpc_call_received(request->call);
    uint64_t margin = whole / 100 * settings->margin_percent;
    if (margin < settings->margin)
        margin = settings->margin;
    if (margin > whole / 2) /* what is shorter than its margin has half its time all the same */
        margin = whole / 2;
    request->guard_at = request->deadline - margin;
    if (request->guard_at < core->guard_at)
        core->guard_at = request->guard_at;
}

void nri_guard_answer(struct nri_core *core, nri_request *request, enum nri_log_level level,
                      const char *why)
{
    const bool refused = (nri_event_bit(request->event) & core->config.deadlines.refused) != 0;
    char what[NRI_WHAT_SIZE];

    if (!nri_request_take_over(request))
        return;
    nri_shared_hold(core->shared, request);
    nri_missed_describe(request, what);
    const struct nri_log_about about = {
        .event = nri_event_name(request->event),
        .pod = nri_pod_id(request->pod),
        .container = nri_container_id(request->container),
    };
    nri_log_write(core->log, core->now, level, &about, "%s %s: the library %s", what, why,
                  refused ? "refuses it" : "lets it pass unchanged");
    nri_stats_count(&core->stats, request->event, NRI_COUNT_GUARDED);
    nri_reply_in_place(core, request, refused);
    nri_request_let_go(request);
}

/* Half of a Synchronize would pass for a whole node, and it has limits of its own; what is being
 * configured has seen no event. */
static bool is_limited(const nri_request *request)
{
    return request->event != NRI_EVENT_CONFIGURE && request->event != NRI_EVENT_SYNCHRONIZE &&
           request->event != NRI_EVENT_SYNCHRONIZE_PART;
}

static void tell_full(struct nri_core *core, size_t count, size_t bytes)
{
    const struct nri_rpc_limits *limits = &core->config.limits;

    if (core->full)
        return;
    core->full = true;
    nri_core_log(core, NRI_LOG_WARN,
                 "the plugin still holds %zu requests with %zu bytes that were answered in its "
                 "place or whose connection is gone, and may hold %zu (max_in_flight) with %zu "
                 "bytes (max_request_bytes): events are answered without it until it completes or "
                 "drops some",
                 count, bytes, limits->max_in_flight, limits->max_request_bytes);
}

bool nri_guard_is_full(struct nri_core *core, const nri_request *request)
{
    const struct nri_rpc_limits *limits = &core->config.limits;
    const size_t count = atomic_load_explicit(&core->shared->held_count, memory_order_relaxed);

    if (count == 0) {
        core->full = false;
        return false;
    }
    const size_t bytes = atomic_load_explicit(&core->shared->held_bytes, memory_order_relaxed);
    if (count <= limits->max_in_flight && bytes <= limits->max_request_bytes) {
        /* At the limit they come and go: that is not told each time. */
        if (count <= limits->max_in_flight / 2 && bytes <= limits->max_request_bytes / 2)
            core->full = false;
        return false;
    }
    if (!is_limited(request))
        return false;
    tell_full(core, count, bytes);
    return true;
}

/* Answering one may bring in others, which arm themselves. */
void nri_guard_tick(struct nri_core *core)
{
    nri_request *next;

    if (core->open == NULL || core->now < core->guard_at)
        return;
    core->guard_at = NRI_NEVER;
    for (nri_request *request = core->open; request != NULL; request = next) {
        next = request->open_next;
        if (request->guard_at <= core->now)
            nri_guard_answer(core, request, NRI_LOG_WARN,
                             "was still pending shortly before its deadline");
        else if (request->guard_at < core->guard_at)
            core->guard_at = request->guard_at;
    }
}
