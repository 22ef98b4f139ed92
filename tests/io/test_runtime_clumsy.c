/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An embedder that does in each callback whatever comes to its mind: it calls events, drops
 * plugins, holds syncs, adds plugins, runs, stops and closes, while requests of built-in plugins
 * are completed by two other threads. What it does is drawn from a seed. Each event has one end,
 * and the runtime closes once.
 */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include <nri/nri.h>

#define SEEDS     50u
#define EVENTS    300u
#define TURNS     400
#define THREADS   2u
#define QUEUE     1024u
#define HELD      64u
#define PATIENCE  60000
#define NO_ENDING 1000000u

struct clumsy {
    nri_runtime *runtime;
    struct nri_plugin_ops plugin_ops;
    nri_pod *pod;
    nri_container *container;
    uint64_t random;
    unsigned acts, ends_after; /* from then on it stops and closes too */
    size_t called, done;
    int ready, closed;
    nri_runtime_update *held[HELD];
    size_t held_count;
    /* Shared with the threads. */
    pthread_mutex_t lock;
    pthread_cond_t filled;
    nri_request *queue[QUEUE];
    size_t queued;
    bool ending;
};

static unsigned draw(struct clumsy *clumsy, unsigned below)
{
    clumsy->random ^= clumsy->random << 13;
    clumsy->random ^= clumsy->random >> 7;
    clumsy->random ^= clumsy->random << 17;
    return (unsigned)(clumsy->random % below);
}

/* ---- what it does ---- */

static void act(struct clumsy *clumsy);

static void on_done(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct clumsy *clumsy = user;
    char *text;

    (void)runtime;
    clumsy->done++;
    if (nri_outcome_json(outcome, NULL, &text, NULL) == 0)
        nri_outcome_text_free(text);
    act(clumsy);
}

static void on_closed(void *user)
{
    struct clumsy *clumsy = user;

    clumsy->closed++;
}

static void call(struct clumsy *clumsy)
{
    static const enum nri_event events[] = {NRI_EVENT_CREATE_CONTAINER, NRI_EVENT_START_CONTAINER,
                                            NRI_EVENT_STOP_CONTAINER, NRI_EVENT_STOP_POD_SANDBOX};
    struct nri_runtime_event event;

    nri_runtime_event_init(&event, sizeof event);
    event.event = events[draw(clumsy, 4)];
    event.pod = clumsy->pod;
    event.container = event.event == NRI_EVENT_STOP_POD_SANDBOX ? NULL : clumsy->container;
    if (clumsy->called < EVENTS && nri_runtime_call(clumsy->runtime, &event, on_done, clumsy) == 0)
        clumsy->called++;
}

static void drop_first(const struct clumsy *clumsy)
{
    nri_runtime_plugin *first = nri_runtime_next_plugin(clumsy->runtime, NULL);

    if (first != NULL)
        (void)nri_runtime_drop_plugin(clumsy->runtime, first);
}

static void attach_no_socket(const struct clumsy *clumsy)
{
    const int fd = dup(STDIN_FILENO);

    if (fd >= 0 && nri_runtime_attach_fd(clumsy->runtime, fd) != 0)
        (void)close(fd);
}

static void look(const struct clumsy *clumsy)
{
    char *text;
    size_t length;

    if (nri_runtime_metrics(clumsy->runtime, &text, &length) == 0)
        nri_metrics_free(text);
}

static void complete_update(struct clumsy *clumsy)
{
    if (clumsy->held_count > 0)
        nri_runtime_update_complete(clumsy->held[--clumsy->held_count], 0, NULL);
}

static void act(struct clumsy *clumsy)
{
    nri_runtime *runtime = clumsy->runtime;
    const bool may_end = ++clumsy->acts > clumsy->ends_after;

    switch (draw(clumsy, 16)) {
    case 0:
        if (draw(clumsy, 4) == 0)
            drop_first(clumsy);
        break;
    case 1:
        nri_runtime_hold_sync(runtime);
        break;
    case 2:
        (void)nri_runtime_release_sync(runtime);
        break;
    case 3:
        (void)nri_runtime_dispatch(runtime);
        break;
    case 4:
        (void)nri_runtime_run(runtime);
        break;
    case 5:
        look(clumsy);
        break;
    case 6:
        (void)nri_runtime_add_builtin(runtime, &clumsy->plugin_ops, "more", "33", NULL, clumsy);
        break;
    case 7:
        attach_no_socket(clumsy);
        break;
    case 8:
        complete_update(clumsy);
        break;
    case 9:
        if (may_end)
            nri_runtime_stop(runtime);
        break;
    case 10:
        if (may_end)
            nri_runtime_close(runtime, on_closed, clumsy);
        break;
    default:
        call(clumsy);
        break;
    }
}

