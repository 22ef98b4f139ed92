/* SPDX-License-Identifier: Apache-2.0 */
/* What an update sets: each wrapper sets its own value, errors say whose update it is, and random
 * calls come out of the readers as a plain model of them says. */
#include <stdio.h>

#include "refusal.h"

#define ROUNDS 300
#define CALLS  60

static nri_updates *make_updates(struct fixture *fixture)
{
    nri_updates *updates = nri_updates_make(&fixture->arena, fixture_seed, true, 0, NULL);
    assert_non_null(updates);
    return updates;
}

/* The only update, through the wire. */
static const Nri__Pkg__Api__V1alpha1__LinuxResources *sent(struct fixture *fixture,
                                                           const nri_updates *updates)
{
    update_message **list;
    assert_int_equal(nri_updates_messages(updates, &list), 1);
    const update_message *message = fixture_round_trip(fixture, list[0]);
    assert_string_equal(message->container_id, "c1");
    assert_non_null(message->linux);
    assert_non_null(message->linux->resources);
    return message->linux->resources;
}

/* S11: only what is set is there. */
static void test_S11_shares_alone(void **state)
{
    nri_updates *updates = make_updates(*state);
    uint64_t shares;
    OK(nri_update_set_cpu_shares(nri_updates_container(updates, "c1"), 512));
    const Nri__Pkg__Api__V1alpha1__LinuxResources *message = sent(*state, updates);
    assert_null(message->memory);
    assert_null(message->pids);
    assert_null(message->blockio_class);
    assert_null(message->rdt_class);
    assert_int_equal(message->n_unified + message->n_hugepage_limits + message->n_devices, 0);
    assert_true(nri_resources_cpu_shares(nri_resources_view(message), &shares));
    assert_int_equal(shares, 512);
    assert_false(nri_resources_memory_limit(nri_resources_view(message), NULL));
}

static void test_each_wrapper(void **state)
{
    const int64_t major = 1, minor = 3;
    nri_updates *updates = make_updates(*state);
    nri_update *u = nri_updates_container(updates, "c1");
    OK(nri_update_set_memory_kernel(u, 11));
    OK(nri_update_set_memory_kernel_tcp(u, 12));
    OK(nri_update_set_memory_swappiness(u, 13));
    OK(nri_update_set_memory_disable_oom_killer(u, true));
    OK(nri_update_set_memory_use_hierarchy(u, true));
    OK(nri_update_set_hugepage_limit(u, "2MB", 14));
    OK(nri_update_set_blockio_class(u, "slow"));
    OK(nri_update_set_rdt_class(u, "gold"));
    OK(nri_update_set_unified(u, "memory.high", "15"));
    OK(nri_update_set_pids_limit(u, 16));
    OK(nri_update_add_device_rule(u, true, "c", &major, &minor, "rw"));
    const Nri__Pkg__Api__V1alpha1__LinuxResources *message = sent(*state, updates);
    assert_int_equal(message->memory->kernel->value, 11);
    assert_int_equal(message->memory->kernel_tcp->value, 12);
    assert_int_equal(message->memory->swappiness->value, 13);
    assert_true(message->memory->disable_oom_killer->value);
    assert_true(message->memory->use_hierarchy->value);
    assert_int_equal(message->hugepage_limits[0]->limit, 14);
    assert_string_equal(message->blockio_class->value, "slow");
    assert_string_equal(message->rdt_class->value, "gold");
    assert_string_equal(message->unified[0]->value, "15");
    assert_int_equal(message->pids->limit, 16);
    assert_int_equal(message->devices[0]->minor->value, 3);
    assert_null(message->cpu);
    nri_resources *r = nri_update_edit_resources(u);
    assert_non_null(r);
    OK(nri_resources_set_cpu_quota(r, 5000));
    assert_int_equal(sent(*state, updates)->cpu->quota->value, 5000);
}

