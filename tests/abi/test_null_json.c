/* SPDX-License-Identifier: Apache-2.0 */
/* nri/json.h and nri/document.h with NULL for every handle, text and out parameter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nri/nri.h>

static void expect_empty(int code, char *text)
{
    assert_int_equal(code, 0);
    assert_string_equal(text, "{}");
    nri_json_free(text);
}

static void test_writing(void **state)
{
    (void)state;
    char *text;
    int code = nri_pod_to_json(NULL, NULL, &text, NULL, NULL);
    expect_empty(code, text);
    code = nri_container_to_json(NULL, NULL, &text, NULL, NULL);
    expect_empty(code, text);
    code = nri_resources_to_json(NULL, NULL, &text, NULL, NULL);
    expect_empty(code, text);
    code = nri_adjustment_to_json(NULL, NULL, &text, NULL, NULL);
    expect_empty(code, text);
    code = nri_updates_to_json(NULL, NULL, &text, NULL, NULL);
    expect_empty(code, text);
    code = nri_request_to_json(NULL, NULL, &text, NULL, NULL);
    expect_empty(code, text);
    assert_int_equal(nri_pod_to_json(NULL, NULL, NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_request_to_json(NULL, NULL, NULL, NULL, NULL), NRI_E_INVALID);
    assert_null(nri_json_free(NULL));
    nri_json_options_init(NULL, 0);
}

static void test_reading(void **state)
{
    (void)state;
    nri_pod *pod;
    nri_container *container;
    char *bytes;
    size_t size;
    assert_int_equal(nri_pod_from_json("{}", 2, NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_pod_from_json(NULL, 2, NULL, &pod, NULL), NRI_E_INVALID);
    assert_null(pod);
    assert_int_equal(nri_container_from_json("{}", 2, NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_container_from_json(NULL, 2, NULL, &container, NULL), NRI_E_INVALID);
    assert_null(container);
    assert_int_equal(nri_adjustment_merge_json(NULL, "{}", 2, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_updates_merge_json(NULL, "{}", 2, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_resources_merge_json(NULL, "{}", 2, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_json_from_protobuf(NULL, NULL, 0, NULL, &bytes, NULL, NULL),
                     NRI_E_INVALID);
    assert_int_equal(nri_json_from_protobuf("Mount", NULL, 0, NULL, NULL, NULL, NULL),
                     NRI_E_INVALID);
    assert_int_equal(nri_json_to_protobuf(NULL, "{}", 2, NULL, &bytes, &size, NULL), NRI_E_INVALID);
    assert_int_equal(nri_json_to_protobuf("Mount", "{}", 2, NULL, NULL, NULL, NULL), NRI_E_INVALID);
}

static void test_documents(void **state)
{
    (void)state;
    assert_int_equal(nri_document_parse("{}", 2, NULL, NULL, NULL), NRI_E_INVALID);
    assert_null(nri_document_free(NULL));
    assert_null(nri_document_root(NULL));
    assert_int_equal(nri_value_get_type(NULL), NRI_VALUE_NULL);
    assert_string_equal(nri_value_type_name(NRI_VALUE_NULL), "null");
    assert_int_equal(nri_value_line(NULL), 0);
    assert_int_equal(nri_value_column(NULL), 0);
    assert_false(nri_value_bool(NULL, NULL));
    assert_false(nri_value_int64(NULL, NULL));
    assert_false(nri_value_uint64(NULL, NULL));
    assert_false(nri_value_double(NULL, NULL));
    assert_string_equal(nri_value_text(NULL, NULL), "");
    assert_int_equal(nri_value_count(NULL), 0);
    assert_null(nri_value_at(NULL, 0));
    assert_null(nri_value_member_at(NULL, 0, NULL));
    assert_null(nri_value_member(NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_reading),
        cmocka_unit_test(test_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
