/* SPDX-License-Identifier: Apache-2.0 */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "io/socket.h"

#define SUFFIX_ROOM  16 /* of the longest suffix with its NUL */
#define READ_AT_ONCE ((size_t)64 * 1024)
#define DIRECTORY    (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

/* ---- paths ---- */

/* Where the file's name starts. */
static size_t name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? (size_t)(slash - path) + 1 : 0;
}

size_t nri_file_room(const char *path)
{
    const size_t length = strlen(path), name = name_of(path);
    if (name == length || strcmp(path + name, ".") == 0 || strcmp(path + name, "..") == 0)
        return 0;
    /* The path; its directory, of which the shortest is "."; and a path with a suffix. */
    return length + 1 + length + 2 + length + SUFFIX_ROOM;
}

/* The directory of a path, as dirname(3) has it: "." and "/" included. */
static void take_directory(char *directory, const char *path, size_t name)
{
    while (name > 1 && path[name - 1] == '/')
        name--;
    memcpy(directory, name > 0 ? path : ".", name > 0 ? name : 1);
    directory[name > 0 ? name : 1] = '\0';
}

void nri_file_init(struct nri_file *file, const char *subject, const char *path, char *room)
{
    const size_t length = strlen(path);
    file->subject = subject;
    file->length = length;
    file->path = room;
    file->directory = file->path + length + 1;
    file->other = file->directory + length + 2;
    memcpy(file->path, path, length + 1);
    memcpy(file->other, path, length + 1);
    take_directory(file->directory, path, name_of(path));
}

const char *nri_file_with_suffix(struct nri_file *file, const char *suffix)
{
    (void)snprintf(file->other + file->length, SUFFIX_ROOM, "%s", suffix);
    return file->other;
}

int nri_file_failed(const struct nri_file *file, struct nri_error *error, int number,
                    const char *what, const char *path)
{
    char room[NRI_ERRNO_TEXT_SIZE];
    int code = NRI_E_IO;
    if (number == EACCES || number == EPERM || number == EROFS)
        code = NRI_E_PERMISSION;
    else if (number == ENOENT || number == ENOTDIR)
        code = NRI_E_NOT_FOUND;
    else if (number == ENOMEM)
        code = NRI_E_NOMEM;
    return nri_error_set(error, code, "%s cannot be %s: %s: %s", file->subject, what, path,
                         nri_errno_text(number, room));
}

/* ---- reading ---- */

/* No file is no error, but no directory for it is one: nothing could ever be written. */
static int check_directory(const struct nri_file *file, struct nri_error *error)
{
    const int fd = open(file->directory, DIRECTORY);
    if (fd < 0)
        return nri_file_failed(file, error, errno, "kept", file->directory);
    (void)close(fd);
    return 0;
}

static int check_file(int fd, const struct nri_file *file, struct stat *status,
                      struct nri_error *error)
{
    if (fstat(fd, status) != 0)
        return nri_file_failed(file, error, errno, "read", file->path);
    if (!S_ISREG(status->st_mode))
        return nri_error_set(error, NRI_E_IO,
                             "%s %s is not a regular file: give the path of one, or of none yet",
                             file->subject, file->path);
    return 0;
}

