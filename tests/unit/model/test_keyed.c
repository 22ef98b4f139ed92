/* SPDX-License-Identifier: Apache-2.0 */
#include "model/keyed.h"

#include <stdio.h>

#include "fixture.h"

static void make_builder(struct fixture *fixture, struct nri_builder *builder)
{
    nri_builder_init(builder, &fixture->arena, fixture_seed, 0, NULL);
}

static ProtobufCMessage *make_message(struct fixture *fixture)
{
    ProtobufCMessage *message = nri_arena_zero(&fixture->arena, sizeof *message);
    assert_non_null(message);
    return message;
}

static void test_marker_and_entry(void **state)
{
    struct nri_keyed list = {0};
    struct nri_builder builder;
    ProtobufCMessage **messages;
    make_builder(*state, &builder);
    ProtobufCMessage *entry = make_message(*state), *other = make_message(*state);
    ProtobufCMessage *marker = make_message(*state);
    assert_int_equal(nri_keyed_messages(&list, &messages), 0);
    assert_null(nri_keyed_find(&list, "a", 1));
    assert_int_equal(nri_keyed_set(&list, &builder, "a", NULL, entry), 0);
    assert_int_equal(nri_keyed_set(&list, &builder, "b", NULL, other), 0);
    assert_int_equal(nri_keyed_set(&list, &builder, "a", marker, entry), 0);
    assert_int_equal(nri_keyed_messages(&list, &messages), 3);
    assert_ptr_equal(messages[0], marker);
    assert_ptr_equal(messages[1], entry);
    assert_ptr_equal(messages[2], other);
    assert_int_equal(nri_keyed_set(&list, &builder, "a", NULL, NULL), 0);
    assert_int_equal(nri_keyed_messages(&list, &messages), 2);
    assert_ptr_equal(messages[0], marker);
    assert_null(nri_keyed_find(&list, "ab", 2));
    assert_null(nri_keyed_find(&list, "", 0));
    assert_non_null(nri_keyed_find(&list, "b", 1));
}

/* The hash comes with the 17th key, and then knows all of them. */
static void test_the_hash(void **state)
{
    struct nri_keyed list = {0};
    struct nri_builder builder;
    struct fixture *fixture = *state;
    make_builder(fixture, &builder);
    for (int i = 0; i < 100; i++) {
        char name[16];
        int length = snprintf(name, sizeof name, "key%d", i);
        char *key = fixture_text(fixture, name, (size_t)length);
        ProtobufCMessage *message = make_message(fixture);
        assert_int_equal(nri_keyed_set(&list, &builder, key, NULL, message), 0);
        assert_int_equal(list.map != NULL, i >= NRI_KEYED_LINEAR);
        assert_int_equal(list.map != NULL ? nri_map_count(list.map) : (size_t)i + 1, i + 1);
        struct nri_keyed_item *item = nri_keyed_find(&list, name, (size_t)length);
        assert_non_null(item);
        assert_ptr_equal(item->entry, message);
        assert_ptr_equal(list.items[i], item);
    }
    assert_non_null(nri_keyed_find(&list, "key0", 4));
    assert_null(nri_keyed_find(&list, "key100", 6));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_marker_and_entry, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_the_hash, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
