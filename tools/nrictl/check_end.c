/* SPDX-License-Identifier: Apache-2.0 */
/*
 * end.*: a runtime that goes at any moment, and a plugin that is asked to.
 */
#include <signal.h>

#include "check_group.h"
#include "check_step.h"
#include "memory.h"

/* ---- the runtime goes ---- */

enum stage {
    AT_ONCE,
    UNANSWERED,
    REGISTERED,
    CONFIGURING,
    IN_FRAME,
    BETWEEN_PARTS,
    READY,
    IN_EVENT
};

/* Half of what a Synchronize is. */
static bool send_half(struct run *run)
{
    struct peer *peer = &run->peer;
    uint32_t stream = 0;
    peer->hold = true;
    if (!step_send_synchronize(run, 0, 3, 3, false, &stream))
        return false;
    peer->hold = false;
    peer->out.end = peer->out.start + nri_buf_size(&peer->out) / 2;
    return peer_flush(run);
}

/* The plugin has taken the answer to RegisterPlugin: it answers something that came behind. */
static bool has_reply(struct run *run)
{
    struct peer_reply reply;
    uint32_t stream = 0;
    return peer_drained(run) && peer_request(run, "PauseContainer", NULL, &stream) &&
           peer_reply(run, stream, NULL, &reply);
}

static bool reach(struct run *run, enum stage stage)
{
    struct step_registration registration;
    uint32_t stream = 0;
    if (!step_start(run))
        return false;
    if (stage == AT_ONCE)
        return true;
    if (!step_registration(run, &registration))
        return false;
    if (stage == UNANSWERED)
        return true;
    if (!peer_answer(run, registration.stream, 0, ""))
        return false;
    if (stage == REGISTERED)
        return has_reply(run);
    if (stage == CONFIGURING)
        return step_send_configure(run, &stream);
    if (!step_configure(run))
        return false;
    if (stage == IN_FRAME)
        return send_half(run);
    if (stage == BETWEEN_PARTS)
        return step_send_synchronize(run, 0, 2, 2, true, &stream) &&
               step_synchronized(run, stream, true);
    if (!step_synchronize(run))
        return false;
    return stage == READY || step_send_event(run, step_any_event(run), &stream);
}

/* What comes back is a plugin as any other. */
static void closes(struct run *run, int stage)
{
    bool back = false;
    if (reach(run, (enum stage)stage) && step_closed(run, &back) && back)
        (void)(step_handshake(run) && step_alive(run));
}

/* All that the plugin has to say is read: an answer that comes twice is seen. */
static bool closes_in_order(struct run *run)
{
    peer_half_close(&run->peer);
    return peer_end(run);
}

static void shuts_down(struct run *run, int argument)
{
    struct peer_reply reply;
    uint32_t stream = 0;
    bool back = false;
    (void)argument;
    if (!step_join(run) || !peer_request(run, "Shutdown", NULL, &stream) ||
        !peer_reply(run, stream, "Shutdown", &reply))
        return;
    if (reply.code != 0)
        (void)run_fail(run, "Shutdown was answered with code %d: %s", reply.code, reply.text);
    else if (closes_in_order(run) && step_closed(run, &back) && back)
        (void)(step_handshake(run) && step_alive(run));
}

/* ---- what it takes meanwhile ---- */

/* Processor time of a second, as a share of it, with what it waited for a processor: on a loaded
 * machine a loop has a small part of one. A plugin may have work of its own: what is caught
 * is a loop that never waits. */
static void not_busy(struct run *run, const char *when)
{
    enum { WINDOW_MS = 1000, PERCENT = 100, MOST = 50 };
    uint64_t before, after;
    if (!subject_busy(&run->subject, &before)) {
        (void)run_skip(run, "the system does not tell its processor time");
        return;
    }
    const uint64_t began = run_now();
    const enum run_wait why = run_wait(run, -1, 0, began + WINDOW_MS);
    if (why == RUN_STOPPED) {
        (void)run_fail(run, "interrupted");
        return;
    }
    if (why == RUN_ENDED || !subject_busy(&run->subject, &after))
        return;
    /* A thread that has ended meanwhile took its time with it. */
    const uint64_t took = run_now() - began;
    const uint64_t share = after > before ? (after - before) * PERCENT / took : 0;
    if (share > MOST)
        (void)run_fail(run, "%llu %% of a processor %s; the limit is %d %%",
                       (unsigned long long)share, when, MOST);
}

