/* SPDX-License-Identifier: Apache-2.0 */
/* What each value function takes and refuses, to the borders; which annotation wins, pair by pair.
 */
#include <stdio.h>

#include "fixture.h"

#include <nri/annotation.h>

#define KEY "k.io"

typedef Nri__Pkg__Api__V1alpha1__PodSandbox__AnnotationsEntry entry_message;

/* A pod with one annotation whose value may hold a NUL. */
struct one {
    entry_message entry, *entries[1];
    pod_message message;
};

static const nri_pod *pod_of(struct fixture *fixture, struct one *one, const char *value,
                             size_t length)
{
    nri__pkg__api__v1alpha1__pod_sandbox__init(&one->message);
    nri__pkg__api__v1alpha1__pod_sandbox__annotations_entry__init(&one->entry);
    one->entries[0] = &one->entry;
    one->message.annotations = one->entries;
    one->message.n_annotations = 1;
    one->entry.key = TEXT(fixture, KEY "/pod");
    one->entry.value = fixture_text(fixture, value, length);
    return nri_pod_view(&one->message);
}

static int read_bool(struct fixture *fixture, const char *value, bool *flag)
{
    struct one one;
    const nri_pod *pod = pod_of(fixture, &one, value, strlen(value));
    return nri_annotation_bool(pod, "c", KEY, NRI_ANNOTATION_SCOPED, flag, NULL);
}

static void test_bool_words(void **state)
{
    static const char *const yes[] = {"1", "t", "T", "TRUE", "true", "True"};
    static const char *const no[] = {"0", "f", "F", "FALSE", "false", "False"};
    static const char *const none[] = {"",      "tRUE",  "TRue", "yes",   "no", "on",   "2",
                                       "true ", " true", "01",   "fALSE", "y",  "trues"};
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++) {
        bool flag = false;
        assert_int_equal(read_bool(*state, yes[i], &flag), 0);
        assert_true(flag);
    }
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++) {
        bool flag = true;
        assert_int_equal(read_bool(*state, no[i], &flag), 0);
        assert_false(flag);
    }
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        bool flag = i % 2 == 0;
        if (read_bool(*state, none[i], &flag) != NRI_E_SYNTAX)
            fail_msg("\"%s\" is no bool", none[i]);
        assert_int_equal(flag, i % 2 == 0);
    }
}

static void test_int64_borders(void **state)
{
    static const struct {
        const char *text;
        int code;
        int64_t value;
    } cases[] = {
        {"0", 0, 0},
        {"-0", 0, 0},
        {"+7", 0, 7},
        {"007", 0, 7},
        {"9223372036854775807", 0, INT64_MAX},
        {"-9223372036854775808", 0, INT64_MIN},
        {"9223372036854775808", NRI_E_RANGE, 77},
        {"-9223372036854775809", NRI_E_RANGE, 77},
        {"99999999999999999999999999", NRI_E_RANGE, 77},
        {"", NRI_E_SYNTAX, 77},
        {"-", NRI_E_SYNTAX, 77},
        {"+-1", NRI_E_SYNTAX, 77},
        {" 1", NRI_E_SYNTAX, 77},
        {"1 ", NRI_E_SYNTAX, 77},
        {"0x1", NRI_E_SYNTAX, 77},
        {"1.0", NRI_E_SYNTAX, 77},
        {"1e2", NRI_E_SYNTAX, 77},
        /* Wrong in two ways: that it is no number counts. */
        {"99999999999999999999x", NRI_E_SYNTAX, 77},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct one one;
        int64_t value = 77;
        const nri_pod *pod = pod_of(*state, &one, cases[i].text, strlen(cases[i].text));
        int code = nri_annotation_int64(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &value, NULL);
        if (code != cases[i].code || value != cases[i].value)
            fail_msg("\"%s\": %d, %lld", cases[i].text, code, (long long)value);
    }
}

static void expect_text(nri_error *error, const char *text)
{
    assert_string_equal(nri_error_get_text(error), text);
    nri_error_free(error);
}

