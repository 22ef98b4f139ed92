/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The end of a plugin that connects again, in each phase: while it waits for an attempt, while its
 * handlers have yet to return, and in between; from each place that may ask for it. It comes
 * promptly, and the run's result is 0. Handlers are on the loop's thread and on one of their own.
 */
#include <poll.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "story.h"

#define PROMPT 5000 /* ms; ten times what is meant, and far below STORY_LONG */

static void mark_failure(void *user, const nri_log_record *record)
{
    struct story *story = user;
    if (strstr(nri_log_record_text(record), "next attempt in") != NULL)
        count_up(&story->waits);
}

static void begin(struct story *story, struct fixture *fixture, bool (*script)(struct story *),
                  bool worker)
{
    story_init(story, fixture, script);
    story->options.log = mark_failure;
    story->options.dispatch = worker ? NRI_DISPATCH_WORKER : NRI_DISPATCH_LOOP;
}

static void check_prompt(struct story *story, enum drive drive)
{
    const uint64_t began = fixture_now_ms();
    assert_int_equal(story_play(story, drive), 0);
    assert_true(story->good);
    assert_true(fixture_now_ms() - began < PROMPT);
}

/* ---- while it waits ---- */

static bool stop_when_waiting(struct story *story)
{
    return count_reaches(&story->waits, 1);
}

static void test_U03_stop_while_it_waits_for_a_socket(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        for (int worker = 0; worker < 2; worker++) {
            struct story story;
            begin(&story, *state, stop_when_waiting, worker);
            story_vanish(&story);
            check_prompt(&story, drive);
            assert_int_equal(atomic_load(&story.seen), 0);
        }
    }
}

static bool lose_then_stop(struct story *story)
{
    struct peer peer;
    if (!story_meet(story, &peer))
        return false;
    peer_close(&peer);
    return count_reaches(&story->waits, 1);
}

static void test_U03_stop_while_it_waits_after_a_connection(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        for (int worker = 0; worker < 2; worker++) {
            struct story story;
            begin(&story, *state, lose_then_stop, worker);
            check_prompt(&story, drive);
            assert_int_equal(atomic_load(&story.ends), 1);
            assert_int_equal(story.reasons[0], NRI_E_CLOSED);
        }
    }
}

static bool stop_when_full(struct story *story)
{
    /* The first turn has come, and with it an attempt. */
    return nri_plugin_post(story->plugin, witness_posted, &story->witness) == 0 &&
           count_reaches(&story->witness.posted, 1);
}

static void test_U03_stop_while_the_backlog_is_full(void **state)
{
    int fds[64];
    int count = fixture_fill_backlog(*state, fds, 64);
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct story story;
        begin(&story, *state, stop_when_full, false);
        check_prompt(&story, drive);
    }
    while (count > 0)
        (void)close(fds[--count]);
}

static void test_a_stop_before_the_run_ends_it_at_once(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct story story;
        struct nri_plugin_ops ops = witness_ops();
        story_init(&story, *state, NULL);
        assert_int_equal(nri_plugin_new(&story.plugin, &ops, &story.options, &story.witness, NULL),
                         0);
        nri_plugin_stop(story.plugin);
        assert_int_equal(drive_to_end(drive, story.plugin, &story.witness), 0);
        nri_plugin_close(story.plugin, NULL, NULL);
        assert_int_equal(story.witness.count[NRI_EVENT_CONNECTED], 0);
    }
}

/* ---- from the plugin's own functions ---- */

static int stop_in_disconnected(nri_request *request, struct story *story)
{
    if (nri_request_event(request) == NRI_EVENT_DISCONNECTED) {
        atomic_store(&story->witness.update_codes[0], (int)nri_plugin_get_state(story->plugin));
        nri_plugin_stop(story->plugin);
    }
    return 0;
}

static bool lose_it(struct story *story)
{
    struct peer peer;
    const bool good = story_meet(story, &peer);
    peer_close(&peer);
    return good && count_reaches(&story->ends, 1);
}

static void test_stop_in_on_disconnected_means_no_other_attempt(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        for (int worker = 0; worker < 2; worker++) {
            struct story story;
            begin(&story, *state, lose_it, worker);
            story.options.reconnect_min_ms = 1;
            story.act = stop_in_disconnected;
            check_prompt(&story, drive);
            assert_true(story.nexts[0] <= 1);
            assert_int_equal(story.witness.update_codes[0], NRI_PLUGIN_CONNECTING);
            assert_int_equal(story_count(&story, NRI_EVENT_CONNECTED), 1);
        }
    }
}

/* Closes itself: the handle is gone when the run has returned. */
struct closer {
    struct witness witness;
    enum nri_event in;
};

static int close_in(nri_request *request, void *user)
{
    struct closer *closer = user;
    atomic_fetch_add(&closer->witness.count[nri_request_event(request)], 1);
    if (nri_request_event(request) == closer->in)
        nri_plugin_close(nri_request_plugin(request), witness_closed, &closer->witness);
    return 0;
}

