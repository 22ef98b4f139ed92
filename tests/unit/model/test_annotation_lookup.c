/* SPDX-License-Identifier: Apache-2.0 */
/* Annotations of a pod for its containers: nri/annotation.h. */
#include "fixture.h"

#include <nri/annotation.h>

static nri_pod *pod_with(const char *const *pairs)
{
    nri_pod *pod;
    assert_int_equal(nri_pod_new(&pod, NULL), 0);
    for (; *pairs != NULL; pairs += 2)
        assert_int_equal(nri_pod_set_annotation(pod, pairs[0], pairs[1]), 0);
    return pod;
}

static void expect(const nri_pod *pod, const char *name, enum nri_annotation_syntax syntax,
                   const char *key, const char *value)
{
    const char *got = NULL, *found = NULL;
    assert_int_equal(nri_annotation_find(pod, name, "k.io", syntax, &got, &found), key[0] != '\0');
    assert_string_equal(found, key);
    assert_string_equal(got, value);
}

static void test_precedence(void **state)
{
    (void)state;
    /* From the least wanted to the most, so that the order in the pod does not help. */
    nri_pod *bare = pod_with((const char *[]){"k.io", "bare", "other", "x", NULL});
    expect(bare, "c", NRI_ANNOTATION_SCOPED, "k.io", "bare");
    expect(bare, "c", NRI_ANNOTATION_NAME, "k.io", "bare");
    expect(bare, "c", NRI_ANNOTATION_CONTAINER, "", "");
    expect(bare, NULL, NRI_ANNOTATION_SCOPED, "k.io", "bare");
    assert_int_equal(nri_pod_set_annotation(bare, "k.io/pod", "pod"), 0);
    expect(bare, "c", NRI_ANNOTATION_SCOPED, "k.io/pod", "pod");
    expect(bare, "", NRI_ANNOTATION_SCOPED, "k.io/pod", "pod");
    expect(bare, "c", NRI_ANNOTATION_NAME, "k.io", "bare");
    /* A container that is called "pod" is found by its name. */
    expect(bare, "pod", NRI_ANNOTATION_NAME, "k.io/pod", "pod");
    assert_int_equal(nri_pod_set_annotation(bare, "k.io/container.c", "container"), 0);
    assert_int_equal(nri_pod_set_annotation(bare, "k.io/container.c2", "another"), 0);
    assert_int_equal(nri_pod_set_annotation(bare, "k.io/c", "name"), 0);
    expect(bare, "c", NRI_ANNOTATION_SCOPED, "k.io/container.c", "container");
    expect(bare, "c", NRI_ANNOTATION_CONTAINER, "k.io/container.c", "container");
    expect(bare, "c", NRI_ANNOTATION_NAME, "k.io/c", "name");
    expect(bare, "c3", NRI_ANNOTATION_SCOPED, "k.io/pod", "pod");
    expect(bare, "C", NRI_ANNOTATION_CONTAINER, "", "");
    expect(bare, NULL, NRI_ANNOTATION_CONTAINER, "", "");
    expect(bare, "c", (enum nri_annotation_syntax)9, "", "");
    assert_false(nri_annotation_find(bare, "c", NULL, NRI_ANNOTATION_SCOPED, NULL, NULL));
    assert_false(nri_annotation_find(bare, "c", "", NRI_ANNOTATION_SCOPED, NULL, NULL));
    assert_false(nri_annotation_find(NULL, "c", "k", NRI_ANNOTATION_SCOPED, NULL, NULL));
    nri_pod_free(bare);
}

static void expect_of_keys(const nri_pod *pod, const char *const *keys, size_t count,
                           enum nri_annotation_syntax syntax, const char *key, const char *value)
{
    const char *got = NULL, *found = NULL;
    assert_int_equal(nri_annotation_find_any(pod, "c", keys, count, syntax, &got, &found),
                     key[0] != '\0');
    assert_string_equal(found, key);
    assert_string_equal(got, value);
}

/* Of several keys the narrowest form counts, and of one form the first key, in whatever order the
 * annotations stand. */
static void test_several_keys(void **state)
{
    (void)state;
    static const char *const steps[] = {
        "old.io", "new.io", "old.io/pod", "new.io/pod", "old.io/container.c", "new.io/container.c"};
    static const char *const keys[] = {"new.io", "old.io"}, *const gaps[] = {NULL, "", "old.io"};
    nri_pod *rising = pod_with((const char *[]){"new.iox", "x", "old.io/container.d", "x", NULL});
    expect_of_keys(rising, keys, 2, NRI_ANNOTATION_SCOPED, "", "");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(nri_pod_set_annotation(rising, steps[i], steps[i] + 1), 0);
        expect_of_keys(rising, keys, 2, NRI_ANNOTATION_SCOPED, steps[i], steps[i] + 1);
    }
    nri_pod *falling = pod_with((const char *[]){"new.io/container.c", "1", "old.io/container.c",
                                                 "2", "new.io/pod", "3", "old.io", "4", NULL});
    expect_of_keys(falling, keys, 2, NRI_ANNOTATION_SCOPED, "new.io/container.c", "1");
    expect_of_keys(falling, keys, 2, NRI_ANNOTATION_NAME, "old.io", "4");
    expect_of_keys(falling, keys + 1, 1, NRI_ANNOTATION_CONTAINER, "old.io/container.c", "2");
    expect_of_keys(falling, gaps, 3, NRI_ANNOTATION_SCOPED, "old.io/container.c", "2");
    expect_of_keys(falling, gaps, 2, NRI_ANNOTATION_SCOPED, "", "");
    expect_of_keys(falling, keys, 0, NRI_ANNOTATION_SCOPED, "", "");
    expect_of_keys(falling, NULL, 2, NRI_ANNOTATION_SCOPED, "", "");
    expect_of_keys(falling, keys, 2, (enum nri_annotation_syntax)9, "", "");
    expect_of_keys(NULL, keys, 2, NRI_ANNOTATION_SCOPED, "", "");
    assert_true(nri_annotation_find_any(falling, NULL, keys, 2, NRI_ANNOTATION_SCOPED, NULL, NULL));
    nri_pod_free(rising);
    nri_pod_free(falling);
}

