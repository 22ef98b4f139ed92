/* SPDX-License-Identifier: Apache-2.0 */
#include "rpc/envelope.h"

#include <string.h>

#include "base/text.h"
#include "wire/message.h"
#include "wire/varint.h"

/* Protobuf wire types. Groups (3, 4) are refused, as in lib/wire. */
enum { VARINT = 0, FIXED64 = 1, LENGTH = 2, FIXED32 = 5 };

enum { REQUEST_SERVICE = 1, REQUEST_METHOD, REQUEST_PAYLOAD, REQUEST_TIMEOUT, REQUEST_METADATA };
enum { RESPONSE_STATUS = 1, RESPONSE_PAYLOAD };
enum { STATUS_CODE = 1, STATUS_MESSAGE };
enum { PAIR_KEY = 1, PAIR_VALUE };

/* ---- decoding ---- */

struct reader {
    const uint8_t *start, *at, *end; /* start: of the whole envelope, for offsets */
    const char *what;                /* "ttrpc.Request" */
    struct nri_error *error;
};

struct field {
    uint32_t number;
    uint8_t type;
    uint64_t value; /* VARINT */
    struct nri_rpc_bytes bytes;
};

static int bad(const struct reader *reader, const uint8_t *where, const char *why)
{
    return nri_error_set(reader->error, NRI_E_PROTOCOL, "%s: %s at offset %zu", reader->what, why,
                         (size_t)(where - reader->start));
}

static int read_varint(struct reader *reader, uint64_t *value)
{
    const struct nri_varint varint = nri_varint_read(reader->at, reader->end);
    if (varint.next == NULL) {
        return bad(reader, reader->at, "number cut short or longer than 64 bits");
    }
    reader->at = varint.next;
    *value = varint.value;
    return 0;
}

static int read_bytes(struct reader *reader, uint64_t length, struct nri_rpc_bytes *bytes)
{
    if (length > (size_t)(reader->end - reader->at)) {
        return bad(reader, reader->at, "length past the end");
    }
    *bytes = (struct nri_rpc_bytes){reader->at, (size_t)length};
    reader->at += length;
    return 0;
}

static int read_field(struct reader *reader, struct field *field)
{
    const uint8_t *from = reader->at;
    uint64_t key = 0;
    int code = read_varint(reader, &key);
    if (code != 0) {
        return code;
    }
    if (key >> 3 == 0 || key > UINT32_MAX) {
        return bad(reader, from, "field number out of range");
    }
    *field = (struct field){.number = (uint32_t)(key >> 3)};
    field->type = (uint8_t)(key & 7);
    switch (field->type) {
    case VARINT:
        return read_varint(reader, &field->value);
    case FIXED64:
        return read_bytes(reader, 8, &field->bytes);
    case FIXED32:
        return read_bytes(reader, 4, &field->bytes);
    case LENGTH:
        code = read_varint(reader, &field->value);
        return code != 0 ? code : read_bytes(reader, field->value, &field->bytes);
    default:
        return bad(reader, from, "wire type that proto3 does not have");
    }
}

static int expect(const struct reader *reader, const struct field *field, uint8_t type,
                  const char *name)
{
    if (field->type == type) {
        return 0;
    }
    return nri_error_set(reader->error, NRI_E_PROTOCOL,
                         "%s.%s: wire type %u instead of %u before offset %zu", reader->what, name,
                         field->type, type, (size_t)(reader->at - reader->start));
}

static int take_bytes(const struct reader *reader, const struct field *field, const char *name,
                      struct nri_rpc_bytes *bytes)
{
    const int code = expect(reader, field, LENGTH, name);
    if (code == 0) {
        *bytes = field->bytes;
    }
    return code;
}

static int take_text(const struct reader *reader, const struct field *field, const char *name,
                     struct nri_rpc_bytes *text)
{
    const int code = take_bytes(reader, field, name, text);
    size_t where;
    if (code == 0 && !nri_utf8_valid((const char *)text->bytes, text->length, &where)) {
        return nri_error_set(reader->error, NRI_E_UTF8, "%s.%s: not UTF-8 at offset %zu",
                             reader->what, name, (size_t)(text->bytes + where - reader->start));
    }
    return code;
}

/* Reads the next field, when there is one and *code tells of no error so far. */
static bool next_field(struct reader *reader, struct field *field, int *code)
{
    if (*code != 0 || reader->at == reader->end) {
        return false;
    }
    *field = (struct field){0};
    *code = read_field(reader, field);
    return *code == 0;
}

