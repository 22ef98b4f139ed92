/* SPDX-License-Identifier: Apache-2.0 */
/* What was read of an object before an edit stays as it was, byte by byte: each setter alone, on a
 * copy of an object in which everything is set, with short lists and with long ones. */
#include "container_build.h"
#include "model/dup.h"

#define FEW  3
#define MANY 20 /* more than are searched without a hash */

struct bytes {
    uint8_t data[8192];
    size_t size;
};

static void encode(const void *message, struct bytes *bytes)
{
    bytes->size = 0;
    OK(nri_message_size(message, &bytes->size, NULL));
    assert_true(bytes->size <= sizeof bytes->data);
    nri_message_encode(message, bytes->data);
}

static bool same(const struct bytes *a, const struct bytes *b)
{
    return a->size == b->size && memcmp(a->data, b->data, a->size) == 0;
}

static void check_unchanged(const void *message, const struct bytes *before)
{
    static struct bytes after;
    encode(message, &after);
    assert_int_equal(after.size, before->size);
    assert_memory_equal(after.data, before->data, after.size);
}

/* ---- resources ---- */

#define RESOURCE_SETTERS 21

/* Each setter with one of two values; of the lists the entry `index`. */
static int set_resource(nri_resources *r, int setter, bool second, int index)
{
    const int add = second ? 1 : 0;
    const char *text = second ? "3" : "0-1";
    const int64_t minor = index + (second ? 1000 : 0);
    char key[8];
    fixture_page_size(key, index);
    switch (setter) {
    case 0:
        return nri_resources_set_cpu_shares(r, 512u + (unsigned)add);
    case 1:
        return nri_resources_set_cpu_quota(r, 5000 + add);
    case 2:
        return nri_resources_set_cpu_period(r, 10000u + (unsigned)add);
    case 3:
        return nri_resources_set_cpu_realtime_runtime(r, 100 + add);
    case 4:
        return nri_resources_set_cpu_realtime_period(r, 200u + (unsigned)add);
    case 5:
        return nri_resources_set_cpuset_cpus(r, text);
    case 6:
        return nri_resources_set_cpuset_mems(r, text);
    case 7:
        return nri_resources_set_memory_limit(r, 4096 + add);
    case 8:
        return nri_resources_set_memory_reservation(r, 2048 + add);
    case 9:
        return nri_resources_set_memory_swap(r, 8192 + add);
    case 10:
        return nri_resources_set_memory_kernel(r, 300 + add);
    case 11:
        return nri_resources_set_memory_kernel_tcp(r, 400 + add);
    case 12:
        return nri_resources_set_memory_swappiness(r, 60u + (unsigned)add);
    case 13:
        return nri_resources_set_memory_disable_oom_killer(r, second);
    case 14:
        return nri_resources_set_memory_use_hierarchy(r, second);
    case 15:
        return nri_resources_set_blockio_class(r, text);
    case 16:
        return nri_resources_set_rdt_class(r, text);
    case 17:
        return nri_resources_set_pids_limit(r, 7 + add);
    case 18:
        return nri_resources_set_hugepage_limit(r, key, 1u + (unsigned)add);
    case 19:
        return nri_resources_set_unified(r, key, text);
    default:
        return nri_resources_add_device_rule(r, second, "c", NULL, &minor, "rw");
    }
}

static void set_resources(nri_resources *r, bool second, int count)
{
    assert_non_null(r);
    for (int setter = 0; setter < RESOURCE_SETTERS; setter++) {
        for (int i = 0; i < count; i++)
            OK(set_resource(r, setter, second, i));
    }
}

/* A container whose resources are those of a message, not of a builder. */
static nri_container *copied_container(int count)
{
    nri_container *container = build_make(), *copy = NULL;
    set_resources(nri_container_edit_resources(container), false, count);
    OK(nri_container_dup(container, NULL, &copy));
    nri_container_free(container);
    return copy;
}

