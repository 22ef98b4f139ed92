/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NRI_DISPATCH_WORKER: handlers on a thread of their own, while the loop keeps the connection; work
 * that handlers offload; a stop that waits for what is pending. The plugin runs on a thread, the
 * runtime is the test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <sched.h>

#include <cmocka.h>

#include "fixture.h"

#define CREATE NRI_EVENT_CREATE_CONTAINER
#define MS     INT64_C(1000000)

/* A door that handlers wait at. */
struct door {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    unsigned waiting, most_waiting, passed;
    bool open;
};

struct bench {
    struct witness witness;
    struct door door;
    struct peer peer;
    pthread_t driver;
    enum drive drive;
    int result;
    pthread_t handler;  /* where the last handler ran */
    atomic_int strange; /* handlers on another thread than the first one, or on the loop's */
    atomic_int threads; /* handlers so far */
    int codes[8];       /* of calls in handlers */
    char order[256];    /* ids of containers, as they came */
};

static void door_init(struct door *door)
{
    memset(door, 0, sizeof *door);
    assert_int_equal(pthread_mutex_init(&door->mutex, NULL), 0);
    assert_int_equal(pthread_cond_init(&door->changed, NULL), 0);
}

static void door_fini(struct door *door)
{
    (void)pthread_cond_destroy(&door->changed);
    (void)pthread_mutex_destroy(&door->mutex);
}

static void door_pass(struct door *door)
{
    (void)pthread_mutex_lock(&door->mutex);
    door->waiting++;
    if (door->waiting > door->most_waiting)
        door->most_waiting = door->waiting;
    (void)pthread_cond_broadcast(&door->changed);
    while (!door->open)
        (void)pthread_cond_wait(&door->changed, &door->mutex);
    door->waiting--;
    door->passed++;
    (void)pthread_cond_broadcast(&door->changed);
    (void)pthread_mutex_unlock(&door->mutex);
}

static void door_await(struct door *door, unsigned waiting)
{
    (void)pthread_mutex_lock(&door->mutex);
    while (door->waiting < waiting)
        (void)pthread_cond_wait(&door->changed, &door->mutex);
    (void)pthread_mutex_unlock(&door->mutex);
}

static void door_open(struct door *door)
{
    (void)pthread_mutex_lock(&door->mutex);
    door->open = true;
    (void)pthread_cond_broadcast(&door->changed);
    (void)pthread_mutex_unlock(&door->mutex);
}

static void *drive(void *user)
{
    struct bench *bench = user;
    bench->result = drive_to_end(bench->drive, bench->witness.plugin, &bench->witness);
    return NULL;
}

/* Notes where a handler runs. */
static void note(struct bench *bench, nri_request *request)
{
    const char *id = nri_container_id(nri_request_container(request));
    if (pthread_equal(pthread_self(), bench->driver) != 0 ||
        (atomic_load(&bench->threads) > 0 && pthread_equal(pthread_self(), bench->handler) == 0))
        atomic_fetch_add(&bench->strange, 1);
    bench->handler = pthread_self();
    atomic_fetch_add(&bench->threads, 1);
    size_t length = strlen(bench->order);
    (void)snprintf(bench->order + length, sizeof bench->order - length, "%s ", id);
}

static void begin(struct bench *bench, struct nri_plugin_options *options,
                  int (*act)(nri_request *request, struct witness *witness))
{
    door_init(&bench->door);
    bench->witness = (struct witness){.act_in = CREATE, .act = act, .user = bench};
    options->dispatch = NRI_DISPATCH_WORKER;
    peer_init(&bench->peer, fixture_pair(options));
    (void)witness_plugin(&bench->witness, options);
    /* Held back until `driver` is known to the handlers. */
    assert_int_equal(pthread_create(&bench->driver, NULL, drive, bench), 0);
    assert_true(peer_register(&bench->peer));
}

/* The peer closes; the plugin's run ends. */
static void end(struct bench *bench)
{
    peer_close(&bench->peer);
    assert_int_equal(pthread_join(bench->driver, NULL), 0);
    nri_plugin_close(bench->witness.plugin, NULL, NULL);
    door_fini(&bench->door);
    assert_int_equal(bench->strange, 0);
}

static void send_create(struct bench *bench, uint32_t stream, const char *id, int64_t timeout)
{
    Nri__Pkg__Api__V1alpha1__CreateContainerRequest create =
        NRI__PKG__API__V1ALPHA1__CREATE_CONTAINER_REQUEST__INIT;
    peer_pod pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
    peer_container container = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    struct peer_bytes bytes = {0};
    pod.id = (char *)"pod1";
    container.id = (char *)(uintptr_t)id;
    container.pod_sandbox_id = pod.id;
    create.pod = &pod;
    create.container = &container;
    peer_bytes_call_within(&bytes, stream, "CreateContainer", &create.base, timeout);
    assert_true(peer_send(&bench->peer, &bytes));
}