int nri_rpc_request_decode(const uint8_t *bytes, size_t length, struct nri_rpc_request *request,
                           struct nri_error *error)
{
    struct reader reader = {bytes, bytes, bytes + length, "ttrpc.Request", error};
    const struct nri_rpc_bytes none = {bytes, 0};
    *request = (struct nri_rpc_request){.service = none, .method = none, .payload = none};
    struct field field;
    int code = 0;
    while (next_field(&reader, &field, &code)) {
        switch (field.number) {
        case REQUEST_SERVICE:
            code = take_text(&reader, &field, "service", &request->service);
            break;
        case REQUEST_METHOD:
            code = take_text(&reader, &field, "method", &request->method);
            break;
        case REQUEST_PAYLOAD:
            code = take_bytes(&reader, &field, "payload", &request->payload);
            break;
        case REQUEST_TIMEOUT:
            code = expect(&reader, &field, VARINT, "timeout_nano");
            request->timeout = field.value > INT64_MAX ? 0 : (int64_t)field.value;
            break;
        case REQUEST_METADATA:
            code = expect(&reader, &field, LENGTH, "metadata");
            request->metadata_count++;
            break;
        default: /* of a newer peer */
            break;
        }
    }
    return code;
}

static int decode_status(const struct reader *outer, const struct nri_rpc_bytes *bytes,
                         struct nri_rpc_response *response)
{
    struct reader reader = {outer->start, bytes->bytes, bytes->bytes + bytes->length,
                            "ttrpc.Response.status", outer->error};
    struct field field;
    int code = 0;
    while (next_field(&reader, &field, &code)) {
        if (field.number == STATUS_CODE) {
            code = expect(&reader, &field, VARINT, "code");
            const uint32_t low = (uint32_t)field.value; /* an int32 is sign-extended to 64 bits */
            memcpy(&response->grpc, &low, sizeof low);
        } else if (field.number == STATUS_MESSAGE) {
            code = take_text(&reader, &field, "message", &response->text);
        }
    }
    return code;
}

int nri_rpc_response_decode(const uint8_t *bytes, size_t length, struct nri_rpc_response *response,
                            struct nri_error *error)
{
    struct reader reader = {bytes, bytes, bytes + length, "ttrpc.Response", error};
    const struct nri_rpc_bytes none = {bytes, 0};
    *response = (struct nri_rpc_response){.text = none, .payload = none};
    struct field field;
    int code = 0;
    while (next_field(&reader, &field, &code)) {
        if (field.number == RESPONSE_STATUS) {
            struct nri_rpc_bytes status = {0};
            code = take_bytes(&reader, &field, "status", &status);
            if (code == 0) {
                code = decode_status(&reader, &status, response);
            }
        } else if (field.number == RESPONSE_PAYLOAD) {
            code = take_bytes(&reader, &field, "payload", &response->payload);
        }
    }
    return code;
}

static int decode_pair(const struct reader *outer, const struct nri_rpc_bytes *bytes,
                       struct nri_rpc_bytes *key, struct nri_rpc_bytes *value)
{
    struct reader reader = {outer->start, bytes->bytes, bytes->bytes + bytes->length,
                            "ttrpc.Request.metadata", outer->error};
    *key = *value = (struct nri_rpc_bytes){bytes->bytes, 0};
    struct field field;
    int code = 0;
    while (next_field(&reader, &field, &code)) {
        if (field.number == PAIR_KEY) {
            code = take_text(&reader, &field, "key", key);
        } else if (field.number == PAIR_VALUE) {
            code = take_text(&reader, &field, "value", value);
        }
    }
    return code;
}

int nri_rpc_request_metadata(const uint8_t *bytes, size_t length, size_t count,
                             struct nri_arena *arena, struct nri_rpc_metadata *metadata,
                             struct nri_error *error)
{
    struct reader reader = {bytes, bytes, bytes + length, "ttrpc.Request", error};
    const char **keys = nri_arena_array(arena, count, sizeof *keys);
    const char **values = nri_arena_array(arena, count, sizeof *values);
    bool memory = keys != NULL && values != NULL;
    size_t n = 0;
    while (memory && n < count) {
        struct field field = {0};
        struct nri_rpc_bytes key, value;
        int code = read_field(&reader, &field);
        if (code == 0 && field.number != REQUEST_METADATA) {
            continue;
        }
        if (code == 0) {
            code = decode_pair(&reader, &field.bytes, &key, &value);
        }
        if (code != 0) {
            return code;
        }
        keys[n] = nri_arena_text(arena, (const char *)key.bytes, key.length);
        values[n] = nri_arena_text(arena, (const char *)value.bytes, value.length);
        memory = keys[n] != NULL && values[n] != NULL;
        n++;
    }
    if (!memory) {
        return nri_error_set(error, arena->failure, "ttrpc.Request.metadata: %s",
                             nri_strerror(arena->failure));
    }
    *metadata = (struct nri_rpc_metadata){count, keys, values};
    return 0;
}

