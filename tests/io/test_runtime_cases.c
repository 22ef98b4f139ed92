/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Public bug reports (tests/cases.md) about external plugins of a runtime: locks around it, peers
 * that break off, stops that race, calls out of order, ends in the log, and much traffic both ways.
 */
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "node.h"
#include "peer.h"
#include "proto/ttrpc.pb-c.h"

#define INVALID_ARGUMENT    3 /* gRPC codes */
#define FAILED_PRECONDITION 9

/* Valgrind runs one thread at a time, and takes long to begin one. */
static int times(int count)
{
    return getenv("NRI_TEST_VALGRIND") != NULL ? count / 50 : count;
}

/* ---- T07: somebody's lock around the runtime ---- */

#define CYCLES   200
#define PATIENCE 60 /* seconds; thirty times what a StartContainer may take */

struct starter { /* a thread that starts one container again and again */
    struct node *node;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t moved;
    int done, code; /* under `lock` */
    atomic_int starts, failures;
    atomic_bool ended;
    nri_pod *pod;
    nri_container *container;
};
static pthread_mutex_t state_lock = PTHREAD_MUTEX_INITIALIZER; /* of what `enumerate` reads */
static atomic_bool stop_starting;

static void started(nri_runtime *runtime, nri_outcome *outcome, void *user)
{
    struct starter *s = user;
    (void)runtime;
    (void)pthread_mutex_lock(&s->lock);
    s->done++;
    if (nri_outcome_code(outcome) != 0)
        s->code = nri_outcome_code(outcome);
    (void)pthread_cond_signal(&s->moved);
    (void)pthread_mutex_unlock(&s->lock);
}

static void start_container(nri_runtime *runtime, void *arg)
{
    struct starter *s = arg;
    struct nri_runtime_event event;
    nri_runtime_event_init(&event, sizeof event);
    event.event = NRI_EVENT_START_CONTAINER;
    event.pod = s->pod;
    event.container = s->container;
    if (nri_runtime_call(runtime, &event, started, s) != 0)
        atomic_fetch_add(&s->failures, 1);
}

static bool wait_for_done(struct starter *s, int count)
{
    struct timespec until;
    int rc = 0;
    (void)clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE;
    (void)pthread_mutex_lock(&s->lock);
    while (s->done < count && rc == 0)
        rc = pthread_cond_timedwait(&s->moved, &s->lock, &until);
    (void)pthread_mutex_unlock(&s->lock);
    return rc == 0;
}

static void *start_again_and_again(void *arg)
{
    struct starter *s = arg;
    for (int count = 1; !atomic_load(&stop_starting); count++) {
        (void)pthread_mutex_lock(&state_lock);
        if (nri_runtime_post(s->node->runtime, start_container, s) != 0)
            atomic_fetch_add(&s->failures, 1);
        (void)pthread_mutex_unlock(&state_lock);
        if (!wait_for_done(s, count)) {
            atomic_fetch_add(&s->failures, 1);
            break;
        }
        atomic_fetch_add(&s->starts, 1);
    }
    atomic_store(&s->ended, true);
    return NULL;
}

static void starter_begin(struct starter *s, struct node *node, const char *id)
{
    *s = (struct starter){.node = node};
    assert_int_equal(pthread_mutex_init(&s->lock, NULL), 0);
    assert_int_equal(pthread_cond_init(&s->moved, NULL), 0);
    assert_int_equal(nri_pod_new(&s->pod, NULL), 0);
    assert_int_equal(nri_pod_set_id(s->pod, id), 0);
    assert_int_equal(nri_container_new(&s->container, NULL), 0);
    assert_int_equal(nri_container_set_id(s->container, id), 0);
    assert_int_equal(pthread_create(&s->thread, NULL, start_again_and_again, s), 0);
}

/* Its last StartContainer comes to its end while the loop turns. */
static void starter_end(struct starter *s)
{
    node_wait_for(s->node, atomic_load(&s->ended));
    assert_int_equal(pthread_join(s->thread, NULL), 0);
    assert_int_equal(atomic_load(&s->failures), 0);
    assert_int_equal(s->code, 0);
    nri_pod_free(s->pod);
    nri_container_free(s->container);
    (void)pthread_cond_destroy(&s->moved);
    (void)pthread_mutex_destroy(&s->lock);
}

static void enumerate_under_lock(struct node *node)
{
    (void)node;
    (void)pthread_mutex_lock(&state_lock);
    (void)sched_yield();
    (void)pthread_mutex_unlock(&state_lock);
}

/* There is always an event under way while a plugin comes: two threads and a plugin that is there
 * see to that. */
