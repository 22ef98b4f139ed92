/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lock is taken before the socket is there, and what has no socket is left alone: nobody takes
 * away a directory that has just been made. What is done in such a directory is done by its
 * descriptor, so that it cannot be exchanged for another one meanwhile.
 */
#include "socket_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX      "nrictl-"
#define RANDOM      "XXXXXX"
#define SOCKET_NAME "nri.sock"
#define LOCK_NAME   "lock" /* the directory's own lock is taken by who binds a socket in it */

static const char *temporary(void)
{
    const char *path = getenv("TMPDIR");
    return path == NULL || path[0] == '\0' ? "/tmp" : path;
}

/* ---- what others left ---- */

static bool is_name(const char *name)
{
    const size_t length = strlen(PREFIX);
    return strncmp(name, PREFIX, length) == 0 && strlen(name + length) == strlen(RANDOM) &&
           strchr(name + length, '-') == NULL;
}

static bool is_ours(int fd, mode_t type)
{
    struct stat status;
    return fstat(fd, &status) == 0 && status.st_uid == geteuid() && (status.st_mode & 077) == 0 &&
           (status.st_mode & S_IFMT) == type;
}

static bool has_socket(int fd)
{
    struct stat status;
    return fstatat(fd, SOCKET_NAME, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISSOCK(status.st_mode);
}

/* Whether its lock is there and nobody's. */
static bool is_left(int fd)
{
    const int lock = openat(fd, LOCK_NAME, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    const bool left = lock >= 0 && is_ours(lock, S_IFREG) && flock(lock, LOCK_EX | LOCK_NB) == 0;
    if (lock >= 0)
        (void)close(lock);
    return left;
}

static void remove_if_left(int parent, const char *name)
{
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    if (is_ours(fd, S_IFDIR) && has_socket(fd) && is_left(fd)) {
        (void)unlinkat(fd, SOCKET_NAME, 0);
        (void)unlinkat(fd, LOCK_NAME, 0);
        (void)unlinkat(parent, name, AT_REMOVEDIR); /* no more, if something else is in there */
    }
    (void)close(fd);
}

static void remove_left(void)
{
    DIR *list = opendir(temporary());
    const struct dirent *entry;
    if (list == NULL)
        return;
    while ((entry = readdir(list)) != NULL) {
        if (is_name(entry->d_name))
            remove_if_left(dirfd(list), entry->d_name);
    }
    (void)closedir(list);
}

/* ---- its life ---- */

static int take_lock(struct socket_directory *directory, struct nri_error *error)
{
    char *path = NULL;
    if (asprintf(&path, "%s/" LOCK_NAME, directory->path) < 0)
        return nri_error_set(error, NRI_E_NOMEM, "no memory");
    int code = 0;
    directory->lock = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (directory->lock < 0 || flock(directory->lock, LOCK_EX | LOCK_NB) != 0)
        code = nri_error_set(error, NRI_E_IO, "%s: %m", path);
    free(path);
    return code;
}

int socket_directory_make(struct socket_directory *directory, struct nri_error *error)
{
    *directory = (struct socket_directory){.lock = -1};
    remove_left();
    char *path = NULL;
    if (asprintf(&path, "%s/" PREFIX RANDOM, temporary()) < 0)
        return nri_error_set(error, NRI_E_NOMEM, "no memory");
    if (mkdtemp(path) == NULL) {
        const int code = nri_error_set(error, NRI_E_IO, "%s: %m", path);
        free(path);
        return code;
    }
    directory->path = path;
    if (asprintf(&directory->socket, "%s/" SOCKET_NAME, path) < 0) {
        directory->socket = NULL;
        return nri_error_set(error, NRI_E_NOMEM, "no memory");
    }
    return take_lock(directory, error);
}

static void remove_file(const struct socket_directory *directory, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", directory->path, name) < 0)
        return;
    (void)unlink(path);
    free(path);
}

void socket_directory_remove(struct socket_directory *directory)
{
    if (directory->path == NULL)
        return;
    remove_file(directory, SOCKET_NAME);
    remove_file(directory, LOCK_NAME);
    (void)rmdir(directory->path);
    if (directory->lock >= 0)
        (void)close(directory->lock);
    free(directory->path);
    free(directory->socket);
    *directory = (struct socket_directory){.lock = -1};
}
