/* SPDX-License-Identifier: Apache-2.0 */
/* The runtime's socket: what may stand in its place, whose it is, and when there is no room. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "node.h"

static int bound_socket(const char *path, int type, bool listens)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof address), 0);
    if (listens)
        assert_int_equal(listen(fd, 4), 0);
    return fd;
}

static void make_run_directory(const struct node *node)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/run", node->directory);
    assert_int_equal(mkdir(path, 0755), 0);
}

static ino_t inode_of(const char *path)
{
    struct stat status;
    return lstat(path, &status) == 0 ? status.st_ino : 0;
}

static void test_T25_a_dead_socket_is_replaced(void **state)
{
    struct node *node = *state;
    struct stat status;
    make_run_directory(node);
    (void)close(bound_socket(node->socket, SOCK_STREAM, true));
    /* Held, so that its number is not given to the next one. */
    const int dead = open(node->socket, O_PATH | O_CLOEXEC);
    const ino_t before = inode_of(node->socket);
    assert_true(dead >= 0);
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_int_not_equal(inode_of(node->socket), before);
    (void)close(dead);
    (void)close(node_connect(node));
    /* A directory that was there stays as it was. */
    char path[128];
    (void)snprintf(path, sizeof path, "%s/run", node->directory);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0755);
    node_close(node);
}

static void check_kept(struct node *node, int code)
{
    const ino_t before = inode_of(node->socket);
    assert_int_equal(node_new(node), 0);
    assert_int_equal(node_begin(node), code);
    assert_non_null(
        strstr(nri_error_get_text(nri_runtime_last_error(node->runtime)), node->socket));
    assert_int_equal(inode_of(node->socket), before);
    node_close(node);
}

static void test_T25_a_live_listener_is_kept(void **state)
{
    struct node *node = *state;
    make_run_directory(node);
    int fd = bound_socket(node->socket, SOCK_STREAM, true);
    check_kept(node, NRI_E_ADDR_IN_USE);
    /* It still accepts; the first that connected was the runtime, to see whether it is alive. */
    const int client = node_connect(node);
    for (int i = 0; i < 2; i++) {
        const int accepted = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        assert_true(accepted >= 0);
        (void)close(accepted);
    }
    (void)close(client);
    /* Also when nobody accepts and the backlog is full. */
    int clients[16], count = 0;
    for (; count < 16; count++) {
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        clients[count] = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", node->socket);
        if (connect(clients[count], (const struct sockaddr *)&address, sizeof address) != 0)
            break;
    }
    assert_true(count < 16);
    check_kept(node, NRI_E_ADDR_IN_USE);
    for (int i = 0; i <= count; i++)
        (void)close(clients[i]);
    (void)close(fd);
    assert_int_equal(unlink(node->socket), 0);
}

static void test_T25_what_is_no_socket_is_kept(void **state)
{
    struct node *node = *state;
    make_run_directory(node);
    node_write_text(node->directory, "run/nri.sock", "precious", 0600);
    check_kept(node, NRI_E_NOT_SOCKET);
    char content[16] = "";
    const int file = open(node->socket, O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(file, content, sizeof content - 1), 8);
    assert_string_equal(content, "precious");
    (void)close(file);
    assert_int_equal(unlink(node->socket), 0);
    assert_int_equal(mkdir(node->socket, 0700), 0);
    check_kept(node, NRI_E_NOT_SOCKET);
    assert_int_equal(rmdir(node->socket), 0);
    assert_int_equal(mkfifo(node->socket, 0600), 0);
    check_kept(node, NRI_E_NOT_SOCKET);
    assert_int_equal(unlink(node->socket), 0);
    node_link(node->directory, "run/nri.sock", "elsewhere");
    check_kept(node, NRI_E_NOT_SOCKET);
    assert_int_equal(unlink(node->socket), 0);
    int fd = bound_socket(node->socket, SOCK_DGRAM, false);
    check_kept(node, NRI_E_NOT_SOCKET);
    (void)close(fd);
    assert_int_equal(unlink(node->socket), 0);
    node_start(node); /* and now it may */
    node_wait(node, &node->ready, 1);
    node_close(node);
}

static void test_no_directory_can_be_made(void **state)
{
    struct node *node = *state;
    node_write_text(node->directory, "run", "a file", 0600);
    assert_int_equal(node_new(node), 0);
    assert_int_equal(node_begin(node), NRI_E_NOT_FOUND);
    node_close(node);
}

static void test_T27_directories_are_made_for_their_owner_alone(void **state)
{
    struct node *node = *state;
    static const char *const made[] = {"a", "a/b", "a/b/c"};
    char path[96], directory[96];
    struct stat status;
    (void)snprintf(path, sizeof path, "%s/a/b//c/nri.sock", node->directory);
    node->options.socket_path = path;
    const mode_t old = umask(0);
    node_start(node);
    node_wait(node, &node->ready, 1);
    (void)umask(old);
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        (void)snprintf(directory, sizeof directory, "%s/%s", node->directory, made[i]);
        assert_int_equal(stat(directory, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0700);
    }
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & (S_IWGRP | S_IWOTH), 0);
    node_close(node);
    assert_int_equal(inode_of(path), 0);
}

static void test_mode_whatever_the_umask(void **state)
{
    struct node *node = *state;
    static const mode_t masks[] = {0, 0777};
    make_run_directory(node);
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        struct stat status;
        node->ready = 0;
        const mode_t old = umask(masks[i]);
        node_start(node);
        node_wait(node, &node->ready, 1);
        (void)umask(old);
        assert_int_equal(stat(node->socket, &status), 0);
        assert_int_equal(status.st_mode & 0777, 0600);
        node_close(node);
    }
}

