/* SPDX-License-Identifier: Apache-2.0 */
/* What a started program has of the descriptors that were open: those below the first that is to be
 * closed, with the C library's own way and without. */
#include <fcntl.h>
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "io/close_from.h"

extern char **environ;

#define KEPT   3
#define LEAKED 9 /* of one digit, for the shell */

static void check(int (*close_all)(posix_spawn_file_actions_t *actions, int first))
{
    char shell[] = "sh", option[] = "-c";
    char script[] = "test -e /proc/self/fd/3 && ! test -e /proc/self/fd/9";
    char *const arguments[] = {shell, option, script, NULL};
    posix_spawn_file_actions_t actions;
    pid_t pid;
    int status;
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(posix_spawn_file_actions_adddup2(&actions, LEAKED, KEPT), 0);
    if (close_all != NULL)
        assert_int_equal(close_all(&actions, KEPT + 1), 0);
    assert_int_equal(posix_spawn(&pid, "/bin/sh", &actions, NULL, arguments, environ), 0);
    assert_int_equal(posix_spawn_file_actions_destroy(&actions), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status == 0, close_all != NULL); /* the script tells one from the other */
}

static void test_closed(void **state)
{
    (void)state;
    assert_int_equal(dup2(STDERR_FILENO, LEAKED), LEAKED); /* without FD_CLOEXEC */
    check(NULL);
    check(nri_close_from);
    check(nri_close_open);
    (void)close(LEAKED);
}

/* No descriptor for the listing: it is said, and the program is not started with all of them. */
static void test_no_room(void **state)
{
    struct rlimit old, none;
    posix_spawn_file_actions_t actions;
    (void)state;
    if (getenv("NRI_TEST_VALGRIND") != NULL)
        skip(); /* valgrind has the limit for itself */
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = old.rlim_max};
    assert_int_equal(posix_spawn_file_actions_init(&actions), 0);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    const int number = nri_close_open(&actions, KEPT + 1);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
    assert_int_equal(posix_spawn_file_actions_destroy(&actions), 0);
    assert_int_not_equal(number, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closed),
        cmocka_unit_test(test_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
