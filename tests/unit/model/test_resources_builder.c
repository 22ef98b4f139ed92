/* SPDX-License-Identifier: Apache-2.0 */
/* Resources that are set: the values and lists that test_limits.c has not. */
#include <stdio.h>

#include "refusal.h"
#include "wire/message.h"

#define MANY 50000

typedef Nri__Pkg__Api__V1alpha1__LinuxResources resources_message;
typedef Nri__Pkg__Api__V1alpha1__LinuxDeviceCgroup rule_message;

/* What a runtime gets. */
static const resources_message *sent(struct fixture *fixture, const nri_adjustment *adjustment)
{
    const adjustment_message *message = fixture_adjustment(fixture, adjustment);
    assert_non_null(message->linux);
    assert_non_null(message->linux->resources);
    return message->linux->resources;
}

static void test_memory(void **state)
{
    static const int64_t bytes[] = {-1, 0, 1, INT64_MAX};
    static const uint64_t swappiness[] = {0, 60, 100};
    nri_adjustment *a = fixture_make(*state);
    for (size_t i = 0; i < 4; i++) {
        OK(nri_adjustment_set_memory_kernel(a, bytes[i]));
        OK(nri_adjustment_set_memory_kernel_tcp(a, bytes[3 - i]));
        const resources_message *message = sent(*state, a);
        assert_true(message->memory->kernel->value == bytes[i]);
        assert_true(message->memory->kernel_tcp->value == bytes[3 - i]);
        assert_null(message->cpu);
    }
    for (size_t i = 0; i < 3; i++) {
        OK(nri_adjustment_set_memory_swappiness(a, swappiness[i]));
        assert_true(sent(*state, a)->memory->swappiness->value == swappiness[i]);
    }
    for (int on = 1; on >= 0; on--) {
        OK(nri_adjustment_set_memory_disable_oom_killer(a, on));
        OK(nri_adjustment_set_memory_use_hierarchy(a, !on));
        const resources_message *message = sent(*state, a);
        assert_int_equal(message->memory->disable_oom_killer->value, on);
        assert_int_equal(message->memory->use_hierarchy->value, !on);
    }
    assert_null(sent(*state, a)->memory->limit);
}

static void test_pids(void **state)
{
    static const int64_t limits[] = {1, 100, INT64_MAX, -1};
    nri_adjustment *a = fixture_make(*state);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        int64_t limit = 0;
        OK(nri_adjustment_set_pids_limit(a, limits[i]));
        const resources_message *message = sent(*state, a);
        assert_true(nri_resources_pids_limit(nri_resources_view(message), &limit));
        assert_true(limit == limits[i]);
        assert_null(message->memory);
        assert_null(message->cpu);
    }
}

/* S48: the empty class clears, no class keeps: presence is on the wire. */
static void test_S48_an_empty_class_is_sent(void **state)
{
    uint8_t bytes[16];
    size_t size;
    nri_adjustment *a = fixture_make(*state);
    OK(nri_adjustment_set_blockio_class(a, ""));
    const adjustment_message *whole = nri_adjustment_message(a);
    assert_int_equal(nri_message_size(&whole->linux->resources->base, &size, NULL), 0);
    assert_int_equal(size, 2);
    nri_message_encode(&whole->linux->resources->base, bytes);
    assert_int_equal(bytes[0], 0x22);
    assert_int_equal(bytes[1], 0x00);
    const nri_resources *read = nri_resources_view(sent(*state, a));
    const char *name = "x";
    assert_true(nri_resources_blockio_class(read, &name));
    assert_string_equal(name, "");
    assert_false(nri_resources_rdt_class(read, NULL));
    a = fixture_make(*state);
    OK(nri_adjustment_set_rdt_class(a, "gold"));
    OK(nri_adjustment_set_rdt_class(a, "silver"));
    read = nri_resources_view(sent(*state, a));
    assert_true(nri_resources_rdt_class(read, &name));
    assert_string_equal(name, "silver");
    assert_false(nri_resources_blockio_class(read, NULL));
    OK(nri_adjustment_set_rdt_class(a, ""));
    assert_true(nri_resources_rdt_class(nri_resources_view(sent(*state, a)), &name));
    assert_string_equal(name, "");
}

