/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public bug reports (tests/cases.md) whose exact outcome belongs to no other file here: a stop
 * that races with the start, what an ordinary end leaves in the log, a plugin without reconnection
 * whose Synchronize fails, calls that must not connect.
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "story.h"

/* ---- T39: a start and a stop at the same time ---- */

#define RACES    2500   /* twice, by where handlers run: the case's 5000 */
#define LATEST   200000 /* ns after the start */
#define PROMPTLY 10000  /* ms; ten times what is meant */

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void *run_once(void *user)
{
    struct witness *witness = user;
    witness->result = nri_plugin_run(witness->plugin);
    return NULL;
}

static void race(struct witness *witness, uint64_t delay)
{
    pthread_t thread;
    witness->result = 1;
    assert_int_equal(pthread_create(&thread, NULL, run_once, witness), 0);
    const uint64_t began = now_ns();
    while (now_ns() - began < delay)
        (void)sched_yield();
    const uint64_t stopped = fixture_now_ms();
    nri_plugin_stop(witness->plugin);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(fixture_now_ms() - stopped < PROMPTLY);
    assert_int_equal(witness->result, 0);
}

/* Takes what has connected, so that the backlog never is full; returns how many. */
static int empty_backlog(int listener)
{
    int count = 0;
    for (;; count++) {
        const int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            return count;
        (void)close(fd);
    }
}

/* Nothing is left of any of them: the fixture counts descriptors and memory. */
static void test_T39_a_stop_at_any_moment_of_a_start(void **state)
{
    struct fixture *fixture = *state;
    uint32_t random = 2463534242;
    int connections = 0;
    /* Valgrind runs one thread at a time, and takes long to begin one. */
    const int races = getenv("NRI_TEST_VALGRIND") != NULL ? RACES / 50 : RACES;
    assert_int_equal(fcntl(fixture->listener, F_SETFL, O_NONBLOCK), 0);
    for (int worker = 0; worker < 2; worker++) {
        struct witness witness = {0};
        struct nri_plugin_options options = fixture_options(fixture);
        options.dispatch = worker ? NRI_DISPATCH_WORKER : NRI_DISPATCH_LOOP;
        options.reconnect = (uint8_t)worker;
        (void)witness_plugin(&witness, &options);
        const int fds = fixture_count_fds();
        for (int i = 0; i < races; i++) {
            random ^= random << 13; /* xorshift: the same delays each time */
            random ^= random >> 17;
            random ^= random << 5;
            race(&witness, random % LATEST);
            connections += empty_backlog(fixture->listener);
        }
        assert_int_equal(fixture_count_fds(), fds);
        assert_int_equal(witness.count[NRI_EVENT_CONNECTED], witness.count[NRI_EVENT_DISCONNECTED]);
        nri_plugin_close(witness.plugin, witness_closed, &witness);
        assert_int_equal(witness.closed, 1);
    }
    print_message("%d of %d starts came as far as a connection\n", connections, 2 * races);
    assert_true(connections > 0);
}

/* ---- T53: an ordinary end ---- */

struct ends {
    int alarming; /* warnings and errors */
    int ends, strangers;
};

static void count_ends(void *user, const nri_log_record *record)
{
    struct ends *ends = user;
    const enum nri_log_level level = nri_log_record_level(record);
    ends->alarming += level == NRI_LOG_WARN || level == NRI_LOG_ERROR;
    ends->ends += level == NRI_LOG_INFO && strstr(nri_log_record_text(record), "closed") != NULL;
    ends->strangers += strcmp(nri_log_record_plugin(record), "10-test") != 0;
}

static int stop_in_handler(nri_request *request, struct witness *witness)
{
    (void)witness;
    nri_plugin_stop(nri_request_plugin(request));
    return 0;
}

/* Nothing above INFO, and one record of that tells the end, by the plugin's index and name. */
static void test_T53_an_ordinary_end_is_no_error(void **state)
{
    struct fixture *fixture = *state;
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct ends ends = {0};
        struct witness witness = {.act_in = NRI_EVENT_CREATE_CONTAINER, .act = stop_in_handler};
        struct nri_plugin_options options = fixture_options(fixture);
        struct runtime runtime = {.fd = -1, .listener = fixture->listener, .last = RUNTIME_CREATE};
        options.log = count_ends;
        options.log_user = &ends;
        nri_plugin *plugin = witness_plugin(&witness, &options);
        runtime_start(&runtime);
        assert_int_equal(drive_to_end(drive, plugin, &witness), 0);
        assert_true(runtime_join(&runtime));
        assert_int_equal(ends.alarming, 0);
        assert_int_equal(ends.ends, 1);
        assert_int_equal(ends.strangers, 0);
        nri_plugin_close(plugin, NULL, NULL);
    }
}