static void test_T07_registrations_and_events_never_wait_for_each_other(void **state)
{
    struct node *node = *state;
    static struct starter starters[2];
    struct guest resident = {0};
    node->on_enumerate = enumerate_under_lock;
    atomic_store(&stop_starting, false);
    node_start(node);
    node_wait(node, &node->ready, 1);
    guest_start(&resident, node, "05", "resident");
    node_wait(node, &node->connected, 1);
    starter_begin(&starters[0], node, "a");
    starter_begin(&starters[1], node, "b");
    const int cycles = times(CYCLES);
    for (int i = 0; i < cycles; i++) {
        struct guest guest = {0};
        guest_start(&guest, node, "10", "guest");
        node_wait(node, &node->connected, i + 2);
        guest_close(&guest, node);
        node_wait(node, &node->lost, i + 1);
        node->order[0] = '\0';
    }
    node_wait_for(node, atomic_load(&starters[0].starts) > 0);
    node_wait_for(node, atomic_load(&starters[1].starts) > 0);
    assert_int_equal(node->enumerated, cycles + 1);
    print_message("%d StartContainers beside %d registrations\n",
                  atomic_load(&starters[0].starts) + atomic_load(&starters[1].starts), cycles);
    atomic_store(&stop_starting, true);
    starter_end(&starters[0]);
    starter_end(&starters[1]);
    node_close(node);
    guest_close(&resident, node);
}

/* ---- peers by hand ---- */

static void add_call(struct peer_bytes *bytes, uint32_t stream, const char *method,
                     const ProtobufCMessage *message)
{
    Ttrpc__Request request = TTRPC__REQUEST__INIT;
    uint8_t payload[4096], data[8192];
    request.service = (char *)"nri.pkg.api.v1alpha1.Runtime";
    request.method = (char *)method;
    assert_true(protobuf_c_message_get_packed_size(message) <= sizeof payload);
    request.payload.len = protobuf_c_message_pack(message, payload);
    request.payload.data = payload;
    const size_t size = protobuf_c_message_pack(&request.base, data);
    peer_bytes_message(bytes, PEER_RUNTIME, stream, PEER_REQUEST, data, size);
}

static void add_registration(struct peer_bytes *bytes, uint32_t stream, const char *index,
                             const char *name)
{
    Nri__Pkg__Api__V1alpha1__RegisterPluginRequest request =
        NRI__PKG__API__V1ALPHA1__REGISTER_PLUGIN_REQUEST__INIT;
    request.plugin_name = (char *)name;
    request.plugin_idx = (char *)index;
    add_call(bytes, stream, "RegisterPlugin", &request.base);
}

static bool is_readable(int fd)
{
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    return poll(&ready, 1, 0) == 1;
}

/* Waits for one message; false at the end of the connection. */
static bool receive(struct node *node, struct peer *peer, struct peer_message *message)
{
    struct go_message there;
    if (!go_reader_message(&peer->reader, peer->taken, &there))
        node_wait_for(node, is_readable(peer->fd));
    return peer_receive(peer, message) == 1;
}

/* The same behind what is sent. */
static bool exchange(struct node *node, struct peer *peer, struct peer_bytes *bytes,
                     struct peer_message *answer)
{
    assert_true(peer_send(peer, bytes));
    return receive(node, peer, answer);
}

static void wait_for_end(struct node *node, const struct peer *peer)
{
    uint8_t bytes[4096];
    node_wait_for(node, recv(peer->fd, bytes, sizeof bytes, MSG_DONTWAIT) == 0);
}

/* ---- T40: calls out of order ---- */

static void ask_for_an_update(struct peer_bytes *bytes, uint32_t stream)
{
    Nri__Pkg__Api__V1alpha1__UpdateContainersRequest request =
        NRI__PKG__API__V1ALPHA1__UPDATE_CONTAINERS_REQUEST__INIT;
    Nri__Pkg__Api__V1alpha1__ContainerUpdate update =
        NRI__PKG__API__V1ALPHA1__CONTAINER_UPDATE__INIT;
    Nri__Pkg__Api__V1alpha1__ContainerUpdate *updates[] = {&update};
    update.container_id = (char *)"old";
    request.update = updates;
    request.n_update = 1;
    add_call(bytes, stream, "UpdateContainers", &request.base);
}

