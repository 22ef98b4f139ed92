/* SPDX-License-Identifier: Apache-2.0 */
/* A plugin inside somebody's program: on a loop with others, turned by poll(), with its own log,
 * with signals left alone. */
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "fixture.h"

static nri_plugin *plugin_of_peer(struct fixture *fixture, struct witness *witness,
                                  struct peer *peer)
{
    struct nri_plugin_options options = fixture_options(fixture);
    peer_init(peer, fixture_pair(&options));
    return witness_plugin(witness, &options);
}

/* Two plugins, each with a socketpair of its own and a runtime at the other end. */
struct two {
    struct witness witness[2];
    struct runtime runtime[2];
    nri_plugin *plugin[2];
};

static void make_two(struct fixture *fixture, struct two *two, enum runtime_step last)
{
    for (int i = 0; i < 2; i++) {
        struct nri_plugin_options options = fixture_options(fixture);
        int end = fixture_pair(&options);
        two->plugin[i] = witness_plugin(&two->witness[i], &options);
        two->runtime[i] = (struct runtime){.fd = end, .last = last, .hang_up = true};
        runtime_start(&two->runtime[i]);
    }
}

static void check_two(struct two *two)
{
    for (int i = 0; i < 2; i++) {
        assert_true(runtime_join(&two->runtime[i]));
        assert_int_equal(two->witness[i].count[NRI_EVENT_CREATE_CONTAINER], 1);
        assert_int_equal(two->witness[i].count[NRI_EVENT_DISCONNECTED], 1);
        assert_int_equal(two->witness[i].ended, 1);
        assert_int_equal(two->witness[i].result, NRI_E_CLOSED);
        nri_plugin_close(two->plugin[i], witness_closed, &two->witness[i]);
        assert_int_equal(two->witness[i].closed, 1);
    }
}

