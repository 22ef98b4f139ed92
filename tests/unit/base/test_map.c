/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <nri/error.h>

#include "base/arena.h"
#include "base/map.h"
#include "fail_alloc.h"

static const uint64_t seed[2] = {1, 2};

struct fixture {
    struct fail_alloc fa;
    struct nri_map map;
};

static void start(struct fixture *f)
{
    fail_alloc_init(&f->fa, NULL);
    struct nri_alloc alloc = fail_alloc_resolved(&f->fa);
    nri_map_init(&f->map, &alloc, seed);
}

static void end(struct fixture *f)
{
    nri_map_fini(&f->map);
    assert_int_equal(nri_map_count(&f->map), 0);
    assert_int_equal(f->fa.live_blocks, 0);
}

static void test_set_get_remove(void **state)
{
    (void)state;
    struct fixture f;
    int one = 1, two = 2;
    void *old = &one;
    start(&f);
    assert_null(nri_map_get(&f.map, "a", 1));
    assert_null(nri_map_remove(&f.map, "a", 1));
    assert_int_equal(nri_map_set(&f.map, "a", 1, &one, &old), 0);
    assert_null(old);
    assert_int_equal(nri_map_set(&f.map, "a\0", 2, &two, NULL), 0); /* bytes, not a C string */
    assert_int_equal(nri_map_set(&f.map, "", 0, &two, NULL), 0);
    assert_ptr_equal(nri_map_get(&f.map, "a", 1), &one);
    assert_ptr_equal(nri_map_get(&f.map, "a\0", 2), &two);
    assert_ptr_equal(nri_map_get(&f.map, "", 0), &two);
    assert_int_equal(nri_map_count(&f.map), 3);
    assert_int_equal(nri_map_set(&f.map, "a", 1, &two, &old), 0);
    assert_ptr_equal(old, &one);
    assert_int_equal(nri_map_count(&f.map), 3);
    assert_ptr_equal(nri_map_remove(&f.map, "a", 1), &two);
    assert_null(nri_map_get(&f.map, "a", 1));
    assert_null(nri_map_get(&f.map, "b", 1));
    assert_int_equal(nri_map_count(&f.map), 2);
    end(&f);
    end(&f);
}

/* The key that counts is the last one given: the one before may be gone. */
static void test_replacing_takes_the_new_key(void **state)
{
    (void)state;
    struct fixture f;
    int value = 1;
    char *first = strdup("key"), *second = strdup("key");
    start(&f);
    assert_int_equal(nri_map_set(&f.map, first, 3, &value, NULL), 0);
    assert_int_equal(nri_map_set(&f.map, second, 3, &value, NULL), 0);
    memset(first, 'x', 3);
    free(first);
    assert_ptr_equal(nri_map_get(&f.map, "key", 3), &value);
    end(&f);
    free(second);
}

enum { MANY = 5000 };
static char names[MANY][8];

static void fill(struct nri_map *map)
{
    for (size_t i = 0; i < MANY; i++) {
        int length = snprintf(names[i], sizeof names[i], "k%zu", i * 7919 % MANY);
        assert_int_equal(nri_map_set(map, names[i], (size_t)length, names[i], NULL), 0);
    }
}

struct walk {
    struct nri_map *map;
    size_t seen, step;
};

static void in_order(void *user, const void *key, size_t length, void *value)
{
    struct walk *walk = user;
    while (walk->step == 2 && walk->seen % 2 == 0 && walk->seen < MANY)
        walk->seen++; /* the even ones were removed */
    assert_ptr_equal(key, names[walk->seen]);
    assert_ptr_equal(value, names[walk->seen]);
    assert_int_equal(length, strlen(names[walk->seen]));
    walk->seen++;
}

static void remove_every_second(void *user, const void *key, size_t length, void *value)
{
    struct walk *walk = user;
    if (walk->seen++ % 2 == 0)
        assert_ptr_equal(nri_map_remove(walk->map, key, length), value);
}

