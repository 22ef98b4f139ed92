/* SPDX-License-Identifier: Apache-2.0 */
#include "model/unique.h"

#include <stdio.h>

#include "fixture.h"
#include "wire/message.h"

typedef Nri__Pkg__Api__V1alpha1__KeyValue pair_message;

struct list {
    struct nri_builder builder;
    struct nri_unique unique;
    size_t count;
    pair_message **pairs;
};

static void start(struct fixture *fixture, struct list *list)
{
    memset(list, 0, sizeof *list);
    nri_builder_init(&list->builder, &fixture->arena, fixture_seed, 0, NULL);
}

static pair_message *make(struct nri_arena *arena, const char *key, size_t length, int value)
{
    char text[16];
    pair_message *pair = nri_arena_alloc(arena, sizeof *pair);
    if (pair == NULL)
        return NULL;
    nri__pkg__api__v1alpha1__key_value__init(pair);
    snprintf(text, sizeof text, "%d", value);
    pair->key = nri_arena_text(arena, key, length);
    pair->value = nri_arena_text(arena, text, strlen(text));
    return pair->key != NULL && pair->value != NULL ? pair : NULL;
}

static int set(struct list *list, pair_message *pair)
{
    return nri_unique_set(&list->unique, &list->builder, &list->count, &list->pairs, &pair->base);
}

static size_t find(struct list *list, const char *key)
{
    return nri_unique_find(&list->unique, list->count, &list->pairs, key);
}

/* Around every power of two, in the hash and before it. */
static void test_append_and_replace(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    char key[16];
    start(fixture, &list);
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 600; i++) {
            snprintf(key, sizeof key, "k%d", i);
            assert_int_equal(find(&list, key), round == 0 ? SIZE_MAX : (size_t)i);
            assert_int_equal(set(&list, make(&fixture->arena, key, strlen(key), 1000 * round + i)),
                             0);
            assert_int_equal(list.count, round == 0 ? i + 1 : 600);
            assert_int_equal(find(&list, key), i);
        }
    }
    for (int i = 0; i < 600; i++)
        assert_int_equal(atoi(list.pairs[i]->value), 1000 + i);
    assert_non_null(list.unique.map);
    assert_int_equal(find(&list, ""), SIZE_MAX);
}

/* A list that shrinks keeps its room, wherever it stands between two powers of two. */
static void test_append_again(void **state)
{
    struct fixture *fixture = *state;
    for (size_t base = 0; base < 70; base++) {
        struct list list;
        size_t most = 0;
        start(fixture, &list);
        pair_message *pair = make(&fixture->arena, "k", 1, 0);
        while (list.count <= base)
            assert_int_equal(
                nri_list_append_again(&list.builder, &list.count, &most, &list.pairs, pair), 0);
        pair_message **const pairs = list.pairs;
        for (int i = 0; i < 3; i++) {
            list.count = list.count > 5 ? list.count - 5 : 0;
            while (list.count <= base)
                assert_int_equal(
                    nri_list_append_again(&list.builder, &list.count, &most, &list.pairs, pair), 0);
            assert_ptr_equal(list.pairs, pairs);
        }
        assert_int_equal(most, base + 1);
        for (size_t more = 0; more < 100; more++)
            assert_int_equal(
                nri_list_append_again(&list.builder, &list.count, &most, &list.pairs, pair), 0);
        for (size_t k = 0; k < list.count; k++)
            assert_ptr_equal(list.pairs[k], pair);
    }
}

