/* SPDX-License-Identifier: Apache-2.0 */
/* The life of a run: how it ends, how it is stopped, what follows it. */
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cmocka.h>

#include "fixture.h"

static void check_text(const nri_plugin *plugin, const char *word)
{
    const char *text = nri_error_get_text(nri_plugin_last_error(plugin));
    if (strstr(text, word) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", text, word);
}

static void test_T12_registration_time_out_is_named(void **state)
{
    struct fixture *fixture = *state;
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct witness witness = {0};
        struct nri_plugin_options options = fixture_options(fixture);
        struct runtime runtime = {
            .fd = -1, .listener = fixture->listener, .last = RUNTIME_REGISTER};
        options.registration_timeout_ms = 300;
        nri_plugin *plugin = witness_plugin(&witness, &options);
        runtime_start(&runtime);
        uint64_t began = fixture_now_ms();
        assert_int_equal(drive_to_end(drive, plugin, &witness), NRI_E_TIMEOUT);
        uint64_t took = fixture_now_ms() - began;
        assert_true(took >= 299 && took < 5000);
        assert_true(runtime_join(&runtime));
        check_text(plugin, "egist");
        check_text(plugin, "300 ms");
        assert_int_equal(witness.reason, NRI_E_TIMEOUT);
        assert_int_equal(witness.count[NRI_EVENT_DISCONNECTED], 1);
        nri_plugin_close(plugin, NULL, NULL);
    }
}

static void test_T19_the_end_is_returned_and_the_process_lives(void **state)
{
    struct fixture *fixture = *state;
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct witness witness = {0};
        struct nri_plugin_options options = fixture_options(fixture);
        struct runtime runtime = {
            .fd = -1, .listener = fixture->listener, .last = RUNTIME_SYNCHRONIZE, .hang_up = true};
        nri_plugin *plugin = witness_plugin(&witness, &options);
        runtime_start(&runtime);
        assert_int_equal(drive_to_end(drive, plugin, &witness), NRI_E_CLOSED);
        assert_true(runtime_join(&runtime));
        assert_int_equal(nri_plugin_result(plugin), NRI_E_CLOSED);
        check_text(plugin, fixture->path);
        assert_int_equal(witness.count[NRI_EVENT_CONNECTED], 1);
        assert_int_equal(witness.count[NRI_EVENT_CONFIGURE], 1);
        assert_int_equal(witness.count[NRI_EVENT_SYNCHRONIZE], 1);
        assert_int_equal(witness.count[NRI_EVENT_DISCONNECTED], 1);
        assert_int_equal(witness.reason, NRI_E_CLOSED);
        assert_int_equal(witness.ended, drive == DRIVE_RUN ? 0 : 1);
        nri_plugin_close(plugin, NULL, NULL);
    }
}

static int stop_in_handler(nri_request *request, struct witness *witness)
{
    (void)witness;
    nri_plugin_stop(nri_request_plugin(request));
    return 0;
}

/* The reply of the handler that stops still goes out, and the stop is no error. */
static void test_T19_local_stop_is_0(void **state)
{
    struct fixture *fixture = *state;
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct witness witness = {
            .act_in = NRI_EVENT_CREATE_CONTAINER, .act = stop_in_handler, .reason = 1};
        struct nri_plugin_options options = fixture_options(fixture);
        struct runtime runtime = {.fd = -1, .listener = fixture->listener, .last = RUNTIME_CREATE};
        nri_plugin *plugin = witness_plugin(&witness, &options);
        runtime_start(&runtime);
        assert_int_equal(drive_to_end(drive, plugin, &witness), 0);
        assert_true(runtime_join(&runtime));
        assert_null(nri_plugin_last_error(plugin));
        assert_int_equal(nri_plugin_result(plugin), 0);
        assert_int_equal(witness.count[NRI_EVENT_DISCONNECTED], 1);
        assert_int_equal(witness.reason, 0);
        nri_plugin_close(plugin, NULL, NULL);
    }
}

/* ---- U03: stopping from elsewhere ---- */

static void *run_main(void *context)
{
    struct witness *witness = context;
    witness_ended(witness->plugin, nri_plugin_run(witness->plugin), witness);
    return NULL;
}

