/* SPDX-License-Identifier: Apache-2.0 */
/* Documents for users: nri/document.h. */
#include "fixture.h"

#include <nri/document.h>

static const char json[] = "{\"flag\": true, \"count\": 12,\n \"ratio\": 1.5, \"name\": \"a\", "
                           "\"none\": null,\n \"list\": [1, -2, 1e2, 18446744073709551615]}";

static void test_reading(void **state)
{
    (void)state;
    nri_document *document;
    bool flag;
    int64_t number;
    uint64_t large;
    double ratio;
    size_t length;
    const char *key;
    assert_int_equal(nri_document_parse(json, strlen(json), NULL, &document, NULL), 0);
    const nri_value *root = nri_document_root(document);
    assert_int_equal(nri_value_get_type(root), NRI_VALUE_OBJECT);
    assert_int_equal(nri_value_count(root), 6);
    assert_true(nri_value_bool(nri_value_member(root, "flag"), &flag));
    assert_true(flag);
    assert_true(nri_value_int64(nri_value_member(root, "count"), &number));
    assert_int_equal(number, 12);
    assert_false(nri_value_int64(nri_value_member(root, "ratio"), &number));
    assert_int_equal(number, 0);
    assert_true(nri_value_double(nri_value_member(root, "ratio"), &ratio));
    assert_true(ratio == 1.5);
    assert_string_equal(nri_value_text(nri_value_member(root, "ratio"), &length), "1.5");
    assert_int_equal(length, 3);
    assert_string_equal(nri_value_text(nri_value_member(root, "name"), &length), "a");
    assert_int_equal(length, 1);
    assert_int_equal(nri_value_line(nri_value_member(root, "ratio")), 2);
    assert_int_equal(nri_value_column(nri_value_member(root, "ratio")), 11);
    assert_non_null(nri_value_member(root, "none"));
    assert_int_equal(nri_value_get_type(nri_value_member(root, "none")), NRI_VALUE_NULL);
    assert_null(nri_value_member(root, "nothing"));
    const nri_value *list = nri_value_member_at(root, 5, &key);
    assert_string_equal(key, "list");
    assert_int_equal(nri_value_count(list), 4);
    assert_true(nri_value_int64(nri_value_at(list, 1), &number));
    assert_int_equal(number, -2);
    assert_false(nri_value_uint64(nri_value_at(list, 1), &large));
    assert_true(nri_value_uint64(nri_value_at(list, 2), &large));
    assert_int_equal(large, 100);
    assert_true(nri_value_uint64(nri_value_at(list, 3), &large));
    assert_true(large == UINT64_MAX);
    assert_false(nri_value_int64(nri_value_at(list, 3), &number));
    nri_document_free(document);
}

/* A wrong type, a position past the end and NULL read as nothing. */
static void test_nothing(void **state)
{
    (void)state;
    nri_document *document;
    const char *key = "left";
    size_t length = 7;
    assert_int_equal(nri_document_parse("[\"a\"]", 5, NULL, &document, NULL), 0);
    const nri_value *root = nri_document_root(document);
    assert_null(nri_value_at(root, 1));
    assert_null(nri_value_member(root, "a"));
    assert_null(nri_value_member(root, NULL));
    assert_null(nri_value_member_at(root, 0, &key));
    assert_string_equal(key, "");
    assert_int_equal(nri_value_count(nri_value_at(root, 0)), 0);
    assert_null(nri_value_at(nri_value_at(root, 0), 0));
    assert_string_equal(nri_value_text(root, &length), "");
    assert_int_equal(length, 0);
    nri_document_free(document);
    assert_int_equal(nri_value_get_type(NULL), NRI_VALUE_NULL);
    assert_string_equal(nri_value_type_name(NRI_VALUE_OBJECT), "object");
    assert_string_equal(nri_value_type_name(99), "?");
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text;
        int code;
    } cases[] = {
        {"{\"a\":1,\n\"a\":2}", "c.json:2:1: ", NRI_E_SYNTAX},
        {"[1,]", "c.json:1:", NRI_E_SYNTAX},
        {"", "c.json:1:1: ", NRI_E_SYNTAX},
        {"[[[]]]", "c.json:1:3: ", NRI_E_LIMIT},
        {"[1,2,3,4,5]", "c.json:1:10: ", NRI_E_LIMIT},
        {"\"\xff\"", "c.json:1:2: ", NRI_E_UTF8},
    };
    struct nri_json_options options;
    nri_json_options_init(&options, sizeof options);
    options.name = "c.json";
    options.max_depth = 2;
    options.max_values = 5;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        nri_document *document = (void *)&options;
        nri_error *error = NULL;
        int code =
            nri_document_parse(cases[i].json, strlen(cases[i].json), &options, &document, &error);
        if (code != cases[i].code ||
            strncmp(nri_error_get_text(error), cases[i].text, strlen(cases[i].text)) != 0)
            fail_msg("case %zu: %d: %s", i, code, nri_error_get_text(error));
        fixture_check_place(error, "c.json");
        assert_null(document);
        nri_error_free(error);
    }
    assert_int_equal(nri_document_parse(NULL, 1, NULL, NULL, NULL), NRI_E_INVALID);
}

static void test_allocation_failures(void **state)
{
    (void)state;
    bool failed = true;
    for (size_t at = 1; failed; at++) {
        struct fail_alloc memory;
        struct nri_allocator allocator;
        struct nri_json_options options;
        nri_document *document;
        nri_error *error = NULL;
        fail_alloc_init(&memory, &allocator);
        nri_json_options_init(&options, sizeof options);
        options.allocator = &allocator;
        fail_alloc_arm(&memory, at);
        int code = nri_document_parse(json, strlen(json), &options, &document, &error);
        failed = memory.fired;
        assert_int_equal(code, failed ? NRI_E_NOMEM : 0);
        nri_error_free(error);
        nri_document_free(document);
        assert_int_equal(memory.live_blocks, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_errors),
        cmocka_unit_test(test_allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
