/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Missed deadlines. A runtime drops a plugin that does not answer in time without telling it why:
 * the plugin sees a closed connection and nothing else. So what was late is said when it goes out,
 * and again as the probable reason when the peer closes.
 */
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "plugin/internal.h"

/* The runtime's clock for a request starts before this side has it, and it closes on its own
 * deadline: what has less than this part of its time left then, was what it waited for. */
#define NEARLY_PART 10u

/* A runtime that drops a plugin has done so at the deadline. Its end is seen soon after a late
 * reply, once what came before it is worked off; much later, it has another reason. */
#define REMEMBERED (10 * NRI_SEC)

/* Of an id in a sentence, in bytes: runtimes have 64. */
#define ID_SIZE 96

static uint64_t allowed(const nri_request *request)
{
    return request->deadline - nri_rpc_call_received(request->call);
}

static unsigned long long milliseconds(uint64_t ns)
{
    return (unsigned long long)((ns + NRI_MSEC / 2) / NRI_MSEC);
}

static int id_length(const char *id)
{
    const size_t length = strnlen(id, ID_SIZE);

    return (int)(length < ID_SIZE ? length : nri_utf8_cut(id, ID_SIZE));
}

void nri_missed_describe(const nri_request *request, char text[NRI_WHAT_SIZE])
{
    const char *pod = nri_pod_id(request->pod);
    const char *container = nri_container_id(request->container);
    const bool has_pod = pod[0] != '\0', has_container = container[0] != '\0';

    (void)snprintf(text, NRI_WHAT_SIZE, "%s%s%s%.*s%s%s%.*s%s", nri_event_name(request->event),
                   has_pod || has_container ? " (" : "", has_pod ? "pod " : "", id_length(pod), pod,
                   has_pod && has_container ? ", " : "", has_container ? "container " : "",
                   id_length(container), container, has_pod || has_container ? ")" : "");
}

static void tell_reason(const nri_request *request, char text[NRI_MISSED_SIZE])
{
    char what[NRI_WHAT_SIZE];

    nri_missed_describe(request, what);
    (void)snprintf(text, NRI_MISSED_SIZE,
                   "%s was not answered within %llu ms, which is why the runtime may have dropped "
                   "the plugin",
                   what, milliseconds(allowed(request)));
}

static bool is_remembered(const struct nri_core *core, uint64_t now)
{
    return core->missed.replied != 0 && now < core->missed.replied + REMEMBERED;
}

static void tell_late(struct nri_core *core, const nri_request *request, uint64_t now)
{
    char what[NRI_WHAT_SIZE];

    nri_missed_describe(request, what);
    const struct nri_log_about about = {
        .event = nri_event_name(request->event),
        .pod = nri_pod_id(request->pod),
        .container = nri_container_id(request->container),
    };
    const bool late = now > request->deadline;
    nri_log_write(core->log, now, NRI_LOG_WARN, &about,
                  late ? "%s was answered late: after %llu ms, and the deadline was %llu ms%s"
                       : "%s was answered slowly: after %llu ms of its %llu ms%s",
                  what, milliseconds(now - nri_rpc_call_received(request->call)),
                  milliseconds(allowed(request)), request->deadline_assumed ? " (assumed)" : "");
    nri_stats_count(&core->stats, request->event, late ? NRI_COUNT_LATE : NRI_COUNT_SLOW);
}

/* By the clock and not by `core->now`: a handler that blocked has used up time since. */
void nri_missed_reply(struct nri_core *core, const nri_request *request)
{
    const uint32_t percent = core->config.deadlines.slow_percent;
    const uint64_t now = core->config.host->now(core->config.host->context);
    const uint64_t received = nri_rpc_call_received(request->call);
    const uint64_t took = now > received ? now - received : 0;

    nri_stats_time(&core->stats, request->event, took);
    if (now <= request->deadline) {
        if (percent != 0 && took > allowed(request) / 100 * percent)
            tell_late(core, request, now);
        return;
    }
    tell_late(core, request, now);
    /* Of several in a row the first is what the runtime dropped the plugin for. */
    if (!is_remembered(core, now))
        tell_reason(request, core->missed.text);
    core->missed.replied = now;
}

void nri_missed_explain(const struct nri_core *core, char text[NRI_MISSED_SIZE])
{
    const nri_request *first = NULL;

    text[0] = '\0';
    if (is_remembered(core, core->now)) {
        (void)snprintf(text, NRI_MISSED_SIZE, "%s", core->missed.text);
        return;
    }
    for (const nri_request *request = core->open; request != NULL; request = request->open_next) {
        if (request->deadline - allowed(request) / NEARLY_PART <= core->now &&
            (first == NULL || request->deadline < first->deadline))
            first = request;
    }
    if (first != NULL)
        tell_reason(first, text);
}