/* The next answer: its stream, and whether it has an adjustment. */
static uint32_t take_answer(struct bench *bench, bool *adjusted)
{
    struct peer_message message;
    assert_int_equal(peer_receive(&bench->peer, &message), 1);
    assert_int_equal(message.type, PEER_RESPONSE);
    assert_int_equal(message.grpc, 0);
    uint32_t stream = message.stream;
    *adjusted = message.payload_size > 0;
    peer_message_free(&message);
    return stream;
}

static int adjust(nri_request *request, struct witness *witness)
{
    note(witness->user, request);
    return nri_adjustment_add_env(nri_request_adjustment(request), "A", "1");
}

static void test_handlers_run_in_order_on_one_thread(void **state)
{
    for (int i = 0; i < (int)DRIVES; i++) {
        struct bench bench = {.drive = (enum drive)i};
        struct nri_plugin_options options = fixture_options(*state);
        bool adjusted;
        begin(&bench, &options, adjust);
        for (uint32_t k = 0; k < 10; k++) {
            char id[8];
            (void)snprintf(id, sizeof id, "c%u", (unsigned)k);
            send_create(&bench, 11 + 2 * k, id, 60000 * MS);
        }
        for (uint32_t k = 0; k < 10; k++) {
            assert_int_equal(take_answer(&bench, &adjusted), 11 + 2 * k);
            assert_true(adjusted);
        }
        end(&bench);
        assert_int_equal(bench.result, NRI_E_CLOSED);
        assert_string_equal(bench.order, "c0 c1 c2 c3 c4 c5 c6 c7 c8 c9 ");
        assert_int_equal(bench.witness.count[NRI_EVENT_CONNECTED], 1);
        assert_int_equal(bench.witness.count[NRI_EVENT_DISCONNECTED], 1);
        assert_int_equal(bench.witness.reason, NRI_E_CLOSED);
    }
}

/* ---- handlers that block ---- */

static int adjust_behind_the_door(nri_request *request, struct witness *witness)
{
    struct bench *bench = witness->user;
    int code = adjust(request, witness);
    door_pass(&bench->door);
    return code;
}

/* The guard answers in time, and the plugin stays. */
static void test_T14_a_blocked_handler_costs_its_own_answer(void **state)
{
    struct bench bench = {0};
    struct nri_plugin_options options = fixture_options(*state);
    bool adjusted;
    begin(&bench, &options, adjust_behind_the_door);
    send_create(&bench, 11, "stuck", 200 * MS);
    door_await(&bench.door, 1);
    assert_int_equal(take_answer(&bench, &adjusted), 11);
    assert_false(adjusted);
    assert_int_equal(bench.door.passed, 0);
    nri_plugin *plugin = bench.witness.plugin;
    assert_int_equal(nri_plugin_count_event(plugin, CREATE, NRI_COUNT_GUARDED), 1);
    while (!nri_plugin_is_wedged(plugin)) /* twice 200 ms */
        (void)sched_yield();
    door_open(&bench.door);
    send_create(&bench, 13, "next", 60000 * MS);
    assert_int_equal(take_answer(&bench, &adjusted), 13);
    assert_true(adjusted);
    assert_false(nri_plugin_is_wedged(plugin));
    assert_int_equal(nri_plugin_count_event(plugin, CREATE, NRI_COUNT_LATE), 1);
    assert_int_equal(nri_plugin_get_state(plugin), NRI_PLUGIN_READY);
    end(&bench);
}

static int read_all(nri_request *request, struct witness *witness)
{
    struct bench *bench = witness->user;
    nri_plugin *plugin = nri_request_plugin(request);
    char *text = NULL;
    size_t length = 0;
    note(bench, request);
    if (nri_plugin_metrics(plugin, &text, &length) != 0 || length == 0 ||
        nri_plugin_get_state(plugin) != NRI_PLUGIN_READY || nri_plugin_events(plugin) == 0 ||
        !nri_plugin_supports(plugin, NRI_FEATURE_TIMEOUTS))
        bench->codes[0]++;
    nri_metrics_free(text);
    return 0;
}

