/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is refused, and that nothing goes wrong about it: malformed bytes, mutations, memory that
 * runs out, limits.
 *
 * NRI_TEST_MUTATIONS sets the number of mutations (100000 when unset), NRI_TEST_SEED where they
 * begin.
 */
#include "capture.h"
#include "go_reader.h"
#include "support.h"

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)

/* T46: as these two payloads, and as a User where that is what it is. */
static void test_T46_six_malformed_payloads(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        const char *text; /* in the error of both types */
    } payloads[] = {
        {"\x0a\x7f\x61", 3, "length past the end of the message, at byte 1 of 3"},
        {"\x0a\xff\xff\xff\xff\x0f", 6, "length past the end of the message, at byte 1 of 6"},
        {"\x0b\x0c", 2, "groups are not supported"},
        {"\x02\x00", 2, "illegal field number, at byte 0 of 2"},
        {"\x08\x05", 2, "wrong wire type, at byte 0 of 2"},
    };
    for (size_t i = 0; i < sizeof payloads / sizeof payloads[0]; i++) {
        const ProtobufCMessageDescriptor *types[] = {NRI_TYPE(create_container_response),
                                                     NRI_TYPE(register_plugin_request)};
        for (size_t j = 0; j < 2; j++) {
            assert_refused(types[j], payloads[i].bytes, payloads[i].size, NRI_E_PROTOCOL,
                           payloads[i].text);
        }
    }
    assert_refused(NRI_TYPE(user), "\x1a\x02\x01\x80", 4, NRI_E_PROTOCOL,
                   "User.additional_gids[1]: number cut short, at byte 3 of 4");
}

static void test_more_malformed_payloads(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *c = NRI_TYPE(container);
    /* Numbers: cut short, over 10 bytes, over 64 bits. */
    assert_refused(c, "\x60", 1, NRI_E_PROTOCOL, "Container.pid: number cut short, at byte 1 of 1");
    assert_refused(c, "\x60\x80\x80", 3, NRI_E_PROTOCOL, "Container.pid: number cut short");
    assert_refused(c, "\x60\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x00", 12, NRI_E_PROTOCOL,
                   "Container.pid: number longer than 64 bits, at byte 1");
    assert_refused(c, "\x60\x80\x80\x80\x80\x80\x80\x80\x80\x80\x02", 11, NRI_E_PROTOCOL,
                   "number longer than 64 bits");
    /* Tags. */
    assert_refused(c, "\x80", 1, NRI_E_PROTOCOL, "Container: number cut short, at byte 0");
    assert_refused(c, "\x00\x00", 2, NRI_E_PROTOCOL, "illegal field number");
    assert_refused(c, "\x80\x80\x80\x80\x10\x00", 6, NRI_E_PROTOCOL, "illegal field number");
    /* Field 1 with the 33rd bit set as well is no field 1. */
    assert_refused(c, "\x8a\x80\x80\x80\x10\x01x", 7, NRI_E_PROTOCOL, "illegal field number");
    assert_refused(c, "\x66\x00", 2, NRI_E_PROTOCOL, "Container.pid: unknown wire type");
    assert_refused(c, "\xfb\x7f", 2, NRI_E_PROTOCOL, "Container: groups are not supported");
    assert_refused(c, "\xff\x7f", 2, NRI_E_PROTOCOL, "Container: unknown wire type");
    /* Unknown fields must be whole, too. */
    assert_refused(c, "\xfa\x7f\x02x", 4, NRI_E_PROTOCOL, "length past the end");
    assert_refused(c, "\xfd\x7f\x01\x02\x03", 5, NRI_E_PROTOCOL, "Container: number cut short");
    assert_refused(c, "\xf9\x7f\x01\x02\x03\x04\x05\x06\x07", 9, NRI_E_PROTOCOL, "cut short");
    /* Lengths: none, too large for any memory. */
    assert_refused(c, "\x0a", 1, NRI_E_PROTOCOL, "Container.id: number cut short");
    assert_refused(c, "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, NRI_E_PROTOCOL,
                   "Container.id: length past the end of the message");
    /* The end of a message within counts, not that of all bytes. */
    assert_refused(c, "\xaa\x01\x02\x08\x80\x60\x05", 7, NRI_E_PROTOCOL,
                   "Container.user.uid: number cut short");
    /* Wrong wire types. */
    assert_refused(c, "\x5d\x00\x00\x00\x00", 5, NRI_E_PROTOCOL, "Container.linux: wrong wire");
    assert_refused(c, "\x40\x00", 2, NRI_E_PROTOCOL, "Container.env[0]: wrong wire type");
    assert_refused(c, "\x62\x00", 2, NRI_E_PROTOCOL, "Container.pid: wrong wire type");
}

