/* SPDX-License-Identifier: Apache-2.0 */
/* What nri_plugin_new() makes of options and environment. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"

/* Options as a program would give them that leaves everything to the environment. */
static struct nri_plugin_options plain_options(struct fixture *fixture, const char *program)
{
    struct nri_plugin_options options = fixture_options(fixture);
    options.name = options.index = NULL;
    options.program = program;
    options.ignore_environment = 0;
    return options;
}

static void set_environment(const char *name, const char *index, const char *socket)
{
    const char *const variables[] = {"NRI_PLUGIN_NAME", "NRI_PLUGIN_IDX", "NRI_PLUGIN_SOCKET"};
    const char *const values[] = {name, index, socket};
    for (size_t i = 0; i < 3; i++) {
        if (values[i] != NULL)
            (void)setenv(variables[i], values[i], 1);
        else
            (void)unsetenv(variables[i]);
    }
}

static void check_identity(const struct nri_plugin_options *options, const char *index,
                           const char *name)
{
    struct witness witness = {0};
    nri_plugin *plugin = witness_plugin(&witness, options);
    assert_string_equal(nri_plugin_index(plugin), index);
    assert_string_equal(nri_plugin_name(plugin), name);
    assert_ptr_equal(nri_plugin_user(plugin), &witness);
    nri_plugin_close(plugin, NULL, NULL);
}

/* No plugin, this code, and each of the words in the text. */
static void check_refused(const struct nri_plugin_options *options, int code, const char *word,
                          const char *other)
{
    struct nri_plugin_ops ops = witness_ops();
    nri_plugin *plugin = NULL;
    nri_error *error = NULL;
    int rc = nri_plugin_new(&plugin, &ops, options, NULL, &error);
    const char *text = nri_error_get_text(error);
    if (rc != code || plugin != NULL || strstr(text, word) == NULL || strstr(text, other) == NULL)
        fail_msg("%s: \"%s\"; expected %s, \"%s\" and \"%s\"", nri_error_name(rc), text,
                 nri_error_name(code), word, other);
    assert_int_equal(nri_error_get_code(error), code);
    nri_error_free(error);
    /* Nobody has to ask for the text. */
    assert_int_equal(nri_plugin_new(&plugin, &ops, options, NULL, NULL), code);
}

static void test_U04_identity_by_options_environment_program(void **state)
{
    struct fixture *fixture = *state;
    struct nri_plugin_options options = plain_options(fixture, "/usr/bin/10-foo");
    set_environment(NULL, NULL, NULL);
    check_identity(&options, "10", "foo");
    set_environment("env", "30", NULL);
    check_identity(&options, "30", "env");
    options.name = "bar";
    options.index = "20";
    check_identity(&options, "20", "bar");
    /* Each of the two by itself. */
    options.index = NULL;
    check_identity(&options, "30", "bar");
    set_environment(NULL, NULL, NULL);
    check_identity(&options, "10", "bar");
    set_environment("", "", "");
    check_identity(&options, "10", "bar");
    set_environment("env", "30", NULL);
    options.name = NULL;
    options.ignore_environment = 1;
    check_identity(&options, "10", "foo");
    set_environment(NULL, NULL, NULL);
}

static void test_U04_program_without_an_index(void **state)
{
    struct fixture *fixture = *state;
    struct nri_plugin_options options = plain_options(fixture, "./foo");
    set_environment(NULL, NULL, NULL);
    check_refused(&options, NRI_E_INVALID, "index", "10-foo");
    options.index = "15";
    check_identity(&options, "15", "foo");
    /* This program's own name has none either. */
    options = plain_options(fixture, NULL);
    check_refused(&options, NRI_E_INVALID, "index", "test_io_settings");
}

static void test_wrong_identity_is_refused_before_connecting(void **state)
{
    struct fixture *fixture = *state;
    static const char *const indexes[] = {"", "1", "100", "a1", "1a", "-1", " 1"};
    static const char *const names[] = {"", "a/b", "a b", "\xc3\xa4", "a,b"};
    struct nri_plugin_options options = fixture_options(fixture);
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++) {
        options.index = indexes[i];
        check_refused(&options, NRI_E_INVALID, "options.index: plugin index", indexes[i]);
    }
    options.index = "99";
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        options.name = names[i];
        check_refused(&options, NRI_E_INVALID, "options.name: plugin name", "");
    }
    set_environment("a/b", "5", NULL);
    options = plain_options(fixture, "10-foo");
    check_refused(&options, NRI_E_INVALID, "NRI_PLUGIN_IDX: plugin index", "\"5\"");
    set_environment("a/b", "05", NULL);
    check_refused(&options, NRI_E_INVALID, "NRI_PLUGIN_NAME: plugin name", "\"a/b\"");
    set_environment(NULL, NULL, NULL);
    options = plain_options(fixture, "10-foo bar");
    check_refused(&options, NRI_E_INVALID, "the program's name: plugin name", "\"foo bar\"");
}