static void test_two_plugins_on_one_loop(void **state)
{
    struct two two = {0};
    uv_loop_t loop;
    make_two(*state, &two, RUNTIME_CREATE);
    assert_int_equal(uv_loop_init(&loop), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(nri_plugin_start(two.plugin[i], &loop, witness_ended, &two.witness[i]), 0);
    assert_int_equal(nri_plugin_fd(two.plugin[0]), NRI_E_STATE); /* it is the loop's affair */
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    check_two(&two);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void test_two_plugins_in_one_poll_loop(void **state)
{
    struct two two = {0};
    bool runs[2] = {true, true};
    make_two(*state, &two, RUNTIME_CREATE);
    for (int i = 0; i < 2; i++)
        assert_int_equal(nri_plugin_start(two.plugin[i], NULL, witness_ended, &two.witness[i]), 0);
    while (runs[0] || runs[1]) {
        struct pollfd fds[2];
        int timeout = PEER_PATIENCE * 1000;
        for (int i = 0; i < 2; i++) {
            int own = runs[i] ? nri_plugin_timeout(two.plugin[i]) : -1;
            timeout = own >= 0 && own < timeout ? own : timeout;
            fds[i] = (struct pollfd){.fd = runs[i] ? nri_plugin_fd(two.plugin[i]) : -1,
                                     .events = POLLIN};
        }
        assert_true(poll(fds, 2, timeout) >= 0);
        for (int i = 0; i < 2; i++) {
            if (runs[i])
                runs[i] = nri_plugin_dispatch(two.plugin[i]) == 1;
        }
    }
    check_two(&two);
}

/* Whether the plugin's descriptor tells of work; if it should, it may take a while. */
static bool has_work(const nri_plugin *plugin, bool expected)
{
    struct pollfd ready = {.fd = nri_plugin_fd(plugin), .events = POLLIN};
    return poll(&ready, 1, expected ? PEER_PATIENCE * 1000 : 0) == 1;
}

static void turn_until_quiet(nri_plugin *plugin)
{
    assert_true(has_work(plugin, true));
    while (has_work(plugin, false))
        assert_int_equal(nri_plugin_dispatch(plugin), 1);
}

static void take_message(struct peer *peer, const char *method)
{
    struct peer_message message;
    assert_int_equal(peer_receive(peer, &message), 1);
    assert_string_equal(message.method, method);
    peer_message_free(&message);
}

/* The descriptor alone tells of work, also of work that came up outside of a dispatch: no time-out
 * is needed for that. */
static void test_descriptor_tells_of_all_work(void **state)
{
    struct fixture *fixture = *state;
    struct witness witness = {0};
    struct nri_plugin_options options = fixture_options(fixture);
    struct peer peer;
    struct peer_bytes bytes = {0};
    peer_init(&peer, fixture_pair(&options));
    options.registration_timeout_ms = 60000;
    nri_plugin *plugin = witness_plugin(&witness, &options);
    assert_int_equal(nri_plugin_start(plugin, NULL, witness_ended, &witness), 0);
    turn_until_quiet(plugin); /* the first turn: RegisterPlugin */
    assert_true(nri_plugin_timeout(plugin) > 0 && nri_plugin_timeout(plugin) <= 60000);
    assert_true(peer_take_register(&peer) && peer_answer_register(&peer));
    peer_bytes_call(&bytes, 1, "Configure", NULL);
    assert_true(peer_send(&peer, &bytes));
    turn_until_quiet(plugin);
    take_message(&peer, ""); /* the answer */
    assert_int_equal(nri_plugin_get_state(plugin), NRI_PLUGIN_READY);
    assert_int_equal(nri_plugin_timeout(plugin), -1);

    assert_int_equal(witness_update(&witness, plugin), 0); /* output from outside */
    turn_until_quiet(plugin);
    take_message(&peer, "UpdateContainers");
    assert_int_equal(nri_plugin_post(plugin, witness_posted, &witness), 0);
    turn_until_quiet(plugin);
    assert_int_equal(witness.posted, 1);

    nri_plugin_stop(plugin);
    assert_true(has_work(plugin, true));
    assert_int_equal(nri_plugin_dispatch(plugin), 0);
    assert_int_equal(witness.result, 0);
    assert_int_equal(witness.update_codes[0], NRI_E_CLOSED);
    peer_close(&peer);
    nri_plugin_close(plugin, NULL, NULL);
}

/* ---- again, from the callback that tells of the end ---- */

struct again {
    struct witness witness;
    struct fixture *fixture;
    struct runtime runtime;
    uv_loop_t *loop;
    int runs;
};

static void start_again(nri_plugin *plugin, int code, void *user)
{
    struct again *again = user;
    again->witness.result = code;
    again->runs++;
    assert_true(runtime_join(&again->runtime));
    if (again->runs == 3) {
        nri_plugin_close(plugin, witness_closed, &again->witness);
        return;
    }
    runtime_start(&again->runtime);
    assert_int_equal(nri_plugin_start(plugin, again->loop, start_again, again), 0);
}

static void check_start_again(struct again *again)
{
    struct nri_plugin_options options = fixture_options(again->fixture);
    again->runtime = (struct runtime){
        .fd = -1, .listener = again->fixture->listener, .last = RUNTIME_CREATE, .hang_up = true};
    nri_plugin *plugin = witness_plugin(&again->witness, &options);
    runtime_start(&again->runtime);
    assert_int_equal(nri_plugin_start(plugin, again->loop, start_again, again), 0);
    if (again->loop != NULL) {
        assert_int_equal(uv_run(again->loop, UV_RUN_DEFAULT), 0);
    } else {
        while (drive_turn(plugin) == 1)
            continue;
    }
    assert_int_equal(again->runs, 3);
    assert_int_equal(again->witness.closed, 1);
    assert_int_equal(again->witness.count[NRI_EVENT_CREATE_CONTAINER], 3);
}

static void test_T16_started_again_when_told_of_the_end(void **state)
{
    struct again again = {.fixture = *state};
    uv_loop_t loop;
    check_start_again(&again);
    assert_int_equal(uv_loop_init(&loop), 0);
    again = (struct again){.fixture = *state, .loop = &loop};
    check_start_again(&again);
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void start_and_close(nri_plugin *plugin, int code, void *user)
{
    struct again *again = user;
    again->witness.result = code;
    again->runs++;
    if (again->runs == 1)
        assert_int_equal(nri_plugin_start(plugin, NULL, start_and_close, again), 0);
    nri_plugin_close(plugin, witness_closed, &again->witness);
}

static void test_started_and_closed_when_told_of_the_end(void **state)
{
    struct again again = {.fixture = *state};
    struct nri_plugin_options options = fixture_options(again.fixture);
    nri_plugin *plugin = witness_plugin(&again.witness, &options);
    nri_plugin_stop(plugin);
    assert_int_equal(nri_plugin_start(plugin, NULL, start_and_close, &again), 0);
    while (drive_turn(plugin) == 1)
        continue;
    assert_int_equal(again.runs, 2);
    assert_int_equal(again.witness.result, 0);
    assert_int_equal(again.witness.closed, 1);
}

/* ---- U01: the log ---- */

/* Redirects stdout and stderr to a file and back: what the library prints is nothing. */
static int redirect(int to[2], int file)
{
    for (int i = 0; i < 2; i++) {
        if (file >= 0)
            to[i] = dup(i + 1);
        if (dup2(file >= 0 ? file : to[i], i + 1) < 0)
            return -1;
        if (file < 0)
            (void)close(to[i]);
    }
    return 0;
}

/* Three plugins at once on one loop, two with a log and one without; their books afterwards. The
 * two set the same options in the other order. */
static void log_of_three(struct fixture *fixture, struct log_book books[2])
{
    static const char *const names[] = {"one", "two", "silent"};
    struct witness witness[3] = {0};
    struct runtime runtime[3];
    nri_plugin *plugin[3];
    uv_loop_t loop;
    assert_int_equal(uv_loop_init(&loop), 0);
    for (int i = 0; i < 3; i++) {
        struct nri_plugin_options options = fixture_options(fixture);
        int end = fixture_pair(&options);
        options.log_level = NRI_LOG_DEBUG;
        if (i == 0)
            options.name = names[i];
        options.log = i < 2 ? log_book_write : NULL;
        options.log_user = i < 2 ? &books[i] : NULL;
        if (i != 0)
            options.name = names[i];
        plugin[i] = witness_plugin(&witness[i], &options);
        runtime[i] = (struct runtime){.fd = end, .last = RUNTIME_CREATE, .hang_up = true};
        runtime_start(&runtime[i]);
        assert_int_equal(nri_plugin_start(plugin[i], &loop, witness_ended, &witness[i]), 0);
    }
    assert_int_equal(uv_run(&loop, UV_RUN_DEFAULT), 0);
    for (int i = 0; i < 3; i++) {
        assert_true(runtime_join(&runtime[i]));
        assert_int_equal(witness[i].count[NRI_EVENT_CREATE_CONTAINER], 1);
        nri_plugin_close(plugin[i], NULL, NULL);
    }
    assert_int_equal(uv_loop_close(&loop), 0);
}

static void test_U01_each_plugin_has_its_own_log(void **state)
{
    struct log_book books[2] = {0};
    FILE *file = tmpfile();
    int saved[2] = {-1, -1};
    assert_non_null(file);
    (void)fflush(NULL);
    assert_int_equal(redirect(saved, fileno(file)), 0);
    log_of_three(*state, books);
    (void)fflush(NULL);
    assert_int_equal(redirect(saved, -1), 0);
    assert_int_equal(lseek(fileno(file), 0, SEEK_END), 0);
    (void)fclose(file);
    assert_true(books[0].records > 0);
    assert_int_equal(books[0].records, books[1].records);
    assert_int_equal(books[0].strangers + books[1].strangers, 0);
    assert_string_equal(books[0].plugin, "10-one");
    assert_string_equal(books[1].plugin, "10-two");
}

/* ---- T23: signals ---- */

static int send_after_the_peer_went(nri_request *request, struct witness *witness)
{
    struct peer *peer = witness->user;
    (void)request;
    peer_close(peer);
    return witness_update(witness, witness->plugin);
}

static void test_T23_no_SIGPIPE_and_its_disposition_stays(void **state)
{
    struct fixture *fixture = *state;
    struct sigaction was, now, plain = {.sa_handler = SIG_DFL};
    assert_int_equal(sigaction(SIGPIPE, &plain, &was), 0);
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct peer peer;
        struct witness witness = {
            .act_in = NRI_EVENT_CREATE_CONTAINER, .act = send_after_the_peer_went, .user = &peer};
        struct peer_bytes bytes = {0};
        nri_plugin *plugin = plugin_of_peer(fixture, &witness, &peer);
        /* All of the session ahead of time: the plugin's first stream is 1. */
        peer_bytes_answer(&bytes, 1, NULL);
        peer_bytes_call(&bytes, 1, "Configure", NULL);
        peer_bytes_call(&bytes, 3, "CreateContainer", NULL);
        assert_true(peer_send(&peer, &bytes));
        assert_int_equal(drive_to_end(drive, plugin, &witness), NRI_E_CLOSED);
        assert_int_equal(witness.updated, 1);
        assert_int_equal(witness.update_codes[0], NRI_E_CLOSED);
        assert_int_equal(witness.count[NRI_EVENT_DISCONNECTED], 1);
        nri_plugin_close(plugin, NULL, NULL);
    }
    assert_int_equal(sigaction(SIGPIPE, &was, &now), 0);
    assert_true(now.sa_handler == SIG_DFL);
}

/* ---- the peer's last words ---- */

/* The same reason in every place where it is told. */
static void check_reason(nri_plugin *plugin, const struct witness *witness, int code,
                         const char *word)
{
    assert_int_equal(nri_plugin_result(plugin), code);
    assert_int_equal(nri_error_get_code(nri_plugin_last_error(plugin)), code);
    assert_non_null(strstr(nri_error_get_text(nri_plugin_last_error(plugin)), word));
    assert_int_equal(witness->count[NRI_EVENT_DISCONNECTED], 1);
    assert_int_equal(witness->reason, code);
    assert_non_null(strstr(witness->reason_text, word));
}

typedef int (*witness_act)(nri_request *request, struct witness *witness);

/* The peer sends these bytes and is gone before the plugin can write anything. Frees them. */
static void check_end(struct fixture *fixture, witness_act on_configure, struct peer_bytes *bytes,
                      int code, const char *word)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct witness witness = {.act_in = NRI_EVENT_CONFIGURE, .act = on_configure};
        struct peer peer;
        nri_plugin *plugin = plugin_of_peer(fixture, &witness, &peer);
        assert_true(peer_write(&peer, bytes->data, bytes->size));
        peer_close(&peer);
        assert_int_equal(drive_to_end(drive, plugin, &witness), code);
        check_reason(plugin, &witness, code, word);
        nri_plugin_close(plugin, NULL, NULL);
    }
    /* And once RegisterPlugin was written: then it is the answers that cannot be. */
    struct witness witness = {.act_in = NRI_EVENT_CONFIGURE, .act = on_configure};
    struct peer peer;
    nri_plugin *plugin = plugin_of_peer(fixture, &witness, &peer);
    assert_int_equal(nri_plugin_start(plugin, NULL, witness_ended, &witness), 0);
    while (nri_plugin_get_state(plugin) != NRI_PLUGIN_REGISTERING)
        assert_int_equal(drive_turn(plugin), 1);
    assert_true(peer_take_register(&peer));
    assert_true(peer_send(&peer, bytes));
    peer_close(&peer);
    while (drive_turn(plugin) == 1)
        continue;
    check_reason(plugin, &witness, code, word);
    nri_plugin_close(plugin, NULL, NULL);
}