/* ---- S23: Synchronize fails, and there is no other connection to be had ---- */

static int refuse_sync(nri_request *request, struct witness *witness)
{
    (void)witness;
    return nri_request_fail(request, NRI_E_REJECTED, "not on this node");
}

struct launcher {
    struct peer peer;
    pthread_t thread;
    bool good;
};

/* A runtime that launched the plugin: one descriptor, and dropped after the refusal. */
static void *drop_on_refusal(void *user)
{
    struct launcher *launcher = user;
    struct peer_message message = {0};
    launcher->good = peer_register(&launcher->peer) &&
                     peer_call(&launcher->peer, "Synchronize", NULL, &message) &&
                     message.grpc != 0 && strstr(message.text, "not on this node") != NULL;
    peer_message_free(&message);
    peer_close(&launcher->peer);
    return NULL;
}

static void test_S23_a_launched_plugin_ends_with_its_runtime(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct witness witness = {.act_in = NRI_EVENT_SYNCHRONIZE, .act = refuse_sync};
        struct nri_plugin_options options = fixture_options(*state);
        struct launcher launcher = {.good = false};
        peer_init(&launcher.peer, fixture_pair(&options));
        options.reconnect = 1; /* what was given cannot be made again */
        nri_plugin *plugin = witness_plugin(&witness, &options);
        assert_int_equal(pthread_create(&launcher.thread, NULL, drop_on_refusal, &launcher), 0);
        const int result = drive_to_end(drive, plugin, &witness);
        assert_int_equal(pthread_join(launcher.thread, NULL), 0);
        assert_true(launcher.good);
        assert_int_equal(result, NRI_E_CLOSED);
        assert_int_equal(witness.reason, NRI_E_CLOSED);
        assert_non_null(strstr(witness.reason_text, "cannot be made again"));
        assert_int_equal(witness.count[NRI_EVENT_SYNCHRONIZE], 1);
        assert_int_equal(witness.count[NRI_EVENT_DISCONNECTED], 1);
        assert_int_equal(witness.count[NRI_EVENT_CREATE_CONTAINER], 0);
        nri_plugin_close(plugin, NULL, NULL);
    }
}

/* ---- T41: an update of a plugin that does not run ---- */

static bool is_waited_for(int listener)
{
    struct pollfd ready = {.fd = listener, .events = POLLIN};
    return poll(&ready, 1, 0) == 1;
}

/* No attempt to connect, before the first run and after it, whatever its options allow. */
static void test_T41_an_update_connects_to_nothing(void **state)
{
    struct fixture *fixture = *state;
    struct witness witness = {.act_in = NRI_EVENT_CREATE_CONTAINER, .act = stop_in_handler};
    struct nri_plugin_options options = fixture_options(fixture);
    struct runtime runtime = {.fd = -1, .listener = fixture->listener, .last = RUNTIME_CREATE};
    options.reconnect = 1;
    nri_plugin *plugin = witness_plugin(&witness, &options);
    assert_int_equal(witness_update(&witness, plugin), NRI_E_NO_SERVICE);
    assert_false(is_waited_for(fixture->listener));
    runtime_start(&runtime);
    assert_int_equal(nri_plugin_run(plugin), 0);
    assert_true(runtime_join(&runtime));
    assert_int_equal(witness_update(&witness, plugin), NRI_E_NO_SERVICE);
    assert_false(is_waited_for(fixture->listener));
    assert_int_equal(witness.updated, 0);
    nri_plugin_close(plugin, NULL, NULL);
    assert_false(is_waited_for(fixture->listener));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_T39_a_stop_at_any_moment_of_a_start),
        TEST(test_T53_an_ordinary_end_is_no_error),
        TEST(test_S23_a_launched_plugin_ends_with_its_runtime),
        TEST(test_T41_an_update_connects_to_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
