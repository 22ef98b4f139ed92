/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two ends back to back without sockets: bytes go through two pipes of settable capacity in
 * settable cuts, and every byte passes the model of the strict Go reader.
 *
 * An end is an nri_rpc (struct rpc_peer) or anything else with input and output, such as a plugin's
 * core: then a peer made by rpc_peer_init_runtime() is its fake runtime.
 */
#ifndef NRI_TESTS_RPC_PAIR_H
#define NRI_TESTS_RPC_PAIR_H

#include "go_reader.h"
#include "rpc/rpc.h"

/* ---- a link ---- */

struct rpc_end {
    void *context;
    int (*input)(void *context, const uint8_t *bytes, size_t count, uint64_t now);
    void (*output)(void *context, const uint8_t **bytes, size_t *count);
    void (*written)(void *context, size_t count);
};

struct rpc_side {
    struct rpc_end end;
    bool writes_first;   /* doesn't read while it has something to write */
    struct nri_buf pipe; /* what it has written and the other side hasn't read */
    uint64_t sent;       /* bytes */
    struct go_reader go; /* of what it writes */
    int code;            /* of its last input that failed; it is not read for again */
};

struct rpc_link {
    struct rpc_side side[2];
    size_t cut;      /* bytes a read takes at most; 0: all there are */
    size_t capacity; /* of each pipe; 0: no limit */
    uint64_t now;    /* the clock of both sides */
};

/* Both ends must outlive the link. Cut and capacity are 0 and may be set. */
void rpc_link_init(struct rpc_link *link, struct rpc_end a, struct rpc_end b);
void rpc_link_fini(struct rpc_link *link);
/* Writes and reads until nothing moves; returns the bytes that were read. Ends the program when a
 * Go peer couldn't read them. */
uint64_t rpc_link_run(struct rpc_link *link);

/* ---- a peer: an nri_rpc with its surroundings ---- */

struct rpc_peer {
    struct nri_rpc *rpc;
    struct nri_alloc alloc; /* of the connection */
    struct nri_host host;   /* random numbers that are the same in each run; a clock at 0 */
    uint64_t random;
    struct nri_log log;
    char log_text[1024]; /* of the last record */
    size_t log_count;
    size_t wakes;
    struct nri_error error; /* of the last input */
    /* What is done with a request. NULL: it goes to `held`, and who takes it from there replies and
     * releases. */
    void (*request)(struct rpc_peer *peer, struct nri_rpc_call *call);
    void *user;
    struct nri_rpc_call **held; /* in order */
    size_t held_count, held_room;
};

/* As nri_rpc_new(); `alloc` NULL: the C library's; `limits` NULL: the defaults. */
int rpc_peer_init(struct rpc_peer *peer, uint32_t serve_id, const ProtobufCServiceDescriptor *serve,
                  uint32_t call_id, const ProtobufCServiceDescriptor *call,
                  const struct nri_rpc_limits *limits, const struct nri_alloc *alloc);
/* Serves Runtime on connection id 2 and calls Plugin on 1. */
int rpc_peer_init_runtime(struct rpc_peer *peer, const struct nri_rpc_limits *limits,
                          const struct nri_alloc *alloc);
/* Serves Plugin on connection id 1 and calls Runtime on 2. */
int rpc_peer_init_plugin(struct rpc_peer *peer, const struct nri_rpc_limits *limits,
                         const struct nri_alloc *alloc);
void rpc_peer_fini(struct rpc_peer *peer); /* releases what is held */
struct rpc_end rpc_peer_end(struct rpc_peer *peer);
/* Takes the oldest held call; NULL when there is none. */
struct nri_rpc_call *rpc_peer_take(struct rpc_peer *peer);

/* ---- results ---- */

struct rpc_outcome { /* zeroed by the caller */
    unsigned count;  /* callbacks */
    int code, grpc;
    char text[1024];
    ProtobufCMessage *message; /* a copy in `arena` when that is set */
    struct nri_arena *arena;
};

void rpc_outcome_done(void *outcome, const struct nri_rpc_result *result);

#endif