static void check_a_container_s_resources(int count)
{
    static struct bytes before, after;
    for (int setter = 0; setter < RESOURCE_SETTERS; setter++) {
        nri_container *container = copied_container(count);
        const nri_resources *old = nri_container_resources(container);
        encode(old, &before);
        nri_resources *edited = nri_container_edit_resources(container);
        assert_non_null(edited);
        for (int i = 0; i < count; i++)
            OK(set_resource(edited, setter, true, i));
        check_unchanged(old, &before);
        assert_ptr_equal(nri_container_resources(container), edited);
        encode(edited, &after);
        assert_false(same(&after, &before));
        nri_container_free(container);
    }
}

static void test_a_container_s_resources(void **state)
{
    (void)state;
    check_a_container_s_resources(1);
    check_a_container_s_resources(FEW);
    check_a_container_s_resources(MANY);
}

/* The edited ones are what the same calls make of resources that a builder has from the start. */
static void test_the_edit_s_own_resources_are_right(void **state)
{
    static struct bytes expected, edited;
    (void)state;
    nri_container *whole = build_make(), *copy = copied_container(MANY);
    set_resources(nri_container_edit_resources(whole), false, MANY);
    encode(whole, &expected);
    encode(copy, &edited);
    assert_true(same(&expected, &edited));
    set_resources(nri_container_edit_resources(whole), true, MANY);
    set_resources(nri_container_edit_resources(copy), true, MANY);
    encode(whole, &expected);
    encode(copy, &edited);
    assert_true(same(&expected, &edited));
    nri_container_free(whole);
    nri_container_free(copy);
}

static void test_a_container_of_json(void **state)
{
    static const char json[] =
        "{\"linux\":{\"resources\":{\"memory\":{\"limit\":1},\"cpu\":{\"shares\":2},"
        "\"hugepage_limits\":[{\"page_size\":\"2MB\",\"limit\":3}],\"pids\":{\"limit\":4},"
        "\"unified\":{\"memory.high\":\"5\"},\"rdt_class\":\"six\"}}}";
    static struct bytes before;
    nri_container *container = NULL;
    (void)state;
    OK(nri_container_from_json(json, sizeof json - 1, NULL, &container, NULL));
    const nri_resources *old = nri_container_resources(container);
    encode(old, &before);
    nri_resources *edited = nri_container_edit_resources(container);
    set_resources(edited, true, FEW);
    OK(nri_resources_set_hugepage_limit(edited, "2MB", 30));
    OK(nri_resources_set_unified(edited, "memory.high", "50"));
    check_unchanged(old, &before);
    nri_container_free(container);
}

/* ---- the three resources of a pod ---- */

static const struct pod_resources {
    nri_resources *(*edit)(nri_pod *pod);
    const nri_resources *(*read)(const nri_pod *pod);
} pod_resources[] = {
    {nri_pod_edit_overhead, nri_pod_overhead},
    {nri_pod_edit_pod_resources, nri_pod_pod_resources},
    {nri_pod_edit_resources, nri_pod_resources},
};

static nri_pod *copied_pod(int count)
{
    nri_pod *pod = NULL, *copy = NULL;
    OK(nri_pod_new(&pod, NULL));
    for (int i = 0; i < 3; i++)
        set_resources(pod_resources[i].edit(pod), false, count);
    OK(nri_pod_dup(pod, NULL, &copy));
    nri_pod_free(pod);
    return copy;
}

static void test_a_pod_s_resources(void **state)
{
    static struct bytes before[3];
    (void)state;
    for (int edited = 0; edited < 3; edited++) {
        const nri_resources *old[3];
        nri_pod *pod = copied_pod(FEW);
        for (int i = 0; i < 3; i++) {
            old[i] = pod_resources[i].read(pod);
            encode(old[i], &before[i]);
        }
        set_resources(pod_resources[edited].edit(pod), true, FEW);
        for (int i = 0; i < 3; i++) {
            check_unchanged(old[i], &before[i]);
            assert_true((old[i] == pod_resources[i].read(pod)) == (i != edited));
        }
        nri_pod_free(pod);
    }
}

/* ---- the seccomp policy ---- */

#define SECCOMP_SETTERS 8

