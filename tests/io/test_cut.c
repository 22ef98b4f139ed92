/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The peer goes at any byte of a whole session, in either direction: one on_disconnected, an end
 * that is named, nothing left.
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <cmocka.h>

#include "fixture.h"

/* All that a runtime sends in a session, written ahead of time: the plugin's first stream is 1. */
static void record_session(struct peer_bytes *bytes)
{
    Nri__Pkg__Api__V1alpha1__ConfigureRequest configure =
        NRI__PKG__API__V1ALPHA1__CONFIGURE_REQUEST__INIT;
    Nri__Pkg__Api__V1alpha1__RunPodSandboxRequest run =
        NRI__PKG__API__V1ALPHA1__RUN_POD_SANDBOX_REQUEST__INIT;
    Nri__Pkg__Api__V1alpha1__CreateContainerRequest create =
        NRI__PKG__API__V1ALPHA1__CREATE_CONTAINER_REQUEST__INIT;
    peer_pod pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
    peer_container container = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    configure.runtime_name = (char *)"peer";
    configure.nri_version = (char *)"v0.12.2";
    pod.id = (char *)"pod1";
    container.id = (char *)"ctr1";
    container.pod_sandbox_id = (char *)"pod1";
    run.pod = create.pod = &pod;
    create.container = &container;
    peer_bytes_answer(bytes, 1, NULL);
    peer_bytes_call(bytes, 1, "Configure", &configure.base);
    peer_bytes_call(bytes, 3, "Synchronize", NULL);
    peer_bytes_call(bytes, 5, "RunPodSandbox", &run.base);
    peer_bytes_call(bytes, 7, "CreateContainer", &create.base);
    peer_bytes_call(bytes, 9, "Shutdown", NULL);
}

struct cut {
    size_t send;    /* bytes that the peer sends */
    size_t receive; /* and receives, before it goes; more than there are: all */
    bool early;     /* it goes before the plugin has read any */
};

static void turn_until_quiet(nri_plugin *plugin)
{
    struct pollfd ready = {.fd = nri_plugin_fd(plugin), .events = POLLIN};
    while (poll(&ready, 1, 0) == 1)
        assert_int_equal(nri_plugin_dispatch(plugin), 1);
}

static void check_cut(struct fixture *fixture, const struct peer_bytes *session,
                      const struct cut *cut, struct witness *witness)
{
    struct nri_plugin_options options = fixture_options(fixture);
    struct peer peer;
    struct peer_bytes received = {0};
    peer_init(&peer, fixture_pair(&options));
    nri_plugin *plugin = witness_plugin(witness, &options);
    assert_int_equal(nri_plugin_start(plugin, NULL, witness_ended, witness), 0);
    assert_true(peer_write(&peer, session->data, cut->send));
    if (!cut->early)
        turn_until_quiet(plugin);
    peer_take(&peer, cut->receive, &received);
    peer_bytes_free(&received);
    peer_close(&peer);
    while (drive_turn(plugin) == 1)
        continue;
    assert_int_equal(witness->ended, 1);
    assert_int_equal(witness->result, NRI_E_CLOSED);
    assert_int_equal(witness->reason, NRI_E_CLOSED);
    assert_non_null(strstr(witness->reason_text, "descriptor"));
    assert_int_equal(witness->count[NRI_EVENT_CONNECTED], 1);
    assert_int_equal(witness->count[NRI_EVENT_DISCONNECTED], 1);
    nri_plugin_close(plugin, witness_closed, witness);
    assert_int_equal(witness->closed, 1);
    assert_int_equal(fixture->heap.live_blocks, 0);
}

static void check_whole(const struct witness *witness)
{
    assert_int_equal(witness->count[NRI_EVENT_CONFIGURE], 1);
    assert_int_equal(witness->count[NRI_EVENT_SYNCHRONIZE], 1);
    assert_int_equal(witness->count[NRI_EVENT_RUN_POD_SANDBOX], 1);
    assert_int_equal(witness->count[NRI_EVENT_CREATE_CONTAINER], 1);
    assert_int_equal(witness->count[NRI_EVENT_SHUTDOWN], 1);
}

static void check_every_offset(struct fixture *fixture, bool early)
{
    struct peer_bytes session = {0};
    int configured = 0, middles = 0;
    record_session(&session);
    for (size_t send = 0; send <= session.size; send++) {
        struct cut cut = {.send = send, .receive = SIZE_MAX, .early = early};
        struct witness witness = {0};
        check_cut(fixture, &session, &cut, &witness);
        /* What came whole was handled, though the peer was gone before it was read. */
        assert_true(witness.count[NRI_EVENT_CONFIGURE] >= configured);
        configured = witness.count[NRI_EVENT_CONFIGURE];
        middles += strstr(witness.reason_text, "in the middle") != NULL;
        if (send == session.size)
            check_whole(&witness);
    }
    assert_true(configured == 1 && middles > 100);
    peer_bytes_free(&session);
}

static void test_T29_peer_goes_after_any_byte_it_sent(void **state)
{
    check_every_offset(*state, false);
}

static void test_peer_had_gone_before_it_was_read(void **state)
{
    check_every_offset(*state, true);
}

/* What it has not received makes the kernel report a reset. */
static void test_peer_goes_after_any_byte_it_received(void **state)
{
    struct peer_bytes session = {0};
    record_session(&session);
    for (size_t count = 0; count <= 400; count++) {
        struct cut cut = {.send = session.size, .receive = count};
        struct witness witness = {0};
        check_cut(*state, &session, &cut, &witness);
        check_whole(&witness);
    }
    peer_bytes_free(&session);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_T29_peer_goes_after_any_byte_it_sent),
        TEST(test_peer_had_gone_before_it_was_read),
        TEST(test_peer_goes_after_any_byte_it_received),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
