/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuts.*: the runtime's bytes in all pieces that a socket and a mux may make of them.
 */
#include "check_group.h"
#include "check_step.h"
#include "memory.h"

/* A whole handshake and an event in writes of so many bytes, each read before the next one. */
static void writes(struct run *run, int size)
{
    run->peer.write = (size_t)size;
    (void)(step_join(run) && step_alive(run));
}

/* One event, cut in two at each byte. */
static void each(struct run *run, int argument)
{
    size_t cut = 1, all = 2;
    (void)argument;
    if (!step_join(run))
        return;
    for (; cut < all; cut++) {
        struct peer *peer = &run->peer;
        uint32_t stream;
        peer->hold = true;
        if (!step_send_event(run, step_any_event(run), &stream))
            return;
        peer->hold = false;
        all = nri_buf_size(&peer->out);
        peer->write = cut;
        const uint8_t *bytes = peer->out.data + peer->out.start;
        struct nri_buf second;
        memory_buf(&second, SIZE_MAX);
        bool good = nri_buf_append(&second, bytes + cut, all - cut) == 0;
        peer->out.end = peer->out.start + cut;
        peer->write = 0;
        good = good && peer_flush(run) && peer_drained(run) &&
               peer_bytes(run, second.data + second.start, all - cut) &&
               step_replied(run, stream, NULL, step_any_event(run));
        nri_buf_fini(&second);
        if (!good)
            return;
    }
}

/* Mux frames of so many bytes, each written for itself. */
static void frames(struct run *run, int size)
{
    run->peer.frame = (size_t)size;
    (void)(step_join(run) && step_alive(run));
}

static bool large_event(struct run *run, size_t length, uint32_t *stream)
{
    enum { RUN = 1, POD = 1 };
    struct nri_buf payload, pod;
    memory_buf(&payload, SIZE_MAX);
    memory_buf(&pod, SIZE_MAX);
    const bool good = message_pod(&pod, run->release, 0) &&
                      message_padding(&pod, "example.com/large", length) &&
                      message_number(&payload, 1, RUN) && message_inner(&payload, POD + 1, &pod) &&
                      peer_request(run, "StateChange", &payload, stream);
    nri_buf_fini(&pod);
    nri_buf_fini(&payload);
    return good;
}

/* What Go peers cannot read: a message of 100 kB in several frames. */
static void large_frames(struct run *run, int size)
{
    enum { LENGTH = 100000 };
    uint32_t stream = 0;
    if (!step_join(run))
        return;
    run->peer.frame = (size_t)size;
    (void)(large_event(run, LENGTH, &stream) && step_replied(run, stream, "StateChange", 0) &&
           step_alive(run));
}

static void together(struct run *run, int argument)
{
    struct step_registration registration;
    uint32_t configure, synchronize, event;
    (void)argument;
    if (!step_start(run) || !step_registration(run, &registration))
        return;
    run->peer.hold = true;
    if (!peer_answer(run, registration.stream, 0, "") || !step_send_configure(run, &configure) ||
        !step_send_synchronize(run, 0, 2, 2, false, &synchronize))
        return;
    run->peer.hold = false;
    (void)(peer_flush(run) && step_configured(run, configure) &&
           step_synchronized(run, synchronize, false) &&
           step_send_event(run, step_any_event(run), &event) &&
           step_replied(run, event, NULL, step_any_event(run)));
}