#define REFUSED_UPDATE(updates, call, expected, text)                                              \
    do {                                                                                           \
        nri_updates_clear_error(updates);                                                          \
        assert_int_equal(call, expected);                                                          \
        assert_int_equal(nri_updates_error(updates), expected);                                    \
        assert_string_equal(nri_updates_error_text(updates), text);                                \
        assert_int_equal(nri_updates_count(updates), 0);                                           \
    } while (0)

static void test_refusals_name_the_container(void **state)
{
    const int64_t below = -1;
    nri_updates *l = make_updates(*state);
    nri_update *u = nri_updates_container(l, "c1");
    REFUSED_UPDATE(l, nri_update_set_memory_kernel(u, -2), NRI_E_RANGE,
                   "update \"c1\": memory kernel -2: must be 0 bytes or more, or -1 for none");
    REFUSED_UPDATE(l, nri_update_set_memory_kernel_tcp(u, -2), NRI_E_RANGE,
                   "update \"c1\": memory kernel tcp -2: must be 0 bytes or more, or -1 for none");
    REFUSED_UPDATE(l, nri_update_set_memory_swappiness(u, 101), NRI_E_RANGE,
                   "update \"c1\": memory swappiness 101: must be 0 to 100");
    REFUSED_UPDATE(l, nri_update_set_pids_limit(u, 0), NRI_E_RANGE,
                   "update \"c1\": pids limit 0: must be 1 or more, or -1 for none");
    REFUSED_UPDATE(l, nri_update_set_blockio_class(u, NULL), NRI_E_INVALID,
                   "update \"c1\": blockio class NULL: must be a text");
    REFUSED_UPDATE(l, nri_update_set_rdt_class(u, NULL), NRI_E_INVALID,
                   "update \"c1\": rdt class NULL: must be a text");
    REFUSED_UPDATE(l, nri_update_set_hugepage_limit(u, "2M", 1), NRI_E_INVALID,
                   "update \"c1\": hugepage size \"2M\": must be a power of two below 1024 and "
                   "\"KB\", \"MB\" or \"GB\", as the kernel writes it, such as \"2MB\"");
    REFUSED_UPDATE(l, nri_update_set_unified(u, "a/b", "1"), NRI_E_INVALID,
                   "update \"c1\": unified key \"a/b\": must be the name of a cgroup file, "
                   "without \"/\"");
    REFUSED_UPDATE(l, nri_update_set_unified(u, "a", NULL), NRI_E_INVALID,
                   "update \"c1\": unified \"a\" value NULL: must be a text");
    REFUSED_UPDATE(l, nri_update_add_device_rule(u, true, "c", &below, NULL, "r"), NRI_E_RANGE,
                   "update \"c1\": device rule major -1: must be 0 or more; NULL is for all");
}

/* Two long texts of the caller's fit into the error, whole characters of them. */
static void test_long_texts(void **state)
{
    char id[200], key[200], expected[400];
    nri_updates *updates = make_updates(*state);
    memset(id, 'i', sizeof id);
    memset(key, 'k', sizeof key);
    id[sizeof id - 1] = key[sizeof key - 1] = '\0';
    nri_update *u = nri_updates_container(updates, id);
    assert_int_equal(nri_update_set_unified(u, key, NULL), NRI_E_INVALID);
    snprintf(expected, sizeof expected,
             "update \"%.80s...\": unified \"%.80s...\" value NULL: must be a text", id, key);
    assert_string_equal(nri_updates_error_text(updates), expected);
}

