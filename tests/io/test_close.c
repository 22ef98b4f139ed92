/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nri_plugin_close() at every stage and from every one of the user's functions, however the plugin
 * is driven: `closed` comes once and last, on_disconnected once per on_connected, every callback
 * once, and nothing is left (which the fixture checks).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include <cmocka.h>

#include "fixture.h"

/* ---- from inside ---- */

static int close_in_handler(nri_request *request, struct witness *witness)
{
    nri_plugin *plugin = nri_request_plugin(request);
    nri_plugin_close(plugin, witness_closed, witness);
    /* Again is no harm, and the plugin is still whole. */
    nri_plugin_close(plugin, witness_closed, witness);
    assert_int_equal(witness->closed, 0);
    assert_string_equal(nri_plugin_name(plugin), "test");
    return nri_plugin_post(plugin, witness_posted, witness);
}

static int close_and_hold(nri_request *request, struct witness *witness)
{
    (void)close_in_handler(request, witness);
    witness->held = request; /* NRI_PENDING passes the reference */
    return NRI_PENDING;
}

static void check_closed(const struct witness *witness)
{
    assert_int_equal(witness->closed, 1);
    assert_int_equal(witness->posted, 1);
    assert_int_equal(witness->count[NRI_EVENT_DISCONNECTED], witness->count[NRI_EVENT_CONNECTED]);
    assert_int_equal(witness->reason, 0);
}

/* The script goes as far as the event; its last answer may never come. */
static void check_close_in(struct fixture *fixture, enum drive drive, enum nri_event event,
                           enum runtime_step last, int (*act)(nri_request *, struct witness *))
{
    struct witness witness = {.act_in = event, .act = act};
    struct nri_plugin_options options = fixture_options(fixture);
    struct runtime runtime = {.fd = -1,
                              .listener = fixture->listener,
                              .last = last,
                              .no_answer = true,
                              .hang_up = event == NRI_EVENT_DISCONNECTED};
    nri_plugin *plugin = witness_plugin(&witness, &options);
    runtime_start(&runtime);
    int rc = drive_to_end(drive, plugin, &witness);
    assert_int_equal(rc, event == NRI_EVENT_DISCONNECTED ? NRI_E_CLOSED : 0);
    assert_true(runtime_join(&runtime));
    if (event == NRI_EVENT_DISCONNECTED)
        witness.reason = 0;
    check_closed(&witness);
    assert_int_equal(witness.ended, drive == DRIVE_RUN ? 0 : 1);
    if (witness.held != NULL) {
        /* The plugin is gone, the request is not. */
        assert_int_equal(nri_request_event(witness.held), event);
        assert_int_equal(nri_request_complete(witness.held, 0), NRI_E_CLOSED);
        assert_null(nri_request_unref(witness.held));
    }
}

static void test_close_in_each_handler(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        for (size_t i = 0; i < FIXTURE_STAGES; i++)
            check_close_in(*state, drive, fixture_stages[i].event, fixture_stages[i].last,
                           close_in_handler);
        check_close_in(*state, drive, NRI_EVENT_CREATE_CONTAINER, RUNTIME_CREATE, close_and_hold);
    }
}

/* ---- from inside, in other callbacks ---- */

static void close_in_post(nri_plugin *plugin, void *user)
{
    nri_plugin_close(plugin, witness_closed, user);
    assert_int_equal(nri_plugin_post(plugin, witness_posted, user), 0);
}

static int post_close(nri_request *request, struct witness *witness)
{
    return nri_plugin_post(nri_request_plugin(request), close_in_post, witness);
}

static void close_in_update(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct witness *witness = user;
    witness_updated(plugin, result, user);
    nri_plugin_close(plugin, witness_closed, witness);
    (void)nri_plugin_post(plugin, witness_posted, witness);
}

/* The reply of this handler and the call go out together; the call's answer closes. */
static int update_and_close(nri_request *request, struct witness *witness)
{
    nri_updates *updates;
    (void)request;
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    (void)nri_update_set_cpu_shares(nri_updates_container(updates, "ctr1"), 512);
    int rc = nri_plugin_update_containers(witness->plugin, updates, NULL, close_in_update, witness);
    nri_updates_free(updates);
    return rc;
}

static void close_when_ended(nri_plugin *plugin, int code, void *user)
{
    witness_ended(plugin, code, user);
    nri_plugin_close(plugin, witness_closed, user);
    (void)nri_plugin_post(plugin, witness_posted, user);
}

