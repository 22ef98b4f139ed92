/* SPDX-License-Identifier: Apache-2.0 */
#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int read_all(int fd, char *text, size_t size, size_t *length)
{
    *length = 0;
    while (*length < size) {
        const ssize_t got = read(fd, text + *length, size - *length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -errno;
        if (got == 0)
            return 0;
        *length += (size_t)got;
    }
    return -EFBIG;
}

int textfile_read(char *text, size_t size, const char *format, ...)
{
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    const int length = vsnprintf(path, sizeof path, format, args);
    va_end(args);
    text[0] = '\0';
    if (length < 0 || (size_t)length >= sizeof path)
        return -ENAMETOOLONG;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    size_t count;
    const int code = read_all(fd, text, size, &count);
    close(fd);
    if (code != 0) {
        text[0] = '\0';
        return code;
    }
    while (count > 0 && strchr(" \t\r\n", text[count - 1]) != NULL)
        count--;
    text[count] = '\0';
    return 0;
}
