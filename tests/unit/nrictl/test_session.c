/* SPDX-License-Identifier: Apache-2.0 */
/* Recorded sessions of real runtimes become messages, in any cut; garbage is told and passed over.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "capture.h"
#include "session.h"
#include "wire/reader.h"

/* What a session told; lines are what messages must be the same in, whatever the cut. */
struct heard {
    char text[65536];
    size_t messages, unmatched, unknown, garbage, ended, unanswered, started;
    uint64_t garbage_bytes, bytes;
    struct session_garbage last;
    char what[128];
};

static void message(void *user, const struct session_message *message)
{
    struct heard *heard = user;
    const size_t used = strlen(heard->text);
    heard->messages++;
    heard->unmatched += message->response && !message->matched;
    heard->unknown += message->type == NULL;
    heard->bytes += message->wire_size;
    (void)snprintf(heard->text + used, sizeof heard->text - used,
                   "%u %u %s %.*s %u %zu %d %u %d @%llu\n", message->connection, message->direction,
                   message->response ? "<" : ">", (int)message->method.length, message->method.text,
                   message->stream, message->size, message->status, message->part, message->more,
                   (unsigned long long)message->offset);
}

static void garbage(void *user, const struct session_garbage *garbage)
{
    struct heard *heard = user;
    heard->garbage++;
    heard->garbage_bytes += garbage->size;
    heard->last = *garbage;
    (void)snprintf(heard->what, sizeof heard->what, "%s", garbage->what);
}

static void ended(void *user, const struct session_connection *connection)
{
    struct heard *heard = user;
    heard->ended++;
    heard->unanswered += connection->unanswered;
}

static void started(void *user, const struct session_connection *recorder)
{
    struct heard *heard = user;
    (void)recorder;
    heard->started++;
}

static const struct session_watch watch = {
    .started = started, .message = message, .garbage = garbage, .ended = ended};

static struct session *begin(struct heard *heard)
{
    struct session *session;
    memset(heard, 0, sizeof *heard);
    assert_int_equal(session_new(&session, &watch, heard), 0);
    return session;
}

static void put(struct session *session, enum recording_kind kind,
                enum recording_direction direction, uint32_t connection, const void *data,
                size_t size)
{
    const struct recording_record record = {.time = 5,
                                            .kind = kind,
                                            .direction = direction,
                                            .connection = connection,
                                            .data = data,
                                            .size = (uint32_t)size};
    assert_int_equal(session_take(session, &record), 0);
}

static void finish(struct session *session)
{
    session_finish(session);
    session_free(session);
}

static enum recording_direction direction_of(const char *name)
{
    return strstr(name, ".p2r.") != NULL ? RECORDING_TO_RUNTIME : RECORDING_TO_PLUGIN;
}

static void feed(struct session *session, const struct capture *capture, struct capture_cut *cut)
{
    const uint8_t *bytes;
    size_t count;
    put(session, RECORDING_OPEN, RECORDING_NO_DIRECTION, 1, "{}", 2);
    while (capture_cut_piece(cut, &bytes, &count))
        put(session, RECORDING_BYTES, direction_of(capture->name), 1, bytes, count);
}

/* Every capture's bytes are messages to the last, and the same ones in every cut. The 8 MiB of one
 * are cut only a few times. */
static void test_captures(void **state)
{
    struct heard *first = malloc(sizeof *first), *heard = malloc(sizeof *heard);
    (void)state;
    assert_true(first != NULL && heard != NULL);
    for (size_t i = 0; capture_names[i] != NULL; i++) {
        struct capture capture;
        struct capture_cut cut;
        size_t turns = 0;
        assert_true(capture_load(&capture, capture_names[i]));
        struct capture_cuts cuts = capture_cuts(&capture);
        while (capture_cuts_next(&cuts, &cut)) {
            if (capture.size > 4096 && turns % 97 != 0 && cut.step == 0) {
                turns++;
                continue;
            }
            struct heard *into = turns++ == 0 ? first : heard;
            struct session *session = begin(into);
            feed(session, &capture, &cut);
            finish(session);
            assert_int_equal(into->garbage, 0);
            assert_string_equal(into->text, first->text);
            if (capture.size > 1 << 20 && turns > 3)
                break;
        }
        assert_true(first->messages > 0);
        capture_free(&capture);
    }
    free(first);
    free(heard);
}

