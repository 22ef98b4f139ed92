/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Encoding and copying. protobuf-c's packing is what the bytes are held against, on messages of
 * every type of field.
 */
#include "every.pb-c.h"
#include "support.h"

#define MIB ((size_t)1 << 20)

typedef Every__Every Every;

/* ---- Random messages ---- */

struct maker {
    struct nri_arena *arena;
    uint64_t random;
};

/* Small ones, large ones, negative ones, and 0. */
static uint64_t make_number(struct maker *m)
{
    const uint64_t number = next_random(&m->random);
    switch (next_random(&m->random) % 5) {
    case 0:
        return 0;
    case 1:
        return number % 200;
    case 2:
        return ~(number % 200) + 1;
    default:
        return number >> next_random(&m->random) % 64;
    }
}

static void *make_bytes(struct maker *m, size_t *size)
{
    *size = next_random(&m->random) % 8 == 0 ? 200 : next_random(&m->random) % 20;
    char *bytes = nri_arena_alloc(m->arena, *size + 1);
    assert_non_null(bytes);
    for (size_t i = 0; i < *size; i++) {
        bytes[i] = (char)('a' + next_random(&m->random) % 26);
    }
    return bytes;
}

static ProtobufCMessage *make_message(struct maker *m, const ProtobufCMessageDescriptor *type,
                                      unsigned depth);

static void make_value(struct maker *m, const ProtobufCFieldDescriptor *field, void *member,
                       unsigned depth)
{
    uint64_t number = make_number(m);
    uint32_t word = (uint32_t)number;
    size_t size;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING: {
        char *text = make_bytes(m, &size);
        *(char **)member = nri_arena_text(m->arena, text, size);
        break;
    }
    case PROTOBUF_C_TYPE_BYTES: {
        ProtobufCBinaryData *data = member;
        data->data = make_bytes(m, &data->len);
        break;
    }
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)member = make_message(m, field->descriptor, depth + 1);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        word &= 1;
        memcpy(member, &word, sizeof word);
        break;
    case PROTOBUF_C_TYPE_FLOAT: {
        const float value = (float)(int64_t)number / 3;
        memcpy(member, &value, sizeof value);
        break;
    }
    case PROTOBUF_C_TYPE_DOUBLE: {
        const double value = (double)(int64_t)number / 3;
        memcpy(member, &value, sizeof value);
        break;
    }
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
        memcpy(member, &number, sizeof number);
        break;
    default:
        memcpy(member, &word, sizeof word);
    }
}

static size_t size_of(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_MESSAGE:
        return sizeof(void *);
    case PROTOBUF_C_TYPE_BYTES:
        return sizeof(ProtobufCBinaryData);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_SINT64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_UINT64:
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return 8;
    default:
        return 4;
    }
}

static ProtobufCMessage *make_message(struct maker *m, const ProtobufCMessageDescriptor *type,
                                      unsigned depth)
{
    ProtobufCMessage *message = nri_arena_alloc(m->arena, type->sizeof_message);
    assert_non_null(message);
    type->message_init(message);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        void *member = (char *)message + field->offset;
        if (next_random(&m->random) % 2 == 0 ||
            (field->type == PROTOBUF_C_TYPE_MESSAGE && depth > 3)) {
            continue;
        }
        if (field->label != PROTOBUF_C_LABEL_REPEATED) {
            make_value(m, field, member, depth);
            continue;
        }
        const size_t count = next_random(&m->random) % 4, size = size_of(field->type);
        char *elements = nri_arena_zero(m->arena, (count + 1) * size);
        assert_non_null(elements);
        for (size_t j = 0; j < count; j++) {
            make_value(m, field, elements + j * size, depth);
        }
        *(size_t *)(void *)((char *)message + field->quantifier_offset) = count;
        *(void **)member = count == 0 ? NULL : elements;
    }
    return message;
}

static void check_same_as_protobuf_c(const ProtobufCMessage *message, struct nri_arena *arena)
{
    const size_t size = protobuf_c_message_get_packed_size(message);
    uint8_t *packed = malloc(size + 1);
    assert_non_null(packed);
    protobuf_c_message_pack(message, packed);
    assert_encodes(message, packed, size);
    const ProtobufCMessage *copy = nri_message_copy(message, arena);
    assert_non_null(copy);
    assert_encodes(copy, packed, size);
    free(packed);
}