static void idle(struct run *run, int argument)
{
    (void)argument;
    if (step_join(run) && step_alive(run))
        not_busy(run, "while nothing happened");
}

static void alone(struct run *run, int argument)
{
    (void)argument;
    if (!run->suite->known.reconnects) {
        (void)run_skip(run, "it ends with its runtime");
        return;
    }
    if (!step_join(run))
        return;
    subject_unlisten(&run->subject);
    peer_close(&run->peer);
    not_busy(run, "while there was no runtime");
}

/* A connection of which the runtime has closed one direction: it says "no more", and nothing. */
static void half_closed(struct run *run, int argument)
{
    (void)argument;
    if (!step_join(run))
        return;
    peer_half_close(&run->peer);
    (void)peer_end(run);
}

/* ---- the plugin is asked to go ---- */

#define TERM_MS 10000

static void on_term(struct run *run, int stage)
{
    char end[100];
    if (!reach(run, (enum stage)stage))
        return;
    const uint64_t limit = TERM_MS * run->suite->slow;
    const uint64_t deadline = run_now() + limit;
    subject_signal(&run->subject, SIGTERM);
    while (!run->subject.ended) {
        const enum run_wait why = run_wait(run, -1, 0, deadline);
        if (why == RUN_LATE || why == RUN_STOPPED) {
            (void)run_fail(run, "it did not end in %llu ms", (unsigned long long)limit);
            return;
        }
    }
    subject_tell_end(&run->subject, end, sizeof end);
    const bool well = stage == UNANSWERED ? !subject_crashed(&run->subject)
                                          : subject_ended_well(&run->subject, SIGTERM);
    if (!well)
        (void)run_fail(run, "it %s", end);
}

#define CLOSES(name, stage, when)                                                                  \
    {                                                                                              \
        .id = "end.close-" name, .title = "the runtime closes " when,                              \
        .expected = "it ends; or it comes back, registers and takes an event",                     \
        .why = "runtimes restart at any moment (nri #74, #108, #129)", .run = closes,              \
        .argument = (stage)                                                                        \
    }

static const struct check checks[] = {
    CLOSES("at-once", AT_ONCE, "as soon as it is connected"),
    CLOSES("unanswered", UNANSWERED, "without an answer to RegisterPlugin"),
    CLOSES("registered", REGISTERED, "behind the answer to RegisterPlugin"),
    CLOSES("configuring", CONFIGURING, "behind Configure, without waiting for the answer"),
    CLOSES("in-frame", IN_FRAME, "in the middle of a frame"),
    CLOSES("between-parts", BETWEEN_PARTS, "between two parts of a Synchronize"),
    CLOSES("ready", READY, "with nothing under way"),
    CLOSES("in-event", IN_EVENT, "behind an event, without waiting for the answer"),
    {.id = "end.half-closed",
     .title = "the runtime closes its direction only",
     .expected = "it closes the connection",
     .why = "an end of the stream is the runtime's end",
     .run = half_closed},
    {.id = "end.shutdown",
     .title = "the runtime says Shutdown, then closes",
     .expected = "Shutdown is answered with OK; it ends, or comes back",
     .why = "newer runtimes tell their plugins (containerd #13184)",
     .run = shuts_down},
    {.id = "end.idle",
     .title = "measure its processor time of a second in which nothing happens",
     .expected = "at most half of it",
     .why = "a loop that never waits costs a node a processor",
     .run = idle},
    {.id = "end.alone",
     .title = "measure its processor time of a second without a runtime",
     .expected = "at most half of it",
     .why = "a plugin that tries again without a delay costs a node a processor",
     .run = alone},
    {.id = "end.sigterm",
     .title = "SIGTERM with nothing under way",
     .expected = "it ends in 10 s (times --slow), with status 0 or by that signal",
     .why = "supervisors kill what does not end, and call other ends a failure",
     .run = on_term,
     .argument = READY},
    {.id = "end.sigterm-early",
     .title = "SIGTERM while RegisterPlugin is not answered",
     .expected = "it ends in 10 s (times --slow), with any status",
     .why = "a call that waits for ever keeps it from ending (nri #298)",
     .severity = CHECK_SHOULD,
     .run = on_term,
     .argument = UNANSWERED},
};
const struct check_group check_end = CHECK_GROUP("end", checks);
