/* SPDX-License-Identifier: Apache-2.0 */
/* nri/pod_build.h: each setter read back, keys replaced, each rule broken once. */
#include "fixture.h"

#define OK(call) assert_int_equal(call, 0)

/* A pod, through the wire and back: what a plugin would read of it. */
static const nri_pod *sent(struct fixture *fixture, nri_pod *pod)
{
    return nri_pod_view(fixture_round_trip(fixture, pod));
}

static nri_pod *make(void)
{
    nri_pod *pod = NULL;
    OK(nri_pod_new(&pod, NULL));
    assert_non_null(pod);
    assert_int_equal(nri_pod_error(pod), 0);
    assert_string_equal(nri_pod_error_text(pod), "");
    return pod;
}

static void test_empty(void **state)
{
    nri_pod *pod = make();
    const nri_pod *read = sent(*state, pod);
    assert_string_equal(nri_pod_id(read), "");
    assert_int_equal(nri_pod_label_count(read), 0);
    assert_null(((const pod_message *)(const void *)read)->linux);
    assert_null(nri_pod_free(pod));
    assert_int_equal(nri_pod_new(NULL, NULL), NRI_E_INVALID);
}

static void test_texts(void **state)
{
    nri_pod *pod = make();
    OK(nri_pod_set_id(pod, "p1"));
    OK(nri_pod_set_name(pod, "na\xc3\xafve"));
    OK(nri_pod_set_uid(pod, "u-1"));
    OK(nri_pod_set_namespace(pod, "default"));
    OK(nri_pod_set_runtime_handler(pod, "runc"));
    OK(nri_pod_set_pid(pod, UINT32_MAX));
    OK(nri_pod_set_cgroup_parent(pod, "/kubepods"));
    OK(nri_pod_set_cgroups_path(pod, "/kubepods/p1"));
    const nri_pod *read = sent(*state, pod);
    assert_string_equal(nri_pod_id(read), "p1");
    assert_string_equal(nri_pod_name(read), "na\xc3\xafve");
    assert_string_equal(nri_pod_uid(read), "u-1");
    assert_string_equal(nri_pod_namespace(read), "default");
    assert_string_equal(nri_pod_runtime_handler(read), "runc");
    assert_int_equal(nri_pod_pid(read), UINT32_MAX);
    assert_string_equal(nri_pod_cgroup_parent(read), "/kubepods");
    assert_string_equal(nri_pod_cgroups_path(read), "/kubepods/p1");
    const char *old = nri_pod_id(pod);
    OK(nri_pod_set_id(pod, "p2"));
    OK(nri_pod_set_name(pod, ""));
    OK(nri_pod_set_pid(pod, 0));
    OK(nri_pod_set_cgroup_parent(pod, ""));
    assert_string_equal(old, "p1");
    read = sent(*state, pod);
    assert_string_equal(nri_pod_id(read), "p2");
    assert_string_equal(nri_pod_name(read), "");
    assert_int_equal(nri_pod_pid(read), 0);
    assert_string_equal(nri_pod_cgroup_parent(read), "");
    assert_string_equal(nri_pod_cgroups_path(read), "/kubepods/p1");
    nri_pod_free(pod);
}

static void test_maps(void **state)
{
    nri_pod *pod = make();
    const char *key, *value;
    OK(nri_pod_set_label(pod, "app", "db"));
    OK(nri_pod_set_label(pod, "-tier", ""));
    OK(nri_pod_set_label(pod, "app", "web"));
    OK(nri_pod_set_annotation(pod, "app", "note"));
    const nri_pod *read = sent(*state, pod);
    assert_int_equal(nri_pod_label_count(read), 2);
    assert_true(nri_pod_label_at(read, 0, &key, &value));
    assert_string_equal(key, "app");
    assert_string_equal(value, "web");
    assert_true(nri_pod_label(read, "-tier", &value));
    assert_string_equal(value, "");
    assert_int_equal(nri_pod_annotation_count(read), 1);
    assert_true(nri_pod_annotation(read, "app", &value));
    assert_string_equal(value, "note");
    nri_pod_free(pod);
}