static void check_close_by(struct fixture *fixture, enum drive drive,
                           int (*act)(nri_request *, struct witness *))
{
    struct witness witness = {.act_in = NRI_EVENT_CREATE_CONTAINER, .act = act};
    struct nri_plugin_options options = fixture_options(fixture);
    struct runtime runtime = {.fd = -1,
                              .listener = fixture->listener,
                              .last = RUNTIME_CREATE,
                              .no_answer = true,
                              .answers_updates = true};
    nri_plugin *plugin = witness_plugin(&witness, &options);
    runtime_start(&runtime);
    assert_int_equal(drive_to_end(drive, plugin, &witness), 0);
    assert_true(runtime_join(&runtime));
    check_closed(&witness);
    assert_int_equal(witness.updated, act == update_and_close ? 1 : 0);
}

static void test_close_in_a_posted_function(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++)
        check_close_by(*state, drive, post_close);
}

static void test_close_in_the_callback_of_an_update(void **state)
{
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++)
        check_close_by(*state, drive, update_and_close);
}

static void test_close_when_told_of_the_end(void **state)
{
    struct fixture *fixture = *state;
    for (int given = 0; given < 2; given++) {
        struct witness witness = {0};
        struct nri_plugin_options options = fixture_options(fixture);
        struct runtime runtime = {
            .fd = -1, .listener = fixture->listener, .last = RUNTIME_CREATE, .hang_up = true};
        uv_loop_t loop;
        nri_plugin *plugin = witness_plugin(&witness, &options);
        assert_int_equal(uv_loop_init(&loop), 0);
        runtime_start(&runtime);
        assert_int_equal(nri_plugin_start(plugin, given ? &loop : NULL, close_when_ended, &witness),
                         0);
        if (given)
            (void)uv_run(&loop, UV_RUN_DEFAULT);
        while (!given && witness.closed == 0)
            (void)drive_turn(plugin);
        assert_true(runtime_join(&runtime));
        assert_int_equal(witness.result, NRI_E_CLOSED);
        witness.reason = 0;
        check_closed(&witness);
        assert_int_equal(uv_loop_close(&loop), 0);
    }
}

/* ---- from outside ---- */

static int hold(nri_request *request, struct witness *witness)
{
    witness->held = request; /* NRI_PENDING passes the reference */
    return NRI_PENDING;
}

static int update(nri_request *request, struct witness *witness)
{
    (void)request;
    for (int i = 0; i < 3; i++)
        assert_int_equal(witness_update(witness, witness->plugin), 0);
    return 0;
}

struct outside {
    enum runtime_step last;
    enum nri_event until; /* the event that is waited for; unknown: none, no turn is made at all */
    int (*act)(nri_request *, struct witness *);
};

static void turn_until(nri_plugin *plugin, uv_loop_t *loop, const atomic_int *count)
{
    while (atomic_load(count) == 0) {
        if (loop != NULL)
            (void)uv_run(loop, UV_RUN_ONCE);
        else
            assert_int_equal(drive_turn(plugin), 1);
    }
}

static void check_close_outside(struct fixture *fixture, const struct outside *outside,
                                uv_loop_t *loop)
{
    struct witness witness = {.act_in = outside->until, .act = outside->act};
    struct nri_plugin_options options = fixture_options(fixture);
    struct runtime runtime = {
        .fd = -1, .listener = fixture->listener, .last = outside->last, .no_answer = true};
    nri_plugin *plugin = witness_plugin(&witness, &options);
    runtime_start(&runtime);
    assert_int_equal(nri_plugin_start(plugin, loop, witness_ended, &witness), 0);
    if (outside->until != NRI_EVENT_UNKNOWN)
        turn_until(plugin, loop, &witness.count[outside->until]);
    assert_int_equal(nri_plugin_post(plugin, witness_posted, &witness), 0);
    nri_plugin_close(plugin, witness_closed, &witness);
    if (loop != NULL)
        (void)uv_run(loop, UV_RUN_DEFAULT);
    check_closed(&witness);
    assert_int_equal(witness.ended, 1);
    assert_int_equal(witness.result, 0);
    assert_true(runtime_join(&runtime));
    assert_int_equal(witness.updated, outside->act == update ? 3 : 0);
    for (int i = 0; i < witness.updated; i++)
        assert_int_equal(witness.update_codes[i], NRI_E_CLOSED);
    if (witness.held != NULL) {
        assert_int_equal(nri_request_complete(witness.held, 0), NRI_E_CLOSED);
        assert_null(nri_request_unref(witness.held));
    }
}