/* UTF-8, with the path and the byte of it; anywhere in a text, of any length. */
static void test_invalid_utf8(void **state)
{
    (void)state;
    struct blob env = {0}, request = {0};
    put_text(&env, 8, "A=1");
    put_text(&env, 8, "B=2");
    put_text(&env, 8, "C=3");
    put_text(&env, 8, "D=\xC3(");
    put_blob(&request, 2, &env);
    assert_refused(NRI_TYPE(create_container_request), request.bytes, request.size, NRI_E_UTF8,
                   "CreateContainerRequest.container.env[3]: not UTF-8, at byte 21 of 23");
    blob_free(&env);
    blob_free(&request);
    for (size_t length = 1; length < 70; length++) {
        for (size_t bad = 0; bad < length; bad++) {
            struct blob blob = {0};
            char text[70], expected[80];
            memset(text, 'a', length);
            text[bad] = (char)0x80;
            put_data(&blob, 1, text, length);
            snprintf(expected, sizeof expected, "Container.id: not UTF-8, at byte %zu of %zu",
                     2 + bad, 2 + length);
            assert_refused(NRI_TYPE(container), blob.bytes, blob.size, NRI_E_UTF8, expected);
            blob_free(&blob);
        }
    }
    /* Surrogates, too long forms, beyond U+10FFFF. In map keys and in unread parts as well. */
    assert_refused(NRI_TYPE(container), "\x0a\x03\xED\xA0\x80", 5, NRI_E_UTF8, "not UTF-8");
    assert_refused(NRI_TYPE(container), "\x0a\x02\xC0\x80", 4, NRI_E_UTF8, "not UTF-8");
    assert_refused(NRI_TYPE(container), "\x0a\x04\xF4\x90\x80\x80", 6, NRI_E_UTF8, "not UTF-8");
    assert_refused(NRI_TYPE(container), "\x2a\x03\x0a\x01\xFF", 5, NRI_E_UTF8,
                   "Container.labels[0].key: not UTF-8, at byte 4 of 5");
}

/* A schema that has itself as a field: NRI has none, so it is made here. */
struct nested {
    ProtobufCMessage base;
    struct nested *inner;
};

extern const ProtobufCMessageDescriptor nested_descriptor;

static void nested_init(ProtobufCMessage *message)
{
    *(struct nested *)message = (struct nested){.base = {.descriptor = &nested_descriptor}};
}

static const ProtobufCFieldDescriptor nested_field = {
    .name = "inner",
    .id = 1,
    .label = PROTOBUF_C_LABEL_NONE,
    .type = PROTOBUF_C_TYPE_MESSAGE,
    .offset = offsetof(struct nested, inner),
    .descriptor = &nested_descriptor,
};
static const ProtobufCIntRange nested_ranges[] = {{1, 0}, {0, 1}};
const ProtobufCMessageDescriptor nested_descriptor = {
    .magic = PROTOBUF_C__MESSAGE_DESCRIPTOR_MAGIC,
    .name = "Nested",
    .short_name = "Nested",
    .sizeof_message = sizeof(struct nested),
    .n_fields = 1,
    .fields = &nested_field,
    .n_field_ranges = 1,
    .field_ranges = nested_ranges,
    .message_init = nested_init,
};

