/* SPDX-License-Identifier: Apache-2.0 */
/* Much traffic, in both directions at once, under interruptions, and with a peer that does not do
 * its part. */
#include <errno.h>
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

#define CALLS 64
#define LARGE ((size_t)1024 * 1024)

static size_t large = LARGE; /* bytes of a text; less under valgrind, see main() */

static nri_plugin *plugin_on_pair(struct fixture *fixture, struct witness *witness,
                                  struct peer *peer, int buffer)
{
    struct nri_plugin_options options = fixture_options(fixture);
    peer_init(peer, fixture_pair(&options));
    int pair[2] = {options.fd, peer->fd};
    for (int i = 0; buffer > 0 && i < 2; i++)
        assert_int_equal(setsockopt(pair[i], SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer), 0);
    return witness_plugin(witness, &options);
}

/* The byte of a text at a place: it tells which call the text belongs to, and whether all of it
 * came. */
static char byte_at(size_t place, unsigned number)
{
    return (char)('a' + ((place >> 4) + place + number) % 16);
}

static char *large_text(unsigned number)
{
    char *text = malloc(large + 1);
    assert_non_null(text);
    for (size_t i = 0; i < large; i++)
        text[i] = byte_at(i, number);
    text[large] = '\0';
    return text;
}

static bool is_large_text(const char *text, unsigned number)
{
    for (size_t i = 0; i < large; i++) {
        if (text[i] != byte_at(i, number))
            return false;
    }
    return text[large] == '\0';
}

/* ---- T31 ---- */

static Nri__Pkg__Api__V1alpha1__PodSandbox__AnnotationsEntry annotation(char *value)
{
    Nri__Pkg__Api__V1alpha1__PodSandbox__AnnotationsEntry entry =
        NRI__PKG__API__V1ALPHA1__POD_SANDBOX__ANNOTATIONS_ENTRY__INIT;
    entry.key = (char *)"large";
    entry.value = value;
    return entry;
}

static bool send_large_create(struct peer *peer, unsigned number)
{
    Nri__Pkg__Api__V1alpha1__CreateContainerRequest request =
        NRI__PKG__API__V1ALPHA1__CREATE_CONTAINER_REQUEST__INIT;
    peer_pod pod = NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
    peer_container container = NRI__PKG__API__V1ALPHA1__CONTAINER__INIT;
    struct peer_bytes bytes = {0};
    char id[16], *value = large_text(number);
    Nri__Pkg__Api__V1alpha1__PodSandbox__AnnotationsEntry entry = annotation(value),
                                                          *entries[] = {&entry};
    (void)snprintf(id, sizeof id, "%u", number);
    pod.id = (char *)"pod1";
    pod.n_annotations = 1;
    pod.annotations = entries;
    container.id = id;
    request.pod = &pod;
    request.container = &container;
    peer_bytes_call(&bytes, peer->next_stream, "CreateContainer", &request.base);
    peer->next_stream += 2;
    bool sent = peer_send(peer, &bytes);
    free(value);
    return sent;
}

/* The answer to a large request, which carries the same text. */
static bool check_large_answer(const struct peer_message *message, unsigned number)
{
    Nri__Pkg__Api__V1alpha1__CreateContainerResponse *response =
        nri__pkg__api__v1alpha1__create_container_response__unpack(NULL, message->payload_size,
                                                                   message->payload);
    bool good = response != NULL && response->adjust != NULL &&
                response->adjust->n_annotations == 1 &&
                is_large_text(response->adjust->annotations[0]->value, number);
    if (response != NULL)
        nri__pkg__api__v1alpha1__create_container_response__free_unpacked(response, NULL);
    return good;
}

/* A call of the plugin: one eviction, with the text of the request that caused it. Its number, or
 * -1. */
static int check_large_call(const struct peer_message *message)
{
    Nri__Pkg__Api__V1alpha1__UpdateContainersRequest *request = NULL;
    int number = -1;
    if (strcmp(message->method, "UpdateContainers") == 0)
        request = nri__pkg__api__v1alpha1__update_containers_request__unpack(
            NULL, message->payload_size, message->payload);
    if (request != NULL && request->n_evict == 1 && request->n_update == 0) {
        number = atoi(request->evict[0]->container_id);
        if (!is_large_text(request->evict[0]->reason, (unsigned)number))
            number = -1;
    }
    if (request != NULL)
        nri__pkg__api__v1alpha1__update_containers_request__free_unpacked(request, NULL);
    return number >= 0 && number < CALLS ? number : -1;
}

