/* SPDX-License-Identifier: Apache-2.0 */
#include "last_resort.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

static timer_t timer;
static atomic_bool made, armed;
static atomic_int end_status;

/* Silent: a write could block, and whoever armed it has said what there is to say. */
static void end_process(int number)
{
    (void)number;
    _exit(atomic_load(&end_status));
}

bool app_last_resort_init(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    struct sigaction action = {.sa_handler = end_process};
    (void)sigemptyset(&action.sa_mask);
    if (sigaction(SIGALRM, &action, NULL) != 0 ||
        timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
        return false;
    /* A parent may have left it blocked. */
    sigset_t alarm_only;
    (void)sigemptyset(&alarm_only);
    (void)sigaddset(&alarm_only, SIGALRM);
    (void)pthread_sigmask(SIG_UNBLOCK, &alarm_only, NULL);
    atomic_store(&made, true);
    return true;
}

void app_last_resort_arm(uint32_t ms, int status)
{
    const int number = errno;
    bool expected = false;
    if (atomic_load(&made) && atomic_compare_exchange_strong(&armed, &expected, true)) {
        const struct itimerspec after = {
            .it_value = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000L}};
        atomic_store(&end_status, status);
        (void)timer_settime(timer, 0, &after, NULL); /* async-signal-safe, as POSIX has it */
    }
    errno = number;
}

void app_last_resort_fini(void)
{
    if (atomic_exchange(&made, false))
        (void)timer_delete(timer);
}