/* S46: each page size once, the last value. */
static void test_S46_hugepage_limits(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    OK(nri_adjustment_set_hugepage_limit(a, "2MB", 10));
    OK(nri_adjustment_set_hugepage_limit(a, "1GB", UINT64_MAX));
    OK(nri_adjustment_set_hugepage_limit(a, "2MB", 20));
    const resources_message *message = sent(*state, a);
    assert_int_equal(message->n_hugepage_limits, 2);
    assert_string_equal(message->hugepage_limits[0]->page_size, "2MB");
    assert_int_equal(message->hugepage_limits[0]->limit, 20);
    assert_string_equal(message->hugepage_limits[1]->page_size, "1GB");
    assert_true(message->hugepage_limits[1]->limit == UINT64_MAX);
    OK(nri_adjustment_set_hugepage_limit(a, "64KB", 0));
    assert_int_equal(sent(*state, a)->n_hugepage_limits, 3);
}

/* All that the kernel can have, each on its own. */
static void test_every_page_size(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    char size[8];
    for (int i = 0; i < FIXTURE_PAGE_SIZES; i++) {
        fixture_page_size(size, i);
        OK(nri_adjustment_set_hugepage_limit(a, size, 1));
        const resources_message *message = sent(*state, a);
        assert_int_equal(message->n_hugepage_limits, i + 1);
        assert_string_equal(message->hugepage_limits[i]->page_size, size);
    }
    assert_string_equal(size, "512GB");
}

/* S12: every key of the map gets through. */
static void test_S12_unified(void **state)
{
    const char *value;
    nri_adjustment *a = fixture_make(*state);
    OK(nri_adjustment_set_unified(a, "memory.high", "1"));
    OK(nri_adjustment_set_unified(a, "io.weight", "2"));
    OK(nri_adjustment_set_unified(a, "memory.high", "max"));
    OK(nri_adjustment_set_unified(a, "-x", "")); /* no key of this map is a removal marker */
    const nri_resources *read = nri_resources_view(sent(*state, a));
    assert_int_equal(nri_resources_unified_count(read), 3);
    assert_true(nri_resources_unified(read, "memory.high", &value));
    assert_string_equal(value, "max");
    assert_true(nri_resources_unified(read, "io.weight", &value));
    assert_string_equal(value, "2");
    assert_true(nri_resources_unified(read, "-x", &value));
    assert_string_equal(value, "");
}

/* ---- device rules ---- */

static void check_rule(const rule_message *rule, bool allow, const char *type, int64_t major,
                       int64_t minor, const char *access)
{
    assert_int_equal(rule->allow, allow);
    assert_string_equal(rule->type, type);
    assert_int_equal(rule->major != NULL ? rule->major->value : -1, major);
    assert_int_equal(rule->minor != NULL ? rule->minor->value : -1, minor);
    assert_string_equal(rule->access, access);
}

/* S13: in the order of the calls; a number that was not given is not sent, and 0 is. */
static void test_S13_device_rules(void **state)
{
    const int64_t gpu = 195, zero = 0, most = INT64_MAX;
    nri_adjustment *a = fixture_make(*state);
    OK(nri_adjustment_add_device_rule(a, false, "a", NULL, NULL, "rwm"));
    OK(nri_adjustment_add_device_rule(a, true, "c", &gpu, NULL, "rwm"));
    OK(nri_adjustment_add_device_rule(a, true, "b", &zero, &zero, "m"));
    OK(nri_adjustment_add_device_rule(a, true, "c", NULL, &most, "wr"));
    const resources_message *message = sent(*state, a);
    assert_int_equal(message->n_devices, 4);
    check_rule(message->devices[0], false, "a", -1, -1, "rwm");
    check_rule(message->devices[1], true, "c", 195, -1, "rwm");
    check_rule(message->devices[2], true, "b", 0, 0, "m");
    check_rule(message->devices[3], true, "c", -1, INT64_MAX, "wr");
}

/* Each differs from the first in one thing, so that nothing is left out of the comparison. */
static int add_other(nri_adjustment *a, int which)
{
    const int64_t one = 1, zero = 0;
    switch (which) {
    case 0:
        return nri_adjustment_add_device_rule(a, true, "c", &zero, &zero, "r");
    case 1:
        return nri_adjustment_add_device_rule(a, false, "c", &zero, &zero, "r");
    case 2:
        return nri_adjustment_add_device_rule(a, true, "b", &zero, &zero, "r");
    case 3:
        return nri_adjustment_add_device_rule(a, true, "c", &one, &zero, "r");
    case 4:
        return nri_adjustment_add_device_rule(a, true, "c", &zero, &one, "r");
    case 5:
        return nri_adjustment_add_device_rule(a, true, "c", NULL, &zero, "r");
    case 6:
        return nri_adjustment_add_device_rule(a, true, "c", &zero, NULL, "r");
    default:
        return nri_adjustment_add_device_rule(a, true, "c", &zero, &zero, "rw");
    }
}

