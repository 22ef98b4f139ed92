/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session: the records of a recording, or of a proxy that is live, made into messages.
 *
 * Records in, calls of the watch out, in the order in which messages are complete. Bytes may come
 * in any cut. What is no message is told with its place, and passed over up to the next thing that
 * looks like one, so that nothing is lost silently. Memory is bounded: a message, all unfinished
 * messages together, connections and calls that wait for their response have limits, and what goes
 * beyond is told as garbage.
 */
#ifndef NRICTL_SESSION_H
#define NRICTL_SESSION_H

#include <protobuf-c/protobuf-c.h>

#include "base/alloc.h"
#include "recording.h"

/* A longer message is passed over: what the largest mux frame holds. */
#define SESSION_MOST_MESSAGE     ((size_t)1 << 24)
#define SESSION_MOST_UNFINISHED  ((size_t)256 << 20) /* of all connections together */
#define SESSION_MOST_CONNECTIONS 1024u               /* that are open at a time */
#define SESSION_MOST_CALLS       1024u               /* of a direction that wait for a response */

struct session_text { /* not NUL-terminated; of another party: print_text() */
    const char *text;
    size_t length;
};

struct session_message {
    uint64_t time;       /* of its last byte: ns since 1970 */
    uint64_t first;      /* of its first byte */
    uint32_t connection; /* from 1, counted over the whole recording */
    enum recording_direction direction;
    uint64_t number; /* of the message in its session, from 1 */
    uint64_t offset; /* of its first byte in what that direction sent */
    uint32_t mux;    /* 1: calls of the runtime, 2: calls of the plugin */
    uint32_t stream;
    bool response;
    /* Of a response from its request; empty when that was not recorded. "Plugin" or "Runtime" for
     * NRI's services, else as it was sent. */
    struct session_text service, method;
    const ProtobufCMethodDescriptor *known; /* NULL: no method of NRI's */
    const ProtobufCMessageDescriptor *type; /* of the payload; NULL when it is not known */
    const uint8_t *payload;                 /* lives during the call */
    size_t size;
    size_t wire_size; /* with the envelope and the headers of ttRPC */
    /* of a request */
    int64_t timeout; /* ns; 0: none */
    size_t metadata_count;
    const uint8_t *envelope; /* the whole ttrpc.Request or ttrpc.Response */
    size_t envelope_size;
    /* of a response */
    int32_t status; /* gRPC's; 0: OK */
    struct session_text status_text;
    bool matched;          /* its request was recorded */
    uint64_t request;      /* that request's number */
    uint64_t request_time; /* and its `time`: the difference is how long the answer took */
    /* of Synchronize, both ways; else 0 */
    uint32_t part; /* from 1, of the parts of one synchronisation */
    bool more;     /* another part follows */
};

struct session_garbage {
    uint64_t time;
    uint32_t connection;
    enum recording_direction direction;
    uint64_t offset, size; /* in what that direction sent; size 0: at that place something is
                              missing */
    const char *what;      /* a line; lives during the call */
};

struct session_connection {
    uint64_t time;
    uint32_t connection;
    struct session_text note; /* the record's JSON; of another party */
    size_t unanswered;        /* of an end: calls that got no response */
};

/* Each may be NULL. `user` is session_new()'s. */
struct session_watch {
    void (*started)(void *user, const struct session_connection *recorder); /* connection 0 */
    void (*opened)(void *user, const struct session_connection *connection);
    void (*message)(void *user, const struct session_message *message);
    void (*closed)(void *user, uint64_t time, uint32_t connection,
                   enum recording_direction direction); /* a half-close */
    void (*ended)(void *user, const struct session_connection *connection);
    void (*garbage)(void *user, const struct session_garbage *garbage);
};

struct session;

/* NRI_E_NOMEM. `watch` is copied. */
int session_new(struct session **out, const struct session_watch *watch, void *user);
void session_free(struct session *session); /* NULL is ignored */
/* 0; NRI_E_NOMEM: the session is of no use any more. */
int session_take(struct session *session, const struct recording_record *record);
/* No record follows: what is unfinished is told as garbage. Once. */
void session_finish(struct session *session);

#endif
