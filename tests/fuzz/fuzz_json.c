/* SPDX-License-Identifier: Apache-2.0 */
/*
 * JSON: any bytes are refused with a place inside of the text, or are a document that is the same
 * after being written and parsed again. Limits refuse more, and never something else.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "does not hold: %s\n", what);
    abort();
}
#define CHECK(condition) check((condition), #condition)

/* Reads the number in front of a colon, and steps over both. */
static size_t take_number(const char **text)
{
    char *behind = NULL;
    size_t number = strtoul(*text, &behind, 10);
    CHECK(behind != *text && *behind == ':');
    *text = behind + 1;
    return number;
}

static void check_refusal(int rc, const struct nri_error *error, size_t size)
{
    const char *text = error->text;
    CHECK(rc == NRI_E_SYNTAX || rc == NRI_E_UTF8 || rc == NRI_E_LIMIT);
    CHECK(rc == error->code);
    CHECK(nri_utf8_valid(text, strlen(text), NULL));
    CHECK(strncmp(text, "fuzz:", 5) == 0);
    text += 5;
    if (*text == ' ') {
        CHECK(rc == NRI_E_LIMIT); /* of the whole text's size, which has no place */
        return;
    }
    size_t line = take_number(&text), column = take_number(&text);
    CHECK(line >= 1 && column >= 1 && line + column <= size + 2);
}

/* Reads everything that a value has, and what its number is in each form. */
static void read_value(const struct nri_json *value, size_t size)
{
    int64_t number;
    uint64_t unsigned_number;
    double floating;
    size_t length;
    CHECK(nri_json_line(value) >= 1 && nri_json_column(value) >= 1);
    CHECK(nri_json_line(value) + nri_json_column(value) <= size + 2);
    const char *text = nri_json_string(value, &length);
    CHECK(strlen(text) == length && nri_utf8_valid(text, length, NULL));
    int rc = nri_json_int64(value, &number);
    int unsigned_rc = nri_json_uint64(value, &unsigned_number);
    if (rc == 0 && unsigned_rc == 0)
        CHECK((uint64_t)number == unsigned_number);
    if (rc == 0)
        CHECK(unsigned_rc == (number < 0 ? NRI_E_RANGE : 0));
    CHECK((rc == NRI_E_SYNTAX) == (unsigned_rc == NRI_E_SYNTAX));
    if (nri_json_double(value, &floating) == 0 && rc == 0)
        CHECK(floating == (double)number);
    for (size_t i = 0; i < nri_json_count(value); i++) {
        const char *key;
        const struct nri_json *member = nri_json_member_at(value, i, &key, &length);
        if (member != NULL)
            CHECK(strlen(key) == length && nri_json_get(value, key) == member);
        read_value(member == NULL ? nri_json_at(value, i) : member,
                   size); /* the depth has a limit */
    }
}

/* Writes the document, parses what was written, writes that, and compares. */
static void check_round_trip(const struct nri_json *document, unsigned indent,
                             const struct nri_alloc *alloc)
{
    struct nri_arena arena;
    struct nri_buf first, second;
    struct nri_json *again;
    struct nri_error error = {0};
    nri_arena_init(&arena, alloc, 0, SIZE_MAX);
    nri_buf_init(&first, alloc, SIZE_MAX);
    nri_buf_init(&second, alloc, SIZE_MAX);
    const struct nri_json_limits limits = {.max_bytes = SIZE_MAX};
    CHECK(nri_json_write(document, indent, &first) == 0);
    const char *text = (const char *)first.data + first.start;
    CHECK(nri_json_parse(&arena, text, nri_buf_size(&first), &limits, "again", &again, &error) ==
          0);
    CHECK(nri_json_write(again, indent, &second) == 0);
    CHECK(nri_buf_size(&first) == nri_buf_size(&second));
    CHECK(memcmp(text, second.data + second.start, nri_buf_size(&first)) == 0);
    nri_arena_fini(&arena);
    nri_buf_fini(&first);
    nri_buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct nri_json_limits small = {
        .max_depth = 3, .max_values = 12, .max_bytes = 200};
    struct nri_alloc alloc;
    struct nri_arena arena;
    struct nri_json *document, *limited;
    struct nri_error error = {0};
    CHECK(nri_alloc_resolve(&alloc, NULL) == 0);
    nri_arena_init(&arena, &alloc, 0, SIZE_MAX);
    int rc = nri_json_parse(&arena, (const char *)data, size, NULL, "fuzz", &document, &error);
    CHECK((rc == 0) == (document != NULL));
    if (rc != 0) {
        check_refusal(rc, &error, size);
    } else {
        read_value(document, size);
        check_round_trip(document, 0, &alloc);
        check_round_trip(document, 2, &alloc);
    }
    int limited_rc =
        nri_json_parse(&arena, (const char *)data, size, &small, "fuzz", &limited, &error);
    CHECK(limited_rc == rc || limited_rc == NRI_E_LIMIT);
    nri_arena_fini(&arena);
    return 0;
}