/* ---- the socket of the environment ---- */

static void test_socket_of_the_environment_is_used(void **state)
{
    struct fixture *fixture = *state;
    struct witness witness = {0};
    struct nri_plugin_options options = plain_options(fixture, "10-test");
    int pair[2];
    char text[16];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    (void)snprintf(text, sizeof text, "%d", pair[0]);
    set_environment(NULL, NULL, text);
    options.socket_path = "/nonexistent/nri.sock"; /* the environment comes first */
    nri_plugin *plugin = witness_plugin(&witness, &options);
    assert_true(fcntl(pair[0], F_GETFD) & FD_CLOEXEC);

    /* A second plugin of the program must not take the same descriptor: it would be closed twice.
     */
    check_refused(&options, NRI_E_INVALID, text, "another plugin");

    struct runtime runtime = {.fd = pair[1], .last = RUNTIME_CREATE, .hang_up = true};
    runtime_start(&runtime);
    assert_int_equal(nri_plugin_run(plugin), NRI_E_CLOSED);
    assert_true(runtime_join(&runtime));
    assert_int_equal(witness.count[NRI_EVENT_CREATE_CONTAINER], 1);
    nri_plugin_close(plugin, NULL, NULL);
    check_refused(&options, NRI_E_NOT_SOCKET, text, "not open");
    set_environment(NULL, NULL, NULL);
}

static void test_given_descriptor_comes_before_the_environment(void **state)
{
    struct fixture *fixture = *state;
    struct witness witness = {0};
    struct nri_plugin_options options = plain_options(fixture, "10-test");
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    set_environment(NULL, NULL, "no number");
    options.fd = pair[0];
    options.use_fd = 1;
    nri_plugin_close(witness_plugin(&witness, &options), NULL, NULL);
    (void)close(pair[1]);
    /* And the path before it, when the environment is to be ignored. */
    options = plain_options(fixture, "10-test");
    options.ignore_environment = 1;
    nri_plugin_close(witness_plugin(&witness, &options), NULL, NULL);
    set_environment(NULL, NULL, NULL);
}

static void test_garbage_in_the_environment_is_refused(void **state)
{
    struct fixture *fixture = *state;
    static const char *const garbage[] = {
        "x", "3x", "-1", "+3", " 3", "3 ", "0x3", "3.0", "99999999999999999999", "2147483648"};
    struct nri_plugin_options options = plain_options(fixture, "10-test");
    for (size_t i = 0; i < sizeof garbage / sizeof garbage[0]; i++) {
        set_environment(NULL, NULL, garbage[i]);
        check_refused(&options, NRI_E_INVALID, "NRI_PLUGIN_SOCKET", garbage[i]);
    }
    char text[16];
    int file = open("/dev/null", O_RDONLY);
    (void)snprintf(text, sizeof text, "%d", file);
    set_environment(NULL, NULL, text);
    check_refused(&options, NRI_E_NOT_SOCKET, "NRI_PLUGIN_SOCKET", "not a socket");
    (void)close(file);
    check_refused(&options, NRI_E_NOT_SOCKET, "NRI_PLUGIN_SOCKET", "not open");
    set_environment(NULL, NULL, NULL);
}

/* ---- limits and switches ---- */

struct limit_case {
    const char *name;
    size_t offset, size;
    uint64_t low, high; /* the nearest values out of range; 0: none that can be written */
    uint64_t good;
};
#define CASE(member, low, high, good)                                                              \
    {                                                                                              \
#member, offsetof(struct nri_plugin_options, member),                                      \
            sizeof(((struct nri_plugin_options *)0)->member), low, high, good                      \
    }

static const struct limit_case limit_cases[] = {
    CASE(max_in_flight, 0, 65537, 1),
    CASE(max_sync_parts, 0, 0, 1),
    CASE(max_pending_calls, 0, 121, 120),
    CASE(registration_timeout_ms, 0, 86400001, 1),
    CASE(call_timeout_ms, 0, 86400001, 1),
    CASE(max_receive_bytes, 1023, 1073741825, 1024),
    CASE(max_send_bytes, 1023, 16777217, 16777216),
    CASE(request_memory_bytes, 4095, 1073741825, 4096),
    CASE(max_queued_bytes, 1023, 1073741825, 1024),
    CASE(max_output_bytes, 2047, 1073741825, 1073741824),
    CASE(max_sync_bytes, 1023, 1073741825, 1024),
    CASE(max_request_bytes, 1023, 1073741825, 1024),
    CASE(dispatch, 0, 3, 2),
    CASE(deadline_margin_percent, 0, 91, 90),
    CASE(deadline_margin_ms, 0, 60001, 60000),
    CASE(slow_percent, 0, 101, 100),
    CASE(offload_threads, 0, 65, 64),
    CASE(stop_grace_ms, 0, 60001, 60000),
    CASE(max_queued_updates, 0, 4097, 4096),
    CASE(reconnect_min_ms, 0, 86400001, 86400000),
    CASE(reconnect_max_ms, 0, 86400001, 1),
    CASE(reconnect_reset_ms, 0, 86400001, 1),
    CASE(log_level, 0, 5, 4),
};