/* The runtime says why and closes, without ever reading what the plugin sent: the reason is not
 * lost in the EPIPE. */
static void test_last_words_are_read_after_a_failed_write(void **state)
{
    struct peer_bytes bytes = {0};
    peer_bytes_refuse(&bytes, 1, 2, "no room for plugins");
    check_end(*state, NULL, &bytes, NRI_E_REJECTED, "no room for plugins");
}

static int refuse_configuration(nri_request *request, struct witness *witness)
{
    (void)witness;
    return nri_request_fail(request, NRI_E_REJECTED, "no such colour: blau");
}

/* Nor is the plugin's own reason, when the answer that tells of it cannot be written. */
static void test_own_refusal_is_the_reason_though_the_peer_is_gone(void **state)
{
    struct peer_bytes bytes = {0};
    peer_bytes_answer(&bytes, 1, NULL);
    peer_bytes_call(&bytes, 1, "Configure", NULL);
    check_end(*state, refuse_configuration, &bytes, NRI_E_REJECTED, "no such colour: blau");
}

static void test_broken_protocol_is_the_reason_though_the_peer_is_gone(void **state)
{
    static const uint8_t nonsense[8] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
    struct peer_bytes bytes = {0};
    peer_bytes_answer(&bytes, 1, NULL);
    peer_bytes_call(&bytes, 1, "Configure", NULL);
    peer_bytes_call(&bytes, 3, "CreateContainer", NULL);
    peer_bytes_add(&bytes, nonsense, sizeof nonsense);
    check_end(*state, NULL, &bytes, NRI_E_PROTOCOL, "frame");
}

