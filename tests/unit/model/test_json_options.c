/* SPDX-License-Identifier: Apache-2.0 */
/* nri_json_options: defaults, sized-structure rules, each limit; results that carry their
 * allocator. */
#include <stdio.h>

#include "fixture.h"
#include "model/json_options.h"

/* What a newer libnri's structure might be. */
struct larger {
    struct nri_json_options options;
    uint64_t more[2];
};

static void refused(const struct nri_json_options *options, int code, const char *text)
{
    struct nri_json_settings settings;
    struct nri_error error = {0};
    assert_int_equal(nri_json_options_take(options, &settings, &error), code);
    assert_int_equal(error.code, code);
    assert_string_equal(error.text, text);
    assert_int_equal(nri_json_options_resolve(options, &settings), code);
    /* Errors are made with it. */
    void *block = nri_alloc_raw(&settings.alloc, 8);
    assert_non_null(block);
    nri_alloc_release(&settings.alloc, block);
}

static void check_defaults(const struct nri_json_options *options)
{
    struct nri_json_settings settings;
    assert_int_equal(nri_json_options_resolve(options, &settings), 0);
    assert_string_equal(settings.name, "JSON");
    assert_int_equal(settings.max_bytes, 16 * 1024 * 1024);
    assert_int_equal(settings.max_depth, 64);
    assert_int_equal(settings.max_values, 1000000);
    assert_int_equal(settings.indent, 0);
}

static void test_defaults(void **state)
{
    (void)state;
    struct nri_json_options options;
    memset(&options, 0x5a, sizeof options);
    nri_json_options_init(&options, sizeof options);
    assert_int_equal(options.size, sizeof options);
    check_defaults(&options);
    check_defaults(NULL);
    nri_json_options_init(NULL, sizeof options);
}

static void test_what_is_given_is_taken(void **state)
{
    (void)state;
    struct fail_alloc memory;
    struct nri_allocator allocator;
    struct nri_json_settings settings;
    fail_alloc_init(&memory, &allocator);
    const struct nri_json_options options = {.size = sizeof options,
                                             .allocator = &allocator,
                                             .name = "a file",
                                             .max_bytes = 1,
                                             .max_depth = 64,
                                             .max_values = 3,
                                             .indent = 16};
    assert_int_equal(nri_json_options_resolve(&options, &settings), 0);
    assert_ptr_equal(settings.alloc.user, allocator.user);
    assert_ptr_equal(settings.alloc.allocate, allocator.allocate);
    assert_string_equal(settings.name, "a file");
    assert_int_equal(settings.max_bytes, 1);
    assert_int_equal(settings.max_depth, 64);
    assert_int_equal(settings.max_values, 3);
    assert_int_equal(settings.indent, 16);
    struct nri_json_limits limits = nri_json_settings_limits(&settings);
    assert_int_equal(limits.max_bytes, 1);
    assert_int_equal(limits.max_depth, 64);
    assert_int_equal(limits.max_values, 3);
}

static void test_sizes(void **state)
{
    (void)state;
    char text[512];
    struct larger larger = {.options = {.size = sizeof larger, .indent = 2}};
    struct nri_json_settings settings;
    assert_int_equal(nri_json_options_resolve(&larger.options, &settings), 0);
    assert_int_equal(settings.indent, 2);
    larger.more[1] = 1;
    snprintf(
        text, sizeof text,
        "struct nri_json_options: its size member is %zu, and this libnri knows %zu bytes of it "
        "and would ignore what is set behind them; use a newer libnri, or leave the new "
        "members zero",
        sizeof larger, sizeof larger.options);
    refused(&larger.options, NRI_E_ABI, text);
    larger.options.size = 0;
    snprintf(text, sizeof text,
             "struct nri_json_options: its size member is 0, at least %zu was expected; fill the "
             "structure with nri_json_options_init()",
             sizeof larger.options);
    refused(&larger.options, NRI_E_ABI, text);
}

static void test_each_rule(void **state)
{
    (void)state;
    struct nri_json_options options = {.size = sizeof options, .reserved = 7};
    refused(&options, NRI_E_ABI, "struct nri_json_options: its member reserved is 7 and must be 0");
    options = (struct nri_json_options){.size = sizeof options, .max_depth = 65};
    refused(&options, NRI_E_INVALID, "nri_json_options.max_depth 65: must be at most 64");
    options = (struct nri_json_options){.size = sizeof options, .indent = 17};
    refused(&options, NRI_E_INVALID, "nri_json_options.indent 17: must be at most 16");
    options = (struct nri_json_options){.size = sizeof options, .name = "\xff"};
    refused(&options, NRI_E_INVALID, "nri_json_options.name: must be UTF-8");
    struct fail_alloc memory;
    struct nri_allocator allocator;
    fail_alloc_init(&memory, &allocator);
    allocator.resize = NULL;
    options = (struct nri_json_options){.size = sizeof options, .allocator = &allocator};
    refused(&options, NRI_E_INVALID,
            "nri_json_options.allocator: must have all three functions, or none of them");
    allocator.size = 1;
    refused(&options, NRI_E_ABI,
            "nri_json_options.allocator: structure does not fit this version of libnri");
}

static void test_results_carry_their_allocator(void **state)
{
    (void)state;
    struct fail_alloc memory;
    struct nri_allocator allocator;
    struct nri_json_settings settings;
    struct nri_buf out;
    size_t length = 0;
    fail_alloc_init(&memory, &allocator);
    const struct nri_json_options options = {
        .size = sizeof options, .allocator = &allocator, .max_bytes = 5};
    assert_int_equal(nri_json_options_resolve(&options, &settings), 0);
    assert_int_equal(nri_json_result_begin(&settings, &out), 0);
    assert_int_equal(nri_buf_append(&out, "12345", 5), 0);
    assert_int_equal(nri_buf_append(&out, "6", 1), NRI_E_LIMIT);
    char *text = nri_json_result_end(&out, &length);
    assert_string_equal(text, "12345");
    assert_int_equal(length, 5);
    nri_buf_fini(&out);
    assert_int_equal(memory.live_blocks, 1);
    assert_null(nri_json_free(text));
    assert_int_equal(memory.live_blocks, 0);
    assert_null(nri_json_free(NULL));

    fail_alloc_arm(&memory, 1);
    assert_int_equal(nri_json_result_begin(&settings, &out), NRI_E_NOMEM);
    nri_buf_fini(&out);
    assert_int_equal(memory.live_blocks, 0);
}

static void test_no_overflow(void **state)
{
    (void)state;
    struct nri_json_settings settings;
    struct nri_buf out;
    const struct nri_json_options options = {
        .size = sizeof options, .max_bytes = SIZE_MAX, .max_values = SIZE_MAX};
    assert_int_equal(nri_json_options_resolve(&options, &settings), 0);
    assert_true(nri_json_settings_memory(&settings) >= SIZE_MAX / 4);
    assert_int_equal(nri_json_result_begin(&settings, &out), 0);
    char *text = nri_json_result_end(&out, NULL);
    assert_string_equal(text, "");
    nri_json_free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_what_is_given_is_taken),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_each_rule),
        cmocka_unit_test(test_results_carry_their_allocator),
        cmocka_unit_test(test_no_overflow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