struct large_runtime {
    struct peer peer;
    pthread_t thread;
    int answers;      /* that came, whole */
    int calls, wrong; /* the same of the plugin's calls, each number once; and the others */
    bool called[CALLS];
    bool sent;
};

/* All 64 requests are written before a single answer is read; each call of the plugin is answered
 * as it comes. */
static void *run_large(void *context)
{
    struct large_runtime *runtime = context;
    struct peer *peer = &runtime->peer;
    struct peer_message message;
    uint32_t first;
    if (!peer_register(peer))
        return NULL;
    first = peer->next_stream;
    runtime->sent = true;
    for (unsigned i = 0; i < CALLS; i++)
        runtime->sent = runtime->sent && send_large_create(peer, i);
    while (runtime->sent && runtime->answers + runtime->calls + runtime->wrong < 2 * CALLS &&
           peer_receive(peer, &message) == 1) {
        if (message.type == PEER_RESPONSE) {
            runtime->answers +=
                message.grpc == 0 && check_large_answer(&message, (message.stream - first) / 2);
        } else {
            struct peer_bytes bytes = {0};
            int number = check_large_call(&message);
            bool good = number >= 0 && !runtime->called[number];
            runtime->calls += good;
            runtime->wrong += !good;
            if (good)
                runtime->called[number] = true;
            peer_bytes_answer(&bytes, message.stream, NULL);
            runtime->sent = peer_send(peer, &bytes);
        }
        peer_message_free(&message);
    }
    (void)shutdown(peer->fd, SHUT_WR); /* EOF for the plugin */
    (void)peer_wait_end(peer);
    peer_close(peer);
    return NULL;
}

/* Answers with the text that came, and calls the runtime with as much. */
static int answer_large(nri_request *request, struct witness *witness)
{
    const char *value = "";
    nri_updates *updates;
    (void)nri_pod_annotation(nri_request_pod(request), "large", &value);
    int rc = nri_updates_new(&updates, NULL);
    if (rc != 0)
        return rc;
    (void)nri_updates_evict(updates, nri_container_id(nri_request_container(request)), value);
    rc = nri_plugin_update_containers(witness->plugin, updates, NULL, witness_updated, witness);
    nri_updates_free(updates);
    return rc != 0 ? rc
                   : nri_adjustment_add_annotation(nri_request_adjustment(request), "large", value);
}

static void test_T31_both_sides_write_much_and_neither_blocks(void **state)
{
    struct witness witness = {.act_in = NRI_EVENT_CREATE_CONTAINER, .act = answer_large};
    struct large_runtime runtime = {.answers = 0};
    nri_plugin *plugin = plugin_on_pair(*state, &witness, &runtime.peer, 4096);
    assert_int_equal(pthread_create(&runtime.thread, NULL, run_large, &runtime), 0);
    assert_int_equal(nri_plugin_run(plugin), NRI_E_CLOSED);
    (void)pthread_join(runtime.thread, NULL);
    assert_true(runtime.sent);
    assert_int_equal(runtime.answers, CALLS);
    assert_int_equal(runtime.calls, CALLS);
    assert_int_equal(runtime.wrong, 0);
    assert_int_equal(witness.updated, CALLS);
    for (int i = 0; i < CALLS; i++)
        assert_int_equal(witness.update_codes[i], 0);
    nri_plugin_close(plugin, NULL, NULL);
}

/* ---- T33 ---- */

static void turn_until(nri_plugin *plugin, const atomic_int *count, int number)
{
    while (atomic_load(count) < number)
        assert_int_equal(drive_turn(plugin), 1);
}

/* A plugin that is registered and configured, turned by hand; the peer's bytes fit into the socket.
 */
