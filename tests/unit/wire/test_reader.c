/* SPDX-License-Identifier: Apache-2.0 */
#include "support.h"
#include "wire/reader.h"

/* A reader and the messages that it gave, with the data put together. */
struct got {
    struct nri_wire_item header;
    struct blob data;
    bool ended;
};

struct session {
    struct nri_wire_reader reader;
    struct nri_error error;
    struct got got[16];
    size_t count;
    struct got *open[3]; /* by connection id */
    int code;
};

static void take_item(struct session *s, const struct nri_wire_item *item)
{
    struct got *got = s->open[item->id];
    if (item->kind == NRI_WIRE_HEADER) {
        assert_null(got);
        assert_true(s->count < sizeof s->got / sizeof s->got[0]);
        got = &s->got[s->count++];
        s->open[item->id] = got;
        got->header = *item;
    }
    assert_non_null(got);
    if (item->kind == NRI_WIRE_DATA) {
        assert_true(item->size > 0);
        put(&got->data, item->data, item->size);
    } else if (item->kind == NRI_WIRE_END) {
        assert_int_equal(got->data.size, got->header.length);
        got->ended = true;
        s->open[item->id] = NULL;
    }
    assert_int_equal(item->stream, got->header.stream);
    assert_int_equal(item->type, got->header.type);
    assert_int_equal(item->flags, got->header.flags);
    assert_int_equal(item->length, got->header.length);
}

static void feed(struct session *s, const uint8_t *bytes, size_t count)
{
    struct nri_wire_item item;
    for (;;) {
        s->code = nri_wire_read(&s->reader, &bytes, &count, &item, &s->error);
        if (s->code != 0) {
            return;
        }
        if (item.kind == NRI_WIRE_MORE) {
            assert_int_equal(count, 0);
            return;
        }
        take_item(s, &item);
    }
}

static void begin(struct session *s)
{
    memset(s, 0, sizeof *s);
    nri_wire_reader_init(&s->reader);
}

static void finish(struct session *s)
{
    for (size_t i = 0; i < s->count; i++) {
        blob_free(&s->got[i].data);
    }
}

static void assert_got(const struct session *s, size_t i, uint32_t id, uint32_t stream,
                       uint8_t type, const char *data)
{
    assert_true(i < s->count);
    const struct got *got = &s->got[i];
    assert_true(got->ended);
    assert_int_equal(got->header.id, id);
    assert_int_equal(got->header.stream, stream);
    assert_int_equal(got->header.type, type);
    assert_int_equal(got->data.size, strlen(data));
    assert_memory_equal(got->data.bytes, data, strlen(data));
}

/* Everything that is legal and unusual, in one stream. */
static void make_stream(struct blob *stream)
{
    struct blob a = {0}, b = {0}, both = {0};
    put_ttrpc(&a, 1, NRI_TTRPC_REQUEST, 0, 5);
    put(&a, "first", 5);
    put_ttrpc(&b, 3, NRI_TTRPC_RESPONSE, 7, 6);
    put(&b, "second", 6);

    put_mux(stream, 1, "", 0);
    /* Two messages in one frame, the end of the second in another. */
    put(&both, a.bytes, a.size);
    put(&both, b.bytes, b.size - 2);
    put_mux(stream, 1, both.bytes, both.size);
    put_mux(stream, 1, "", 0);
    /* Between them a frame for an id that nobody knows, and a whole message on the other
     * connection. */
    put_mux(stream, 77, "whatever this is", 16);
    put_mux(stream, 0, "x", 1);
    put_mux(stream, 2, a.bytes, a.size);
    put_mux(stream, 1, b.bytes + b.size - 2, 2);
    /* A message over many frames, its header too. */
    for (size_t i = 0; i < a.size; i++) {
        put_mux(stream, 2, a.bytes + i, 1);
        put_mux(stream, 2, NULL, 0);
    }
    /* Empty ones: alone, and two in a frame. */
    both.size = 0;
    put_ttrpc(&both, 5, 0x42, 0, 0);
    put_mux(stream, 1, both.bytes, both.size);
    put_ttrpc(&both, 6, NRI_TTRPC_DATA, 0, 0);
    put_mux(stream, 2, both.bytes, both.size);
    blob_free(&a);
    blob_free(&b);
    blob_free(&both);
}