static int tell(nri_request *request, struct witness *witness)
{
    (void)request;
    (void)sem_post(witness->user);
    return 0;
}

static void check_stop(struct fixture *fixture, void (*stop)(nri_plugin *))
{
    sem_t running;
    struct witness witness = {.act_in = NRI_EVENT_SYNCHRONIZE, .act = tell, .user = &running};
    struct nri_plugin_options options = fixture_options(fixture);
    struct runtime runtime = {.fd = -1, .listener = fixture->listener, .last = RUNTIME_SYNCHRONIZE};
    pthread_t thread;
    assert_int_equal(sem_init(&running, 0, 0), 0);
    nri_plugin *plugin = witness_plugin(&witness, &options);
    runtime_start(&runtime);
    assert_int_equal(pthread_create(&thread, NULL, run_main, &witness), 0);
    while (sem_wait(&running) != 0) /* a signal may interrupt it */
        continue;
    uint64_t began = fixture_now_ms();
    stop(plugin);
    (void)pthread_join(thread, NULL);
    assert_true(fixture_now_ms() - began <
                2000); /* 200 ms, and ten times that for a loaded machine */
    assert_int_equal(witness.result, 0);
    assert_int_equal(witness.ended, 1);
    assert_true(runtime_join(&runtime)); /* it has seen the socket close */
    assert_int_equal(witness.count[NRI_EVENT_DISCONNECTED], 1);
    nri_plugin_close(plugin, NULL, NULL);
    (void)sem_destroy(&running);
}

static void test_U03_stop_from_another_thread(void **state)
{
    check_stop(*state, nri_plugin_stop);
}

static nri_plugin *signalled; /* a handler gets nothing else */

static void on_signal(int number)
{
    (void)number;
    nri_plugin_stop(signalled);
}

static void stop_by_signal(nri_plugin *plugin)
{
    signalled = plugin;
    (void)kill(getpid(), SIGUSR1);
}

static void test_U03_stop_from_a_signal_handler(void **state)
{
    struct sigaction action = {.sa_handler = on_signal}, was;
    assert_int_equal(sigaction(SIGUSR1, &action, &was), 0);
    check_stop(*state, stop_by_signal);
    assert_int_equal(sigaction(SIGUSR1, &was, NULL), 0);
}

static void test_U03_stop_before_a_run_ends_it_at_once(void **state)
{
    struct fixture *fixture = *state;
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct witness witness = {0};
        struct nri_plugin_options options = fixture_options(fixture);
        char path[128];
        (void)snprintf(path, sizeof path, "%s/missing", fixture->directory);
        options.socket_path = path; /* it does not even try */
        nri_plugin *plugin = witness_plugin(&witness, &options);
        nri_plugin_stop(plugin);
        assert_int_equal(drive_to_end(drive, plugin, &witness), 0);
        /* It was for that run alone. */
        assert_int_equal(drive_to_end(drive, plugin, &witness), NRI_E_NOT_FOUND);
        assert_int_equal(witness.count[NRI_EVENT_CONNECTED], 0);
        nri_plugin_close(plugin, NULL, NULL);
    }
}

/* ---- again ---- */

static void test_T16_the_same_object_runs_again(void **state)
{
    struct fixture *fixture = *state;
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct witness witness = {0};
        struct nri_plugin_options options = fixture_options(fixture);
        nri_plugin *plugin = witness_plugin(&witness, &options);
        for (int i = 1; i <= 5; i++) {
            /* Lost in the middle of it, at another place each time. */
            struct runtime runtime = {.fd = -1,
                                      .listener = fixture->listener,
                                      .last = (enum runtime_step)(RUNTIME_CREATE - (i - 1) % 3),
                                      .hang_up = true};
            runtime_start(&runtime);
            assert_int_equal(drive_to_end(drive, plugin, &witness), NRI_E_CLOSED);
            assert_true(runtime_join(&runtime));
            assert_int_equal(witness.count[NRI_EVENT_CONNECTED], i);
            assert_int_equal(witness.count[NRI_EVENT_CONFIGURE], i);
            assert_int_equal(witness.count[NRI_EVENT_DISCONNECTED], i);
        }
        assert_int_equal(witness.count[NRI_EVENT_CREATE_CONTAINER], 2);
        nri_plugin_close(plugin, NULL, NULL);
    }
}