static void put_number(uint8_t *at, uint32_t number)
{
    for (int i = 3; i >= 0; i--, number >>= 8)
        at[i] = (uint8_t)number;
}

/* A frame of one message. */
static size_t frame(uint8_t *at, uint32_t mux, uint32_t stream, uint8_t type, const void *data,
                    uint32_t size)
{
    put_number(at, mux);
    put_number(at + 4, NRI_TTRPC_HEADER + size);
    put_number(at + 8, size);
    put_number(at + 12, stream);
    at[16] = type;
    at[17] = 0;
    if (size > 0)
        memcpy(at + 18, data, size);
    return 18 + size;
}

/* Both directions: each response finds its request, whichever side called. */
static void test_both_directions(void **state)
{
    struct capture out, in;
    struct heard *heard = malloc(sizeof *heard);
    (void)state;
    assert_non_null(heard);
    assert_true(capture_load(&out, "containerd-2.1.9/rich.r2p.bin"));
    assert_true(capture_load(&in, "containerd-2.1.9/rich.p2r.bin"));
    struct session *session = begin(heard);
    /* The plugin registers first; all else in any order that has requests in front. */
    put(session, RECORDING_BYTES, RECORDING_TO_RUNTIME, 3, in.bytes, 84);
    put(session, RECORDING_BYTES, RECORDING_TO_PLUGIN, 3, out.bytes, out.size - 18);
    put(session, RECORDING_BYTES, RECORDING_TO_RUNTIME, 3, in.bytes + 84, in.size - 84);
    put(session, RECORDING_BYTES, RECORDING_TO_PLUGIN, 3, out.bytes + out.size - 18, 18);
    put(session, RECORDING_CLOSED, RECORDING_TO_RUNTIME, 3, NULL, 0);
    finish(session);
    assert_int_equal(heard->garbage, 0);
    assert_int_equal(heard->messages, 20);
    assert_int_equal(heard->unknown + heard->unmatched + heard->unanswered, 0);
    assert_non_null(strstr(heard->text, "1 1 > RegisterPlugin 1 "));
    assert_non_null(strstr(heard->text, "1 2 < UpdateContainers 3 "));
    capture_free(&out);
    capture_free(&in);
    free(heard);
}

#define SYNCHRONIZE "\x0a\x1bnri.pkg.api.v1alpha1.Plugin\x12\x0bSynchronize"

/* The parts of a Synchronize are counted, and the next one begins with the first part again. */
static void test_parts(void **state)
{
    static const char more[] = SYNCHRONIZE "\x1a\x02\x18\x01", last[] = SYNCHRONIZE;
    struct heard *heard = malloc(sizeof *heard);
    uint8_t bytes[512];
    size_t size = 0;
    (void)state;
    assert_non_null(heard);
    struct session *session = begin(heard);
    size += frame(bytes + size, 1, 1, 1, more, sizeof more - 1);
    size += frame(bytes + size, 1, 3, 1, more, sizeof more - 1);
    size += frame(bytes + size, 1, 5, 1, last, sizeof last - 1);
    size += frame(bytes + size, 1, 7, 1, last, sizeof last - 1);
    put(session, RECORDING_BYTES, RECORDING_TO_PLUGIN, 1, bytes, size);
    size = frame(bytes, 1, 3, 2, "\x12\x02\x10\x01", 4);
    put(session, RECORDING_BYTES, RECORDING_TO_RUNTIME, 1, bytes, size);
    finish(session);
    assert_string_equal(heard->text, "1 2 > Synchronize 1 2 0 1 1 @0\n"
                                     "1 2 > Synchronize 3 2 0 2 1 @64\n"
                                     "1 2 > Synchronize 5 0 0 3 0 @128\n"
                                     "1 2 > Synchronize 7 0 0 1 0 @188\n"
                                     "1 1 < Synchronize 3 2 0 2 1 @0\n");
    free(heard);
}

