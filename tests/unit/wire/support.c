/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"

static const uint64_t seed[2] = {0x0123456789abcdef, 0xfedcba9876543210};

void start(struct fixture *f, size_t limit)
{
    memset(f, 0, sizeof *f);
    fail_alloc_init(&f->fa, NULL);
    const struct nri_alloc alloc = fail_alloc_resolved(&f->fa);
    nri_arena_init(&f->arena, &alloc, 0, limit);
}

void end(struct fixture *f)
{
    nri_arena_fini(&f->arena);
    assert_int_equal(f->fa.live_blocks, 0);
}

ProtobufCMessage *decode(struct fixture *f, const ProtobufCMessageDescriptor *type,
                         const void *bytes, size_t size, int *code)
{
    ProtobufCMessage *message = NULL;
    uint8_t *copy = malloc(size == 0 ? 1 : size);
    assert_non_null(copy);
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    *code = nri_message_decode(type, copy, size, &f->arena, seed, &message, &f->error);
    memset(copy, 0xDD, size);
    free(copy);
    assert_int_equal(message == NULL, *code != 0);
    if (*code != 0) {
        assert_int_equal(f->error.code, *code);
    }
    return message;
}

void *decode_ok(struct fixture *f, const ProtobufCMessageDescriptor *type, const void *bytes,
                size_t size)
{
    int code;
    ProtobufCMessage *message = decode(f, type, bytes, size, &code);
    if (message == NULL) {
        fail_msg("%d: %s", code, f->error.text);
    }
    assert_ptr_equal(message->descriptor, type);
    return message;
}

void assert_refused(const ProtobufCMessageDescriptor *type, const void *bytes, size_t size,
                    int code, const char *text)
{
    struct fixture f;
    int got;
    start(&f, 1 << 20);
    assert_null(decode(&f, type, bytes, size, &got));
    if (got != code || strstr(f.error.text, text) == NULL) {
        fail_msg("code %d with '%s', not %d with '%s'", got, f.error.text, code, text);
    }
    end(&f);
}

uint8_t *encode(const void *message, size_t *size)
{
    struct nri_error error = {.code = 0};
    if (nri_message_size(message, size, &error) != 0) {
        fail_msg("%s", error.text);
    }
    uint8_t *bytes = malloc(*size + 1);
    assert_non_null(bytes);
    bytes[*size] = 0x5A;
    nri_message_encode(message, bytes);
    assert_int_equal(bytes[*size], 0x5A);
    return bytes;
}

void assert_encodes(const void *message, const void *bytes, size_t size)
{
    size_t got_size;
    uint8_t *got = encode(message, &got_size);
    assert_int_equal(got_size, size);
    assert_memory_equal(got, bytes, size);
    free(got);
}

void put(struct blob *blob, const void *bytes, size_t size)
{
    if (size > blob->room - blob->size) {
        blob->room = 2 * blob->room + size + 64;
        blob->bytes = realloc(blob->bytes, blob->room);
        assert_non_null(blob->bytes);
    }
    if (size > 0) {
        memcpy(blob->bytes + blob->size, bytes, size);
    }
    blob->size += size;
}

void put_varint(struct blob *blob, uint64_t value)
{
    uint8_t byte;
    do {
        byte = (uint8_t)((value & 0x7f) | (value >= 0x80 ? 0x80 : 0));
        put(blob, &byte, 1);
        value >>= 7;
    } while (byte >= 0x80);
}

void put_tag(struct blob *blob, uint32_t field, unsigned wire)
{
    put_varint(blob, (uint64_t)field << 3 | wire);
}

void put_data(struct blob *blob, uint32_t field, const void *data, size_t size)
{
    put_tag(blob, field, 2);
    put_varint(blob, size);
    put(blob, data, size);
}

void put_text(struct blob *blob, uint32_t field, const char *text)
{
    put_data(blob, field, text, strlen(text));
}

void put_blob(struct blob *blob, uint32_t field, const struct blob *inner)
{
    put_data(blob, field, inner->bytes, inner->size);
}

void put_u32(struct blob *blob, uint32_t value)
{
    const uint8_t bytes[] = {(uint8_t)(value >> 24), (uint8_t)(value >> 16), (uint8_t)(value >> 8),
                             (uint8_t)value};
    put(blob, bytes, sizeof bytes);
}

void put_mux(struct blob *blob, uint32_t id, const void *payload, size_t size)
{
    put_u32(blob, id);
    put_u32(blob, (uint32_t)size);
    put(blob, payload, size);
}

void put_ttrpc(struct blob *blob, uint32_t stream, uint8_t type, uint8_t flags, uint32_t length)
{
    const uint8_t rest[] = {type, flags};
    put_u32(blob, length);
    put_u32(blob, stream);
    put(blob, rest, sizeof rest);
}

void blob_free(struct blob *blob)
{
    free(blob->bytes);
    *blob = (struct blob){0};
}

uint64_t next_random(uint64_t *state)
{
    uint64_t x = *state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    return *state = x;
}
