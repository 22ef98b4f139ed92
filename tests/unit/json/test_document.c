/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fixture.h"

static void test_types(void **state)
{
    (void)state;
    struct fixture f;
    size_t length = 9;
    start(&f);
    struct nri_json *a = must_parse(&f, "[null,true,2,\"s\",[],{}]");
    static const char *const names[] = {"null", "boolean", "number", "string", "array", "object"};
    for (size_t i = 0; i < 6; i++) {
        const struct nri_json *value = nri_json_at(a, i);
        assert_int_equal(nri_json_type(value), i);
        assert_string_equal(nri_json_type_name(nri_json_type(value)), names[i]);
        /* The readers of other types give what is empty. */
        assert_int_equal(nri_json_bool(value), i == 1);
        assert_string_equal(nri_json_number_text(value), i == 2 ? "2" : "");
        assert_string_equal(nri_json_string(value, &length), i == 3 ? "s" : "");
        assert_int_equal(length, i == 3);
        assert_string_equal(nri_json_string(value, NULL), i == 3 ? "s" : "");
        assert_int_equal(nri_json_count(value), 0);
        assert_null(nri_json_at(value, 0));
        assert_null(nri_json_member_at(value, 0, NULL, NULL));
        assert_null(nri_json_get(value, "s"));
        assert_false(nri_json_remove((struct nri_json *)(uintptr_t)value, "s"));
    }
    assert_null(nri_json_at(a, 6));
    assert_null(nri_json_at(a, SIZE_MAX));
    assert_null(nri_json_member_at(a, 0, NULL, NULL)); /* an element is no member */
    assert_int_equal(nri_json_type(NULL), NRI_JSON_NULL);
    assert_int_equal(nri_json_count(NULL), 0);
    assert_int_equal(nri_json_line(NULL), 0);
    assert_int_equal(nri_json_column(NULL), 0);
    assert_string_equal(nri_json_string(NULL, &length), "");
    assert_null(nri_json_get(NULL, "a"));
    assert_string_equal(nri_json_type_name((enum nri_json_type)99), "?");
    end(&f);
}

static void test_members(void **state)
{
    (void)state;
    struct fixture f;
    const char *key;
    size_t length;
    start(&f);
    struct nri_json *object = must_parse(&f, "{\"zz\":1,\"a\":2,\"\":3}");
    static const char *const keys[] = {"zz", "a", ""};
    assert_int_equal(nri_json_count(object), 3);
    for (size_t i = 0; i < 3; i++) {
        struct nri_json *value = nri_json_member_at(object, i, &key, &length);
        assert_string_equal(key, keys[i]);
        assert_int_equal(length, strlen(keys[i]));
        assert_ptr_equal(nri_json_get(object, keys[i]), value);
        assert_ptr_equal(nri_json_member_at(object, i, NULL, NULL), value);
    }
    assert_null(nri_json_member_at(object, 3, &key, &length));
    assert_null(nri_json_at(object, 0)); /* a member is no element */
    assert_null(nri_json_get(object, "z"));
    assert_null(nri_json_get(object, "zzz"));
    end(&f);
}

static void test_made(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    struct nri_json *array = nri_json_new(&f.arena, NRI_JSON_ARRAY);
    for (int type = NRI_JSON_NULL; type <= NRI_JSON_OBJECT; type++)
        assert_int_equal(
            nri_json_append(&f.arena, array, nri_json_new(&f.arena, (enum nri_json_type)type)), 0);
    assert_int_equal(nri_json_append(&f.arena, array, nri_json_new_bool(&f.arena, true)), 0);
    assert_int_equal(
        nri_json_append(&f.arena, array, nri_json_new_string(&f.arena, "h\xC3\xA9", 3)), 0);
    assert_int_equal(nri_json_append(&f.arena, array, nri_json_new_int64(&f.arena, INT64_MIN)), 0);
    assert_int_equal(nri_json_append(&f.arena, array, nri_json_new_uint64(&f.arena, UINT64_MAX)),
                     0);
    assert_string_equal(
        written(&f, array, 0),
        "[null,false,0,\"\",[],{},true,\"h\xC3\xA9\",-9223372036854775808,18446744073709551615]");
    assert_int_equal(nri_json_line(array), 0);
    assert_null(nri_json_new_string(&f.arena, "\xFF", 1));
    assert_null(nri_json_new_string(&f.arena, "a\0b", 3));
    assert_non_null(nri_json_new_string(&f.arena, NULL, 0));
    end(&f);
}

