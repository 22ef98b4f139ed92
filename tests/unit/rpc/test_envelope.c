/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hand-written envelope against protobuf-c's view of ttrpc.proto, both ways, and what it
 * refuses.
 */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#include "proto/ttrpc.pb-c.h"
#include "rpc/envelope.h"

static bool same(const struct nri_rpc_bytes *bytes, const char *text)
{
    return bytes->length == strlen(text) && memcmp(bytes->bytes, text, bytes->length) == 0;
}

static void test_requests_of_protobuf_c(void **state)
{
    (void)state;
    static const int64_t timeouts[] = {0, 1, 127, 128, INT64_MAX, -1, INT64_MIN};
    for (size_t i = 0; i < sizeof timeouts / sizeof timeouts[0]; i++) {
        char service[] = "x.Y", method[] = "Z", key[] = "k", value[] = "v\xc3\xa9",
             payload[] = "\0\1\2";
        uint8_t bytes[256];
        struct nri_rpc_request decoded;
        Ttrpc__Request request = TTRPC__REQUEST__INIT;
        Ttrpc__KeyValue pair = TTRPC__KEY_VALUE__INIT;
        Ttrpc__KeyValue *pairs[] = {&pair, &pair};
        request.service = service;
        request.method = method;
        request.payload = (ProtobufCBinaryData){3, (uint8_t *)payload};
        request.timeout_nano = timeouts[i];
        request.n_metadata = 2;
        request.metadata = pairs;
        pair.key = key;
        pair.value = value;
        const size_t size = ttrpc__request__pack(&request, bytes);
        assert_int_equal(nri_rpc_request_decode(bytes, size, &decoded, NULL), 0);
        assert_true(same(&decoded.service, "x.Y"));
        assert_true(same(&decoded.method, "Z"));
        assert_int_equal(decoded.payload.length, 3);
        assert_memory_equal(decoded.payload.bytes, payload, 3);
        assert_true(decoded.payload.bytes > bytes &&
                    decoded.payload.bytes < bytes + size); /* in place */
        assert_true(decoded.timeout == (timeouts[i] < 0 ? 0 : timeouts[i]));
        assert_int_equal(decoded.metadata_count, 2);
    }
}

static void test_requests_for_protobuf_c(void **state)
{
    (void)state;
    static const char *const metadata[] = {"k", "v", "", "only a value", "only a key", ""};
    static const uint64_t timeouts[] = {0, 1, 300, INT64_MAX, UINT64_MAX};
    static const size_t lengths[] = {0, 1, 100, 200, 20000};
    for (size_t i = 0; i < 5; i++) {
        struct big_request big;
        struct nri_rpc_outgoing outgoing = {
            .service = RUNTIME,
            .method = "UpdateContainers",
            .timeout = timeouts[i],
            .metadata = metadata,
            .metadata_count = i < 3 ? i : 3,
        };
        big_request_init(&big, lengths[i], 'x');
        if (i == 0) {
            big.message.n_evict = 0; /* an empty message: no payload at all */
        }
        outgoing.message = &big.message.base;
        assert_int_equal(nri_message_size(outgoing.message, &outgoing.payload_size, NULL), 0);
        const size_t size = nri_rpc_request_size(&outgoing);
        uint8_t *bytes = malloc(size);
        assert_non_null(bytes);
        nri_rpc_request_encode(&outgoing, bytes);
        Ttrpc__Request *request = ttrpc__request__unpack(NULL, size, bytes);
        assert_non_null(request);
        assert_string_equal(request->service, RUNTIME);
        assert_string_equal(request->method, "UpdateContainers");
        assert_true(request->timeout_nano == (i == 4 ? INT64_MAX : (int64_t)timeouts[i]));
        assert_int_equal(request->n_metadata, outgoing.metadata_count);
        for (size_t j = 0; j < request->n_metadata; j++) {
            assert_string_equal(request->metadata[j]->key, metadata[2 * j]);
            assert_string_equal(request->metadata[j]->value, metadata[2 * j + 1]);
        }
        assert_int_equal(request->payload.len, outgoing.payload_size);
        update_request *update = nri__pkg__api__v1alpha1__update_containers_request__unpack(
            NULL, request->payload.len, request->payload.data);
        assert_non_null(update);
        assert_int_equal(update->n_evict, i == 0 ? 0 : 1);
        if (i > 0) {
            assert_string_equal(update->evict[0]->reason, big.evict.reason);
        }
        nri__pkg__api__v1alpha1__update_containers_request__free_unpacked(update, NULL);
        ttrpc__request__free_unpacked(request, NULL);
        free(bytes);
        big_request_fini(&big);
    }
}