static void test_every_type_as_protobuf_c(void **state)
{
    (void)state;
    const ProtobufCMessageDescriptor *types[] = {
        &every__every__descriptor,
        NRI_TYPE(synchronize_request),
        NRI_TYPE(validate_container_adjustment_request),
        NRI_TYPE(create_container_response),
        &ttrpc__response__descriptor,
    };
    uint64_t random = 4711;
    for (int i = 0; i < 600; i++) {
        struct fixture f;
        start(&f, 64 * MIB);
        struct maker m = {.arena = &f.arena, .random = random};
        const ProtobufCMessageDescriptor *type = types[i % 5];
        ProtobufCMessage *message = make_message(&m, type, 0);
        random = m.random;
        check_same_as_protobuf_c(message, &f.arena);
        /* protobuf-c's bytes are read by us, and the structure gives the same bytes again. Maps of
         * random messages may hold a key twice; none of Every is one. */
        if (type == &every__every__descriptor) {
            size_t size;
            uint8_t *bytes = encode(message, &size);
            ProtobufCMessage *decoded = decode_ok(&f, type, bytes, size);
            check_same_as_protobuf_c(decoded, &f.arena);
            assert_encodes(decoded, bytes, size);
            /* And ours by protobuf-c. */
            ProtobufCMessage *unpacked = protobuf_c_message_unpack(type, NULL, size, bytes);
            assert_non_null(unpacked);
            assert_int_equal(protobuf_c_message_get_packed_size(unpacked), size);
            protobuf_c_message_free_unpacked(unpacked, NULL);
            free(bytes);
        }
        end(&f);
    }
}

/* Packed fields of fixed width must hold whole numbers. */
static void test_packed_fixed_width(void **state)
{
    (void)state;
    assert_refused(&every__every__descriptor, "\xB2\x02\x05\x01\x00\x00\x00\x02", 8, NRI_E_PROTOCOL,
                   "Every.fixed32s[1]: number cut short, at byte 7 of 8");
    struct fixture f;
    start(&f, MIB);
    const Every *e = decode_ok(&f, &every__every__descriptor, "\xB2\x02\x04\xEF\xBE\xAD\xDE", 7);
    assert_int_equal(e->n_fixed32s, 1);
    assert_int_equal(e->fixed32s[0], 0xDEADBEEF);
    /* The largest field number, and one in a gap. */
    e = decode_ok(&f, &every__every__descriptor, "\xF8\xFF\xFF\xFF\x0F\x01\x38\x05", 8);
    assert_int_equal(e->n_single_bools, 1);
    assert_int_equal(e->base.n_unknown_fields, 1);
    assert_int_equal(e->base.unknown_fields[0].tag, 7);
    end(&f);
}

/* T51: the field is named, and the process lives. */
static void test_T51_null_in_repeated(void **state)
{
    (void)state;
    struct fixture f;
    size_t size;
    Nri__Pkg__Api__V1alpha1__CreateContainerResponse response;
    Nri__Pkg__Api__V1alpha1__ContainerAdjustment adjust;
    Nri__Pkg__Api__V1alpha1__KeyValue pair;
    Nri__Pkg__Api__V1alpha1__KeyValue *env[] = {&pair, NULL, &pair};
    char *args[] = {NULL};
    start(&f, MIB);
    nri__pkg__api__v1alpha1__create_container_response__init(&response);
    nri__pkg__api__v1alpha1__container_adjustment__init(&adjust);
    nri__pkg__api__v1alpha1__key_value__init(&pair);
    response.adjust = &adjust;
    adjust.n_env = 3;
    adjust.env = env;
    assert_int_equal(nri_message_size(&response.base, &size, &f.error), NRI_E_INVALID);
    assert_string_equal(f.error.text, "CreateContainerResponse.adjust.env[1]: is NULL; a repeated "
                                      "field must hold messages");
    adjust.n_env = 1;
    adjust.n_args = 1;
    adjust.args = args;
    assert_int_equal(nri_message_size(&response.base, &size, &f.error), NRI_E_INVALID);
    assert_string_equal(f.error.text, "CreateContainerResponse.adjust.args[0]: is NULL; a repeated "
                                      "field must hold texts");
    adjust.args = NULL;
    assert_int_equal(nri_message_size(&response.base, &size, &f.error), NRI_E_INVALID);
    assert_string_equal(f.error.text,
                        "CreateContainerResponse.adjust.args[0]: is NULL; its count is not 0");
    /* A mount without a destination is no error of encoding: the field is absent. */
    Nri__Pkg__Api__V1alpha1__Mount mount;
    Nri__Pkg__Api__V1alpha1__Mount *mounts[] = {&mount};
    nri__pkg__api__v1alpha1__mount__init(&mount);
    mount.destination = NULL;
    adjust.n_args = 0;
    adjust.n_mounts = 1;
    adjust.mounts = mounts;
    assert_encodes(&response, "\x0a\x04\x1a\x00\x22\x00", 6);
    end(&f);
}

