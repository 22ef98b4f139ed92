/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor_root.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of a pattern: links that lead in circles make any number of paths. */
#define MOST_STEPS 16384

int doctor_root_open(struct doctor_root *root, const char *directory, struct nri_arena *arena)
{
    *root = (struct doctor_root){.arena = arena};
    root->fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
    return root->fd >= 0 ? 0 : errno;
}

void doctor_root_close(struct doctor_root *root)
{
    if (root->fd >= 0)
        (void)close(root->fd);
    root->fd = -1;
}

static int open_in_root(const struct doctor_root *root, const char *path, bool follow)
{
#ifdef SYS_openat2
    struct open_how how = {.flags = O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW),
                           .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    /* EAGAIN: something was moved meanwhile, and ".." could have led out. */
    for (unsigned tries = 0; tries < 16; tries++) {
        const long fd = syscall(SYS_openat2, root->fd, path, &how, sizeof how);
        if (fd >= 0 || errno != EAGAIN)
            return (int)fd;
    }
    return -1;
#else
    (void)root;
    (void)path;
    (void)follow;
    errno = ENOSYS;
    return -1;
#endif
}

int doctor_root_find(const struct doctor_root *root, const char *path, bool follow)
{
    if (path[strspn(path, "/")] == '\0')
        path = "/.";
    if (!root->no_call) {
        const int fd = open_in_root(root, path, follow);
        /* EPERM is a filter's way to say it: no file is refused to O_PATH with it. */
        if (fd >= 0 || (errno != ENOSYS && errno != EPERM && errno != EINVAL))
            return fd;
    }
    return doctor_walk(root->fd, path, follow);
}

static int status_of(const struct doctor_root *root, const char *path, bool follow,
                     struct stat *status)
{
    const int fd = doctor_root_find(root, path, follow);
    if (fd < 0)
        return errno;
    const int number = fstat(fd, status) == 0 ? 0 : errno;
    (void)close(fd);
    return number;
}

int doctor_root_stat(const struct doctor_root *root, const char *path, struct stat *status)
{
    return status_of(root, path, true, status);
}

int doctor_root_lstat(const struct doctor_root *root, const char *path, struct stat *status)
{
    return status_of(root, path, false, status);
}

bool doctor_root_has(const struct doctor_root *root, const char *path)
{
    struct stat status;
    return doctor_root_stat(root, path, &status) == 0;
}

const char *doctor_root_link(const struct doctor_root *root, const char *path)
{
    char text[PATH_MAX];
    const int fd = doctor_root_find(root, path, false);
    if (fd < 0)
        return NULL;
    const ssize_t length = readlinkat(fd, "", text, sizeof text);
    (void)close(fd);
    return length <= 0 ? NULL : nri_arena_text(root->arena, text, (size_t)length);
}

