/* SPDX-License-Identifier: Apache-2.0 */
#include "sample.h"

static void test_fields(void **state)
{
    const nri_pod *pod = sample_pod(*state);
    assert_string_equal(nri_pod_id(pod), "pod7");
    assert_string_equal(nri_pod_uid(pod), "u-i-d");
    assert_string_equal(nri_pod_namespace(pod), "default");
    assert_string_equal(nri_pod_runtime_handler(pod), "runc");
    assert_string_equal(nri_pod_cgroup_parent(pod), "/kubepods/pod7");
    assert_int_equal(nri_pod_pid(pod), UINT32_MAX);
    assert_int_equal(nri_pod_ip_count(pod), 2);
    assert_string_equal(nri_pod_ip(pod, 0), "10.0.0.7");
    assert_string_equal(nri_pod_ip(pod, 1), "fd00::7");
    assert_string_equal(nri_pod_ip(pod, 2), "");
    assert_string_equal(nri_pod_ip(pod, SIZE_MAX), "");
}

static void test_text_length_counts_nul(void **state)
{
    const nri_pod *pod = sample_pod(*state);
    const char *value = NULL;
    assert_int_equal(nri_text_length(nri_pod_name(pod)), 5);
    assert_memory_equal(nri_pod_name(pod), "na\0me", 6);
    assert_true(nri_pod_annotation(pod, "cpu.example/pod", &value));
    assert_int_equal(nri_text_length(value), 3);
    assert_memory_equal(value,
                        "2\0"
                        "3",
                        4);
    assert_int_equal(nri_text_length(nri_pod_ip(pod, 9)), 0);
    assert_int_equal(nri_text_length(NULL), 0);
}

static void test_labels(void **state)
{
    const nri_pod *pod = sample_pod(*state);
    const char *key = "?", *value = "?";
    assert_int_equal(nri_pod_label_count(pod), 2);
    assert_true(nri_pod_label_at(pod, 0, &key, &value));
    assert_string_equal(key, "app");
    assert_string_equal(value, "db");
    assert_true(nri_pod_label_at(pod, 1, &key, NULL));
    assert_string_equal(key, "empty");
    assert_true(nri_pod_label_at(pod, 1, NULL, &value));
    assert_string_equal(value, "");
    assert_false(nri_pod_label_at(pod, 2, &key, &value));
    assert_string_equal(key, "");
    assert_int_equal(nri_text_length(value), 0);
}

static void test_label_lookup_tells_absent_from_empty(void **state)
{
    const nri_pod *pod = sample_pod(*state);
    const char *value = "?";
    assert_true(nri_pod_label(pod, "app", &value));
    assert_string_equal(value, "db");
    assert_true(nri_pod_label(pod, "empty", &value));
    assert_string_equal(value, "");
    value = "?";
    assert_false(nri_pod_label(pod, "ap", &value));
    assert_string_equal(value, "");
    assert_false(nri_pod_label(pod, "apps", NULL));
    assert_false(nri_pod_label(pod, "", &value));
    assert_false(nri_pod_label(pod, NULL, &value));
    assert_int_equal(nri_pod_annotation_count(pod), 1);
    assert_false(nri_pod_annotation(pod, "app", &value));
    assert_true(nri_pod_annotation_at(pod, 0, &value, NULL));
    assert_string_equal(value, "cpu.example/pod");
}

static void check_empty(const nri_pod *pod)
{
    const char *key = NULL, *value = NULL;
    assert_string_equal(nri_pod_id(pod), "");
    assert_string_equal(nri_pod_name(pod), "");
    assert_string_equal(nri_pod_uid(pod), "");
    assert_string_equal(nri_pod_namespace(pod), "");
    assert_string_equal(nri_pod_runtime_handler(pod), "");
    assert_string_equal(nri_pod_cgroup_parent(pod), "");
    assert_int_equal(nri_text_length(nri_pod_cgroup_parent(pod)), 0);
    assert_int_equal(nri_pod_pid(pod), 0);
    assert_int_equal(nri_pod_label_count(pod), 0);
    assert_int_equal(nri_pod_annotation_count(pod), 0);
    assert_int_equal(nri_pod_ip_count(pod), 0);
    assert_string_equal(nri_pod_ip(pod, 0), "");
    assert_false(nri_pod_label_at(pod, 0, &key, &value));
    assert_string_equal(key, "");
    assert_string_equal(value, "");
    assert_false(nri_pod_annotation_at(pod, 0, NULL, NULL));
    assert_false(nri_pod_label(pod, "app", &value));
    assert_false(nri_pod_annotation(pod, "app", NULL));
}

static void test_null_reads_as_empty(void **state)
{
    (void)state;
    check_empty(NULL);
    check_empty(nri_pod_view(NULL));
}

/* What a message of another origin than the decoder may hold. */
static void test_holes_read_as_empty(void **state)
{
    (void)state;
    pod_message pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
    Nri__Pkg__Api__V1alpha1__PodSandbox__LabelsEntry label =
        NRI__PKG__API__V1ALPHA1__POD_SANDBOX__LABELS_ENTRY__INIT;
    Nri__Pkg__Api__V1alpha1__PodSandbox__LabelsEntry *labels[] = {NULL, &label};
    char *ips[] = {NULL};
    const char *value = NULL;
    label.value = NULL;
    pod.id = NULL;
    pod.labels = labels;
    pod.n_labels = 2;
    pod.ips = ips;
    pod.n_ips = 1;
    assert_string_equal(nri_pod_id(nri_pod_view(&pod)), "");
    assert_string_equal(nri_pod_ip(nri_pod_view(&pod), 0), "");
    assert_true(nri_pod_label_at(nri_pod_view(&pod), 0, &value, NULL));
    assert_string_equal(value, "");
    assert_true(nri_pod_label_at(nri_pod_view(&pod), 1, NULL, &value));
    assert_string_equal(value, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_fields, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_text_length_counts_nul, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(test_labels, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_label_lookup_tells_absent_from_empty, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test(test_null_reads_as_empty),
        cmocka_unit_test(test_holes_read_as_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