static void test_close_at_every_stage(void **state)
{
    static const struct outside stages[] = {
        {RUNTIME_ACCEPT, NRI_EVENT_UNKNOWN, NULL}, /* started, and the loop has not turned */
        {RUNTIME_REGISTER, NRI_EVENT_CONNECTED, NULL},
        {RUNTIME_CONFIGURE, NRI_EVENT_CONFIGURE, NULL},
        {RUNTIME_SYNCHRONIZE, NRI_EVENT_SYNCHRONIZE, NULL},
        {RUNTIME_SYNCHRONIZE, NRI_EVENT_SYNCHRONIZE, hold}, /* a request is pending */
        {RUNTIME_CREATE, NRI_EVENT_CREATE_CONTAINER, hold},
        {RUNTIME_CREATE, NRI_EVENT_CREATE_CONTAINER, update}, /* calls are pending */
    };
    for (size_t i = 0; i < FIXTURE_STAGES; i++) {
        uv_loop_t loop;
        check_close_outside(*state, &stages[i], NULL);
        assert_int_equal(uv_loop_init(&loop), 0);
        check_close_outside(*state, &stages[i], &loop);
        assert_int_equal(uv_loop_close(&loop), 0);
    }
}

/* While connecting is tried again and again. */
static void test_close_while_the_backlog_is_full(void **state)
{
    struct fixture *fixture = *state;
    for (int given = 0; given < 2; given++) {
        struct witness witness = {0};
        struct nri_plugin_options options = fixture_options(fixture);
        int fds[64], count = fixture_fill_backlog(fixture, fds, 64);
        uv_loop_t loop;
        nri_plugin *plugin = witness_plugin(&witness, &options);
        assert_int_equal(uv_loop_init(&loop), 0);
        assert_int_equal(nri_plugin_start(plugin, given ? &loop : NULL, witness_ended, &witness),
                         0);
        for (int i = 0; i < 3; i++)
            (void)(given ? uv_run(&loop, UV_RUN_ONCE) : drive_turn(plugin));
        assert_int_equal(nri_plugin_get_state(plugin), NRI_PLUGIN_CONNECTING);
        assert_int_equal(nri_plugin_post(plugin, witness_posted, &witness), 0);
        nri_plugin_close(plugin, witness_closed, &witness);
        (void)uv_run(&loop, UV_RUN_DEFAULT);
        check_closed(&witness);
        assert_int_equal(witness.count[NRI_EVENT_CONNECTED], 0);
        assert_int_equal(witness.ended, 1);
        assert_int_equal(uv_loop_close(&loop), 0);
        while (count > 0)
            (void)close(fds[--count]);
    }
}

static void test_close_before_and_after_a_run(void **state)
{
    struct fixture *fixture = *state;
    struct nri_plugin_options options = fixture_options(fixture);
    struct witness witness = {0};
    nri_plugin *plugin = witness_plugin(&witness, &options);
    assert_int_equal(nri_plugin_post(plugin, witness_posted, &witness), 0);
    nri_plugin_close(plugin, witness_closed, &witness);
    check_closed(&witness);

    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct runtime runtime = {
            .fd = -1, .listener = fixture->listener, .last = RUNTIME_CREATE, .hang_up = true};
        witness = (struct witness){0};
        plugin = witness_plugin(&witness, &options);
        runtime_start(&runtime);
        assert_int_equal(drive_to_end(drive, plugin, &witness), NRI_E_CLOSED);
        assert_true(runtime_join(&runtime));
        assert_int_equal(nri_plugin_post(plugin, witness_posted, &witness), 0);
        nri_plugin_close(plugin, witness_closed, &witness);
        witness.reason = 0;
        check_closed(&witness);
    }
}

static void post_for_ever(nri_plugin *plugin, void *user)
{
    struct witness *witness = user;
    atomic_fetch_add(&witness->posted, 1);
    witness->result = nri_plugin_post(plugin, post_for_ever, user);
}

/* A function that posts itself again keeps neither the loop nor the close. */
static void test_a_function_that_posts_itself_ends_with_the_plugin(void **state)
{
    struct fixture *fixture = *state;
    struct nri_plugin_options options = fixture_options(fixture);
    struct witness witness = {0};
    struct runtime runtime = {
        .fd = -1, .listener = fixture->listener, .last = RUNTIME_CREATE, .hang_up = true};
    nri_plugin *plugin = witness_plugin(&witness, &options);
    assert_int_equal(nri_plugin_post(plugin, post_for_ever, &witness), 0);
    runtime_start(&runtime);
    assert_int_equal(nri_plugin_run(plugin), NRI_E_CLOSED);
    assert_true(runtime_join(&runtime));
    assert_int_equal(witness.count[NRI_EVENT_CREATE_CONTAINER], 1);
    int calls = witness.posted;
    nri_plugin_close(plugin, witness_closed, &witness);
    assert_int_equal(witness.closed, 1);
    assert_int_equal(witness.posted, calls + 1);
    assert_int_equal(witness.result, NRI_E_STATE);
}

