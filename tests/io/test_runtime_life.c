/* SPDX-License-Identifier: Apache-2.0 */
/* A runtime's life on a given loop, its own loop, and somebody's poll(); stop and close at every
 * stage. */
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "node.h"

static void test_external_plugins_are_served(void **state)
{
    struct node *node = *state;
    struct guest guests[2] = {0};
    node_start(node);
    node_wait(node, &node->ready, 1);
    struct stat status;
    assert_int_equal(stat(node->socket, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    char directory[128];
    (void)snprintf(directory, sizeof directory, "%s/run", node->directory);
    assert_int_equal(stat(directory, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0700);

    guest_start(&guests[0], node, "20", "late");
    node_wait(node, &node->connected, 1);
    assert_int_equal(node->pid, getpid());
    assert_int_equal(node->origin, NRI_ORIGIN_EXTERNAL);
    guest_start(&guests[1], node, "10", "early");
    node_wait(node, &node->connected, 2);
    assert_string_equal(node->order, "20-late 10-early ");
    nri_runtime_plugin *first = nri_runtime_next_plugin(node->runtime, NULL);
    assert_string_equal(nri_runtime_plugin_id(first), "10-early");
    nri_runtime_plugin *second = nri_runtime_next_plugin(node->runtime, first);
    assert_string_equal(nri_runtime_plugin_id(second), "20-late");
    assert_null(nri_runtime_next_plugin(node->runtime, second));
    assert_int_equal(guests[0].pods, 1);
    assert_int_equal(guests[0].containers, 1);

    /* Both set the same variable. */
    assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
    assert_int_equal(node->called, 0);
    node_wait(node, &node->called, 1);
    assert_int_equal(node->call_code, NRI_E_CONFLICT);
    assert_int_equal(node->audited, 1);
    assert_int_equal(nri_runtime_drop_plugin(node->runtime, second), 0);
    node_wait(node, &node->lost, 1);
    assert_int_equal(node->lost_code, 0);
    node_wait(node, &guests[0].ended, 1);
    assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
    node_wait(node, &node->called, 2);
    assert_int_equal(node->call_code, 0);

    node_stop(node);
    assert_int_equal(node->end_code, 0);
    assert_int_equal(guests[1].shut_down, 1);
    node_wait(node, &guests[1].ended, 1);
    assert_int_equal(access(node->socket, F_OK), -1);
    assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), NRI_E_STATE);
    assert_int_equal(node_begin(node), NRI_E_STATE);
    node_close(node);
    guest_close(&guests[0], node);
    guest_close(&guests[1], node);
}

static void test_attached_plugin(void **state)
{
    struct node *node = *state;
    struct guest guest = {0};
    node->options.no_external = 1;
    assert_int_equal(node_new(node), 0);
    int fd = guest_start_fd(&guest, node, "10", "pair");
    assert_int_equal(nri_runtime_attach_fd(node->runtime, fd), NRI_E_STATE);
    assert_int_equal(node_begin(node), 0);
    assert_int_equal(nri_runtime_attach_fd(node->runtime, -1), NRI_E_INVALID);
    assert_int_equal(nri_runtime_attach_fd(node->runtime, 0), NRI_E_NOT_SOCKET);
    assert_int_equal(nri_runtime_attach_fd(node->runtime, fd), 0);
    node_wait(node, &node->connected, 1);
    assert_int_equal(node->origin, NRI_ORIGIN_ATTACHED);
    assert_int_equal(access(node->socket, F_OK), -1);
    node_close(node);
    assert_int_equal(node->ended, 1);
    guest_close(&guest, node);
}

static void test_built_in_plugin(void **state)
{
    struct node *node = *state;
    struct guest guest = {0}, later = {0};
    struct nri_plugin_ops ops = guest_ops();
    assert_int_equal(node_new(node), 0);
    assert_int_equal(nri_runtime_add_builtin(node->runtime, &ops, "inside", "1", NULL, &guest),
                     NRI_E_INVALID);
    assert_int_equal(nri_runtime_add_builtin(node->runtime, &ops, "a b", "10", NULL, &guest),
                     NRI_E_INVALID);
    assert_int_equal(nri_runtime_add_builtin(node->runtime, &ops, "inside", "10", "text", &guest),
                     0);
    assert_int_equal(guest.configured, 0);
    assert_int_equal(node_begin(node), 0);
    node_wait(node, &node->ready, 1);
    assert_int_equal(node->connected, 1); /* it is one of those of the start */
    assert_int_equal(node->origin, NRI_ORIGIN_BUILTIN);
    assert_string_equal(guest.config, "text");
    assert_int_equal(guest.synchronized, 1);
    assert_int_equal(nri_runtime_add_builtin(node->runtime, &ops, "later", "05", NULL, &later), 0);
    node_wait(node, &node->connected, 2);
    assert_string_equal(node->order, "10-inside 05-later ");
    assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
    node_wait(node, &node->called, 1);
    assert_int_equal(guest.created + later.created, 2);
    node_stop(node);
    assert_int_equal(guest.shut_down, 1);
    assert_int_equal(later.shut_down, 1);
    node_close(node);
}

/* ---- updates ---- */

struct answer {
    int count, code;
};

static void on_answer(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct answer *answer = user;
    (void)plugin;
    answer->count++;
    answer->code = nri_update_result_code(result);
}

static void ask_for_update(struct guest *guest, struct answer *answer)
{
    nri_updates *updates;
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    nri_update *update = nri_updates_container(updates, "old");
    assert_int_equal(nri_update_set_cpu_shares(update, 512), 0);
    assert_int_equal(nri_plugin_update_containers(guest->plugin, updates, NULL, on_answer, answer),
                     0);
    nri_updates_free(updates);
}

static void test_pending_updates(void **state)
{
    struct node *node = *state;
    struct guest guest = {0};
    struct answer answers[3] = {0};
    node_start(node);
    node_wait(node, &node->ready, 1);
    guest_start(&guest, node, "10", "guest");
    node_wait(node, &guest.synchronized, 1);
    node_wait(node, &node->connected, 1);
    ask_for_update(&guest, &answers[0]);
    node_wait(node, &node->updates, 1);
    nri_runtime_update_complete(node->update, 0, NULL); /* between turns */
    node_wait(node, &answers[0].count, 1);
    assert_int_equal(answers[0].code, 0);
    /* Answered after its plugin has gone, or never. */
    ask_for_update(&guest, &answers[1]);
    node_wait(node, &node->updates, 2);
    nri_runtime_update *first = node->update;
    ask_for_update(&guest, &answers[2]);
    node_wait(node, &node->updates, 3);
    nri_runtime_update *second = node->update;
    assert_ptr_equal(nri_runtime_update_plugin(second),
                     nri_runtime_next_plugin(node->runtime, NULL));
    guest_close(&guest, node);
    node_wait(node, &node->lost, 1);
    assert_null(nri_runtime_update_plugin(first));
    nri_runtime_update_complete(first, 0, NULL);
    node_close(node);
}

/* ---- stages ---- */

enum stage {
    STAGE_NEW,
    STAGE_BUILTIN,
    STAGE_STARTED,
    STAGE_TURNED,
    STAGE_READY,
    STAGE_PLUGIN,
    STAGE_CALLED,
    STAGE_STOPPING,
    STAGE_STOPPED,
    STAGES
};

static void go_to(struct node *node, enum stage stage, struct guest *guest, struct guest *inside)
{
    struct nri_plugin_ops ops = guest_ops();
    assert_int_equal(node_new(node), 0);
    if (stage >= STAGE_BUILTIN)
        assert_int_equal(nri_runtime_add_builtin(node->runtime, &ops, "inside", "10", NULL, inside),
                         0);
    if (stage >= STAGE_STARTED)
        assert_int_equal(node_begin(node), 0);
    if (stage >= STAGE_TURNED)
        (void)uv_run(&node->loop, UV_RUN_NOWAIT);
    if (stage >= STAGE_READY)
        node_wait(node, &node->ready, 1);
    if (stage >= STAGE_PLUGIN) {
        guest_start(guest, node, "20", "guest");
        node_wait(node, &node->connected, 2);
    }
    if (stage >= STAGE_CALLED)
        assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
    if (stage >= STAGE_STOPPING)
        nri_runtime_stop(node->runtime);
    if (stage == STAGE_STOPPING)
        (void)uv_run(&node->loop, UV_RUN_NOWAIT);
    if (stage >= STAGE_STOPPED)
        node_wait(node, &node->ended, 1);
}

static void forget(struct node *node)
{
    node->ready = node->ended = node->closed = node->connected = node->lost = node->called = 0;
}

static void test_close_at_every_stage(void **state)
{
    struct node *node = *state;
    for (enum stage stage = STAGE_NEW; stage < STAGES; stage++) {
        struct guest guest = {0}, inside = {0};
        forget(node);
        go_to(node, stage, &guest, &inside);
        node_close(node);
        assert_int_equal(node->ended, stage >= STAGE_STARTED ? 1 : 0);
        assert_int_equal(node->lost, node->connected);
        if (stage >= STAGE_CALLED)
            assert_int_equal(node->called, 1);
        if (stage >= STAGE_PLUGIN)
            guest_close(&guest, node);
        assert_int_equal(node->heap.live_blocks, 0);
    }
}

static void test_stop_at_every_stage(void **state)
{
    struct node *node = *state;
    for (enum stage stage = STAGE_NEW; stage < STAGES; stage++) {
        struct guest guest = {0}, inside = {0};
        forget(node);
        go_to(node, stage, &guest, &inside);
        nri_runtime_stop(node->runtime);
        nri_runtime_stop(node->runtime);
        if (stage < STAGE_STARTED)
            assert_int_equal(node_begin(node), 0); /* it ends at once */
        node_wait(node, &node->ended, 1);
        assert_int_equal(node->end_code, 0);
        assert_int_equal(node->lost, node->connected);
        node_close(node);
        if (stage >= STAGE_PLUGIN)
            guest_close(&guest, node);
        assert_int_equal(node->heap.live_blocks, 0);
    }
}

/* ---- in callbacks ---- */

static void closed_in_callback(void *user)
{
    struct node *node = user;
    node->closed++;
}

static void close_now(struct node *node)
{
    assert_int_equal(nri_runtime_run(node->runtime), NRI_E_DEADLOCK);
    assert_int_equal(nri_runtime_dispatch(node->runtime), NRI_E_DEADLOCK);
    nri_runtime_close(node->runtime, closed_in_callback, node);
    nri_runtime_close(node->runtime, closed_in_callback, node);
}

static void test_close_in_ready(void **state)
{
    struct node *node = *state;
    node->on_ready = close_now;
    node_start(node);
    node_wait(node, &node->closed, 1);
    assert_int_equal(node->ended, 1);
}

static void test_close_in_lost(void **state)
{
    struct node *node = *state;
    struct guest guest = {0};
    node->on_lost = close_now;
    node_start(node);
    node_wait(node, &node->ready, 1);
    guest_start(&guest, node, "20", "guest");
    node_wait(node, &node->connected, 1);
    guest_close(&guest, node);
    node_wait(node, &node->closed, 1);
    assert_int_equal(node->ended, 1);
}

static void post_again(nri_runtime *runtime, void *user)
{
    struct node *node = user;
    if (++node->posted < 3)
        assert_int_equal(nri_runtime_post(runtime, post_again, node), 0);
}

static void *post_and_stop(void *user)
{
    struct node *node = user;
    if (nri_runtime_post(node->runtime, post_again, node) != 0)
        return user;
    return NULL;
}

static void stop_when_ready(struct node *node)
{
    nri_runtime_stop(node->runtime);
}

static void test_posted_functions(void **state)
{
    struct node *node = *state;
    pthread_t thread;
    void *failed;
    node_start(node);
    assert_int_equal(pthread_create(&thread, NULL, post_and_stop, node), 0);
    assert_int_equal(pthread_join(thread, &failed), 0);
    assert_null(failed);
    node_wait(node, &node->posted, 3);
    /* Also when it is closed first. */
    assert_int_equal(nri_runtime_post(node->runtime, post_again, node), 0);
    node_close(node);
    assert_int_equal(node->posted, 4);
}

static nri_runtime *volatile of_signal;

static void stop_in_signal(int number)
{
    (void)number;
    nri_runtime_stop(of_signal);
}

static void raise_when_ready(struct node *node)
{
    of_signal = node->runtime;
    assert_int_equal(raise(SIGUSR1), 0);
}

static void test_stop_in_a_signal_handler(void **state)
{
    struct node *node = *state;
    void (*old)(int) = signal(SIGUSR1, stop_in_signal);
    node->on_ready = raise_when_ready;
    assert_int_equal(node_new(node), 0);
    assert_int_equal(nri_runtime_run(node->runtime), 0);
    (void)signal(SIGUSR1, old);
    node_close(node);
}

static void test_run_on_its_own_loop(void **state)
{
    struct node *node = *state;
    node->on_ready = stop_when_ready;
    assert_int_equal(node_new(node), 0);
    assert_int_equal(nri_runtime_run(node->runtime), 0);
    assert_int_equal(node->ready, 1);
    assert_int_equal(nri_runtime_run(node->runtime), NRI_E_STATE);
    node_close(node);
}

static void test_close_in_run(void **state)
{
    struct node *node = *state;
    node->on_ready = close_now;
    assert_int_equal(node_new(node), 0);
    assert_int_equal(nri_runtime_run(node->runtime), 0);
    assert_int_equal(node->closed, 1);
}

/* ---- somebody's poll() ---- */

static void ended(nri_runtime *runtime, int code, void *user)
{
    struct node *node = user;
    (void)runtime;
    node->ended++;
    node->end_code = code;
}

static int poll_once(struct node *node, int most)
{
    struct pollfd ready = {.fd = nri_runtime_fd(node->runtime), .events = POLLIN};
    int timeout = nri_runtime_timeout(node->runtime);
    if (timeout < 0 || timeout > most)
        timeout = most;
    assert_true(poll(&ready, 1, timeout) >= 0);
    (void)uv_run(&node->loop, UV_RUN_NOWAIT); /* the guests */
    return nri_runtime_dispatch(node->runtime);
}

static void test_dispatched(void **state)
{
    struct node *node = *state;
    struct guest guest = {0};
    assert_int_equal(node_new(node), 0);
    assert_int_equal(nri_runtime_fd(node->runtime), NRI_E_STATE);
    assert_int_equal(nri_runtime_timeout(node->runtime), -1);
    assert_int_equal(nri_runtime_dispatch(node->runtime), NRI_E_STATE);
    assert_int_equal(nri_runtime_start(node->runtime, NULL, ended, node), 0);
    while (node->ready == 0)
        assert_int_equal(poll_once(node, 100), 1);
    guest_start(&guest, node, "10", "guest");
    while (node->connected == 0)
        assert_int_equal(poll_once(node, 1), 1);
    assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
    while (node->called == 0)
        assert_int_equal(poll_once(node, 1), 1);
    assert_int_equal(node->call_code, 0);
    nri_runtime_stop(node->runtime);
    while (poll_once(node, 1) == 1)
        continue;
    assert_int_equal(node->ended, 1);
    assert_int_equal(nri_runtime_dispatch(node->runtime), 0);
    node_close(node);
    guest_close(&guest, node);
}

static bool has_work(const struct node *node, int timeout)
{
    struct pollfd ready = {.fd = nri_runtime_fd(node->runtime), .events = POLLIN};
    return poll(&ready, 1, timeout) == 1;
}

static void turn_until_quiet(struct node *node)
{
    assert_true(has_work(node, NODE_PATIENCE_MS));
    while (has_work(node, 0))
        assert_int_equal(nri_runtime_dispatch(node->runtime), 1);
}

/* The descriptor alone tells of work, also of work that came up outside of a dispatch. */
static void test_descriptor_tells_of_all_work(void **state)
{
    struct node *node = *state;
    assert_int_equal(node_new(node), 0);
    assert_int_equal(nri_runtime_start(node->runtime, NULL, ended, node), 0);
    turn_until_quiet(node);
    assert_int_equal(node->ready, 1);
    assert_int_equal(nri_runtime_timeout(node->runtime), -1);
    int fd = node_connect(node);
    turn_until_quiet(node);
    assert_true(nri_runtime_timeout(node->runtime) > 0);
    (void)close(fd);
    turn_until_quiet(node);
    assert_int_equal(nri_runtime_timeout(node->runtime), -1);
    assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
    turn_until_quiet(node);
    assert_int_equal(node->called, 1);
    assert_int_equal(nri_runtime_post(node->runtime, post_again, node), 0);
    turn_until_quiet(node);
    assert_int_equal(node->posted, 3);
    nri_runtime_stop(node->runtime);
    assert_true(has_work(node, NODE_PATIENCE_MS));
    while (nri_runtime_dispatch(node->runtime) == 1)
        assert_true(has_work(node, NODE_PATIENCE_MS));
    assert_int_equal(node->ended, 1);
    node_close(node);
}

/* With its own loop a close is over when it returns. */
static void test_close_when_dispatched(void **state)
{
    struct node *node = *state;
    assert_int_equal(node_new(node), 0);
    assert_int_equal(nri_runtime_start(node->runtime, NULL, ended, node), 0);
    (void)poll_once(node, 100);
    nri_runtime_close(node->runtime, closed_in_callback, node);
    assert_int_equal(node->ended, 1);
    assert_int_equal(node->closed, 1);
}

/* Whatever is held back, plugins wait for it, but not longer than the registration time-out. */
static void test_hold(void **state)
{
    struct node *node = *state;
    struct guest guest = {0};
    node->options.registration_timeout_ms = 60000;
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_int_equal(nri_runtime_release_sync(node->runtime), NRI_E_STATE);
    assert_int_equal(nri_runtime_hold_sync(node->runtime), 0);
    guest_start(&guest, node, "10", "guest");
    node_wait(node, &guest.configured, 1);
    for (int i = 0; i < 20; i++)
        (void)uv_run(&node->loop, UV_RUN_NOWAIT);
    assert_int_equal(guest.synchronized, 0);
    assert_int_equal(nri_runtime_release_sync(node->runtime), 0);
    node_wait(node, &node->connected, 1);
    node_close(node);
    guest_close(&guest, node);
}

static void test_options_are_checked(void **state)
{
    struct node *node = *state;
    node->options.max_plugins = 5000;
    assert_int_equal(node_new(node), NRI_E_RANGE);
    node->options.max_plugins = 0;
    node->options.stop_timeout_ms = 60001;
    assert_int_equal(node_new(node), NRI_E_RANGE);
    node->options.stop_timeout_ms = 0;
    node->options.merge_policy[3] = 4;
    assert_int_equal(node_new(node), NRI_E_RANGE);
    node->options.merge_policy[3] = 0;
    node->options.reserved[5] = 1;
    assert_int_equal(node_new(node), NRI_E_ABI);
    node->options.reserved[5] = 0;
    node->options.name = "not \xff utf-8";
    assert_int_equal(node_new(node), NRI_E_INVALID);
    node->options.name = "";
    assert_int_equal(node_new(node), NRI_E_INVALID);
    node->options.name = NULL;
    char path[200];
    memset(path, 'a', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    node->options.socket_path = path;
    assert_int_equal(node_new(node), NRI_E_PATH_TOO_LONG);
    node->options.socket_path = node->socket;
    node->options.validator_config = "{";
    assert_int_equal(node_new(node), NRI_E_SYNTAX);
    node->options.validator_config = NULL;
    node->options.max_send_bytes = 1 << 20;
    node->options.max_output_bytes = 1 << 20;
    assert_int_equal(node_new(node), NRI_E_RANGE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, node_setup, node_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_external_plugins_are_served),
        TEST(test_attached_plugin),
        TEST(test_built_in_plugin),
        TEST(test_pending_updates),
        TEST(test_close_at_every_stage),
        TEST(test_stop_at_every_stage),
        TEST(test_close_in_ready),
        TEST(test_close_in_lost),
        TEST(test_posted_functions),
        TEST(test_stop_in_a_signal_handler),
        TEST(test_run_on_its_own_loop),
        TEST(test_close_in_run),
        TEST(test_dispatched),
        TEST(test_descriptor_tells_of_all_work),
        TEST(test_close_when_dispatched),
        TEST(test_hold),
        TEST(test_options_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
