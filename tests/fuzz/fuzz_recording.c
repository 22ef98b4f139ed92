/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings and what they hold: any bytes, in any cut, give the same records and damages, each
 * byte of the file is one or the other, and the session that stands on them tells the same. The
 * first byte: whether the input is a file, or the bytes of a connection; and the size of the
 * pieces.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recording.h"
#include "session.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

/* A sum of all that was told. */
struct sum {
    uint64_t hash, records, damaged, bytes, messages, garbage, ended;
};

static void mix(struct sum *sum, const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < count; i++)
        sum->hash = (sum->hash ^ at[i]) * UINT64_C(0x100000001b3);
}

static void mix_number(struct sum *sum, uint64_t number)
{
    mix(sum, &number, sizeof number);
}

/* ---- the session ---- */

static void message(void *user, const struct session_message *message)
{
    struct sum *sum = user;
    sum->messages++;
    mix_number(sum, message->offset);
    mix_number(sum, message->stream);
    mix_number(sum, message->part);
    mix(sum, message->method.text, message->method.length);
    mix(sum, message->payload, message->size);
    mix(sum, message->status_text.text, message->status_text.length);
    CHECK(message->number == sum->messages);
    CHECK(!message->matched || message->request < message->number);
    CHECK(message->size <= message->envelope_size);
}

static void garbage(void *user, const struct session_garbage *garbage)
{
    struct sum *sum = user;
    sum->garbage++;
    mix_number(sum, garbage->offset);
    mix_number(sum, garbage->size);
    mix(sum, garbage->what, strlen(garbage->what));
}

static void ended(void *user, const struct session_connection *connection)
{
    struct sum *sum = user;
    sum->ended++;
    CHECK(connection->unanswered <= 2 * SESSION_MOST_CALLS);
}

static const struct session_watch watch = {.message = message, .garbage = garbage, .ended = ended};

static struct sum read_connection(const uint8_t *data, size_t size, size_t piece)
{
    struct sum sum = {0};
    struct session *session;
    CHECK(session_new(&session, &watch, &sum) == 0);
    for (size_t at = 0; at < size; at += piece) {
        const struct recording_record record = {
            .kind = RECORDING_BYTES,
            .direction = RECORDING_TO_PLUGIN,
            .connection = 1,
            .data = data + at,
            .size = (uint32_t)(size - at < piece ? size - at : piece)};
        CHECK(session_take(session, &record) == 0);
    }
    session_finish(session);
    session_free(session);
    CHECK(sum.ended == (size > 0));
    return sum;
}

/* ---- the file ---- */

static int take(struct recording_reader *reader, struct session *session, struct sum *sum)
{
    struct recording_record record;
    struct recording_damage damage;
    struct nri_error error;
    enum recording_read got;
    int code;
    while ((code = recording_next(reader, &got, &record, &damage, &error)) == 0 &&
           got != RECORDING_MORE) {
        if (got == RECORDING_DAMAGED) {
            CHECK(damage.size > 0 && damage.what != NULL);
            sum->damaged += damage.size;
            mix_number(sum, damage.offset);
            continue;
        }
        sum->records++;
        sum->bytes += RECORDING_RECORD_HEADER + record.size;
        CHECK(record.size <= RECORDING_MOST_DATA);
        mix_number(sum, record.offset);
        CHECK(session_take(session, &record) == 0);
    }
    return code;
}

static struct sum read_file(const uint8_t *data, size_t size, size_t piece)
{
    struct recording_reader reader;
    struct sum sum = {0};
    struct session *session;
    int code = 0;
    CHECK(session_new(&session, &watch, &sum) == 0);
    recording_reader_init(&reader);
    for (size_t at = 0; at < size && code == 0; at += piece) {
        CHECK(recording_feed(&reader, data + at, size - at < piece ? size - at : piece) == 0);
        code = take(&reader, session, &sum);
    }
    if (code == 0) {
        recording_finish(&reader);
        code = take(&reader, session, &sum);
        CHECK(code != 0 || RECORDING_HEADER + sum.bytes + sum.damaged == size);
    }
    recording_reader_fini(&reader);
    session_finish(session);
    session_free(session);
    return sum;
}

static void check_same(const struct sum *a, const struct sum *b)
{
    CHECK(a->hash == b->hash && a->records == b->records && a->damaged == b->damaged);
    CHECK(a->messages == b->messages && a->garbage == b->garbage && a->ended == b->ended);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0 || size > (1 << 20))
        return 0;
    const size_t piece = 1 + data[0] / 2;
    struct sum (*const read)(const uint8_t *, size_t, size_t) =
        data[0] % 2 == 0 ? read_file : read_connection;
    const struct sum whole = read(data + 1, size - 1, size);
    const struct sum pieces = read(data + 1, size - 1, piece);
    check_same(&whole, &pieces);
    return 0;
}
