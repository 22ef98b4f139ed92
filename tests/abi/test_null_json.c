/* SPDX-License-Identifier: Apache-2.0 */
/* nri/json.h and nri/document.h with NULL: what is written is "{}", what is read or merged needs a
 * handle, and readers of values find null. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nri/nri.h>

#include <string.h>

#define is_empty(call) assert_string_equal(call, "")
#define is_zero(call)  assert_int_equal(call, 0)

/* A call that writes nothing's JSON, and the same without a place for it. */
#define writes_nothing(call)                                                                       \
    do {                                                                                           \
        char *text = NULL;                                                                         \
        size_t length = 77;                                                                        \
        nri_error *error = (nri_error *)&length;                                                   \
        is_zero(call(NULL, NULL, &text, &length, &error));                                         \
        assert_string_equal(text, "{}");                                                           \
        assert_int_equal(length, 2);                                                               \
        assert_null(error);                                                                        \
        assert_null(nri_json_free(text));                                                          \
        is_zero(call(NULL, NULL, &text, NULL, NULL));                                              \
        nri_json_free(text);                                                                       \
        assert_int_equal(call(NULL, NULL, NULL, &length, &error), NRI_E_INVALID);                  \
        is_zero(length);                                                                           \
        assert_string_equal(nri_error_get_text(error), "text: must not be NULL");                  \
        assert_null(nri_error_free(error));                                                        \
    } while (0)

static void test_writing(void **state)
{
    (void)state;
    writes_nothing(nri_pod_to_json);
    writes_nothing(nri_container_to_json);
    writes_nothing(nri_resources_to_json);
    writes_nothing(nri_adjustment_to_json);
    writes_nothing(nri_updates_to_json);
    writes_nothing(nri_request_to_json);
    assert_null(nri_json_free(NULL));
    nri_json_options_init(NULL, sizeof(struct nri_json_options));
}

static void refused(int code, nri_error **error, const char *text)
{
    assert_int_equal(code, NRI_E_INVALID);
    assert_string_equal(nri_error_get_text(*error), text);
    *error = nri_error_free(*error);
}

static void test_reading(void **state)
{
    (void)state;
    nri_error *error = NULL;
    nri_pod *pod = (nri_pod *)&error;
    nri_container *container = (nri_container *)&error;
    refused(nri_pod_from_json("{}", 2, NULL, NULL, &error), &error, "pod: must not be NULL");
    refused(nri_container_from_json("{}", 2, NULL, NULL, &error), &error,
            "container: must not be NULL");
    refused(nri_pod_from_json(NULL, 2, NULL, &pod, &error), &error, "json: must not be NULL");
    assert_null(pod);
    refused(nri_container_from_json(NULL, 2, NULL, &container, &error), &error,
            "json: must not be NULL");
    assert_null(container);
    assert_int_equal(nri_pod_from_json(NULL, 0, NULL, &pod, NULL), NRI_E_SYNTAX);
}

static void test_any_message(void **state)
{
    (void)state;
    nri_error *error = NULL;
    char *text = (char *)&error;
    size_t size = 77;
    refused(nri_json_from_protobuf(NULL, NULL, 0, NULL, &text, &size, &error), &error,
            "message: must be the name of one");
    assert_null(text);
    is_zero(size);
    refused(nri_json_from_protobuf("Empty", NULL, 1, NULL, &text, NULL, &error), &error,
            "bytes: must not be NULL");
    refused(nri_json_from_protobuf("Empty", NULL, 0, NULL, NULL, NULL, &error), &error,
            "text: must not be NULL");
    is_zero(nri_json_from_protobuf("Empty", NULL, 0, NULL, &text, NULL, NULL));
    nri_json_free(text);
    text = (char *)&error;
    refused(nri_json_to_protobuf(NULL, "{}", 2, NULL, &text, &size, &error), &error,
            "message: must be the name of one");
    assert_null(text);
    refused(nri_json_to_protobuf("Empty", NULL, 2, NULL, &text, &size, &error), &error,
            "json: must not be NULL");
    refused(nri_json_to_protobuf("Empty", "{}", 2, NULL, NULL, &size, &error), &error,
            "bytes: must not be NULL");
    refused(nri_json_to_protobuf("Empty", "{}", 2, NULL, &text, NULL, &error), &error,
            "size: must not be NULL");
}

static void test_merging(void **state)
{
    (void)state;
    nri_error *error = NULL;
    refused(nri_adjustment_merge_json(NULL, "{}", 2, NULL, &error), &error,
            "adjustment: must not be NULL");
    refused(nri_updates_merge_json(NULL, "{}", 2, NULL, &error), &error,
            "updates: must not be NULL");
    refused(nri_resources_merge_json(NULL, "{}", 2, NULL, &error), &error,
            "resources: must not be NULL");
    assert_int_equal(nri_adjustment_merge_json(NULL, NULL, 0, NULL, NULL), NRI_E_INVALID);
}

static void test_documents(void **state)
{
    (void)state;
    nri_error *error = NULL;
    nri_document *document = (nri_document *)&error;
    refused(nri_document_parse("{}", 2, NULL, NULL, &error), &error, "document: must not be NULL");
    refused(nri_document_parse(NULL, 2, NULL, &document, &error), &error, "json: must not be NULL");
    assert_null(document);
    assert_null(nri_document_free(NULL));
    assert_null(nri_document_root(NULL));
}

static void test_values(void **state)
{
    (void)state;
    bool boolean = true;
    int64_t number = 77;
    uint64_t positive = 77;
    double real = 77;
    size_t length = 77;
    const char *key = "x";
    assert_int_equal(nri_value_get_type(NULL), NRI_VALUE_NULL);
    assert_string_equal(nri_value_type_name(-1), "?");
    is_zero(nri_value_line(NULL));
    is_zero(nri_value_column(NULL));
    assert_false(nri_value_bool(NULL, &boolean));
    assert_false(boolean);
    assert_false(nri_value_bool(NULL, NULL));
    assert_false(nri_value_int64(NULL, &number));
    is_zero(number);
    assert_false(nri_value_int64(NULL, NULL));
    assert_false(nri_value_uint64(NULL, &positive));
    is_zero(positive);
    assert_false(nri_value_uint64(NULL, NULL));
    assert_false(nri_value_double(NULL, &real));
    assert_true(real == 0);
    assert_false(nri_value_double(NULL, NULL));
    is_empty(nri_value_text(NULL, &length));
    is_zero(length);
    is_empty(nri_value_text(NULL, NULL));
    is_zero(nri_value_count(NULL));
    assert_null(nri_value_at(NULL, 0));
    assert_null(nri_value_member_at(NULL, 0, &key));
    is_empty(key);
    assert_null(nri_value_member_at(NULL, 0, NULL));
    assert_null(nri_value_member(NULL, "a"));
    assert_null(nri_value_member(NULL, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writing),     cmocka_unit_test(test_reading),
        cmocka_unit_test(test_any_message), cmocka_unit_test(test_merging),
        cmocka_unit_test(test_documents),   cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
