/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of a plugin that is launched: DIRECTORY/NN-name.conf, else DIRECTORY/name.conf,
 * else none. It goes into a message of NRI, so that it must be UTF-8, fit, and have no NUL, at
 * which a plugin might stop to read.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "io/discovery.h"

#define FIRST_ROOM ((size_t)4096)

/* Reads to the end, whatever size fstat() told: the file may be of /proc. */
static int read_all(const struct nri_alloc *alloc, int fd, const char *path, size_t most,
                    char **text, size_t *length, struct nri_error *error)
{
    size_t room = 0;
    for (;;) {
        if (room - *length < 2) {
            room = room == 0 ? FIRST_ROOM : 2 * room;
            char *more = nri_alloc_resize(alloc, *text, room);
            if (more == NULL) {
                (void)nri_error_set(error, NRI_E_NOMEM, "out of memory for %s", path);
                return NRI_E_NOMEM;
            }
            *text = more;
        }
        const ssize_t got = read(fd, *text + *length, room - *length - 1);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return nri_path_error(error, errno, path);
        if (got == 0)
            return 0;
        *length += (size_t)got;
        if (*length > most)
            return nri_error_set(error, NRI_E_LIMIT,
                                 "%s is larger than the %zu bytes that a message may have", path,
                                 most);
    }
}

int nri_dropin_check(const char *path, const char *text, size_t length, struct nri_error *error)
{
    size_t bad = length;
    const char *nul = length == 0 ? NULL : memchr(text, '\0', length);
    const bool valid = nri_utf8_valid(text, length, &bad);
    if (nul != NULL && (size_t)(nul - text) < bad)
        bad = (size_t)(nul - text);
    if (valid && nul == NULL)
        return 0;
    return nri_error_set(error, NRI_E_UTF8, "%s is not a text: byte %zu is NUL or not UTF-8", path,
                         bad);
}

/* NRI_E_NOT_FOUND: there is no such file. */
static int read_file(const struct nri_alloc *alloc, const char *path, size_t most, char **config,
                     struct nri_error *error)
{
    struct stat status;
    char *text = NULL;
    size_t length = 0;
    /* Non-blocking: a FIFO that somebody put there must not hold the runtime up. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return nri_path_error(error, errno, path);
    int rc = 0;
    if (fstat(fd, &status) != 0)
        rc = nri_path_error(error, errno, path);
    else if (!S_ISREG(status.st_mode))
        rc = nri_error_set(error, NRI_E_INVALID, "%s is not a regular file", path);
    if (rc == 0)
        rc = read_all(alloc, fd, path, most, &text, &length, error);
    if (rc == 0)
        rc = nri_dropin_check(path, text, length, error);
    (void)close(fd);
    if (rc != 0) {
        nri_alloc_release(alloc, text);
        return rc;
    }
    text[length] = '\0';
    *config = text;
    return 0;
}

static int try_name(const struct nri_alloc *alloc, const char *directory, const char *name,
                    size_t most, char **config, struct nri_error *error)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s.conf", directory, name);
    if (length < 0 || (size_t)length >= sizeof path)
        return nri_error_set(error, NRI_E_INVALID, "%s/%s.conf: the path is too long", directory,
                             name);
    return read_file(alloc, path, most, config, error);
}

int nri_dropin_read(const struct nri_alloc *alloc, const char *directory, const char *file,
                    const char *name, size_t most, char **config, struct nri_error *error)
{
    struct nri_error own;
    nri_error_clear(&own);
    *config = NULL;
    int rc = try_name(alloc, directory, file, most, config, &own);
    if (rc == NRI_E_NOT_FOUND)
        rc = try_name(alloc, directory, name, most, config, &own);
    if (rc == NRI_E_NOT_FOUND) {
        *config = nri_alloc_text(alloc, "", 0);
        rc = *config != NULL ? 0 : nri_error_set(&own, NRI_E_NOMEM, "out of memory");
    }
    if (rc != 0 && error != NULL)
        nri_error_copy(error, &own);
    return rc;
}
