/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 500

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* 0 or an errno. */
static int wait_writable(long long until)
{
    struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};
    const long long left = until - now_ms();
    const int ready = poll(&fd, 1, left > 0 ? (int)left : 0);
    if (ready < 0)
        return errno;
    return ready == 0 ? ETIMEDOUT : 0;
}

/* A pipe that polls writable takes PIPE_BUF bytes without blocking, so no piece is longer. */
static int write_all(struct output *output, const char *bytes, size_t length, long long until)
{
    while (length > 0) {
        const int code = wait_writable(until);
        if (code != 0)
            return code;
        const ssize_t n = write(STDOUT_FILENO, bytes, length < PIPE_BUF ? length : PIPE_BUF);
        if (n < 0)
            return errno;
        bytes += n;
        length -= (size_t)n;
        output->cut = true;
    }
    return 0;
}

int output_line(struct output *output, const char *line, size_t length)
{
    const long long until = now_ms() + (output->failing ? 0 : PATIENCE_MS);
    int code = 0;
    if (output->cut) /* ends what is there of the line that failed */
        code = write_all(output, "\n", 1, until);
    if (code == 0) {
        output->cut = false;
        code = write_all(output, line, length, until);
    }
    if (code == 0)
        code = write_all(output, "\n", 1, until);
    if (code == 0)
        output->cut = false;
    output->failing = code != 0;
    return code;
}
