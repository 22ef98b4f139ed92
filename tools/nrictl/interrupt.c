/* SPDX-License-Identifier: Apache-2.0 */
#include "interrupt.h"

#include <errno.h>
#include <sys/signalfd.h>
#include <unistd.h>

int interrupt_open(struct interrupt *interrupt)
{
    sigset_t wanted;
    (void)sigemptyset(&wanted);
    (void)sigaddset(&wanted, SIGINT);
    (void)sigaddset(&wanted, SIGTERM);
    if (sigprocmask(SIG_BLOCK, &wanted, &interrupt->before) != 0)
        return errno;
    interrupt->fd = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    if (interrupt->fd >= 0)
        return 0;
    const int number = errno;
    (void)sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
    return number;
}

bool interrupt_came(const struct interrupt *interrupt)
{
    struct signalfd_siginfo info;
    return read(interrupt->fd, &info, sizeof info) == (ssize_t)sizeof info;
}

void interrupt_close(struct interrupt *interrupt)
{
    if (interrupt->fd < 0)
        return;
    /* One that came meanwhile is of no use any more, and would end the program without its result.
     */
    while (interrupt_came(interrupt))
        continue;
    (void)close(interrupt->fd);
    interrupt->fd = -1;
    (void)sigprocmask(SIG_SETMASK, &interrupt->before, NULL);
}
