/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.*: the two ways to tell events, and what may be subscribed to; versions.*: a life on each
 * NRI version that runtimes in use carry.
 */
#include <string.h>

#include "check_group.h"
#include "check_step.h"

/* ---- events ---- */

static void own_calls(struct run *run, int argument)
{
    (void)argument;
    if (!step_join(run))
        return;
    for (size_t i = 0; i < MESSAGE_LIFE; i++) {
        const unsigned event = message_life[i];
        uint32_t stream;
        if (step_wants(run, event) &&
            !(step_send_event(run, event, &stream) &&
              step_replied(run, stream, message_call(event)->method, event)))
            return;
    }
}

static void state_changes(struct run *run, int argument)
{
    (void)argument;
    run->release = MESSAGE_0_11;
    if (!step_join(run))
        return;
    for (size_t i = 0; i < MESSAGE_LIFE; i++) {
        const unsigned event = message_life[i];
        if (message_call(event)->own_since == MESSAGE_0_12 && step_wants(run, event) &&
            !step_state_change(run, event))
            return;
    }
    (void)step_alive(run);
}

static void unsubscribed(struct run *run, int argument)
{
    (void)argument;
    if (!step_join(run))
        return;
    if (run->events == message_events(run->release)) {
        (void)run_skip(run, "it subscribes to all events");
        return;
    }
    for (size_t i = 0; i < MESSAGE_LIFE; i++) {
        const unsigned event = message_life[i];
        if (!step_wants(run, event) && !step_event(run, event))
            return;
    }
    (void)step_alive(run);
}

static void mask(struct run *run, int release)
{
    run->release = (unsigned)release;
    if (!step_join(run))
        return;
    const uint32_t known = message_events(run->release);
    if ((run->events & ~known) != 0)
        (void)run_fail(run, "the mask 0x%x, of which 0x%x is unknown to NRI %s", run->events,
                       run->events & ~known, message_release(run->release)->nri);
}

static void order(struct run *run, int count)
{
    if (!step_join(run))
        return;
    for (int i = 0; i < count; i++) {
        if (!step_alive(run))
            return;
    }
}

static const struct check checks[] = {
    {.id = "events.own-calls",
     .title = "tell each event that it wants by a call of its own, as NRI 0.12 does",
     .expected = "each is answered with OK and that call's response",
     .why = "NRI 0.12; a plugin without them costs a second call an event, and a warning",
     .severity = CHECK_SHOULD,
     .run = own_calls},
    {.id = "events.state-change",
     .title = "tell each event that it wants by StateChange, as NRI 0.11 and older do",
     .expected = "each is answered with OK",
     .why = "every runtime but those with NRI 0.12 (nri #274)",
     .run = state_changes},
    {.id = "events.unsubscribed",
     .title = "tell it each event that it does not want",
     .expected = "each is answered with OK",
     .why = "a failure fails the container's request (nri #150)",
     .run = unsubscribed},
    {.id = "events.mask",
     .title = "look at the mask that Configure is answered with",
     .expected = "no bit above those of NRI's 14 events; 0 is all of them",
     .why = "runtimes refuse an unknown bit: \"invalid plugin events\"",
     .run = mask,
     .argument = MESSAGE_0_12},
    {.id = "events.mask-old",
     .title = "look at the mask that it gives to a runtime of NRI 0.8",
     .expected = "no bit above those of its 11 events",
     .why = "containerd 2.1 and older refuse the others: the plugin never runs there",
     .severity = CHECK_SHOULD,
     .run = mask,
     .argument = MESSAGE_0_8},
    {.id = "events.many",
     .title = "tell it 200 events, one after another",
     .expected = "each is answered, once",
     .why = "a node's day",
     .run = order,
     .argument = 200},
};
const struct check_group check_events = CHECK_GROUP("events", checks);

/* ---- versions ---- */

static void version(struct run *run, int release)
{
    run->release = (unsigned)release;
    (void)(step_join(run) && step_life(run));
}

#define VERSION(number, minor, what)                                                               \
    {                                                                                              \
        .id = "versions." number,                                                                  \
        .title = "a pod sandbox's and a container's life on NRI " number,                          \
        .expected = "all is answered", .why = (what), .run = version, .argument = (minor)          \
    }

static const struct check version_checks[] = {
    VERSION("0.6.1", MESSAGE_0_6, "containerd 1.7.16 to 1.7.25: no time-outs in Configure"),
    VERSION("0.7.0", MESSAGE_0_7, "time-outs in Configure; a runtime called \"v2\""),
    VERSION("0.8.0", MESSAGE_0_8, "containerd 2.0 and 2.1: pod IPs"),
    VERSION("0.9.0", MESSAGE_0_9, "CRI-O 1.32"),
    VERSION("0.10.0", MESSAGE_0_10, "containerd 2.2.0: events 12 to 14, more of containers"),
    VERSION("0.11.0", MESSAGE_0_11, "containerd 2.2, Docker 29: users, sysctls, schedulers"),
    VERSION("0.12.2", MESSAGE_0_12, "containerd 2.3: events by calls of their own, NRI's version"),
    {.id = "versions.newer",
     .title = "a life on a runtime of an NRI version that is not there yet",
     .expected = "all is answered",
     .why = "plugins outlive runtimes",
     .run = version,
     .argument = MESSAGE_NEWER},
};
const struct check_group check_versions = CHECK_GROUP("versions", version_checks);
