/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects that can be changed: copies, what was there before, long lists, and every allocation of
 * every call made to fail, one a run: the call then fails with NRI_E_NOMEM, the message is byte by
 * byte what it was before, and the same call, made again, works.
 */
#include <stdio.h>

#include "container_build.h"
#include "model/dup.h"
#include "model/object.h"
#include "sample.h"

#define MANY 20 /* more than are searched without a hash */

struct bytes {
    uint8_t data[16384];
    size_t size;
};

static void encode(const void *message, struct bytes *bytes)
{
    bytes->size = 0;
    OK(nri_message_size(message, &bytes->size, NULL));
    assert_true(bytes->size <= sizeof bytes->data);
    nri_message_encode(message, bytes->data);
}

static void check_same(const struct bytes *a, const struct bytes *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

/* ---- changing a copy ---- */

static void test_a_copy_is_changed_alone(void **state)
{
    static struct bytes before, after;
    const nri_container *original = sample_container(*state);
    nri_container *copy = NULL;
    const char *value;
    uint64_t shares;
    int64_t quota;
    encode(original, &before);
    OK(nri_container_dup(original, NULL, &copy));
    encode(copy, &after);
    check_same(&before, &after);
    const char *id = nri_container_id(copy), *cpus = "";
    const nri_resources *old = nri_container_resources(copy);
    assert_true(nri_resources_cpuset_cpus(old, &cpus));
    OK(nri_container_set_id(copy, "c2"));
    OK(nri_container_set_label(copy, "tier", "front"));
    OK(nri_container_set_label(copy, "new", "1"));
    OK(nri_container_set_env(copy, "E", "5"));
    OK(nri_container_set_mount(copy, "/proc", "proc", "proc", NULL, 0));
    OK(nri_resources_set_cpuset_cpus(nri_container_edit_resources(copy), "1"));
    OK(nri_resources_set_cpu_shares(nri_container_edit_resources(copy), 77));
    OK(nri_container_set_cgroups_path(copy, "/x"));
    assert_string_equal(id, "c1");
    assert_string_equal(cpus, "0-3,7");
    assert_string_equal(nri_container_id(copy), "c2");
    assert_true(nri_container_label(copy, "tier", &value));
    assert_string_equal(value, "front");
    assert_int_equal(nri_container_label_count(copy), 2);
    assert_true(nri_container_env(copy, "E", &value));
    assert_string_equal(value, "5");
    assert_true(nri_resources_cpu_shares(nri_container_resources(copy), &shares));
    assert_int_equal(shares, 77);
    assert_true(nri_resources_cpu_quota(nri_container_resources(copy), &quota));
    assert_int_equal(quota, -1);
    encode(original, &after);
    check_same(&before, &after);
    nri_container_free(copy);
}

static void test_a_pod_s_copy_is_changed_alone(void **state)
{
    static struct bytes before, after;
    const nri_pod *original = sample_pod(*state);
    nri_pod *copy = NULL;
    encode(original, &before);
    OK(nri_pod_dup(original, NULL, &copy));
    OK(nri_pod_set_label(copy, "app", "web"));
    OK(nri_pod_add_ip(copy, "10.0.0.7"));
    OK(nri_pod_add_ip(copy, "10.0.0.8"));
    OK(nri_pod_set_cgroup_parent(copy, "/x"));
    OK(nri_resources_set_memory_limit(nri_pod_edit_overhead(copy), 1));
    assert_int_equal(nri_pod_ip_count(copy), 3);
    assert_string_equal(nri_pod_cgroup_parent(copy), "/x");
    assert_int_equal(nri_pod_label_count(copy), 2);
    encode(original, &after);
    check_same(&before, &after);
    nri_pod_free(copy);
}

/* Of several with the same key readers find the last, so that is the one to replace. */
static void test_the_last_of_several_is_replaced(void **state)
{
    nri_container *copy = NULL;
    const char *value;
    const nri_mount *mount;
    OK(nri_container_dup(sample_container(*state), NULL, &copy));
    OK(nri_container_set_env(copy, "A", "4"));
    assert_true(nri_container_env(copy, "A", &value));
    assert_string_equal(value, "4");
    assert_string_equal(nri_container_env_at(copy, 0), "A=1");
    assert_int_equal(nri_container_env_count(copy), 6);
    OK(nri_container_set_env(copy, "NAKED", "1")); /* the name of an entry without a "=" */
    assert_int_equal(nri_container_env_count(copy), 6);
    OK(nri_container_set_mount(copy, "/data", "bind", "/third", NULL, 0));
    assert_int_equal(nri_container_mount_count(copy), 3);
    assert_true(nri_container_mount(copy, "/data", &mount));
    assert_string_equal(nri_mount_source(mount), "/third");
    assert_string_equal(nri_mount_source(nri_container_mount_at(copy, 0)), "/first");
    nri_container_free(copy);
}

/* A copy of a changed object is changed again: arrays have the room that growing counts on. */
static void test_copies_of_each_length_grow(void **state)
{
    (void)state;
    char name[16];
    nri_container *container = build_make();
    for (size_t length = 0; length < 70; length++) {
        nri_container *copy = NULL;
        const char *value;
        OK(nri_container_dup(container, NULL, &copy));
        nri_container_free(container);
        container = copy;
        snprintf(name, sizeof name, "/N%zu", length);
        OK(nri_container_set_env(container, name, name));
        OK(nri_container_set_mount(container, name, NULL, NULL, NULL, 0));
        assert_int_equal(nri_container_env_count(container), length + 1);
        assert_int_equal(nri_container_mount_count(container), length + 1);
        assert_true(nri_container_env(container, name, &value));
        assert_string_equal(value, name);
        assert_true(nri_container_mount(container, name, NULL));
    }
    nri_container_free(container);
}

static void test_long_lists_keep_their_order(void **state)
{
    (void)state;
    char name[16];
    const char *value;
    nri_container *container = build_make();
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 1000; i++) {
            snprintf(name, sizeof name, "N%d", i);
            OK(nri_container_set_env(container, name, round == 0 ? "a" : "b"));
            OK(nri_container_set_label(container, name, round == 0 ? "a" : "b"));
        }
    }
    assert_int_equal(nri_container_env_count(container), 1000);
    assert_int_equal(nri_container_label_count(container), 1000);
    for (size_t i = 0; i < 1000; i++) {
        char wanted[16];
        snprintf(wanted, sizeof wanted, "N%zu=b", i);
        assert_string_equal(nri_container_env_at(container, i), wanted);
        assert_true(nri_container_label_at(container, i, &value, NULL));
        assert_memory_equal(value, wanted, strlen(value));
    }
    nri_container_free(container);
}

