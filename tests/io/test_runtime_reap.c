/* SPDX-License-Identifier: Apache-2.0 */
/* Launched plugins where processes are hard to look after: a kernel without pidfds, no descriptor
 * for one, a program that ignores SIGCHLD or reaps everybody's children. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "node.h"

static char program[PATH_MAX];
static int pidfd_error; /* of pidfd_open(), when not 0 */
static bool no_wait_by_pidfd;
static int signal_error; /* of pidfd_send_signal(), when not 0 */
static int kills;        /* of the library and of this program */

long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d);
int __real_waitid(idtype_t type, id_t id, siginfo_t *info, int options);
int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options);

long __wrap_syscall(long number, long a, long b, long c, long d)
{
    if (number == SYS_pidfd_open && pidfd_error != 0) {
        errno = pidfd_error;
        return -1;
    }
    if (number == SYS_pidfd_send_signal && signal_error != 0) {
        errno = signal_error;
        return -1;
    }
    return __real_syscall(number, a, b, c, d);
}

int __real_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number)
{
    kills += number != 0;
    return __real_kill(pid, number);
}

int __wrap_waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    if ((int)type == 3 && no_wait_by_pidfd) { /* P_PIDFD */
        errno = EINVAL;
        return -1;
    }
    return __real_waitid(type, id, info, options);
}

static void start(struct node *node, const char *name)
{
    node->ready = node->ended = node->lost = node->connected = node->line_count = 0;
    node_link(node->plugins, name, program);
    node->options.stop_timeout_ms = 100;
    node_start(node);
    node_wait(node, &node->ready, 1);
    assert_int_equal(node->connected, 1);
}

static void run_all_ends(struct node *node)
{
    /* By itself, at a stop. */
    start(node, "10-fine");
    node_stop(node);
    node_close(node);
    /* By force, at a stop. */
    node_remove(node->plugins, "10-fine");
    start(node, "10-stubborn");
    node_stop(node);
    assert_true(node_logged(node, "has not ended after SIGTERM: sending SIGKILL"));
    node_close(node);
    node_remove(node->plugins, "10-stubborn");
    /* While the runtime goes on. */
    start(node, "10-fine");
    const pid_t pid = (pid_t)node->pid;
    assert_int_equal(kill(pid, SIGKILL), 0);
    node_wait(node, &node->lost, 1);
    node_wait_for(node, kill(pid, 0) != 0 && errno == ESRCH);
    node_close(node);
    node_remove(node->plugins, "10-fine");
    /* At once. */
    start(node, "10-stubborn");
    node_close(node);
    node_remove(node->plugins, "10-stubborn");
}

static void test_no_pidfds(void **state)
{
    pidfd_error = ENOSYS;
    run_all_ends(*state);
    pidfd_error = EMFILE;
    run_all_ends(*state);
    pidfd_error = 0;
}

static void test_no_wait_by_pidfd(void **state)
{
    no_wait_by_pidfd = true;
    run_all_ends(*state);
    no_wait_by_pidfd = false;
}

/* As a filter of system calls has it. */
static void test_no_signals_by_pidfd(void **state)
{
    static const int numbers[] = {ENOSYS, EPERM};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        signal_error = numbers[i];
        run_all_ends(*state);
    }
    signal_error = 0;
}

/* A process that somebody else has reaped, while its connection lives on in a child of its own: its
 * number may be another process's by now, and must not be signalled. */
static void test_no_signal_to_a_number(void **state)
{
    struct node *node = *state;
    void (*old)(int) = signal(SIGCHLD, SIG_IGN);
    pidfd_error = ENOSYS;
    start(node, "10-daemon");
    node_wait_for(node, kill((pid_t)node->pid, 0) != 0 && errno == ESRCH);
    kills = 0;
    node_close(node);
    assert_int_equal(kills, 0);
    pidfd_error = 0;
    (void)signal(SIGCHLD, old);
}

static bool has_children(void)
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0;
}

/* What ends by itself is a warning, and what the runtime ends is none. */
static void test_levels(void **state)
{
    struct node *node = *state;
    node->options.log_level = NRI_LOG_WARN;
    node_link(node->plugins, "10-crashing", program);
    node_link(node->plugins, "20-failing", program);
    node_link(node->plugins, "30-leaving", program);
    node->options.stop_timeout_ms = 100;
    node_start(node);
    node_wait(node, &node->ready, 1);
    node_wait_for(node, node_logged(node, "plugin 10-crashing: process") &&
                            node_logged(node, "was ended by signal 6"));
    node_wait_for(node, node_logged(node, "exited with status 7"));
    node_wait_for(node, !has_children());
    assert_true(node_logged(node, "has not ended: sending SIGTERM"));
    assert_false(node_logged(node, "was ended by signal 15"));
    node_remove(node->plugins, "10-crashing");
    node_remove(node->plugins, "20-failing");
    node_remove(node->plugins, "30-leaving");
    node_close(node);
    start(node, "10-deaf");
    node_stop(node);
    assert_true(node_logged(node, "has not ended: sending SIGTERM"));
    assert_false(node_logged(node, "was ended by signal 15"));
    node_close(node);
}

static void test_sigchld_is_ignored(void **state)
{
    void (*old)(int) = signal(SIGCHLD, SIG_IGN);
    run_all_ends(*state);
    (void)signal(SIGCHLD, old);
}

static void reap_all(int number)
{
    const int saved = errno;
    (void)number;
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    errno = saved;
}

static void test_somebody_reaps_all(void **state)
{
    void (*old)(int) = signal(SIGCHLD, reap_all);
    run_all_ends(*state);
    (void)signal(SIGCHLD, old);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, node_setup, node_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_pidfds),
        TEST(test_no_wait_by_pidfd),
        TEST(test_no_signals_by_pidfd),
        TEST(test_no_signal_to_a_number),
        TEST(test_levels),
        TEST(test_sigchld_is_ignored),
        TEST(test_somebody_reaps_all),
    };
    if (argc < 2 || realpath(argv[1], program) == NULL)
        return 2;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
