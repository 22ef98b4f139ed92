/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The happy path of writing: PATH.tmp is made anew, written, synchronised with the disk, renamed to
 * PATH, and so is the directory, in which the name stands. Failure modes: a crash before the rename
 * leaves the old file, and a PATH.tmp that the next one removes; anything that fails removes
 * PATH.tmp and leaves the old file; no more than the directory's fsync() failing leaves the new
 * file, which the caller takes for not written and writes again.
 */
#include "io/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEMPORARY    ".tmp"
#define SUFFIX_ROOM  16 /* of the longest suffix with its NUL */
#define READ_AT_ONCE ((size_t)64 * 1024)
#define DIRECTORY    (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

struct checkpoint {
    struct nri_alloc alloc;
    char *path, *directory; /* behind the structure */
    char *other;            /* the path, and room for a suffix */
    size_t length;          /* of the path */
};

static const char *with_suffix(struct checkpoint *checkpoint, const char *suffix)
{
    (void)snprintf(checkpoint->other + checkpoint->length, SUFFIX_ROOM, "%s", suffix);
    return checkpoint->other;
}

/* What errno says of the checkpoint; `what` was tried with `path`. */
static int failed(struct nri_error *error, int number, const char *what, const char *path)
{
    char room[128];
    int code = NRI_E_IO;
    if (number == EACCES || number == EPERM || number == EROFS)
        code = NRI_E_PERMISSION;
    else if (number == ENOENT || number == ENOTDIR)
        code = NRI_E_NOT_FOUND;
    else if (number == ENOMEM)
        code = NRI_E_NOMEM;
    return nri_error_set(error, code, "the checkpoint cannot be %s: %s: %s", what, path,
                         strerror_r(number, room, sizeof room));
}

/* ---- reading ---- */

/* No file is no error, but no directory for it is one: nothing could ever be written. */
static int check_directory(const struct checkpoint *checkpoint, struct nri_error *error)
{
    const int fd = open(checkpoint->directory, DIRECTORY);
    if (fd < 0)
        return failed(error, errno, "kept", checkpoint->directory);
    (void)close(fd);
    return 0;
}

static int check_file(int fd, const struct checkpoint *checkpoint, struct nri_error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return failed(error, errno, "read", checkpoint->path);
    if (!S_ISREG(status.st_mode))
        return nri_error_set(error, NRI_E_IO,
                             "the checkpoint %s is not a regular file: give the path of one, or of "
                             "none yet",
                             checkpoint->path);
    return 0;
}

static int read_all(int fd, const struct checkpoint *checkpoint, struct nri_buf *content,
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
            return nri_error_set(error, NRI_E_NOMEM, "no memory for the checkpoint");
        }
        const ssize_t got = read(fd, room, size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return failed(error, errno, "read", checkpoint->path);
        if (got == 0)
            return 0;
        if (room == &beyond)
            return nri_error_set(error, NRI_E_LIMIT,
                                 "it is larger than %zu bytes (max_checkpoint_bytes)",
                                 content->limit);
        nri_buf_commit(content, (size_t)got);
    }
}

