/* SPDX-License-Identifier: Apache-2.0 */
/* Resources that were there before, that nobody set yet, that nobody may change any more, and
 * memory that ends. */
#include <stdio.h>

#include "model/resources_builder.h"
#include "refusal.h"
#include "wire/message.h"

typedef Nri__Pkg__Api__V1alpha1__LinuxResources resources_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup rule_message;

struct edited {
    struct nri_builder builder;
    struct nri_resources_builder resources;
};

static void open_edited(struct fixture *fixture, struct edited *edited)
{
    nri_builder_init(&edited->builder, &fixture->arena, fixture_seed, 0, NULL);
    edited->resources = (struct nri_resources_builder){.builder = &edited->builder};
}

struct bytes {
    uint8_t data[16384];
    size_t size;
};

static void encode_message(const resources_message *message, struct bytes *bytes)
{
    assert_int_equal(nri_message_size(&message->base, &bytes->size, NULL), 0);
    assert_true(bytes->size <= sizeof bytes->data);
    nri_message_encode(&message->base, bytes->data);
}

static void encode(const struct edited *edited, struct bytes *bytes)
{
    const resources_message *message = nri_resources_builder_message(&edited->resources);
    bytes->size = 0;
    if (message != NULL)
        encode_message(message, bytes);
}

static void check_same(const struct bytes *a, const struct bytes *b)
{
    assert_int_equal(a->size, b->size);
    assert_memory_equal(a->data, b->data, a->size);
}

/* Longer than all that is compared of a rule. */
#define LONG_ACCESS "rwmrwmrwmrwmrwmrwmrwmrwmrwmrwmrwmrwmrwmrwmrwmrwmrwmrwmrwmrwmrwmrwm"

/* What a runtime may send: a page size twice, and rules that no setter makes. */
static resources_message *sample(struct fixture *fixture)
{
    static Nri__Pkg__Api__V1alpha1__HugepageLimit limits[2];
    static Nri__Pkg__Api__V1alpha1__HugepageLimit *limit_list[] = {&limits[0], &limits[1]};
    static rule_message rules[2];
    static rule_message *rule_list[] = {&rules[0], &rules[1]};
    static Nri__Pkg__Api__V1alpha1__LinuxPids pids;
    static Nri__Pkg__Api__V1alpha1__LinuxCPU cpu;
    static Nri__Pkg__Api__V1alpha1__LinuxMemory memory;
    static Nri__Pkg__Api__V1alpha1__OptionalInt64 limit;
    static Nri__Pkg__Api__V1alpha1__OptionalUInt64 shares;
    resources_message whole = NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
    for (size_t i = 0; i < 2; i++) {
        nri__pkg__api__v1alpha1__hugepage_limit__init(&limits[i]);
        nri__pkg__api__v1alpha1__linux_device_cgroup__init(&rules[i]);
        limits[i].page_size = TEXT(fixture, "2MB");
        limits[i].limit = i;
    }
    rules[0].type = TEXT(fixture, "c");
    rules[0].access = TEXT(fixture, LONG_ACCESS);
    rules[1].type = TEXT(fixture, "c");
    rules[1].access = TEXT(fixture, "r");
    nri__pkg__api__v1alpha1__linux_pids__init(&pids);
    nri__pkg__api__v1alpha1__linux_cpu__init(&cpu);
    nri__pkg__api__v1alpha1__linux_memory__init(&memory);
    nri__pkg__api__v1alpha1__optional_int64__init(&limit);
    nri__pkg__api__v1alpha1__optional_uint64__init(&shares);
    pids.limit = 7;
    limit.value = 4096;
    shares.value = 512;
    memory.limit = &limit;
    cpu.shares = &shares;
    whole.pids = &pids;
    whole.cpu = &cpu;
    whole.memory = &memory;
    whole.n_hugepage_limits = 2;
    whole.hugepage_limits = limit_list;
    whole.n_devices = 2;
    whole.devices = rule_list;
    ProtobufCMessage *copy = nri_message_copy(&whole.base, &fixture->arena);
    assert_non_null(copy);
    return (void *)copy;
}