static int set_seccomp(nri_seccomp *s, int setter, bool second)
{
    static const char *const names[] = {"read", "write"};
    const char *action = second ? "SCMP_ACT_TRACE" : "SCMP_ACT_ERRNO";
    const uint32_t number = second ? 2 : 1;
    switch (setter) {
    case 0:
        return nri_seccomp_set_default_action(s, action);
    case 1:
        return nri_seccomp_set_default_errno(s, number);
    case 2:
        return nri_seccomp_add_architecture(s, second ? "SCMP_ARCH_ARM" : "SCMP_ARCH_X86");
    case 3:
        return nri_seccomp_add_flag(s, second ? "SECCOMP_FILTER_FLAG_TSYNC"
                                              : "SECCOMP_FILTER_FLAG_LOG");
    case 4:
        return nri_seccomp_set_listener_path(s, second ? "/b" : "/a");
    case 5:
        return nri_seccomp_set_listener_metadata(s, second ? "b" : "a");
    case 6:
        return nri_seccomp_add_syscall(s, action, &number, names, number);
    default:
        if (nri_seccomp_add_syscall(s, action, &number, names, number) != 0)
            return NRI_E_STATE;
        return nri_seccomp_add_syscall_arg(s, number, 8, 0, "SCMP_CMP_EQ");
    }
}

static void test_a_seccomp_policy(void **state)
{
    static struct bytes before, after, rule;
    nri_container *first = build_make();
    (void)state;
    for (int setter = 0; setter < SECCOMP_SETTERS; setter++)
        OK(set_seccomp(nri_container_edit_seccomp_policy(first), setter, false));
    for (int setter = 0; setter < SECCOMP_SETTERS; setter++) {
        nri_container *container = NULL;
        const nri_seccomp *old, *read;
        OK(nri_container_dup(first, NULL, &container));
        assert_true(nri_container_seccomp_policy(container, &old));
        const nri_syscall *old_rule = nri_seccomp_syscall_at(old, 1);
        encode(old, &before);
        encode(old_rule, &rule);
        nri_seccomp *edited = nri_container_edit_seccomp_policy(container);
        assert_non_null(edited);
        OK(set_seccomp(edited, setter, true));
        check_unchanged(old, &before);
        check_unchanged(old_rule, &rule);
        assert_true(nri_container_seccomp_policy(container, &read));
        assert_ptr_equal(read, edited);
        encode(read, &after);
        assert_false(same(&after, &before));
        nri_container_free(container);
    }
    nri_container_free(first);
}

/* ---- what is replaced as a whole ---- */

static void set_objects(nri_container *c, bool second)
{
    static const char *const texts[] = {"L3:0=f", "MB:0=20"};
    static const uint32_t numbers[] = {7, 8};
    const char *text = second ? "/b" : "/a";
    const size_t count = second ? 2 : 1;
    OK(nri_container_set_mount(c, "/data", "bind", text, texts, count));
    OK(nri_container_set_device(c, "/dev/a", "c", second, 1, &numbers[second], NULL, NULL));
    OK(nri_container_add_hook(c, NRI_HOOK_PRESTART, text, texts, count, NULL, 0, NULL));
    OK(nri_container_set_scheduler(c, NRI_SCHED_OTHER, second, 0, NULL, 0, 0, 0, 0));
    OK(nri_container_set_rdt_clos_id(c, second ? "gold" : "silver"));
    OK(nri_container_set_rdt_schemata(c, texts, count));
    OK(nri_container_set_rdt_enable_monitoring(c, second));
    OK(nri_container_set_args(c, texts, count));
    OK(nri_container_set_env(c, "A", text));
    OK(nri_container_set_label(c, "k", text));
    OK(nri_container_set_annotation(c, "k", text));
    OK(nri_container_set_sysctl(c, "a.b", text));
    OK(nri_container_set_net_device(c, "eth0", second ? "b" : "a"));
    OK(nri_container_set_namespace(c, "pid", text));
    OK(nri_container_set_image(c, text, text, text));
    OK(nri_container_set_seccomp_profile(c, NRI_SECCOMP_LOCALHOST, text));
    OK(nri_container_set_cgroups_path(c, text));
    OK(nri_container_set_id(c, text));
}

#define OBJECTS 5
#define TEXTS   11

