/* SPDX-License-Identifier: Apache-2.0 */
/*
 * streams.*: stream ids, requests side by side, frames that are not for this plugin; deadline.*:
 * how long a runtime waits.
 */
#include <signal.h>

#include "check_group.h"
#include "check_step.h"

/* ---- streams ---- */

/* In flight together, and answered each on its own stream. */
static void parallel(struct run *run, int count)
{
    enum { MOST = 100 };
    uint32_t streams[MOST];
    if (!step_join(run))
        return;
    const unsigned event = step_any_event(run);
    run->peer.hold = true;
    for (int i = 0; i < count; i++) {
        if (!step_send_event(run, event, &streams[i]))
            return;
    }
    run->peer.hold = false;
    if (!peer_flush(run))
        return;
    for (int i = 0; i < count; i++) {
        if (!step_replied(run, streams[i], NULL, event))
            return;
    }
    (void)step_alive(run);
}

static void skipped(struct run *run, int argument)
{
    static const uint32_t far[] = {7, 101, 99999, 0x7ffffffd};
    (void)argument;
    if (!step_join(run))
        return;
    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        run->peer.next_stream = far[i] > run->peer.next_stream ? far[i] : run->peer.next_stream;
        if (!step_alive(run))
            return;
    }
}

/* Refused, or passed over. */
static bool wrong_id(struct run *run, uint32_t stream)
{
    struct peer_reply reply;
    if (!peer_request_on(run, stream, PEER_PLUGIN_SERVICE, "StateChange", NULL) || !step_alive(run))
        return false;
    /* A plugin that answers side by side may be later: what then comes is not looked at. */
    if (!peer_has_reply(&run->peer, stream))
        return true;
    if (!peer_reply(run, stream, NULL, &reply))
        return false;
    if (reply.code != 0)
        return true;
    return run_fail(run, "a request on stream %u, behind %u, was answered as if it were right",
                    stream, run->peer.next_stream - 2);
}

static void wrong_ids(struct run *run, int argument)
{
    enum { EVEN = 1000, LATER = 2001 };
    (void)argument;
    if (!step_join(run))
        return;
    run->peer.next_stream = LATER;
    (void)(step_alive(run) && wrong_id(run, EVEN) && wrong_id(run, 1) &&
           wrong_id(run, run->peer.next_stream - 2) && wrong_id(run, 0));
}

/* A frame that belongs to nothing. An answer to it is allowed. */
static void stray(struct run *run, int type)
{
    static const uint8_t data[] = {0x0a, 0x01, 'x'};
    struct peer *peer = &run->peer;
    if (!step_join(run))
        return;
    const uint32_t stream = peer->next_stream;
    peer->next_stream += 2;
    (void)(peer_expect(run, stream) &&
           peer_message(run, NRI_MUX_PLUGIN_ID, stream, (uint8_t)type, 0, data, sizeof data) &&
           step_alive(run));
}

static void response(struct run *run, int argument)
{
    enum { NOBODYS = 77 };
    (void)argument;
    (void)(step_join(run) && peer_answer(run, NOBODYS, 0, "") && peer_answer(run, 1, 0, "") &&
           peer_answer(run, 2, 0, "") && step_alive(run));
}

static const struct check checks[] = {
    {.id = "streams.parallel",
     .title = "send 64 requests before any is answered",
     .expected = "each is answered once, on its own stream",
     .why = "a mux makes calls independent; runtimes may stop serialising events",
     .run = parallel,
     .argument = 64},
    {.id = "streams.skipped",
     .title = "leave out stream ids, up to 2^31 - 3",
     .expected = "requests are answered",
     .why = "client streams rise, and may skip numbers",
     .run = skipped},
    {.id = "streams.wrong",
     .title = "send requests on even, used, lower and zero stream ids",
     .expected = "each is refused or passed over, and the connection stays",
     .why = "Go refuses them with code 3",
     .severity = CHECK_SHOULD,
     .run = wrong_ids},
    {.id = "streams.type",
     .title = "send a frame of a type that ttRPC does not have",
     .expected = "it is passed over, or refused, and the connection stays",
     .why = "later versions of ttRPC have types of their own",
     .severity = CHECK_SHOULD,
     .run = stray,
     .argument = 9},
    {.id = "streams.data",
     .title = "send data of a stream that was never opened",
     .expected = "it is refused or passed over, and the connection stays",
     .why = "Go's ttRPC 1.2.7 panics: whoever may open the socket can end such a plugin",
     .severity = CHECK_SHOULD,
     .run = stray,
     .argument = NRI_TTRPC_DATA},
    {.id = "streams.response",
     .title = "send responses to no call, and one to a call that was answered",
     .expected = "they are passed over",
     .why = "a reply that comes behind a deadline is one of them (ttrpc-rust #56)",
     .run = response},
};
const struct check_group check_streams = CHECK_GROUP("streams", checks);