static void test_anothers_socket_is_not_removed(void **state)
{
    struct node *node = *state;
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_int_equal(unlink(node->socket), 0);
    int fd = bound_socket(node->socket, SOCK_STREAM, true);
    node_close(node);
    assert_int_not_equal(inode_of(node->socket), 0);
    (void)close(fd);
    assert_int_equal(unlink(node->socket), 0);
}

/* Between the check at the start and the opening. */
static void test_taken_meanwhile(void **state)
{
    struct node *node = *state;
    node_start(node);
    int fd = bound_socket(node->socket, SOCK_STREAM, true);
    node_wait(node, &node->ended, 1);
    assert_int_equal(node->end_code, NRI_E_ADDR_IN_USE);
    assert_int_equal(node->ready, 0);
    assert_int_equal(nri_error_get_code(nri_runtime_last_error(node->runtime)), NRI_E_ADDR_IN_USE);
    assert_int_not_equal(inode_of(node->socket), 0);
    node_close(node);
    (void)close(fd);
    assert_int_equal(unlink(node->socket), 0);
}

static int lock(const struct node *node)
{
    char path[128];
    (void)snprintf(path, sizeof path, "%s/run", node->directory);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(flock(fd, LOCK_EX), 0);
    return fd;
}

static void test_locked_directory(void **state)
{
    struct node *node = *state;
    make_run_directory(node);
    int fd = lock(node);
    node_start(node);
    for (int i = 0; i < 5; i++)
        (void)uv_run(&node->loop, UV_RUN_NOWAIT);
    assert_int_equal(node->ready, 0);
    assert_int_equal(inode_of(node->socket), 0);
    (void)close(fd);
    node_wait(node, &node->ready, 1);
    node_close(node);
    /* Nobody can keep it from starting. */
    node->ready = 0;
    fd = lock(node);
    node_start(node);
    node_wait(node, &node->ready, 1);
    node_close(node);
    /* Closed while it waits. */
    node->ready = 0;
    node_start(node);
    for (int i = 0; i < 5; i++)
        (void)uv_run(&node->loop, UV_RUN_NOWAIT);
    node_close(node);
    assert_int_equal(node->ready, 0);
    (void)close(fd);
}

static int client_for_later(void)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0);
    return fd;
}

static void connect_client(const struct node *node, int fd)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    (void)snprintf(address.sun_path, sizeof address.sun_path, "%s", node->socket);
    assert_int_equal(connect(fd, (const struct sockaddr *)&address, sizeof address), 0);
}

static bool is_closed(int fd)
{
    char byte;
    ssize_t got = recv(fd, &byte, 1, MSG_DONTWAIT | MSG_PEEK);
    return got == 0 || (got < 0 && errno != EAGAIN);
}

static void test_no_descriptors_left(void **state)
{
    struct node *node = *state;
    struct rlimit old, few;
    struct guest guest = {0};
    if (getenv("NRI_TEST_VALGRIND") != NULL)
        skip(); /* valgrind has the limit for itself: it accepts, and closes what it got */
    node->options.registration_timeout_ms = 60000;
    node_start(node);
    node_wait(node, &node->ready, 1);
    int fd = client_for_later();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    /* All that are below are open but those that are not: fill them. */
    int filler[64], count = 0, top = dup(0);
    few = old;
    few.rlim_cur = (rlim_t)top + 1;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    while (count < 64 && (filler[count] = dup(0)) >= 0)
        count++;
    connect_client(node, fd);
    node_wait_for(node, node_logged(node, "has to wait: accept: "));
    assert_false(is_closed(fd));
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    (void)close(top);
    while (count > 0)
        (void)close(filler[--count]);
    /* It is served when there is room again, and so are others. */
    guest_start(&guest, node, "10", "guest");
    node_wait(node, &node->connected, 1);
    assert_int_equal(write(fd, "\xff\xff\xff\xff\xff\xff\xff\xff", 8), 8);
    node_wait_for(node, is_closed(fd));
    (void)close(fd);
    node_close(node);
    guest_close(&guest, node);
}

static void test_max_plugins(void **state)
{
    struct node *node = *state;
    struct guest first = {0}, second = {0};
    node->options.max_plugins = 1;
    node_start(node);
    node_wait(node, &node->ready, 1);
    guest_start(&first, node, "10", "first");
    node_wait(node, &node->connected, 1);
    guest_start(&second, node, "20", "second");
    for (int i = 0; i < 10; i++)
        (void)uv_run(&node->loop, UV_RUN_NOWAIT);
    assert_int_equal(second.configured, 0);
    struct guest inside = {0};
    struct nri_plugin_ops ops = guest_ops();
    assert_int_equal(nri_runtime_add_builtin(node->runtime, &ops, "inside", "10", NULL, &inside),
                     NRI_E_BUSY);
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    assert_int_equal(nri_runtime_attach_fd(node->runtime, pair[0]), NRI_E_BUSY);
    (void)close(pair[0]);
    (void)close(pair[1]);
    guest_close(&first, node);
    node_wait(node, &node->connected, 2); /* it waited in the backlog */
    node_close(node);
    guest_close(&second, node);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, node_setup, node_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_T25_a_dead_socket_is_replaced),
        TEST(test_T25_a_live_listener_is_kept),
        TEST(test_T25_what_is_no_socket_is_kept),
        TEST(test_no_directory_can_be_made),
        TEST(test_T27_directories_are_made_for_their_owner_alone),
        TEST(test_mode_whatever_the_umask),
        TEST(test_anothers_socket_is_not_removed),
        TEST(test_taken_meanwhile),
        TEST(test_locked_directory),
        TEST(test_no_descriptors_left),
        TEST(test_max_plugins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