/* ---- a full backlog ---- */

static void close_all(const int *fds, int count)
{
    for (int i = 0; i < count; i++)
        (void)close(fds[i]);
}

static void test_a_full_backlog_is_waited_for(void **state)
{
    struct fixture *fixture = *state;
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct witness witness = {0};
        struct nri_plugin_options options = fixture_options(fixture);
        int fds[64];
        int count = fixture_fill_backlog(fixture, fds, 64);

        struct log_book book = {0};
        options.log = log_book_write;
        options.log_user = &book;
        options.registration_timeout_ms = 200;
        nri_plugin *plugin = witness_plugin(&witness, &options);
        assert_int_equal(drive_to_end(drive, plugin, &witness), NRI_E_TIMEOUT);
        assert_int_equal(book.errors, 1);
        assert_non_null(strstr(book.text, "backlog"));
        check_text(plugin, fixture->path);
        check_text(plugin, "backlog");
        assert_int_equal(witness.count[NRI_EVENT_CONNECTED] + witness.count[NRI_EVENT_DISCONNECTED],
                         0);
        nri_plugin_close(plugin, NULL, NULL);

        /* Room comes while it waits. */
        options.registration_timeout_ms = 20000;
        plugin = witness_plugin(&witness, &options);
        int rc = nri_plugin_start(plugin, NULL, witness_ended, &witness);
        assert_int_equal(rc, 0);
        for (int i = 0; i < 3; i++)
            assert_int_equal(drive_turn(plugin), 1);
        assert_int_equal(nri_plugin_get_state(plugin), NRI_PLUGIN_CONNECTING);
        for (int i = 0; i < count - 1; i++)
            (void)close(accept(fixture->listener, NULL, NULL));
        struct runtime runtime = {
            .fd = -1, .listener = fixture->listener, .last = RUNTIME_CREATE, .hang_up = true};
        runtime_start(&runtime);
        while (drive_turn(plugin) == 1)
            continue;
        assert_true(runtime_join(&runtime));
        assert_int_equal(witness.result, NRI_E_CLOSED);
        assert_int_equal(witness.count[NRI_EVENT_CREATE_CONTAINER], 1);
        nri_plugin_close(plugin, NULL, NULL);
        close_all(fds, count);
    }
}

/* ---- calls at the wrong time ---- */

static void test_T41_updates_of_a_plugin_that_does_not_run(void **state)
{
    struct fixture *fixture = *state;
    struct witness witness = {.act_in = NRI_EVENT_CREATE_CONTAINER, .act = stop_in_handler};
    struct nri_plugin_options options = fixture_options(fixture);
    struct runtime runtime = {.fd = -1, .listener = fixture->listener, .last = RUNTIME_CREATE};
    nri_plugin *plugin = witness_plugin(&witness, &options);
    assert_int_equal(witness_update(&witness, plugin), NRI_E_NO_SERVICE);
    runtime_start(&runtime);
    assert_int_equal(nri_plugin_run(plugin), 0);
    assert_true(runtime_join(&runtime));
    assert_int_equal(witness_update(&witness, plugin), NRI_E_NO_SERVICE);
    assert_int_equal(nri_error_get_code(nri_plugin_last_error(plugin)), NRI_E_NO_SERVICE);
    assert_int_equal(witness.updated, 0);
    nri_plugin_close(plugin, NULL, NULL);
}

static int run_in_handler(nri_request *request, struct witness *witness)
{
    nri_plugin *plugin = nri_request_plugin(request);
    int *codes = witness->user;
    codes[0] = nri_plugin_run(plugin);
    codes[1] = nri_plugin_dispatch(plugin);
    codes[2] = nri_plugin_start(plugin, NULL, NULL, NULL);
    return 0;
}

