/* SPDX-License-Identifier: Apache-2.0 */
#include "go_reader.h"
#include "support.h"
#include "wire/writer.h"

#define MOST 4194304u

static void begin(struct nri_buf *buf, struct fail_alloc *fa, size_t limit)
{
    fail_alloc_init(fa, NULL);
    const struct nri_alloc alloc = fail_alloc_resolved(fa);
    nri_buf_init(buf, &alloc, limit);
}

static void finish(struct nri_buf *buf, struct fail_alloc *fa)
{
    nri_buf_fini(buf);
    assert_int_equal(fa->live_blocks, 0);
}

static void write_message(struct nri_buf *buf, uint32_t id, uint32_t stream, uint32_t length)
{
    uint8_t *data = NULL;
    assert_int_equal(nri_wire_begin(buf, id, stream, NRI_TTRPC_RESPONSE, 0, length, &data), 0);
    for (uint32_t i = 0; i < length; i++) {
        data[i] = (uint8_t)(i * 7 + stream);
    }
    nri_wire_commit(buf, length);
}

static const uint8_t *bytes_of(const struct nri_buf *buf)
{
    return buf->data + buf->start;
}

static void check_message(const struct go_reader *reader, size_t index, uint32_t id,
                          uint32_t stream, uint32_t length)
{
    struct go_message message;
    assert_true(go_reader_message(reader, index, &message));
    assert_int_equal(message.id, id);
    assert_int_equal(message.stream, stream);
    assert_int_equal(message.type, NRI_TTRPC_RESPONSE);
    assert_int_equal(message.flags, 0);
    assert_int_equal(message.length, length);
    for (uint32_t i = 0; i < length; i++) {
        if (message.data[i] != (uint8_t)(i * 7 + stream)) {
            fail_msg("byte %u of %u", (unsigned)i, (unsigned)length);
        }
    }
}

/* One frame as long as header and data fit Go's buffer, else one of the header and one of the data.
 */
static void check_frames(const struct nri_buf *buf, uint32_t length)
{
    struct blob expected = {0};
    const bool one = length <= 4086;
    put_u32(&expected, 2);
    put_u32(&expected, one ? 10 + length : 10);
    put_ttrpc(&expected, 5, NRI_TTRPC_RESPONSE, 0, length);
    if (!one) {
        put_u32(&expected, 2);
        put_u32(&expected, length);
    }
    assert_int_equal(nri_buf_size(buf), expected.size + length);
    assert_memory_equal(bytes_of(buf), expected.bytes, expected.size);
    blob_free(&expected);
}

static void check_size(uint32_t length)
{
    struct nri_buf buf;
    struct fail_alloc fa;
    struct go_reader reader;
    begin(&buf, &fa, SIZE_MAX);
    go_reader_init(&reader);
    write_message(&buf, 2, 5, length);
    check_frames(&buf, length);
    assert_int_equal(go_reader_feed(&reader, bytes_of(&buf), nri_buf_size(&buf)), 0);
    check_message(&reader, 0, 2, 5, length);
    assert_true(go_reader_idle(&reader));
    go_reader_fini(&reader);
    finish(&buf, &fa);
}

static void test_every_size(void **state)
{
    (void)state;
    for (uint32_t length = 0; length <= 20000; length++) {
        check_size(length);
    }
    for (uint32_t length = MOST - 2; length <= MOST; length++) {
        check_size(length);
    }
}

/* Many messages behind one another, on both connections: never bytes of two in a frame. */
static void test_many_messages(void **state)
{
    (void)state;
    struct nri_buf buf;
    struct fail_alloc fa;
    struct go_reader reader;
    begin(&buf, &fa, SIZE_MAX);
    go_reader_init(&reader);
    for (uint32_t i = 0; i < 200; i++) {
        write_message(&buf, 1 + i % 2, 2 * i + 1, i * i % 9001);
    }
    assert_int_equal(go_reader_stall(&reader, true), 0);
    assert_int_equal(go_reader_feed(&reader, bytes_of(&buf), nri_buf_size(&buf)), 0);
    assert_int_equal(reader.message_count, 0);
    assert_int_equal(go_reader_stall(&reader, false), 0);
    assert_int_equal(reader.messages_of[1], 100);
    assert_int_equal(reader.messages_of[2], 100);
    assert_int_equal(reader.shared, 0);
    assert_int_equal(reader.dropped, 0);
    size_t seen[3] = {0};
    for (size_t i = 0; i < 200; i++) {
        struct go_message message;
        assert_true(go_reader_message(&reader, i, &message));
        const uint32_t number = (uint32_t)(2 * seen[message.id]++ + message.id - 1);
        check_message(&reader, i, message.id, 2 * number + 1, number * number % 9001);
    }
    assert_true(go_reader_idle(&reader));
    go_reader_fini(&reader);
    finish(&buf, &fa);
}

/* A message that is begun and given up leaves nothing. */
static void test_begin_without_commit(void **state)
{
    (void)state;
    struct nri_buf buf;
    struct fail_alloc fa;
    begin(&buf, &fa, SIZE_MAX);
    write_message(&buf, 1, 1, 3);
    const size_t size = nri_buf_size(&buf);
    uint8_t *data;
    assert_int_equal(nri_wire_begin(&buf, 1, 3, NRI_TTRPC_RESPONSE, 0, 100000, &data), 0);
    memset(data, 0xEE, 100000);
    assert_int_equal(nri_buf_size(&buf), size);
    write_message(&buf, 1, 5, 4);
    assert_int_equal(nri_buf_size(&buf), size + 18 + 4);
    finish(&buf, &fa);
}

static void test_no_room(void **state)
{
    (void)state;
    struct nri_buf buf;
    struct fail_alloc fa;
    uint8_t *data;
    begin(&buf, &fa, 5000 + 26);
    assert_int_equal(nri_wire_begin(&buf, 1, 1, NRI_TTRPC_REQUEST, 0, 5001, &data), NRI_E_LIMIT);
    assert_int_equal(nri_buf_size(&buf), 0);
    write_message(&buf, 1, 1, 5000);
    assert_int_equal(nri_wire_begin(&buf, 1, 1, NRI_TTRPC_REQUEST, 0, 0, &data), NRI_E_LIMIT);
    assert_int_equal(nri_buf_size(&buf), 5026);
    finish(&buf, &fa);

    begin(&buf, &fa, SIZE_MAX);
    fail_alloc_arm(&fa, 1);
    assert_int_equal(nri_wire_begin(&buf, 1, 1, NRI_TTRPC_REQUEST, 0, 10, &data), NRI_E_NOMEM);
    assert_int_equal(nri_buf_size(&buf), 0);
    /* More than any reader takes, with no memory asked for. */
    fail_alloc_arm(&fa, 1);
    assert_int_equal(nri_wire_begin(&buf, 1, 1, NRI_TTRPC_REQUEST, 0, NRI_MUX_MAX_FRAME + 1, &data),
                     NRI_E_LIMIT);
    assert_int_equal(nri_wire_begin(&buf, 1, 1, NRI_TTRPC_REQUEST, 0, UINT32_MAX, &data),
                     NRI_E_LIMIT);
    assert_false(fa.fired);
    finish(&buf, &fa);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),
        cmocka_unit_test(test_many_messages),
        cmocka_unit_test(test_begin_without_commit),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