static nri_plugin *ready_plugin(struct fixture *fixture, struct witness *witness, struct peer *peer)
{
    struct peer_bytes bytes = {0};
    struct peer_message message;
    nri_plugin *plugin = plugin_on_pair(fixture, witness, peer, 0);
    peer_bytes_answer(&bytes, 1, NULL);
    peer_bytes_call(&bytes, 1, "Configure", NULL);
    peer->next_stream = 3;
    assert_true(peer_send(peer, &bytes));
    assert_int_equal(nri_plugin_start(plugin, NULL, witness_ended, witness), 0);
    while (nri_plugin_get_state(plugin) != NRI_PLUGIN_READY)
        assert_int_equal(drive_turn(plugin), 1);
    assert_true(peer_take_register(peer));
    assert_int_equal(peer_receive(peer, &message), 1);
    peer_message_free(&message);
    return plugin;
}

static void test_T33_pending_calls_complete_when_the_peer_goes(void **state)
{
    struct witness witness = {0};
    struct peer peer;
    nri_plugin *plugin = ready_plugin(*state, &witness, &peer);
    for (int i = 0; i < 10; i++)
        assert_int_equal(witness_update(&witness, plugin), 0);
    assert_int_equal(drive_turn(plugin), 1);
    assert_int_equal(witness.updated, 0);
    peer_close(&peer);
    uint64_t began = fixture_now_ms();
    while (drive_turn(plugin) == 1)
        continue;
    assert_true(fixture_now_ms() - began <
                1000); /* 100 ms, and ten times that for a loaded machine */
    assert_int_equal(witness.updated, 10);
    for (int i = 0; i < 10; i++)
        assert_int_equal(witness.update_codes[i], NRI_E_CLOSED);
    nri_plugin_close(plugin, NULL, NULL);
}

static int update_within(struct witness *witness, uint64_t timeout_ms)
{
    struct nri_call_options options;
    nri_updates *updates;
    nri_call_options_init(&options, sizeof options);
    options.timeout_ms = timeout_ms;
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    (void)nri_update_set_cpu_shares(nri_updates_container(updates, "ctr1"), 512);
    int rc =
        nri_plugin_update_containers(witness->plugin, updates, &options, witness_updated, witness);
    nri_updates_free(updates);
    return rc;
}

static void test_T33_a_late_reply_is_dropped_and_the_next_call_works(void **state)
{
    struct witness witness = {0};
    struct peer peer;
    struct peer_message late, next;
    struct peer_bytes bytes = {0};
    nri_plugin *plugin = ready_plugin(*state, &witness, &peer);
    assert_int_equal(update_within(&witness, 50), 0);
    turn_until(plugin, &witness.updated, 1);
    assert_int_equal(witness.update_codes[0], NRI_E_TIMEOUT);

    assert_int_equal(peer_receive(&peer, &late), 1);
    peer_bytes_answer(&bytes, late.stream, NULL);
    assert_true(peer_send(&peer, &bytes));
    assert_int_equal(update_within(&witness, 20000), 0);
    assert_int_equal(drive_turn(plugin), 1);
    assert_int_equal(peer_receive(&peer, &next), 1);
    assert_true(next.stream > late.stream);
    peer_bytes_answer(&bytes, next.stream, NULL);
    assert_true(peer_send(&peer, &bytes));
    turn_until(plugin, &witness.updated, 2);
    assert_int_equal(witness.update_codes[1], 0);
    assert_int_equal(witness.count[NRI_EVENT_DISCONNECTED], 0);
    peer_message_free(&late);
    peer_message_free(&next);
    peer_close(&peer);
    nri_plugin_close(plugin, NULL, NULL);
}

static void test_call_options_are_checked(void **state)
{
    static const char *const metadata[] = {"key", NULL};
    struct witness witness = {0};
    struct peer peer;
    struct nri_call_options options;
    nri_updates *updates;
    nri_plugin *plugin = ready_plugin(*state, &witness, &peer);
    assert_int_equal(nri_updates_new(&updates, NULL), 0);
    (void)nri_updates_evict(updates, "ctr1", "test");
    nri_call_options_init(&options, sizeof options);
    options.reserved[3] = 1;
    assert_int_equal(nri_plugin_update_containers(plugin, updates, &options, NULL, NULL),
                     NRI_E_ABI);
    nri_call_options_init(&options, sizeof options - 1);
    assert_int_equal(nri_plugin_update_containers(plugin, updates, &options, NULL, NULL),
                     NRI_E_ABI);
    nri_call_options_init(&options, sizeof options);
    options.timeout_ms = 86400001;
    assert_int_equal(nri_plugin_update_containers(plugin, updates, &options, NULL, NULL),
                     NRI_E_RANGE);
    options.timeout_ms = 0;
    options.metadata_count = 1;
    assert_int_equal(nri_plugin_update_containers(plugin, updates, &options, NULL, NULL),
                     NRI_E_INVALID);
    options.metadata = metadata;
    assert_int_equal(nri_plugin_update_containers(plugin, updates, &options, NULL, NULL),
                     NRI_E_INVALID);
    options.metadata_count = 257;
    assert_int_equal(nri_plugin_update_containers(plugin, updates, &options, NULL, NULL),
                     NRI_E_RANGE);
    nri_updates_free(updates);
    peer_close(&peer);
    nri_plugin_close(plugin, NULL, NULL);
}