static void test_responses_for_protobuf_c(void **state)
{
    (void)state;
    static const int codes[] = {2, 12, 16, 300, -1};
    static const char *const texts[] = {"", "no", "a longer one", "\xe2\x82\xac", "x"};
    for (size_t i = 0; i < 5; i++) {
        uint8_t bytes[256];
        const size_t size = nri_rpc_status_size(codes[i], strlen(texts[i]));
        nri_rpc_status_encode(codes[i], texts[i], strlen(texts[i]), bytes);
        Ttrpc__Response *response = ttrpc__response__unpack(NULL, size, bytes);
        assert_non_null(response);
        assert_int_equal(response->status->code, codes[i]);
        assert_string_equal(response->status->message, texts[i]);
        assert_int_equal(response->payload.len, 0);
        ttrpc__response__free_unpacked(response, NULL);
        struct nri_rpc_response decoded;
        assert_int_equal(nri_rpc_response_decode(bytes, size, &decoded, NULL), 0);
        assert_int_equal(decoded.grpc, codes[i]);
        assert_true(same(&decoded.text, texts[i]));
    }
    struct big_response big;
    size_t payload;
    big_response_init(&big, 1000, 'p');
    assert_int_equal(nri_message_size(&big.message.base, &payload, NULL), 0);
    const size_t size = nri_rpc_reply_size(payload);
    uint8_t *bytes = malloc(size);
    assert_non_null(bytes);
    nri_rpc_reply_encode(&big.message.base, payload, bytes);
    Ttrpc__Response *response = ttrpc__response__unpack(NULL, size, bytes);
    assert_non_null(response);
    assert_null(response->status);
    assert_int_equal(response->payload.len, payload);
    ttrpc__response__free_unpacked(response, NULL);
    free(bytes);
    big_response_fini(&big);
    assert_int_equal(nri_rpc_reply_size(0), 0);
}

/* What a newer peer may add, and the last of what comes twice. */
static void test_fields_in_any_order(void **state)
{
    (void)state;
    struct nri_rpc_request request;
    struct nri_buf data;
    raw_init(&data);
    raw_varint(&data, 4, 5);
    raw_text(&data, 3, "payload");
    raw_text(&data, 2, "first");
    raw_text(&data, 99, "unknown");
    raw_varint(&data, 100000, 7);
    assert_int_equal(nri_buf_append(&data, "\x35\1\2\3\4\x39\1\2\3\4\5\6\7\x08", 14),
                     0); /* fixed32, fixed64 */
    raw_text(&data, 2, "second");
    raw_varint(&data, 4, 6);
    assert_int_equal(nri_rpc_request_decode(data.data, nri_buf_size(&data), &request, NULL), 0);
    assert_true(same(&request.method, "second"));
    assert_true(same(&request.payload, "payload"));
    assert_true(same(&request.service, ""));
    assert_int_equal(request.timeout, 6);
    nri_buf_fini(&data);
}

