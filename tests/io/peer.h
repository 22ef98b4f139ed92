/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime's end of a socket, by hand and blocking: frames are put together here and taken apart
 * by the model of the strict Go reader, with no part of libnri but the generated messages, so that
 * both cannot be wrong in the same way. Every byte that comes passes that reader, also those that
 * nobody waited for; what it refuses is a failure, printed, and counted in peer_refusals(). It
 * asserts nothing and may be used on any thread; a wait of more than PEER_PATIENCE seconds is a
 * failure.
 */
#ifndef NRI_TESTS_IO_PEER_H
#define NRI_TESTS_IO_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "go_reader.h"
#include "proto/nri.pb-c.h"

#define PEER_PATIENCE 120
#define PEER_PLUGIN   1u /* mux ids: the service of the plugin, and of the runtime */
#define PEER_RUNTIME  2u
#define PEER_REQUEST  1
#define PEER_RESPONSE 2

typedef Nri__Pkg__Api__V1alpha1__PodSandbox peer_pod;
typedef Nri__Pkg__Api__V1alpha1__Container peer_container;

struct peer_bytes { /* a growing buffer; all zero is empty */
    uint8_t *data;
    size_t size, room;
};
void peer_bytes_add(struct peer_bytes *bytes, const void *data, size_t size);
void peer_bytes_free(struct peer_bytes *bytes);
/* A ttRPC message as a Go peer sends it: one frame up to 4096 bytes, else one of 4096 and one of
 * the rest. */
void peer_bytes_message(struct peer_bytes *bytes, uint32_t id, uint32_t stream, uint8_t type,
                        const uint8_t *data, size_t size);
/* A call of the service Plugin; with a minute of time, or so many ns. */
void peer_bytes_call(struct peer_bytes *bytes, uint32_t stream, const char *method,
                     const ProtobufCMessage *message);
void peer_bytes_call_within(struct peer_bytes *bytes, uint32_t stream, const char *method,
                            const ProtobufCMessage *message, int64_t timeout);
/* An answer of the service Runtime; `message` NULL is an empty one. */
void peer_bytes_answer(struct peer_bytes *bytes, uint32_t stream, const ProtobufCMessage *message);
void peer_bytes_refuse(struct peer_bytes *bytes, uint32_t stream, int code, const char *text);

struct peer {
    int fd;
    uint32_t next_stream;
    struct go_reader reader;
    size_t taken;              /* messages of the reader */
    char name[128], index[16]; /* what RegisterPlugin told */
    uint32_t register_stream;
    int32_t events; /* what Configure's answer told */
};

struct peer_message { /* data: free() */
    uint32_t id, stream;
    uint8_t type;
    uint8_t *data;
    size_t size;
    /* of a request */
    char method[64];
    /* of a response */
    int grpc;
    char text[1024];
    /* of both: NRI's message */
    uint8_t *payload; /* free() */
    size_t payload_size;
};
void peer_message_free(struct peer_message *message);

/* Takes a connected descriptor. */
void peer_init(struct peer *peer, int fd);
void peer_close(struct peer *peer);
bool peer_write(struct peer *peer, const void *data, size_t size);
bool peer_send(struct peer *peer, struct peer_bytes *bytes); /* and frees them */
/* 1: a message; 0: EOF or a reset; -1: a failure. */
int peer_receive(struct peer *peer, struct peer_message *message);
/* Waits for EOF and drops what comes before. */
bool peer_wait_end(struct peer *peer);
/* Adds the bytes that are there, `most` at most, to `bytes`, without waiting. */
void peer_take(struct peer *peer, size_t most, struct peer_bytes *bytes);
/* How often a Go peer would have dropped the plugin since the last call, on all threads. */
int peer_refusals(void);

/* Calls and waits for the answer. False: no answer, or (unless `message` is given) another than
 * success. */
bool peer_call(struct peer *peer, const char *method, const ProtobufCMessage *request,
               struct peer_message *message);
bool peer_take_register(struct peer *peer); /* waits for RegisterPlugin */
bool peer_answer_register(struct peer *peer);
bool peer_configure(struct peer *peer);
bool peer_synchronize(struct peer *peer); /* one pod, one container */
bool peer_create(struct peer *peer, const char *container_id);
/* All of it. */
bool peer_register(struct peer *peer);

#endif
