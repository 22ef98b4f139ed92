/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pool of calls: each has an arena, which it keeps from one message to the next, so that the
 * steady state allocates nothing. The receive buffer goes from a decoded call to the next message,
 * so that calls with handlers hold none. The pool outlives the connection as long as calls are
 * held; any thread may give a call back.
 */
#ifndef NRI_RPC_POOL_H
#define NRI_RPC_POOL_H

#include <stdatomic.h>

#include "base/lock.h"
#include "rpc/rpc.h"

#define NRI_RPC_POOL_CALLS  8u                    /* idle calls that are kept */
#define NRI_RPC_POOL_BUFFER (128u * 1024u)        /* receive buffer that is kept */
#define NRI_RPC_POOL_ARENA  (128u * 1024u)        /* arena that an idle call keeps */
#define NRI_RPC_FIRST_CHUNK ((size_t)16u * 1024u) /* of a new arena: an ordinary container */

enum nri_rpc_call_state {
    NRI_RPC_CALL_OPEN,     /* on the loop's thread; may be replied */
    NRI_RPC_CALL_REPLIED,  /* the connection knows nothing of it any more */
    NRI_RPC_CALL_DETACHED, /* the connection was closed under it; likewise */
};

struct nri_rpc_pool;

/* A message that is being received, waits, or is with its handler. A response of the client uses
 * one too. */
struct nri_rpc_call {
    struct nri_rpc_pool *pool;
    struct nri_rpc *rpc; /* while the state is OPEN */
    atomic_int state;
    uint32_t stream;
    unsigned method;
    int64_t timeout;
    uint64_t received;
    size_t size;
    ProtobufCMessage *message;
    struct nri_rpc_metadata metadata;
    struct nri_buf data; /* what was received; without memory once it is decoded */
    struct nri_arena arena;
    size_t charge; /* of nri_rpc_server.in_flight_bytes */
    struct nri_rpc_call *next,
        *previous; /* in the list that holds it: idle, waiting or in flight */
};

struct nri_rpc_pool {
    struct nri_alloc alloc;
    uint64_t seed[2];
    size_t max_receive;
    struct nri_buf spare; /* a decoded message's memory, for the next one; the loop's thread */
    struct nri_lock lock; /* of all below */
    struct nri_rpc_call *idle;
    size_t idle_count;
    size_t holders; /* calls that are out, and the connection */
    bool closed;    /* the connection is gone: nothing is kept */
};

/* NRI_E_NOMEM. */
int nri_rpc_pool_new(struct nri_rpc_pool **pool, const struct nri_alloc *alloc, size_t max_receive,
                     const uint64_t seed[2]);
void nri_rpc_pool_close(
    struct nri_rpc_pool *pool); /* by the connection, once; frees when no call is out */
/* A call with nothing in it and no limit on its arena; NULL when out of memory. */
struct nri_rpc_call *nri_rpc_pool_get(struct nri_rpc_pool *pool);
/* The most that decoding a message of `size` bytes may take in the call's arena. */
size_t nri_rpc_pool_most(const struct nri_rpc_call *call, const struct nri_rpc_limits *limits,
                         size_t size);
/* Limits the call's arena to that. */
void nri_rpc_pool_limit(struct nri_rpc_call *call, const struct nri_rpc_limits *limits,
                        size_t size);
/* The message is decoded: its memory is the next message's. The loop's thread. */
void nri_rpc_pool_take_data(struct nri_rpc_call *call);
/* The message will wait: the arena's memory goes, and the buffer's beyond twice its size. Without
 * memory for the move, that stays. */
void nri_rpc_pool_trim_data(struct nri_rpc_call *call);
void nri_rpc_pool_put(struct nri_rpc_call *call); /* any thread */

#endif