static void test_malformed_envelopes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        int code;
        const char *text;
    } cases[] = {
        {"\x0a", 1, NRI_E_PROTOCOL,
         "ttrpc.Request: number cut short or longer than 64 bits at offset 1"},
        {"\x0a\x02x", 3, NRI_E_PROTOCOL, "ttrpc.Request: length past the end at offset 2"},
        {"\x0a\x01x\x12\x02\xff\xfe", 7, NRI_E_UTF8, "ttrpc.Request.method: not UTF-8 at offset 5"},
        {"\x08\x01", 2, NRI_E_PROTOCOL,
         "ttrpc.Request.service: wire type 0 instead of 2 before offset 2"},
        {"\x22\x01x", 3, NRI_E_PROTOCOL,
         "ttrpc.Request.timeout_nano: wire type 2 instead of 0 before offset 3"},
        {"\x25\1\2\3\4", 5, NRI_E_PROTOCOL, "ttrpc.Request.timeout_nano: wire type 5"},
        {"\x28\x01", 2, NRI_E_PROTOCOL, "ttrpc.Request.metadata: wire type 0"},
        {"\x7b\x7c", 2, NRI_E_PROTOCOL, "wire type that proto3 does not have at offset 0"},
        {"\x02\x00", 2, NRI_E_PROTOCOL, "field number out of range at offset 0"},
        {"\x82\x80\x80\x80\x80\x01\x00", 7, NRI_E_PROTOCOL, "field number out of range"},
        {"\x35\1\2\3", 4, NRI_E_PROTOCOL, "length past the end"},
        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, NRI_E_PROTOCOL, "length past the end"},
        {"\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, NRI_E_PROTOCOL, "longer than 64 bits"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct nri_rpc_request request;
        struct nri_error error = {0};
        uint8_t *bytes = malloc(cases[i].size); /* in its very size */
        assert_non_null(bytes);
        memcpy(bytes, cases[i].bytes, cases[i].size);
        assert_int_equal(nri_rpc_request_decode(bytes, cases[i].size, &request, &error),
                         cases[i].code);
        assert_contains(error.text, cases[i].text);
        free(bytes);
    }
}

/* Each beginning of a valid envelope, and each of its bytes changed: nothing but an answer. */
static void test_cut_and_changed_envelopes(void **state)
{
    (void)state;
    struct nri_buf data;
    struct nri_alloc alloc;
    struct nri_arena arena;
    size_t good = 0;
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    raw_init(&data);
    raw_text(&data, 1, PLUGIN);
    raw_text(&data, 2, "Configure");
    raw_bytes(&data, 3, "abc", 3);
    raw_varint(&data, 4, 2000000000);
    raw_bytes(&data, 5, "\x0a\x01k\x12\x01v", 6);
    const size_t size = nri_buf_size(&data);
    nri_arena_init(&arena, &alloc, 0, SIZE_MAX);
    for (size_t at = 0; at < size; at++) {
        for (unsigned value = 0; value < 257; value++) {
            struct nri_rpc_request request;
            struct nri_rpc_response response;
            struct nri_rpc_metadata metadata;
            const size_t length = value == 256 ? at : size; /* 256: a cut */
            uint8_t *bytes = malloc(length + 1);
            assert_non_null(bytes);
            memcpy(bytes, data.data, length);
            if (value < 256) {
                bytes[at] = (uint8_t)value;
            }
            if (nri_rpc_request_decode(bytes, length, &request, NULL) == 0 &&
                request.metadata_count > 0) {
                good += nri_rpc_request_metadata(bytes, length, request.metadata_count, &arena,
                                                 &metadata, NULL) == 0;
                nri_arena_reset(&arena);
            }
            (void)nri_rpc_response_decode(bytes, length, &response, NULL);
            free(bytes);
        }
    }
    assert_true(good > size); /* at least the unchanged ones */
    nri_arena_fini(&arena);
    nri_buf_fini(&data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests_of_protobuf_c),
        cmocka_unit_test(test_requests_for_protobuf_c),
        cmocka_unit_test(test_responses_for_protobuf_c),
        cmocka_unit_test(test_fields_in_any_order),
        cmocka_unit_test(test_malformed_envelopes),
        cmocka_unit_test(test_cut_and_changed_envelopes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
