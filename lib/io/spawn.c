/* SPDX-License-Identifier: Apache-2.0 */
#include "io/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/close_from.h"
#include "io/discovery.h"
#include "io/environment.h"
#include "io/socket.h"

#define CHILD_FD 3 /* where a plugin finds its socket */

static char *variable(const struct nri_alloc *alloc, const char *name, const char *value)
{
    const size_t size = strlen(name) + 1 + strlen(value) + 1;
    char *text = nri_alloc_raw(alloc, size);
    if (text != NULL)
        (void)snprintf(text, size, "%s=%s", name, value);
    return text;
}

/* In this order: the socket may be descriptor 0 here. */
static int fill_actions(posix_spawn_file_actions_t *actions, int fd)
{
    int number = posix_spawn_file_actions_adddup2(actions, fd, CHILD_FD);
    if (number == 0)
        number = posix_spawn_file_actions_addopen(actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    if (number == 0)
        number = nri_close_from(actions, CHILD_FD + 1);
    return number;
}

static int fill_attributes(posix_spawnattr_t *attributes)
{
    sigset_t all, none;
    (void)sigfillset(&all);
    (void)sigemptyset(&none);
    int number = posix_spawnattr_setsigmask(attributes, &none);
    if (number == 0)
        number = posix_spawnattr_setsigdefault(attributes, &all);
    if (number == 0)
        number = posix_spawnattr_setpgroup(attributes, 0);
    if (number == 0)
        number = posix_spawnattr_setflags(
            attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    return number;
}

/* The number of an errno, or 0. */
static int spawn_with(const char *path, char *const environment[], int fd, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char *const arguments[] = {(char *)(uintptr_t)path, NULL}; /* it only reads them */
    int number = posix_spawn_file_actions_init(&actions);
    if (number != 0)
        return number;
    number = posix_spawnattr_init(&attributes);
    if (number != 0)
        goto fail_attributes;
    number = fill_actions(&actions, fd);
    if (number == 0)
        number = fill_attributes(&attributes);
    if (number == 0)
        number = posix_spawn(pid, path, &actions, &attributes, arguments, environment);
    (void)posix_spawnattr_destroy(&attributes);
fail_attributes:
    (void)posix_spawn_file_actions_destroy(&actions);
    return number;
}

int nri_spawn(const struct nri_spawn *what, const struct nri_alloc *alloc, pid_t *pid, int *fd,
              struct nri_error *error)
{
    char name_of_socket[] = NRI_ENVIRONMENT_SOCKET "=3";
    char *environment[] = {variable(alloc, NRI_ENVIRONMENT_NAME, what->name),
                           variable(alloc, NRI_ENVIRONMENT_INDEX, what->index), name_of_socket,
                           NULL};
    int pair[2] = {-1, -1}, rc = 0;
    if (environment[0] == NULL || environment[1] == NULL)
        rc = nri_error_set(error, NRI_E_NOMEM, "out of memory");
    else if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        rc = nri_socket_error(error, errno, "socketpair");
    if (rc == 0) {
        const int number = spawn_with(what->path, environment, pair[1], pid);
        nri_socket_close(pair[1]);
        *fd = pair[0];
        if (number != 0) {
            rc = nri_path_error(error, number, what->path);
            nri_socket_close(pair[0]);
        }
    }
    nri_alloc_release(alloc, environment[0]);
    nri_alloc_release(alloc, environment[1]);
    return rc;
}