static void test_running_in_a_handler_is_a_deadlock(void **state)
{
    struct fixture *fixture = *state;
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        int codes[3] = {0};
        struct witness witness = {
            .act_in = NRI_EVENT_SYNCHRONIZE, .act = run_in_handler, .user = codes};
        struct nri_plugin_options options = fixture_options(fixture);
        struct runtime runtime = {
            .fd = -1, .listener = fixture->listener, .last = RUNTIME_CREATE, .hang_up = true};
        nri_plugin *plugin = witness_plugin(&witness, &options);
        runtime_start(&runtime);
        assert_int_equal(drive_to_end(drive, plugin, &witness), NRI_E_CLOSED);
        assert_true(runtime_join(&runtime));
        assert_int_equal(codes[0], NRI_E_DEADLOCK);
        assert_int_equal(codes[1], NRI_E_DEADLOCK);
        assert_int_equal(codes[2], NRI_E_STATE);
        assert_int_equal(witness.count[NRI_EVENT_CREATE_CONTAINER], 1);
        nri_plugin_close(plugin, NULL, NULL);
    }
}

static void test_calls_at_the_wrong_time(void **state)
{
    struct fixture *fixture = *state;
    struct witness witness = {0};
    struct nri_plugin_options options = fixture_options(fixture);
    nri_plugin *plugin = witness_plugin(&witness, &options);
    assert_int_equal(nri_plugin_fd(plugin), NRI_E_STATE);
    assert_int_equal(nri_plugin_timeout(plugin), -1);
    assert_int_equal(nri_plugin_dispatch(plugin), NRI_E_STATE);
    assert_int_equal(nri_plugin_result(plugin), 0);
    assert_int_equal(nri_plugin_get_state(plugin), NRI_PLUGIN_IDLE);
    assert_int_equal(nri_plugin_start(plugin, NULL, witness_ended, &witness), 0);
    assert_int_equal(nri_plugin_run(plugin), NRI_E_STATE);
    assert_int_equal(nri_plugin_start(plugin, NULL, NULL, NULL), NRI_E_STATE);
    assert_int_equal(nri_plugin_get_state(plugin), NRI_PLUGIN_CONNECTING);
    nri_plugin_stop(plugin);
    while (drive_turn(plugin) == 1)
        continue;
    assert_int_equal(nri_plugin_fd(plugin), NRI_E_STATE);
    assert_int_equal(nri_plugin_dispatch(plugin), 0);
    assert_int_equal(nri_plugin_post(plugin, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_plugin_update_containers(plugin, NULL, NULL, NULL, NULL), NRI_E_INVALID);
    nri_plugin_close(plugin, NULL, NULL);

    assert_int_equal(nri_plugin_run(NULL), NRI_E_INVALID);
    assert_int_equal(nri_plugin_start(NULL, NULL, NULL, NULL), NRI_E_INVALID);
    assert_int_equal(nri_plugin_dispatch(NULL), NRI_E_INVALID);
    assert_int_equal(nri_plugin_post(NULL, witness_posted, NULL), NRI_E_INVALID);
    nri_plugin_stop(NULL);
    nri_plugin_close(NULL, witness_closed, &witness);
    assert_int_equal(witness.closed, 0);
}

/* A program that closes all descriptors after nri_plugin_new(), as some do that become daemons. The
 * number may be the loop's own then. */
static void test_a_descriptor_that_was_closed_meanwhile(void **state)
{
    struct fixture *fixture = *state;
    struct witness witness = {0};
    struct nri_plugin_options options = fixture_options(fixture);
    const int end = fixture_pair(&options);
    nri_plugin *plugin = witness_plugin(&witness, &options);
    assert_int_equal(close(options.fd), 0);
    assert_int_equal(nri_plugin_run(plugin), NRI_E_NOT_SOCKET);
    assert_int_equal(witness.count[NRI_EVENT_CONNECTED], 0);
    nri_plugin_close(plugin, witness_closed, &witness);
    assert_int_equal(witness.closed, 1);
    assert_int_equal(close(end), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_a_descriptor_that_was_closed_meanwhile),
        TEST(test_T12_registration_time_out_is_named),
        TEST(test_T19_the_end_is_returned_and_the_process_lives),
        TEST(test_T19_local_stop_is_0),
        TEST(test_U03_stop_from_another_thread),
        TEST(test_U03_stop_from_a_signal_handler),
        TEST(test_U03_stop_before_a_run_ends_it_at_once),
        TEST(test_T16_the_same_object_runs_again),
        TEST(test_a_full_backlog_is_waited_for),
        TEST(test_T41_updates_of_a_plugin_that_does_not_run),
        TEST(test_running_in_a_handler_is_a_deadlock),
        TEST(test_calls_at_the_wrong_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
