/* SPDX-License-Identifier: Apache-2.0 */
/* Random messages of every type, as JSON and back, are the same messages byte by byte; and their
 * JSON, damaged, is refused with a place or is another message. */
#include <stdio.h>

#include "fixture.h"
#include "model/json_schema.h"
#include "wire/field.h"
#include "wire/message.h"

#define ROUNDS 20

/* xorshift64*: the same numbers everywhere. */
static uint64_t draw(uint64_t *random)
{
    *random ^= *random >> 12;
    *random ^= *random << 25;
    *random ^= *random >> 27;
    return *random * UINT64_C(0x2545f4914f6cdd1d);
}

static size_t below(uint64_t *random, size_t limit)
{
    return (size_t)(draw(random) >> 33) % limit;
}

/* Every kind of character that JSON writes in a way of its own, but NUL, which is not read. */
static char *random_text(struct nri_arena *arena, uint64_t *random, const char *prefix)
{
    static const char *const pieces[] = {"a",
                                         "Z0",
                                         "\"",
                                         "\\",
                                         "/",
                                         "\n",
                                         "\t",
                                         "\x01",
                                         "\x1f",
                                         "\x7f",
                                         "\xc3\xa9",
                                         "\xe2\x82\xac",
                                         " ",
                                         "=",
                                         "-",
                                         "_",
                                         "\xf0\x9f\x90\xa7"};
    char text[128];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", prefix);
    for (size_t i = below(random, 12); i > 0; i--)
        length += (size_t)snprintf(text + length, sizeof text - length, "%s",
                                   pieces[below(random, sizeof pieces / sizeof pieces[0])]);
    char *made = nri_arena_text(arena, text, length);
    assert_non_null(made);
    return made;
}

/* Borders more often than chance would have it. */
static uint64_t random_bits(uint64_t *random)
{
    static const uint64_t borders[] = {
        0,         1,          UINT64_MAX,       INT64_MAX, UINT64_C(1) << 63, UINT64_C(1) << 53,
        INT32_MAX, UINT32_MAX, UINT64_C(1) << 31};
    if (below(random, 2) == 0)
        return borders[below(random, sizeof borders / sizeof borders[0])];
    return draw(random) >> below(random, 64);
}

static ProtobufCMessage *random_message(struct nri_arena *arena, uint64_t *random,
                                        const ProtobufCMessageDescriptor *type);

static void random_value(struct nri_arena *arena, uint64_t *random,
                         const ProtobufCFieldDescriptor *field, void *member)
{
    const uint64_t bits = random_bits(random);
    const uint32_t half = (uint32_t)bits;
    switch (field->type) {
    case PROTOBUF_C_TYPE_STRING:
        *(char **)member = random_text(arena, random, "");
        break;
    case PROTOBUF_C_TYPE_MESSAGE:
        *(ProtobufCMessage **)member = random_message(arena, random, field->descriptor);
        break;
    case PROTOBUF_C_TYPE_BOOL:
        *(protobuf_c_boolean *)member = (bits & 1) != 0;
        break;
    case PROTOBUF_C_TYPE_ENUM: {
        const ProtobufCEnumDescriptor *names = field->descriptor;
        int number = names->values[below(random, names->n_values)].value;
        if (below(random, 4) == 0)
            memcpy(&number, &half, sizeof number);
        memcpy(member, &number, sizeof number);
        break;
    }
    default:
        if (nri_field_size(field) == sizeof bits)
            memcpy(member, &bits, sizeof bits);
        else
            memcpy(member, &half, sizeof half);
    }
}

/* Keys of a map differ. */
static void set_key(struct nri_arena *arena, uint64_t *random, ProtobufCMessage *entry, size_t i)
{
    const ProtobufCFieldDescriptor *key = &entry->descriptor->fields[0];
    char prefix[16];
    if (key->type == PROTOBUF_C_TYPE_STRING) {
        snprintf(prefix, sizeof prefix, "%zu", i);
        *(char **)nri_field_member(entry, key) =
            i == 0 ? nri_arena_text(arena, "", 0) : random_text(arena, random, prefix);
    } else {
        *(int32_t *)nri_field_member(entry, key) = i == 1 ? INT32_MIN : (int32_t)i - 3;
    }
}