/* Texts are written in their whole length, which protobuf-c would cut at the NUL. */
static void test_nul_in_texts(void **state)
{
    (void)state;
    struct fixture f;
    Nri__Pkg__Api__V1alpha1__KeyValue pair;
    start(&f, MIB);
    nri__pkg__api__v1alpha1__key_value__init(&pair);
    pair.key = nri_arena_text(&f.arena, "\0a", 2);
    pair.value = nri_arena_text(&f.arena, "b\0", 2);
    assert_encodes(&pair, "\x0a\x02\x00\x61\x12\x02\x62\x00", 8);
    ProtobufCMessage *copy = nri_message_copy(&pair.base, &f.arena);
    assert_encodes(copy, "\x0a\x02\x00\x61\x12\x02\x62\x00", 8);
    pair.key = nri_arena_text(&f.arena, "", 0);
    pair.value = NULL;
    assert_encodes(&pair, "", 0);
    end(&f);
}

/* Nothing is shared between a message and its copy. */
static void test_copy_is_deep(void **state)
{
    (void)state;
    struct fixture from, to;
    start(&from, MIB);
    start(&to, MIB);
    struct blob blob = {0}, inner = {0};
    put_text(&inner, 1, "key");
    put_text(&inner, 2, "value");
    put_text(&blob, 1, "id");
    put_blob(&blob, 5, &inner);
    put_text(&blob, 8, "A=1");
    put_text(&blob, 8, "");
    put_data(&blob, 21, "\x1a\x02\x01\x02", 4);
    put_text(&blob, 1000, "unknown");
    ProtobufCMessage *message = decode_ok(&from, NRI_TYPE(container), blob.bytes, blob.size);
    ProtobufCMessage *copy = nri_message_copy(message, &to.arena);
    assert_non_null(copy);
    nri_arena_fini(&from.arena); /* the sanitizers see what still points there */
    assert_encodes(copy, blob.bytes, blob.size);
    end(&from);
    end(&to);
    blob_free(&blob);
    blob_free(&inner);
}

static void test_copy_with_failing_allocations(void **state)
{
    (void)state;
    struct fixture from;
    start(&from, 64 * MIB);
    struct maker m = {.arena = &from.arena, .random = 99};
    const ProtobufCMessage *message = make_message(&m, &every__every__descriptor, 0);
    size_t failures = 0;
    for (size_t n = 1;; n++) {
        struct fixture to;
        start(&to, 64 * MIB);
        to.arena.chunk_size = 64;
        fail_alloc_arm(&to.fa, n);
        const ProtobufCMessage *copy = nri_message_copy(message, &to.arena);
        assert_int_equal(copy == NULL, to.fa.fired);
        assert_int_equal(to.arena.failure, to.fa.fired ? NRI_E_NOMEM : 0);
        const bool fired = to.fa.fired;
        end(&to);
        if (!fired) {
            break;
        }
        failures++;
    }
    assert_true(failures > 3);
    end(&from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_type_as_protobuf_c),
        cmocka_unit_test(test_packed_fixed_width),
        cmocka_unit_test(test_T51_null_in_repeated),
        cmocka_unit_test(test_nul_in_texts),
        cmocka_unit_test(test_copy_is_deep),
        cmocka_unit_test(test_copy_with_failing_allocations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
