/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile.*: bytes that no runtime sends. The plugin may close the connection, and end; it must not
 * crash, and must not hang: it closes when the other side has closed.
 */
#include <signal.h>
#include <string.h>

#include "check_group.h"
#include "check_step.h"
#include "memory.h"
#include "wire/varint.h"

/* The same in each run. */
static uint8_t next_byte(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint8_t)(*state >> 56);
}

/* Another connection, of a new process: one that comes back takes longer each time. The old one is
 * asked to end, so that it is seen how. */
static bool again(struct run *run)
{
    char end[100];
    const uint64_t deadline = run_deadline(run);
    enum run_wait why = RUN_ENDED;
    if (run->subject.pid == 0)
        return step_start(run);
    peer_close(&run->peer);
    subject_signal(&run->subject, SIGTERM);
    while (!run->subject.ended && (why == RUN_ENDED || why == RUN_READY))
        why = run_wait(run, -1, 0, deadline);
    if (why == RUN_STOPPED)
        return run_fail(run, "interrupted");
    if (run->subject.ended && subject_crashed(&run->subject)) {
        subject_tell_end(&run->subject, end, sizeof end);
        return run_fail(run, "the plugin %s", end);
    }
    subject_kill(&run->subject);
    /* Connections of the old one that nobody took. */
    subject_unlisten(&run->subject);
    return subject_listen(run) && step_start(run);
}

/* What a plugin says to bytes that are no protocol is nobody's fault. */
static bool rest(struct run *run)
{
    peer_half_close(&run->peer);
    const bool good = run->peer.over || peer_end(run);
    run->peer.fault[0] = '\0';
    return good;
}

/* A write that fails because the plugin has closed is what it may do. */
static bool send_bytes(struct run *run, const void *bytes, size_t count)
{
    peer_try(run, bytes, count);
    return run->result == CHECK_PASS && rest(run);
}

static void random_bytes(struct run *run, int rounds)
{
    enum { MOST = 4096 };
    uint8_t bytes[MOST];
    uint64_t state = 20260830;
    for (int round = 0; round < rounds; round++) {
        const size_t count = 1 + (size_t)next_byte(&state) * 16;
        for (size_t i = 0; i < count; i++)
            bytes[i] = next_byte(&state);
        if (!again(run) || !send_bytes(run, bytes, count))
            return;
    }
}

/* Headers with lengths that are wrong. */
static void lengths(struct run *run, int argument)
{
    static const struct {
        uint8_t bytes[18];
        size_t count;
    } headers[] = {
        {{0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff}, 8},
        {{0, 0, 0, 1, 0x7f, 0xff, 0xff, 0xff}, 8},
        {{0, 0, 0, 2, 0x80, 0, 0, 0}, 8},
        {{0, 0, 0, 1, 0, 0, 0, 10, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 1, 0}, 18},
        {{0, 0, 0, 1, 0, 0, 0, 10, 0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 1, 1, 0}, 18},
        {{0, 0, 0, 1, 0, 0, 0, 10, 0, 0x40, 0, 1, 0, 0, 0, 1, 1, 0}, 18},
        {{0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 1, 0, 0, 0, 0, 1, 1, 0}, 18},
        {{0, 0, 0, 2, 0, 0, 0, 10, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 1, 2, 0}, 18},
        {{0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 1}, 11},
    };
    (void)argument;
    for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
        if (!again(run) || !send_bytes(run, headers[i].bytes, headers[i].count))
            return;
    }
}

/* ---- messages that are none ---- */

/* The bytes as a payload of CreateContainer and StateChange: refused or not, the connection may go
 * too, the process may not. */
static bool payload_case(struct run *run, const char *method, const struct nri_buf *payload)
{
    uint32_t stream = 0;
    bool ended = false;
    if (!peer_request(run, method, payload, &stream) || !peer_reply_or_end(run, stream, &ended))
        return false;
    return !ended || (again(run) && step_handshake(run));
}

static bool payload_bytes(struct run *run, const void *bytes, size_t count)
{
    static const char *const methods[] = {"CreateContainer", "StateChange", "Synchronize",
                                          "UpdateContainer"};
    struct nri_buf payload;
    memory_buf(&payload, SIZE_MAX);
    bool good = nri_buf_append(&payload, bytes, count) == 0;
    for (size_t i = 0; good && i < sizeof methods / sizeof *methods; i++)
        good = payload_case(run, methods[i], &payload);
    nri_buf_fini(&payload);
    return good;
}

static void protobuf(struct run *run, int argument)
{
    static const struct {
        uint8_t bytes[12];
        size_t count;
    } cases[] = {
        {{0x0a, 0x7f, 0x61}, 3},                         /* a length past the end */
        {{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}, 6},       /* of 4 GiB */
        {{0x0b, 0x0c}, 2},                               /* a group */
        {{0x02, 0x00}, 2},                               /* field number 0 */
        {{0x08, 0x05}, 2},                               /* a number for a message */
        {{0x0a, 0x02, 0x0a, 0x80}, 4},                   /* a text that is cut */
        {{0x0a, 0x04, 0x0a, 0x02, 0xc3, 0x28}, 6},       /* a text that is not UTF-8 */
        {{0x0a, 0x05, 0x0a, 0x03, 'a', 0x00, 'b'}, 7},   /* a text with a NUL */
        {{0x12, 0x03, 0x3a, 0x01, 0x00, 0x20, 0x80}, 7}, /* a number that does not end */
        {{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, 12},
    };
    (void)argument;
    if (!step_join(run))
        return;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!payload_bytes(run, cases[i].bytes, cases[i].count))
            return;
    }
    (void)step_alive(run);
}