/* A text that ends early for strlen() does not pass for its start. */
static void test_a_nul_in_the_value(void **state)
{
    struct one one;
    bool flag = true;
    int64_t number = 77;
    nri_error *error;
    nri_document *document;
    const nri_pod *pod = pod_of(*state, &one,
                                "1\0"
                                "2",
                                3);
    assert_int_equal(nri_annotation_int64(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &number, &error),
                     NRI_E_SYNTAX);
    expect_text(error, "annotation \"k.io/pod\": \"1\": wrong at offset 1: must not hold a NUL");
    assert_int_equal(nri_annotation_bool(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &flag, NULL),
                     NRI_E_SYNTAX);
    assert_int_equal(nri_annotation_quantity(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &number, NULL),
                     NRI_E_SYNTAX);
    assert_int_not_equal(
        nri_annotation_json(pod, "c", KEY, NRI_ANNOTATION_SCOPED, NULL, &document, NULL), 0);
    assert_null(document);
    assert_int_equal(number, 77);
}

/* It is there, and nothing that a number could be. */
static void test_an_empty_value(void **state)
{
    struct one one;
    int64_t number = 77;
    bool flag = true;
    const char *value = NULL;
    nri_document *document;
    nri_cpuset *set;
    const nri_pod *pod = pod_of(*state, &one, "", 0);
    assert_true(nri_annotation_find(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &value, NULL));
    assert_string_equal(value, "");
    assert_int_equal(nri_cpuset_new(&set, NULL), 0);
    assert_int_equal(nri_cpuset_add(set, 9), 0);
    assert_int_equal(nri_annotation_cpuset(pod, "c", KEY, NRI_ANNOTATION_SCOPED, set, NULL), 0);
    assert_int_equal(nri_cpuset_count(set), 0);
    nri_cpuset_free(set);
    assert_int_equal(nri_annotation_bool(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &flag, NULL),
                     NRI_E_SYNTAX);
    assert_int_equal(nri_annotation_int64(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &number, NULL),
                     NRI_E_SYNTAX);
    assert_int_equal(nri_annotation_quantity(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &number, NULL),
                     NRI_E_SYNTAX);
    assert_int_equal(
        nri_annotation_milli_quantity(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &number, NULL),
        NRI_E_SYNTAX);
    assert_int_equal(
        nri_annotation_json(pod, "c", KEY, NRI_ANNOTATION_SCOPED, NULL, &document, NULL),
        NRI_E_SYNTAX);
    assert_int_equal(number, 77);
}

static void test_errors_of_each_type(void **state)
{
    struct one one;
    int64_t number = 77;
    nri_error *error;
    nri_cpuset *set;
    const nri_pod *pod = pod_of(*state, &one, "3-1", 3);
    assert_int_equal(nri_cpuset_new(&set, NULL), 0);
    assert_int_equal(nri_cpuset_add(set, 9), 0);
    assert_int_equal(nri_annotation_cpuset(pod, "c", KEY, NRI_ANNOTATION_SCOPED, set, &error),
                     NRI_E_RANGE);
    expect_text(error, "annotation \"k.io/pod\": \"3-1\": wrong at offset 0: a range must ascend, "
                       "such as \"0-3\"");
    assert_int_equal(nri_cpuset_count(set), 1);
    nri_cpuset_free(set);
    assert_int_equal(nri_annotation_quantity(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &number, &error),
                     NRI_E_SYNTAX);
    nri_error_free(error);
    pod = pod_of(*state, &one, "9223372036854775807", 19);
    assert_int_equal(
        nri_annotation_milli_quantity(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &number, &error),
        NRI_E_RANGE);
    expect_text(error, "annotation \"k.io/pod\": \"9223372036854775807\": must be at most "
                       "9223372036854775807 thousandths");
    assert_int_equal(number, 77);
    assert_int_equal(
        nri_annotation_int64(pod, "c", KEY, (enum nri_annotation_syntax)3, &number, &error),
        NRI_E_INVALID);
    expect_text(error, "annotation: syntax 3: there is no such one");
}

static void test_json_options(void **state)
{
    struct one one;
    struct nri_json_options options;
    nri_document *document = (void *)&one;
    nri_error *error;
    const nri_pod *pod = pod_of(*state, &one, "[[1]]", 5);
    nri_json_options_init(&options, sizeof options);
    options.name = "another";
    options.max_depth = 1;
    assert_int_equal(
        nri_annotation_json(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &options, &document, &error),
        NRI_E_LIMIT);
    static const char start[] = "annotation \"k.io/pod\":1:";
    assert_int_equal(strncmp(nri_error_get_text(error), start, strlen(start)), 0);
    nri_error_free(error);
    assert_null(document);
    options.size = 1;
    assert_int_equal(
        nri_annotation_json(pod, "c", KEY, NRI_ANNOTATION_SCOPED, &options, &document, &error),
        NRI_E_ABI);
    nri_error_free(error);
    assert_int_equal(
        nri_annotation_json(pod, "c", "no", NRI_ANNOTATION_SCOPED, NULL, &document, &error),
        NRI_E_NOT_FOUND);
    assert_null(error);
}