static void test_ips(void **state)
{
    nri_pod *pod = make();
    OK(nri_pod_add_ip(pod, "10.0.0.7"));
    OK(nri_pod_add_ip(pod, "fd00::7"));
    OK(nri_pod_add_ip(pod, "10.0.0.7"));
    OK(nri_pod_add_ip(pod, "::ffff:10.0.0.7"));
    const nri_pod *read = sent(*state, pod);
    assert_int_equal(nri_pod_ip_count(read), 3);
    assert_string_equal(nri_pod_ip(read, 0), "10.0.0.7");
    assert_string_equal(nri_pod_ip(read, 1), "fd00::7");
    assert_string_equal(nri_pod_ip(read, 2), "::ffff:10.0.0.7");
    nri_pod_free(pod);
}

static void test_namespaces(void **state)
{
    nri_pod *pod = make();
    const char *type, *path;
    OK(nri_pod_set_namespace_path(pod, "network", "/a"));
    OK(nri_pod_set_namespace_path(pod, "pid", NULL));
    OK(nri_pod_set_namespace_path(pod, "network", "/b"));
    const nri_pod *read = sent(*state, pod);
    assert_int_equal(nri_pod_namespace_count(read), 2);
    assert_true(nri_pod_namespace_at(read, 0, &type, &path));
    assert_string_equal(type, "network");
    assert_string_equal(path, "/b");
    assert_true(nri_pod_namespace_path(read, "pid", &path));
    assert_string_equal(path, "");
    nri_pod_free(pod);
}

/* S32: overhead and resources of a pod reach a plugin, each of the three on its own. */
static void test_S32_resources(void **state)
{
    nri_pod *pod = make();
    int64_t bytes;
    uint64_t shares;
    assert_false(nri_resources_is_present(nri_pod_overhead(pod)));
    nri_resources *overhead = nri_pod_edit_overhead(pod);
    assert_non_null(overhead);
    assert_true(nri_resources_is_present(nri_pod_overhead(pod)));
    assert_false(nri_resources_is_present(nri_pod_pod_resources(pod)));
    OK(nri_resources_set_memory_limit(overhead, 1));
    OK(nri_resources_set_memory_limit(nri_pod_edit_pod_resources(pod), 2));
    OK(nri_resources_set_memory_limit(nri_pod_edit_resources(pod), 3));
    assert_ptr_equal(nri_pod_edit_overhead(pod), overhead);
    OK(nri_resources_set_cpu_shares(overhead, 4));
    const nri_pod *read = sent(*state, pod);
    assert_true(nri_resources_memory_limit(nri_pod_overhead(read), &bytes));
    assert_int_equal(bytes, 1);
    assert_true(nri_resources_cpu_shares(nri_pod_overhead(read), &shares));
    assert_int_equal(shares, 4);
    assert_true(nri_resources_memory_limit(nri_pod_pod_resources(read), &bytes));
    assert_int_equal(bytes, 2);
    assert_true(nri_resources_memory_limit(nri_pod_resources(read), &bytes));
    assert_int_equal(bytes, 3);
    assert_int_equal(nri_resources_set_cpu_shares(overhead, 1), NRI_E_RANGE);
    assert_int_equal(nri_pod_error(pod), NRI_E_RANGE);
    assert_string_equal(nri_pod_error_text(pod), "cpu shares 1: must be 2 to 262144");
    nri_pod_free(pod);
}

/* Each on a pod of its own, because the first failed call sticks. */
#define REFUSED(call, expected, text)                                                              \
    do {                                                                                           \
        nri_pod *pod = make();                                                                     \
        assert_int_equal(call, expected);                                                          \
        assert_string_equal(nri_pod_error_text(pod), text);                                        \
        assert_int_equal(nri_pod_error(pod), expected);                                            \
        assert_null(((pod_message *)(void *)pod)->linux);                                          \
        assert_int_equal(nri_pod_label_count(pod) + nri_pod_ip_count(pod), 0);                     \
        assert_string_equal(nri_pod_id(pod), "");                                                  \
        nri_pod_free(pod);                                                                         \
    } while (0)

#define BAD_UTF8 "must be UTF-8; the byte at offset 0 is not"

