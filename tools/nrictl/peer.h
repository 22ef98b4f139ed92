/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's end of a connection, made to break rules: it sends what it is told, cut as it is
 * told, and keeps what comes until somebody asks for it.
 *
 * What comes is looked at as it comes: frames that a Go runtime could not read and replies to no
 * request are faults, whatever the check is about.
 */
#ifndef NRICTL_PEER_H
#define NRICTL_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/buf.h"
#include "proto/nri.pb-c.h"
#include "rpc/envelope.h"
#include "wire/message.h"
#include "wire/reader.h"

#define PEER_TEXT           300
#define PEER_PLUGIN_SERVICE "nri.pkg.api.v1alpha1.Plugin"
#define PEER_MOST_DATA      4194304u

/* A ttRPC message that came. */
struct peer_frame {
    uint32_t id, stream;
    uint8_t type, flags;
    uint8_t *data; /* owned */
    uint32_t length;
};

struct peer_pending {
    uint32_t stream;
    const char *method; /* static text; NULL: a reply may come, or none */
};

/* How a Go runtime reads what came on one connection id (doc/protocol.md). */
struct peer_go {
    uint32_t header; /* bytes of a ttRPC header so far */
    uint8_t bytes[NRI_TTRPC_HEADER];
    uint32_t left; /* of the data */
};

struct peer {
    int fd;    /* -1: closed */
    bool over; /* the plugin has closed */
    struct nri_buf in, out;
    struct nri_wire_reader reader;
    struct peer_frame *frames;
    size_t frame_count, frame_room;
    struct peer_frame coming[2]; /* ids 1 and 2 */
    struct peer_pending *pending;
    size_t pending_count, pending_room;
    uint32_t next_stream; /* of the next request */
    uint32_t last_call;   /* the plugin's stream */
    struct peer_go go[2];
    char fault[PEER_TEXT];  /* "": none */
    struct nri_arena arena; /* of the reply that was decoded last */

    /* How bytes are sent. */
    size_t write; /* bytes a write, each one read before the next; 0: all at once */
    size_t frame; /* bytes a mux frame; 0: as Go runtimes cut */
    bool hold;    /* what is sent waits for peer_flush() */
    /* Of requests. */
    int64_t timeout_ns; /* 0: as patient as the suite */
    bool no_timeout;
    const char *const *metadata; /* pairs; NULL: as containerd sends */
    size_t metadata_count;
    bool unknown; /* with fields that no version of NRI has, in message and envelope */
    /* Of the plugin's calls. */
    unsigned updates; /* UpdateContainers that came, each answered */
};

struct peer_reply {
    int32_t code; /* gRPC; 0: OK */
    char text[PEER_TEXT];
    const ProtobufCMessage *message; /* NULL unless the code is 0 */
    size_t length;                   /* of its payload */
};

struct run;

void peer_init(struct peer *peer);
void peer_fini(struct peer *peer);
void peer_open(struct peer *peer, int fd); /* takes the descriptor; all is as at a beginning */
void peer_close(struct peer *peer);

/* ---- sending: false after run_fail() ---- */

bool peer_bytes(struct run *run, const void *bytes, size_t count);
bool peer_flush(struct run *run);
/* The same for bytes at which the plugin may close: that it has is no failure. */
void peer_try(struct run *run, const void *bytes, size_t count);
/* A ttRPC message in mux frames. */
bool peer_message(struct run *run, uint32_t id, uint32_t stream, uint8_t type, uint8_t flags,
                  const void *data, size_t length);
/* A request of the service Plugin on the next stream, which *stream is set to. `payload` is some
 * message's bytes. */
bool peer_request(struct run *run, const char *method, const struct nri_buf *payload,
                  uint32_t *stream);
/* The same with all that is free. */
bool peer_request_on(struct run *run, uint32_t stream, const char *service, const char *method,
                     const struct nri_buf *payload);
/* An answer to a call of the plugin: code 0 with an empty message, or a refusal. */
bool peer_answer(struct run *run, uint32_t stream, int code, const char *text);
/* A reply on that stream would be none to wonder at. */
bool peer_expect(struct run *run, uint32_t stream);
/* The runtime has written all that it will. */
void peer_half_close(struct peer *peer);

/* ---- what comes ---- */

/* Waits for the reply on a stream; `method` says how to decode it (NULL: not at all). */
bool peer_reply(struct run *run, uint32_t stream, const char *method, struct peer_reply *reply);
bool peer_has_reply(const struct peer *peer, uint32_t stream); /* it has come */
/* Waits for the plugin's call; *stream is its. The payload is decoded into the arena. */
bool peer_call(struct run *run, const char *method, const ProtobufCMessage **message,
               uint32_t *stream);
/* Waits until the plugin has closed; what comes until then is looked at. */
bool peer_end(struct run *run);
/* Waits until one of them comes; *index says which. False and no failure when it closed. */
bool peer_reply_or_end(struct run *run, uint32_t stream, bool *ended);
/* Reads what is there, without waiting. */
void peer_look(struct run *run);
/* Waits until the plugin has read all that was sent. */
bool peer_drained(struct run *run);
const ProtobufCMethodDescriptor *peer_method(const char *method);

#endif
