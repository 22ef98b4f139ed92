/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recorded streams: every cut gives the same items, and every message encodes to the bytes that it
 * was decoded from.
 */
#include "capture.h"
#include "go_reader.h"
#include "support.h"
#include "wire/reader.h"

/* What a stream holds: headers, and where in it the data stands. */
struct expected {
    struct nri_wire_item header;
    size_t first, count; /* of its spans */
};

struct span {
    const uint8_t *bytes;
    size_t size;
};

#define MESSAGES 512
#define SPANS    1024

struct reference {
    struct expected messages[MESSAGES];
    size_t message_count;
    struct span spans[SPANS];
    size_t span_count;
};

/* One reading of the uncut stream, checked against the other reader. */
static void read_reference(struct reference *r, const struct capture *capture)
{
    struct nri_wire_reader reader;
    struct nri_wire_item item;
    struct nri_error error;
    struct go_reader go;
    const uint8_t *at = capture->bytes;
    size_t left = capture->size;
    r->message_count = r->span_count = 0;
    nri_wire_reader_init(&reader);
    do {
        assert_int_equal(nri_wire_read(&reader, &at, &left, &item, &error), 0);
        if (item.kind == NRI_WIRE_HEADER) {
            assert_true(r->message_count < MESSAGES);
            r->messages[r->message_count++] =
                (struct expected){.header = item, .first = r->span_count};
        } else if (item.kind == NRI_WIRE_DATA) {
            assert_true(r->span_count < SPANS);
            r->spans[r->span_count++] = (struct span){item.data, item.size};
            r->messages[r->message_count - 1].count++;
        }
    } while (item.kind != NRI_WIRE_MORE);
    assert_true(nri_wire_reader_at_boundary(&reader));

    go_reader_init(&go);
    assert_int_equal(go_reader_feed(&go, capture->bytes, capture->size), 0);
    assert_int_equal(go.message_count, r->message_count);
    for (size_t i = 0; i < r->message_count; i++) {
        const struct expected *e = &r->messages[i];
        struct go_message message;
        size_t offset = 0;
        assert_true(go_reader_message(&go, i, &message));
        assert_int_equal(message.id, e->header.id);
        assert_int_equal(message.stream, e->header.stream);
        assert_int_equal(message.type, e->header.type);
        assert_int_equal(message.length, e->header.length);
        for (size_t j = 0; j < e->count; j++) {
            const struct span *span = &r->spans[e->first + j];
            assert_memory_equal(message.data + offset, span->bytes, span->size);
            offset += span->size;
        }
        assert_int_equal(offset, message.length);
    }
    go_reader_fini(&go);
}

/* Follows a reading of a cut stream through the reference. */
struct follower {
    const struct reference *reference;
    size_t message, span, in_span;
};

static bool follow(struct follower *f, const struct nri_wire_item *item)
{
    const struct expected *e = &f->reference->messages[f->message];
    const struct nri_wire_item *h = &e->header;
    if (item->id != h->id || item->stream != h->stream || item->type != h->type ||
        item->flags != h->flags || item->length != h->length) {
        return false;
    }
    if (item->kind == NRI_WIRE_DATA) {
        const struct span *span = &f->reference->spans[f->span];
        if (item->size == 0 || item->size > span->size - f->in_span ||
            item->data != span->bytes + f->in_span) {
            return false;
        }
        f->in_span += item->size;
        if (f->in_span == span->size) {
            f->in_span = 0;
            f->span++;
        }
    } else if (item->kind == NRI_WIRE_END) {
        if (f->span != e->first + e->count || f->in_span != 0) {
            return false;
        }
        f->message++;
    }
    return true;
}

static bool read_cut(const struct reference *reference, struct capture_cut cut)
{
    struct follower f = {.reference = reference};
    struct nri_wire_reader reader;
    struct nri_error error;
    const uint8_t *at;
    size_t left;
    nri_wire_reader_init(&reader);
    while (capture_cut_piece(&cut, &at, &left)) {
        struct nri_wire_item item;
        for (;;) {
            if (nri_wire_read(&reader, &at, &left, &item, &error) != 0) {
                return false;
            }
            if (item.kind == NRI_WIRE_MORE) {
                break;
            }
            if (f.message == reference->message_count || !follow(&f, &item)) {
                return false;
            }
        }
    }
    return f.message == reference->message_count && nri_wire_reader_at_boundary(&reader);
}

static void test_every_cut(void **state)
{
    static struct reference reference;
    (void)state;
    for (size_t i = 0; capture_names[i] != NULL; i++) {
        struct capture capture;
        struct capture_cut cut;
        assert_true(capture_load(&capture, capture_names[i]));
        read_reference(&reference, &capture);
        struct capture_cuts cuts = capture_cuts(&capture);
        size_t count = 0;
        for (; capture_cuts_next(&cuts, &cut); count++) {
            if (!read_cut(&reference, cut)) {
                fail_msg("%s: cut at %zu, step %zu", capture.name, cut.at, cut.step);
            }
        }
        assert_int_equal(count, capture.size - 1 + 6);
        capture_free(&capture);
    }
}