static nri_plugin *closing_plugin(struct fixture *fixture, struct closer *closer, bool worker)
{
    struct nri_plugin_options options = fixture_options(fixture);
    struct nri_plugin_ops ops = witness_ops();
    nri_plugin *plugin = NULL;
    options.reconnect = 1;
    options.reconnect_min_ms = options.reconnect_max_ms = STORY_LONG;
    options.dispatch = worker ? NRI_DISPATCH_WORKER : NRI_DISPATCH_LOOP;
    ops.on_configure = ops.on_synchronize = ops.on_create_container = close_in;
    ops.on_run_pod_sandbox = ops.on_shutdown = close_in;
    ops.on_connected = ops.on_disconnected = close_in;
    assert_int_equal(nri_plugin_new(&plugin, &ops, &options, closer, NULL), 0);
    return plugin;
}

static void test_close_in_each_handler(void **state)
{
    struct fixture *fixture = *state;
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        for (int worker = 0; worker < 2; worker++) {
            for (size_t i = 0; i < FIXTURE_STAGES; i++) {
                struct closer closer = {.in = fixture_stages[i].event};
                struct runtime runtime = {.fd = -1,
                                          .listener = fixture->listener,
                                          .last = fixture_stages[i].last,
                                          .no_answer = true,
                                          .hang_up =
                                              fixture_stages[i].event == NRI_EVENT_DISCONNECTED};
                nri_plugin *plugin = closing_plugin(fixture, &closer, worker);
                runtime_start(&runtime);
                assert_int_equal(drive_to_end(drive, plugin, &closer.witness), 0);
                (void)runtime_join(&runtime);
                assert_int_equal(closer.witness.closed, 1);
                assert_int_equal(closer.witness.count[NRI_EVENT_DISCONNECTED], 1);
            }
        }
    }
}

static void close_it(nri_plugin *plugin, void *user)
{
    nri_plugin_close(plugin, witness_closed, user);
}

static void test_close_while_it_waits_in_a_posted_function(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct story story;
        struct closer closer = {.in = NRI_EVENT_UNKNOWN};
        story_init(&story, *state, NULL);
        story_vanish(&story);
        nri_plugin *plugin = closing_plugin(*state, &closer, drive == DRIVE_LOOP);
        assert_int_equal(nri_plugin_post(plugin, close_it, &closer.witness), 0);
        assert_int_equal(drive_to_end(drive, plugin, &closer.witness), 0);
        assert_int_equal(closer.witness.closed, 1);
    }
}

static void test_close_between_turns_while_it_waits(void **state)
{
    struct story story;
    struct closer closer = {.in = NRI_EVENT_UNKNOWN};
    story_init(&story, *state, NULL);
    story_vanish(&story);
    nri_plugin *plugin = closing_plugin(*state, &closer, true);
    assert_int_equal(nri_plugin_start(plugin, NULL, witness_ended, &closer.witness), 0);
    assert_int_equal(nri_plugin_get_state(plugin), NRI_PLUGIN_CONNECTING);
    assert_int_equal(drive_turn(plugin), 1);
    assert_int_equal(nri_plugin_get_state(plugin), NRI_PLUGIN_CONNECTING);
    assert_true(nri_plugin_timeout(plugin) > 0);
    nri_plugin_close(plugin, witness_closed, &closer.witness);
    assert_int_equal(closer.witness.closed, 1);
    assert_int_equal(closer.witness.ended, 1);
}

/* ---- handlers that have yet to return ---- */

struct blocked {
    sem_t entered, leave;
    atomic_bool returned;
    atomic_bool too_early; /* connected while it ran */
    int refused, queued;   /* what two updates in the handler returned */
    bool told;             /* the first one's error was there to be read */
};

static int block(nri_request *request, struct story *story)
{
    struct blocked *blocked = story->user;
    if (nri_request_event(request) == NRI_EVENT_CONNECTED && atomic_load(&story->ends) > 0 &&
        !atomic_load(&blocked->returned))
        atomic_store(&blocked->too_early, true);
    if (nri_request_event(request) != NRI_EVENT_CREATE_CONTAINER || atomic_load(&blocked->returned))
        return 0;
    (void)sem_post(&blocked->entered);
    while (sem_wait(&blocked->leave) != 0)
        continue;
    /* The connection is gone; an update that waits is for the next one. */
    nri_updates *updates;
    struct nri_call_options options;
    nri_call_options_init(&options, sizeof options);
    options.queue = 1;
    options.timeout_ms = PEER_PATIENCE * 1000;
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    (void)nri_update_set_cpu_shares(nri_updates_container(updates, "ctr1"), 512);
    /* No assertions on this thread. */
    blocked->refused = nri_plugin_update_containers(story->plugin, updates, NULL, NULL, NULL);
    blocked->told = nri_plugin_last_error(story->plugin) != NULL;
    blocked->queued = nri_plugin_update_containers(story->plugin, updates, &options,
                                                   witness_updated, &story->witness);
    nri_updates_free(updates);
    atomic_store(&blocked->returned, true);
    return 0;
}