static void test_many_in_order_of_insertion(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    fill(&f.map);
    assert_int_equal(nri_map_count(&f.map), MANY);
    struct walk walk = {&f.map, 0, 1};
    nri_map_each(&f.map, in_order, &walk);
    assert_int_equal(walk.seen, MANY);
    walk = (struct walk){&f.map, 0, 1};
    nri_map_each(&f.map, remove_every_second, &walk);
    assert_int_equal(walk.seen, MANY);
    assert_int_equal(nri_map_count(&f.map), MANY / 2);
    walk = (struct walk){&f.map, 0, 2};
    nri_map_each(&f.map, in_order, &walk);
    assert_int_equal(walk.seen, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(nri_map_get(&f.map, names[i], strlen(names[i])),
                         i % 2 == 0 ? NULL : names[i]);
    end(&f);
}

static void test_removing_all_while_walking(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    fill(&f.map);
    struct walk walk = {&f.map, 0, 1};
    do {
        walk.seen = 0;
        nri_map_each(&f.map, remove_every_second, &walk);
    } while (nri_map_count(&f.map) != 0);
    assert_int_equal(f.fa.live_blocks, 0);
    assert_int_equal(nri_map_set(&f.map, "a", 1, names, NULL), 0);
    end(&f);
}

static void test_in_an_arena(void **state)
{
    (void)state;
    struct fail_alloc fa;
    struct nri_arena arena;
    struct nri_alloc outer, alloc;
    struct nri_map map;
    fail_alloc_init(&fa, NULL);
    outer = fail_alloc_resolved(&fa);
    nri_arena_init(&arena, &outer, 0, 1u << 22);
    nri_arena_allocator(&arena, &alloc);
    nri_map_init(&map, &alloc, seed);
    fill(&map);
    assert_int_equal(nri_map_count(&map), MANY);
    nri_arena_fini(&arena);
    assert_int_equal(fa.live_blocks, 0);
}

/* Each allocation fails once: of the entry, of the table, of its buckets, and of a larger table. */
static void test_allocation_failures(void **state)
{
    (void)state;
    size_t n = 0, failed_growths = 0;
    bool fired;
    do {
        struct fixture f;
        start(&f);
        fail_alloc_arm(&f.fa, ++n);
        for (size_t i = 0; i < 700; i++) {
            int length = snprintf(names[i], sizeof names[i], "k%zu", i);
            bool before = f.fa.fired;
            size_t count = nri_map_count(&f.map);
            int rc = nri_map_set(&f.map, names[i], (size_t)length, names[i], NULL);
            bool now = f.fa.fired && !before;
            assert_int_equal(rc, now ? NRI_E_NOMEM : 0);
            if (rc == 0)
                continue;
            failed_growths += i > 0;
            assert_int_equal(nri_map_count(&f.map), count);
            assert_null(nri_map_get(&f.map, names[i], (size_t)length));
            for (size_t k = 0; k < i; k++)
                assert_ptr_equal(nri_map_get(&f.map, names[k], strlen(names[k])), names[k]);
            assert_int_equal(nri_map_set(&f.map, names[i], (size_t)length, names[i], NULL), 0);
        }
        assert_int_equal(nri_map_count(&f.map), 700);
        struct walk walk = {&f.map, 0, 1};
        nri_map_each(&f.map, in_order, &walk);
        assert_int_equal(walk.seen, 700);
        fired = f.fa.fired;
        end(&f);
    } while (fired);
    assert_true(n > 703); /* 700 entries, table, buckets, and at least one larger table */
    assert_true(failed_growths > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_get_remove),
        cmocka_unit_test(test_replacing_takes_the_new_key),
        cmocka_unit_test(test_many_in_order_of_insertion),
        cmocka_unit_test(test_removing_all_while_walking),
        cmocka_unit_test(test_in_an_arena),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
