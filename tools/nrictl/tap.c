/* SPDX-License-Identifier: Apache-2.0 */
#include "tap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "memory.h"
#include "session.h"

#define BEGINNING (NRI_MUX_HEADER + NRI_TTRPC_HEADER)

void tap_init(struct tap *tap, size_t *unfinished, const struct tap_watch *watch, void *user)
{
    memset(tap, 0, sizeof *tap);
    nri_wire_reader_init(&tap->reader);
    for (size_t i = 0; i < 2; i++)
        memory_buf(&tap->parts[i].bytes, SESSION_MOST_MESSAGE);
    memory_buf(&tap->search, SIZE_MAX);
    tap->unfinished = unfinished;
    tap->watch = *watch;
    tap->user = user;
}

static void drop(struct tap *tap, struct tap_part *part)
{
    *tap->unfinished -= nri_buf_size(&part->bytes);
    nri_buf_reset(&part->bytes, 65536);
    part->skipped = false;
}

void tap_fini(struct tap *tap)
{
    for (size_t i = 0; i < 2; i++) {
        drop(tap, &tap->parts[i]);
        nri_buf_fini(&tap->parts[i].bytes);
    }
    nri_buf_fini(&tap->search);
}

static void tell(struct tap *tap, uint64_t offset, uint64_t size, const char *what)
{
    tap->watch.garbage(tap->user, tap->time, offset, size, what);
}

/* ---- bytes that are no message ---- */

/* What is unfinished cannot be finished any more. */
static void tell_unfinished(struct tap *tap)
{
    for (size_t i = 0; i < 2; i++) {
        const struct nri_wire_channel *channel = &tap->reader.channel[i];
        struct tap_part *part = &tap->parts[i];
        if (channel->open && !part->skipped) {
            char text[128];
            (void)snprintf(
                text, sizeof text,
                "a message of %" PRIu32 " bytes on stream %" PRIu32 " is cut off after %zu",
                channel->frame.length, channel->frame.stream, nri_buf_size(&part->bytes));
            tell(tap, part->offset, tap->offset - part->offset, text);
        } else if (channel->have > 0) {
            tell(tap, tap->frame, tap->offset - tap->frame, "the header of a message is cut off");
        }
        drop(tap, part);
    }
    if (tap->reader.have > 0)
        tell(tap, tap->offset - tap->reader.have, tap->reader.have,
             "the header of a mux frame is cut off");
}

static void begin_search(struct tap *tap, uint64_t from, const char *why)
{
    tell_unfinished(tap);
    nri_wire_reader_init(&tap->reader);
    tap->searching = true;
    tap->garbage = from;
    tap->why = why;
}

static void end_search(struct tap *tap)
{
    if (tap->offset > tap->garbage)
        tell(tap, tap->garbage, tap->offset - tap->garbage, tap->why);
    tap->searching = false;
}