static void test_adopt(void **state)
{
    static struct bytes before, after;
    struct edited edited;
    uint64_t bytes;
    const resources_message *from = sample(*state);
    encode_message(from, &before);
    open_edited(*state, &edited);
    nri_resources *r = nri_resources_builder_adopt(&edited.resources, from);
    assert_non_null(r);
    assert_ptr_equal(nri_resources_builder_adopt(&edited.resources, NULL), r);
    assert_ptr_equal(nri_resources_builder_edit(&edited.resources), r);
    OK(nri_resources_set_cpu_quota(r, 1000));
    OK(nri_resources_set_memory_limit(r, 8192));
    OK(nri_resources_set_hugepage_limit(r, "2MB", 9));
    OK(nri_resources_set_hugepage_limit(r, "1GB", 3));
    OK(nri_resources_add_device_rule(r, false, "c", NULL, NULL, "r"));
    OK(nri_resources_add_device_rule(r, true, "c", NULL, NULL, "r"));
    const resources_message *message =
        fixture_round_trip(*state, nri_resources_builder_message(&edited.resources));
    assert_int_equal(message->cpu->shares->value, 512);
    assert_int_equal(message->cpu->quota->value, 1000);
    assert_int_equal(message->memory->limit->value, 8192);
    assert_int_equal(message->pids->limit, 7);
    assert_int_equal(message->n_hugepage_limits, 3);
    assert_true(nri_resources_hugepage_limit(nri_resources_view(message), "2MB", &bytes));
    assert_int_equal(bytes, 9);
    assert_int_equal(message->n_devices, 3);
    assert_string_equal(message->devices[0]->access, LONG_ACCESS);
    assert_false(message->devices[1]->allow);
    assert_true(message->devices[2]->allow);
    encode_message(from, &after);
    check_same(&before, &after);
}

/* Long lists of rules that no setter makes are indexed without them. */
static void test_adopt_many_rules(void **state)
{
    struct edited edited;
    resources_message whole = NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
    rule_message rules[20], *list[20];
    for (size_t i = 0; i < 20; i++) {
        list[i] = &rules[i];
        nri__pkg__api__v1alpha1__linux_device_cgroup__init(list[i]);
        if (i % 2 == 1)
            rules[i].type = TEXT(*state, "c");
    }
    whole.n_devices = 20;
    whole.devices = list;
    const resources_message *from =
        (void *)nri_message_copy(&whole.base, &((struct fixture *)*state)->arena);
    assert_non_null(from);
    open_edited(*state, &edited);
    nri_resources *r = nri_resources_builder_adopt(&edited.resources, from);
    OK(nri_resources_add_device_rule(r, false, "c", NULL, NULL, "r"));
    OK(nri_resources_add_device_rule(r, false, "c", NULL, NULL, "r"));
    assert_int_equal(nri_resources_builder_message(&edited.resources)->n_devices, 21);
}

/* Each adopted rule again, in a few steps each: a look at all others for each would be some 10^10.
 */
static void test_adopted_rules_again(void **state)
{
    enum { MANY = 100000 };
    struct fixture *fixture = *state;
    struct edited edited;
    resources_message whole = NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
    rule_message **list = nri_arena_array(&fixture->arena, MANY, sizeof(void *));
    Nri__Pkg__Api__V1alpha1__OptionalInt64 *minors =
        nri_arena_array(&fixture->arena, MANY, sizeof *minors);
    char *type = TEXT(fixture, "c"), *access = TEXT(fixture, "r");
    for (int i = 0; i < MANY; i++) {
        list[i] = nri_arena_alloc(&fixture->arena, sizeof *list[i]);
        nri__pkg__api__v1alpha1__linux_device_cgroup__init(list[i]);
        nri__pkg__api__v1alpha1__optional_int64__init(&minors[i]);
        minors[i].value = i;
        list[i]->allow = 1;
        list[i]->type = type;
        list[i]->access = access;
        list[i]->minor = &minors[i];
    }
    whole.n_devices = MANY;
    whole.devices = list;
    open_edited(fixture, &edited);
    nri_resources *r = nri_resources_builder_adopt(&edited.resources, &whole);
    assert_non_null(r);
    for (int64_t i = MANY; i-- > 0;)
        OK(nri_resources_add_device_rule(r, true, "c", NULL, &i, "r"));
    assert_int_equal(nri_resources_builder_message(&edited.resources)->n_devices, MANY);
    for (int round = 0; round < 2; round++)
        OK(nri_resources_add_device_rule(r, false, "c", NULL, NULL, "r"));
    for (int64_t i = 0; i < MANY; i++)
        OK(nri_resources_add_device_rule(r, true, "c", NULL, &i, "r"));
    assert_int_equal(nri_resources_builder_message(&edited.resources)->n_devices, 2 * MANY + 1);
}

/* The same in a short list: behind the opposite it is needed. */
static void test_adopted_rule_behind_the_opposite(void **state)
{
    struct edited edited;
    const resources_message *from = sample(*state);
    open_edited(*state, &edited);
    nri_resources *r = nri_resources_builder_adopt(&edited.resources, from);
    OK(nri_resources_add_device_rule(r, true, "c", NULL, NULL, "r"));
    OK(nri_resources_add_device_rule(r, false, "c", NULL, NULL, "r"));
    assert_int_equal(nri_resources_builder_message(&edited.resources)->n_devices, 4);
}