static void set_option(struct nri_plugin_options *options, const struct limit_case *limit,
                       uint64_t value)
{
    uint32_t narrow = (uint32_t)value;
    if (limit->size == sizeof narrow)
        memcpy((char *)options + limit->offset, &narrow, sizeof narrow);
    else
        memcpy((char *)options + limit->offset, &value, sizeof value);
}

static void test_every_limit_has_a_range(void **state)
{
    struct fixture *fixture = *state;
    struct witness witness = {0};
    for (size_t i = 0; i < sizeof limit_cases / sizeof limit_cases[0]; i++) {
        const struct limit_case *limit = &limit_cases[i];
        struct nri_plugin_options options = fixture_options(fixture);
        char number[32];
        set_option(&options, limit, limit->good);
        nri_plugin_close(witness_plugin(&witness, &options), NULL, NULL);
        for (int side = 0; side < 2; side++) {
            uint64_t bad = side == 0 ? limit->low : limit->high;
            if (bad == 0)
                continue;
            (void)snprintf(number, sizeof number, "%llu", (unsigned long long)bad);
            set_option(&options, limit, bad);
            check_refused(&options, NRI_E_RANGE, limit->name, number);
        }
    }
}

static void test_output_must_hold_the_largest_message(void **state)
{
    struct fixture *fixture = *state;
    struct nri_plugin_options options = fixture_options(fixture);
    options.max_output_bytes = 1048576;
    check_refused(&options, NRI_E_RANGE, "max_output_bytes", "max_send_bytes");
}

static void test_structures_are_checked(void **state)
{
    struct fixture *fixture = *state;
    struct nri_plugin_options options = fixture_options(fixture);
    options.reserved[6] = 1;
    check_refused(&options, NRI_E_ABI, "nri_plugin_options", "reserved");
    options = fixture_options(fixture);
    options.size = 0;
    check_refused(&options, NRI_E_ABI, "nri_plugin_options", "size");

    struct nri_plugin_ops ops = witness_ops();
    nri_plugin *plugin = NULL;
    options = fixture_options(fixture);
    assert_int_equal(nri_plugin_new(NULL, &ops, &options, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_plugin_new(&plugin, NULL, &options, NULL, NULL), NRI_E_INVALID);
    ops.reserved[0] = ops.on_configure;
    assert_int_equal(nri_plugin_new(&plugin, &ops, &options, NULL, NULL), NRI_E_ABI);
    nri_plugin_ops_init(&ops, sizeof ops - 1);
    assert_int_equal(nri_plugin_new(&plugin, &ops, &options, NULL, NULL), NRI_E_ABI);
    nri_plugin_ops_init(&ops, sizeof ops);
    assert_int_equal(nri_plugin_new(&plugin, &ops, &options, NULL, NULL), NRI_E_INVALID);
    assert_null(plugin);

    struct nri_allocator half = fixture->allocator;
    half.resize = NULL;
    options.allocator = &half;
    check_refused(&options, NRI_E_INVALID, "allocator", "three");
}

static void test_allocators_get_everything_back(void **state)
{
    struct fixture *fixture = *state;
    struct witness witness = {0};
    struct nri_plugin_options options = fixture_options(fixture);
    nri_plugin *plugin = witness_plugin(&witness, &options);
    assert_true(fixture->heap.live_blocks > 0);
    nri_plugin_close(plugin, NULL, NULL);
    assert_int_equal(fixture->heap.live_blocks, 0);
    /* And none at all is the C library's. */
    options.allocator = NULL;
    nri_plugin_close(witness_plugin(&witness, &options), NULL, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_U04_identity_by_options_environment_program),
        TEST(test_U04_program_without_an_index),
        TEST(test_wrong_identity_is_refused_before_connecting),
        TEST(test_socket_of_the_environment_is_used),
        TEST(test_given_descriptor_comes_before_the_environment),
        TEST(test_garbage_in_the_environment_is_refused),
        TEST(test_every_limit_has_a_range),
        TEST(test_output_must_hold_the_largest_message),
        TEST(test_structures_are_checked),
        TEST(test_allocators_get_everything_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