static void add_all_that_allow(nri_adjustment *a)
{
    for (int which = 0; which < 8; which++)
        if (which != 1)
            OK(add_other(a, which));
}

/* In a short list and in one that has a hash. */
static void test_a_rule_that_changes_nothing(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    for (int round = 0; round < 3; round++) {
        add_all_that_allow(a);
        assert_int_equal(sent(*state, a)->n_devices, 7);
    }
    for (int64_t minor = 100; minor < 130; minor++)
        OK(nri_adjustment_add_device_rule(a, true, "c", NULL, &minor, "r"));
    add_all_that_allow(a);
    for (int64_t minor = 100; minor < 130; minor++)
        OK(nri_adjustment_add_device_rule(a, true, "c", NULL, &minor, "r"));
    assert_int_equal(sent(*state, a)->n_devices, 37);
}

/* One between which does the opposite, so that the same one behind it counts again; in a short list
 * and in one that has a hash. */
static void test_the_same_rule_behind_the_opposite(void **state)
{
    const int64_t one = 1;
    nri_adjustment *a = fixture_make(*state);
    size_t count = 0;
    for (int round = 0; round < 30; round++) {
        for (int again = 0; again < 2; again++) /* the second time changes nothing */
            OK(nri_adjustment_add_device_rule(a, true, "c", &one, &one, "rwm"));
        assert_int_equal(sent(*state, a)->n_devices, ++count);
        check_rule(sent(*state, a)->devices[count - 1], true, "c", 1, 1, "rwm");
        for (int again = 0; again < 2; again++)
            OK(nri_adjustment_add_device_rule(a, false, "a", NULL, NULL, "rwm"));
        assert_int_equal(sent(*state, a)->n_devices, ++count);
        check_rule(sent(*state, a)->devices[count - 1], false, "a", -1, -1, "rwm");
    }
}

/* What a merge of JSON adds stands as it stood there. */
static void test_rules_of_json_keep_their_order(void **state)
{
    static const char json[] =
        "{\"linux\":{\"resources\":{\"devices\":["
        "{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":3,\"access\":\"rwm\"},"
        "{\"type\":\"a\",\"access\":\"rwm\"},"
        "{\"allow\":true,\"type\":\"c\",\"major\":1,\"minor\":3,\"access\":\"rwm\"}]}}}";
    nri_adjustment *a = fixture_make(*state);
    char *text;
    OK(nri_adjustment_merge_json(a, json, strlen(json), NULL, NULL));
    OK(nri_adjustment_to_json(a, NULL, &text, NULL, NULL));
    assert_string_equal(text, json);
    (void)nri_json_free(text);
}

/* A step for each earlier entry would be some 10^9 steps for each list. */
static void test_many(void **state)
{
    char key[32], value[32];
    const char *read;
    nri_adjustment *a = fixture_make(*state);
    for (int round = 0; round < 2; round++) {
        for (int64_t i = 0; i < MANY; i++) {
            snprintf(key, sizeof key, "key.%d", (int)i);
            snprintf(value, sizeof value, "%d", (int)i + round);
            OK(nri_adjustment_set_unified(a, key, value));
            OK(nri_adjustment_add_device_rule(a, true, "c", &i, NULL, "r"));
            fixture_page_size(key, (int)(i % FIXTURE_PAGE_SIZES));
            OK(nri_adjustment_set_hugepage_limit(a, key, (uint64_t)round));
        }
    }
    const resources_message *message = sent(*state, a);
    assert_int_equal(message->n_unified, MANY);
    assert_int_equal(message->n_devices, MANY);
    assert_int_equal(message->n_hugepage_limits, FIXTURE_PAGE_SIZES);
    assert_int_equal(message->hugepage_limits[FIXTURE_PAGE_SIZES - 1]->limit, 1);
    assert_int_equal(message->devices[MANY - 1]->major->value, MANY - 1);
    assert_true(nri_resources_unified(nri_resources_view(message), "key.49999", &read));
    assert_string_equal(read, "50000");
}

/* ---- refusals ---- */