/* ---- memory ---- */

/* The builder is for those that are changed alone. */
static void test_a_copy_has_no_builder(void **state)
{
    struct fail_alloc memory;
    struct nri_allocator allocator;
    nri_container *copy = NULL;
    fail_alloc_init(&memory, &allocator);
    OK(nri_container_dup(sample_container(*state), &allocator, &copy));
    size_t whole = memory.live_bytes;
    assert_true(whole < sizeof(struct nri_container_object) + 4096 + 512);
    OK(nri_container_set_pid(copy, 1));
    OK(nri_container_set_state(copy, NRI_CONTAINER_STOPPED));
    OK(nri_container_set_exit_code(copy, 1));
    OK(nri_container_set_finished_at(copy, 1));
    assert_int_equal(memory.live_bytes, whole);
    assert_int_equal(nri_container_error(copy), 0);
    nri_container_free(copy);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_no_memory_for_the_builder_sticks(void **state)
{
    (void)state;
    struct fail_alloc memory;
    struct nri_allocator allocator;
    nri_pod *pod = NULL;
    nri_container *container = NULL;
    fail_alloc_init(&memory, &allocator);
    OK(nri_pod_new(&pod, &allocator));
    OK(nri_container_new(&container, &allocator));
    for (int i = 0; i < 2; i++) {
        if (i == 0) {
            fail_alloc_arm(&memory, 1);
            assert_int_equal(nri_pod_set_id(pod, "p"), NRI_E_NOMEM);
            fail_alloc_arm(&memory, 1);
            assert_int_equal(nri_container_set_id(container, "c"), NRI_E_NOMEM);
            fail_alloc_arm(&memory, 0);
        } else { /* there is a builder now, and an older failure */
            assert_int_equal(nri_pod_set_id(pod, ""), NRI_E_INVALID);
            assert_int_equal(nri_container_set_id(container, ""), NRI_E_INVALID);
        }
        assert_int_equal(nri_pod_error(pod), NRI_E_NOMEM);
        assert_string_equal(nri_pod_error_text(pod), "pod sandbox: out of memory");
        assert_int_equal(nri_container_error(container), NRI_E_NOMEM);
        assert_string_equal(nri_container_error_text(container), "container: out of memory");
    }
    OK(nri_pod_set_id(pod, "p"));
    OK(nri_container_set_id(container, "c"));
    nri_pod_free(pod);
    nri_container_free(container);
    assert_int_equal(memory.live_blocks, 0);
}

/* ---- the sweep: each step is a call, 0 or a code ---- */

static int got(const void *object)
{
    return object != NULL ? 0 : NRI_E_NOMEM;
}

static int container_lists(nri_container *c, int step)
{
    static const char *const texts[] = {"A=1", "B=2"};
    const int64_t timeout = 1;
    const uint32_t mode = 0600;
    char key[32];
    snprintf(key, sizeof key, "/N%d", step / 6);
    switch (step % 6) {
    case 0:
        return nri_container_set_env(c, key + 1, "value");
    case 1:
        return nri_container_set_label(c, key, "value");
    case 2:
        return nri_container_set_mount(c, key, "bind", "/s", texts, 2);
    case 3:
        return nri_container_add_hook(c, (enum nri_hook_stage)(1 + step / 6 % 6), key, texts, 2,
                                      texts, 2, &timeout);
    case 4:
        return nri_container_set_device(c, key, "c", 1, 2, &mode, &mode, &mode);
    default:
        return nri_container_set_net_device(c, key + 1, "eth0");
    }
}

static int container_process(nri_container *c, int step)
{
    static const char *const texts[] = {"A=1", "B=2"};
    static const uint32_t gids[] = {1, 2};
    switch (step) {
    case 0:
        return nri_container_set_id(c, "c1");
    case 1:
        return nri_container_set_pod_sandbox_id(c, "p1");
    case 2:
        return nri_container_set_name(c, "main");
    case 3:
        return nri_container_set_status_reason(c, "r");
    case 4:
        return nri_container_set_status_message(c, "m");
    case 5:
        return nri_container_set_annotation(c, "k", "v");
    case 6:
        return nri_container_set_args(c, texts, 2);
    case 7:
        return nri_container_set_rlimit(c, "RLIMIT_CORE", 1, 1);
    case 8:
        return nri_container_add_cdi_device(c, "vendor.com/gpu=0");
    case 9:
        return nri_container_set_user(c, 1, 2, gids, 2);
    default:
        return nri_container_set_image(c, "n", "d", "cd");
    }
}

#define PROCESS_STEPS 11

static int container_linux(nri_container *c, int step)
{
    static const char *const texts[] = {"A=1", "B=2"};
    switch (step) {
    case 0:
        return nri_container_set_namespace(c, "pid", "/p");
    case 1:
        return nri_container_set_sysctl(c, "a.b", "1");
    case 2:
        return nri_container_set_oom_score_adj(c, 5);
    case 3:
        return nri_container_set_cgroups_path(c, "/c");
    case 4:
        return nri_container_set_io_priority(c, NRI_IOPRIO_CLASS_BE, 4);
    case 5:
        return nri_container_set_seccomp_profile(c, NRI_SECCOMP_LOCALHOST, "a");
    case 6:
        return nri_container_set_scheduler(c, NRI_SCHED_OTHER, 1, 0, NULL, 0, 0, 0, 0);
    case 7:
        return nri_container_set_rdt_clos_id(c, "gold");
    case 8:
        return nri_container_set_rdt_schemata(c, texts, 2);
    case 9:
        return nri_container_set_rdt_enable_monitoring(c, true);
    case 10:
        return got(nri_container_edit_resources(c));
    case 11:
        return nri_resources_set_pids_limit(nri_container_edit_resources(c), 7);
    case 12:
        return got(nri_container_edit_seccomp_policy(c));
    default:
        return nri_seccomp_set_default_action(nri_container_edit_seccomp_policy(c), "SCMP_ACT_LOG");
    }
}

#define LINUX_STEPS     14
#define CONTAINER_STEPS (6 * MANY + PROCESS_STEPS + LINUX_STEPS)

/* The members of linux first, so that each of them is once the first. */
static int container_step(void *object, int first, int step)
{
    step = (step + first) % CONTAINER_STEPS;
    if (step < LINUX_STEPS)
        return container_linux(object, step);
    step -= LINUX_STEPS;
    if (step < PROCESS_STEPS)
        return container_process(object, step);
    return container_lists(object, step - PROCESS_STEPS);
}

#define POD_STEPS (2 * MANY + 13)

static int pod_step(void *object, int first, int step)
{
    nri_pod *pod = object;
    char key[32];
    step = (step + first) % POD_STEPS;
    snprintf(key, sizeof key, "10.0.0.%d", step / 2);
    if (step < 2 * MANY)
        return step % 2 == 0 ? nri_pod_set_label(pod, key, "v") : nri_pod_add_ip(pod, key);
    switch (step - 2 * MANY) {
    case 0:
        return nri_pod_set_id(pod, "p1");
    case 1:
        return nri_pod_set_name(pod, "n");
    case 2:
        return nri_pod_set_uid(pod, "u");
    case 3:
        return nri_pod_set_namespace(pod, "ns");
    case 4:
        return nri_pod_set_annotation(pod, "k", "v");
    case 5:
        return nri_pod_set_runtime_handler(pod, "runc");
    case 6:
        return nri_pod_set_cgroup_parent(pod, "/a");
    case 7:
        return nri_pod_set_cgroups_path(pod, "/b");
    case 8:
        return nri_pod_set_namespace_path(pod, "pid", "/p");
    case 9:
        return got(nri_pod_edit_overhead(pod));
    case 10:
        return nri_resources_set_cpu_shares(nri_pod_edit_overhead(pod), 2);
    case 11:
        return got(nri_pod_edit_pod_resources(pod));
    default:
        return got(nri_pod_edit_resources(pod));
    }
}

/* What a sweep needs to know of an object. */
struct kind {
    int steps;
    int (*step)(void *object, int first, int step);
    int (*error)(const void *object);
    const char *(*text)(const void *object);
};

static int container_error(const void *object)
{
    return nri_container_error(object);
}

static const char *container_text(const void *object)
{
    return nri_container_error_text(object);
}

static int pod_error(const void *object)
{
    return nri_pod_error(object);
}

static const char *pod_text(const void *object)
{
    return nri_pod_error_text(object);
}

static const struct kind container_kind = {CONTAINER_STEPS, container_step, container_error,
                                           container_text};
static const struct kind pod_kind = {POD_STEPS, pod_step, pod_error, pod_text};

/* Returns how many steps failed. An edit that fails before a setter gives it NULL. */
static int change_all(const struct kind *kind, void *object, int first, int steps)
{
    static struct bytes before, after;
    int failures = 0;
    for (int step = 0; step < steps; step++) {
        encode(object, &before);
        int code = kind->step(object, first, step);
        if (code == 0)
            continue;
        failures++;
        assert_true(code == NRI_E_NOMEM || code == NRI_E_INVALID);
        encode(object, &after);
        check_same(&before, &after);
        assert_int_equal(kind->error(object), NRI_E_NOMEM);
        assert_non_null(strstr(kind->text(object), ": out of memory"));
        assert_int_equal(kind->step(object, first, step), 0);
    }
    return failures;
}

/* Every piece of an object's arena is an allocation of its own. */
static void *open_object(const struct kind *kind, struct fail_alloc *memory)
{
    struct nri_alloc alloc = fail_alloc_resolved(memory);
    if (kind == &pod_kind) {
        struct nri_pod_object *pod = nri_pod_object_make(&alloc);
        assert_non_null(pod);
        pod->object.arena.chunk_size = 1;
        return &pod->message;
    }
    struct nri_container_object *container = nri_container_object_make(&alloc);
    assert_non_null(container);
    container->object.arena.chunk_size = 1;
    return &container->message;
}

static void close_object(const struct kind *kind, void *object)
{
    if (kind == &pod_kind)
        nri_pod_free(object);
    else
        nri_container_free(object);
}

/* Returns how many points of failure there are in `steps` steps from the first. */
static size_t sweep(const struct kind *kind, int first, int steps)
{
    static struct bytes whole, partly;
    struct fail_alloc memory;
    bool fired = true;
    size_t run = 0;
    fail_alloc_init(&memory, NULL);
    for (; fired; run++) {
        void *object = open_object(kind, &memory);
        fail_alloc_arm(&memory, run); /* the first run has no failure */
        int failures = change_all(kind, object, first, steps);
        fired = run == 0 || memory.fired;
        assert_int_equal(failures, memory.fired ? 1 : 0);
        encode(object, run == 0 ? &whole : &partly);
        if (run > 0)
            check_same(&whole, &partly);
        close_object(kind, object);
        assert_int_equal(memory.live_blocks, 0);
    }
    return run - 2;
}

static void test_failing_allocations(void **state)
{
    (void)state;
    size_t points = sweep(&container_kind, 0, CONTAINER_STEPS);
    print_message("container: %zu points of failure\n", points);
    assert_true(points > CONTAINER_STEPS);
    points = sweep(&pod_kind, 0, POD_STEPS);
    print_message("pod sandbox: %zu points of failure\n", points);
    assert_true(points > POD_STEPS);
}

/* Each call as the first one of its object, where the builder and the linux part are made. A step
 * that edits and sets makes two calls, and the first of them may well be all that succeeds. */
static void test_failing_first_allocations(void **state)
{
    (void)state;
    for (int first = 0; first < LINUX_STEPS + PROCESS_STEPS + 6; first++) {
        if (first != 11 && first != 13)
            assert_true(sweep(&container_kind, first, 1) > 0);
    }
    for (int first = 2 * MANY - 2; first < POD_STEPS; first++) {
        if (first != 2 * MANY + 10)
            assert_true(sweep(&pod_kind, first, 1) > 0);
    }
}

static void test_failing_copies(void **state)
{
    struct fail_alloc memory;
    struct nri_allocator allocator;
    const nri_pod *pod = sample_pod(*state);
    size_t n = 0;
    fail_alloc_init(&memory, &allocator);
    do {
        nri_pod *made = NULL, *copy = NULL;
        fail_alloc_arm(&memory, ++n);
        int code = nri_pod_new(&made, &allocator);
        assert_int_equal(made == NULL, code != 0);
        int copied = nri_pod_dup(pod, &allocator, &copy);
        assert_int_equal(copy == NULL, copied != 0);
        assert_int_equal(code != 0 || copied != 0, memory.fired);
        nri_pod_free(made);
        nri_pod_free(copy);
        assert_int_equal(memory.live_blocks, 0);
    } while (memory.fired);
    assert_true(n > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_a_copy_is_changed_alone),
        WITH_FIXTURE(test_a_pod_s_copy_is_changed_alone),
        WITH_FIXTURE(test_the_last_of_several_is_replaced),
        cmocka_unit_test(test_copies_of_each_length_grow),
        cmocka_unit_test(test_long_lists_keep_their_order),
        WITH_FIXTURE(test_a_copy_has_no_builder),
        cmocka_unit_test(test_no_memory_for_the_builder_sticks),
        cmocka_unit_test(test_failing_allocations),
        cmocka_unit_test(test_failing_first_allocations),
        WITH_FIXTURE(test_failing_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
