/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Paths resolved inside a directory, for kernels and filters of system calls without openat2().
 *
 * Each part is opened without following links. A link's own text takes its place in front of what
 * is left; "/" begins again at the root. ".." goes to the directory that was opened on the way and
 * never to the one that the file system calls the parent, so that nothing that somebody moves
 * meanwhile leads out.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "doctor_root.h"

#define MOST_LINKS 40  /* as in the kernel */
#define MOST_DEPTH 256 /* descriptors that are open at once */

struct walk {
    int opened[MOST_DEPTH]; /* [0] is the root, which is not ours */
    size_t depth;
    unsigned links;
    bool follow;
    char rest[2 * PATH_MAX];
};

static void leave(struct walk *walk, size_t depth)
{
    while (walk->depth > depth)
        (void)close(walk->opened[walk->depth--]);
}

/* The link's text goes in front of the rest. */
static int follow_link(struct walk *walk, int fd, const char *rest)
{
    char text[PATH_MAX];
    const ssize_t length = readlinkat(fd, "", text, sizeof text - 1);
    const size_t rest_size = strlen(rest) + 1;
    if (length <= 0)
        return length < 0 ? errno : ENOENT;
    if (++walk->links > MOST_LINKS)
        return ELOOP;
    if ((size_t)length + 1 + rest_size > sizeof walk->rest)
        return ENAMETOOLONG;
    memmove(walk->rest + length + 1, rest, rest_size);
    walk->rest[length] = '/';
    memcpy(walk->rest, text, (size_t)length);
    if (text[0] == '/')
        leave(walk, 0);
    return 0;
}

static int enter(struct walk *walk, const char *part, const char *rest, bool last)
{
    struct stat status;
    if (walk->depth + 1 == MOST_DEPTH)
        return ENAMETOOLONG;
    const int fd =
        openat(walk->opened[walk->depth], part, O_PATH | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return errno;
    int number = fstat(fd, &status) == 0 ? 0 : errno;
    if (number == 0 && S_ISLNK(status.st_mode) && (!last || walk->follow)) {
        number = follow_link(walk, fd, rest);
        (void)close(fd);
        return number;
    }
    if (number == 0 && !last && !S_ISDIR(status.st_mode))
        number = ENOTDIR;
    if (number != 0) {
        (void)close(fd);
        return number;
    }
    memmove(walk->rest, rest, strlen(rest) + 1);
    walk->opened[++walk->depth] = fd;
    return 0;
}

/* Takes the first part of the rest. */
static int step(struct walk *walk)
{
    char part[NAME_MAX + 1];
    const char *at = walk->rest + strspn(walk->rest, "/");
    const size_t length = strcspn(at, "/");
    if (length > NAME_MAX)
        return ENAMETOOLONG;
    memcpy(part, at, length);
    part[length] = '\0';
    at += length;
    const bool last = at[strspn(at, "/")] == '\0';
    if (strcmp(part, ".") == 0 || strcmp(part, "..") == 0) {
        if (part[1] == '.' && walk->depth > 0)
            leave(walk, walk->depth - 1);
        memmove(walk->rest, at, strlen(at) + 1);
        return 0;
    }
    return enter(walk, part, at, last);
}

int doctor_walk(int root, const char *path, bool follow)
{
    struct walk walk = {.opened = {root}, .follow = follow};
    int number = 0;
    if (strlen(path) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(walk.rest, path, strlen(path) + 1);
    while (number == 0 && walk.rest[strspn(walk.rest, "/")] != '\0')
        number = step(&walk);
    int fd = -1;
    if (number == 0) {
        fd = fcntl(walk.opened[walk.depth], F_DUPFD_CLOEXEC, 3);
        number = fd < 0 ? errno : 0;
    }
    leave(&walk, 0);
    errno = number;
    return fd;
}