static void test_allocation_failures(void **state)
{
    struct fail_alloc memory;
    struct nri_allocator allocator;
    struct nri_json_options options;
    struct one one;
    const nri_pod *list = pod_of(*state, &one, "900", 3);
    size_t points = 0;
    fail_alloc_init(&memory, &allocator);
    nri_json_options_init(&options, sizeof options);
    options.allocator = &allocator;
    for (bool fired = true; fired; points++) {
        nri_cpuset *set = NULL;
        nri_document *document = NULL;
        fail_alloc_arm(&memory, points + 1);
        int code = nri_cpuset_new(&set, &allocator);
        if (code == 0)
            code = nri_annotation_cpuset(list, "c", KEY, NRI_ANNOTATION_SCOPED, set, NULL);
        if (code == 0)
            code = nri_annotation_json(list, "c", KEY, NRI_ANNOTATION_SCOPED, &options, &document,
                                       NULL);
        fired = memory.fired;
        assert_int_equal(code, fired ? NRI_E_NOMEM : 0);
        nri_document_free(document);
        nri_cpuset_free(set);
        assert_int_equal(memory.live_blocks, 0);
    }
    assert_true(points > 3);
}

/* ---- precedence ---- */

#define FORMS 4

static const char *const forms[FORMS] = {KEY "/container.c", KEY "/c", KEY "/pod", KEY};

/* Both orders of each pair: which of two forms is taken, by syntax; FORMS is neither. */
static void check_pair(struct fixture *fixture, enum nri_annotation_syntax syntax, size_t first,
                       size_t second, size_t wanted)
{
    entry_message pair[2], *entries[2] = {&pair[0], &pair[1]};
    pod_message message;
    const char *value, *found;
    nri__pkg__api__v1alpha1__pod_sandbox__init(&message);
    for (size_t i = 0; i < 2; i++) {
        const char *key = forms[i == 0 ? first : second];
        nri__pkg__api__v1alpha1__pod_sandbox__annotations_entry__init(&pair[i]);
        pair[i].key = fixture_text(fixture, key, strlen(key));
        pair[i].value = pair[i].key;
    }
    message.annotations = entries;
    message.n_annotations = 2;
    bool is_there = nri_annotation_find(nri_pod_view(&message), "c", KEY, syntax, &value, &found);
    if (is_there != (wanted < FORMS) || strcmp(found, wanted < FORMS ? forms[wanted] : "") != 0)
        fail_msg("syntax %d of %s and %s: \"%s\"", (int)syntax, forms[first], forms[second], found);
    assert_string_equal(value, found);
}

static void test_precedence_of_each_pair(void **state)
{
    /* 0 is the most wanted; FORMS is not looked at. */
    static const size_t ranks[][FORMS] = {
        [NRI_ANNOTATION_SCOPED] = {0, FORMS, 1, 2},
        [NRI_ANNOTATION_NAME] = {FORMS, 0, FORMS, 1},
        [NRI_ANNOTATION_CONTAINER] = {0, FORMS, FORMS, FORMS},
    };
    for (size_t syntax = 0; syntax < sizeof ranks / sizeof ranks[0]; syntax++) {
        for (size_t pair = 0; pair < FORMS * FORMS; pair++) {
            size_t a = pair / FORMS, b = pair % FORMS;
            const size_t *rank = ranks[syntax];
            size_t better = rank[a] <= rank[b] ? a : b;
            if (a != b)
                check_pair(*state, (enum nri_annotation_syntax)syntax, a, b,
                           rank[better] < FORMS ? better : FORMS);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_bool_words, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_int64_borders, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_a_nul_in_the_value, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_an_empty_value, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_errors_of_each_type, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_json_options, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_allocation_failures, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_precedence_of_each_pair, fixture_setup,
                                        fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