static int try_all(nri_update *u)
{
    const int codes[] = {
        nri_update_set_memory_kernel(u, 1),
        nri_update_set_memory_kernel_tcp(u, 1),
        nri_update_set_memory_swappiness(u, 1),
        nri_update_set_memory_disable_oom_killer(u, true),
        nri_update_set_memory_use_hierarchy(u, true),
        nri_update_set_hugepage_limit(u, "2MB", 1),
        nri_update_set_blockio_class(u, ""),
        nri_update_set_rdt_class(u, ""),
        nri_update_set_unified(u, "a", "b"),
        nri_update_set_pids_limit(u, 1),
        nri_update_add_device_rule(u, true, "a", NULL, NULL, "r"),
    };
    for (size_t i = 1; i < sizeof codes / sizeof codes[0]; i++)
        assert_int_equal(codes[i], codes[0]);
    assert_null(nri_update_edit_resources(u));
    return codes[0];
}

static void test_an_update_that_cannot_change(void **state)
{
    struct fixture *fixture = *state;
    nri_updates *updates = make_updates(fixture);
    nri_update *u = nri_updates_container(updates, "c1");
    assert_int_equal(try_all(nri_updates_container(updates, "")), NRI_E_INVALID);
    assert_int_equal(nri_updates_count(updates), 0);
    nri_updates_seal(updates);
    assert_int_equal(try_all(u), NRI_E_STATE);
    updates = nri_updates_make(&fixture->arena, fixture_seed, true, NRI_E_EVENT, "no updates");
    assert_int_equal(try_all(nri_updates_container(updates, "c1")), NRI_E_EVENT);
    assert_int_equal(try_all(nri_updates_container(NULL, "c1")), NRI_E_INVALID);
    assert_int_equal(try_all(NULL), NRI_E_INVALID);
}

/* ---- random calls ---- */

static uint32_t next(uint32_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 17;
    *seed ^= *seed << 5;
    return *seed;
}

/* A table of all single numbers: every one of them fits all of these ranges. */
struct unsigned_kind {
    int (*set)(nri_update *, uint64_t);
    bool (*get)(const nri_resources *, uint64_t *);
    uint64_t least, most;
};

struct signed_kind {
    int (*set)(nri_update *, int64_t);
    bool (*get)(const nri_resources *, int64_t *);
    int64_t least;
    bool none;
};

#define KIND(name) nri_update_set_##name, nri_resources_##name

static const struct unsigned_kind unsigned_kinds[] = {
    {KIND(cpu_shares), 2, 262144},
    {KIND(cpu_period), 1000, 1000000},
    {KIND(cpu_realtime_period), 1, UINT64_MAX},
    {KIND(memory_swappiness), 0, 100},
};

static const struct signed_kind signed_kinds[] = {
    {KIND(cpu_quota), 1000, true},      {KIND(cpu_realtime_runtime), 0, true},
    {KIND(memory_limit), 0, true},      {KIND(memory_reservation), 0, false},
    {KIND(memory_swap), 0, true},       {KIND(memory_kernel), 0, true},
    {KIND(memory_kernel_tcp), 0, true}, {KIND(pids_limit), 1, true},
};

#define UNSIGNED  (sizeof unsigned_kinds / sizeof unsigned_kinds[0])
#define SIGNED    (sizeof signed_kinds / sizeof signed_kinds[0])
#define TEXTS     FIXTURE_PAGE_SIZES /* keys and page sizes: more than are searched without a hash */
#define RULES     60
#define NOT_THERE UINT32_MAX

/* What was set, in the plainest way. */
struct model {
    bool has_unsigned[UNSIGNED], has_signed[SIGNED];
    uint64_t unsigned_value[UNSIGNED];
    int64_t signed_value[SIGNED];
    bool has_class[2], has_flag[2], flag[2];
    uint32_t class_number[2];
    uint32_t unified[TEXTS], pages[TEXTS];
    uint32_t rules[4 * CALLS];
    size_t rule_count;
};

static void name_of(char out[16], uint32_t number)
{
    if (number == 0)
        out[0] = '\0';
    else
        snprintf(out, 16, "n%u", (unsigned)number);
}

