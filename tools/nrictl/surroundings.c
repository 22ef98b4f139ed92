/* SPDX-License-Identifier: Apache-2.0 */
#include "surroundings.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* libuv aborts when it cannot make its pipe; a loop has two more descriptors of each kind. */
#define LEAST_ROOM 8

/* What is closed is opened the wrong way round: reading and writing fail as they did. */
static bool fill_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
            continue;
        if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) {
            (void)fprintf(stderr, "nrictl: /dev/null: %s\n", strerror(errno));
            return false;
        }
    }
    return true;
}

static bool has_room(void)
{
    int fds[LEAST_ROOM], count = 0;
    while (count < LEAST_ROOM && (fds[count] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) >= 0)
        count++;
    const int failure = errno;
    for (int i = 0; i < count; i++)
        (void)close(fds[i]);
    if (count == LEAST_ROOM)
        return true;
    (void)fprintf(stderr, "nrictl: %s: it needs at least %d descriptors beside those it has\n",
                  strerror(failure), LEAST_ROOM);
    return false;
}

bool surroundings_prepare(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    return fill_standard() && has_room();
}

int surroundings_spawn(pid_t *pid, const char *program, const posix_spawn_file_actions_t *actions,
                       char *const *arguments, char *const *environment)
{
    posix_spawnattr_t attributes;
    sigset_t set, mask;
    int number = posix_spawnattr_init(&attributes);
    if (number != 0)
        return number;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGPIPE);
    number = posix_spawnattr_setsigdefault(&attributes, &set);
    /* interrupt.h blocks them here. */
    if (number == 0 && sigprocmask(SIG_BLOCK, NULL, &mask) != 0)
        number = errno;
    if (number == 0) {
        (void)sigdelset(&mask, SIGINT);
        (void)sigdelset(&mask, SIGTERM);
        number = posix_spawnattr_setsigmask(&attributes, &mask);
    }
    if (number == 0)
        number = posix_spawnattr_setpgroup(&attributes, 0);
    if (number == 0)
        number = posix_spawnattr_setflags(
            &attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
    if (number == 0)
        number = posix_spawnp(pid, program, actions, &attributes, arguments, environment);
    (void)posix_spawnattr_destroy(&attributes);
    return number;
}
