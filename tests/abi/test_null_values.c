/* SPDX-License-Identifier: Apache-2.0 */
/* nri/cpuset.h, nri/quantity.h, nri/annotation.h and nri/feature.h with NULL. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <nri/nri.h>

#define is_invalid(call) assert_int_equal(call, NRI_E_INVALID)

static void test_cpuset(void **state)
{
    (void)state;
    char text[4] = "x";
    is_invalid(nri_cpuset_new(NULL, NULL));
    assert_null(nri_cpuset_free(NULL));
    is_invalid(nri_cpuset_parse(NULL, "0", NULL));
    assert_int_equal(nri_cpuset_format(NULL, text, sizeof text), 0);
    assert_string_equal(text, "");
    is_invalid(nri_cpuset_add(NULL, 0));
    is_invalid(nri_cpuset_remove(NULL, 0));
    is_invalid(nri_cpuset_clear(NULL));
    is_invalid(nri_cpuset_copy(NULL, NULL));
    is_invalid(nri_cpuset_union(NULL, NULL));
    is_invalid(nri_cpuset_minus(NULL, NULL));
    is_invalid(nri_cpuset_intersect(NULL, NULL));
    assert_false(nri_cpuset_contains(NULL, 0));
    assert_true(nri_cpuset_includes(NULL, NULL));
    assert_true(nri_cpuset_equal(NULL, NULL));
    assert_int_equal(nri_cpuset_count(NULL), 0);
    assert_false(nri_cpuset_next(NULL, 0, NULL));
}

static void test_quantity(void **state)
{
    (void)state;
    int64_t value;
    is_invalid(nri_quantity_parse(NULL, &value, NULL));
    is_invalid(nri_quantity_parse("1", NULL, NULL));
    is_invalid(nri_quantity_parse_milli(NULL, &value, NULL));
    assert_int_equal(nri_quantity_format(0, NULL, 0), 1);
    assert_int_equal(nri_quantity_format_milli(0, NULL, 0), 1);
}

static void test_annotation(void **state)
{
    (void)state;
    bool flag;
    int64_t number;
    nri_document *document;
    assert_false(nri_annotation_find(NULL, NULL, NULL, NRI_ANNOTATION_SCOPED, NULL, NULL));
    assert_false(nri_annotation_find_any(NULL, NULL, NULL, 1, NRI_ANNOTATION_SCOPED, NULL, NULL));
    is_invalid(nri_annotation_bool(NULL, NULL, NULL, NRI_ANNOTATION_SCOPED, &flag, NULL));
    is_invalid(nri_annotation_int64(NULL, NULL, NULL, NRI_ANNOTATION_SCOPED, &number, NULL));
    is_invalid(nri_annotation_quantity(NULL, NULL, "k", NRI_ANNOTATION_SCOPED, NULL, NULL));
    is_invalid(nri_annotation_milli_quantity(NULL, NULL, "k", NRI_ANNOTATION_SCOPED, NULL, NULL));
    is_invalid(nri_annotation_cpuset(NULL, NULL, "k", NRI_ANNOTATION_SCOPED, NULL, NULL));
    is_invalid(nri_annotation_json(NULL, NULL, "k", NRI_ANNOTATION_SCOPED, NULL, NULL, NULL));
    assert_int_equal(
        nri_annotation_json(NULL, NULL, "k", NRI_ANNOTATION_SCOPED, NULL, &document, NULL),
        NRI_E_NOT_FOUND);
}

static void test_features(void **state)
{
    (void)state;
    enum nri_feature feature;
    assert_false(nri_feature_supported(NULL, NULL, NULL, NRI_FEATURE_ENV));
    assert_false(nri_event_supported(NULL, NULL, NULL, NRI_EVENT_CREATE_CONTAINER));
    assert_false(nri_field_supported(NULL, NULL, NULL, NRI_FIELD_ENV));
    assert_int_equal(nri_adjustment_ignored(NULL, "containerd", "2.1.0", NULL, &feature, 1), 0);
    assert_int_equal(nri_adjustment_ignored(NULL, NULL, NULL, NULL, NULL, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpuset),
        cmocka_unit_test(test_quantity),
        cmocka_unit_test(test_annotation),
        cmocka_unit_test(test_features),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