/* TSan looks on: requests come and are answered while handlers read. */
static void test_handlers_read_while_the_loop_works(void **state)
{
    struct bench bench = {0};
    struct nri_plugin_options options = fixture_options(*state);
    bool adjusted;
    begin(&bench, &options, read_all);
    for (uint32_t k = 0; k < 50; k++)
        send_create(&bench, 11 + 2 * k, "c", 60000 * MS);
    for (uint32_t k = 0; k < 50; k++)
        assert_int_equal(take_answer(&bench, &adjusted), 11 + 2 * k);
    end(&bench);
    assert_int_equal(bench.codes[0], 0);
    assert_int_equal(bench.threads, 50);
}

/* What comes behind a handler that does not return is not kept without end. */
static void test_a_stuck_handler_does_not_take_all_memory(void **state)
{
    struct fixture *fixture = *state;
    struct bench bench = {0};
    struct nri_plugin_options options = fixture_options(fixture);
    bool adjusted;
    options.max_in_flight = 2;
    begin(&bench, &options, adjust_behind_the_door);
    send_create(&bench, 11, "c0", 100 * MS);
    door_await(&bench.door, 1);
    size_t live = 0;
    for (uint32_t k = 0; k < 200; k++) {
        if (k == 20)
            live = fixture->heap.live_bytes;
        (void)take_answer(&bench, &adjusted);
        assert_false(adjusted);
        send_create(&bench, 13 + 2 * k, "c1", 100 * MS);
    }
    (void)take_answer(&bench, &adjusted);
    assert_true(fixture->heap.live_bytes <= live + 65536);
    door_open(&bench.door);
    /* Two waited; the others no handler has seen. */
    send_create(&bench, 1001, "last", 60000 * MS);
    assert_int_equal(take_answer(&bench, &adjusted), 1001);
    end(&bench);
    assert_true(bench.witness.count[CREATE] <= 4);
    assert_int_equal(strncmp(bench.order, "c0 c1 c1 ", strlen("c0 c1 c1 ")), 0);
}

/* ---- what handlers may call ---- */

static void posted(nri_plugin *plugin, void *user)
{
    struct bench *bench = user;
    (void)plugin;
    if (pthread_equal(pthread_self(), bench->handler) == 0)
        atomic_fetch_add(&bench->strange, 1);
    atomic_fetch_add(&bench->witness.posted, 1);
}

static int call_everything(nri_request *request, struct witness *witness)
{
    struct bench *bench = witness->user;
    nri_plugin *plugin = nri_request_plugin(request);
    note(bench, request);
    bench->codes[0] = nri_plugin_run(plugin);
    bench->codes[1] = nri_plugin_start(plugin, NULL, NULL, NULL);
    bench->codes[2] = nri_plugin_dispatch(plugin);
    bench->codes[3] = nri_plugin_post_handler(plugin, posted, bench);
    bench->codes[4] = (int)nri_plugin_get_state(plugin);
    bench->codes[5] = (int)strlen(nri_plugin_runtime_name(plugin));
    nri_plugin_stop(plugin);
    return 0;
}

static void test_calls_in_a_handler(void **state)
{
    for (int i = 0; i < (int)DRIVES; i++) {
        struct bench bench = {.drive = (enum drive)i};
        struct nri_plugin_options options = fixture_options(*state);
        begin(&bench, &options, call_everything);
        send_create(&bench, 11, "c0", 60000 * MS);
        assert_true(peer_wait_end(&bench.peer));
        end(&bench);
        assert_int_equal(bench.result, 0);
        assert_int_equal(bench.codes[0], NRI_E_DEADLOCK);
        assert_true(bench.codes[1] < 0);
        assert_int_equal(bench.codes[2], NRI_E_DEADLOCK);
        assert_int_equal(bench.codes[3], 0);
        assert_int_equal(bench.codes[4], NRI_PLUGIN_READY);
        assert_true(bench.codes[5] > 0);
        assert_int_equal(bench.witness.posted, 1);
    }
}

static int close_plugin(nri_request *request, struct witness *witness)
{
    nri_plugin_close(nri_request_plugin(request), witness_closed, witness);
    nri_plugin_close(nri_request_plugin(request), witness_closed, witness);
    return 0;
}

static void test_closed_in_a_handler(void **state)
{
    for (int i = 0; i < (int)DRIVES; i++) {
        struct bench bench = {.drive = (enum drive)i};
        struct nri_plugin_options options = fixture_options(*state);
        begin(&bench, &options, close_plugin);
        send_create(&bench, 11, "c0", 60000 * MS);
        assert_true(peer_wait_end(&bench.peer));
        peer_close(&bench.peer);
        assert_int_equal(pthread_join(bench.driver, NULL), 0);
        assert_int_equal(bench.witness.closed, 1);
        assert_int_equal(bench.witness.count[NRI_EVENT_DISCONNECTED], 1);
        door_fini(&bench.door);
    }
}

