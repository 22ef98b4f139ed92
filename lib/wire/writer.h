/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes messages so that Go peers can read them: a message whose header and data fit into 4096
 * bytes is one mux frame; any other is a mux frame of the 10-byte ttRPC header, then one of the
 * data; never bytes of two messages in one frame.
 */
#ifndef NRI_WIRE_WRITER_H
#define NRI_WIRE_WRITER_H

#include "base/buf.h"
#include "wire/reader.h"

#define NRI_WIRE_ONE_FRAME                                                                         \
    4096u /* ttRPC header and data together, at most, in one frame: Go's read buffer */

/*
 * Appends the headers of a message and reserves room for its data, which the caller writes to
 * *data. Call nri_wire_commit() with the same length then; until that the buffer holds nothing new.
 * NRI_E_LIMIT, NRI_E_NOMEM.
 */
int nri_wire_begin(struct nri_buf *out, uint32_t id, uint32_t stream, uint8_t type, uint8_t flags,
                   uint32_t length, uint8_t **data);
void nri_wire_commit(struct nri_buf *out, uint32_t length);

#endif
