/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every allocation of a plugin's life fails once: from nri_plugin_new() over a session on a real
 * socket to the close, however it is driven. Whatever fails, the end has a name, on_disconnected
 * comes as often as on_connected, and nothing is left.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"

/* Everything that takes memory in lib/io at once: a call, a posted function, a request that is
 * completed later. */
static void complete(nri_plugin *plugin, void *user)
{
    struct witness *witness = user;
    (void)plugin;
    atomic_fetch_add(&witness->posted, 1);
    if (witness->held == NULL)
        return;
    (void)nri_adjustment_add_env(nri_request_adjustment(witness->held), "KEY", "value");
    (void)nri_request_complete(witness->held, 0);
    witness->held = nri_request_unref(witness->held);
}

static int hold_and_post(nri_request *request, struct witness *witness)
{
    (void)witness_update(witness, witness->plugin);
    int rc = nri_plugin_post(witness->plugin, complete, witness);
    if (rc != 0)
        return rc;
    witness->held = request;
    return NRI_PENDING;
}

static void write_session(int fd)
{
    struct peer_bytes bytes = {0};
    peer_bytes_answer(&bytes, 1, NULL);
    peer_bytes_call(&bytes, 1, "Configure", NULL);
    peer_bytes_call(&bytes, 3, "Synchronize", NULL);
    peer_bytes_call(&bytes, 5, "CreateContainer", NULL);
    peer_bytes_call(&bytes, 7, "Shutdown", NULL);
    assert_int_equal(write(fd, bytes.data, bytes.size), bytes.size);
    peer_bytes_free(&bytes);
    assert_int_equal(shutdown(fd, SHUT_WR), 0);
}

static bool is_named_end(int code)
{
    return code == NRI_E_NOMEM || code == NRI_E_CLOSED || code == NRI_E_REJECTED ||
           code == NRI_E_LIMIT;
}

static int new_and_run(struct fixture *fixture, enum drive drive, struct witness *witness, int fd)
{
    struct nri_plugin_options options = fixture_options(fixture);
    struct nri_plugin_ops ops = witness_ops();
    nri_plugin *plugin = NULL;
    nri_error *error = NULL;
    options.fd = fd;
    options.use_fd = 1;
    int rc = nri_plugin_new(&plugin, &ops, &options, witness, &error);
    if (rc != 0) {
        assert_int_equal(rc, NRI_E_NOMEM);
        assert_null(plugin);
        assert_int_equal(nri_error_get_code(error), NRI_E_NOMEM);
        nri_error_free(error);
        (void)close(fd); /* still ours */
        return rc;
    }
    witness->plugin = plugin;
    rc = drive_to_end(drive, plugin, witness);
    nri_plugin_close(plugin, witness_closed, witness);
    assert_int_equal(witness->closed, 1);
    return rc;
}

static size_t sweep(struct fixture *fixture, enum drive drive)
{
    for (size_t n = 1;; n++) {
        struct witness witness = {.act_in = NRI_EVENT_CREATE_CONTAINER, .act = hold_and_post};
        int pair[2];
        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
        write_session(pair[1]);
        fail_alloc_arm(&fixture->heap, n);
        int rc = new_and_run(fixture, drive, &witness, pair[0]);
        bool fired = fixture->heap.fired;
        fail_alloc_arm(&fixture->heap, 0);
        (void)close(pair[1]);
        if (!is_named_end(rc))
            fail_msg("allocation %zu fails: %s", n, nri_error_name(rc));
        assert_int_equal(witness.count[NRI_EVENT_CONNECTED], witness.count[NRI_EVENT_DISCONNECTED]);
        assert_null(witness.held);
        assert_int_equal(fixture->heap.live_blocks, 0);
        if (!fired) {
            assert_int_equal(rc, NRI_E_CLOSED);
            assert_int_equal(witness.posted, 1);
            assert_int_equal(witness.updated, 1);
            assert_int_equal(witness.count[NRI_EVENT_SHUTDOWN], 1);
            return n - 1;
        }
    }
}

static void test_every_allocation_fails_once(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        size_t points = sweep(*state, drive);
        assert_true(points > 10);
        print_message("%zu allocations failed one by one\n", points);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_every_allocation_fails_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