/* A copied list goes on growing in its own room, and the original's stays as it is. */
static void test_grow_a_copy(void **state)
{
    struct fixture *fixture = *state;
    for (size_t count = 0; count < 40; count++) {
        Nri__Pkg__Api__V1alpha1__ContainerAdjustment original;
        pair_message *pairs[40];
        struct list list;
        char key[16];
        start(fixture, &list);
        nri__pkg__api__v1alpha1__container_adjustment__init(&original);
        for (size_t i = 0; i < count; i++) {
            snprintf(key, sizeof key, "k%zu", i);
            pairs[i] = make(&fixture->arena, key, strlen(key), (int)i);
        }
        original.n_env = count;
        original.env = pairs;
        Nri__Pkg__Api__V1alpha1__ContainerAdjustment *copy =
            (void *)nri_message_copy(&original.base, &fixture->arena);
        assert_non_null(copy);
        for (size_t i = 0; i < 50; i++) {
            snprintf(key, sizeof key, "k%zu", i);
            pair_message *pair = make(&fixture->arena, key, strlen(key), (int)(100 + i));
            assert_int_equal(
                nri_unique_set(&list.unique, &list.builder, &copy->n_env, &copy->env, &pair->base),
                0);
        }
        assert_int_equal(copy->n_env, 50);
        for (size_t i = 0; i < 50; i++)
            assert_int_equal(atoi(copy->env[i]->value), 100 + i);
        for (size_t i = 0; i < count; i++)
            assert_int_equal(atoi(pairs[i]->value), i);
    }
}

/* What a peer sent twice: the last counts, with a hash and without. */
static void test_duplicates_of_a_peer(void **state)
{
    struct fixture *fixture = *state;
    for (int count = 4; count <= 64; count *= 4) {
        struct list list;
        start(fixture, &list);
        for (int i = 0; i < count; i++)
            assert_int_equal(nri_list_append(&list.builder, &list.count, &list.pairs,
                                             make(&fixture->arena, "same", 4, i)),
                             0);
        assert_int_equal(set(&list, make(&fixture->arena, "same", 4, 500)), 0);
        assert_int_equal(list.count, count);
        assert_int_equal(atoi(list.pairs[count - 1]->value), 500);
        assert_int_equal(atoi(list.pairs[0]->value), 0);
        assert_int_equal(find(&list, "same"), count - 1);
    }
}

/* NULs are part of a key. */
static void test_whole_keys(void **state)
{
    struct fixture *fixture = *state;
    struct list list;
    start(fixture, &list);
    assert_int_equal(set(&list, make(&fixture->arena, "a\0b", 3, 1)), 0);
    assert_int_equal(find(&list, "a"), SIZE_MAX);
    assert_int_equal(set(&list, make(&fixture->arena, "a", 1, 2)), 0);
    assert_int_equal(set(&list, make(&fixture->arena, "a\0b", 3, 3)), 0);
    assert_int_equal(list.count, 2);
    assert_int_equal(atoi(list.pairs[0]->value), 3);
    assert_int_equal(find(&list, "a"), 1);
}

/* Each allocation fails once: the list is as it was, and the same call then works. */
static void test_no_memory(void **state)
{
    struct fixture *fixture = *state;
    struct nri_alloc alloc = fail_alloc_resolved(&fixture->memory);
    struct list list;
    size_t points = 0;
    bool fired = true;
    for (size_t n = 1; fired; n++) {
        struct nri_arena arena;
        start(fixture, &list);
        nri_arena_init(&arena, &alloc, 1, SIZE_MAX); /* every piece is an allocation */
        list.builder.arena = &arena;
        fail_alloc_arm(&fixture->memory, 0);
        for (int i = 0; i < 40; i++) {
            char key[16];
            snprintf(key, sizeof key, "k%d", i);
            pair_message *pair = make(&fixture->arena, key, strlen(key), i);
            if (i == 0)
                fail_alloc_arm(&fixture->memory, n);
            int code = set(&list, pair);
            if (code == 0)
                continue;
            assert_int_equal(code, NRI_E_NOMEM);
            assert_int_equal(list.count, i);
            assert_int_equal(find(&list, key), SIZE_MAX);
            assert_int_equal(set(&list, pair), 0);
        }
        fired = fixture->memory.fired;
        points += fired ? 1 : 0;
        assert_int_equal(list.count, 40);
        for (int i = 0; i < 40; i++)
            assert_int_equal(atoi(list.pairs[i]->value), i);
        nri_arena_fini(&arena);
    }
    assert_true(points > 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_append_and_replace, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_append_again, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_grow_a_copy, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_duplicates_of_a_peer, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_whole_keys, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_no_memory, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
