/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model of Go's reader does what real Go peers were seen to do: what breaks them breaks it,
 * what they read it reads.
 */
#include "capture.h"
#include "go_reader.h"
#include "support.h"

#define MIB ((size_t)1 << 20)

/* The bytes of a message: header, then data that depends on the stream. */
static void put_message(struct blob *blob, uint32_t stream, size_t length)
{
    put_ttrpc(blob, stream, 1, 0, (uint32_t)length);
    uint8_t *data = malloc(length + 1);
    assert_non_null(data);
    for (size_t i = 0; i < length; i++) {
        data[i] = (uint8_t)(i * 31 + stream);
    }
    put(blob, data, length);
    free(data);
}

/* Cuts bytes into frames of `step` bytes, the first of `first`. */
static void put_frames(struct blob *stream, const struct blob *bytes, size_t first, size_t step)
{
    for (size_t at = 0; at < bytes->size;) {
        size_t n = at == 0 ? first : step;
        n = n < bytes->size - at ? n : bytes->size - at;
        put_mux(stream, 1, bytes->bytes + at, n);
        at += n;
    }
}

static void assert_reads(const struct blob *stream, size_t count)
{
    struct go_reader reader;
    go_reader_init(&reader);
    if (go_reader_feed(&reader, stream->bytes, stream->size) != 0) {
        fail_msg("%s", go_reader_error(&reader));
    }
    assert_int_equal(reader.message_count, count);
    for (size_t i = 0; i < count; i++) {
        struct go_message m;
        assert_true(go_reader_message(&reader, i, &m));
        for (uint32_t j = 0; j < m.length; j++) {
            if (m.data[j] != (uint8_t)(j * 31 + m.stream)) {
                fail_msg("message %zu differs", i);
            }
        }
    }
    assert_true(go_reader_idle(&reader));
    go_reader_fini(&reader);
}

static void assert_breaks(const struct blob *stream, const char *text)
{
    struct go_reader reader;
    go_reader_init(&reader);
    assert_int_equal(go_reader_feed(&reader, stream->bytes, stream->size), -1);
    if (strstr(go_reader_error(&reader), text) == NULL) {
        fail_msg("'%s', not '%s'", go_reader_error(&reader), text);
    }
    /* And it stays so. */
    assert_int_equal(go_reader_feed(&reader, stream->bytes, 0), -1);
    assert_false(go_reader_idle(&reader));
    go_reader_fini(&reader);
}

static void test_100_kB_in_frames_that_are_too_large(void **state)
{
    (void)state;
    struct blob message = {0}, stream = {0};
    const size_t steps[] = {100010, 65536, 4097};
    put_message(&message, 1, 100000);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        stream.size = 0;
        put_frames(&stream, &message, steps[i], steps[i]);
        assert_breaks(&stream, "cannot allocate memory");
    }
    stream.size = 0;
    put_frames(&stream, &message, 4096, 4096);
    assert_reads(&stream, 1);
    blob_free(&message);
    blob_free(&stream);
}

static void test_4_MiB_in_1025_frames(void **state)
{
    (void)state;
    struct blob message = {0}, stream = {0};
    put_message(&message, 1, 4 * MIB);
    put_frames(&stream, &message, 4096, 4096);
    assert_breaks(&stream, "failed to queue payload");
    blob_free(&message);
    blob_free(&stream);
}

static void test_two_messages_in_one_frame(void **state)
{
    (void)state;
    struct blob messages = {0}, stream = {0};
    /* The end of a large one and the start of the next. */
    put_message(&messages, 1, 10000);
    put_message(&messages, 3, 10000);
    put_frames(&stream, &messages, 10, 10010);
    assert_breaks(&stream, "cannot allocate memory");
    /* Small ones pass, and are counted. */
    messages.size = stream.size = 0;
    put_message(&messages, 1, 100);
    put_message(&messages, 3, 100);
    put_frames(&stream, &messages, 150, 150);
    assert_reads(&stream, 2);
    struct go_reader reader;
    go_reader_init(&reader);
    assert_int_equal(go_reader_feed(&reader, stream.bytes, stream.size), 0);
    assert_int_equal(reader.shared, 1);
    go_reader_fini(&reader);
    blob_free(&messages);
    blob_free(&stream);
}

static void test_300_frames_while_the_reader_is_late(void **state)
{
    (void)state;
    struct blob stream = {0};
    for (uint32_t i = 0; i < 300; i++) {
        struct blob message = {0};
        put_message(&message, 2 * i + 1, 1);
        put_frames(&stream, &message, 100, 100);
        blob_free(&message);
    }
    const size_t each = 8 + 10 + 1;
    struct go_reader reader;
    go_reader_init(&reader);
    go_reader_stall(&reader, true);
    assert_int_equal(go_reader_feed(&reader, stream.bytes, 256 * each), 0);
    assert_int_equal(reader.most_unread, 256);
    assert_int_equal(reader.message_count, 0);
    assert_int_equal(go_reader_feed(&reader, stream.bytes + 256 * each, each), -1);
    assert_non_null(strstr(go_reader_error(&reader), "failed to queue payload"));
    go_reader_fini(&reader);
    /* A reader that comes in time gets them all. */
    assert_reads(&stream, 300);
    go_reader_init(&reader);
    go_reader_stall(&reader, true);
    assert_int_equal(go_reader_feed(&reader, stream.bytes, 256 * each), 0);
    assert_int_equal(go_reader_stall(&reader, false), 0);
    assert_int_equal(reader.message_count, 256);
    assert_int_equal(go_reader_feed(&reader, stream.bytes + 256 * each, 44 * each), 0);
    assert_int_equal(reader.messages_of[1], 300);
    go_reader_fini(&reader);
    blob_free(&stream);
}