static void set_numbers(nri_update *u, struct model *model, uint32_t *seed)
{
    static const int64_t interesting[] = {-2, -1, 0, 1, 100, 1000, 262144, 1000000, INT64_MAX};
    const int64_t value = interesting[next(seed) % 9];
    size_t i = next(seed) % (UNSIGNED + SIGNED);
    if (i < UNSIGNED) {
        const struct unsigned_kind *kind = &unsigned_kinds[i];
        const uint64_t natural = (uint64_t)value;
        bool fits = natural >= kind->least && natural <= kind->most;
        assert_int_equal(kind->set(u, natural), fits ? 0 : NRI_E_RANGE);
        model->unsigned_value[i] = fits ? natural : model->unsigned_value[i];
        model->has_unsigned[i] |= fits;
        return;
    }
    i -= UNSIGNED;
    const struct signed_kind *kind = &signed_kinds[i];
    bool fits = value >= kind->least || (kind->none && value == -1);
    assert_int_equal(kind->set(u, value), fits ? 0 : NRI_E_RANGE);
    model->signed_value[i] = fits ? value : model->signed_value[i];
    model->has_signed[i] |= fits;
}

static void set_text(nri_update *u, struct model *model, uint32_t *seed)
{
    char text[16], value[16];
    const uint32_t i = next(seed) % TEXTS, number = next(seed) % 5;
    name_of(value, number);
    switch (next(seed) % 4) {
    case 0:
        OK(number % 2 == 0 ? nri_update_set_blockio_class(u, value)
                           : nri_update_set_rdt_class(u, value));
        model->has_class[number % 2] = true;
        model->class_number[number % 2] = number;
        break;
    case 1:
        OK(i % 2 == 0 ? nri_update_set_memory_disable_oom_killer(u, number % 2)
                      : nri_update_set_memory_use_hierarchy(u, number % 2));
        model->has_flag[i % 2] = true;
        model->flag[i % 2] = number % 2;
        break;
    case 2:
        snprintf(text, sizeof text, "key.%u", (unsigned)i);
        OK(nri_update_set_unified(u, text, value));
        model->unified[i] = number;
        break;
    default:
        fixture_page_size(text, (int)i);
        OK(nri_update_set_hugepage_limit(u, text, number));
        model->pages[i] = number;
    }
}

/* A rule is a number, and its parts are the number's digits. */
static void add_rule(nri_update *u, struct model *model, uint32_t *seed)
{
    static const char *const types[] = {"a", "b", "c"}, *const access[] = {"r", "rw", "wr", "rwm"};
    const uint32_t rule = next(seed) % RULES;
    const int64_t major = rule % 5, minor = rule % 3;
    bool known = false;
    OK(nri_update_add_device_rule(u, rule % 2 == 0, types[rule % 3], rule % 5 == 4 ? NULL : &major,
                                  rule % 4 == 3 ? NULL : &minor, access[rule % 4]));
    for (size_t i = model->rule_count; i-- > 0 && model->rules[i] % 2 == rule % 2;)
        known |= model->rules[i] == rule; /* none behind it does the opposite */
    if (!known)
        model->rules[model->rule_count++] = rule;
}

static void check_numbers(const nri_resources *r, const struct model *model)
{
    for (size_t i = 0; i < UNSIGNED; i++) {
        uint64_t value = 77;
        assert_int_equal(unsigned_kinds[i].get(r, &value), model->has_unsigned[i]);
        assert_true(value == model->unsigned_value[i]);
    }
    for (size_t i = 0; i < SIGNED; i++) {
        int64_t value = 77;
        assert_int_equal(signed_kinds[i].get(r, &value), model->has_signed[i]);
        assert_true(value == model->signed_value[i]);
    }
}