static uint32_t number(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

/* Whether bytes look like the beginning of a message, as libnri, Go and the runtimes cut them: in
 * one frame, or the header or the first 4096 bytes in the first. */
static bool is_beginning(const uint8_t *at)
{
    const uint32_t mux = number(at), frame = number(at + 4);
    const uint32_t length = number(at + 8), stream = number(at + 12);
    return (mux == NRI_MUX_PLUGIN_ID || mux == NRI_MUX_RUNTIME_ID) &&
           length <= SESSION_MOST_MESSAGE && stream % 2 == 1 &&
           (at[16] == NRI_TTRPC_REQUEST || at[16] == NRI_TTRPC_RESPONSE) && at[17] == 0 &&
           (frame == length + NRI_TTRPC_HEADER || frame == NRI_TTRPC_HEADER ||
            (frame == 4096 && length > 4096 - NRI_TTRPC_HEADER));
}

/* Moves on to what looks like a message. True: bytes behind it are in tap->search. */
static bool search(struct tap *tap)
{
    size_t passed = 0;
    const size_t size = nri_buf_size(&tap->search);
    const uint8_t *at = tap->search.data + tap->search.start;
    while (size - passed >= BEGINNING && !is_beginning(at + passed))
        passed++;
    nri_buf_consume(&tap->search, passed);
    tap->offset += passed;
    return size - passed >= BEGINNING;
}

/* ---- messages ---- */

static void begin_message(struct tap *tap, struct tap_part *part, const struct nri_wire_item *item)
{
    char text[128];
    part->first = tap->time;
    part->offset = tap->frame;
    part->skipped = item->length > SESSION_MOST_MESSAGE;
    if (!part->skipped)
        return;
    (void)snprintf(text, sizeof text, "a message of %" PRIu32 " bytes: at most %zu are read",
                   item->length, SESSION_MOST_MESSAGE);
    tell(tap, part->offset, item->length, text);
}

static int add_data(struct tap *tap, struct tap_part *part, const struct nri_wire_item *item)
{
    if (part->skipped)
        return 0;
    if (item->size > SESSION_MOST_UNFINISHED - *tap->unfinished) {
        tell(tap, part->offset, item->length,
             "a message that has no room beside all that are not complete");
        drop(tap, part);
        part->skipped = true;
        return 0;
    }
    const int code = nri_buf_append(&part->bytes, item->data, item->size);
    if (code == 0)
        *tap->unfinished += item->size;
    return code;
}

static int end_message(struct tap *tap, struct tap_part *part, const struct nri_wire_item *item)
{
    static const uint8_t nothing[1];
    const size_t size = nri_buf_size(&part->bytes);
    const struct tap_message message = {
        .first = part->first,
        .time = tap->time,
        .offset = part->offset,
        .mux = item->id,
        .stream = item->stream,
        .type = item->type,
        .flags = item->flags,
        .bytes = size > 0 ? part->bytes.data + part->bytes.start : nothing,
        .size = size,
    };
    const int code = part->skipped ? 0 : tap->watch.message(tap->user, &message);
    drop(tap, part);
    return code;
}

static int take_item(struct tap *tap, const struct nri_wire_item *item)
{
    struct tap_part *part = &tap->parts[item->id - 1];
    switch (item->kind) {
    case NRI_WIRE_HEADER:
        begin_message(tap, part, item);
        return 0;
    case NRI_WIRE_DATA:
        return add_data(tap, part, item);
    default:
        return end_message(tap, part, item);
    }
}

/* What was read has no known shape: the next message may begin within the header that is wrong. */
static int lose_track(struct tap *tap, bool header, uint64_t from)
{
    uint8_t bytes[NRI_MUX_HEADER];
    memcpy(bytes, tap->reader.header, sizeof bytes);
    tap->reader.have = 0;
    begin_search(tap, header ? from : tap->frame, "bytes that are no message");
    if (!header)
        return 0;
    tap->offset -= sizeof bytes;
    return nri_buf_append(&tap->search, bytes, sizeof bytes);
}

/* Reads up to the end of a mux header or a mux frame, so that each one's place is known. */
static int read_some(struct tap *tap, const uint8_t **bytes, size_t *count)
{
    struct nri_wire_reader *reader = &tap->reader;
    struct nri_wire_item item;
    struct nri_error error; /* what is wrong is of no use: where it is shows */
    const bool header = reader->left == 0;
    const size_t wanted = header ? (size_t)(NRI_MUX_HEADER - reader->have) : reader->left;
    size_t some = wanted < *count ? wanted : *count;
    const bool whole = some == wanted;
    int code = 0;
    *count -= some;
    do {
        const uint64_t from = tap->offset - (header ? reader->have : 0);
        const size_t before = some;
        const int wrong = nri_wire_read(reader, bytes, &some, &item, &error);
        tap->offset += before - some;
        if (wrong != 0) {
            *count += some; /* it is looked through */
            return lose_track(tap, header, from);
        }
        if (item.kind != NRI_WIRE_MORE)
            code = take_item(tap, &item);
    } while (code == 0 && item.kind != NRI_WIRE_MORE);
    if (code != 0 || !header || !whole)
        return code;
    tap->frame = tap->offset - NRI_MUX_HEADER;
    /* Peers skip frames of connections that NRI has not; but nobody sends one, so it is more likely
     * that this is no frame. */
    return reader->id == NRI_MUX_PLUGIN_ID || reader->id == NRI_MUX_RUNTIME_ID
               ? 0
               : lose_track(tap, true, tap->frame);
}

static int read_all(struct tap *tap, const uint8_t *bytes, size_t count)
{
    int code = 0;
    while (code == 0 && count > 0 && !tap->searching)
        code = read_some(tap, &bytes, &count);
    return code == 0 && count > 0 ? nri_buf_append(&tap->search, bytes, count) : code;
}

int tap_take(struct tap *tap, uint64_t time, const uint8_t *bytes, size_t count)
{
    tap->time = time;
    if (!tap->searching) {
        const int code = read_all(tap, bytes, count);
        if (code != 0 || !tap->searching)
            return code;
    } else if (nri_buf_append(&tap->search, bytes, count) != 0) {
        return NRI_E_NOMEM;
    }
    /* What was found may be followed by what is no message again. */
    while (tap->searching && nri_buf_size(&tap->search) >= BEGINNING && search(tap)) {
        struct nri_buf found = tap->search;
        memory_buf(&tap->search, SIZE_MAX);
        end_search(tap);
        const int code = read_all(tap, found.data + found.start, nri_buf_size(&found));
        nri_buf_fini(&found);
        if (code != 0)
            return code;
    }
    return 0;
}

void tap_skip(struct tap *tap, uint64_t time, uint64_t lost)
{
    char text[96];
    tap_finish(tap, time);
    (void)snprintf(text, sizeof text, "%" PRIu64 " bytes are not in the recording", lost);
    tell(tap, tap->offset, 0, text);
    tap->offset += lost;
    begin_search(tap, tap->offset, "the rest of a message whose beginning is not in the recording");
}

void tap_finish(struct tap *tap, uint64_t time)
{
    tap->time = time;
    if (tap->searching) {
        tap->offset += nri_buf_size(&tap->search);
        nri_buf_reset(&tap->search, 0);
        end_search(tap);
    } else {
        tell_unfinished(tap);
    }
    nri_wire_reader_init(&tap->reader);
}