/* The bytes of several messages, cut into frames without regard to where they end. */
static void shared(struct run *run, int argument)
{
    enum { COUNT = 5 };
    uint32_t streams[COUNT];
    struct peer *peer = &run->peer;
    struct nri_buf bytes, all;
    (void)argument;
    if (!step_join(run))
        return;
    memory_buf(&bytes, SIZE_MAX);
    memory_buf(&all, SIZE_MAX);
    peer->hold = true;
    bool good = true;
    for (size_t i = 0; good && i < COUNT; i++) {
        good = step_send_event(run, step_any_event(run), &streams[i]);
        const size_t size = nri_buf_size(&peer->out);
        good = good && nri_buf_append(&bytes, peer->out.data + peer->out.start + NRI_MUX_HEADER,
                                      size - NRI_MUX_HEADER) == 0;
        nri_buf_reset(&peer->out, SIZE_MAX);
    }
    peer->hold = false;
    while (good && nri_buf_size(&bytes) > 0) {
        const size_t size = nri_buf_size(&bytes), some = size < 1500 ? size : 1500;
        const uint8_t mux[NRI_MUX_HEADER] = {0, 0, 0, 1, 0, 0, (uint8_t)(some >> 8), (uint8_t)some};
        good = nri_buf_append(&all, mux, sizeof mux) == 0 &&
               nri_buf_append(&all, bytes.data + bytes.start, some) == 0;
        nri_buf_consume(&bytes, some);
    }
    good = good && peer_bytes(run, all.data + all.start, nri_buf_size(&all));
    for (size_t i = 0; good && i < COUNT; i++)
        good = step_replied(run, streams[i], NULL, step_any_event(run));
    nri_buf_fini(&bytes);
    nri_buf_fini(&all);
}

static void odd_frames(struct run *run, int argument)
{
    static const uint8_t odd[] = {0, 0, 0, 1, 0, 0, 0, 0, 0, 0,   0,   2,   0,   0,  0,
                                  0, 0, 0, 0, 9, 0, 0, 0, 5, 'h', 'e', 'l', 'l', 'o'};
    (void)argument;
    (void)(step_join(run) && peer_bytes(run, odd, sizeof odd) && step_alive(run));
}

static const struct check checks[] = {
    {.id = "cuts.bytes",
     .title = "send a handshake and an event byte by byte",
     .expected = "all is answered",
     .why = "a stream socket hands out any piece",
     .run = writes,
     .argument = 1},
    {.id = "cuts.header",
     .title = "send a handshake and an event in writes of 7 bytes",
     .expected = "all is answered",
     .why = "headers of 8 and 10 bytes come in two pieces, and together with data",
     .run = writes,
     .argument = 7},
    {.id = "cuts.each",
     .title = "send an event in two pieces, cut at each of its bytes",
     .expected = "each one is answered",
     .why = "a stream socket hands out any piece",
     .run = each},
    {.id = "cuts.frames",
     .title = "send small messages in mux frames of 16 bytes",
     .expected = "all is answered",
     .why = "a mux frame need not be a message",
     .run = frames,
     .argument = 16},
    {.id = "cuts.together",
     .title = "send the reply to RegisterPlugin, Configure and Synchronize in one write",
     .expected = "all is answered",
     .why = "what comes in one read need not be one message",
     .run = together},
    {.id = "cuts.shared",
     .title = "send mux frames with the end of one message and the start of the next",
     .expected = "all is answered",
     .why = "the mux promises a stream of bytes, no messages",
     .severity = CHECK_SHOULD,
     .run = shared},
    {.id = "cuts.odd",
     .title = "send mux frames of length 0, and one for a connection that nobody knows",
     .expected = "they are passed over",
     .why = "Go's mux does so",
     .run = odd_frames},
    {.id = "cuts.large-4097",
     .title = "send a message of 100 kB in mux frames of 4097 bytes",
     .expected = "it is answered",
     .why = "Go's mux fails with \"cannot allocate memory\"; no Go runtime writes so",
     .severity = CHECK_SHOULD,
     .run = large_frames,
     .argument = 4097},
    {.id = "cuts.large-64k",
     .title = "send a message of 100 kB in mux frames of 64 KiB",
     .expected = "it is answered",
     .why = "Go's mux fails with \"cannot allocate memory\"; no Go runtime writes so",
     .severity = CHECK_SHOULD,
     .run = large_frames,
     .argument = 65536},
};
const struct check_group check_cuts = CHECK_GROUP("cuts", checks);