/* O_NONBLOCK: a pipe in its place must not hang the plugin. */
static int load(void *context, struct nri_buf *content, bool *found, struct nri_error *error)
{
    const struct checkpoint *checkpoint = context;
    *found = false;
    const int fd = open(checkpoint->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return check_directory(checkpoint, error);
    if (fd < 0 && errno == ELOOP)
        return nri_error_set(
            error, NRI_E_IO,
            "the checkpoint %s is a symbolic link, which is not followed: give the "
            "path of the file itself",
            checkpoint->path);
    if (fd < 0)
        return failed(error, errno, "read", checkpoint->path);
    int code = check_file(fd, checkpoint, error);
    if (code == 0)
        code = read_all(fd, checkpoint, content, error);
    (void)close(fd);
    *found = code == 0;
    return code;
}

/* ---- writing ---- */

static int write_all(int fd, const uint8_t *bytes, size_t count, const char *path,
                     struct nri_error *error)
{
    while (count > 0) {
        const ssize_t written = write(fd, bytes, count);
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            return failed(error, errno, "written", path);
        bytes += written;
        count -= (size_t)written;
    }
    if (fsync(fd) != 0)
        return failed(error, errno, "written to the disk", path);
    return 0;
}

/* One that a crash left is removed rather than written to: it may have another mode, or be a link.
 */
static int write_temporary(const char *path, const uint8_t *bytes, size_t count,
                           struct nri_error *error)
{
    (void)unlink(path);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return failed(error, errno, "written", path);
    int code = write_all(fd, bytes, count, path, error);
    if (close(fd) != 0 && code == 0)
        code = failed(error, errno, "written", path);
    if (code != 0)
        (void)unlink(path);
    return code;
}

static int sync_directory(const struct checkpoint *checkpoint, struct nri_error *error)
{
    int code = 0;
    const int fd = open(checkpoint->directory, DIRECTORY);
    if (fd < 0)
        return failed(error, errno, "written to the disk", checkpoint->directory);
    if (fsync(fd) != 0)
        code = failed(error, errno, "written to the disk", checkpoint->directory);
    (void)close(fd);
    return code;
}

static int save(void *context, const uint8_t *bytes, size_t count, struct nri_error *error)
{
    struct checkpoint *checkpoint = context;
    const char *temporary = with_suffix(checkpoint, TEMPORARY);
    int code = write_temporary(temporary, bytes, count, error);
    if (code != 0)
        return code;
    if (rename(temporary, checkpoint->path) != 0) {
        code = failed(error, errno, "written", checkpoint->path);
        (void)unlink(temporary);
        return code;
    }
    return sync_directory(checkpoint, error);
}

static int set_aside(void *context, const char *suffix, struct nri_error *error)
{
    struct checkpoint *checkpoint = context;
    const char *aside = with_suffix(checkpoint, suffix);
    if (rename(checkpoint->path, aside) != 0)
        return failed(error, errno, "renamed", aside);
    return sync_directory(checkpoint, error);
}

/* ---- life ---- */

static void release(void *context)
{
    struct checkpoint *checkpoint = context;
    const struct nri_alloc alloc = checkpoint->alloc;
    nri_alloc_release(&alloc, checkpoint);
}

/* The directory of a path, as dirname(3) has it: "." and "/" included. */
static void take_directory(char *directory, const char *path, size_t name)
{
    while (name > 1 && path[name - 1] == '/')
        name--;
    memcpy(directory, name > 0 ? path : ".", name > 0 ? name : 1);
    directory[name > 0 ? name : 1] = '\0';
}

int nri_checkpoint_init(struct nri_state_store *store, const char *path,
                        const struct nri_alloc *alloc, struct nri_error *error)
{
    const size_t length = strlen(path);
    const char *slash = strrchr(path, '/');
    const size_t name = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (name == length || strcmp(path + name, ".") == 0 || strcmp(path + name, "..") == 0)
        return nri_error_set(error, NRI_E_INVALID,
                             "checkpoint_path \"%s\": must be the path of a file", path);
    /* The path; its directory, of which the shortest is "."; and a path with a suffix. */
    const size_t size = sizeof(struct checkpoint) + length + 1 + length + 2 + length + SUFFIX_ROOM;
    struct checkpoint *checkpoint = nri_alloc_zero(alloc, size);
    if (checkpoint == NULL)
        return nri_error_set(error, NRI_E_NOMEM, "out of memory for a checkpoint");
    checkpoint->alloc = *alloc;
    checkpoint->length = length;
    checkpoint->path = (char *)(checkpoint + 1);
    checkpoint->directory = checkpoint->path + length + 1;
    checkpoint->other = checkpoint->directory + length + 2;
    memcpy(checkpoint->path, path, length);
    memcpy(checkpoint->other, path, length);
    take_directory(checkpoint->directory, path, name);
    *store = (struct nri_state_store){
        .context = checkpoint,
        .name = checkpoint->path,
        .load = load,
        .save = save,
        .set_aside = set_aside,
        .release = release,
    };
    return 0;
}
