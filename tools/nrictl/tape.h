/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The messages of one connection of a recording, in memory, and the comparison of what a plugin
 * says to them.
 */
#ifndef NRICTL_TAPE_H
#define NRICTL_TAPE_H

#include "nrictl.h"
#include "session.h"

#define TAPE_MOST_BYTES  ((size_t)512 << 20) /* of all messages */
#define TAPE_MOST        256u                /* connections that are read together */
#define TAPE_STATUS_TEXT 256

struct tape_message {
    uint64_t time, number, request; /* as session_message has them */
    enum recording_direction direction;
    uint32_t mux, stream;
    bool response, matched;
    const ProtobufCMessageDescriptor *type;
    char method[64];
    uint8_t *envelope, *payload; /* the payload is in the envelope's memory */
    size_t envelope_size, size;
    int32_t status;
    char status_text[TAPE_STATUS_TEXT];
    uint32_t live; /* of a plugin's request: the stream that the new plugin used for it */
    bool seen;     /* it came again, or was taken */
};

struct tape {
    struct tape_message *messages;
    size_t count, capacity, bytes;
    uint32_t connection;      /* 0: the first one on which a plugin registered */
    char name[128], index[8]; /* that the plugin registered as */
    bool failed;              /* no memory, or too much */
};

/* Adds a message of the connection, and leaves out those of others. */
void tape_add(struct tape *tape, const struct session_message *message);
void tape_free(struct tape *tape);
/* From a file. NRICTL_OK, or a code after a message. */
int tape_read(struct nrictl *ctl, struct tape *tape, const char *path);

/* Those of all connections on which a plugin registered, in the order of their first messages. */
struct tape_list {
    struct tape *tapes;
    size_t count, bytes;
    uint32_t connection; /* only this one; 0: all */
    bool failed;
};
int tape_read_all(struct nrictl *ctl, struct tape_list *list, const char *path);
void tape_list_free(struct tape_list *list);

/* What differs by nature: times of RFC 3339 become "<time>", and the digits that follow "/proc/",
 * or "pid" and at most two other characters, a "#". In place; returns the new length. */
size_t tape_level(char *text, size_t length);

#endif
