/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/reader.h"

#include <string.h>

/* Everybody's "-1": a length that is a fault, not a size. */
#define NRI_TTRPC_NO_LENGTH UINT32_MAX

static uint32_t big_endian(const uint8_t *b)
{
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | (uint32_t)b[3];
}

/* Moves bytes of the input into a header; whether it is complete now. */
static bool fill(uint8_t *header, uint8_t *have, uint8_t size, uint32_t *left,
                 const uint8_t **bytes, size_t *count)
{
    size_t n = (size_t)(size - *have);
    if (n > *count) {
        n = *count;
    }
    if (left != NULL && n > *left) {
        n = *left;
    }
    if (n > 0) {
        memcpy(header + *have, *bytes, n);
        *bytes += n;
        *count -= n;
        *have = (uint8_t)(*have + n);
    }
    if (left != NULL) {
        *left -= (uint32_t)n;
    }
    return *have == size;
}

/* Some of what is left of the mux frame, or of the input; the caller uses it up. */
static size_t take(const struct nri_wire_reader *reader, size_t count, uint32_t at_most)
{
    const uint32_t n = reader->left < at_most ? reader->left : at_most;
    return n < count ? n : count;
}

static void use(struct nri_wire_reader *reader, size_t n, const uint8_t **bytes, size_t *count)
{
    reader->left -= (uint32_t)n;
    *bytes += n;
    *count -= n;
}

static struct nri_wire_channel *channel_of(struct nri_wire_reader *reader)
{
    switch (reader->id) {
    case NRI_MUX_PLUGIN_ID:
        return &reader->channel[0];
    case NRI_MUX_RUNTIME_ID:
        return &reader->channel[1];
    default:
        return NULL;
    }
}

static int mux_header(struct nri_wire_reader *reader, struct nri_error *error)
{
    reader->id = big_endian(reader->header);
    reader->left = big_endian(reader->header + 4);
    if (reader->left > NRI_MUX_MAX_FRAME) {
        return nri_error_set(error, NRI_E_PROTOCOL,
                             "mux frame of %lu bytes on connection id %lu: at most %lu are legal",
                             (unsigned long)reader->left, (unsigned long)reader->id,
                             (unsigned long)NRI_MUX_MAX_FRAME);
    }
    return 0;
}

static int ttrpc_header(const struct nri_wire_reader *reader, struct nri_wire_channel *channel,
                        struct nri_wire_item *item, struct nri_error *error)
{
    const uint32_t length = big_endian(channel->header);
    const uint32_t stream = big_endian(channel->header + 4);
    if (length == NRI_TTRPC_NO_LENGTH) {
        return nri_error_set(error, NRI_E_PROTOCOL,
                             "ttRPC data length 0xffffffff on connection id %lu, stream %lu: "
                             "no peer sends that much",
                             (unsigned long)reader->id, (unsigned long)stream);
    }
    channel->frame = (struct nri_wire_item){
        .kind = NRI_WIRE_HEADER,
        .id = reader->id,
        .stream = stream,
        .type = channel->header[8],
        .flags = channel->header[9],
        .length = length,
    };
    channel->left = length;
    channel->have = 0;
    channel->open = true;
    *item = channel->frame;
    return 0;
}

static void ttrpc_data(struct nri_wire_reader *reader, struct nri_wire_channel *channel,
                       const uint8_t **bytes, size_t *count, struct nri_wire_item *item)
{
    const size_t n = take(reader, *count, channel->left);
    *item = channel->frame;
    item->kind = NRI_WIRE_DATA;
    item->data = *bytes;
    item->size = n;
    use(reader, n, bytes, count);
    channel->left -= (uint32_t)n;
}

void nri_wire_reader_init(struct nri_wire_reader *reader)
{
    memset(reader, 0, sizeof *reader);
}

/* The states are in the structure: a mux header with `have` bytes; then `left` bytes of a frame,
 * which for ids 1 and 2 are a ttRPC header (its own `have`) or the data of an open frame. After an
 * error there is no next item: the stream has no known shape. */
int nri_wire_read(struct nri_wire_reader *reader, const uint8_t **bytes, size_t *count,
                  struct nri_wire_item *item, struct nri_error *error)
{
    *item = (struct nri_wire_item){.kind = NRI_WIRE_MORE};
    for (;;) {
        struct nri_wire_channel *channel = channel_of(reader);
        if (channel != NULL && channel->open && channel->left == 0) {
            channel->open = false;
            *item = channel->frame;
            item->kind = NRI_WIRE_END;
            return 0;
        }
        if (reader->left == 0) {
            if (!fill(reader->header, &reader->have, NRI_MUX_HEADER, NULL, bytes, count)) {
                return 0;
            }
            const int code = mux_header(reader, error);
            if (code != 0) {
                return code;
            }
            reader->have = 0;
            continue;
        }
        if (channel == NULL) {
            use(reader, take(reader, *count, UINT32_MAX), bytes, count);
        } else if (channel->open) {
            if (*count > 0) {
                ttrpc_data(reader, channel, bytes, count, item);
                return 0;
            }
        } else if (fill(channel->header, &channel->have, NRI_TTRPC_HEADER, &reader->left, bytes,
                        count)) {
            return ttrpc_header(reader, channel, item, error);
        }
        if (*count == 0) {
            return 0;
        }
    }
}

bool nri_wire_reader_at_boundary(const struct nri_wire_reader *reader)
{
    bool boundary = reader->have == 0 && reader->left == 0;
    for (size_t i = 0; i < 2; i++) {
        const struct nri_wire_channel *channel = &reader->channel[i];
        boundary = boundary && !channel->open && channel->have == 0;
    }
    return boundary;
}