/* What was found is looked at before it is opened, and it is that which is opened. */
static int reopen(int found, mode_t type, int flags, int *fd)
{
    char path[32];
    struct stat status, now;
    if (fstat(found, &status) != 0)
        return errno;
    if ((status.st_mode & S_IFMT) != type)
        return S_ISDIR(status.st_mode) ? EISDIR : type == S_IFDIR ? ENOTDIR : EINVAL;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", found);
    *fd = open(path, flags | O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return errno;
    if (fstat(*fd, &now) == 0 && now.st_dev == status.st_dev && now.st_ino == status.st_ino)
        return 0;
    (void)close(*fd);
    return ESTALE;
}

static int open_as(const struct doctor_root *root, const char *path, mode_t type, int flags,
                   int *fd)
{
    const int found = doctor_root_find(root, path, true);
    if (found < 0)
        return errno;
    const int number = reopen(found, type, flags, fd);
    (void)close(found);
    return number;
}

int doctor_root_file(const struct doctor_root *root, const char *path, int *fd)
{
    return open_as(root, path, S_IFREG, 0, fd);
}

/* ---- content ---- */

static int read_all(struct nri_arena *arena, int fd, size_t most, char **text, size_t *length)
{
    size_t room = 0;
    *length = 0;
    for (;;) {
        if (room - *length < 2) {
            const size_t wanted = room == 0 ? 4096 : 2 * room;
            char *larger = nri_arena_alloc(arena, wanted);
            if (larger == NULL)
                return ENOMEM;
            if (*length > 0)
                memcpy(larger, *text, *length);
            *text = larger;
            room = wanted;
        }
        const ssize_t got = read(fd, *text + *length, room - *length - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        *length += (size_t)got;
        (*text)[*length] = '\0';
        if (*length > most)
            return EFBIG;
        if (got == 0)
            return 0;
    }
}

int doctor_root_read(const struct doctor_root *root, const char *path, size_t most, char **text,
                     size_t *length)
{
    int fd = -1;
    int number = doctor_root_file(root, path, &fd);
    *text = NULL;
    if (number != 0)
        return number;
    number = read_all(root->arena, fd, most, text, length);
    (void)close(fd);
    return number;
}

const char *doctor_root_line(const struct doctor_root *root, const char *path)
{
    char *text;
    size_t length;
    if (doctor_root_read(root, path, 65536, &text, &length) != 0)
        return NULL;
    text[strcspn(text, "\n")] = '\0';
    return text;
}

/* ---- names ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int add_name(struct nri_arena *arena, struct doctor_names *names, const char *name)
{
    if (names->count == DOCTOR_MOST_ENTRIES) {
        names->cut = true;
        return 0;
    }
    /* Room for 16, 32, 64 and so on: full at each power of two. */
    if (names->count == 0 || (names->count >= 16 && (names->count & (names->count - 1)) == 0)) {
        const char **larger =
            nri_arena_array(arena, names->count == 0 ? 16 : 2 * names->count, sizeof *larger);
        if (larger == NULL)
            return ENOMEM;
        if (names->count > 0)
            memcpy(larger, names->names, names->count * sizeof *larger);
        names->names = larger;
    }
    const char *copy = nri_arena_text(arena, name, strlen(name));
    if (copy == NULL)
        return ENOMEM;
    names->names[names->count++] = copy;
    return 0;
}

static int read_names(const struct doctor_root *root, DIR *stream, struct doctor_names *names)
{
    while (!names->cut) {
        errno = 0;
        const struct dirent *entry = readdir(stream);
        if (entry == NULL)
            return errno;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        const int number = add_name(root->arena, names, entry->d_name);
        if (number != 0)
            return number;
    }
    return 0;
}

int doctor_root_list(const struct doctor_root *root, const char *path, struct doctor_names *names)
{
    int fd = -1;
    *names = (struct doctor_names){.count = 0};
    int number = open_as(root, path, S_IFDIR, O_DIRECTORY, &fd);
    if (number != 0)
        return number;
    DIR *stream = fdopendir(fd);
    if (stream == NULL) {
        number = errno;
        (void)close(fd);
        return number;
    }
    number = read_names(root, stream, names);
    (void)closedir(stream);
    if (names->count > 1)
        qsort(names->names, names->count, sizeof *names->names, by_name);
    return number;
}

/* ---- patterns ---- */

/* The parts of the pattern from `rest` on, below `path`, whose first `length` bytes are in use. */
static int expand(const struct doctor_root *root, char path[PATH_MAX], size_t length,
                  const char *rest, unsigned depth, struct doctor_names *paths)
{
    char part[NAME_MAX + 1];
    const char *only[] = {part};
    struct doctor_names names = {.count = 0};
    rest += strspn(rest, "/");
    const size_t part_length = strcspn(rest, "/");
    if (part_length == 0)
        return doctor_root_has(root, path) ? add_name(root->arena, paths, path) : 0;
    if (part_length > NAME_MAX || depth > 32)
        return ENAMETOOLONG;
    memcpy(part, rest, part_length);
    part[part_length] = '\0';
    rest += part_length;
    if (strpbrk(part, "*?[") != NULL) {
        (void)doctor_root_list(root, length == 0 ? "/" : path, &names);
    } else {
        names = (struct doctor_names){.names = only, .count = 1};
    }
    for (size_t i = 0; i < names.count && !paths->cut; i++) {
        paths->cut = ++paths->looked == MOST_STEPS;
        if (strcmp(names.names[i], part) != 0 && fnmatch(part, names.names[i], 0) != 0)
            continue;
        const size_t size = strlen(names.names[i]);
        if (length + 1 + size >= PATH_MAX)
            continue;
        path[length] = '/';
        memcpy(path + length + 1, names.names[i], size + 1);
        const int number = expand(root, path, length + 1 + size, rest, depth + 1, paths);
        path[length] = '\0';
        if (number != 0)
            return number;
    }
    return 0;
}

int doctor_root_glob(const struct doctor_root *root, const char *pattern,
                     struct doctor_names *paths)
{
    char path[PATH_MAX] = "";
    *paths = (struct doctor_names){.count = 0};
    return expand(root, path, 0, pattern, 0, paths);
}
