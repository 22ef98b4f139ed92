/* SPDX-License-Identifier: Apache-2.0 */
/* A message fresh from its init function says nothing: every field absent, empty or zero. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/ttrpc.pb-c.h"
#include "schema.h"

static size_t scalar_size(ProtobufCType type)
{
    switch (type) {
    case PROTOBUF_C_TYPE_BOOL:
        return sizeof(protobuf_c_boolean);
    case PROTOBUF_C_TYPE_INT64:
    case PROTOBUF_C_TYPE_UINT64:
        return 8;
    case PROTOBUF_C_TYPE_INT32:
    case PROTOBUF_C_TYPE_UINT32:
        return 4;
    case PROTOBUF_C_TYPE_ENUM:
        return sizeof(int);
    default:
        return 0; /* a type that no NRI or ttRPC message has */
    }
}

static bool is_zero(const unsigned char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (bytes[i] != 0)
            return false;
    }
    return true;
}

static bool field_is_empty(const unsigned char *message, const ProtobufCFieldDescriptor *field)
{
    const unsigned char *place = message + field->offset;
    if (field->label == PROTOBUF_C_LABEL_REPEATED)
        return is_zero(message + field->quantifier_offset, sizeof(size_t)) &&
               is_zero(place, sizeof(void *));
    if (field->type == PROTOBUF_C_TYPE_MESSAGE)
        return is_zero(place, sizeof(void *));
    if (field->type == PROTOBUF_C_TYPE_BYTES) {
        ProtobufCBinaryData data;
        memcpy(&data, place, sizeof data);
        return data.len == 0 && data.data == NULL;
    }
    if (field->type == PROTOBUF_C_TYPE_STRING) {
        const char *text;
        memcpy(&text, place, sizeof text);
        return text == protobuf_c_empty_string;
    }
    size_t size = scalar_size(field->type);
    return size != 0 && is_zero(place, size);
}

static void check_message(const ProtobufCMessageDescriptor *descriptor)
{
    void *memory = malloc(descriptor->sizeof_message);
    assert_non_null(memory);
    memset(memory, 0xAA, descriptor->sizeof_message);
    descriptor->message_init(memory);

    ProtobufCMessage base;
    memcpy(&base, memory, sizeof base);
    const char *bad = NULL;
    for (unsigned i = 0; i < descriptor->n_fields && bad == NULL; i++) {
        if (!field_is_empty(memory, &descriptor->fields[i]))
            bad = descriptor->fields[i].name;
    }
    size_t packed = protobuf_c_message_get_packed_size(memory);
    free(memory);

    if (bad != NULL)
        fail_msg("%s.%s is not empty after init", descriptor->name, bad);
    assert_ptr_equal(base.descriptor, descriptor);
    assert_int_equal(base.n_unknown_fields, 0);
    assert_null(base.unknown_fields);
    assert_int_equal(packed, 0);
}

static void test_every_message_starts_empty(void **state)
{
    (void)state;
    struct schema_walk walk;
    schema_walk_nri(&walk);
    schema_walk_message(&walk, &ttrpc__request__descriptor);
    schema_walk_message(&walk, &ttrpc__response__descriptor);
    assert_in_range(walk.n_messages, 100, sizeof walk.message / sizeof walk.message[0] - 1);
    for (size_t i = 0; i < walk.n_messages; i++)
        check_message(walk.message[i]);
    print_message("%zu messages\n", walk.n_messages);
}

/* Zero bytes are a valid message of every type, and equal to a fresh one. */
static void test_every_message_unpacks_from_nothing(void **state)
{
    (void)state;
    struct schema_walk walk;
    schema_walk_nri(&walk);
    for (size_t i = 0; i < walk.n_messages; i++) {
        const ProtobufCMessageDescriptor *descriptor = walk.message[i];
        ProtobufCMessage *message =
            protobuf_c_message_unpack(descriptor, NULL, 0, (const uint8_t *)"");
        assert_non_null(message);
        bool empty = true;
        for (unsigned f = 0; f < descriptor->n_fields; f++)
            empty = empty && field_is_empty((const unsigned char *)message, &descriptor->fields[f]);
        protobuf_c_message_free_unpacked(message, NULL);
        if (!empty)
            fail_msg("%s unpacked from nothing is not empty", descriptor->name);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_message_starts_empty),
        cmocka_unit_test(test_every_message_unpacks_from_nothing),
    };
    return cmocka_run_group_tests_name("proto init", tests, NULL, NULL);
}