/* ---- what Configure tells ---- */

/* Configure comes while this runs. */
static int read_until_configured(nri_request *request, struct witness *witness)
{
    const nri_plugin *plugin = nri_request_plugin(request);
    (void)witness;
    while (nri_plugin_runtime_name(plugin)[0] == '\0') {
        (void)nri_plugin_runtime_version(plugin);
        (void)nri_plugin_runtime_nri_version(plugin);
        (void)nri_plugin_nri_version_is_inferred(plugin);
        (void)nri_plugin_supports(plugin, NRI_FEATURE_REMOVE_ENV);
        (void)nri_plugin_events(plugin);
        (void)nri_plugin_request_timeout_ms(plugin);
        (void)sched_yield();
    }
    return 0;
}

static void test_a_handler_reads_what_Configure_tells_meanwhile(void **state)
{
    struct bench bench = {0};
    struct nri_plugin_options options = fixture_options(*state);
    door_init(&bench.door);
    bench.witness = (struct witness){
        .act_in = NRI_EVENT_CONNECTED, .act = read_until_configured, .user = &bench};
    options.dispatch = NRI_DISPATCH_WORKER;
    peer_init(&bench.peer, fixture_pair(&options));
    (void)witness_plugin(&bench.witness, &options);
    assert_int_equal(pthread_create(&bench.driver, NULL, drive, &bench), 0);
    assert_true(peer_register(&bench.peer));
    end(&bench);
}

/* Another Configure takes the place of the first, whose texts a handler has in its hands. */
static int hold_what_was_told(nri_request *request, struct witness *witness)
{
    struct bench *bench = witness->user;
    const nri_plugin *plugin = nri_request_plugin(request);
    const char *name = nri_plugin_runtime_name(plugin);
    char before[64];
    note(bench, request);
    (void)snprintf(before, sizeof before, "%s", name);
    door_pass(&bench->door);
    while (strcmp(nri_plugin_runtime_name(plugin), "another") != 0)
        (void)sched_yield();
    bench->codes[0] = before[0] != '\0' && strcmp(before, name) == 0;
    return 0;
}

static void test_texts_stay_while_a_handler_holds_them(void **state)
{
    struct bench bench = {0};
    struct nri_plugin_options options = fixture_options(*state);
    Nri__Pkg__Api__V1alpha1__ConfigureRequest configure =
        NRI__PKG__API__V1ALPHA1__CONFIGURE_REQUEST__INIT;
    struct peer_bytes bytes = {0};
    bool adjusted;
    begin(&bench, &options, hold_what_was_told);
    door_open(&bench.door);
    send_create(&bench, 11, "c", 60000 * MS);
    configure.runtime_name = (char *)"another";
    configure.runtime_version = (char *)"2";
    configure.nri_version = (char *)"v0.12.2";
    peer_bytes_call(&bytes, 13, "Configure", &configure.base);
    (void)pthread_mutex_lock(&bench.door.mutex);
    while (bench.door.passed < 1)
        (void)pthread_cond_wait(&bench.door.changed, &bench.door.mutex);
    (void)pthread_mutex_unlock(&bench.door.mutex);
    assert_true(peer_send(&bench.peer, &bytes));
    assert_int_equal(take_answer(&bench, &adjusted), 11);
    struct peer_message message;
    assert_int_equal(peer_receive(&bench.peer, &message), 1);
    peer_message_free(&message);
    end(&bench);
    assert_true(bench.codes[0]);
}

/* ---- offloaded work ---- */

static int work(nri_request *request, void *user)
{
    struct bench *bench = user;
    door_pass(&bench->door);
    if (strcmp(nri_container_id(nri_request_container(request)), "bad") == 0)
        return nri_request_fail(request, NRI_E_REJECTED, "no such thing");
    return nri_adjustment_add_env(nri_request_adjustment(request), "A", "1");
}

static int offload(nri_request *request, struct witness *witness)
{
    note(witness->user, request);
    return nri_request_offload(request, work, witness->user);
}

