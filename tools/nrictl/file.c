/* SPDX-License-Identifier: Apache-2.0 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_path(struct nrictl *ctl, const char *path, int *fd)
{
    struct stat status;
    if (strcmp(path, "-") == 0) {
        *fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
        return *fd >= 0
                   ? NRICTL_OK
                   : nrictl_fail(ctl, NRICTL_ENVIRONMENT, "standard input: %s", strerror(errno));
    }
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    if (*fd < 0)
        return nrictl_fail(ctl,
                           errno == ENOENT || errno == ENOTDIR ? NRICTL_USAGE : NRICTL_ENVIRONMENT,
                           "%s: %s", path, strerror(errno));
    if (fstat(*fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        (void)close(*fd);
        return nrictl_fail(ctl, NRICTL_USAGE, "%s is a directory, not a file", path);
    }
    return NRICTL_OK;
}

/* One byte more than `most`, so that what is longer shows. */
static int read_all(struct nrictl *ctl, const char *path, int fd, size_t most, char **text,
                    size_t *length)
{
    size_t room = 0, have = 0;
    char *bytes = NULL;
    for (;;) {
        if (have + 1 >= room) {
            const size_t wanted = room == 0 ? 65536 : 2 * room;
            char *larger = realloc(bytes, wanted);
            if (larger == NULL) {
                free(bytes);
                return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s: no memory", path);
            }
            bytes = larger;
            room = wanted;
        }
        const ssize_t n = read(fd, bytes + have, room - have - 1);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            free(bytes);
            return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s: %s", path, strerror(errno));
        }
        have += (size_t)n;
        if (have > most) {
            free(bytes);
            return nrictl_fail(ctl, NRICTL_USAGE, "%s is longer than %zu bytes", path, most);
        }
        if (n == 0)
            break;
    }
    bytes[have] = '\0';
    *text = bytes;
    *length = have;
    return NRICTL_OK;
}

int file_read(struct nrictl *ctl, const char *path, size_t most, char **text, size_t *length)
{
    int fd = -1;
    *text = NULL;
    *length = 0;
    int code = open_path(ctl, path, &fd);
    if (code != NRICTL_OK)
        return code;
    code = read_all(ctl, path, fd, most, text, length);
    (void)close(fd);
    return code;
}
