/* SPDX-License-Identifier: Apache-2.0 */
#include "io/host.h"

#include <errno.h>
#include <sys/random.h>
#include <time.h>

#include <nri/error.h>

uint64_t nri_host_now(void)
{
    struct timespec time;
    /* Cannot fail: every kernel that libuv runs on has this clock, and the pointer is good. */
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * NRI_SEC + (uint64_t)time.tv_nsec;
}

static uint64_t host_now(void *context)
{
    (void)context;
    return nri_host_now();
}

/* GRND_NONBLOCK: nothing here may block, not even early at boot. */
static int host_random(void *context, void *bytes, size_t count)
{
    uint8_t *next = bytes;
    (void)context;
    while (count > 0) {
        ssize_t got = getrandom(next, count, GRND_NONBLOCK);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return NRI_E_IO;
        next += got;
        count -= (size_t)got;
    }
    return 0;
}

static const struct nri_host system_host = {.now = host_now, .random = host_random};

const struct nri_host *nri_host_system(void)
{
    return &system_host;
}