static void test_depth(void **state)
{
    (void)state;
    struct fixture f;
    struct blob blob = {0};
    for (unsigned depth = 1; depth < 32; depth++) {
        struct blob outer = {0};
        put_blob(&outer, 1, &blob);
        blob_free(&blob);
        blob = outer;
    }
    start(&f, MIB);
    struct nested *nested = decode_ok(&f, &nested_descriptor, blob.bytes, blob.size);
    assert_encodes(nested, blob.bytes, blob.size);
    assert_non_null(nri_message_copy(&nested->base, &f.arena));
    /* One more around it. */
    struct nested outer;
    size_t size;
    nested_init(&outer.base);
    outer.inner = nested;
    assert_int_equal(nri_message_size(&outer.base, &size, &f.error), NRI_E_LIMIT);
    assert_non_null(strstr(f.error.text, "inner.inner: messages nested deeper than 32"));
    assert_null(nri_message_copy(&outer.base, &f.arena));
    assert_int_equal(f.arena.failure, NRI_E_LIMIT);
    end(&f);
    struct blob deep = {0};
    put_blob(&deep, 1, &blob);
    assert_refused(&nested_descriptor, deep.bytes, deep.size, NRI_E_LIMIT,
                   "inner: messages nested deeper than 32");
    blob_free(&deep);
    /* 4 MiB of nesting is refused as fast. */
    static uint8_t tower[4 << 20];
    size_t at = sizeof tower;
    while (at > 8) {
        const size_t inner = sizeof tower - at;
        struct blob head = {0};
        put_tag(&head, 1, 2);
        put_varint(&head, inner);
        if (head.size > at) {
            break;
        }
        at -= head.size;
        memcpy(tower + at, head.bytes, head.size);
        blob_free(&head);
    }
    assert_refused(&nested_descriptor, tower + at, sizeof tower - at, NRI_E_LIMIT, "deeper than");
    blob_free(&blob);
}

/* 4 MiB of small things cost what the arena may hold and not more. */
static void assert_bounded(const ProtobufCMessageDescriptor *type, const struct blob *unit)
{
    const size_t size = 4 * MIB, limit = 64 * KIB + 8 * size;
    struct fixture f;
    struct blob all = {0};
    int code;
    while (all.size + unit->size <= size) {
        put(&all, unit->bytes, unit->size);
    }
    start(&f, limit);
    assert_null(decode(&f, type, all.bytes, all.size, &code));
    assert_int_equal(code, NRI_E_LIMIT);
    assert_int_equal(f.arena.failure, NRI_E_LIMIT);
    assert_true(f.arena.taken <= limit);
    assert_true(f.fa.peak_bytes <= limit);
    assert_non_null(strstr(f.error.text, "needs more memory than the limit of 33619968 bytes"));
    end(&f);
    blob_free(&all);
}

static void test_4_MiB_of_empty_messages_end_at_the_limit(void **state)
{
    (void)state;
    struct blob unit = {0}, inner = {0};
    put_data(&unit, 2, "", 0); /* containers */
    assert_bounded(NRI_TYPE(synchronize_request), &unit);
    put_data(&unit, 1, "", 0); /* and pods in turn */
    assert_bounded(NRI_TYPE(synchronize_request), &unit);
    unit.size = 0;
    put_data(&unit, 5, "", 0); /* entries of a map */
    assert_bounded(NRI_TYPE(container), &unit);
    unit.size = 0;
    put_tag(&unit, 100, 0); /* unknown fields */
    put_varint(&unit, 0);
    assert_bounded(NRI_TYPE(container), &unit);
    blob_free(&unit);
    blob_free(&inner);
}

/* ---- T46 and T47: recorded messages, mutated, with memory that runs out ---- */

struct samples {
    struct sample {
        const ProtobufCMessageDescriptor *type;
        uint8_t *bytes;
        size_t size;
    } list[64];
    size_t count;
};

static void add_sample(struct samples *samples, const ProtobufCMessageDescriptor *type,
                       const uint8_t *bytes, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    if (copy == NULL) {
        fail_msg("no memory");
        return;
    }
    if (size > 0) {
        memcpy(copy, bytes, size);
    }
    samples->list[samples->count++] = (struct sample){type, copy, size};
}

/* The payloads of the requests in a stream, and the requests around them. */
static void add_requests(struct samples *samples, const char *name)
{
    struct capture capture;
    struct go_reader go;
    struct go_message m;
    assert_true(capture_load(&capture, name));
    go_reader_init(&go);
    assert_int_equal(go_reader_feed(&go, capture.bytes, capture.size), 0);
    for (size_t i = 0; go_reader_message(&go, i, &m) && samples->count + 2 <= 64; i++) {
        struct fixture f;
        const ProtobufCMethodDescriptor *method = NULL;
        if (m.type != 1) {
            continue;
        }
        start(&f, MIB);
        const Ttrpc__Request *r = decode_ok(&f, &ttrpc__request__descriptor, m.data, m.length);
        method = protobuf_c_service_descriptor_get_method_by_name(
            &nri__pkg__api__v1alpha1__plugin__descriptor, r->method);
        assert_non_null(method);
        add_sample(samples, method->input, r->payload.data, r->payload.len);
        add_sample(samples, &ttrpc__request__descriptor, m.data, m.length);
        end(&f);
    }
    go_reader_fini(&go);
    capture_free(&capture);
}