static void random_list(struct nri_arena *arena, uint64_t *random,
                        const ProtobufCFieldDescriptor *field, ProtobufCMessage *message)
{
    size_t count = below(random, 4), size = nri_field_size(field);
    if (count == 0)
        return;
    char *array = nri_arena_array(arena, count, size);
    assert_non_null(array);
    for (size_t i = 0; i < count; i++) {
        random_value(arena, random, field, array + i * size);
        if (nri_message_field_is_map(field)) {
            ProtobufCMessage *entry = ((ProtobufCMessage **)(void *)array)[i];
            const ProtobufCFieldDescriptor *value = &entry->descriptor->fields[1];
            set_key(arena, random, entry, i);
            random_value(arena, random, value, nri_field_member(entry, value));
        }
    }
    *(char **)nri_field_member(message, field) = array;
    *nri_field_count(message, field) = count;
}

static ProtobufCMessage *random_message(struct nri_arena *arena, uint64_t *random,
                                        const ProtobufCMessageDescriptor *type)
{
    ProtobufCMessage *message = nri_arena_alloc(arena, type->sizeof_message);
    assert_non_null(message);
    type->message_init(message);
    for (unsigned i = 0; i < type->n_fields; i++) {
        const ProtobufCFieldDescriptor *field = &type->fields[i];
        if (nri_field_repeated(field))
            random_list(arena, random, field, message);
        else if (below(random, 3) != 0)
            random_value(arena, random, field, nri_field_member(message, field));
    }
    return message;
}

static uint8_t *pack(struct nri_arena *arena, const ProtobufCMessage *message, size_t *size)
{
    assert_int_equal(nri_message_size(message, size, NULL), 0);
    uint8_t *bytes = nri_arena_alloc(arena, *size + 1);
    assert_non_null(bytes);
    nri_message_encode(message, bytes);
    return bytes;
}

/* Whatever a damaged text says: it is refused with an error that has a place, or it is read. */
static void read_damaged(uint64_t *random, const char *name, const char *text, size_t length)
{
    static const char marks[] = "{}[],:\"0-\\ne.";
    char *copy = malloc(length), *bytes;
    size_t size;
    nri_error *error = NULL;
    assert_non_null(copy);
    memcpy(copy, text, length);
    copy[below(random, length)] = marks[below(random, sizeof marks - 1)];
    int code = nri_json_to_protobuf(name, copy, length, NULL, &bytes, &size, &error);
    if (code != 0) {
        assert_true(code == NRI_E_SYNTAX || code == NRI_E_RANGE || code == NRI_E_UTF8);
        assert_memory_equal(nri_error_get_text(error), "JSON:", 5);
        assert_null(bytes);
    }
    nri_error_free(error);
    nri_json_free(bytes);
    free(copy);
}

static void there_and_back(struct nri_arena *arena, uint64_t *random,
                           const ProtobufCMessageDescriptor *type)
{
    const char *name = type->short_name;
    size_t size, length, again_size;
    char *text, *again;
    nri_error *error = NULL;
    struct nri_json_options options = {.size = sizeof options,
                                       .indent = (uint32_t)below(random, 4)};
    const uint8_t *bytes = pack(arena, random_message(arena, random, type), &size);
    if (nri_json_from_protobuf(name, bytes, size, &options, &text, &length, &error) != 0)
        fail_msg("%s: %s", name, nri_error_get_text(error));
    if (nri_json_to_protobuf(name, text, length, NULL, &again, &again_size, &error) != 0)
        fail_msg("%s: %s in %s", name, nri_error_get_text(error), text);
    if (again_size != size || memcmp(again, bytes, size) != 0)
        fail_msg("%s is not the same after %s", name, text);
    for (int i = 0; i < 5; i++)
        read_damaged(random, name, text, length);
    nri_json_free(text);
    nri_json_free(again);
}

static void test_random_messages(void **state)
{
    struct fixture *fixture = *state;
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    for (int round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < nri_json_type_count(); i++) {
            there_and_back(&fixture->arena, &random, nri_json_type_at(i));
            nri_arena_reset(&fixture->arena);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_random_messages, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