static void test_nothing_is_there_until_it_is_set(void **state)
{
    struct edited edited;
    const resources_message empty = NRI__PKG__API__V1ALPHA1__LINUX_RESOURCES__INIT;
    open_edited(*state, &edited);
    assert_null(nri_resources_builder_message(&edited.resources));
    nri_resources *r = nri_resources_builder_edit(&edited.resources);
    assert_null(nri_resources_builder_message(&edited.resources));
    assert_int_equal(nri_resources_set_pids_limit(r, 0), NRI_E_RANGE);
    assert_null(nri_resources_builder_message(&edited.resources));
    OK(nri_resources_set_memory_use_hierarchy(r, false));
    assert_ptr_equal(nri_resources_builder_message(&edited.resources), r);
    open_edited(*state, &edited);
    assert_non_null(nri_resources_builder_adopt(&edited.resources, &empty));
    assert_non_null(nri_resources_builder_message(&edited.resources));
}

/* After the reply, and where the event allows none. */
static void test_blocked_and_sealed(void **state)
{
    struct fixture *fixture = *state;
    nri_adjustment *a = fixture_make(fixture);
    nri_resources *r = nri_adjustment_edit_resources(a);
    assert_non_null(r);
    nri_adjustment_seal(a);
    assert_int_equal(nri_resources_set_unified(r, "memory.high", "1"), NRI_E_STATE);
    assert_int_equal(nri_resources_set_hugepage_limit(r, "2MB", 1), NRI_E_STATE);
    assert_int_equal(nri_resources_add_device_rule(r, true, "a", NULL, NULL, "r"), NRI_E_STATE);
    assert_int_equal(nri_resources_set_rdt_class(r, ""), NRI_E_STATE);
    assert_int_equal(nri_resources_set_pids_limit(r, 1), NRI_E_STATE);
    assert_int_equal(nri_resources_set_memory_use_hierarchy(r, true), NRI_E_STATE);
    assert_null(nri_adjustment_edit_resources(a));
    assert_null(nri_adjustment_message(a));
    a = nri_adjustment_make(&fixture->arena, fixture_seed, NRI_E_EVENT, "no adjustment here");
    assert_null(nri_adjustment_edit_resources(a));
    assert_int_equal(nri_adjustment_error(a), NRI_E_EVENT);
    assert_string_equal(nri_adjustment_error_text(a), "no adjustment here");
}

/* ---- memory that ends ---- */

#define STEPS 50

static int step(nri_resources *r, int number)
{
    char key[16];
    const int64_t minor = number;
    fixture_page_size(key, number / 8);
    switch (number % 8) {
    case 0:
        return nri_resources_set_unified(r, key, "value");
    case 1:
        return nri_resources_set_hugepage_limit(r, key, 1);
    case 2:
        return nri_resources_add_device_rule(r, true, "c", &minor, &minor, "rw");
    case 3:
        return nri_resources_set_blockio_class(r, key);
    case 4:
        return nri_resources_set_memory_swappiness(r, 1);
    case 5:
        return nri_resources_set_memory_disable_oom_killer(r, true);
    case 6:
        return nri_resources_set_memory_kernel_tcp(r, 1);
    default:
        return nri_resources_set_pids_limit(r, 1);
    }
}

static int long_step(nri_resources *r, int number)
{
    char key[16];
    const int64_t minor = number / 3;
    if (number < STEPS)
        return step(r, number);
    snprintf(key, sizeof key, "key.%d", number);
    if (number % 3 == 0)
        return nri_resources_set_unified(r, key, "value");
    fixture_page_size(key, number / 3 % FIXTURE_PAGE_SIZES);
    return number % 3 == 1 ? nri_resources_set_hugepage_limit(r, key, 1)
                           : nri_resources_add_device_rule(r, true, "b", NULL, &minor, "rw");
}

/* Returns how many calls failed with `expected`, and checks that none of them changed anything. */
static int run(struct edited *edited, nri_resources *r, int expected, bool again)
{
    static struct bytes before, after;
    int failures = 0;
    for (int number = 0; number < 4 * STEPS; number++) {
        encode(edited, &before);
        int code = long_step(r, number);
        if (code == 0)
            continue;
        failures++;
        assert_int_equal(code, expected);
        encode(edited, &after);
        check_same(&before, &after);
        if (again)
            assert_int_equal(long_step(r, number), 0);
    }
    return failures;
}

