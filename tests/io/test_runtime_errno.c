/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the system refuses a runtime: a connection, for a while; the socket and its directory, for
 * good. And what a peer that never stops sending may take of a turn. The calls come by here first.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "node.h"

/* ---- the calls ---- */

static struct {
    const char *call; /* which fails; NULL: none */
    int number;       /* with this errno */
    int times;        /* so often; -1: for good */
    int failed;
} refusal;

static bool refuses(const char *call)
{
    if (refusal.call == NULL || strcmp(refusal.call, call) != 0 || refusal.times == 0)
        return false;
    if (refusal.times > 0)
        refusal.times--;
    refusal.failed++;
    errno = refusal.number;
    return true;
}

static void refuse(const char *call, int number, int times)
{
    refusal.call = call;
    refusal.number = number;
    refusal.times = times;
    refusal.failed = 0;
}

int __real_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags);
int __wrap_accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    return refuses("accept4") ? -1 : __real_accept4(fd, address, size, flags);
}

int __real_bind(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t size)
{
    return refuses("bind") ? -1 : __real_bind(fd, address, size);
}

int __real_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog);
int __wrap_listen(int fd, int backlog)
{
    return refuses("listen") ? -1 : __real_listen(fd, backlog);
}

int __real_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode)
{
    return refuses("mkdir") ? -1 : __real_mkdir(path, mode);
}

int __real_access(const char *path, int mode);
int __wrap_access(const char *path, int mode);
int __wrap_access(const char *path, int mode)
{
    return refuses("access") ? -1 : __real_access(path, mode);
}

/* Of the socket's directory alone. With large files open() is called by its other name. */
static bool refuses_open(const char *path)
{
    const char *last = strrchr(path, '/');
    return last != NULL && strcmp(last, "/run") == 0 && refuses("open");
}

int __real_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode);
int __wrap_open(const char *path, int flags, mode_t mode)
{
    return refuses_open(path) ? -1 : __real_open(path, flags, mode);
}

int __real_open64(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode)
{
    return refuses_open(path) ? -1 : __real_open64(path, flags, mode);
}

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __wrap_flock(int fd, int operation)
{
    return refuses("flock") ? -1 : __real_flock(fd, operation);
}

/* A descriptor from which as much may be read as anybody asks for, all of it for a connection that
 * there is not, which is thrown away. */
static int endless = -1;
static size_t reads, most_reads, endless_bytes;

static void fill(uint8_t *bytes, size_t room)
{
    const uint32_t size = (uint32_t)room - 8;
    memset(bytes, 0, room);
    bytes[3] = 99;
    for (int i = 0; i < 4; i++)
        bytes[4 + i] = (uint8_t)(size >> (24 - 8 * i));
}

ssize_t __real_recv(int fd, void *bytes, size_t room, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t room, int flags);
ssize_t __wrap_recv(int fd, void *bytes, size_t room, int flags)
{
    if (fd != endless)
        return __real_recv(fd, bytes, room, flags);
    fill(bytes, room);
    endless_bytes += room;
    if (++reads > most_reads)
        most_reads = reads;
    return (ssize_t)room;
}

/* ---- a connection ---- */

static void test_accept(void **state)
{
    struct node *node = *state;
    static const int numbers[] = {EMFILE, ENFILE, ENOMEM, ENOBUFS, EPERM, EINTR, ECONNABORTED};
    struct guest guests[sizeof numbers / sizeof numbers[0]];
    const int count = (int)(sizeof numbers / sizeof numbers[0]);
    memset(guests, 0, sizeof guests);
    node_start(node);
    node_wait(node, &node->ready, 1);
    for (int i = 0; i < count; i++) {
        char index[3], name[16];
        const bool waits = numbers[i] != EINTR && numbers[i] != ECONNABORTED;
        (void)snprintf(index, sizeof index, "%02d", i);
        (void)snprintf(name, sizeof name, "guest%d", i);
        node->line_count = 0;
        refuse("accept4", numbers[i], 3);
        guest_start(&guests[i], node, index, name);
        node_wait(node, &node->connected, i + 1); /* it was not turned away */
        assert_int_equal(refusal.failed, 3);
        assert_int_equal(node_logged(node, "has to wait: accept: "), waits);
    }
    assert_int_equal(node->lost, 0);
    node_close(node);
    for (int i = 0; i < count; i++)
        guest_close(&guests[i], node);
}