static void test_refusals(void **state)
{
    (void)state;
    REFUSED(nri_pod_set_id(pod, ""), NRI_E_INVALID, "id \"\": must not be empty");
    REFUSED(nri_pod_set_id(pod, NULL), NRI_E_INVALID, "id NULL: must be a text");
    REFUSED(nri_pod_set_id(pod, "\xff"), NRI_E_UTF8, "id \"\\xff\": " BAD_UTF8);
    REFUSED(nri_pod_set_name(pod, NULL), NRI_E_INVALID, "name NULL: must be a text");
    REFUSED(nri_pod_set_uid(pod, "\xff"), NRI_E_UTF8, "uid \"\\xff\": " BAD_UTF8);
    REFUSED(nri_pod_set_namespace(pod, NULL), NRI_E_INVALID, "namespace NULL: must be a text");
    REFUSED(nri_pod_set_runtime_handler(pod, "\xff"), NRI_E_UTF8,
            "runtime handler \"\\xff\": " BAD_UTF8);
    REFUSED(nri_pod_set_label(pod, "", "v"), NRI_E_INVALID, "label key \"\": must not be empty");
    REFUSED(nri_pod_set_label(pod, NULL, "v"), NRI_E_INVALID, "label key NULL: must be a text");
    REFUSED(nri_pod_set_label(pod, "k", NULL), NRI_E_INVALID,
            "label \"k\": value NULL: must be a text");
    REFUSED(nri_pod_set_annotation(pod, "", "v"), NRI_E_INVALID,
            "annotation key \"\": must not be empty");
    REFUSED(nri_pod_set_annotation(pod, "k", "\xff"), NRI_E_UTF8,
            "annotation \"k\": value \"\\xff\": " BAD_UTF8);
    REFUSED(nri_pod_add_ip(pod, NULL), NRI_E_INVALID, "ip NULL: must be a text");
    REFUSED(nri_pod_add_ip(pod, ""), NRI_E_INVALID, "ip \"\": must be an IPv4 or IPv6 address");
    REFUSED(nri_pod_add_ip(pod, "10.0.0"), NRI_E_INVALID,
            "ip \"10.0.0\": must be an IPv4 or IPv6 address");
    REFUSED(nri_pod_add_ip(pod, "10.0.0.0/8"), NRI_E_INVALID,
            "ip \"10.0.0.0/8\": must be an IPv4 or IPv6 address");
    REFUSED(nri_pod_add_ip(pod, "fe80::1%eth0"), NRI_E_INVALID,
            "ip \"fe80::1%eth0\": must be an IPv4 or IPv6 address");
    REFUSED(nri_pod_set_cgroup_parent(pod, NULL), NRI_E_INVALID,
            "cgroup_parent NULL: must be a text");
    REFUSED(nri_pod_set_cgroups_path(pod, "\xff"), NRI_E_UTF8, "cgroups_path \"\\xff\": " BAD_UTF8);
    REFUSED(nri_pod_set_namespace_path(pod, "net", NULL), NRI_E_INVALID,
            "namespace type \"net\": must be \"pid\", \"network\", \"mount\", \"ipc\", \"uts\", "
            "\"user\", \"cgroup\" or \"time\"");
    REFUSED(nri_pod_set_namespace_path(pod, "pid", "rel"), NRI_E_INVALID,
            "namespace \"pid\": path \"rel\": must be an absolute path");
}

static void test_the_first_failure_sticks(void **state)
{
    (void)state;
    nri_pod *pod = make();
    OK(nri_pod_set_id(pod, "p1"));
    assert_int_equal(nri_pod_set_id(pod, ""), NRI_E_INVALID);
    assert_int_equal(nri_pod_set_name(pod, "\xff"), NRI_E_UTF8);
    OK(nri_pod_set_name(pod, "n"));
    assert_int_equal(nri_pod_error(pod), NRI_E_INVALID);
    assert_string_equal(nri_pod_error_text(pod), "id \"\": must not be empty");
    assert_string_equal(nri_pod_id(pod), "p1");
    assert_string_equal(nri_pod_name(pod), "n");
    nri_pod_free(pod);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_empty),        WITH_FIXTURE(test_texts),
        WITH_FIXTURE(test_maps),         WITH_FIXTURE(test_ips),
        WITH_FIXTURE(test_namespaces),   WITH_FIXTURE(test_S32_resources),
        cmocka_unit_test(test_refusals), cmocka_unit_test(test_the_first_failure_sticks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
