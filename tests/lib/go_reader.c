/* SPDX-License-Identifier: Apache-2.0 */
#include "go_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MUX_PAYLOAD (GO_READER_DATA + GO_READER_HEADER)

static uint32_t big_endian(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The first error stays. */
__attribute__((format(printf, 2, 3))) static int fail(struct go_reader *reader, const char *format,
                                                      ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (reader->error[0] == '\0') {
        vsnprintf(reader->error, sizeof reader->error, format, arguments);
    }
    va_end(arguments);
    return -1;
}

/* ---- A connection of the mux: one read, one frame ---- */

static int queue_frame(struct go_reader *reader, struct go_channel *channel, struct go_frame frame)
{
    if (channel->unread == GO_READER_QUEUE) {
        free(frame.bytes);
        return fail(reader, "connection %u: failed to queue payload: %d frames are unread",
                    channel->id, GO_READER_QUEUE);
    }
    channel->queue[(channel->first + channel->unread++) % GO_READER_QUEUE] = frame;
    if (channel->unread > reader->most_unread) {
        reader->most_unread = channel->unread;
    }
    return 0;
}

/* Returns the bytes read, or -1. There must be an unread frame. */
static long read_frame(struct go_reader *reader, struct go_channel *channel, uint8_t *to,
                       size_t room)
{
    const struct go_frame frame = channel->queue[channel->first];
    channel->first = (channel->first + 1) % GO_READER_QUEUE;
    channel->unread--;
    if (frame.size > room) {
        free(frame.bytes);
        return fail(
            reader,
            "connection %u: cannot allocate memory: a frame of %zu bytes for a buffer of %zu",
            channel->id, frame.size, room);
    }
    if (frame.size > 0) {
        memcpy(to, frame.bytes, frame.size);
    }
    free(frame.bytes);
    return (long)frame.size;
}

/* ---- The buffered reader ---- */

/* Reads up to `want` > 0 bytes: what is buffered, else one frame. 0 also when there is no frame:
 * *blocked. */
static long read_some(struct go_reader *reader, struct go_channel *channel, uint8_t *to,
                      size_t want, bool *blocked)
{
    if (channel->next == channel->filled) {
        if (channel->unread == 0) {
            *blocked = true;
            return 0;
        }
        if (want >= GO_READER_BUFFER) {
            return read_frame(reader, channel, to, want);
        }
        const long filled = read_frame(reader, channel, channel->buffer, GO_READER_BUFFER);
        if (filled < 0) {
            return -1;
        }
        channel->next = 0;
        channel->filled = (size_t)filled;
    }
    const size_t n = smaller(want, channel->filled - channel->next);
    memcpy(to, channel->buffer + channel->next, n);
    channel->next += n;
    return (long)n;
}

/* ---- ttRPC ---- */

static int keep_message(struct go_reader *reader, const struct go_message *message)
{
    if (reader->message_count == reader->message_room) {
        const size_t room = reader->message_room == 0 ? 64 : 2 * reader->message_room;
        struct go_message *messages = realloc(reader->messages, room * sizeof *messages);
        if (messages == NULL) {
            return fail(reader, "the test has no memory");
        }
        reader->messages = messages;
        reader->message_room = room;
    }
    reader->messages[reader->message_count++] = *message;
    reader->messages_of[message->id]++;
    return 0;
}

static int begin_message(struct go_reader *reader, struct go_channel *channel)
{
    struct go_message *message = &channel->message;
    *message = (struct go_message){
        .id = channel->id,
        .stream = big_endian(channel->header + 4),
        .type = channel->header[8],
        .flags = channel->header[9],
        .length = big_endian(channel->header),
    };
    channel->data_have = 0;
    if (message->length > GO_READER_DATA) {
        return fail(reader, "connection %u: message length %u exceeds %u", channel->id,
                    message->length, GO_READER_DATA);
    }
    if (message->length > 0) {
        message->data = malloc(message->length);
        if (message->data == NULL) {
            return fail(reader, "the test has no memory");
        }
    }
    return 0;
}

/* Reads messages until the queue is empty. */
static int read_messages(struct go_reader *reader, struct go_channel *channel)
{
    bool blocked = false;
    while (!blocked) {
        const bool in_header = channel->header_have < GO_READER_HEADER;
        uint8_t *to = channel->header + channel->header_have;
        size_t want = GO_READER_HEADER - channel->header_have;
        if (!in_header) {
            want = channel->message.length - channel->data_have;
            if (want == 0) {
                const struct go_message message = channel->message;
                channel->message.data = NULL;
                channel->header_have = 0;
                if (keep_message(reader, &message) != 0) {
                    return -1;
                }
                continue;
            }
            to = channel->message.data + channel->data_have;
        }
        const long n = read_some(reader, channel, to, want, &blocked);
        if (n < 0) {
            return -1;
        }
        if (!in_header) {
            channel->data_have += (size_t)n;
            continue;
        }
        channel->header_have += (size_t)n;
        if (channel->header_have == GO_READER_HEADER && begin_message(reader, channel) != 0) {
            return -1;
        }
    }
    return 0;
}

/* Follows the messages in the bytes that arrive; whether one ended. */
static bool follow(struct go_reader *reader, struct go_channel *channel,
                   const struct go_frame *frame)
{
    size_t at = 0, ends = 0;
    while (at < frame->size) {
        if (channel->arrived_have < GO_READER_HEADER) {
            const size_t n = smaller(GO_READER_HEADER - channel->arrived_have, frame->size - at);
            memcpy(channel->arrived_header + channel->arrived_have, frame->bytes + at, n);
            channel->arrived_have += n;
            at += n;
            if (channel->arrived_have < GO_READER_HEADER) {
                break;
            }
            channel->arrived_left = big_endian(channel->arrived_header);
            if (channel->arrived_left > GO_READER_DATA) {
                return true; /* to be refused as soon as it is read */
            }
        } else {
            const size_t n = smaller((size_t)channel->arrived_left, frame->size - at);
            channel->arrived_left -= n;
            at += n;
        }
        if (channel->arrived_left == 0) {
            channel->arrived_have = 0;
            reader->shared += at < frame->size && ends == 0;
            ends++;
        }
    }
    return ends > 0;
}

/* ---- The mux ---- */

static int frame_arrived(struct go_reader *reader)
{
    const struct go_frame frame = reader->frame;
    reader->frame = (struct go_frame){0};
    reader->header_have = 0;
    reader->frames++;
    if (reader->frame_id != 1 && reader->frame_id != 2) {
        reader->dropped++;
        free(frame.bytes);
        return 0;
    }
    struct go_channel *channel = &reader->channels[reader->frame_id - 1];
    const bool ended = follow(reader, channel, &frame);
    if (queue_frame(reader, channel, frame) != 0) {
        return -1;
    }
    return ended && !reader->stalled ? read_messages(reader, channel) : 0;
}

static int begin_frame(struct go_reader *reader)
{
    reader->frame_id = big_endian(reader->header);
    reader->frame.size = big_endian(reader->header + 4);
    reader->frame_have = 0;
    if (reader->frame.size > MUX_PAYLOAD) {
        return fail(reader, "connection %u: a mux frame of %zu bytes exceeds %u", reader->frame_id,
                    reader->frame.size, MUX_PAYLOAD);
    }
    reader->frame.bytes = malloc(reader->frame.size + 1);
    return reader->frame.bytes != NULL ? 0 : fail(reader, "the test has no memory");
}

int go_reader_feed(struct go_reader *reader, const void *bytes, size_t count)
{
    const uint8_t *at = bytes, *const end = at + count;
    while (reader->error[0] == '\0') {
        if (reader->header_have < sizeof reader->header) {
            if (at == end) {
                return 0;
            }
            reader->header[reader->header_have++] = *at++;
            if (reader->header_have == sizeof reader->header) {
                begin_frame(reader);
            }
            continue;
        }
        const size_t n = smaller(reader->frame.size - reader->frame_have, (size_t)(end - at));
        if (n > 0) {
            memcpy(reader->frame.bytes + reader->frame_have, at, n);
        }
        reader->frame_have += n;
        at += n;
        if (reader->frame_have < reader->frame.size) {
            return 0;
        }
        frame_arrived(reader);
    }
    return -1;
}

int go_reader_stall(struct go_reader *reader, bool stalled)
{
    reader->stalled = stalled;
    for (size_t i = 0; i < 2 && !stalled && reader->error[0] == '\0'; i++) {
        read_messages(reader, &reader->channels[i]);
    }
    return reader->error[0] == '\0' ? 0 : -1;
}

/* ---- Housekeeping ---- */

void go_reader_init(struct go_reader *reader)
{
    memset(reader, 0, sizeof *reader);
    reader->channels[0].id = 1;
    reader->channels[1].id = 2;
}

void go_reader_forget(struct go_reader *reader)
{
    for (size_t i = 0; i < reader->message_count; i++) {
        free(reader->messages[i].data);
    }
    reader->message_count = 0;
}

void go_reader_fini(struct go_reader *reader)
{
    go_reader_forget(reader);
    free(reader->messages);
    free(reader->frame.bytes);
    for (size_t i = 0; i < 2; i++) {
        struct go_channel *channel = &reader->channels[i];
        for (; channel->unread > 0; channel->unread--) {
            free(channel->queue[channel->first].bytes);
            channel->first = (channel->first + 1) % GO_READER_QUEUE;
        }
        free(channel->message.data);
    }
    go_reader_init(reader);
}

const char *go_reader_error(const struct go_reader *reader)
{
    return reader->error;
}

bool go_reader_message(const struct go_reader *reader, size_t index, struct go_message *message)
{
    if (index >= reader->message_count) {
        return false;
    }
    *message = reader->messages[index];
    return true;
}

bool go_reader_idle(const struct go_reader *reader)
{
    bool idle = reader->error[0] == '\0' && reader->header_have == 0;
    for (size_t i = 0; i < 2; i++) {
        const struct go_channel *channel = &reader->channels[i];
        idle = idle && channel->unread == 0 && channel->next == channel->filled &&
               channel->header_have == 0 && channel->arrived_have == 0;
    }
    return idle;
}