static void test_each_allocation(void **state)
{
    struct fixture *fixture = *state;
    struct nri_alloc alloc = fail_alloc_resolved(&fixture->memory);
    static struct bytes whole, partly;
    bool fired = true;
    size_t n = 0;
    for (; fired; n++) {
        struct nri_arena arena;
        struct edited edited;
        nri_arena_init(&arena, &alloc, 1, SIZE_MAX); /* every piece is an allocation */
        fail_alloc_arm(&fixture->memory, n);
        nri_builder_init(&edited.builder, &arena, fixture_seed, 0, NULL);
        edited.resources = (struct nri_resources_builder){.builder = &edited.builder};
        int failures = 0;
        nri_resources *r = nri_resources_builder_edit(&edited.resources);
        if (r == NULL) {
            failures++;
            assert_string_equal(edited.builder.error.text, "resources: out of memory");
            r = nri_resources_builder_edit(&edited.resources);
        }
        assert_non_null(r);
        failures += run(&edited, r, NRI_E_NOMEM, true);
        fired = n == 0 || fixture->memory.fired;
        assert_int_equal(failures, fixture->memory.fired ? 1 : 0);
        encode(&edited, n == 0 ? &whole : &partly);
        if (n > 0)
            check_same(&whole, &partly);
        nri_arena_fini(&arena);
    }
    assert_true(n > 4 * STEPS);
    print_message("%zu points of failure\n", n - 2);
}

/* What cannot be adopted is as if it had not been tried. */
static void test_each_allocation_of_adopting(void **state)
{
    struct fixture *fixture = *state;
    struct nri_alloc alloc = fail_alloc_resolved(&fixture->memory);
    static struct bytes before, after;
    const resources_message *from = sample(fixture);
    bool fired = true;
    size_t n = 0;
    encode_message(from, &before);
    while (fired) {
        struct nri_arena arena;
        struct edited edited;
        nri_arena_init(&arena, &alloc, 1, SIZE_MAX);
        nri_builder_init(&edited.builder, &arena, fixture_seed, 0, NULL);
        edited.resources = (struct nri_resources_builder){.builder = &edited.builder};
        fail_alloc_arm(&fixture->memory, ++n);
        nri_resources *r = nri_resources_builder_adopt(&edited.resources, from);
        fired = fixture->memory.fired;
        assert_int_equal(r == NULL, fired);
        assert_int_equal(edited.builder.error.code, fired ? NRI_E_NOMEM : 0);
        if (fired) {
            assert_string_equal(edited.builder.error.text, "resources: out of memory");
            assert_null(nri_resources_builder_message(&edited.resources));
            r = nri_resources_builder_adopt(&edited.resources, from);
        }
        assert_ptr_equal(nri_resources_builder_message(&edited.resources), r);
        encode(&edited, &after);
        check_same(&before, &after);
        OK(nri_resources_set_memory_limit(r, 1));
        encode_message(from, &after);
        check_same(&before, &after);
        nri_arena_fini(&arena);
    }
    assert_true(n > 3);
    print_message("%zu points of failure\n", n - 1);
}

static void test_each_limit(void **state)
{
    struct fixture *fixture = *state;
    struct nri_alloc alloc = fail_alloc_resolved(&fixture->memory);
    int failures = 1;
    size_t limit = 2048, runs = 0;
    for (; failures > 0; limit += 512, runs++) {
        struct nri_arena arena;
        struct edited edited;
        nri_arena_init(&arena, &alloc, 64, limit);
        nri_builder_init(&edited.builder, &arena, fixture_seed, 0, NULL);
        edited.resources = (struct nri_resources_builder){.builder = &edited.builder};
        nri_resources *r = nri_resources_builder_edit(&edited.resources);
        assert_non_null(r);
        failures = run(&edited, r, NRI_E_LIMIT, false);
        assert_true(arena.taken <= limit);
        if (failures > 0)
            assert_non_null(
                strstr(edited.builder.error.text, ": does not fit into the memory limit of "));
        nri_arena_fini(&arena);
    }
    assert_true(runs > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_adopt),
        WITH_FIXTURE(test_adopt_many_rules),
        WITH_FIXTURE(test_adopted_rules_again),
        WITH_FIXTURE(test_adopted_rule_behind_the_opposite),
        WITH_FIXTURE(test_nothing_is_there_until_it_is_set),
        WITH_FIXTURE(test_blocked_and_sealed),
        WITH_FIXTURE(test_each_allocation),
        WITH_FIXTURE(test_each_allocation_of_adopting),
        WITH_FIXTURE(test_each_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