static int read_all(int fd, const struct nri_file *file, struct nri_buf *content, const char *limit,
                    struct nri_error *error)
{
    for (;;) {
        /* One byte more than the limit tells a file of that size from a larger one. */
        const size_t left = content->limit - nri_buf_size(content);
        size_t size = left < READ_AT_ONCE ? left : READ_AT_ONCE;
        uint8_t *room, beyond;
        if (size == 0) {
            room = &beyond;
            size = 1;
        } else if (nri_buf_reserve(content, size, &room) != 0) {
            return nri_error_set(error, NRI_E_NOMEM, "no memory for %s", file->subject);
        }
        const ssize_t got = read(fd, room, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return nri_file_failed(file, error, errno, "read", file->path);
        if (got == 0)
            return 0;
        if (room == &beyond)
            return nri_error_set(error, NRI_E_LIMIT, "it is larger than %zu bytes (%s)",
                                 content->limit, limit);
        nri_buf_commit(content, (size_t)got);
    }
}

/* O_NONBLOCK: a pipe in its place must not hang the program. */
int nri_file_read(const struct nri_file *file, struct nri_buf *content, struct stat *status,
                  const char *limit, bool *found, struct nri_error *error)
{
    struct stat own;
    *found = false;
    const int fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0 && errno == ENOENT)
        return check_directory(file, error);
    if (fd < 0 && errno == ELOOP)
        return nri_error_set(error, NRI_E_IO,
                             "%s %s is a symbolic link, which is not followed: give the path of "
                             "the file itself",
                             file->subject, file->path);
    if (fd < 0)
        return nri_file_failed(file, error, errno, "read", file->path);
    int code = check_file(fd, file, status != NULL ? status : &own, error);
    if (code == 0)
        code = read_all(fd, file, content, limit, error);
    (void)close(fd);
    *found = code == 0;
    return code;
}

/* ---- replacing ---- */

/* The owner is given where that is allowed, and before the mode, which chown() may take bits from.
 * EINVAL: in a user namespace that has no such user. */
static int make_like(int fd, const struct nri_file *file, const struct stat *like, const char *path,
                     struct nri_error *error)
{
    if (like == NULL)
        return 0;
    if (fchown(fd, like->st_uid, like->st_gid) != 0 && errno != EPERM && errno != EINVAL)
        return nri_file_failed(file, error, errno, "written", path);
    if (fchmod(fd, like->st_mode & 07777) != 0)
        return nri_file_failed(file, error, errno, "written", path);
    return 0;
}

static int write_all(int fd, const struct nri_file *file, const uint8_t *bytes, size_t count,
                     const char *path, struct nri_error *error)
{
    while (count > 0) {
        const ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return nri_file_failed(file, error, errno, "written", path);
        bytes += written;
        count -= (size_t)written;
    }
    if (fsync(fd) != 0)
        return nri_file_failed(file, error, errno, "written to the disk", path);
    return 0;
}

/* One that a crash left is removed rather than written to: it may have another mode, or be a link.
 */
static int write_temporary(const struct nri_file *file, const char *path, const uint8_t *bytes,
                           size_t count, const struct stat *like, struct nri_error *error)
{
    (void)unlink(path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return nri_file_failed(file, error, errno, "written", path);
    int code = make_like(fd, file, like, path, error);
    if (code == 0)
        code = write_all(fd, file, bytes, count, path, error);
    if (close(fd) != 0 && code == 0)
        code = nri_file_failed(file, error, errno, "written", path);
    if (code != 0)
        (void)unlink(path);
    return code;
}

int nri_file_sync_directory(const struct nri_file *file, struct nri_error *error)
{
    int code = 0;
    const int fd = open(file->directory, DIRECTORY);
    if (fd < 0)
        return nri_file_failed(file, error, errno, "written to the disk", file->directory);
    /* EINVAL: this file system has no such thing for directories. */
    if (fsync(fd) != 0 && errno != EINVAL)
        code = nri_file_failed(file, error, errno, "written to the disk", file->directory);
    (void)close(fd);
    return code;
}

int nri_file_replace(struct nri_file *file, const uint8_t *bytes, size_t count,
                     const struct stat *like, struct nri_error *error)
{
    const char *temporary = nri_file_with_suffix(file, NRI_FILE_TEMPORARY);
    int code = write_temporary(file, temporary, bytes, count, like, error);
    if (code != 0)
        return code;
    if (rename(temporary, file->path) != 0) {
        code = nri_file_failed(file, error, errno, "written", file->path);
        (void)unlink(temporary);
        return code;
    }
    return nri_file_sync_directory(file, error);
}
