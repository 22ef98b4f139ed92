/* SPDX-License-Identifier: Apache-2.0 */
#include "io/own_loop.h"

#include <errno.h>
#include <fcntl.h>

#include "io/socket.h"

#define LOOP_DESCRIPTORS 4 /* epoll, an eventfd, a pipe for signals */

/*
 * libuv before 1.51 leaks the loop's epoll descriptor when it finds no room for the next one (libuv
 * pull request 4757), so that a caller that tries again and again loses the rest. Hence what a loop
 * opens is tried out first.
 */
static int check_room(int fd)
{
    int fds[LOOP_DESCRIPTORS], number = 0, count = 0;
    while (count < LOOP_DESCRIPTORS && number == 0) {
        fds[count] = fcntl(fd, F_DUPFD_CLOEXEC, 0);
        if (fds[count] < 0)
            number = errno;
        else
            count++;
    }
    while (count > 0)
        nri_socket_close(fds[--count]);
    return number;
}

int nri_own_loop_open(uv_loop_t *loop, int fd, struct nri_error *error)
{
    int number = check_room(fd);
    if (number == 0)
        number = -uv_loop_init(loop);
    return number == 0 ? 0 : nri_socket_error(error, number, "making an event loop");
}