/* ---- several requests in one read ---- */

static int end_in_handler(nri_request *request, struct witness *witness)
{
    if (witness->user != NULL)
        nri_plugin_close(nri_request_plugin(request), witness_closed, witness);
    else
        nri_plugin_stop(nri_request_plugin(request));
    return 0;
}

/* The first one's handler wants the end: the others pass unchanged, and reach no handler. */
static void test_after_a_stop_or_close_no_handler_runs(void **state)
{
    struct fixture *fixture = *state;
    for (int run = 0; run < 2 * (int)DRIVES; run++) {
        bool closes = run % 2 == 1;
        struct witness witness = {.act_in = NRI_EVENT_CREATE_CONTAINER,
                                  .act = end_in_handler,
                                  .user = closes ? fixture : NULL};
        struct peer_bytes bytes = {0};
        struct peer peer;
        struct peer_message message;
        int answers = 0, refusals = 0;
        nri_plugin *plugin = plugin_of_peer(fixture, &witness, &peer);
        peer_bytes_answer(&bytes, 1, NULL);
        peer_bytes_call(&bytes, 1, "Configure", NULL);
        for (uint32_t stream = 3; stream <= 9; stream += 2)
            peer_bytes_call(&bytes, stream, "CreateContainer", NULL);
        assert_true(peer_send(&peer, &bytes));
        assert_int_equal(drive_to_end((enum drive)(run / 2), plugin, &witness), 0);
        assert_int_equal(witness.count[NRI_EVENT_CREATE_CONTAINER], 1);
        while (peer_receive(&peer, &message) == 1) {
            answers += message.type == PEER_RESPONSE && message.stream >= 3 && message.grpc == 0;
            refusals += message.type == PEER_RESPONSE && message.stream >= 3 && message.grpc != 0;
            peer_message_free(&message);
        }
        assert_int_equal(answers, 4);
        assert_int_equal(refusals, 0);
        peer_close(&peer);
        if (!closes)
            nri_plugin_close(plugin, witness_closed, &witness);
        assert_int_equal(witness.closed, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_two_plugins_on_one_loop),
        TEST(test_two_plugins_in_one_poll_loop),
        TEST(test_descriptor_tells_of_all_work),
        TEST(test_T16_started_again_when_told_of_the_end),
        TEST(test_started_and_closed_when_told_of_the_end),
        TEST(test_U01_each_plugin_has_its_own_log),
        TEST(test_T23_no_SIGPIPE_and_its_disposition_stays),
        TEST(test_after_a_stop_or_close_no_handler_runs),
        TEST(test_last_words_are_read_after_a_failed_write),
        TEST(test_own_refusal_is_the_reason_though_the_peer_is_gone),
        TEST(test_broken_protocol_is_the_reason_though_the_peer_is_gone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