static void test_offloaded_work_runs_side_by_side(void **state)
{
    for (int dispatch = NRI_DISPATCH_LOOP; dispatch <= NRI_DISPATCH_WORKER; dispatch++) {
        struct bench bench = {0};
        struct nri_plugin_options options = fixture_options(*state);
        bool adjusted, seen[6] = {false};
        options.offload_threads = 3;
        begin(&bench, &options, offload);
        for (uint32_t k = 0; k < 6; k++)
            send_create(&bench, 11 + 2 * k, "c", 60000 * MS);
        door_await(&bench.door, 3);
        door_open(&bench.door);
        for (uint32_t k = 0; k < 6; k++) {
            uint32_t place = (take_answer(&bench, &adjusted) - 11) / 2;
            assert_true(place < 6 && !seen[place] && adjusted);
            seen[place] = true;
        }
        assert_true(bench.door.most_waiting <= 3);
        /* A refusal of the work's own. */
        struct peer_message message;
        send_create(&bench, 31, "bad", 60000 * MS);
        assert_int_equal(peer_receive(&bench.peer, &message), 1);
        assert_string_equal(message.text, "no such thing");
        peer_message_free(&message);
        end(&bench);
    }
}

static int offload_beyond(nri_request *request, struct witness *witness)
{
    struct bench *bench = witness->user;
    note(bench, request);
    return nri_request_offload(request, work, bench);
}

static void test_too_much_offloaded_work_is_busy(void **state)
{
    struct bench bench = {0};
    struct nri_plugin_options options = fixture_options(*state);
    struct peer_message message;
    bool adjusted;
    options.offload_threads = 1;
    options.max_in_flight = 2; /* as many may wait; the guard makes room for the next requests */
    begin(&bench, &options, offload_beyond);
    send_create(&bench, 11, "c", 100 * MS);
    door_await(&bench.door, 1);
    assert_int_equal(take_answer(&bench, &adjusted), 11);
    send_create(&bench, 13, "c", 100 * MS);
    assert_int_equal(take_answer(&bench, &adjusted), 13);
    send_create(&bench, 15, "c", 60000 * MS);
    send_create(&bench, 17, "c", 60000 * MS);
    assert_int_equal(peer_receive(&bench.peer, &message), 1);
    assert_int_equal(message.stream, 17);
    assert_int_equal(message.grpc, 8);
    assert_non_null(strstr(message.text, "busy"));
    peer_message_free(&message);
    door_open(&bench.door);
    assert_int_equal(take_answer(&bench, &adjusted), 15);
    assert_true(adjusted);
    end(&bench);
    assert_int_equal(bench.door.passed, 3);
}

/* ---- a stop with a grace ---- */

static void test_a_stop_waits_for_what_is_pending(void **state)
{
    struct bench bench = {0};
    struct nri_plugin_options options = fixture_options(*state);
    bool adjusted;
    options.stop_grace_ms = 60000;
    begin(&bench, &options, adjust_behind_the_door);
    send_create(&bench, 11, "pending", 60000 * MS);
    door_await(&bench.door, 1);
    nri_plugin_stop(bench.witness.plugin);
    send_create(&bench, 13, "behind", 60000 * MS);
    assert_int_equal(take_answer(&bench, &adjusted), 13);
    assert_false(adjusted); /* it passes, and no handler sees it */
    door_open(&bench.door);
    assert_int_equal(take_answer(&bench, &adjusted), 11);
    assert_true(adjusted);
    assert_true(peer_wait_end(&bench.peer));
    end(&bench);
    assert_int_equal(bench.result, 0);
    assert_string_equal(bench.order, "pending ");
}

static void test_a_grace_ends(void **state)
{
    struct bench bench = {0};
    struct nri_plugin_options options = fixture_options(*state);
    options.stop_grace_ms = 50;
    begin(&bench, &options, adjust_behind_the_door);
    send_create(&bench, 11, "pending", 60000 * MS);
    door_await(&bench.door, 1);
    nri_plugin_stop(bench.witness.plugin);
    assert_true(peer_wait_end(&bench.peer)); /* while the handler stands at the door */
    assert_int_equal(bench.door.passed, 0);
    door_open(&bench.door);
    end(&bench);
    assert_int_equal(bench.result, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_handlers_run_in_order_on_one_thread),
        TEST(test_T14_a_blocked_handler_costs_its_own_answer),
        TEST(test_a_stuck_handler_does_not_take_all_memory),
        TEST(test_handlers_read_while_the_loop_works),
        TEST(test_calls_in_a_handler),
        TEST(test_closed_in_a_handler),
        TEST(test_a_handler_reads_what_Configure_tells_meanwhile),
        TEST(test_texts_stay_while_a_handler_holds_them),
        TEST(test_offloaded_work_runs_side_by_side),
        TEST(test_too_much_offloaded_work_is_busy),
        TEST(test_a_stop_waits_for_what_is_pending),
        TEST(test_a_grace_ends),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
