/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/writer.h"

#define ONE_FRAME_HEADERS  (NRI_MUX_HEADER + NRI_TTRPC_HEADER)
#define TWO_FRAMES_HEADERS (ONE_FRAME_HEADERS + NRI_MUX_HEADER)

static bool fits_one_frame(uint32_t length)
{
    return length <= NRI_WIRE_ONE_FRAME - NRI_TTRPC_HEADER;
}

static uint8_t *put_u32(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)(value >> 24);
    at[1] = (uint8_t)(value >> 16);
    at[2] = (uint8_t)(value >> 8);
    at[3] = (uint8_t)value;
    return at + 4;
}

static uint8_t *put_mux_header(uint8_t *at, uint32_t id, uint32_t size)
{
    return put_u32(put_u32(at, id), size);
}

int nri_wire_begin(struct nri_buf *out, uint32_t id, uint32_t stream, uint8_t type, uint8_t flags,
                   uint32_t length, uint8_t **data)
{
    /* What our own reader would close the connection for is never sent. */
    if (length > NRI_MUX_MAX_FRAME) {
        return NRI_E_LIMIT;
    }
    const bool one = fits_one_frame(length);
    uint8_t *at;
    const int code =
        nri_buf_reserve(out, (size_t)length + (one ? ONE_FRAME_HEADERS : TWO_FRAMES_HEADERS), &at);
    if (code != 0) {
        return code;
    }
    at = put_mux_header(at, id, one ? NRI_TTRPC_HEADER + length : NRI_TTRPC_HEADER);
    at = put_u32(put_u32(at, length), stream);
    *at++ = type;
    *at++ = flags;
    if (!one) {
        at = put_mux_header(at, id, length);
    }
    *data = at;
    return 0;
}

void nri_wire_commit(struct nri_buf *out, uint32_t length)
{
    nri_buf_commit(out, (size_t)length +
                            (fits_one_frame(length) ? ONE_FRAME_HEADERS : TWO_FRAMES_HEADERS));
}