/* ---- the callbacks ---- */

static int enumerate(nri_runtime *runtime, nri_enumeration *list, void *user)
{
    struct clumsy *clumsy = user;

    (void)runtime;
    act(clumsy);
    (void)nri_enumeration_add_pod(list, clumsy->pod);
    return nri_enumeration_add_container(list, clumsy->container);
}

static int update(nri_runtime *runtime, nri_runtime_update *what, void *user)
{
    struct clumsy *clumsy = user;

    (void)runtime;
    act(clumsy);
    if (draw(clumsy, 2) == 0 || clumsy->held_count == HELD)
        return 0;
    clumsy->held[clumsy->held_count++] = what;
    return NRI_PENDING;
}

static void evict(nri_runtime *runtime, nri_runtime_plugin *plugin, const char *id,
                  const char *reason, void *user)
{
    (void)runtime;
    (void)plugin;
    (void)id;
    (void)reason;
    act(user);
}

static void connected(nri_runtime *runtime, nri_runtime_plugin *plugin, void *user)
{
    (void)runtime;
    (void)plugin;
    act(user);
}

static void lost(nri_runtime *runtime, nri_runtime_plugin *plugin, int code, const char *text,
                 void *user)
{
    (void)runtime;
    (void)plugin;
    (void)code;
    (void)text;
    act(user);
}

static void audit(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    (void)runtime;
    (void)outcome;
    act(user);
}

static void ready(nri_runtime *runtime, void *user)
{
    struct clumsy *clumsy = user;

    (void)runtime;
    clumsy->ready++;
    for (unsigned i = 0; i < 5; i++)
        call(clumsy);
    act(clumsy);
}

/* ---- requests, and the threads that complete them ---- */

static int handle(nri_request *request, void *user)
{
    struct clumsy *clumsy = user;
    nri_updates *updates = nri_request_updates(request);

    if (draw(clumsy, 3) == 0)
        act(clumsy);
    (void)nri_adjustment_add_env(nri_request_adjustment(request), "A", "1");
    (void)nri_updates_evict(updates, "other", "why not");
    if (draw(clumsy, 4) == 0)
        return draw(clumsy, 2) == 0 ? 0 : NRI_E_REJECTED;
    (void)pthread_mutex_lock(&clumsy->lock);
    const bool fits = clumsy->queued < QUEUE;
    if (fits)
        clumsy->queue[clumsy->queued++] = request;
    (void)pthread_cond_signal(&clumsy->filled);
    (void)pthread_mutex_unlock(&clumsy->lock);
    return fits ? NRI_PENDING : 0;
}

static void *complete(void *user)
{
    struct clumsy *clumsy = user;

    (void)pthread_mutex_lock(&clumsy->lock);
    for (;;) {
        while (clumsy->queued == 0 && !clumsy->ending)
            (void)pthread_cond_wait(&clumsy->filled, &clumsy->lock);
        if (clumsy->queued == 0)
            break;
        nri_request *request = clumsy->queue[--clumsy->queued];
        (void)pthread_mutex_unlock(&clumsy->lock);
        (void)nri_request_complete(request, 0);
        nri_request_unref(request);
        (void)pthread_mutex_lock(&clumsy->lock);
    }
    (void)pthread_mutex_unlock(&clumsy->lock);
    return NULL;
}

/* ---- a life ---- */

static void start(struct clumsy *clumsy)
{
    struct nri_runtime_ops ops;
    struct nri_runtime_options options;

    nri_runtime_ops_init(&ops, sizeof ops);
    ops.enumerate = enumerate;
    ops.update = update;
    ops.evict = evict;
    ops.plugin_connected = connected;
    ops.plugin_lost = lost;
    ops.audit = audit;
    ops.ready = ready;
    nri_runtime_options_init(&options, sizeof options);
    options.no_external = options.no_launch = 1;
    options.request_timeout_ms = 200;
    options.registration_timeout_ms = 200;
    assert_int_equal(nri_runtime_new(&clumsy->runtime, &ops, &options, clumsy, NULL), 0);
    for (unsigned i = 0; i < 3; i++) {
        char index[3];
        (void)snprintf(index, sizeof index, "1%u", i);
        assert_int_equal(nri_runtime_add_builtin(clumsy->runtime, &clumsy->plugin_ops, "first",
                                                 index, NULL, clumsy),
                         0);
    }
    assert_int_equal(nri_runtime_start(clumsy->runtime, NULL, NULL, NULL), 0);
}