/* ---- deadlines ---- */

static void absent(struct run *run, int argument)
{
    (void)argument;
    run->peer.no_timeout = true;
    (void)(step_join(run) && step_life(run));
}

static void odd(struct run *run, int argument)
{
    static const int64_t timeouts[] = {INT64_MAX, -1, INT64_MIN};
    (void)argument;
    if (!step_join(run))
        return;
    for (size_t i = 0; i < sizeof timeouts / sizeof *timeouts; i++) {
        uint32_t stream;
        struct peer_reply reply;
        run->peer.timeout_ns = timeouts[i];
        if (!step_send_event(run, step_any_event(run), &stream) ||
            !peer_reply(run, stream, NULL, &reply))
            return;
        run->peer.timeout_ns = 0;
        if (!step_alive(run))
            return;
    }
}

static void passed(struct run *run, int count)
{
    if (!step_join(run))
        return;
    for (int i = 0; i < count; i++) {
        uint32_t stream;
        struct peer_reply reply;
        run->peer.timeout_ns = 1;
        if (!step_send_event(run, step_any_event(run), &stream) ||
            !peer_reply(run, stream, NULL, &reply))
            return;
    }
    run->peer.timeout_ns = 0;
    (void)step_alive(run);
}

#define LATE_MS 50

/* A plugin that is stopped misses every deadline. */
static bool miss(struct run *run, uint32_t *stream)
{
    enum { NANOS = 1000000 };
    if (!subject_pause(run))
        return false;
    run->peer.timeout_ns = (int64_t)LATE_MS * NANOS;
    if (!step_send_event(run, step_any_event(run), stream))
        return false;
    run->peer.timeout_ns = 0;
    (void)run_wait(run, -1, 0, run_now() + LATE_MS + 1); /* the deadline itself */
    return true;
}

static void late(struct run *run, int argument)
{
    uint32_t stream = 0;
    bool ended;
    (void)argument;
    if (!step_join(run) || !miss(run, &stream))
        return;
    subject_signal(&run->subject, SIGCONT);
    if (!peer_reply_or_end(run, stream, &ended))
        return;
    if (ended)
        (void)run_fail(run, "it closed the connection because one reply was late");
    else
        (void)step_alive(run);
}

static void gone(struct run *run, int argument)
{
    uint32_t stream = 0;
    bool back;
    (void)argument;
    if (!step_join(run) || !miss(run, &stream))
        return;
    peer_close(&run->peer);
    subject_signal(&run->subject, SIGCONT);
    if (step_closed(run, &back) && back)
        (void)(step_handshake(run) && step_alive(run));
}

static void metadata(struct run *run, int argument)
{
    static const char *const pairs[] = {"containerd-namespace-ttrpc",
                                        "k8s.io",
                                        "traceparent",
                                        "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
                                        "twice",
                                        "1",
                                        "twice",
                                        "2",
                                        "empty",
                                        "",
                                        "",
                                        "no key",
                                        "UPPER",
                                        "\xc3\xa9\xe2\x82\xac"};
    (void)argument;
    run->peer.metadata = pairs;
    run->peer.metadata_count = sizeof pairs / sizeof *pairs / 2;
    (void)(step_join(run) && step_life(run));
    run->peer.metadata = NULL;
}

static const struct check deadline_checks[] = {
    {.id = "deadline.absent",
     .title = "send requests without timeout_nano",
     .expected = "all is answered",
     .why = "the field is optional: none is no deadline, or the plugin's own",
     .run = absent},
    {.id = "deadline.odd",
     .title = "send events with the largest and with negative timeout_nano",
     .expected = "each is answered, whatever with, and the connection stays",
     .why = "sums of such a number and the time overflow",
     .run = odd},
    {.id = "deadline.passed",
     .title = "send events with a timeout_nano of 1",
     .expected = "each is answered, whatever with, and the connection stays",
     .why = "a deadline that has passed is an answer, not the end of a connection",
     .run = passed,
     .argument = 5},
    {.id = "deadline.late",
     .title = "stop the process until a deadline has passed, then let it go on",
     .expected = "the late reply does no harm, and the connection stays",
     .why = "a node under load (nri #114)",
     .run = late},
    {.id = "deadline.gone",
     .title = "the same, and the runtime closes at the deadline",
     .expected = "it ends, or comes back",
     .why = "what Go runtimes do with a plugin that is late (nri #90, containerd #10773)",
     .run = gone},
    {.id = "deadline.metadata",
     .title = "send metadata: trace context, keys that come twice, empty ones",
     .expected = "all is answered",
     .why = "containerd sends a namespace and trace context with each call",
     .run = metadata},
};
const struct check_group check_deadline = CHECK_GROUP("deadline", deadline_checks);