static void test_values(void **state)
{
    (void)state;
    nri_pod *pod =
        pod_with((const char *[]){"flag", "True", "count", "-12", "size/pod", "2Gi", "cpu", "100m",
                                  "cpus/container.c", "0-1, 4", "json", "{\"a\": [1]}", NULL});
    bool flag = false;
    int64_t number = 0;
    nri_cpuset *set;
    nri_document *document;
    char text[16];
    assert_int_equal(nri_annotation_bool(pod, "c", "flag", NRI_ANNOTATION_SCOPED, &flag, NULL), 0);
    assert_true(flag);
    assert_int_equal(nri_annotation_int64(pod, "c", "count", NRI_ANNOTATION_SCOPED, &number, NULL),
                     0);
    assert_int_equal(number, -12);
    assert_int_equal(
        nri_annotation_quantity(pod, "c", "size", NRI_ANNOTATION_SCOPED, &number, NULL), 0);
    assert_true(number == INT64_C(2) << 30);
    assert_int_equal(
        nri_annotation_milli_quantity(pod, "c", "cpu", NRI_ANNOTATION_SCOPED, &number, NULL), 0);
    assert_int_equal(number, 100);
    assert_int_equal(nri_cpuset_new(&set, NULL), 0);
    assert_int_equal(nri_annotation_cpuset(pod, "c", "cpus", NRI_ANNOTATION_SCOPED, set, NULL), 0);
    nri_cpuset_format(set, text, sizeof text);
    assert_string_equal(text, "0-1,4");
    nri_cpuset_free(set);
    assert_int_equal(
        nri_annotation_json(pod, "c", "json", NRI_ANNOTATION_SCOPED, NULL, &document, NULL), 0);
    assert_int_equal(nri_value_count(nri_document_root(document)), 1);
    nri_document_free(document);
    /* What is not there is left alone, without an error. */
    nri_error *error = (void *)pod;
    assert_int_equal(nri_annotation_int64(pod, "c", "no", NRI_ANNOTATION_SCOPED, &number, &error),
                     NRI_E_NOT_FOUND);
    assert_null(error);
    assert_int_equal(number, 100);
    nri_pod_free(pod);
}

static void expect_error(int code, nri_error *error, int wanted, const char *text)
{
    assert_int_equal(code, wanted);
    assert_string_equal(nri_error_get_text(error), text);
    nri_error_free(error);
}

static void test_errors(void **state)
{
    (void)state;
    nri_pod *pod = pod_with((const char *[]){"v/pod", "yes", "n", "9223372036854775808", "e", "",
                                             "j/container.c", "{\"a\":\n1,}", NULL});
    bool flag = true;
    int64_t number = 5;
    nri_document *document;
    nri_error *error;
    int code = nri_annotation_bool(pod, "c", "v", NRI_ANNOTATION_SCOPED, &flag, &error);
    expect_error(code, error, NRI_E_SYNTAX,
                 "annotation \"v/pod\": \"yes\": must be 1, t, T, TRUE, true, True, 0, f, F, "
                 "FALSE, false or False");
    code = nri_annotation_int64(pod, "c", "v", NRI_ANNOTATION_SCOPED, &number, &error);
    expect_error(code, error, NRI_E_SYNTAX,
                 "annotation \"v/pod\": \"yes\": wrong at offset 0: must be an integer in decimal");
    code = nri_annotation_int64(pod, "c", "n", NRI_ANNOTATION_SCOPED, &number, &error);
    expect_error(code, error, NRI_E_RANGE,
                 "annotation \"n\": \"9223372036854775808\": must be from -9223372036854775808 to "
                 "9223372036854775807");
    code = nri_annotation_int64(pod, "c", "e", NRI_ANNOTATION_SCOPED, &number, &error);
    expect_error(code, error, NRI_E_SYNTAX,
                 "annotation \"e\": \"\": wrong at offset 0: must be an integer in decimal");
    assert_int_equal(number, 5);
    code = nri_annotation_json(pod, "c", "j", NRI_ANNOTATION_SCOPED, NULL, &document, &error);
    assert_int_equal(code, NRI_E_SYNTAX);
    static const char start[] = "annotation \"j/container.c\":2:3: ";
    assert_int_equal(strncmp(nri_error_get_text(error), start, strlen(start)), 0);
    fixture_check_place(error, "annotation \"j/container.c\"");
    assert_int_equal(nri_error_line(error), 2);
    nri_error_free(error);
    assert_null(document);
    code = nri_annotation_bool(pod, "c", NULL, NRI_ANNOTATION_SCOPED, &flag, &error);
    expect_error(code, error, NRI_E_INVALID, "annotation: key must be a text");
    code = nri_annotation_bool(pod, "c", "v", NRI_ANNOTATION_SCOPED, NULL, &error);
    expect_error(code, error, NRI_E_INVALID, "annotation: value is NULL");
    nri_pod_free(pod);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_precedence),
        cmocka_unit_test(test_several_keys),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