static bool send_create(struct peer *peer)
{
    struct peer_bytes bytes = {0};
    peer_bytes_call(&bytes, peer->next_stream, "CreateContainer", NULL);
    return peer_send(peer, &bytes);
}

static bool take_update(struct peer *peer)
{
    struct peer_message message;
    struct peer_bytes bytes = {0};
    if (peer_receive(peer, &message) != 1)
        return false;
    const bool good = strcmp(message.method, "UpdateContainers") == 0;
    peer_bytes_answer(&bytes, message.stream, NULL);
    peer_message_free(&message);
    return good && peer_send(peer, &bytes);
}

static bool lose_while_blocked(struct story *story, struct peer *peer)
{
    struct blocked *blocked = story->user;
    if (!story_meet(story, peer) || !send_create(peer) || sem_wait(&blocked->entered) != 0)
        return false;
    peer_close(peer);
    return count_reaches(&story->waits, 1); /* the end was logged, with the next attempt */
}

static bool return_then_meet(struct story *story)
{
    struct blocked *blocked = story->user;
    struct peer peer;
    if (!lose_while_blocked(story, &peer))
        return false;
    /* The delay is over by now, and nobody comes. */
    struct pollfd wait = {.fd = story->fixture->listener, .events = POLLIN};
    const bool nobody = poll(&wait, 1, 100) == 0;
    (void)sem_post(&blocked->leave);
    if (!nobody)
        return false;
    return story_accept(story, &peer) && peer_register(&peer) && take_update(&peer) &&
           peer_synchronize(&peer) && count_reaches(&story->witness.updated, 1) &&
           story_end(story, &peer);
}

/* Returns what a call that waits for a runtime returned in the handler. */
static int play_blocked(struct fixture *fixture, enum drive drive,
                        bool (*script)(struct story *story), struct story *story)
{
    struct blocked blocked = {.returned = false};
    assert_int_equal(sem_init(&blocked.entered, 0, 0), 0);
    assert_int_equal(sem_init(&blocked.leave, 0, 0), 0);
    begin(story, fixture, script, true);
    story->options.reconnect_min_ms = 1;
    story->options.no_deadline_guard = 1;
    story->act = block;
    story->user = &blocked;
    check_prompt(story, drive);
    assert_true(blocked.returned);
    assert_false(blocked.too_early);
    assert_int_equal(blocked.refused, NRI_E_NO_SERVICE);
    assert_true(blocked.told);
    (void)sem_destroy(&blocked.entered);
    (void)sem_destroy(&blocked.leave);
    return blocked.queued;
}

static void test_the_next_connection_waits_for_the_handlers_of_the_last(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct story story;
        assert_int_equal(play_blocked(*state, drive, return_then_meet, &story), 0);
        assert_int_equal(story.witness.updated, 1);
        assert_int_equal(story.witness.update_codes[0], 0);
        static const enum nri_event events[] = {
            NRI_EVENT_CONNECTED,        NRI_EVENT_CONFIGURE,    NRI_EVENT_SYNCHRONIZE,
            NRI_EVENT_CREATE_CONTAINER, NRI_EVENT_DISCONNECTED, NRI_EVENT_CONNECTED,
            NRI_EVENT_CONFIGURE,        NRI_EVENT_SYNCHRONIZE,  NRI_EVENT_DISCONNECTED};
        assert_int_equal(atomic_load(&story.seen), sizeof events / sizeof events[0]);
        assert_memory_equal(story.events, events, sizeof events);
    }
}

static bool stop_then_return(struct story *story)
{
    struct blocked *blocked = story->user;
    struct peer peer;
    if (!lose_while_blocked(story, &peer))
        return false;
    nri_plugin_stop(story->plugin);
    (void)sem_post(&blocked->leave);
    return true;
}

static void test_stop_while_handlers_have_yet_to_return(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct story story;
        const int queued = play_blocked(*state, drive, stop_then_return, &story);
        /* on_disconnected has returned before the run did; what waited was told of its end. */
        assert_int_equal(atomic_load(&story.ends), 1);
        assert_int_equal(story_count(&story, NRI_EVENT_CONNECTED), 1);
        if (queued == 0) {
            assert_int_equal(story.witness.updated, 1);
            assert_int_equal(story.witness.update_codes[0], NRI_E_CLOSED);
        } else { /* the stop was seen first */
            assert_int_equal(queued, NRI_E_NO_SERVICE);
            assert_int_equal(story.witness.updated, 0);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_U03_stop_while_it_waits_for_a_socket),
        TEST(test_U03_stop_while_it_waits_after_a_connection),
        TEST(test_U03_stop_while_the_backlog_is_full),
        TEST(test_a_stop_before_the_run_ends_it_at_once),
        TEST(test_stop_in_on_disconnected_means_no_other_attempt),
        TEST(test_close_in_each_handler),
        TEST(test_close_while_it_waits_in_a_posted_function),
        TEST(test_close_between_turns_while_it_waits),
        TEST(test_the_next_connection_waits_for_the_handlers_of_the_last),
        TEST(test_stop_while_handlers_have_yet_to_return),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