/* Before RegisterPlugin, and before Configure was answered: refused, and no more than that. */
static void test_T40_an_update_that_comes_too_early(void **state)
{
    struct node *node = *state;
    struct peer peer;
    struct peer_bytes bytes = {0};
    struct peer_message answer = {0};
    node_start(node);
    node_wait(node, &node->ready, 1);
    peer_init(&peer, node_connect(node));
    ask_for_an_update(&bytes, 1);
    assert_true(exchange(node, &peer, &bytes, &answer));
    assert_int_equal(answer.grpc, FAILED_PRECONDITION);
    assert_non_null(strstr(answer.text, "the plugin is not configured"));
    peer_message_free(&answer);
    add_registration(&bytes, 3, "10", "hasty");
    assert_true(exchange(node, &peer, &bytes, &answer)); /* the answer */
    assert_int_equal(answer.stream, 3);
    assert_int_equal(answer.grpc, 0);
    peer_message_free(&answer);
    assert_true(receive(node, &peer, &answer));
    assert_string_equal(answer.method, "Configure"); /* which is not answered */
    peer_message_free(&answer);
    ask_for_an_update(&bytes, 5);
    assert_true(exchange(node, &peer, &bytes, &answer));
    assert_int_equal(answer.stream, 5);
    assert_int_equal(answer.grpc, FAILED_PRECONDITION);
    peer_message_free(&answer);
    assert_int_equal(node->updates, 0);
    peer_close(&peer);
    node_close(node);
}

/* ---- S10, S20: names and indexes that are none ---- */

static void register_as(struct node *node, const char *index, const char *name, bool taken)
{
    struct peer peer;
    struct peer_bytes bytes = {0};
    struct peer_message answer = {0};
    peer_init(&peer, node_connect(node));
    add_registration(&bytes, 1, index, name);
    assert_true(exchange(node, &peer, &bytes, &answer));
    if ((answer.grpc == 0) != taken)
        fail_msg("%s-%s: %d %s", index, name, answer.grpc, answer.text);
    if (!taken) {
        assert_int_equal(answer.grpc, INVALID_ARGUMENT);
        wait_for_end(node, &peer);
        assert_true(node_logged(node, "refused to register it"));
    }
    peer_message_free(&answer);
    peer_close(&peer);
    node->line_count = 0;
}

static void test_S10_S20_names_and_indexes_are_checked(void **state)
{
    struct node *node = *state;
    static const char *const names[] = {"foo,bar", "", "a b"};
    static const char *const indexes[] = {"5", "100", "a1", ""};
    node_start(node);
    node_wait(node, &node->ready, 1);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        register_as(node, "10", names[i], false);
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++)
        register_as(node, indexes[i], "foo", false);
    register_as(node, "10", "abcd-0123+EFGH_4567.ijkl", true);
    assert_int_equal(node->connected, 0); /* none was configured */
    node_close(node);
}

/* ---- T29: peers that break off ---- */

#define BREAKS 2000

