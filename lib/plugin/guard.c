/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The deadline guard: a runtime that waits too long drops the plugin, so that what is still pending
 * shortly before is answered in the plugin's place, and the connection lives.
 *
 * Happy path: a request is armed when it is made -> it is answered in time, and nothing else
 * happens. Failure modes: it is due (nri_core_tick() answers it by the policy of its event; what
 * its handler still does comes too late, and is told so); its handler has its builders in its hands
 * just then, on another thread: they are left alone; its handler drops the last reference just
 * then: the request goes when the guard is done with it.
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

void nri_guard_answer(struct nri_core *core, nri_request *request, const char *why)
{
    const bool refused = (nri_event_bit(request->event) & core->config.deadlines.refused) != 0;
    char what[NRI_WHAT_SIZE];

    if (!nri_request_take_over(request))
        return;
    nri_missed_describe(request, what);
    const struct nri_log_about about = {
        .event = nri_event_name(request->event),
        .pod = nri_pod_id(request->pod),
        .container = nri_container_id(request->container),
    };
    nri_log_write(core->log, core->now, NRI_LOG_WARN, &about, "%s %s: the library %s", what, why,
                  refused ? "refuses it" : "lets it pass unchanged");
    nri_stats_count(&core->stats, request->event, NRI_COUNT_GUARDED);
    nri_reply_in_place(core, request, refused);
    nri_request_let_go(request);
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
            nri_guard_answer(core, request, "was still pending shortly before its deadline");
        else if (request->guard_at < core->guard_at)
            core->guard_at = request->guard_at;
    }
}