static void free_samples(struct samples *samples)
{
    for (size_t i = 0; i < samples->count; i++) {
        free(samples->list[i].bytes);
    }
}

static unsigned long long number_of(const char *name, unsigned long long otherwise)
{
    const char *value = getenv(name);
    return value != NULL ? strtoull(value, NULL, 0) : otherwise;
}

/* Changes, doubles, removes and cuts; the result has `*size` bytes. */
static void mutate(uint8_t *bytes, size_t *size, size_t room, uint64_t *random)
{
    const size_t changes = 1 + next_random(random) % 4;
    for (size_t i = 0; i<changes && * size> 0; i++) {
        const size_t at = next_random(random) % *size;
        const size_t n = 1 + next_random(random) % 16;
        switch (next_random(random) % 6) {
        case 0:
            bytes[at] = (uint8_t)next_random(random);
            break;
        case 1:
            bytes[at] ^= (uint8_t)(1u << next_random(random) % 8);
            break;
        case 2:
            bytes[at] = (uint8_t)(next_random(random) % 2 == 0 ? 0xFF : 0x80);
            break;
        case 3:
            *size = at;
            break;
        case 4: /* a piece twice */
            if (at + n <= *size && *size + n <= room) {
                memmove(bytes + at + n, bytes + at, *size - at);
                *size += n;
            }
            break;
        default: /* a piece less */
            if (at + n <= *size) {
                memmove(bytes + at, bytes + at + n, *size - at - n);
                *size -= n;
            }
            break;
        }
    }
}