static int count_fds(void)
{
    int count = 0;
    for (int fd = 0; fd < 1024; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static void test_T29_half_a_registration_leaves_nothing(void **state)
{
    struct node *node = *state;
    struct peer_bytes bytes = {0};
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    node_start(node);
    node_wait(node, &node->ready, 1);
    const int before = count_fds();
    add_registration(&bytes, 1, "10", "half");
    for (int i = 0; i < times(BREAKS); i++) {
        const int fd = node_connect(node);
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        assert_int_equal(send(fd, bytes.data, bytes.size / 2, MSG_NOSIGNAL), bytes.size / 2);
        if (i % 2 == 0)
            (void)uv_run(&node->loop, UV_RUN_NOWAIT);
        (void)close(fd);
        (void)uv_run(&node->loop, UV_RUN_NOWAIT);
    }
    node_wait_for(node, count_fds() == before);
    assert_null(nri_runtime_next_plugin(node->runtime, NULL));
    assert_int_equal(node->connected, 0);
    assert_int_equal(node->lost, 0);
    peer_bytes_free(&bytes);
    node_close(node);
}

/* ---- T39: a start and a stop at the same time ---- */

#define RACES    5000
#define LATEST   200000 /* ns after the start */
#define PROMPTLY 10000  /* ms; ten times what is meant */

static uint64_t now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

struct race {
    nri_runtime *runtime;
    int result;
};

static void *run_once(void *user)
{
    struct race *race = user;
    race->result = nri_runtime_run(race->runtime);
    return NULL;
}

static void closed(void *user)
{
    ++*(int *)user;
}

static void run_race(struct node *node, uint64_t delay)
{
    struct race race = {.result = 1};
    pthread_t thread;
    int closings = 0;
    assert_int_equal(node_new(node), 0);
    race.runtime = node->runtime;
    assert_int_equal(pthread_create(&thread, NULL, run_once, &race), 0);
    const uint64_t began = now_ns();
    while (now_ns() - began < delay)
        (void)sched_yield();
    const uint64_t stopped = node_now_ms();
    nri_runtime_stop(race.runtime);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(node_now_ms() - stopped < PROMPTLY);
    assert_int_equal(race.result, 0);
    assert_int_equal(access(node->socket, F_OK), -1);
    nri_runtime_close(race.runtime, closed, &closings);
    assert_int_equal(closings, 1);
    node->runtime = NULL;
}

static void test_T39_a_stop_at_any_moment_of_a_start(void **state)
{
    struct node *node = *state;
    uint32_t random = 2463534242;
    const int before = count_fds();
    for (int i = 0; i < times(RACES); i++) {
        random ^= random << 13; /* xorshift: the same delays each time */
        random ^= random >> 17;
        random ^= random << 5;
        run_race(node, random % LATEST);
    }
    assert_int_equal(count_fds(), before);
    print_message("%d of %d starts came as far as an open socket\n", node->ready, times(RACES));
    assert_true(node->ready > 0);
}

/* ---- T53: an ordinary end ---- */

struct book {
    int records[NRI_LOG_DEBUG + 1]; /* by level */
    char last[256];
};

static void write_book(void *user, const nri_log_record *record)
{
    struct book *book = user;
    book->records[nri_log_record_level(record)]++;
    (void)snprintf(book->last, sizeof book->last, "%s", nri_log_record_text(record));
}

static void test_T53_an_ordinary_end_is_no_error(void **state)
{
    struct node *node = *state;
    struct guest guest = {0};
    struct book book = {0};
    node->options.log = write_book;
    node->options.log_user = &book;
    node_start(node);
    node_wait(node, &node->ready, 1);
    guest_start(&guest, node, "10", "guest");
    node_wait(node, &node->connected, 1);
    assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
    node_wait(node, &node->called, 1);
    assert_int_equal(book.records[NRI_LOG_ERROR], 0);
    assert_int_equal(book.records[NRI_LOG_WARN], 0);
    const int before = book.records[NRI_LOG_INFO];
    guest_close(&guest, node); /* it stops by itself */
    node_wait(node, &node->lost, 1);
    assert_int_equal(book.records[NRI_LOG_ERROR], 0);
    assert_int_equal(book.records[NRI_LOG_WARN], 0);
    assert_int_equal(book.records[NRI_LOG_INFO], before + 1);
    assert_non_null(strstr(book.last, "10-guest"));
    node_close(node);
}

/* ---- T31: much both ways ---- */

#define UPDATES 64
#define MIB     ((size_t)1 << 20)

struct traffic {
    int answers;
    char *value;
};

static void on_answer(nri_plugin *plugin, const nri_update_result *result, void *user)
{
    struct traffic *traffic = user;
    const char *value;
    (void)plugin;
    assert_int_equal(nri_update_result_code(result), 0);
    assert_int_equal(nri_update_result_failed_count(result), 1);
    assert_true(nri_resources_unified(nri_update_result_failed_resources(result, 0), "k", &value));
    assert_string_equal(value, traffic->value);
    traffic->answers++;
}

static int fail_all(struct node *node)
{
    assert_int_equal(nri_runtime_update_fail(node->update, "old"), 0);
    return 0;
}

static void make_tight(int fd)
{
    const int bytes = 4096;
    assert_int_equal(setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes), 0);
}

/* Each call of 1 MiB is answered with 1 MiB, and both sides have a narrow socket. */
static void test_T31_both_sides_write_much_and_neither_blocks(void **state)
{
    struct node *node = *state;
    struct guest guest = {0};
    struct traffic traffic = {0};
    struct nri_call_options options;
    nri_updates *updates;
    nri_call_options_init(&options, sizeof options);
    options.timeout_ms = NODE_PATIENCE_MS;
    traffic.value = malloc(MIB + 1);
    assert_non_null(traffic.value);
    memset(traffic.value, 'x', MIB);
    traffic.value[MIB] = '\0';
    node->options.no_external = 1;
    node->options.max_output_bytes = 256 * MIB;
    node->on_update = fail_all;
    node_start(node);
    node_wait(node, &node->ready, 1);
    const int fd = guest_start_fd(&guest, node, "10", "guest");
    make_tight(fd);
    assert_int_equal(nri_runtime_attach_fd(node->runtime, fd), 0);
    node_wait(node, &node->connected, 1);
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    assert_int_equal(
        nri_update_set_unified(nri_updates_container(updates, "old"), "k", traffic.value), 0);
    for (int i = 0; i < UPDATES; i++)
        assert_int_equal(
            nri_plugin_update_containers(guest.plugin, updates, &options, on_answer, &traffic), 0);
    nri_updates_free(updates);
    node_wait(node, &traffic.answers, UPDATES);
    assert_int_equal(node->updates, UPDATES);
    assert_int_equal(node->lost, 0);
    node_close(node);
    guest_close(&guest, node);
    free(traffic.value);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, node_setup, node_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_T07_registrations_and_events_never_wait_for_each_other),
        TEST(test_T40_an_update_that_comes_too_early),
        TEST(test_S10_S20_names_and_indexes_are_checked),
        TEST(test_T29_half_a_registration_leaves_nothing),
        TEST(test_T39_a_stop_at_any_moment_of_a_start),
        TEST(test_T53_an_ordinary_end_is_no_error),
        TEST(test_T31_both_sides_write_much_and_neither_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
