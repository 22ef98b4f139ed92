/* SPDX-License-Identifier: Apache-2.0 */
/* nri/oci.h with NULL: nothing to apply changes nothing, and what must be there is asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nri/nri.h>

static void refused(int code, nri_error **error, const char *text)
{
    assert_int_equal(code, NRI_E_INVALID);
    assert_string_equal(nri_error_get_text(*error), text);
    *error = nri_error_free(*error);
}

static void test_texts(void **state)
{
    nri_error *error = NULL;
    char *out = NULL;
    size_t length = 77;
    (void)state;
    assert_int_equal(nri_oci_apply_adjustment("{ }", 3, NULL, NULL, &out, &length, &error), 0);
    assert_string_equal(out, "{}");
    assert_int_equal(length, 2);
    assert_null(nri_json_free(out));
    assert_int_equal(nri_oci_apply_update("{ }", 3, NULL, NULL, &out, NULL, NULL), 0);
    assert_string_equal(out, "{}");
    nri_json_free(out);
    refused(nri_oci_apply_adjustment("{}", 2, NULL, NULL, NULL, &length, &error), &error,
            "out: must not be NULL");
    assert_int_equal(length, 0);
    refused(nri_oci_apply_adjustment(NULL, 2, NULL, NULL, &out, NULL, &error), &error,
            "json: must not be NULL");
    assert_null(out);
    refused(nri_oci_apply_update("{}", 2, NULL, NULL, NULL, NULL, &error), &error,
            "out: must not be NULL");
    refused(nri_oci_apply_update(NULL, 2, NULL, NULL, &out, NULL, &error), &error,
            "json: must not be NULL");
    assert_int_equal(nri_oci_apply_update(NULL, 0, NULL, NULL, &out, NULL, NULL), NRI_E_SYNTAX);
}

static void test_files(void **state)
{
    nri_error *error = NULL;
    (void)state;
    refused(nri_oci_apply_adjustment_file(NULL, "x", NULL, NULL, &error), &error,
            "in_path: must not be NULL");
    refused(nri_oci_apply_adjustment_file("x", NULL, NULL, NULL, &error), &error,
            "out_path: must not be NULL");
    refused(nri_oci_apply_update_file(NULL, NULL, NULL, NULL, &error), &error,
            "in_path: must not be NULL");
    assert_int_equal(nri_oci_apply_update_file(NULL, NULL, NULL, NULL, NULL), NRI_E_INVALID);
    nri_container *container = (void *)&error;
    refused(nri_container_from_oci_file(NULL, NULL, &container, &error), &error,
            "path: must not be NULL");
    assert_null(container);
    assert_int_equal(nri_container_from_oci_file(NULL, NULL, NULL, NULL), NRI_E_INVALID);
}

static void test_answers(void **state)
{
    (void)state;
    nri_oci_options_init(NULL, sizeof(struct nri_oci_options));
    assert_int_equal(nri_oci_answer_json(NULL, "{}", 2), NRI_E_INVALID);
    assert_int_equal(nri_oci_answer_fail(NULL, NRI_E_IO, "text"), NRI_E_IO);
    assert_int_equal(nri_oci_answer_fail(NULL, 0, NULL), NRI_E_INTERNAL);
    assert_int_equal(nri_oci_answer_fail(NULL, 77, NULL), NRI_E_INTERNAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