static void test_refused_numbers(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, nri_adjustment_set_memory_kernel(a, -2), NRI_E_RANGE,
            "memory kernel -2: must be 0 bytes or more, or -1 for none");
    REFUSED(a, nri_adjustment_set_memory_kernel_tcp(a, INT64_MIN), NRI_E_RANGE,
            "memory kernel tcp -9223372036854775808: must be 0 bytes or more, or -1 for none");
    REFUSED(a, nri_adjustment_set_memory_swappiness(a, 101), NRI_E_RANGE,
            "memory swappiness 101: must be 0 to 100");
    REFUSED(a, nri_adjustment_set_pids_limit(a, 0), NRI_E_RANGE,
            "pids limit 0: must be 1 or more, or -1 for none");
    REFUSED(a, nri_adjustment_set_pids_limit(a, -2), NRI_E_RANGE,
            "pids limit -2: must be 1 or more, or -1 for none");
}

static void test_refused_texts(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    REFUSED(a, nri_adjustment_set_blockio_class(a, NULL), NRI_E_INVALID,
            "blockio class NULL: must be a text");
    REFUSED(a, nri_adjustment_set_blockio_class(a, "a\xff"), NRI_E_UTF8,
            "blockio class \"a\\xff\": must be UTF-8; the byte at offset 1 is not");
    REFUSED(a, nri_adjustment_set_rdt_class(a, NULL), NRI_E_INVALID,
            "rdt class NULL: must be a text");
    REFUSED(a, nri_adjustment_set_rdt_class(a, "\xff"), NRI_E_UTF8,
            "rdt class \"\\xff\": must be UTF-8; the byte at offset 0 is not");
    REFUSED(a, nri_adjustment_set_unified(a, NULL, "1"), NRI_E_INVALID,
            "unified key NULL: must be a text");
    REFUSED(a, nri_adjustment_set_unified(a, "", "1"), NRI_E_INVALID,
            "unified key \"\": must not be empty");
    REFUSED(a, nri_adjustment_set_unified(a, "\xff", "1"), NRI_E_UTF8,
            "unified key \"\\xff\": must be UTF-8; the byte at offset 0 is not");
    REFUSED(a, nri_adjustment_set_unified(a, "../memory.max", "1"), NRI_E_INVALID,
            "unified key \"../memory.max\": must be the name of a cgroup file, without \"/\"");
    REFUSED(a, nri_adjustment_set_unified(a, "memory.high", NULL), NRI_E_INVALID,
            "unified \"memory.high\" value NULL: must be a text");
    REFUSED(a, nri_adjustment_set_unified(a, "memory.high", "1\xff"), NRI_E_UTF8,
            "unified \"memory.high\" value \"1\\xff\": must be UTF-8; the byte at offset 1 is not");
}

static void refuse_page_size(nri_adjustment *a, const char *size)
{
    char text[192];
    snprintf(text, sizeof text,
             "hugepage size \"%s\": must be a power of two below 1024 and \"KB\", \"MB\" or "
             "\"GB\", as the kernel writes it, such as \"2MB\"",
             size);
    REFUSED(a, nri_adjustment_set_hugepage_limit(a, size, 1), NRI_E_INVALID, text);
}

static void test_refused_page_sizes(void **state)
{
    static const char *const forms[] = {"2",   "MB",   "2M",   "2MBx", "2mb", "2kB",  "02MB", "0KB",
                                        "2TB", "-2MB", " 2MB", "2 MB", "2B",  "2MiB", "0x2MB"};
    static const unsigned numbers[] = {3, 6, 511, 513, 1000, 1023, 1024, 2048, 8192, 4294967295u};
    nri_adjustment *a = fixture_make(*state);
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++)
        refuse_page_size(a, forms[i]);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        char size[16];
        snprintf(size, sizeof size, "%u%s", numbers[i], i % 2 == 0 ? "KB" : "GB");
        refuse_page_size(a, size);
    }
    /* 2 and a multiple of 2 to the power of 32 and of 64: an overflow would make them good. */
    refuse_page_size(a, "4294967298MB");
    refuse_page_size(a, "18446744073709551618MB");
    refuse_page_size(a, "100000000000000000000000000000000000000002MB");
    REFUSED(a, nri_adjustment_set_hugepage_limit(a, NULL, 1), NRI_E_INVALID,
            "hugepage size NULL: must be a text");
    REFUSED(a, nri_adjustment_set_hugepage_limit(a, "", 1), NRI_E_INVALID,
            "hugepage size \"\": must not be empty");
    REFUSED(a, nri_adjustment_set_hugepage_limit(a, "2\xff", 1), NRI_E_UTF8,
            "hugepage size \"2\\xff\": must be UTF-8; the byte at offset 1 is not");
}