/* ---- a peer that writes nonsense and does not read ---- */

/* More than a socket holds. */
static int answer_with_much(nri_request *request, struct witness *witness)
{
    char *value = malloc(LARGE + 1);
    (void)witness;
    if (value == NULL)
        return NRI_E_NOMEM;
    memset(value, 'v', LARGE);
    value[LARGE] = '\0';
    int rc = nri_adjustment_add_annotation(nri_request_adjustment(request), "large", value);
    free(value);
    return rc;
}

/* The core wants the end while a reply waits for a peer that does not read: one second, not for
 * ever. */
static void test_a_peer_that_does_not_read_cannot_delay_the_end(void **state)
{
    static const uint8_t nonsense[8] = {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff};
    struct witness witness = {.act_in = NRI_EVENT_CREATE_CONTAINER, .act = answer_with_much};
    struct peer peer;
    struct peer_bytes bytes = {0};
    nri_plugin *plugin = ready_plugin(*state, &witness, &peer);
    peer_bytes_call(&bytes, 3, "CreateContainer", NULL);
    assert_true(peer_send(&peer, &bytes));
    turn_until(plugin, &witness.count[NRI_EVENT_CREATE_CONTAINER], 1);
    assert_true(peer_write(&peer, nonsense, sizeof nonsense));
    while (nri_plugin_get_state(plugin) != NRI_PLUGIN_STOPPING)
        assert_int_equal(drive_turn(plugin), 1);
    uint64_t began = fixture_now_ms();
    while (drive_turn(plugin) == 1)
        continue;
    uint64_t took = fixture_now_ms() - began;
    assert_true(took >= 900 && took < 10000);
    assert_int_equal(witness.result, NRI_E_PROTOCOL);
    peer_close(&peer);
    nri_plugin_close(plugin, NULL, NULL);
}

/* And what is queued does go out when it reads: here more than the socket holds. */
static void test_what_is_queued_goes_out_before_the_end(void **state)
{
    static const uint8_t nonsense[8] = {0, 0, 0, 1, 0xff, 0xff, 0xff, 0xff};
    struct witness witness = {.act_in = NRI_EVENT_CREATE_CONTAINER, .act = answer_with_much};
    struct peer peer;
    struct peer_bytes bytes = {0};
    nri_plugin *plugin = ready_plugin(*state, &witness, &peer);
    peer_bytes_call(&bytes, 3, "CreateContainer", NULL);
    peer_bytes_add(&bytes, nonsense, sizeof nonsense);
    assert_true(peer_send(&peer, &bytes));
    while (nri_plugin_dispatch(plugin) == 1)
        peer_take(&peer, SIZE_MAX, &bytes);
    peer_take(&peer, SIZE_MAX, &bytes);
    assert_int_equal(witness.result, NRI_E_PROTOCOL);
    assert_true(bytes.size > LARGE);
    peer_bytes_free(&bytes);
    peer_close(&peer);
    nri_plugin_close(plugin, NULL, NULL);
}

/* ---- T54 ---- */

#define OFTEN  1000
#define ALARMS 200 /* at least, whatever the machine takes for the calls */

static atomic_int alarms_seen;

static void on_alarm(int number)
{
    (void)number;
    atomic_fetch_add(&alarms_seen, 1);
}

#define PARTS     12
#define PART_PODS 4