/* It closes when no more can be called, when it was stopped, and after many turns in any case. */
static void live(struct clumsy *clumsy)
{
    for (int turn = 0; clumsy->closed == 0; turn++) {
        if (clumsy->ready > 0 && clumsy->done == clumsy->called)
            call(clumsy);
        const bool idle = clumsy->ready > 0 && clumsy->done == clumsy->called;
        struct pollfd ready_fd = {.fd = nri_runtime_fd(clumsy->runtime), .events = POLLIN};
        const int wait = nri_runtime_timeout(clumsy->runtime);

        if (!idle && turn < TURNS && poll(&ready_fd, 1, wait < 0 ? PATIENCE : wait) == 0 &&
            wait < 0)
            fail_msg("nothing happens: %zu events called, %zu done", clumsy->called, clumsy->done);
        const int alive = nri_runtime_dispatch(clumsy->runtime);
        if (clumsy->closed == 0 && (alive <= 0 || turn >= TURNS || idle))
            nri_runtime_close(clumsy->runtime, on_closed, clumsy);
    }
}

static void one_life(struct clumsy *clumsy, unsigned seed)
{
    clumsy->random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
    clumsy->acts = 0;
    clumsy->called = clumsy->done = clumsy->held_count = 0;
    clumsy->ready = clumsy->closed = 0;
    clumsy->ends_after = draw(clumsy, 4) == 0 ? NO_ENDING : draw(clumsy, 120);
    start(clumsy);
    live(clumsy);
    if (clumsy->closed != 1 || clumsy->done != clumsy->called)
        fail_msg("seed %u: closed %d times, %zu events called, %zu done", seed, clumsy->closed,
                 clumsy->called, clumsy->done);
}

static void set_up(struct clumsy *clumsy)
{
    struct nri_plugin_ops *ops = &clumsy->plugin_ops;

    nri_plugin_ops_init(ops, sizeof *ops);
    ops->on_configure = ops->on_synchronize = ops->on_shutdown = handle;
    ops->on_create_container = ops->on_start_container = ops->on_stop_container = handle;
    ops->on_stop_pod_sandbox = ops->on_validate_adjustment = handle;
    assert_int_equal(nri_pod_new(&clumsy->pod, NULL), 0);
    assert_int_equal(nri_pod_set_id(clumsy->pod, "p"), 0);
    assert_int_equal(nri_container_new(&clumsy->container, NULL), 0);
    assert_int_equal(nri_container_set_id(clumsy->container, "c"), 0);
    assert_int_equal(nri_container_set_pod_sandbox_id(clumsy->container, "p"), 0);
    assert_int_equal(pthread_mutex_init(&clumsy->lock, NULL), 0);
    assert_int_equal(pthread_cond_init(&clumsy->filled, NULL), 0);
}

static unsigned first_seed, seed_count = SEEDS;

static void test_whatever_callbacks_do(void **state)
{
    static struct clumsy clumsy;
    pthread_t threads[THREADS];

    (void)state;
    set_up(&clumsy);
    for (unsigned i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, complete, &clumsy), 0);
    size_t events = 0;
    for (unsigned seed = first_seed; seed < first_seed + seed_count; seed++) {
        one_life(&clumsy, seed);
        events += clumsy.called;
    }
    (void)pthread_mutex_lock(&clumsy.lock);
    clumsy.ending = true;
    (void)pthread_cond_broadcast(&clumsy.filled);
    (void)pthread_mutex_unlock(&clumsy.lock);
    for (unsigned i = 0; i < THREADS; i++)
        (void)pthread_join(threads[i], NULL);
    print_message("%u lives with %zu events\n", seed_count, events);
    assert_true(events > seed_count);
    nri_pod_free(clumsy.pod);
    nri_container_free(clumsy.container);
    (void)pthread_cond_destroy(&clumsy.filled);
    (void)pthread_mutex_destroy(&clumsy.lock);
}

/* With arguments: the first seed, and how many. */
int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whatever_callbacks_do)};

    if (argc > 1)
        first_seed = (unsigned)strtoul(argv[1], NULL, 10);
    if (argc > 2)
        seed_count = (unsigned)strtoul(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