/* Whatever is accepted can be encoded, and decodes to the same again. */
static void check_accepted(struct fixture *f, const ProtobufCMessage *message)
{
    size_t size, again_size;
    uint8_t *bytes = encode(message, &size);
    ProtobufCMessage *again = decode_ok(f, message->descriptor, bytes, size);
    uint8_t *again_bytes = encode(again, &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(bytes, again_bytes, size);
    assert_true(protobuf_c_message_check(message));
    free(bytes);
    free(again_bytes);
}

static void test_T46_mutations(void **state)
{
    (void)state;
    struct samples samples = {.count = 0};
    const unsigned long long count = number_of("NRI_TEST_MUTATIONS", 100000);
    const unsigned long long seed = number_of("NRI_TEST_SEED", 20261129);
    uint64_t random = seed != 0 ? seed : 1;
    unsigned long long accepted = 0;
    static uint8_t bytes[8192];
    print_message("T46: %llu mutations, seed %llu\n", count, seed);
    add_requests(&samples, "containerd-2.1.9/rich.r2p.bin");
    for (unsigned long long i = 0; i < count; i++) {
        const struct sample *sample = &samples.list[next_random(&random) % samples.count];
        struct fixture f;
        size_t size = sample->size < sizeof bytes ? sample->size : sizeof bytes;
        int code;
        memcpy(bytes, sample->bytes, size);
        mutate(bytes, &size, sizeof bytes, &random);
        start(&f, 64 * KIB + 8 * size);
        const ProtobufCMessage *message = decode(&f, sample->type, bytes, size, &code);
        if (message != NULL) {
            accepted++;
            f.arena.limit = 16 * MIB; /* of the checks */
            check_accepted(&f, message);
        } else if (code != NRI_E_PROTOCOL && code != NRI_E_UTF8 && code != NRI_E_LIMIT) {
            fail_msg("mutation %llu: %d, %s", i, code, f.error.text);
        }
        end(&f);
    }
    print_message("T46: %llu of them were accepted\n", accepted);
    assert_true(accepted > count / 100 && accepted < count);
    free_samples(&samples);
}

/* Decodes with the n-th allocation failing, for each n until none does. Blocks are full of 0xAA,
 * leaks and wrong releases are found by the allocator. */
static void sweep(const struct sample *sample)
{
    for (size_t n = 1;; n++) {
        struct fixture f;
        int code;
        start(&f, 16 * MIB);
        f.arena.chunk_size = 64; /* so that there are many allocations */
        fail_alloc_arm(&f.fa, n);
        const ProtobufCMessage *message =
            decode(&f, sample->type, sample->bytes, sample->size, &code);
        if (f.fa.fired) {
            assert_null(message);
            assert_int_equal(code, NRI_E_NOMEM);
            assert_int_equal(f.arena.failure, NRI_E_NOMEM);
            assert_non_null(strstr(f.error.text, "out of memory"));
        }
        const bool fired = f.fa.fired;
        ProtobufCMessage *copy = NULL;
        if (message != NULL) {
            fail_alloc_arm(&f.fa, 1);
            copy = nri_message_copy(message, &f.arena);
            assert_true(copy != NULL || f.arena.failure == NRI_E_NOMEM);
        }
        end(&f);
        if (!fired) {
            assert_true(n > 1);
            break;
        }
    }
}

static void test_T47_failing_allocations(void **state)
{
    (void)state;
    struct samples samples = {.count = 0};
    struct blob unknown = {0}, invalid = {0};
    add_requests(&samples, "containerd-2.1.9/rich.r2p.bin");
    add_requests(&samples, "containerd-1.7.24/rich.r2p.bin");
    assert_true(samples.count > 20);
    for (size_t i = 0; i < samples.count; i++) {
        if (samples.list[i].size > 0) {
            sweep(&samples.list[i]);
        }
    }
    /* A Synchronize with unknown fields in every container, and maps of many entries. */
    for (int i = 0; i < 20; i++) {
        struct blob container = {0};
        for (int j = 0; j < 12; j++) {
            char key[16];
            struct blob entry = {0};
            snprintf(key, sizeof key, "key%d", j % 10);
            put_text(&entry, 1, key);
            put_blob(&container, 6, &entry);
            put_text(&container, 900, "unknown");
            blob_free(&entry);
        }
        put_blob(&unknown, 2, &container);
        blob_free(&container);
    }
    const struct sample valid = {NRI_TYPE(synchronize_request), unknown.bytes, unknown.size};
    sweep(&valid);
    /* The same, invalid at its end: memory may run out first, and nothing leaks either way. */
    put(&invalid, unknown.bytes, unknown.size);
    put(&invalid, "\x12\x7f", 2);
    for (size_t n = 1; n <= 200; n++) {
        struct fixture f;
        int code;
        start(&f, 16 * MIB);
        f.arena.chunk_size = 64;
        fail_alloc_arm(&f.fa, n);
        assert_null(decode(&f, valid.type, invalid.bytes, invalid.size, &code));
        assert_int_equal(code, f.fa.fired ? NRI_E_NOMEM : NRI_E_PROTOCOL);
        end(&f);
    }
    blob_free(&unknown);
    blob_free(&invalid);
    free_samples(&samples);
}

/* Every limit between nothing and enough, a byte at a time: LIMIT below, and never a byte more than
 * allowed. */
static void test_every_limit(void **state)
{
    (void)state;
    struct samples samples = {.count = 0};
    add_requests(&samples, "containerd-2.1.9/simple.r2p.bin");
    const struct sample *sample = &samples.list[samples.count - 2];
    bool enough = false;
    for (size_t limit = 0; !enough; limit += 1 + limit / 64) {
        struct fixture f;
        int code;
        start(&f, limit);
        f.arena.chunk_size = 64;
        enough = decode(&f, sample->type, sample->bytes, sample->size, &code) != NULL;
        assert_int_equal(code, enough ? 0 : NRI_E_LIMIT);
        assert_true(f.arena.taken <= limit);
        assert_true(limit < MIB);
        end(&f);
    }
    free_samples(&samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_T46_six_malformed_payloads),
        cmocka_unit_test(test_more_malformed_payloads),
        cmocka_unit_test(test_invalid_utf8),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_4_MiB_of_empty_messages_end_at_the_limit),
        cmocka_unit_test(test_T46_mutations),
        cmocka_unit_test(test_T47_failing_allocations),
        cmocka_unit_test(test_every_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