/* Bytes of another protocol before a message, and between two: told with their place. */
static void test_garbage(void **state)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n";
    struct capture in;
    struct heard *whole = malloc(sizeof *whole), *heard = malloc(sizeof *heard);
    (void)state;
    assert_true(whole != NULL && heard != NULL);
    assert_true(capture_load(&in, "containerd-2.1.9/simple.p2r.bin"));
    struct session *session = begin(whole);
    put(session, RECORDING_BYTES, RECORDING_TO_RUNTIME, 1, in.bytes, in.size);
    finish(session);
    for (size_t length = 1; length < sizeof request; length++) {
        for (size_t piece = 1; piece < 64; piece += 31) {
            const size_t size = length + in.size;
            uint8_t *bytes = malloc(size);
            assert_non_null(bytes);
            memcpy(bytes, request + sizeof request - 1 - length, length);
            memcpy(bytes + length, in.bytes, in.size);
            session = begin(heard);
            for (size_t at = 0; at < size; at += piece)
                put(session, RECORDING_BYTES, RECORDING_TO_RUNTIME, 1, bytes + at,
                    size - at < piece ? size - at : piece);
            finish(session);
            assert_int_equal(heard->messages, whole->messages);
            assert_true(heard->garbage > 0);
            assert_int_equal(heard->garbage_bytes, length);
            free(bytes);
        }
    }
    capture_free(&in);
    free(whole);
    free(heard);
}

static void test_lost_bytes(void **state)
{
    struct capture in;
    struct heard *heard = malloc(sizeof *heard);
    uint8_t lost[8];
    (void)state;
    assert_non_null(heard);
    assert_true(capture_load(&in, "containerd-2.1.9/rich.r2p.bin"));
    struct session *session = begin(heard);
    const size_t half = in.size / 2;
    put(session, RECORDING_BYTES, RECORDING_TO_PLUGIN, 1, in.bytes, half);
    recording_put_lost(lost, 100);
    struct recording_record record = {.kind = RECORDING_LOST,
                                      .direction = RECORDING_TO_PLUGIN,
                                      .connection = 1,
                                      .data = lost,
                                      .size = 8,
                                      .lost = 100};
    assert_int_equal(session_take(session, &record), 0);
    const size_t before = heard->messages;
    put(session, RECORDING_BYTES, RECORDING_TO_PLUGIN, 1, in.bytes + half + 100,
        in.size - half - 100);
    finish(session);
    assert_true(before > 0 && heard->messages > before);
    assert_true(heard->garbage > 0);
    /* Places count what was lost. */
    assert_non_null(strstr(heard->text, "@"));
    capture_free(&in);
    free(heard);
}

