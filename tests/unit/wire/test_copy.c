/* SPDX-License-Identifier: Apache-2.0 */
/* Deep copies: equal, apart, and with the room in their arrays that lists grow in. */
#include "support.h"

typedef Nri__Pkg__Api__V1alpha1__PodSandbox pod_message;
typedef Nri__Pkg__Api__V1alpha1__User user_message;

static void test_room(void **state)
{
    (void)state;
    static const size_t pairs[][2] = {{0, 1}, {1, 1},   {2, 2},   {3, 4},   {4, 4},
                                      {5, 8}, {16, 16}, {17, 32}, {31, 32}, {33, 64}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
        assert_int_equal(nri_message_room(pairs[i][0]), pairs[i][1]);
    const size_t half = SIZE_MAX / 2 + 1;
    assert_true(nri_message_room(half) == half);
    assert_true(nri_message_room(half + 1) == half + 1); /* no power of two fits */
    assert_true(nri_message_room(SIZE_MAX) == SIZE_MAX);
}

/* Writes into the whole room: the arena's next piece must lie behind it. Elements of each size:
 * pointers and 32-bit numbers. */
static void test_arrays_have_room(void **state)
{
    (void)state;
    struct fixture f;
    for (size_t count = 1; count <= 70; count++) {
        char *ips[70];
        uint32_t gids[70];
        pod_message pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
        user_message user = NRI__PKG__API__V1ALPHA1__USER__INIT;
        start(&f, SIZE_MAX);
        for (size_t i = 0; i < count; i++) {
            ips[i] = nri_arena_text(&f.arena, "10.0.0.1", 8);
            gids[i] = (uint32_t)i;
        }
        pod.n_ips = user.n_additional_gids = count;
        pod.ips = ips;
        user.additional_gids = gids;
        /* One piece an allocation, so that the failing allocator sees a write behind it. */
        struct nri_arena arena;
        struct nri_alloc alloc = fail_alloc_resolved(&f.fa);
        nri_arena_init(&arena, &alloc, 1, SIZE_MAX);
        pod_message *pod_copy = (void *)nri_message_copy(&pod.base, &arena);
        user_message *user_copy = (void *)nri_message_copy(&user.base, &arena);
        assert_non_null(pod_copy);
        assert_non_null(user_copy);
        for (size_t i = 0; i < count; i++) {
            assert_string_equal(pod_copy->ips[i], "10.0.0.1");
            assert_ptr_not_equal(pod_copy->ips[i], ips[i]);
            assert_int_equal(user_copy->additional_gids[i], i);
        }
        for (size_t i = count; i < nri_message_room(count); i++) {
            pod_copy->ips[i] = ips[0];
            user_copy->additional_gids[i] = UINT32_MAX;
        }
        assert_int_equal(pod_copy->n_ips, count);
        nri_arena_fini(&arena);
        end(&f);
    }
}

/* An arena that was told what comes has one chunk, and the copy fills it to its end: no byte more,
 * no second one. */
static void test_copy_room(void **state)
{
    (void)state;
    struct fixture f;
    for (size_t count = 0; count <= 40; count++) {
        char *ips[40];
        uint32_t gids[40] = {0};
        uint8_t bytes[40] = {0};
        pod_message pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
        user_message user = NRI__PKG__API__V1ALPHA1__USER__INIT;
        ProtobufCMessageUnknownField unknown = {.tag = 99, .len = count, .data = bytes};
        const ProtobufCMessage *messages[] = {&pod.base, &user.base};
        start(&f, SIZE_MAX);
        for (size_t i = 0; i < count; i++)
            ips[i] = nri_arena_text(&f.arena, "2001:db8::1:2:3:4:5:6", i % 22);
        pod.id = nri_arena_text(&f.arena, "0123456789", count % 11);
        pod.n_ips = user.n_additional_gids = count;
        pod.ips = ips;
        user.additional_gids = gids;
        pod.base.n_unknown_fields = count != 0;
        pod.base.unknown_fields = &unknown;
        for (size_t i = 0; i < 2; i++) {
            struct nri_arena arena;
            struct nri_alloc alloc = fail_alloc_resolved(&f.fa);
            nri_arena_init(&arena, &alloc, 0, SIZE_MAX);
            nri_arena_expect(&arena, nri_message_copy_room(messages[i]));
            assert_non_null(nri_message_copy(messages[i], &arena));
            assert_ptr_equal(arena.next, arena.end);
            assert_ptr_equal(arena.current, arena.first);
            nri_arena_fini(&arena);
        }
        end(&f);
    }
}

static void test_nothing_stays_nothing(void **state)
{
    (void)state;
    struct fixture f;
    pod_message pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
    start(&f, SIZE_MAX);
    pod_message *copy = (void *)nri_message_copy(&pod.base, &f.arena);
    assert_non_null(copy);
    assert_null(copy->ips);
    assert_null(copy->linux);
    assert_string_equal(copy->id, "");
    end(&f);
}

static void test_limit(void **state)
{
    (void)state;
    struct fixture f;
    user_message user = NRI__PKG__API__V1ALPHA1__USER__INIT;
    uint32_t gids[1025] = {0}; /* room for 2048 */
    user.n_additional_gids = 1025;
    user.additional_gids = gids;
    start(&f, 6000);
    assert_null(nri_message_copy(&user.base, &f.arena));
    assert_int_equal(f.arena.failure, NRI_E_LIMIT);
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_room),      cmocka_unit_test(test_arrays_have_room),
        cmocka_unit_test(test_copy_room), cmocka_unit_test(test_nothing_stays_nothing),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
