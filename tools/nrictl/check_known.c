/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plugin is, which checks go by: the first run, before any check.
 */
#include <stdio.h>

#include "check_step.h"

static const struct check look = {.id = "first-look",
                                  .title = "a whole life, to know what the plugin does",
                                  .expected = "it registers and answers"};

static bool reply_of(struct run *run, unsigned event, struct peer_reply *reply)
{
    uint32_t stream = 0;
    return step_send_event(run, event, &stream) && peer_reply(run, stream, NULL, reply);
}

/* A refusal by policy is the plugin's right: checks count it as an answer. */
static bool try_events(struct run *run)
{
    struct known *known = &run->suite->known;
    for (size_t i = 0; i < MESSAGE_LIFE; i++) {
        const unsigned event = message_life[i];
        struct peer_reply reply;
        if (!step_wants(run, event))
            continue;
        if (!reply_of(run, event, &reply))
            return false;
        if (reply.code != 0 && reply.code != STEP_UNIMPLEMENTED)
            known->refused |= UINT32_C(1) << (event - 1);
    }
    return true;
}

void check_look(struct suite *suite, struct run *run)
{
    struct known *known = &suite->known;
    struct step_registration registration;
    run_begin(run, suite, &look);
    known->ends_on_term = true;
    if (step_start(run) && step_registration(run, &registration)) {
        (void)snprintf(known->name, sizeof known->name, "%s", registration.name);
        (void)snprintf(known->index, sizeof known->index, "%s", registration.index);
        (void)snprintf(known->version, sizeof known->version, "%s", registration.version);
        known->registered = peer_answer(run, registration.stream, 0, "") && step_configure(run) &&
                            step_synchronize(run) && try_events(run);
        known->events = run->events;
    }
    if (known->registered) {
        const enum step_after after = step_after_close(run);
        known->ends = after == STEP_ENDED;
        known->reconnects = after == STEP_BACK && !suite->no_reconnect;
    }
    run_end(run);
}