static void test_odd_messages(void **state)
{
    struct heard *heard = malloc(sizeof *heard);
    uint8_t bytes[256];
    (void)state;
    assert_non_null(heard);
    struct session *session = begin(heard);
    /* Stream data, a request that is none, a frame for another connection. */
    size_t size = frame(bytes, 1, 1, 3, "x", 1);
    size += frame(bytes + size, 1, 3, 1, "\x0a\x7f", 2);
    size += frame(bytes + size, 9, 1, 1, "abc", 3);
    /* A method that nobody knows is a message, and its response too. */
    size += frame(bytes + size, 1, 5, 1, "\x0a\x03x.Y\x12\x04Nope", 11);
    put(session, RECORDING_BYTES, RECORDING_TO_PLUGIN, 1, bytes, size);
    assert_int_equal(heard->garbage, 3);
    assert_int_equal(heard->messages, 1);
    assert_int_equal(heard->unknown, 1);
    size = frame(bytes, 1, 5, 2, "", 0);
    size += frame(bytes + size, 1, 7, 2, "", 0); /* to no request */
    put(session, RECORDING_BYTES, RECORDING_TO_RUNTIME, 1, bytes, size);
    assert_int_equal(heard->messages, 3);
    assert_int_equal(heard->unmatched, 1);
    assert_non_null(strstr(heard->text, "< Nope 5"));
    /* Half a message at the end. */
    size = frame(bytes, 2, 1, 1, "abcdef", 6);
    put(session, RECORDING_BYTES, RECORDING_TO_RUNTIME, 1, bytes, size - 3);
    put(session, RECORDING_END, RECORDING_NO_DIRECTION, 1, NULL, 0);
    assert_int_equal(heard->garbage, 4);
    assert_non_null(strstr(heard->what, "of 6 bytes on stream 1 is cut off after 3"));
    assert_int_equal(heard->ended, 1);
    finish(session);
    assert_int_equal(heard->ended, 1);
    free(heard);
}

/* A message that no peer reads, connections and calls without end: told, and bounded. */
static void test_limits(void **state)
{
    struct heard *heard = malloc(sizeof *heard);
    uint8_t bytes[64], *large = calloc(1, 1 << 20);
    (void)state;
    assert_true(heard != NULL && large != NULL);
    struct session *session = begin(heard);
    put_number(bytes, 1);
    put_number(bytes + 4, NRI_TTRPC_HEADER);
    put_number(bytes + 8, (uint32_t)SESSION_MOST_MESSAGE + 1);
    put_number(bytes + 12, 1);
    bytes[16] = 1;
    bytes[17] = 0;
    put_number(bytes + 18, 1);
    put_number(bytes + 22, (uint32_t)SESSION_MOST_MESSAGE + 1);
    put(session, RECORDING_BYTES, RECORDING_TO_PLUGIN, 1, bytes, 26);
    assert_int_equal(heard->garbage, 1);
    for (size_t i = 0; i < 16; i++)
        put(session, RECORDING_BYTES, RECORDING_TO_PLUGIN, 1, large, 1 << 20);
    put(session, RECORDING_BYTES, RECORDING_TO_PLUGIN, 1, large, 1);
    assert_int_equal(heard->garbage, 1);
    put(session, RECORDING_BYTES, RECORDING_TO_PLUGIN, 1, bytes,
        frame(bytes, 1, 3, 1, "\x12\x01x", 3));
    assert_int_equal(heard->messages, 1);
    /* Calls. */
    heard->text[0] = '\0';
    for (uint32_t i = 0; i < SESSION_MOST_CALLS + 3; i++)
        put(session, RECORDING_BYTES, RECORDING_TO_PLUGIN, 1, bytes,
            frame(bytes, 1, 5 + 2 * i, 1, "\x12\x01x", 3));
    assert_int_equal(heard->garbage, 1 + 4);
    put(session, RECORDING_END, RECORDING_NO_DIRECTION, 1, NULL, 0);
    assert_int_equal(heard->unanswered, SESSION_MOST_CALLS);
    /* Connections. */
    for (uint32_t i = 1; i <= SESSION_MOST_CONNECTIONS + 2; i++)
        put(session, RECORDING_OPEN, RECORDING_NO_DIRECTION, i, NULL, 0);
    assert_int_equal(heard->garbage, 1 + 4 + 1);
    put(session, RECORDING_START, RECORDING_NO_DIRECTION, 0, NULL, 0);
    assert_int_equal(heard->ended, 1 + SESSION_MOST_CONNECTIONS);
    finish(session);
    free(heard);
    free(large);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_captures),   cmocka_unit_test(test_both_directions),
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_garbage),
        cmocka_unit_test(test_lost_bytes), cmocka_unit_test(test_odd_messages),
        cmocka_unit_test(test_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