static void read_objects(const nri_container *c, const void *objects[OBJECTS])
{
    const nri_device *device;
    const nri_scheduler *scheduler;
    const nri_rdt *rdt;
    assert_true(nri_container_device(c, "/dev/a", &device));
    assert_true(nri_container_scheduler(c, &scheduler));
    assert_true(nri_container_rdt(c, &rdt));
    objects[0] = nri_container_mount_at(c, 0);
    objects[1] = nri_container_hook_at(c, NRI_HOOK_PRESTART, 0);
    objects[2] = device;
    objects[3] = scheduler;
    objects[4] = rdt;
}

/* Each is "/a" before the edit, but for the two that have a rule of their own. */
static void read_texts(const nri_container *c, const char *texts[TEXTS])
{
    int type;
    assert_true(nri_container_env(c, "A", &texts[0]));
    assert_true(nri_container_label(c, "k", &texts[1]));
    assert_true(nri_container_annotation(c, "k", &texts[2]));
    assert_true(nri_container_sysctl(c, "a.b", &texts[3]));
    assert_true(nri_container_namespace_path(c, "pid", &texts[4]));
    assert_true(nri_container_image(c, &texts[5], NULL, NULL));
    assert_true(nri_container_seccomp_profile(c, &type, &texts[6]));
    texts[7] = nri_container_cgroups_path(c);
    texts[8] = nri_container_id(c);
    texts[9] = nri_container_arg(c, 0);
    assert_true(nri_container_net_device(c, "eth0", &texts[10]));
}

static void test_objects_and_texts(void **state)
{
    static struct bytes before[OBJECTS];
    const void *objects[OBJECTS];
    const char *texts[TEXTS];
    nri_container *first = build_make(), *container = NULL;
    (void)state;
    set_objects(first, false);
    OK(nri_container_dup(first, NULL, &container));
    nri_container_free(first);
    read_objects(container, objects);
    read_texts(container, texts);
    for (size_t i = 0; i < OBJECTS; i++)
        encode(objects[i], &before[i]);
    set_objects(container, true);
    for (size_t i = 0; i < OBJECTS; i++)
        check_unchanged(objects[i], &before[i]);
    for (size_t i = 0; i < 9; i++)
        assert_string_equal(texts[i], "/a");
    assert_string_equal(texts[9], "L3:0=f");
    assert_string_equal(texts[10], "a");
    read_texts(container, texts);
    for (size_t i = 0; i < 9; i++)
        assert_string_equal(texts[i], "/b");
    nri_container_free(container);
}

/* ---- what it costs ---- */

/* An edit takes room for its own resources once; setting numbers again takes none. */
static void test_memory_is_bounded(void **state)
{
    struct fail_alloc memory;
    struct nri_allocator allocator;
    nri_container *first = copied_container(MANY), *container = NULL;
    (void)state;
    fail_alloc_init(&memory, &allocator);
    OK(nri_container_dup(first, &allocator, &container));
    const size_t whole = memory.live_bytes;
    assert_non_null(nri_container_edit_resources(container));
    const size_t edited = memory.live_bytes;
    assert_in_range(edited - whole, 1, whole + 8192); /* the copy, and the builder */
    for (int i = 0; i < 10000; i++) {
        nri_resources *r = nri_container_edit_resources(container);
        OK(nri_resources_set_cpu_shares(r, 2u + (unsigned)i));
        OK(nri_resources_set_memory_limit(r, i));
        OK(nri_resources_set_memory_use_hierarchy(r, i % 2 == 0));
        OK(nri_resources_set_pids_limit(r, i + 1));
    }
    assert_int_equal(memory.live_bytes, edited);
    nri_container_free(container);
    nri_container_free(first);
    assert_int_equal(memory.live_blocks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_container_s_resources),
        cmocka_unit_test(test_the_edit_s_own_resources_are_right),
        cmocka_unit_test(test_a_container_of_json),
        cmocka_unit_test(test_a_pod_s_resources),
        cmocka_unit_test(test_a_seccomp_policy),
        cmocka_unit_test(test_objects_and_texts),
        cmocka_unit_test(test_memory_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