/* Accepting that fails for good neither keeps the loop busy nor the runtime from its end. */
static void test_accept_never(void **state)
{
    struct node *node = *state;
    node_start(node);
    node_wait(node, &node->ready, 1);
    refuse("accept4", EMFILE, -1);
    const int fd = node_connect(node);
    node_wait_for(node, refusal.failed == 2);
    const int failed = refusal.failed;
    for (int i = 0; i < 50; i++) /* turns without waiting, between two attempts */
        (void)uv_run(&node->loop, UV_RUN_NOWAIT);
    assert_true(refusal.failed <= failed + 50 / 2);
    node_close(node);
    refuse(NULL, 0, 0);
    (void)close(fd);
}

/* ---- the socket ---- */

struct refused {
    const char *call;
    int number;
    int started; /* what nri_runtime_start() returns */
    int ended;   /* else what the end is told */
};

static const struct refused rows[] = {
    {"mkdir", EACCES, NRI_E_PERMISSION, 0},
    {"mkdir", EPERM, NRI_E_PERMISSION, 0},
    {"mkdir", EROFS, NRI_E_PERMISSION, 0},
    {"mkdir", ENOSPC, NRI_E_IO, 0},
    {"mkdir", ENOMEM, NRI_E_NOMEM, 0},
    {"access", EACCES, NRI_E_PERMISSION, 0},
    {"access", EROFS, NRI_E_PERMISSION, 0},
    {"bind", EACCES, 0, NRI_E_PERMISSION},
    {"bind", EROFS, 0, NRI_E_PERMISSION},
    {"bind", ENOSPC, 0, NRI_E_IO},
    {"bind", ENOMEM, 0, NRI_E_NOMEM},
    {"bind", EADDRINUSE, 0, NRI_E_ADDR_IN_USE},
    {"listen", ENOBUFS, 0, NRI_E_IO},
    {"flock", ENOLCK, 0, 0},
    /* May be written to, but not read. */
    {"open", EACCES, 0, 0},
    {"open", EMFILE, 0, NRI_E_IO},
};

static void check_refused(struct node *node, const struct refused *row)
{
    char run[128];
    node->ready = node->ended = 0;
    (void)snprintf(run, sizeof run, "%s/run", node->directory);
    (void)rmdir(run);
    assert_int_equal(node_new(node), 0);
    refuse(row->call, row->number, -1);
    const int code = node_begin(node);
    if (code != row->started)
        fail_msg("%s, %s: %s", row->call, strerror(row->number), nri_error_name(code));
    if (code == 0 && row->ended == 0) {
        node_wait(node, &node->ready, 1);
    } else if (code == 0) {
        node_wait(node, &node->ended, 1);
        if (node->end_code != row->ended)
            fail_msg("%s, %s: %s", row->call, strerror(row->number),
                     nri_error_name(node->end_code));
    }
    assert_true(refusal.failed > 0);
    refuse(NULL, 0, 0);
    const char *text = nri_error_get_text(nri_runtime_last_error(node->runtime));
    if ((row->started != 0 || row->ended != 0) && strstr(text, node->directory) == NULL)
        fail_msg("%s, %s: no path in \"%s\"", row->call, strerror(row->number), text);
    node_close(node);
    assert_int_equal(access(node->socket, F_OK), -1); /* nothing is left of it */
}

static void test_socket_is_refused(void **state)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        check_refused(*state, &rows[i]);
}

/* ---- turns ---- */

static void count_turn(uv_prepare_t *prepare)
{
    (void)prepare;
    reads = 0;
}

/* What one peer sends without end is read a quarter of a MiB a turn, so that others are served. */
static void test_reads_of_a_turn(void **state)
{
    struct node *node = *state;
    struct guest guest = {0};
    uv_prepare_t prepare;
    int pair[2];
    node->options.registration_timeout_ms = 60000; /* the endless one never registers */
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_int_equal(uv_prepare_init(&node->loop, &prepare), 0);
    assert_int_equal(uv_prepare_start(&prepare, count_turn), 0);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(write(pair[1], "x", 1), 1); /* polls readable for good */
    endless = pair[0];
    reads = most_reads = endless_bytes = 0;
    assert_int_equal(nri_runtime_attach_fd(node->runtime, pair[0]), 0);
    node_wait_for(node, endless_bytes >= ((size_t)4 << 20));
    guest_start(&guest, node, "10", "guest");
    node_wait(node, &node->connected, 1);
    assert_int_equal(node_call(node, NRI_EVENT_CREATE_CONTAINER), 0);
    node_wait(node, &node->called, 1);
    assert_int_equal(guest.created, 1);
    assert_int_equal(most_reads, 4); /* of 64 KiB */
    endless = -1;
    uv_close((uv_handle_t *)&prepare, NULL);
    node_close(node);
    guest_close(&guest, node);
    (void)close(pair[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, node_setup, node_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_accept),
        TEST(test_accept_never),
        TEST(test_socket_is_refused),
        TEST(test_reads_of_a_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