static void test_set_and_remove_keep_the_order(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    struct nri_json *object = must_parse(&f, "{\"a\":1,\"b\":2,\"c\":3}");
    assert_int_equal(nri_json_set(&f.arena, object, "b", nri_json_new_bool(&f.arena, true)), 0);
    assert_int_equal(nri_json_set(&f.arena, object, "d", nri_json_new(&f.arena, NRI_JSON_NULL)), 0);
    assert_string_equal(written(&f, object, 0), "{\"a\":1,\"b\":true,\"c\":3,\"d\":null}");
    assert_true(nri_json_remove(object, "a"));
    assert_false(nri_json_remove(object, "a"));
    assert_int_equal(nri_json_set(&f.arena, object, "a", nri_json_new(&f.arena, NRI_JSON_STRING)),
                     0);
    assert_string_equal(written(&f, object, 0), "{\"b\":true,\"c\":3,\"d\":null,\"a\":\"\"}");
    assert_true(nri_json_remove(object, "b") && nri_json_remove(object, "c") &&
                nri_json_remove(object, "d") && nri_json_remove(object, "a"));
    assert_string_equal(written(&f, object, 0), "{}");
    assert_string_equal(written(&f, object, 2), "{}");
    assert_int_equal(nri_json_set(&f.arena, object, "x", nri_json_new(&f.arena, NRI_JSON_NUMBER)),
                     0);
    assert_string_equal(written(&f, object, 0), "{\"x\":0}");
    end(&f);
}

static void test_misuse(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    struct nri_json *array = nri_json_new(&f.arena, NRI_JSON_ARRAY),
                    *object = nri_json_new(&f.arena, NRI_JSON_OBJECT);
    assert_int_equal(nri_json_append(&f.arena, object, array), NRI_E_INVALID);
    assert_int_equal(nri_json_append(&f.arena, NULL, array), NRI_E_INVALID);
    assert_int_equal(nri_json_set(&f.arena, array, "a", object), NRI_E_INVALID);
    assert_int_equal(nri_json_set(&f.arena, object, "a", NULL), NRI_E_INVALID);
    assert_int_equal(nri_json_set(&f.arena, object, "\xFF", array), NRI_E_UTF8);
    assert_int_equal(nri_json_append(&f.arena, array, nri_json_new_string(&f.arena, "\xFF", 1)),
                     NRI_E_INVALID);
    assert_string_equal(written(&f, array, 0), "[]");
    assert_string_equal(written(&f, object, 0), "{}");
    end(&f);
}

/* Large objects go through the hash table: set, replace, find and remove against a plain list of
 * what must be there. */
enum { MANY = 3000 };

static void test_large_objects(void **state)
{
    (void)state;
    struct fixture f;
    char key[16];
    start(&f);
    struct nri_json *object = nri_json_new(&f.arena, NRI_JSON_OBJECT);
    for (int i = 0; i < MANY; i++) {
        snprintf(key, sizeof key, "k%d", i * 7);
        assert_int_equal(nri_json_set(&f.arena, object, key, nri_json_new_int64(&f.arena, i)), 0);
        assert_int_equal(nri_json_count(object), i + 1);
    }
    for (int i = 0; i < MANY; i += 3) {
        snprintf(key, sizeof key, "k%d", i * 7);
        assert_int_equal(nri_json_set(&f.arena, object, key, nri_json_new_int64(&f.arena, -i)), 0);
    }
    for (int i = 0; i < MANY; i += 100) {
        snprintf(key, sizeof key, "k%d", i * 7);
        assert_true(nri_json_remove(object, key));
    }
    struct nri_json *again = must_parse(&f, written(&f, object, 0));
    const struct nri_json *both[] = {object, again};
    for (int i = 0; i < MANY * 7; i++) {
        snprintf(key, sizeof key, "k%d", i);
        bool there = i % 7 == 0 && i / 7 % 100 != 0;
        for (size_t which = 0; which < 2; which++) {
            int64_t number = 0;
            struct nri_json *value = nri_json_get(both[which], key);
            assert_int_equal(value != NULL, there);
            if (value == NULL)
                continue;
            assert_int_equal(nri_json_int64(value, &number), 0);
            assert_int_equal(number, i / 7 % 3 == 0 ? -(i / 7) : i / 7);
        }
    }
    /* A parsed object grows on too. */
    assert_int_equal(nri_json_set(&f.arena, again, "new", nri_json_new(&f.arena, NRI_JSON_NULL)),
                     0);
    assert_non_null(nri_json_get(again, "new"));
    assert_non_null(nri_json_get(again, "k7"));
    end(&f);
}

static void test_long_arrays(void **state)
{
    (void)state;
    struct fixture f;
    start(&f);
    struct nri_json *array = nri_json_new(&f.arena, NRI_JSON_ARRAY);
    for (int i = 0; i < 10000; i++)
        assert_int_equal(nri_json_append(&f.arena, array, nri_json_new_int64(&f.arena, i)), 0);
    struct nri_json *again = must_parse(&f, written(&f, array, 0));
    assert_int_equal(nri_json_count(again), 10000);
    for (size_t i = 0; i < 10000; i++) {
        int64_t number = -1;
        assert_int_equal(nri_json_int64(nri_json_at(again, i), &number), 0);
        assert_int_equal(number, i);
    }
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types),       cmocka_unit_test(test_members),
        cmocka_unit_test(test_made),        cmocka_unit_test(test_set_and_remove_keep_the_order),
        cmocka_unit_test(test_misuse),      cmocka_unit_test(test_large_objects),
        cmocka_unit_test(test_long_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