/* ---- encoding ---- */

static uint8_t *put_key(uint8_t *at, unsigned number, unsigned type)
{
    *at++ = (uint8_t)(number << 3 | type); /* all our numbers are below 16 */
    return at;
}

/* A field of bytes with the key and length in front; an empty one is not sent. */
static size_t bytes_size(size_t length)
{
    return length == 0 ? 0 : 1 + nri_varint_size(length) + length;
}

static uint8_t *put_bytes(uint8_t *at, unsigned number, const char *bytes, size_t length)
{
    if (length > 0) {
        at = nri_varint_write(put_key(at, number, LENGTH), length);
        memcpy(at, bytes, length);
        at += length;
    }
    return at;
}

static void put_payload(uint8_t *at, unsigned number, const ProtobufCMessage *message, size_t size)
{
    if (size > 0) {
        at = nri_varint_write(put_key(at, number, LENGTH), size);
        nri_message_encode(message, at);
    }
}

/* timeout_nano is signed. */
static uint64_t sent_timeout(uint64_t timeout)
{
    return timeout > INT64_MAX ? INT64_MAX : timeout;
}

static size_t pair_size(const char *const *pair)
{
    return bytes_size(strlen(pair[0])) + bytes_size(strlen(pair[1]));
}

size_t nri_rpc_request_size(const struct nri_rpc_outgoing *outgoing)
{
    size_t size = bytes_size(strlen(outgoing->service)) + bytes_size(strlen(outgoing->method)) +
                  bytes_size(outgoing->payload_size);
    if (outgoing->timeout != 0) {
        size += 1 + nri_varint_size(sent_timeout(outgoing->timeout));
    }
    for (size_t i = 0; i < outgoing->metadata_count; i++) {
        const size_t pair = pair_size(outgoing->metadata + 2 * i);
        size += 1 + nri_varint_size(pair) + pair;
    }
    return size;
}

void nri_rpc_request_encode(const struct nri_rpc_outgoing *outgoing, uint8_t *at)
{
    at = put_bytes(at, REQUEST_SERVICE, outgoing->service, strlen(outgoing->service));
    at = put_bytes(at, REQUEST_METHOD, outgoing->method, strlen(outgoing->method));
    /* The payload goes last: protobuf takes fields in any order, and what is behind it would need
     * its end. */
    if (outgoing->timeout != 0) {
        at =
            nri_varint_write(put_key(at, REQUEST_TIMEOUT, VARINT), sent_timeout(outgoing->timeout));
    }
    for (size_t i = 0; i < outgoing->metadata_count; i++) {
        const char *const *pair = outgoing->metadata + 2 * i;
        at = nri_varint_write(put_key(at, REQUEST_METADATA, LENGTH), pair_size(pair));
        at = put_bytes(at, PAIR_KEY, pair[0], strlen(pair[0]));
        at = put_bytes(at, PAIR_VALUE, pair[1], strlen(pair[1]));
    }
    if (outgoing->payload == NULL) {
        put_payload(at, REQUEST_PAYLOAD, outgoing->message, outgoing->payload_size);
    } else {
        (void)put_bytes(at, REQUEST_PAYLOAD, (const char *)outgoing->payload,
                        outgoing->payload_size);
    }
}

size_t nri_rpc_reply_size(size_t payload_size)
{
    return bytes_size(payload_size);
}

void nri_rpc_reply_encode(const ProtobufCMessage *message, size_t payload_size, uint8_t *at)
{
    put_payload(at, RESPONSE_PAYLOAD, message, payload_size);
}

static size_t status_body(int grpc, size_t length)
{
    /* protobuf sends a negative int32 as a 64-bit number */
    return 1 + nri_varint_size((uint64_t)(int64_t)grpc) + bytes_size(length);
}

size_t nri_rpc_status_size(int grpc, size_t length)
{
    return bytes_size(status_body(grpc, length));
}

static void make_valid(char *text, size_t length)
{
    size_t bad_at;
    for (size_t from = 0; !nri_utf8_valid(text + from, length - from, &bad_at);
         from += bad_at + 1) {
        text[from + bad_at] = '?';
    }
}

void nri_rpc_status_encode(int grpc, const char *text, size_t length, uint8_t *at)
{
    at = nri_varint_write(put_key(at, RESPONSE_STATUS, LENGTH), status_body(grpc, length));
    at = nri_varint_write(put_key(at, STATUS_CODE, VARINT), (uint64_t)(int64_t)grpc);
    at = put_bytes(at, STATUS_MESSAGE, text, length);
    make_valid((char *)at - length, length);
}
