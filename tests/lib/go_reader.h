/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A strict model of how a Go peer reads: every byte that libnri sends in any test must get through
 * it.
 *
 * Three layers, as measured at real peers. The mux cuts the stream into frames and queues them for
 * their connection id, at most 256. A read of a connection hands out one whole frame, and fails
 * when the buffer for it is shorter. Above is a buffered reader of 4096 bytes: a read of 4096 bytes
 * or more with nothing buffered goes straight to the connection, any other fills the buffer with
 * one read. On top ttRPC reads 10 bytes of header, then all of the data.
 *
 * Strict is that the reader is as late as it may be: it looks at the queue when the end of a
 * message has arrived, or not at all while it is stalled.
 */
#ifndef NRI_TESTS_GO_READER_H
#define NRI_TESTS_GO_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GO_READER_QUEUE  256
#define GO_READER_BUFFER 4096
#define GO_READER_HEADER 10
#define GO_READER_DATA   4194304u /* the most data of a message */

struct go_message {
    uint32_t id; /* of the connection: 1 or 2 */
    uint32_t stream;
    uint8_t type, flags;
    uint8_t *data; /* NULL when there is none; lives until go_reader_forget() */
    uint32_t length;
};

struct go_frame {
    uint8_t *bytes;
    size_t size;
};

struct go_channel {
    uint32_t id;
    /* The queue of the mux: a ring. */
    struct go_frame queue[GO_READER_QUEUE];
    size_t first, unread;
    /* The buffered reader. */
    uint8_t buffer[GO_READER_BUFFER];
    size_t next, filled;
    /* ttRPC's reader. */
    uint8_t header[GO_READER_HEADER];
    size_t header_have;
    struct go_message message; /* its data is being read */
    size_t data_have;
    /* Where the messages end in the bytes that arrived, read or not. */
    uint8_t arrived_header[GO_READER_HEADER];
    size_t arrived_have;
    uint64_t arrived_left;
};

struct go_reader {
    struct go_channel channels[2]; /* ids 1 and 2 */
    uint8_t header[8];             /* of a mux frame */
    size_t header_have;
    struct go_frame frame; /* is arriving */
    size_t frame_have;
    uint32_t frame_id;
    bool stalled;
    char error[256]; /* "" for none */
    struct go_message *messages;
    size_t message_count, message_room;
    /* Counters. */
    size_t frames;         /* that arrived whole */
    size_t messages_of[3]; /* by connection id */
    size_t dropped;        /* frames for other ids */
    size_t
        shared; /* frames with bytes of two messages: Go reads small ones, libnri never sends any */
    size_t most_unread;
};

void go_reader_init(struct go_reader *reader);
void go_reader_fini(struct go_reader *reader);

/* Takes bytes in any cut. 0, or -1 when a Go peer would have dropped the connection; it stays so.
 */
int go_reader_feed(struct go_reader *reader, const void *bytes, size_t count);
/* "" when there is none. */
const char *go_reader_error(const struct go_reader *reader);

/* While stalled, nothing is read from the queues; going on reads what is there. 0 or -1 as above.
 */
int go_reader_stall(struct go_reader *reader, bool stalled);

/* The messages that were read, in order; false when there is no such. */
bool go_reader_message(const struct go_reader *reader, size_t index, struct go_message *message);
void go_reader_forget(struct go_reader *reader); /* all messages read so far; not the counters */
/* Whether the bytes end between two messages, all of which were read. */
bool go_reader_idle(const struct go_reader *reader);

#endif
