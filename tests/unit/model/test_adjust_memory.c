/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that ends, in every call that test_alloc_failure.c has not: each allocation fails once,
 * and the memory limit is each size there is. The call then fails, the message is byte by byte what
 * it was before, and after a failed allocation the same call, made again, works.
 */
#include <stdio.h>

#include "refusal.h"
#include "wire/message.h"

struct bytes {
    uint8_t data[16384];
    size_t size;
};

static void encode(const nri_adjustment *adjustment, struct bytes *bytes)
{
    const adjustment_message *message = nri_adjustment_message(adjustment);
    bytes->size = 0;
    if (message == NULL)
        return;
    assert_int_equal(nri_message_size(&message->base, &bytes->size, NULL), 0);
    assert_true(bytes->size <= sizeof bytes->data);
    nri_message_encode(&message->base, bytes->data);
}

static void check_same(const struct bytes *a, const struct bytes *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

static const struct nri_node_rights as_host;

static int look(void *context, const char *path, struct nri_host_device *device)
{
    (void)context;
    *device = (struct nri_host_device){.type = path[1], .major = 1, .minor = 3, .mode = 0666};
    return 0;
}

/* Has no code of its own. */
static int edit_seccomp(nri_adjustment *a)
{
    nri_adjustment_clear_error(a);
    return nri_adjustment_edit_seccomp_policy(a) != NULL ? 0 : nri_adjustment_error(a);
}

static int keyed_step(nri_adjustment *a, int step, int number)
{
    char key[32];
    switch (step) {
    case 0:
        snprintf(key, sizeof key, "/dev/%d", number);
        return nri_adjustment_add_device(a, key, "c", 1, number, NULL, NULL, NULL);
    case 1:
        snprintf(key, sizeof key, "net.%d", number);
        return nri_adjustment_replace_sysctl(a, key, "1");
    case 2:
        snprintf(key, sizeof key, "eth%d", number);
        return nri_adjustment_replace_net_device(a, key, "eth0");
    case 3:
        snprintf(key, sizeof key, "vendor.com/gpu=%d", number);
        return nri_adjustment_add_cdi_device(a, key);
    default:
        snprintf(key, sizeof key, "/bin/%d", number);
        return nri_adjustment_add_hook(a, NRI_HOOK_POSTSTART, key, NULL, 0, NULL, 0, NULL);
    }
}

static int single_step(nri_adjustment *a, int step)
{
    static const char *const args[] = {"a", "b"}, *const env[] = {"A=1"};
    static const uint32_t mode = 0666, id = 1;
    static const int64_t timeout = 5;
    static const int flags[] = {0, 1}, mpol_flags[] = {0, 2};
    switch (step) {
    case 0:
        return nri_adjustment_add_hook(a, NRI_HOOK_PRESTART, "/b", args, 2, env, 1, &timeout);
    case 1:
        return nri_adjustment_add_rlimit(a, "RLIMIT_CPU", 2, 1);
    case 2:
        return nri_adjustment_replace_device(a, "/dev/x", "b", 1, 2, &mode, &id, &id);
    case 3:
        return nri_adjustment_remove_device(a, "/dev/y");
    case 4:
        return nri_adjustment_inject(a, "/c", "/dev/3", "rw", &as_host, look, NULL);
    case 5:
        return nri_adjustment_inject(a, "/c", "/dev/new", NULL, &as_host, look, NULL);
    case 6:
        return nri_adjustment_inject(a, "/p", NULL, NULL, &as_host, look, NULL);
    case 7:
        return nri_adjustment_set_cgroups_path(a, "/x");
    case 8:
        return nri_adjustment_set_oom_score_adj(a, 5);
    case 9:
        return nri_adjustment_set_io_priority(a, NRI_IOPRIO_CLASS_BE, 1);
    case 10:
        return edit_seccomp(a);
    case 11:
        return nri_adjustment_add_namespace(a, "pid", "/p");
    case 12:
        return nri_adjustment_remove_namespace(a, "pid");
    case 13:
        return nri_adjustment_set_scheduler(a, NRI_SCHED_OTHER, 1, 0, flags, 2, 0, 0, 0);
    case 14:
        return nri_adjustment_set_rdt_clos_id(a, "gold");
    case 15:
        return nri_adjustment_set_rdt_schemata(a, args, 2);
    case 16:
        return nri_adjustment_set_rdt_enable_monitoring(a, true);
    case 17:
        return nri_adjustment_remove_rdt(a);
    case 18:
        return nri_adjustment_set_memory_policy(a, NRI_MPOL_BIND, "0", mpol_flags, 2);
    case 19:
        return nri_adjustment_remove_net_device(a, "eth1");
    case 20:
        return nri_adjustment_remove_sysctl(a, "net.1");
    case 21:
        return nri_adjustment_inject(a, "/b", "/dev/new", "r", &as_host, look, NULL);
    case 22:
        return nri_adjustment_add_device(a, "/dev/3", "c", 9, 9, NULL, NULL, NULL);
    default:
        return nri_adjustment_remove_device(a, "/dev/new");
    }
}

#define KEYED  5
#define MANY   20 /* more than are searched without a hash */
#define SINGLE 24
#define STEPS  (KEYED * MANY + SINGLE)

/* What comes first makes what all share; so there are runs that start with each. */
static int step(nri_adjustment *a, int number)
{
    number %= STEPS;
    return number < SINGLE ? single_step(a, number)
                           : keyed_step(a, (number - SINGLE) % KEYED, (number - SINGLE) / KEYED);
}

/* Returns how many calls failed. */
static int run(nri_adjustment *a, int first, int count, bool again)
{
    static struct bytes before, after;
    int failures = 0;
    for (int i = 0; i < count; i++) {
        encode(a, &before);
        int code = step(a, first + i);
        if (code == 0)
            continue;
        failures++;
        encode(a, &after);
        check_same(&before, &after);
        assert_int_equal(nri_adjustment_error(a), again ? NRI_E_NOMEM : NRI_E_LIMIT);
        assert_int_equal(code, again ? NRI_E_NOMEM : NRI_E_LIMIT);
        const char *text = again ? ": out of memory" : ": does not fit into the memory limit of ";
        assert_non_null(strstr(nri_adjustment_error_text(a), text));
        if (again)
            assert_int_equal(step(a, first + i), 0);
    }
    return failures;
}

static size_t sweep(struct fixture *fixture, int first, int count)
{
    struct nri_alloc alloc = fail_alloc_resolved(&fixture->memory);
    static struct bytes whole, partly;
    bool fired = true;
    size_t n = 0;
    for (; fired; n++) {
        struct nri_arena arena;
        nri_arena_init(&arena, &alloc, 1, SIZE_MAX); /* every piece is an allocation */
        fail_alloc_arm(&fixture->memory, 0);
        nri_adjustment *a = nri_adjustment_make(&arena, fixture_seed, 0, NULL);
        assert_non_null(a);
        fail_alloc_arm(&fixture->memory, n);
        int failures = run(a, first, count, true);
        fired = n == 0 || fixture->memory.fired;
        assert_int_equal(failures, fixture->memory.fired ? 1 : 0);
        encode(a, n == 0 ? &whole : &partly);
        if (n > 0)
            check_same(&whole, &partly);
        nri_arena_fini(&arena);
        assert_int_equal(fixture->memory.live_blocks, 0);
    }
    assert_true(whole.size >= (size_t)count);
    return n - 2;
}

static void test_each_allocation(void **state)
{
    size_t points = sweep(*state, 0, STEPS);
    assert_true(points > STEPS);
    for (int first = 0; first < SINGLE + KEYED; first++)
        points += sweep(*state, first, 2);
    print_message("%zu points of failure\n", points);
}

static void test_each_limit(void **state)
{
    struct fixture *fixture = *state;
    struct nri_alloc alloc = fail_alloc_resolved(&fixture->memory);
    int failures = 1;
    for (size_t limit = 2048; failures > 0; limit += 64) {
        struct nri_arena arena;
        nri_arena_init(&arena, &alloc, 1, limit);
        nri_adjustment *a = nri_adjustment_make(&arena, fixture_seed, 0, NULL);
        if (a != NULL)
            failures = run(a, 0, STEPS, false);
        assert_true(arena.taken <= limit);
        nri_arena_fini(&arena);
        assert_true(limit < 1 << 20);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_each_allocation),
        WITH_FIXTURE(test_each_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
