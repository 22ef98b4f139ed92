/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's end of a plugin's connection, blocking and with little between the socket and the
 * clock: a request is encoded once and sent again and again with another stream id.
 */
#ifndef NRICTL_BENCH_LINK_H
#define NRICTL_BENCH_LINK_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/buf.h"
#include "rpc/envelope.h"
#include "wire/reader.h"

#define BENCH_REPLY_LIMIT ((size_t)4 << 20)
#define BENCH_WIDE        32 /* requests under way, at most */

struct bench;

/* A request as it goes out. */
struct bench_frame {
    struct nri_buf bytes;
};

/* A message that came. */
struct bench_message {
    uint32_t id, stream;
    uint8_t type;
    const uint8_t *data; /* until the next one comes */
    size_t length;
};

struct bench_link {
    int fd;                   /* -1: none */
    pid_t pid;                /* of the process that connected */
    const char *name;         /* of the plugin, for messages */
    bool over;                /* it has closed the connection */
    uint32_t stream;          /* of the next request */
    uint32_t due[BENCH_WIDE]; /* the streams of requests that are not answered */
    size_t due_count;
    struct nri_wire_reader reader;
    uint8_t input[65536];
    size_t used, have;
    struct nri_buf coming[2]; /* data of a message on each connection id */
};

/* Encodes a call of the service Plugin. */
bool bench_frame_make(struct bench *bench, struct bench_frame *frame, const char *method,
                      const struct nri_buf *payload);

void bench_link_init(struct bench_link *link);
/* Takes the descriptor. */
void bench_link_open(struct bench_link *link, int fd, const char *name);
void bench_link_close(struct bench_link *link);

bool bench_link_send(struct bench *bench, struct bench_link *link, struct bench_frame *frame);
/* The next message, whatever it is. False also when it is not whole by then. */
bool bench_link_next(struct bench *bench, struct bench_link *link, uint64_t deadline,
                     struct bench_message *message);
/* The next reply to any request; UpdateContainers is answered on the way. A refusal is a failure,
 * with the plugin's words; so are a reply that no request waits for, and another call. */
bool bench_link_reply(struct bench *bench, struct bench_link *link, const char *method,
                      struct bench_message *message);
/* Whether a message is that call of the plugin; it is answered then, and *payload is its message.
 */
bool bench_link_take_call(struct bench *bench, struct bench_link *link,
                          const struct bench_message *message, const char *method,
                          struct nri_rpc_bytes *payload);

#endif