static void check_stream(struct session *s)
{
    assert_int_equal(s->code, 0);
    assert_int_equal(s->count, 7);
    assert_got(s, 0, 1, 1, NRI_TTRPC_REQUEST, "first");
    assert_got(s, 1, 1, 3, NRI_TTRPC_RESPONSE, "second");
    assert_int_equal(s->got[1].header.flags, 7);
    assert_got(s, 2, 2, 1, NRI_TTRPC_REQUEST, "first");
    assert_got(s, 3, 2, 1, NRI_TTRPC_REQUEST, "first");
    assert_got(s, 4, 1, 5, 0x42, "");
    assert_got(s, 5, 2, 5, 0x42, "");
    assert_got(s, 6, 2, 6, NRI_TTRPC_DATA, "");
    assert_true(nri_wire_reader_at_boundary(&s->reader));
}

/* Every pair of cuts. */
static void test_any_cut(void **state)
{
    (void)state;
    struct blob stream = {0};
    make_stream(&stream);
    for (size_t a = 0; a <= stream.size; a++) {
        for (size_t b = a; b <= stream.size; b += 1 + stream.size / 64) {
            struct session s;
            begin(&s);
            feed(&s, stream.bytes, a);
            feed(&s, stream.bytes + a, b - a);
            feed(&s, stream.bytes + b, stream.size - b);
            check_stream(&s);
            finish(&s);
        }
    }
    struct session s;
    begin(&s);
    for (size_t i = 0; i < stream.size; i++) {
        feed(&s, stream.bytes + i, 1);
    }
    check_stream(&s);
    finish(&s);
    blob_free(&stream);
}

static void test_at_boundary(void **state)
{
    (void)state;
    struct blob message = {0}, stream = {0};
    put_ttrpc(&message, 1, NRI_TTRPC_REQUEST, 0, 3);
    put(&message, "abc", 3);
    /* Frames that end in the header, and in the data. */
    put_mux(&stream, 2, message.bytes, 4);
    put_mux(&stream, 2, message.bytes + 4, 7);
    put_mux(&stream, 2, message.bytes + 11, message.size - 11);
    struct session s;
    begin(&s);
    assert_true(nri_wire_reader_at_boundary(&s.reader));
    for (size_t i = 0; i + 1 < stream.size; i++) {
        feed(&s, stream.bytes + i, 1);
        assert_false(nri_wire_reader_at_boundary(&s.reader));
    }
    feed(&s, stream.bytes + stream.size - 1, 1);
    assert_true(nri_wire_reader_at_boundary(&s.reader));
    finish(&s);
    /* In the middle of a message on the other connection, between two frames. */
    struct blob other = {0};
    put_mux(&other, 1, message.bytes, message.size);
    const size_t ends[] = {NRI_MUX_HEADER + 4, 2 * NRI_MUX_HEADER + 11};
    for (size_t i = 0; i < 2; i++) {
        begin(&s);
        feed(&s, stream.bytes, ends[i]);
        feed(&s, other.bytes, other.size);
        assert_int_equal(s.count, 1 + i);
        assert_false(nri_wire_reader_at_boundary(&s.reader));
        finish(&s);
    }
    blob_free(&other);
    blob_free(&message);
    blob_free(&stream);
}

/* Refused at the last byte of the header, whatever the cut. */
static void assert_stream_refused(const struct blob *stream, const char *text)
{
    for (size_t cut = 0; cut <= stream->size; cut++) {
        struct session s;
        begin(&s);
        feed(&s, stream->bytes, cut);
        if (cut < stream->size) {
            assert_int_equal(s.code, 0);
            feed(&s, stream->bytes + cut, stream->size - cut);
        }
        assert_int_equal(s.code, NRI_E_PROTOCOL);
        assert_int_equal(s.error.code, NRI_E_PROTOCOL);
        assert_non_null(strstr(s.error.text, text));
        assert_int_equal(s.count, 0);
        finish(&s);
    }
}

