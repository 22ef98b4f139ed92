/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ttRPC calls over one connection, both ways: a server on one connection id, a client on the other.
 * Sans-IO: bytes in, bytes out, time as a parameter.
 *
 * Happy path of the server: nri_rpc_input() reads a request frame into a pooled call, decodes
 * envelope and payload in the call's arena, looks the method up in the service's descriptor and
 * hands the call to config.request; nri_rpc_call_reply() packs the reply straight into the output;
 * nri_rpc_call_release() gives the call back. Failure modes: a malformed, unknown, streaming or
 * oversized request is answered on its stream and the connection goes on (see wire facts in
 * doc/protocol.md); a frame longer than any peer sends, or output that the peer doesn't read beyond
 * its limit, ends the connection: nri_rpc_input() or nri_rpc_failure() returns the code. Nothing is
 * ever stored beyond the limits.
 *
 * Everything here is for one thread (the loop's), but nri_rpc_call_release(), which any thread may
 * call.
 */
#ifndef NRI_RPC_RPC_H
#define NRI_RPC_RPC_H

#include <protobuf-c/protobuf-c.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/host.h"
#include "base/log.h"

struct nri_rpc;
struct nri_rpc_call;

struct nri_rpc_limits { /* all set by the caller; nri_rpc_limits_default() fills them */
    size_t max_receive; /* data of one message */
    size_t max_send;    /* at most 1 << 24: no peer reads more */
    /* Memory of decoding one request: arena_base plus arena_factor times the message. Decoded, its
     * arena may grow by 4 times max_send more, for the reply. */
    size_t arena_base;
    size_t arena_factor;      /* 8 */
    size_t max_in_flight;     /* calls handed to config.request and not replied */
    size_t max_request_bytes; /* what decoding took for all of them together; a single one may go
                                 beyond, up to its own limit */
    size_t max_queued_bytes;  /* raw requests that wait beyond the two, with what each takes here */
    size_t max_output_bytes;  /* not yet taken by nri_rpc_output() */
    size_t max_pending_calls; /* of the client */
    size_t max_metadata;      /* entries of one request: 256 */
};
void nri_rpc_limits_default(struct nri_rpc_limits *limits);

struct nri_rpc_config {
    uint32_t serve_id,
        call_id; /* connection ids; a plugin serves 1 and calls 2, a runtime the other way round */
    const ProtobufCServiceDescriptor
        *serve; /* the service that is served; NULL: every request is UNIMPLEMENTED */
    const ProtobufCServiceDescriptor *call; /* the service that is called; may be NULL */
    struct nri_rpc_limits limits;
    const struct nri_alloc *alloc; /* copied */
    const struct nri_host *host;   /* must outlive the connection */
    struct nri_log *log;           /* must outlive the connection; NULL: silent */
    /* Who this side is: "LABEL: " in front of what the peer reads instead of a reply that cannot be
     * sent. Must outlive the connection; NULL: nothing. */
    const char *label;
    /* A request. The call is the receiver's: it replies once (unless the connection goes) and
     * releases. */
    void (*request)(void *user, struct nri_rpc_call *call);
    /* A request that nobody will see was refused with RESOURCE_EXHAUSTED: too large, or no memory
     * or place in the queue for it. May be NULL. */
    void (*lost)(void *user, const char *why);
    /* There is new output, or the deadline moved. May be NULL. Called in nri_rpc_input() too. */
    void (*wake)(void *user);
    void *user;
};

/* NRI_E_NOMEM; NRI_E_INVALID for connection ids other than 1 and 2, or a limit of 0 calls; what
 * host->random returned. */
int nri_rpc_new(struct nri_rpc **rpc, const struct nri_rpc_config *config);
/*
 * Closes: pending calls of the client complete with `code` and `text`, each once, calls of the
 * server are detached (their reply returns NRI_E_CLOSED; they stay readable until released).
 * Callbacks may not start new calls (they get NRI_E_CLOSED). Idempotent.
 */
void nri_rpc_close(struct nri_rpc *rpc, int code, const char *text);
/* Closes if need be. Not in one of its callbacks. NULL is ignored. */
void nri_rpc_free(struct nri_rpc *rpc);

/* Bytes from the peer, in any cut. 0, or the error that ends the connection (text in *error). 0 too
 * when a callback of this very input closed the connection; NRI_E_CLOSED when it was closed before.
 */
int nri_rpc_input(struct nri_rpc *rpc, const uint8_t *bytes, size_t count, uint64_t now,
                  struct nri_error *error);
/* The bytes to write; *count 0 when there are none. Valid until the next call here. */
void nri_rpc_output(struct nri_rpc *rpc, const uint8_t **bytes, size_t *count);
void nri_rpc_written(struct nri_rpc *rpc, size_t count);
/* 0, or why the connection must end though no input said so (output limit, no memory for a reply).
 */
int nri_rpc_failure(const struct nri_rpc *rpc, struct nri_error *error);
/* Whether the peer closed, if it closes now, in the middle of a message. */
bool nri_rpc_in_message(const struct nri_rpc *rpc);

uint64_t
nri_rpc_deadline(const struct nri_rpc *rpc); /* of the earliest pending call, or NRI_NEVER */
void nri_rpc_tick(struct nri_rpc *rpc,
                  uint64_t now); /* completes calls whose deadline passed with NRI_E_TIMEOUT */

struct nri_rpc_stats { /* counts since nri_rpc_new() */
    uint64_t bytes_in, bytes_out, requests, replies, refused_oversize, refused_malformed,
        refused_unknown, refused_busy, calls, late_replies;
};
const struct nri_rpc_stats *nri_rpc_get_stats(const struct nri_rpc *rpc);
size_t nri_rpc_in_flight(const struct nri_rpc *rpc);
size_t nri_rpc_pending_calls(const struct nri_rpc *rpc);

/* ---- server ---- */

struct nri_rpc_metadata { /* pairs, in order, as sent */
    size_t count;
    const char *const *keys; /* texts of base/text.h */
    const char *const *values;
};

unsigned
nri_rpc_call_method(const struct nri_rpc_call *call); /* index in the service's descriptor */
const ProtobufCMessage *nri_rpc_call_message(const struct nri_rpc_call *call);
size_t nri_rpc_call_size(const struct nri_rpc_call *call); /* of the payload, in bytes */
uint64_t nri_rpc_call_received(
    const struct nri_rpc_call *call); /* when it was complete: `now` of that input */
int64_t
nri_rpc_call_timeout(const struct nri_rpc_call *call); /* timeout_nano, 0 when absent or negative */
const struct nri_rpc_metadata *nri_rpc_call_get_metadata(const struct nri_rpc_call *call);
struct nri_arena *nri_rpc_call_arena(struct nri_rpc_call *call); /* lives until the release */
/* What the call takes now, with its arena; by who holds the call. */
size_t nri_rpc_call_memory(const struct nri_rpc_call *call);
/* The same as it was when the call was handed out, which does not change. Any thread. */
size_t nri_rpc_call_charge(const struct nri_rpc_call *call);
const uint64_t *
nri_rpc_call_seed(const struct nri_rpc_call *call); /* two words, for hashes over the peer's keys */
uint32_t nri_rpc_call_stream(const struct nri_rpc_call *call);

/*
 * Replies: with a message of the method's output type when `grpc` is 0, else with the status. The
 * message is packed before the function returns. NRI_E_LATE (already replied), NRI_E_CLOSED,
 * NRI_E_LIMIT (larger than max_send: an error text that names both lengths went out in its place,
 * as RESOURCE_EXHAUSTED), NRI_E_INVALID (the message cannot be packed: INTERNAL went out).
 * NRI_E_CLOSED also when there was no room or memory for the reply: nri_rpc_failure() says why, and
 * the connection must end. The place that a reply frees goes to a request that waits:
 * config.request may be called for that one before these return. A refusal with code 0 is sent as
 * UNKNOWN; its text is cut after 4000 bytes, and what is not UTF-8 in it is replaced by '?'.
 */
int nri_rpc_call_reply(struct nri_rpc_call *call, const ProtobufCMessage *message,
                       struct nri_error *error);
int nri_rpc_call_refuse(struct nri_rpc_call *call, int grpc, const char *text);
/* Gives the call back. Any thread. On the loop's thread a call that was not replied is answered
 * INTERNAL first; another thread may only release a replied or detached one. */
void nri_rpc_call_release(struct nri_rpc_call *call);

/* ---- client ---- */

struct nri_rpc_result {
    int code; /* 0, or NRI_E_CLOSED, NRI_E_TIMEOUT, NRI_E_LIMIT, NRI_E_PROTOCOL, NRI_E_NOMEM, or
                 nri_error_from_grpc(grpc) */
    int grpc; /* the status the peer sent, 0 when it sent none */
    const char *text;                /* never NULL; the peer's text for a status */
    const ProtobufCMessage *message; /* with code 0; in an arena that goes after the callback */
    struct nri_rpc_call **keeper;    /* of nri_rpc_result_keep(); may be NULL */
};
typedef void (*nri_rpc_done_fn)(void *user, const struct nri_rpc_result *result);
/* Keeps the message of a result, and what it is made of, beyond the callback, whatever becomes of
 * the connection: until nri_rpc_call_release() of what is returned. Once, in the callback; NULL
 * when there is no message to keep. */
struct nri_rpc_call *nri_rpc_result_keep(const struct nri_rpc_result *result);

/*
 * Calls a method of config.call by its index. `timeout` in ns goes along as timeout_nano and is
 * kept; 0 means none. `metadata` is `metadata_count` pairs of key and value, or NULL. `done` is
 * called once, if 0 is returned, and never from in here. NRI_E_LIMIT: over max_send; the text has
 * both lengths, nothing was written, no stream id is used up. NRI_E_BUSY: max_pending_calls or
 * max_output_bytes. NRI_E_CLOSED. NRI_E_NOMEM. NRI_E_INVALID. NRI_E_LIMIT also when the stream ids
 * of the connection, 2^30 of them, are used up.
 */
int nri_rpc_invoke(struct nri_rpc *rpc, unsigned method, const ProtobufCMessage *message,
                   uint64_t now, uint64_t timeout, const char *const *metadata,
                   size_t metadata_count, nri_rpc_done_fn done, void *user,
                   struct nri_error *error);

/* A request that was packed before there was a connection. */
struct nri_rpc_packed {
    const ProtobufCServiceDescriptor *service;
    unsigned method;
    const uint8_t *payload; /* never NULL: the encoded message */
    size_t size;
    const char *const *metadata;
    size_t metadata_count;
};
/* What nri_rpc_invoke() would say of its metadata and its size: NRI_E_INVALID, NRI_E_LIMIT. Any
 * thread. */
int nri_rpc_check_packed(const struct nri_rpc_packed *packed, const struct nri_rpc_limits *limits,
                         uint64_t timeout, struct nri_error *error);
/* As nri_rpc_invoke(), for one that was checked. */
int nri_rpc_invoke_packed(struct nri_rpc *rpc, const struct nri_rpc_packed *packed, uint64_t now,
                          uint64_t timeout, nri_rpc_done_fn done, void *user,
                          struct nri_error *error);

#endif
