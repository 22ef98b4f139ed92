/* SPDX-License-Identifier: Apache-2.0 */
/* Peers that are not as they should be: others and containers do not notice. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "node.h"

static bool is_closed(int fd)
{
    char bytes[4096];
    ssize_t got;
    do {
        got = recv(fd, bytes, sizeof bytes, MSG_DONTWAIT);
    } while (got > 0);
    return got == 0 || errno != EAGAIN;
}

static void create(struct node *node)
{
    const int before = node->called;
    assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
    node_wait(node, &node->called, before + 1);
    assert_int_equal(node->call_code, 0);
}

static void start_with(struct node *node, struct guest *guest)
{
    node_start(node);
    node_wait(node, &node->ready, 1);
    guest_start(guest, node, "10", "guest");
    node_wait(node, &node->connected, 1);
}

#define SILENT 20

/* Neither an event nor another registration waits for them. */
static void test_silent_peers(void **state)
{
    struct node *node = *state;
    struct guest guests[2] = {0};
    int silent[SILENT];
    start_with(node, &guests[0]);
    for (int i = 0; i < SILENT; i++)
        silent[i] = node_connect(node);
    create(node);
    guest_start(&guests[1], node, "20", "second");
    guests[1].created = -1; /* it would set the same variable */
    node_wait(node, &node->connected, 2);
    for (int i = 0; i < SILENT; i++) {
        assert_false(is_closed(silent[i]));
        (void)close(silent[i]);
    }
    assert_int_equal(node->lost, 0);
    node_close(node);
    guest_close(&guests[0], node);
    guest_close(&guests[1], node);
}

static void test_silent_peers_are_closed(void **state)
{
    struct node *node = *state;
    int silent[SILENT];
    node->options.registration_timeout_ms = 200;
    node_start(node);
    node_wait(node, &node->ready, 1);
    for (int i = 0; i < SILENT; i++)
        silent[i] = node_connect(node);
    for (int i = 0; i < SILENT; i++) {
        node_wait_for(node, is_closed(silent[i]));
        (void)close(silent[i]);
    }
    assert_true(node_logged(node, "did not register within 200 ms"));
    assert_int_equal(node->lost, 0); /* nobody knew of them */
    node_close(node);
}

static void test_garbage(void **state)
{
    struct node *node = *state;
    struct guest guest = {0};
    unsigned seed = 7;
    start_with(node, &guest);
    for (int i = 0; i < 300; i++) {
        uint8_t bytes[512];
        int fd = node_connect(node);
        for (size_t j = 0; j < sizeof bytes; j++) {
            seed = seed * 1103515245u + 12345u;
            bytes[j] = (uint8_t)(seed >> 16);
        }
        /* A third with a right frame around it. */
        if (i % 3 == 0)
            memcpy(bytes, "\0\0\0\2\0\0\1\xf8\0\0\1\xee\0\0\0\1\1\0", 18);
        (void)send(fd, bytes, sizeof bytes, MSG_NOSIGNAL);
        if (i % 2 == 0)
            (void)shutdown(fd, SHUT_WR);
        (void)uv_run(&node->loop, UV_RUN_NOWAIT);
        (void)close(fd);
        (void)uv_run(&node->loop, UV_RUN_NOWAIT);
    }
    create(node);
    assert_int_equal(node->lost, 0);
    node_close(node);
    guest_close(&guest, node);
}

/* A peer that writes for ever and reads nothing. */
static void test_flood(void **state)
{
    struct node *node = *state;
    struct guest guest = {0};
    static uint8_t frames[65536];
    uint8_t frame[8 + 4] = {0, 0, 0, 9, 0, 0, 0, 4}; /* of a connection that nobody has */
    uint8_t call[8 + 10 + 2] = {0, 0, 0, 2, 0, 0, 0, 12, 0, 0, 0, 2, 0, 0, 0, 1, 1, 0, 10, 0};
    start_with(node, &guest);
    int strange = node_connect(node), asking = node_connect(node);
    for (size_t i = 0; i + sizeof frame <= sizeof frames; i += sizeof frame)
        memcpy(frames + i, frame, sizeof frame);
    uint32_t stream = 1;
    for (int i = 0; i < 200; i++) {
        (void)send(strange, frames, sizeof frames / sizeof frame * sizeof frame,
                   MSG_NOSIGNAL | MSG_DONTWAIT);
        for (int j = 0; j < 50; j++, stream += 2) {
            call[12] = (uint8_t)(stream >> 24);
            call[13] = (uint8_t)(stream >> 16);
            call[14] = (uint8_t)(stream >> 8);
            call[15] = (uint8_t)stream;
            (void)send(asking, call, sizeof call, MSG_NOSIGNAL | MSG_DONTWAIT);
        }
        if (i % 10 == 0)
            create(node);
        (void)uv_run(&node->loop, UV_RUN_NOWAIT);
    }
    create(node);
    assert_int_equal(node->lost, 0);
    (void)close(strange);
    (void)close(asking);
    node_close(node);
    guest_close(&guest, node);
}