static void test_refused_rules(void **state)
{
    static const char *const bad_types[] = {"u", "p", "cb", "C"};
    static const char *const bad_access[] = {"x", "rr", "rwmr", "rw ", "R"};
    const int64_t below = -1;
    char text[128];
    nri_adjustment *a = fixture_make(*state);
    for (size_t i = 0; i < sizeof bad_types / sizeof bad_types[0]; i++) {
        snprintf(text, sizeof text, "device rule type \"%s\": must be \"a\" (all), \"c\" or \"b\"",
                 bad_types[i]);
        REFUSED(a, nri_adjustment_add_device_rule(a, true, bad_types[i], NULL, NULL, "r"),
                NRI_E_INVALID, text);
    }
    for (size_t i = 0; i < sizeof bad_access / sizeof bad_access[0]; i++) {
        snprintf(text, sizeof text,
                 "device rule access \"%s\": must be letters of \"rwm\", each once", bad_access[i]);
        REFUSED(a, nri_adjustment_add_device_rule(a, true, "c", NULL, NULL, bad_access[i]),
                NRI_E_INVALID, text);
    }
    REFUSED(a, nri_adjustment_add_device_rule(a, true, NULL, NULL, NULL, "r"), NRI_E_INVALID,
            "device rule type NULL: must be a text");
    REFUSED(a, nri_adjustment_add_device_rule(a, true, "", NULL, NULL, "r"), NRI_E_INVALID,
            "device rule type \"\": must not be empty");
    REFUSED(a, nri_adjustment_add_device_rule(a, true, "c", NULL, NULL, NULL), NRI_E_INVALID,
            "device rule access NULL: must be a text");
    REFUSED(a, nri_adjustment_add_device_rule(a, true, "c", NULL, NULL, ""), NRI_E_INVALID,
            "device rule access \"\": must not be empty");
    REFUSED(a, nri_adjustment_add_device_rule(a, true, "c", &below, NULL, "r"), NRI_E_RANGE,
            "device rule major -1: must be 0 or more; NULL is for all");
    REFUSED(a, nri_adjustment_add_device_rule(a, true, "c", NULL, &below, "r"), NRI_E_RANGE,
            "device rule minor -1: must be 0 or more; NULL is for all");
}

/* A failed call among good ones changes none of them. */
static void test_what_was_set_stays(void **state)
{
    nri_adjustment *a = fixture_make(*state);
    OK(nri_adjustment_set_blockio_class(a, "slow"));
    OK(nri_adjustment_set_pids_limit(a, 5));
    OK(nri_adjustment_set_hugepage_limit(a, "2MB", 1));
    assert_int_equal(nri_adjustment_set_blockio_class(a, "\xff"), NRI_E_UTF8);
    assert_int_equal(nri_adjustment_set_pids_limit(a, 0), NRI_E_RANGE);
    assert_int_equal(nri_adjustment_set_hugepage_limit(a, "2M", 2), NRI_E_INVALID);
    assert_int_equal(nri_adjustment_error(a), NRI_E_UTF8);
    const resources_message *message = sent(*state, a);
    assert_string_equal(message->blockio_class->value, "slow");
    assert_int_equal(message->pids->limit, 5);
    assert_int_equal(message->n_hugepage_limits, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(test_memory),
        WITH_FIXTURE(test_pids),
        WITH_FIXTURE(test_S48_an_empty_class_is_sent),
        WITH_FIXTURE(test_S46_hugepage_limits),
        WITH_FIXTURE(test_every_page_size),
        WITH_FIXTURE(test_S12_unified),
        WITH_FIXTURE(test_S13_device_rules),
        WITH_FIXTURE(test_a_rule_that_changes_nothing),
        WITH_FIXTURE(test_the_same_rule_behind_the_opposite),
        WITH_FIXTURE(test_rules_of_json_keep_their_order),
        WITH_FIXTURE(test_many),
        WITH_FIXTURE(test_refused_numbers),
        WITH_FIXTURE(test_refused_texts),
        WITH_FIXTURE(test_refused_page_sizes),
        WITH_FIXTURE(test_refused_rules),
        WITH_FIXTURE(test_what_was_set_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
