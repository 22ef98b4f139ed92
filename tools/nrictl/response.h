/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The answer to an HTTP/1.1 GET, read as it comes: bytes in any cut go in, the body is there at the
 * end. Sans-IO. Whoever answers is not trusted: head and body have limits.
 */
#ifndef NRICTL_RESPONSE_H
#define NRICTL_RESPONSE_H

#include "base/buf.h"
#include "base/error.h"

#define RESPONSE_MOST_HEAD ((size_t)16 * 1024) /* status line and headers; a chunk's line */
#define RESPONSE_MOST_BODY ((size_t)8 << 20)

enum response_phase {
    RESPONSE_HEAD,
    RESPONSE_BODY,       /* of `left` bytes, or up to the end of the connection */
    RESPONSE_CHUNK_LINE, /* of chunked bodies */
    RESPONSE_CHUNK,
    RESPONSE_CHUNK_END,
    RESPONSE_TRAILER,
    RESPONSE_WHOLE
};

struct response {
    struct nri_buf bytes; /* not yet used */
    struct nri_buf body;
    enum response_phase phase;
    unsigned status; /* 0: not yet known */
    bool has_length; /* of the body, or a chunk: `left` counts */
    uint64_t left;
};

void response_init(struct response *response);
void response_fini(struct response *response);
/* NRI_E_PROTOCOL: it is no HTTP; NRI_E_LIMIT, NRI_E_NOMEM. What follows a whole answer is ignored.
 */
int response_feed(struct response *response, const void *bytes, size_t count,
                  struct nri_error *error);
/* The connection ended: NRI_E_PROTOCOL when the answer is not whole by that. */
int response_end(struct response *response, struct nri_error *error);
static inline bool response_is_whole(const struct response *response)
{
    return response->phase == RESPONSE_WHOLE;
}

#endif
