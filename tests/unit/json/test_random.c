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

/* A fixed start, so that every run is the same; what fails is named by its number. */
static uint32_t next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    *state ^= *state << 5;
    return *state;
}

static struct nri_json *random_string(struct fixture *f, uint32_t *random)
{
    static const char *const pieces[] = {"a",
                                         "\"",
                                         "\\",
                                         "/",
                                         "\n",
                                         "\x01",
                                         "\x7F",
                                         "\xC3\xA9",
                                         "\xE2\x82\xAC",
                                         "\xF0\x9F\x98\x80",
                                         "text",
                                         " "};
    char text[128];
    size_t length = 0;
    for (uint32_t count = next_random(random) % 12; count > 0; count--) {
        const char *piece = pieces[next_random(random) % 12];
        memcpy(text + length, piece, strlen(piece));
        length += strlen(piece);
    }
    return nri_json_new_string(&f->arena, text, length);
}

static struct nri_json *random_number(struct fixture *f, uint32_t *random)
{
    uint32_t high = next_random(random);
    uint64_t bits = ((uint64_t)high << 32 | next_random(random)) >> next_random(random) % 64;
    if (next_random(random) % 2 == 0)
        return nri_json_new_uint64(&f->arena, bits);
    return nri_json_new_int64(&f->arena, (int64_t)bits);
}

static struct nri_json *random_value(struct fixture *f, uint32_t *random, unsigned depth)
{
    unsigned kind = next_random(random) % (depth < 6 ? 7 : 4);
    if (kind == 0)
        return random_string(f, random);
    if (kind == 1)
        return random_number(f, random);
    if (kind == 2)
        return nri_json_new_bool(&f->arena, next_random(random) % 2 == 0);
    if (kind == 3)
        return nri_json_new(&f->arena, NRI_JSON_NULL);
    bool object = kind % 2 == 0;
    struct nri_json *container = nri_json_new(&f->arena, object ? NRI_JSON_OBJECT : NRI_JSON_ARRAY);
    for (uint32_t count = next_random(random) % 14; count > 0; count--) {
        struct nri_json *value = random_value(f, random, depth + 1);
        int rc = object ? nri_json_set(&f->arena, container,
                                       nri_json_string(random_string(f, random), NULL), value)
                        : nri_json_append(&f->arena, container, value);
        assert_int_equal(rc, 0);
    }
    return container;
}

static bool same(const struct nri_json *a, const struct nri_json *b)
{
    size_t a_length, b_length;
    if (nri_json_type(a) != nri_json_type(b) || nri_json_bool(a) != nri_json_bool(b) ||
        nri_json_count(a) != nri_json_count(b))
        return false;
    const char *a_text = nri_json_string(a, &a_length), *b_text = nri_json_string(b, &b_length);
    if (a_length != b_length || memcmp(a_text, b_text, a_length) != 0 ||
        strcmp(nri_json_number_text(a), nri_json_number_text(b)) != 0)
        return false;
    for (size_t i = 0; i < nri_json_count(a); i++) {
        if (nri_json_type(a) == NRI_JSON_ARRAY) {
            if (!same(nri_json_at(a, i), nri_json_at(b, i)))
                return false;
            continue;
        }
        const char *a_key, *b_key;
        const struct nri_json *a_value = nri_json_member_at(a, i, &a_key, NULL),
                              *b_value = nri_json_member_at(b, i, &b_key, NULL);
        if (strcmp(a_key, b_key) != 0 || !same(a_value, b_value) ||
            nri_json_get(b, a_key) != b_value)
            return false;
    }
    return true;
}

/* What is written is read again as the same, in the same order, and written again byte for byte. */
static void test_write_parse_write(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        struct fixture f;
        uint32_t random = seed * 2654435761u;
        start(&f);
        struct nri_json *document = random_value(&f, &random, 0);
        for (unsigned indent = 0; indent <= 3; indent += 3) {
            char *text = strdup(written(&f, document, indent));
            struct nri_json *again = must_parse(&f, text);
            if (!same(document, again) || strcmp(written(&f, again, indent), text) != 0)
                fail_msg("document %u: %s", (unsigned)seed, text);
            free(text);
        }
        end(&f);
    }
}

/* A damaged text is refused with a place inside of it, or is another document that survives the
 * same way. */
static void test_damaged(void **state)
{
    (void)state;
    static const char bytes[] = "\"\\[]{},:0-.eu \n\xC3\x80\xFFtfn";
    size_t refused = 0, accepted = 0;
    for (uint32_t seed = 1; seed <= 300; seed++) {
        struct fixture f;
        uint32_t random = seed * 2246822519u;
        start(&f);
        char *text = strdup(written(&f, random_value(&f, &random, 3), 0));
        size_t length = strlen(text);
        for (uint32_t count = 1 + next_random(&random) % 3; count > 0; count--)
            text[next_random(&random) % length] = bytes[next_random(&random) % (sizeof bytes - 1)];
        if (parse(&f, text, length) != 0) {
            size_t line = 0, column = 0;
            assert_int_equal(sscanf(f.error.text, "t:%zu:%zu: ", &line, &column), 2);
            assert_in_range(line, 1, length + 1);
            assert_in_range(column, 1, length + 1);
            refused++;
        } else {
            struct nri_json *first = f.document;
            struct nri_json *second = must_parse(&f, written(&f, first, 0));
            assert_true(same(first, second));
            accepted++;
        }
        free(text);
        end(&f);
    }
    assert_true(refused > 50 && accepted > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_write_parse_write),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
