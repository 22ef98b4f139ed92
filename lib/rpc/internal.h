/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of this room share: the connection with its server and its client. Tests may look
 * in here.
 */
#ifndef NRI_RPC_INTERNAL_H
#define NRI_RPC_INTERNAL_H

#include "rpc/envelope.h"
#include "rpc/pool.h"
#include "rpc/rpc.h"
#include "wire/reader.h"
#include "wire/writer.h"

#define NRI_RPC_LAST_STREAM UINT32_C(0x7fffffff) /* the last odd one that every peer takes */
#define NRI_RPC_OUTPUT_KEPT                                                                        \
    ((size_t)64u * 1024u)                       /* output memory that is kept when all is written */
#define NRI_RPC_LARGEST_SEND ((size_t)1u << 24) /* no peer reads more */

/* The frame that is being received on one of the two connection ids. */
struct nri_rpc_inbound {
    struct nri_rpc_call *call; /* gets the data; NULL: the data is skipped */
    int verdict; /* with NULL: a gRPC code (server) or ours (client) to answer with; 0: ignored */
    uint64_t *counter; /* what the verdict counts as; may be NULL */
    char text[256];    /* of the verdict */
};

struct nri_rpc_server {
    struct nri_rpc_inbound inbound;
    uint32_t last_stream;
    struct nri_rpc_call *in_flight; /* handed out and not replied */
    size_t in_flight_count;
    size_t in_flight_bytes;                      /* their charges */
    struct nri_rpc_call *waiting, *waiting_last; /* received and not decoded, in order */
    size_t waiting_bytes;                        /* with their bookkeeping */
    bool serving; /* in nri_rpc_serve_waiting(): a reply in there must not start another round */
};

struct nri_rpc_pending {
    uint32_t stream;
    unsigned method;
    uint64_t timeout, deadline; /* 0 and NRI_NEVER: none */
    nri_rpc_done_fn done;
    void *user;
};

struct nri_rpc_client {
    struct nri_rpc_inbound inbound;
    uint32_t next_stream;            /* over NRI_RPC_LAST_STREAM: used up */
    struct nri_rpc_pending *pending; /* by stream; room for max_pending_calls */
    size_t pending_count;
    struct nri_error
        error; /* of the result that a callback is looking at: nothing else may write to it */
};

struct nri_rpc {
    struct nri_rpc_config config;
    struct nri_alloc alloc;
    struct nri_log silent; /* stands in when no log is given */
    uint64_t now;          /* of the last function that was told */
    struct nri_wire_reader reader;
    struct nri_buf out;
    struct nri_rpc_pool *pool;
    struct nri_rpc_server server;
    struct nri_rpc_client client;
    struct nri_rpc_stats stats;
    bool closed;
    struct nri_error failure; /* code 0: none */
    struct nri_error scratch; /* an error is large: this one spares clearing one per message */
};

/* ---- conn.c ---- */

/* Whether nothing more may be sent or handed out. */
static inline bool nri_rpc_is_over(const struct nri_rpc *rpc)
{
    return rpc->closed || rpc->failure.code != 0;
}

/* Makes the connection fail, unless it has already; returns the code. */
int nri_rpc_fail(struct nri_rpc *rpc, int code, const char *text);
void nri_rpc_wake(struct nri_rpc *rpc);
/* Forgets what was received of a frame. */
void nri_rpc_inbound_drop(struct nri_rpc_inbound *inbound);
/* Takes a call for the frame's data, or sets the verdict for want of memory. */
void nri_rpc_inbound_store(struct nri_rpc *rpc, struct nri_rpc_inbound *inbound, int nomem);
void nri_rpc_inbound_data(struct nri_rpc_inbound *inbound, const struct nri_wire_item *item,
                          int nomem);
void nri_rpc_inbound_refuse(struct nri_rpc_inbound *inbound, int verdict, uint64_t *counter,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));

/* ---- server.c ---- */

void nri_rpc_server_header(struct nri_rpc *rpc, const struct nri_wire_item *item);
void nri_rpc_server_end(struct nri_rpc *rpc, const struct nri_wire_item *item);
void nri_rpc_server_close(struct nri_rpc *rpc);
/* Room for a response in the output, to be committed. NRI_E_CLOSED when it can't be, and then the
 * connection has failed. */
int nri_rpc_server_begin(struct nri_rpc *rpc, uint32_t stream, size_t length, uint8_t **data);
/* Sends a response with a status. NRI_E_CLOSED as above. */
int nri_rpc_server_status(struct nri_rpc *rpc, uint32_t stream, int grpc, const char *text);
/* Takes a call out of those in flight: from then on the connection knows nothing of it. */
void nri_rpc_server_unlink(struct nri_rpc *rpc, struct nri_rpc_call *call,
                           enum nri_rpc_call_state state);
/* Hands out what waits, as far as there is room. Callbacks may close the connection in here. */
void nri_rpc_server_serve(struct nri_rpc *rpc);

/* ---- client.c ---- */

int nri_rpc_client_init(struct nri_rpc *rpc); /* NRI_E_NOMEM */
void nri_rpc_client_header(struct nri_rpc *rpc, const struct nri_wire_item *item);
void nri_rpc_client_end(struct nri_rpc *rpc, const struct nri_wire_item *item);
void nri_rpc_client_close(struct nri_rpc *rpc, int code, const char *text);

#endif