/* The cuts of a longer stream: at every offset to 64 KiB, near boundaries beyond. */
static void test_cuts_of_a_long_stream(void **state)
{
    (void)state;
    struct blob stream = {0};
    static const uint8_t zeros[100000];
    put_mux(&stream, 1, zeros, 65536 - 8 - 10); /* the next boundary is 65526 */
    put_mux(&stream, 1, zeros, 100000);         /* 165534 */
    put_mux(&stream, 1, zeros, 4);              /* 165546, the end */
    struct capture capture;
    struct capture_cut cut;
    assert_true(capture_make(&capture, "made", stream.bytes, stream.size));
    assert_int_equal(capture.frame_count, 3);
    bool seen[165546] = {false};
    size_t steps = 0;
    struct capture_cuts cuts = capture_cuts(&capture);
    while (capture_cuts_next(&cuts, &cut)) {
        steps += cut.step != 0;
        if (cut.step == 0) {
            assert_true(cut.at > 0 && cut.at < capture.size && !seen[cut.at]);
            seen[cut.at] = true;
        }
    }
    assert_int_equal(steps, 6);
    for (size_t at = 1; at < capture.size; at++) {
        const bool near = at <= 32 || (at >= 65526 - 32 && at <= 65526 + 32) || at >= 165534 - 32;
        assert_int_equal(seen[at], near);
    }
    capture_free(&capture);
    blob_free(&stream);
}

/* ---- Messages ---- */

static const ProtobufCMethodDescriptor *find_method(const Ttrpc__Request *request)
{
    const ProtobufCServiceDescriptor *services[] = {
        &nri__pkg__api__v1alpha1__plugin__descriptor,
        &nri__pkg__api__v1alpha1__runtime__descriptor,
    };
    for (size_t i = 0; i < 2; i++) {
        if (strcmp(services[i]->name, request->service) == 0) {
            return protobuf_c_service_descriptor_get_method_by_name(services[i], request->method);
        }
    }
    return NULL;
}

/* Decodes, encodes, copies and encodes again, and checks with protobuf-c. */
static void check_message(struct fixture *f, const ProtobufCMessageDescriptor *type,
                          const void *bytes, size_t size)
{
    ProtobufCMessage *message = decode_ok(f, type, bytes, size);
    assert_encodes(message, bytes, size);
    ProtobufCMessage *copy = nri_message_copy(message, &f->arena);
    assert_non_null(copy);
    assert_encodes(copy, bytes, size);
    /* protobuf-c writes what we read, and the other way round. */
    assert_int_equal(protobuf_c_message_get_packed_size(message), size);
    uint8_t *packed = malloc(size + 1);
    assert_non_null(packed);
    assert_int_equal(protobuf_c_message_pack(message, packed), size);
    assert_memory_equal(packed, bytes, size);
    free(packed);
}

/* The calls of a session that wait for a reply, by connection id. */
struct calls {
    const ProtobufCMethodDescriptor *method[3][512];
    size_t messages;
};

static void check_stream(struct calls *calls, const char *name, bool requests)
{
    struct capture capture;
    struct go_reader go;
    assert_true(capture_load(&capture, name));
    go_reader_init(&go);
    assert_int_equal(go_reader_feed(&go, capture.bytes, capture.size), 0);
    for (size_t i = 0; i < go.message_count; i++) {
        struct go_message m;
        struct fixture f;
        assert_true(go_reader_message(&go, i, &m));
        assert_true(m.stream < 512);
        if ((m.type == NRI_TTRPC_REQUEST) != requests) {
            continue;
        }
        start(&f, (size_t)64 * 1024 + 8 * m.length);
        if (requests) {
            check_message(&f, &ttrpc__request__descriptor, m.data, m.length);
            Ttrpc__Request *request = decode_ok(&f, &ttrpc__request__descriptor, m.data, m.length);
            const ProtobufCMethodDescriptor *method = find_method(request);
            assert_non_null(method);
            calls->method[m.id][m.stream] = method;
            check_message(&f, method->input, request->payload.data, request->payload.len);
        } else {
            check_message(&f, &ttrpc__response__descriptor, m.data, m.length);
            Ttrpc__Response *response =
                decode_ok(&f, &ttrpc__response__descriptor, m.data, m.length);
            const ProtobufCMethodDescriptor *method = calls->method[m.id][m.stream];
            assert_non_null(method);
            check_message(&f, method->output, response->payload.data, response->payload.len);
        }
        calls->messages++;
        end(&f);
    }
    go_reader_fini(&go);
    capture_free(&capture);
}

/* The limit of the arena is the library's default, 64 KiB and 8 times the message. */
static void test_every_message_encodes_to_its_bytes(void **state)
{
    (void)state;
    size_t messages = 0;
    for (size_t i = 0; capture_names[i] != NULL; i++) {
        char other[256];
        struct calls calls = {.messages = 0};
        const char *name = capture_names[i];
        snprintf(other, sizeof other, "%s", name);
        char *direction = strstr(other, "p2r.bin");
        if (direction == NULL || strstr(name, "syncsplit") != NULL) {
            continue; /* done with its other half; of syncsplit there is one half only */
        }
        memcpy(direction, "r2p", 3);
        check_stream(&calls, name, true);
        check_stream(&calls, other, true);
        check_stream(&calls, name, false);
        check_stream(&calls, other, false);
        messages += calls.messages;
    }
    assert_int_equal(messages, 408); /* all that were recorded */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_cuts_of_a_long_stream),
        cmocka_unit_test(test_every_message_encodes_to_its_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