static void test_lengths_that_nobody_sends(void **state)
{
    (void)state;
    struct blob stream = {0}, header = {0};
    put_u32(&stream, 1);
    put_u32(&stream, UINT32_MAX);
    assert_stream_refused(&stream, "4294967295 bytes on connection id 1");
    stream.size = 0;
    put_u32(&stream, 99); /* not for an unknown id either */
    put_u32(&stream, NRI_MUX_MAX_FRAME + 1);
    assert_stream_refused(&stream, "16777227 bytes on connection id 99: at most 16777226");
    stream.size = 0;
    put_ttrpc(&header, 9, NRI_TTRPC_REQUEST, 0, UINT32_MAX);
    put_mux(&stream, 2, header.bytes, header.size);
    assert_stream_refused(&stream, "0xffffffff on connection id 2, stream 9");
    blob_free(&stream);
    blob_free(&header);
}

/* The longest that is legal: the header says so, and nothing is held or taken. */
static void test_longest_lengths(void **state)
{
    (void)state;
    struct session s;
    struct blob stream = {0}, header = {0};
    put_ttrpc(&header, 9, NRI_TTRPC_REQUEST, 0, UINT32_MAX - 1);
    put_mux(&stream, 1, header.bytes, header.size);
    begin(&s);
    feed(&s, stream.bytes, stream.size);
    assert_int_equal(s.code, 0);
    assert_int_equal(s.count, 1);
    assert_int_equal(s.got[0].header.length, UINT32_MAX - 1);
    finish(&s);

    /* A frame of the most bytes for nobody is skipped, and reading goes on behind it. */
    static const uint8_t zeros[65536];
    stream.size = 0;
    put_u32(&stream, 3);
    put_u32(&stream, NRI_MUX_MAX_FRAME);
    begin(&s);
    feed(&s, stream.bytes, stream.size);
    for (size_t left = NRI_MUX_MAX_FRAME; left > 0;) {
        const size_t n = left < sizeof zeros ? left : sizeof zeros;
        assert_false(nri_wire_reader_at_boundary(&s.reader));
        feed(&s, zeros, n);
        left -= n;
    }
    assert_int_equal(s.code, 0);
    assert_int_equal(s.count, 0);
    assert_true(nri_wire_reader_at_boundary(&s.reader));
    finish(&s);
    blob_free(&stream);
    blob_free(&header);
}

/* All of 4 GiB less two of data is counted right, without any of it being there. */
static void test_skips_four_gigabytes(void **state)
{
    (void)state;
    struct nri_wire_reader reader;
    struct nri_wire_item item;
    struct nri_error error;
    struct blob head = {0};
    const uint64_t length = UINT32_MAX - 1;
    static const uint8_t zeros[1 << 20];
    nri_wire_reader_init(&reader);
    put_ttrpc(&head, 1, NRI_TTRPC_REQUEST, 0, (uint32_t)length);
    uint64_t data = 0;
    bool ended = false;
    for (uint64_t left = length + NRI_TTRPC_HEADER; left > 0;) {
        const uint32_t frame = left < NRI_MUX_MAX_FRAME ? (uint32_t)left : NRI_MUX_MAX_FRAME;
        struct blob mux = {0};
        put_u32(&mux, 1);
        put_u32(&mux, frame);
        const uint8_t *at = mux.bytes;
        size_t count = mux.size;
        uint32_t in_frame = 0;
        while (in_frame < frame || count > 0) {
            if (count == 0) {
                const bool first = left == length + NRI_TTRPC_HEADER && in_frame == 0;
                at = first ? head.bytes : zeros;
                count = first ? head.size : sizeof zeros;
                count = count < frame - in_frame ? count : frame - in_frame;
                in_frame += (uint32_t)count;
            }
            assert_int_equal(nri_wire_read(&reader, &at, &count, &item, &error), 0);
            data += item.kind == NRI_WIRE_DATA ? item.size : 0;
        }
        assert_int_equal(nri_wire_read(&reader, &at, &count, &item, &error), 0);
        ended = item.kind == NRI_WIRE_END;
        left -= frame;
        blob_free(&mux);
    }
    assert_true(ended);
    assert_true(data == length);
    assert_true(nri_wire_reader_at_boundary(&reader));
    blob_free(&head);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_cut),
        cmocka_unit_test(test_at_boundary),
        cmocka_unit_test(test_lengths_that_nobody_sends),
        cmocka_unit_test(test_longest_lengths),
        cmocka_unit_test(test_skips_four_gigabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
