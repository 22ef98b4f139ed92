/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc_raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rpc/envelope.h"
#include "wire/reader.h"
#include "wire/varint.h"

static void broken(const char *why)
{
    (void)fprintf(stderr, "rpc_raw: %s\n", why);
    abort();
}

void raw_init(struct nri_buf *buf)
{
    struct nri_alloc alloc;
    if (nri_alloc_resolve(&alloc, NULL) != 0) {
        broken("no allocator");
    }
    nri_buf_init(buf, &alloc, SIZE_MAX / 4);
}

static void put(struct nri_buf *out, const void *bytes, size_t size)
{
    if (nri_buf_append(out, bytes, size) != 0) {
        broken("out of memory");
    }
}

static void put_u32(struct nri_buf *out, uint32_t value)
{
    const uint8_t bytes[4] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                              (uint8_t)value};
    put(out, bytes, sizeof bytes);
}

static void put_ttrpc(struct nri_buf *out, uint32_t stream, uint8_t type, uint8_t flags,
                      uint32_t length)
{
    put_u32(out, length);
    put_u32(out, stream);
    put(out, &type, 1);
    put(out, &flags, 1);
}

void raw_frame(struct nri_buf *out, uint32_t id, uint32_t stream, uint8_t type, uint8_t flags,
               const void *data, size_t size)
{
    put_u32(out, id);
    put_u32(out, (uint32_t)size + NRI_TTRPC_HEADER);
    put_ttrpc(out, stream, type, flags, (uint32_t)size);
    put(out, data, size);
}

void raw_header(struct nri_buf *out, uint32_t id, uint32_t stream, uint8_t type, uint8_t flags,
                uint32_t length)
{
    put_u32(out, id);
    put_u32(out, NRI_TTRPC_HEADER);
    put_ttrpc(out, stream, type, flags, length);
}

void raw_data(struct nri_buf *out, uint32_t id, const void *data, size_t size)
{
    put_u32(out, id);
    put_u32(out, (uint32_t)size);
    put(out, data, size);
}

static void number(struct nri_buf *out, uint64_t value)
{
    uint8_t bytes[NRI_VARINT_MAX];
    const uint8_t *end = nri_varint_write(bytes, value);
    put(out, bytes, (size_t)(end - bytes));
}

void raw_varint(struct nri_buf *out, unsigned field, uint64_t value)
{
    number(out, (uint64_t)field << 3);
    number(out, value);
}

void raw_bytes(struct nri_buf *out, unsigned field, const void *data, size_t size)
{
    number(out, (uint64_t)field << 3 | 2);
    number(out, size);
    put(out, data, size);
}

void raw_text(struct nri_buf *out, unsigned field, const char *text)
{
    raw_bytes(out, field, text, strlen(text));
}

void raw_request(struct nri_buf *out, uint32_t id, uint32_t stream, const char *service,
                 const char *method, const void *payload, size_t size)
{
    struct nri_buf data;
    raw_init(&data);
    raw_text(&data, 1, service);
    raw_text(&data, 2, method);
    raw_bytes(&data, 3, payload, size);
    raw_frame(out, id, stream, NRI_TTRPC_REQUEST, 0, data.data + data.start, nri_buf_size(&data));
    nri_buf_fini(&data);
}

/* ---- what libnri sent ---- */

static void keep(struct raw_responses *responses, const struct nri_wire_item *item,
                 const struct nri_buf *data)
{
    struct raw_response *all = responses->all;
    struct nri_rpc_response parsed;
    const uint8_t *bytes = nri_buf_size(data) == 0 ? (const uint8_t *)"" : data->data + data->start;
    /* By doubling, at each power of two: one by one, 10000 answers took minutes under ASan. */
    if ((responses->count & (responses->count - 1)) == 0) {
        all = realloc(all, (responses->count == 0 ? 1 : 2 * responses->count) * sizeof *all);
    }
    if (all == NULL) {
        broken("out of memory");
    }
    responses->all = all;
    struct raw_response *r = &all[responses->count++];
    *r = (struct raw_response){.id = item->id,
                               .stream = item->stream,
                               .type = item->type,
                               .flags = item->flags,
                               .length = item->length};
    if (item->type != NRI_TTRPC_RESPONSE) {
        return;
    }
    if (nri_rpc_response_decode(bytes, nri_buf_size(data), &parsed, NULL) != 0) {
        broken("a response that doesn't decode");
    }
    r->grpc = parsed.grpc;
    (void)snprintf(r->text, sizeof r->text, "%.*s", (int)parsed.text.length,
                   (const char *)parsed.text.bytes);
    r->size = parsed.payload.length;
    r->payload = malloc(r->size + 1);
    if (r->payload == NULL) {
        broken("out of memory");
    }
    memcpy(r->payload, parsed.payload.bytes, r->size);
}

void raw_responses(const struct nri_buf *bytes, struct raw_responses *responses)
{
    const uint8_t *at = bytes->data == NULL ? (const uint8_t *)"" : bytes->data + bytes->start;
    size_t left = nri_buf_size(bytes);
    struct nri_wire_reader reader;
    struct nri_wire_item item = {.kind = NRI_WIRE_HEADER};
    struct nri_buf data[2];
    nri_wire_reader_init(&reader);
    raw_init(&data[0]);
    raw_init(&data[1]);
    *responses = (struct raw_responses){0};
    while (item.kind != NRI_WIRE_MORE) {
        if (nri_wire_read(&reader, &at, &left, &item, NULL) != 0) {
            broken("bytes that are no frames");
        }
        struct nri_buf *of = &data[item.id == NRI_MUX_PLUGIN_ID ? 0 : 1];
        if (item.kind == NRI_WIRE_DATA) {
            put(of, item.data, item.size);
        } else if (item.kind == NRI_WIRE_END) {
            keep(responses, &item, of);
            nri_buf_reset(of, SIZE_MAX);
        }
    }
    if (!nri_wire_reader_at_boundary(&reader)) {
        broken("bytes that end in a message");
    }
    nri_buf_fini(&data[0]);
    nri_buf_fini(&data[1]);
}

void raw_responses_free(struct raw_responses *responses)
{
    for (size_t i = 0; i < responses->count; i++) {
        free(responses->all[i].payload);
    }
    free(responses->all);
    *responses = (struct raw_responses){0};
}
