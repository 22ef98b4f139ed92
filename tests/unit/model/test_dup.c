/* SPDX-License-Identifier: Apache-2.0 */
/* Copies outlive the request that they were made of. */
#include "model/dup.h"
#include "sample.h"

static void test_copies_outlive_the_request(void **state)
{
    struct fixture *fixture = *state;
    const char *value;
    nri_pod *pod = NULL;
    nri_container *container = NULL;
    assert_int_equal(nri_pod_dup(sample_pod(fixture), NULL, &pod), 0);
    assert_int_equal(nri_container_dup(sample_container(fixture), NULL, &container), 0);
    nri_arena_fini(&fixture->arena); /* the allocator poisons what the originals were in */
    assert_string_equal(nri_pod_id(pod), "pod7");
    assert_int_equal(nri_text_length(nri_pod_name(pod)), 5);
    assert_string_equal(nri_pod_cgroup_parent(pod), "/kubepods/pod7");
    assert_true(nri_pod_label(pod, "app", &value));
    assert_string_equal(value, "db");
    assert_true(nri_container_env(container, "A", &value));
    assert_string_equal(value, "3");
    assert_true(nri_resources_cpuset_cpus(nri_container_resources(container), &value));
    assert_string_equal(value, "0-3,7");
    assert_int_equal(nri_mount_option_count(nri_container_mount_at(container, 1)), 2);
    assert_null(nri_pod_free(pod));
    assert_null(nri_container_free(container));
}

static void test_null(void **state)
{
    (void)state;
    nri_pod *pod = NULL;
    nri_container *container = NULL;
    assert_int_equal(nri_pod_dup(NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_container_dup(NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_pod_dup(NULL, NULL, &pod), 0);
    assert_int_equal(nri_container_dup(NULL, NULL, &container), 0);
    assert_string_equal(nri_pod_id(pod), "");
    assert_string_equal(nri_container_id(container), "");
    assert_null(nri_pod_free(pod));
    assert_null(nri_container_free(container));
    assert_null(nri_pod_free(NULL));
    assert_null(nri_container_free(NULL));
}

static void test_a_copy_of_a_copy(void **state)
{
    nri_pod *first = NULL, *second = NULL;
    assert_int_equal(nri_pod_dup(sample_pod(*state), NULL, &first), 0);
    assert_int_equal(nri_pod_dup(first, NULL, &second), 0);
    nri_pod_free(first);
    assert_string_equal(nri_pod_uid(second), "u-i-d");
    nri_pod_free(second);
}

static void test_failing_allocations(void **state)
{
    struct fixture *fixture = *state;
    struct fail_alloc memory;
    const nri_pod *pod = sample_pod(fixture);
    const nri_container *container = sample_container(fixture);
    fail_alloc_init(&memory, NULL);
    struct nri_alloc alloc = fail_alloc_resolved(&memory);
    size_t n = 0;
    int codes[2];
    do {
        nri_pod *pod_copy = NULL;
        nri_container *container_copy = NULL;
        fail_alloc_arm(&memory, ++n);
        codes[0] = nri_pod_dup_with(pod, &alloc, &pod_copy);
        codes[1] = nri_container_dup_with(container, &alloc, &container_copy);
        assert_int_equal(codes[0] == 0 && codes[1] == 0, !memory.fired);
        assert_int_equal(pod_copy == NULL, codes[0] == NRI_E_NOMEM);
        assert_int_equal(container_copy == NULL, codes[1] == NRI_E_NOMEM);
        nri_pod_free(pod_copy);
        nri_container_free(container_copy);
        assert_int_equal(memory.live_blocks, 0);
    } while (memory.fired);
    assert_true(n > 4); /* an object and a chunk for each, at least */
    print_message("%zu points of failure\n", n - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_copies_outlive_the_request, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test(test_null),
        cmocka_unit_test_setup_teardown(test_a_copy_of_a_copy, fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(test_failing_allocations, fixture_setup, fixture_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