/* A Synchronize of 3 MiB and more, in parts; text keeps the values alive. */
static bool synchronize_in_parts(struct peer *peer)
{
    char value[65536];
    memset(value, 'v', sizeof value - 1);
    value[sizeof value - 1] = '\0';
    Nri__Pkg__Api__V1alpha1__PodSandbox__AnnotationsEntry entry = annotation(value),
                                                          *entries[] = {&entry};
    for (int part = 0; part < PARTS; part++) {
        Nri__Pkg__Api__V1alpha1__SynchronizeRequest request =
            NRI__PKG__API__V1ALPHA1__SYNCHRONIZE_REQUEST__INIT;
        peer_pod pods[PART_PODS], *list[PART_PODS];
        char ids[PART_PODS][16];
        for (int i = 0; i < PART_PODS; i++) {
            pods[i] = (peer_pod)NRI__PKG__API__V1ALPHA1__POD_SANDBOX__INIT;
            (void)snprintf(ids[i], sizeof ids[i], "pod%d", part * PART_PODS + i);
            pods[i].id = ids[i];
            pods[i].n_annotations = 1;
            pods[i].annotations = entries;
            list[i] = &pods[i];
        }
        request.n_pods = PART_PODS;
        request.pods = list;
        request.more = part + 1 < PARTS;
        if (!peer_call(peer, "Synchronize", &request.base, NULL))
            return false;
    }
    return true;
}

struct interrupted {
    struct peer peer;
    pthread_t thread;
    int calls;
    bool good;
};

static void *call_often(void *context)
{
    struct interrupted *runtime = context;
    struct peer *peer = &runtime->peer;
    sigset_t alarms;
    /* The signals are for the plugin's thread. */
    (void)sigemptyset(&alarms);
    (void)sigaddset(&alarms, SIGALRM);
    (void)pthread_sigmask(SIG_BLOCK, &alarms, NULL);
    runtime->good = peer_register(peer) && synchronize_in_parts(peer);
    while (runtime->good && (runtime->calls < OFTEN || atomic_load(&alarms_seen) < ALARMS)) {
        runtime->good = peer_create(peer, "ctr2");
        runtime->calls++;
    }
    peer_close(peer);
    return NULL;
}

static int count_pods(nri_request *request, struct witness *witness)
{
    witness->user = (void *)(uintptr_t)nri_request_pod_count(request);
    return 0;
}

static void test_T54_interrupted_calls_are_no_errors(void **state)
{
    const struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART */
    /* It stays: the last alarm may still be on its way when the timer is off. */
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    for (enum drive drive = DRIVE_RUN; drive < DRIVES; drive++) {
        struct witness witness = {.act_in = NRI_EVENT_SYNCHRONIZE, .act = count_pods};
        struct interrupted runtime = {.calls = 0};
        atomic_store(&alarms_seen, 0);
        nri_plugin *plugin = plugin_on_pair(*state, &witness, &runtime.peer, 0);
        assert_int_equal(pthread_create(&runtime.thread, NULL, call_often, &runtime), 0);
        assert_int_equal(setitimer(ITIMER_REAL, &often, NULL), 0);
        int rc = drive_to_end(drive, plugin, &witness);
        assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
        (void)pthread_join(runtime.thread, NULL);
        assert_int_equal(rc, NRI_E_CLOSED);
        assert_true(runtime.good);
        assert_true(alarms_seen >= ALARMS);
        assert_true(runtime.calls >= OFTEN);
        assert_int_equal((uintptr_t)witness.user, PARTS * PART_PODS);
        assert_int_equal(witness.count[NRI_EVENT_CREATE_CONTAINER], runtime.calls);
        assert_int_equal(witness.count[NRI_EVENT_CONNECTED], 1);
        nri_plugin_close(plugin, NULL, NULL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
        TEST(test_T31_both_sides_write_much_and_neither_blocks),
        TEST(test_T33_pending_calls_complete_when_the_peer_goes),
        TEST(test_T33_a_late_reply_is_dropped_and_the_next_call_works),
        TEST(test_call_options_are_checked),
        TEST(test_a_peer_that_does_not_read_cannot_delay_the_end),
        TEST(test_what_is_queued_goes_out_before_the_end),
        TEST(test_T54_interrupted_calls_are_no_errors),
    };
    /* Valgrind runs one thread at a time and makes each of the 4 KiB that pass the socket a wait.
     */
    if (getenv("NRI_TEST_VALGRIND") != NULL) {
        large = LARGE / 16;
        print_message("under valgrind: texts of %zu bytes\n", large);
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
