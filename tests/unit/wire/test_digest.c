/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of a message: the same for what says the same, another for each single difference that
 * a message can have, all fields of a pod and a container one by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "fail_alloc.h"
#include "proto/nri.pb-c.h"
#include "wire/digest.h"
#include "wire/field.h"
#include "wire/message.h"

static const uint64_t seed[2] = {3, 4};

static int setup(void **state)
{
    static struct nri_arena arena;
    struct nri_alloc alloc;
    assert_int_equal(nri_alloc_resolve(&alloc, NULL), 0);
    nri_arena_init(&arena, &alloc, 0, SIZE_MAX);
    *state = &arena;
    return 0;
}

static int teardown(void **state)
{
    nri_arena_fini(*state);
    return 0;
}

#define arena_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static ProtobufCMessage *make(struct nri_arena *arena, const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *message = nri_arena_zero(arena, type->sizeof_message);
    assert_non_null(message);
    type->message_init(message);
    return message;
}

static void set_value(struct nri_arena *arena, void *member, const ProtobufCFieldDescriptor *field,
                      unsigned value)
{
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING: {
        const char text[] = {(char)('a' + value), '\0'};
        *(char **)member = nri_arena_text(arena, text, 1);
        break;
    }
    case PROTOBUF_C_TYPE_BYTES: {
        ProtobufCBinaryData *data = member;
        data->data = nri_arena_zero(arena, value + 1);
        data->len = value + 1;
        break;
    }
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)member = make(arena, field->descriptor);
        break;
    default: {
        const uint64_t number = value + 1;
        memcpy(member, &number, nri_field_size(field));
        break;
    }
    }
}

static void set_field(struct nri_arena *arena, ProtobufCMessage *message,
                      const ProtobufCFieldDescriptor *field, size_t count, unsigned value)
{
    void *member = nri_field_member(message, field);
    if (!nri_field_repeated(field)) {
        set_value(arena, member, field, value);
        return;
    }
    char *array = nri_arena_zero(arena, count * nri_field_size(field));
    assert_non_null(array);
    for (size_t i = 0; i < count; i++)
        set_value(arena, array + i * nri_field_size(field), field, value);
    *(char **)member = array;
    *nri_field_count(message, field) = count;
}

#define MOST 512

static void check_new(uint64_t *seen, size_t *count, uint64_t digest, const char *what)
{
    for (size_t i = 0; i < *count; i++) {
        if (seen[i] == digest)
            fail_msg("%s changes nothing", what);
    }
    assert_true(*count < MOST);
    seen[(*count)++] = digest;
}

static void check_type(struct nri_arena *arena, const ProtobufCMessageDescriptor *type,
                       unsigned depth)
{
    uint64_t seen[MOST];
    size_t count = 0;
    check_new(seen, &count, nri_message_digest(make(arena, type), seed), type->name);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        ProtobufCMessage *one = make(arena, type), *other = make(arena, type);
        set_field(arena, one, field, 1, 1);
        check_new(seen, &count, nri_message_digest(one, seed), field->name);
        if (field->type != PROTOBUF_C_TYPE_MESSAGE && field->type != PROTOBUF_C_TYPE_BOOL) {
            set_field(arena, other, field, 1, 2);
            check_new(seen, &count, nri_message_digest(other, seed), field->name);
        }
        if (nri_field_repeated(field)) {
            set_field(arena, other, field, 2, 1);
            check_new(seen, &count, nri_message_digest(other, seed), field->name);
        }
        /* A copy says the same. */
        const ProtobufCMessage *copy = nri_message_copy(one, arena);
        assert_non_null(copy);
        assert_int_equal(nri_message_digest(copy, seed), nri_message_digest(one, seed));
        if (field->type == PROTOBUF_C_TYPE_MESSAGE && depth < 6)
            check_type(arena, field->descriptor, depth + 1);
    }
}

static void test_each_field(void **state)
{
    check_type(*state, &nri__pkg__api__v1alpha1__pod_sandbox__descriptor, 0);
    check_type(*state, &nri__pkg__api__v1alpha1__container__descriptor, 0);
}

static uint64_t decode_digest(struct nri_arena *arena, const uint8_t *bytes, size_t length)
{
    ProtobufCMessage *message;
    assert_int_equal(nri_message_decode(&nri__pkg__api__v1alpha1__container__descriptor, bytes,
                                        length, arena, seed, &message, NULL),
                     0);
    return nri_message_digest(message, seed);
}

#define DIGEST(text) decode_digest(arena, (const uint8_t *)(text), sizeof(text) - 1)

/* labels is field 5, args field 7, env field 8 of Container; 100 is none. */
static void test_order(void **state)
{
    struct nri_arena *arena = *state;
    /* A Go runtime sends the entries of a map in another order each time. */
    const uint64_t ab = DIGEST("\x2a\x06\x0a\x01"
                               "a\x12\x01"
                               "1\x2a\x06\x0a\x01"
                               "b\x12\x01"
                               "2");
    const uint64_t ba = DIGEST("\x2a\x06\x0a\x01"
                               "b\x12\x01"
                               "2\x2a\x06\x0a\x01"
                               "a\x12\x01"
                               "1");
    const uint64_t swapped = DIGEST("\x2a\x06\x0a\x01"
                                    "a\x12\x01"
                                    "2\x2a\x06\x0a\x01"
                                    "b\x12\x01"
                                    "1");
    assert_int_equal(ab, ba);
    assert_int_not_equal(ab, swapped);
    /* A list has an order. */
    assert_int_not_equal(DIGEST("\x3a\x01"
                                "a\x3a\x01"
                                "b"),
                         DIGEST("\x3a\x01"
                                "b\x3a\x01"
                                "a"));
    /* The same texts, cut in another place or in another field. */
    assert_int_not_equal(DIGEST("\x3a\x02"
                                "ab\x3a\x01"
                                "c"),
                         DIGEST("\x3a\x01"
                                "a\x3a\x02"
                                "bc"));
    assert_int_not_equal(DIGEST("\x3a\x01"
                                "a"),
                         DIGEST("\x42\x01"
                                "a"));
}

static void test_unknown_fields(void **state)
{
    struct nri_arena *arena = *state;
    const uint64_t none = DIGEST("\x0a\x01"
                                 "c");
    const uint64_t one = DIGEST("\x0a\x01"
                                "c\xa0\x06\x01");
    const uint64_t two = DIGEST("\x0a\x01"
                                "c\xa0\x06\x02");
    assert_int_not_equal(none, one);
    assert_int_not_equal(one, two);
}

static void test_seed(void **state)
{
    struct nri_arena *arena = *state;
    static const uint64_t other[2] = {3, 5};
    ProtobufCMessage *message = make(arena, &nri__pkg__api__v1alpha1__container__descriptor);
    set_field(arena, message, &message->descriptor->fields[0], 1, 1);
    assert_int_equal(nri_message_digest(message, seed), nri_message_digest(message, seed));
    assert_int_not_equal(nri_message_digest(message, seed), nri_message_digest(message, other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        arena_test(test_each_field),
        arena_test(test_order),
        arena_test(test_unknown_fields),
        arena_test(test_seed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
