/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The envelope of a call: ttrpc.Request and ttrpc.Response of proto/ttrpc.proto, by hand. Decoding
 * points into the received bytes and encoding writes straight into the output, so that a payload is
 * never copied on its way.
 */
#ifndef NRI_RPC_ENVELOPE_H
#define NRI_RPC_ENVELOPE_H

#include "rpc/rpc.h"

/* The longest text of a status that is sent: one mux frame, whatever else is in it. */
#define NRI_RPC_STATUS_TEXT 4000u

struct nri_rpc_bytes { /* some of the received bytes; the pointer is one of theirs even for none */
    const uint8_t *bytes;
    size_t length;
};

struct nri_rpc_request {
    struct nri_rpc_bytes service, method, payload; /* service and method are UTF-8 */
    int64_t timeout;                               /* 0 when absent or negative */
    size_t metadata_count;
};

struct nri_rpc_response {
    int32_t grpc;                       /* 0: no status */
    struct nri_rpc_bytes text, payload; /* the text is UTF-8 */
};

/* `bytes` is not NULL. NRI_E_PROTOCOL or NRI_E_UTF8 with the field and the offset in the text. What
 * a field is set to twice is what came last. */
int nri_rpc_request_decode(const uint8_t *bytes, size_t length, struct nri_rpc_request *request,
                           struct nri_error *error);
int nri_rpc_response_decode(const uint8_t *bytes, size_t length, struct nri_rpc_response *response,
                            struct nri_error *error);
/* The metadata of a request that was decoded from the same bytes. NRI_E_PROTOCOL, NRI_E_UTF8,
 * NRI_E_NOMEM, NRI_E_LIMIT. */
int nri_rpc_request_metadata(const uint8_t *bytes, size_t length, size_t count,
                             struct nri_arena *arena, struct nri_rpc_metadata *metadata,
                             struct nri_error *error);

/* A request that is to be sent; `payload_size` is nri_message_size() of the message, or the length
 * of `payload`, which is such a message encoded already. */
struct nri_rpc_outgoing {
    const char *service, *method;
    const ProtobufCMessage *message;
    const uint8_t *payload; /* NULL: the message is to be encoded */
    size_t payload_size;
    uint64_t timeout; /* 0: none */
    const char *const *metadata;
    size_t metadata_count; /* pairs */
};

size_t nri_rpc_request_size(const struct nri_rpc_outgoing *outgoing);
void nri_rpc_request_encode(const struct nri_rpc_outgoing *outgoing, uint8_t *at);

/* A response without a status. */
size_t nri_rpc_reply_size(size_t payload_size);
void nri_rpc_reply_encode(const ProtobufCMessage *message, size_t payload_size, uint8_t *at);

/* A response with a status and no payload. `length` is of the text: at most NRI_RPC_STATUS_TEXT, no
 * NUL in it. Bytes that are not UTF-8 are sent as '?': a Go peer drops a whole response for one of
 * them. */
size_t nri_rpc_status_size(int grpc, size_t length);
void nri_rpc_status_encode(int grpc, const char *text, size_t length, uint8_t *at);

#endif