/* ---- closing at every byte ---- */

#define PHASES 8

struct recording {
    struct {
        uint8_t *bytes;      /* of the plugin, until the runtime said something again */
        size_t size, answer; /* and how much that was */
    } phase[PHASES];
    size_t phases, total;
};

static ssize_t take(int fd, uint8_t *bytes, size_t room)
{
    return recv(fd, bytes, room, MSG_DONTWAIT);
}

static void put(int fd, const uint8_t *bytes, size_t size)
{
    assert_int_equal(send(fd, bytes, size, MSG_NOSIGNAL), size);
}

/* Stands between a plugin and the runtime until the plugin has answered a CreateContainer. */
static void record(struct node *node, struct recording *recording)
{
    static uint8_t bytes[65536];
    struct guest guest = {0};
    int plugin = guest_start_fd(&guest, node, "50", "cut");
    int runtime = node_connect(node);
    bool answered = true, asked = false;
    node_wait_for(node, node->called > 0)
    {
        ssize_t got = take(plugin, bytes, sizeof bytes);
        if (got > 0) {
            recording->phases += answered ? 1 : 0;
            answered = false;
            size_t at = recording->phases - 1;
            assert_true(at < PHASES);
            uint8_t *more =
                realloc(recording->phase[at].bytes, recording->phase[at].size + (size_t)got);
            assert_non_null(more);
            memcpy(more + recording->phase[at].size, bytes, (size_t)got);
            recording->phase[at].bytes = more;
            recording->phase[at].size += (size_t)got;
            recording->total += (size_t)got;
            put(runtime, bytes, (size_t)got);
        }
        got = take(runtime, bytes, sizeof bytes);
        if (got > 0) {
            recording->phase[recording->phases - 1].answer += (size_t)got;
            answered = true;
            put(plugin, bytes, (size_t)got);
        }
        if (node->connected > 0 && !asked) {
            assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
            asked = true;
        }
    }
    (void)close(runtime);
    (void)close(plugin);
    node_wait(node, &node->lost, 1);
    guest_close(&guest, node);
}

/* Says the first `count` bytes of a recording and closes. */
static void say(struct node *node, const struct recording *recording, size_t count)
{
    int fd = node_connect(node);
    bool asked = false;
    for (size_t i = 0; i < recording->phases && count > 0; i++) {
        size_t size = recording->phase[i].size < count ? recording->phase[i].size : count;
        size_t answer = 0;
        uint8_t bytes[4096];
        put(fd, recording->phase[i].bytes, size);
        count -= size;
        while (count > 0 && answer < recording->phase[i].answer) {
            struct pollfd ready = {.fd = fd, .events = POLLIN};
            if (node->connected > 0 && !asked) {
                assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
                asked = true;
            }
            (void)uv_run(&node->loop, UV_RUN_NOWAIT);
            if (poll(&ready, 1, 0) == 1) {
                ssize_t got = take(fd, bytes, sizeof bytes);
                assert_true(got > 0);
                answer += (size_t)got;
            }
        }
    }
    (void)shutdown(fd, SHUT_WR);
    node_wait_for(node, is_closed(fd));
    (void)close(fd);
}

static void test_closing_at_every_byte(void **state)
{
    struct node *node = *state;
    struct recording recording = {0};
    node_start(node);
    node_wait(node, &node->ready, 1);
    record(node, &recording);
    assert_true(recording.phases >= 3);
    assert_true(recording.total > 60);
    for (size_t count = 0; count < recording.total; count++) {
        node->connected = node->lost = node->called = node->line_count = 0;
        say(node, &recording, count);
        node_wait_for(node, node->lost == node->connected);
        assert_null(nri_runtime_next_plugin(node->runtime, NULL));
        /* What it was asked goes on, and so do others. */
        create(node);
        assert_true(node->lost_code == 0 || node->lost_code == NRI_E_CLOSED);
    }
    print_message("%zu bytes in %zu pieces\n", recording.total, recording.phases);
    node_close(node);
    for (size_t i = 0; i < recording.phases; i++)
        free(recording.phase[i].bytes);
}

static void test_wrong_registrations(void **state)
{
    struct node *node = *state;
    struct guest guest = {0};
    node_start(node);
    node_wait(node, &node->ready, 1);
    /* Two of one name are two plugins. */
    guest_start(&guest, node, "10", "twin");
    node_wait(node, &node->connected, 1);
    struct guest twin = {0};
    guest_start(&twin, node, "10", "twin");
    node_wait(node, &node->connected, 2);
    assert_string_equal(node->order, "10-twin 10-twin ");
    node_close(node);
    guest_close(&guest, node);
    guest_close(&twin, node);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, node_setup, node_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_silent_peers), TEST(test_silent_peers_are_closed), TEST(test_garbage),
        TEST(test_flood),        TEST(test_closing_at_every_byte),   TEST(test_wrong_registrations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
