/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the bytes of a connection: mux frames, and inside them ttRPC frames, in any cut.
 *
 * A pull parser over the caller's bytes. It keeps headers only (18 bytes a connection id), never
 * data, so it cannot be made to hold memory. The two connection ids that NRI uses are read; frames
 * for any other id are skipped, frames of length 0 are legal.
 */
#ifndef NRI_WIRE_READER_H
#define NRI_WIRE_READER_H

#include "base/error.h"

#define NRI_MUX_PLUGIN_ID  1u /* service Plugin: the runtime calls */
#define NRI_MUX_RUNTIME_ID 2u /* service Runtime: the plugin calls */
#define NRI_MUX_HEADER     8u
#define NRI_TTRPC_HEADER   10u
#define NRI_MUX_MAX_FRAME                                                                          \
    ((UINT32_C(1) << 24) +                                                                         \
     NRI_TTRPC_HEADER) /* of old runtimes; a longer one closes the connection */
#define NRI_TTRPC_REQUEST  1u
#define NRI_TTRPC_RESPONSE 2u
#define NRI_TTRPC_DATA     3u

enum nri_wire_kind {
    NRI_WIRE_MORE,   /* all bytes are used: give more */
    NRI_WIRE_HEADER, /* a ttRPC frame begins: stream, type, flags, length are set */
    NRI_WIRE_DATA,   /* `data`, `size`: some of its data */
    NRI_WIRE_END     /* the frame is complete */
};

struct nri_wire_item {
    enum nri_wire_kind kind;
    uint32_t id; /* connection id: 1 or 2 */
    uint32_t stream;
    uint8_t type, flags;
    uint32_t length; /* of the whole data of the frame */
    const uint8_t *data;
    size_t size;
};

struct nri_wire_channel {
    uint8_t header[NRI_TTRPC_HEADER];
    uint8_t have;  /* bytes of the header */
    bool open;     /* a frame is being read */
    uint32_t left; /* of its data */
    struct nri_wire_item frame;
};

struct nri_wire_reader {
    uint8_t header[NRI_MUX_HEADER];
    uint8_t have;
    uint32_t id, left;                  /* of the mux frame that is being read */
    struct nri_wire_channel channel[2]; /* ids 1 and 2 */
};

void nri_wire_reader_init(struct nri_wire_reader *reader);
/*
 * Takes the next item from *bytes, *count and moves them on. Returns 0, or NRI_E_PROTOCOL with the
 * error naming the value (a mux frame or ttRPC data longer than any peer sends): the connection is
 * to be closed.
 */
int nri_wire_read(struct nri_wire_reader *reader, const uint8_t **bytes, size_t *count,
                  struct nri_wire_item *item, struct nri_error *error);
/* Whether the bytes so far end between two messages: false means that the peer closed in the middle
 * of one. */
bool nri_wire_reader_at_boundary(const struct nri_wire_reader *reader);

#endif
