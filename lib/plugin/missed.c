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

/* Of an event with its ids. */
#define WHAT_SIZE (2 * ID_SIZE + 128)

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

/* "CreateContainer (pod P, container C)", with what of the two the event has. */
static void describe(const nri_request *request, char text[WHAT_SIZE])
{
    const char *pod = nri_pod_id(request->pod);
    const char *container = nri_container_id(request->container);
    const bool has_pod = pod[0] != '\0', has_container = container[0] != '\0';

    (void)snprintf(text, WHAT_SIZE, "%s%s%s%.*s%s%s%.*s%s", nri_event_name(request->event),
                   has_pod || has_container ? " (" : "", has_pod ? "pod " : "", id_length(pod), pod,
                   has_pod && has_container ? ", " : "", has_container ? "container " : "",
                   id_length(container), container, has_pod || has_container ? ")" : "");
}

static void tell_reason(const nri_request *request, char text[NRI_MISSED_SIZE])
{
    char what[WHAT_SIZE];

    describe(request, what);
    (void)snprintf(text, NRI_MISSED_SIZE,
                   "%s was not answered within %llu ms, which is why the runtime may have dropped "
                   "the plugin",
                   what, milliseconds(allowed(request)));
}

static bool is_remembered(const struct nri_core *core, uint64_t now)
{
    return core->missed.replied != 0 && now < core->missed.replied + REMEMBERED;
}

/* By the clock and not by `core->now`: a handler that blocked has used up time since. */
void nri_missed_reply(struct nri_core *core, const nri_request *request)
{
    const uint64_t now = core->config.host->now(core->config.host->context);
    char what[WHAT_SIZE];

    if (now <= request->deadline)
        return;
    describe(request, what);
    const struct nri_log_about about = {
        .event = nri_event_name(request->event),
        .pod = nri_pod_id(request->pod),
        .container = nri_container_id(request->container),
    };
    nri_log_write(core->log, now, NRI_LOG_WARN, &about,
                  "%s was answered late: after %llu ms, and the deadline was %llu ms%s", what,
                  milliseconds(now - nri_rpc_call_received(request->call)),
                  milliseconds(allowed(request)), request->deadline_assumed ? " (assumed)" : "");
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