/* ---- from other threads ---- */

struct poster {
    struct witness *witness;
    pthread_t thread;
    int failures;
};

static void *post_many(void *context)
{
    struct poster *poster = context;
    for (int i = 0; i < 1000; i++) {
        if (nri_plugin_post(poster->witness->plugin, witness_posted, poster->witness) != 0)
            poster->failures++;
    }
    return NULL;
}

static void test_posts_of_several_threads_are_all_called(void **state)
{
    struct fixture *fixture = *state;
    struct nri_plugin_options options = fixture_options(fixture);
    struct witness witness = {0};
    struct runtime runtime = {
        .fd = -1, .listener = fixture->listener, .last = RUNTIME_CREATE, .hang_up = true};
    struct poster posters[4];
    nri_plugin *plugin = witness_plugin(&witness, &options);
    runtime_start(&runtime);
    for (int i = 0; i < 4; i++) {
        posters[i] = (struct poster){.witness = &witness};
        assert_int_equal(pthread_create(&posters[i].thread, NULL, post_many, &posters[i]), 0);
    }
    assert_int_equal(nri_plugin_run(plugin), NRI_E_CLOSED);
    for (int i = 0; i < 4; i++) {
        (void)pthread_join(posters[i].thread, NULL);
        assert_int_equal(posters[i].failures, 0);
    }
    assert_true(runtime_join(&runtime));
    nri_plugin_close(plugin, witness_closed, &witness);
    assert_int_equal(witness.posted, 4000);
    assert_int_equal(witness.closed, 1);
}

/* ---- what was completed before ---- */

static int hold_for_later(nri_request *request, struct witness *witness)
{
    witness->held = request;
    return NRI_PENDING;
}

static void complete_and_stop(nri_plugin *plugin, void *user)
{
    struct witness *witness = user;
    assert_int_equal(nri_request_complete(witness->held, 0), 0);
    nri_plugin_stop(plugin);
}

static void complete_and_close(nri_plugin *plugin, void *user)
{
    struct witness *witness = user;
    assert_int_equal(nri_request_complete(witness->held, 0), 0);
    nri_plugin_close(plugin, witness_closed, witness);
}

static void check_reply_before_the_end(struct fixture *fixture,
                                       void (*end)(nri_plugin *plugin, void *user))
{
    struct witness witness = {.act_in = NRI_EVENT_CREATE_CONTAINER, .act = hold_for_later};
    struct nri_plugin_options options = fixture_options(fixture);
    struct runtime runtime = {
        .fd = -1, .listener = fixture->listener, .last = RUNTIME_CREATE, .hang_up = false};
    nri_plugin *plugin = witness_plugin(&witness, &options);
    runtime_start(&runtime);
    assert_int_equal(nri_plugin_start(plugin, NULL, witness_ended, &witness), 0);
    while (witness.held == NULL)
        assert_int_equal(drive_turn(plugin), 1);
    assert_int_equal(nri_plugin_post(plugin, end, &witness), 0);
    while (witness.ended == 0)
        (void)drive_turn(plugin);
    assert_null(nri_request_unref(witness.held));
    assert_true(runtime_join(&runtime)); /* the answer came, then the end */
    if (witness.closed == 0)
        nri_plugin_close(plugin, witness_closed, &witness);
    assert_int_equal(witness.closed, 1);
}

/* nri_request_complete() said 0: whoever is told that may end the plugin. */
static void test_an_end_does_not_lose_what_was_completed(void **state)
{
    check_reply_before_the_end(*state, complete_and_stop);
    check_reply_before_the_end(*state, complete_and_close);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_close_in_each_handler),
        TEST(test_close_in_a_posted_function),
        TEST(test_close_in_the_callback_of_an_update),
        TEST(test_close_when_told_of_the_end),
        TEST(test_close_at_every_stage),
        TEST(test_close_while_the_backlog_is_full),
        TEST(test_close_before_and_after_a_run),
        TEST(test_a_function_that_posts_itself_ends_with_the_plugin),
        TEST(test_an_end_does_not_lose_what_was_completed),
        TEST(test_posts_of_several_threads_are_all_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