static void nesting(struct run *run, int depth)
{
    enum { GROUP = 0x0b, LENGTH = 0x12, MOST_BYTES = 400000 };
    struct nri_buf bytes;
    if (!step_join(run))
        return;
    memory_buf(&bytes, SIZE_MAX);
    bool good = true;
    /* Groups that begin and never end. */
    for (int i = 0; good && i < depth; i++)
        good = nri_buf_append(&bytes, &(const uint8_t){GROUP}, 1) == 0;
    good = good && payload_bytes(run, bytes.data + bytes.start, nri_buf_size(&bytes));
    nri_buf_reset(&bytes, SIZE_MAX);
    /* Messages in messages, from the inside out: the lengths are made from the front, so each one
     * says that all of what follows is its. */
    for (size_t left = MOST_BYTES; good && left > 8;) {
        uint8_t head[1 + NRI_VARINT_MAX] = {LENGTH};
        const size_t size = 1 + nri_varint_size(left);
        left -= size;
        good = nri_buf_append(&bytes, head, (size_t)(nri_varint_write(head + 1, left) - head)) == 0;
    }
    good = good && payload_bytes(run, bytes.data + bytes.start, nri_buf_size(&bytes));
    nri_buf_fini(&bytes);
    if (good)
        (void)step_alive(run);
}

/* 4 MiB of empty messages, which become a hundred times as much where each one is allocated. */
static void bomb(struct run *run, int argument)
{
    enum { MOUNTS = 0x4a, CONTAINER = 2, LENGTH = PEER_MOST_DATA - 4096 };
    const uint8_t empty[2] = {MOUNTS, 0};
    struct nri_buf inner, payload;
    (void)argument;
    if (!step_join(run))
        return;
    memory_buf(&inner, SIZE_MAX);
    memory_buf(&payload, SIZE_MAX);
    bool good = true;
    for (size_t i = 0; good && i < LENGTH / sizeof empty; i++)
        good = nri_buf_append(&inner, empty, sizeof empty) == 0;
    good = good && message_inner(&payload, CONTAINER, &inner) &&
           payload_case(run, "CreateContainer", &payload);
    nri_buf_fini(&inner);
    nri_buf_fini(&payload);
    if (good)
        (void)step_alive(run);
}

/* An event of which single bytes are changed. */
static void mutated(struct run *run, int rounds)
{
    enum { CREATE = 4, CHANGES = 4 };
    uint64_t state = 4711;
    if (!step_join(run))
        return;
    for (int round = 0; round < rounds; round++) {
        struct nri_buf payload;
        memory_buf(&payload, SIZE_MAX);
        bool good = message_event(&payload, run->release, CREATE, ++run->serial);
        const size_t size = nri_buf_size(&payload);
        for (int i = 0; good && i < 1 + round % CHANGES; i++) {
            const size_t at = (size_t)next_byte(&state) << 8 | next_byte(&state);
            payload.data[payload.start + at % size] = next_byte(&state);
        }
        good = good && payload_case(run, "CreateContainer", &payload);
        nri_buf_fini(&payload);
        if (!good)
            return;
    }
    (void)step_alive(run);
}

/* ---- more than it can take ---- */

/* More requests than anybody queues. */
static void flood(struct run *run, int count)
{
    struct peer *peer = &run->peer;
    if (!step_join(run))
        return;
    const unsigned event = step_any_event(run);
    const uint32_t first = peer->next_stream;
    peer->hold = true;
    for (int i = 0; i < count; i++) {
        uint32_t stream;
        if (!step_send_event(run, event, &stream))
            return;
    }
    peer->hold = false;
    peer_try(run, "", 0);
    for (uint32_t stream = first; run->result == CHECK_PASS && stream < peer->next_stream;
         stream += 2) {
        bool ended;
        if (!peer_reply_or_end(run, stream, &ended))
            return;
        if (ended)
            break;
    }
    if (run->result == CHECK_PASS && again(run) && step_handshake(run))
        (void)step_alive(run);
}

#define SURVIVES "it may refuse, close and end; it does not crash, and does not hang"

static const struct check checks[] = {
    {.id = "hostile.random",
     .title = "10 connections with random bytes",
     .expected = SURVIVES,
     .why = "whoever may open the socket can end all plugins otherwise",
     .run = random_bytes,
     .argument = 10},
    {.id = "hostile.lengths",
     .title = "frames with lengths up to 4 GiB, and with more than follows",
     .expected = SURVIVES,
     .why = "a length is no reason to allocate",
     .run = lengths},
    {.id = "hostile.protobuf",
     .title = "payloads that are no protobuf, and texts that are none",
     .expected = SURVIVES,
     .why = "protobuf-c #375, #499",
     .run = protobuf},
    {.id = "hostile.nesting",
     .title = "groups in groups and messages in messages, 100 000 deep",
     .expected = SURVIVES,
     .why = "a decoder that recurses ends its stack",
     .run = nesting,
     .argument = 100000},
    {.id = "hostile.bomb",
     .title = "2 million empty messages in 4 MiB",
     .expected = SURVIVES,
     .why = "they take a hundred times as much where each one is allocated",
     .run = bomb},
    {.id = "hostile.mutated",
     .title = "300 events of which bytes were changed",
     .expected = SURVIVES,
     .why = "what a broken runtime or a broken memory sends",
     .run = mutated,
     .argument = 300},
    {.id = "hostile.flood",
     .title = "3000 requests at once",
     .expected = SURVIVES,
     .why = "a plugin's queue has an end, its memory, too",
     .severity = CHECK_SHOULD,
     .run = flood,
     .argument = 3000},
};
const struct check_group check_hostile = CHECK_GROUP("hostile", checks);