static void check_texts(const nri_resources *r, const struct model *model)
{
    char name[16];
    const char *text;
    bool flag;
    size_t unified = 0, pages = 0;
    uint64_t bytes;
    name_of(name, model->class_number[0]);
    assert_int_equal(nri_resources_blockio_class(r, &text), model->has_class[0]);
    assert_string_equal(text, name);
    name_of(name, model->class_number[1]);
    assert_int_equal(nri_resources_rdt_class(r, &text), model->has_class[1]);
    assert_string_equal(text, name);
    assert_int_equal(nri_resources_memory_disable_oom_killer(r, &flag), model->has_flag[0]);
    assert_int_equal(flag, model->flag[0]);
    assert_int_equal(nri_resources_memory_use_hierarchy(r, &flag), model->has_flag[1]);
    assert_int_equal(flag, model->flag[1]);
    for (uint32_t i = 0; i < TEXTS; i++) {
        char key[16];
        snprintf(key, sizeof key, "key.%u", (unsigned)i);
        assert_int_equal(nri_resources_unified(r, key, &text), model->unified[i] != NOT_THERE);
        name_of(name, model->unified[i] != NOT_THERE ? model->unified[i] : 0);
        assert_string_equal(text, name);
        unified += model->unified[i] != NOT_THERE;
        fixture_page_size(key, (int)i);
        assert_int_equal(nri_resources_hugepage_limit(r, key, &bytes),
                         model->pages[i] != NOT_THERE);
        assert_int_equal(bytes, model->pages[i] != NOT_THERE ? model->pages[i] : 0);
        pages += model->pages[i] != NOT_THERE;
    }
    assert_int_equal(nri_resources_unified_count(r), unified);
    assert_int_equal(nri_resources_hugepage_limit_count(r), pages);
}

static void check_rules(const nri_resources *r, const struct model *model)
{
    assert_int_equal(nri_resources_device_rule_count(r), model->rule_count);
    for (size_t i = 0; i < model->rule_count; i++) {
        const nri_device_rule *rule = nri_resources_device_rule_at(r, i);
        const uint32_t number = model->rules[i];
        int64_t major, minor;
        assert_int_equal(nri_device_rule_allow(rule), number % 2 == 0);
        assert_int_equal(nri_device_rule_type(rule)[0], "abc"[number % 3]);
        assert_int_equal(nri_device_rule_major(rule, &major), number % 5 != 4);
        assert_int_equal(major, number % 5 != 4 ? number % 5 : 0);
        assert_int_equal(nri_device_rule_minor(rule, &minor), number % 4 != 3);
        assert_int_equal(minor, number % 4 != 3 ? number % 3 : 0);
        assert_int_equal(strlen(nri_device_rule_access(rule)), "1223"[number % 4] - '0');
    }
}

static void test_random_calls(void **state)
{
    for (uint32_t round = 1; round <= ROUNDS; round++) {
        struct model model = {.rule_count = 0};
        uint32_t seed = round * UINT32_C(2654435761);
        nri_updates *updates = make_updates(*state);
        nri_update *u = nri_updates_container(updates, "c1");
        memset(model.unified, 0xff, sizeof model.unified);
        memset(model.pages, 0xff, sizeof model.pages);
        OK(nri_update_set_cpu_shares(u, 2));
        model.has_unsigned[0] = true;
        model.unsigned_value[0] = 2;
        for (uint32_t i = next(&seed) % (4 * CALLS); i > 0; i--) {
            switch (next(&seed) % 3) {
            case 0:
                set_numbers(u, &model, &seed);
                break;
            case 1:
                set_text(u, &model, &seed);
                break;
            default:
                add_rule(u, &model, &seed);
            }
        }
        const nri_resources *r = nri_resources_view(sent(*state, updates));
        check_numbers(r, &model);
        check_texts(r, &model);
        check_rules(r, &model);
        /* What was not sent yet reads the same. */
        check_texts(nri_update_resources(u), &model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_S11_shares_alone),
        WITH_FIXTURE(test_each_wrapper),
        WITH_FIXTURE(test_refusals_name_the_container),
        WITH_FIXTURE(test_long_texts),
        WITH_FIXTURE(test_an_update_that_cannot_change),
        WITH_FIXTURE(test_random_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
