/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames by hand: what a peer of any manners would send, and what libnri sends taken apart.
 */
#ifndef NRI_TESTS_RPC_RAW_H
#define NRI_TESTS_RPC_RAW_H

#include "base/buf.h"

/* A buffer on the C library's heap, without a limit. */
void raw_init(struct nri_buf *buf);

/* A ttRPC frame in one mux frame. The header says `length`, whatever `size` is. */
void raw_frame(struct nri_buf *out, uint32_t id, uint32_t stream, uint8_t type, uint8_t flags,
               const void *data, size_t size);
void raw_header(struct nri_buf *out, uint32_t id, uint32_t stream, uint8_t type, uint8_t flags,
                uint32_t length);
/* More data of a frame that raw_header() began, as a mux frame. */
void raw_data(struct nri_buf *out, uint32_t id, const void *data, size_t size);

/* Fields of protobuf. */
void raw_varint(struct nri_buf *out, unsigned field, uint64_t value);
void raw_bytes(struct nri_buf *out, unsigned field, const void *data, size_t size);
void raw_text(struct nri_buf *out, unsigned field, const char *text);

/* ttrpc.Request in a frame of type 1 with flags 0. */
void raw_request(struct nri_buf *out, uint32_t id, uint32_t stream, const char *service,
                 const char *method, const void *payload, size_t size);

/* A response that libnri sent. */
struct raw_response {
    uint32_t id, stream;
    uint8_t type, flags;
    int32_t grpc;
    char text[4096];
    uint8_t *payload; /* freed by raw_responses_free() */
    size_t size;
    uint32_t length; /* of the ttRPC data */
};

struct raw_responses {
    size_t count;
    struct raw_response *all;
};

/* Takes bytes apart into whole messages; ends the program when they are not that. Payloads are raw
 * bytes of ttrpc.Response. */
void raw_responses(const struct nri_buf *bytes, struct raw_responses *responses);
void raw_responses_free(struct raw_responses *responses);

#endif