/* Whole when it fits, else header and data apart; and Go's own cut. Both from 1 B to 4 MiB. */
static void test_what_works(void **state)
{
    (void)state;
    const size_t lengths[] = {0,    1,    100,  4085, 4086,   4087, 4095,
                              4096, 4097, 8191, 8192, 100000, MIB,  4 * MIB};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        struct blob message = {0}, stream = {0};
        put_message(&message, 7, lengths[i]);
        put_frames(&stream, &message, message.size <= 4096 ? message.size : 10, message.size);
        assert_reads(&stream, 1);
        stream.size = 0;
        put_frames(&stream, &message, 4096, message.size);
        assert_reads(&stream, 1);
        blob_free(&message);
        blob_free(&stream);
    }
}

/* A frame one byte longer than the buffer that is read into. */
static void test_one_byte_too_long(void **state)
{
    (void)state;
    struct blob message = {0}, stream = {0};
    put_message(&message, 7, 4087);
    put_frames(&stream, &message, 4097, 4097);
    assert_breaks(&stream, "a frame of 4097 bytes for a buffer of 4096");
    /* Data of 5000 bytes, 1000 of them buffered with the header: 4000 are left, and the rest comes
     * with 97 bytes of the next message, which is one too many for the buffer. */
    message.size = stream.size = 0;
    put_message(&message, 1, 5000);
    put_message(&message, 3, 1000);
    put_frames(&stream, &message, 1010, 4097);
    assert_breaks(&stream, "a frame of 4097 bytes for a buffer of 4096");
    stream.size = 0;
    put_frames(&stream, &message, 1010, 4096);
    assert_reads(&stream, 2);
    blob_free(&message);
    blob_free(&stream);
}

static void test_other_limits(void **state)
{
    (void)state;
    struct blob message = {0}, stream = {0};
    put_ttrpc(&message, 1, 1, 0, 4194305);
    put_frames(&stream, &message, 10, 10);
    assert_breaks(&stream, "message length 4194305 exceeds");
    stream.size = 0;
    put_u32(&stream, 1);
    put_u32(&stream, 4194315);
    assert_breaks(&stream, "a mux frame of 4194315 bytes exceeds");
    /* Frames for other connections are dropped, empty frames are read as nothing. */
    stream.size = message.size = 0;
    put_message(&message, 1, 20);
    put_mux(&stream, 9, "abc", 3);
    put_frames(&stream, &message, 5, 5);
    put_mux(&stream, 1, "", 0);
    put_frames(&stream, &message, 30, 30);
    struct go_reader reader;
    go_reader_init(&reader);
    assert_int_equal(go_reader_feed(&reader, stream.bytes, stream.size), 0);
    assert_int_equal(reader.dropped, 1);
    assert_int_equal(reader.message_count, 2);
    assert_int_equal(reader.frames, 1 + 6 + 1 + 1);
    go_reader_forget(&reader);
    assert_int_equal(reader.message_count, 0);
    assert_int_equal(reader.messages_of[1], 2);
    go_reader_fini(&reader);
    blob_free(&message);
    blob_free(&stream);
}

/* What real Go peers sent one another gets through, in any cut of the socket. */
static void test_recorded_streams(void **state)
{
    (void)state;
    for (size_t i = 0; capture_names[i] != NULL; i++) {
        struct capture capture;
        struct go_reader reader;
        assert_true(capture_load(&capture, capture_names[i]));
        const size_t steps[] = {1, 143, capture.size};
        size_t messages = 0;
        for (size_t j = 0; j < sizeof steps / sizeof steps[0]; j++) {
            struct capture_cut cut = {.capture = &capture, .step = steps[j]};
            const uint8_t *bytes;
            size_t count;
            go_reader_init(&reader);
            while (capture_cut_piece(&cut, &bytes, &count)) {
                if (go_reader_feed(&reader, bytes, count) != 0) {
                    fail_msg("%s: %s", capture.name, go_reader_error(&reader));
                }
            }
            assert_true(go_reader_idle(&reader));
            assert_true(reader.message_count >= 1);
            assert_true(j == 0 || reader.message_count == messages);
            messages = reader.message_count;
            assert_int_equal(reader.frames, capture.frame_count);
            go_reader_fini(&reader);
        }
        capture_free(&capture);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_100_kB_in_frames_that_are_too_large),
        cmocka_unit_test(test_4_MiB_in_1025_frames),
        cmocka_unit_test(test_two_messages_in_one_frame),
        cmocka_unit_test(test_300_frames_while_the_reader_is_late),
        cmocka_unit_test(test_what_works),
        cmocka_unit_test(test_one_byte_too_long),
        cmocka_unit_test(test_other_limits),
        cmocka_unit_test(test_recorded_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
