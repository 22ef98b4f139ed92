/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A time of day that jumps by ten years at each look, forwards and back, for the whole program: a
 * definition in the program comes before the C library's. The monotonic clock goes on as it is.
 */
#define _GNU_SOURCE
#include <stdatomic.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define SHOWN      __attribute__((visibility("default")))
#define TEN_YEARS  ((time_t)315576000)
#define OF_THE_DAY (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)

static time_t jump(void)
{
    static atomic_uint looks;
    return atomic_fetch_add(&looks, 1) % 2 == 0 ? TEN_YEARS : -TEN_YEARS;
}

SHOWN int clock_gettime(clockid_t clock, struct timespec *now)
{
    const long code = syscall(SYS_clock_gettime, clock, now);
    if (code == 0 && OF_THE_DAY)
        now->tv_sec += jump();
    return (int)code;
}

SHOWN time_t time(time_t *kept)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (kept != NULL)
        *kept = now.tv_sec;
    return now.tv_sec;
}

SHOWN int gettimeofday(struct timeval *restrict time_of_day, void *restrict zone)
{
    struct timespec now = {0};
    (void)zone;
    const int code = clock_gettime(CLOCK_REALTIME, &now);
    *time_of_day = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return code;
}
