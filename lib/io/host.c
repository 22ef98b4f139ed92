/* SPDX-License-Identifier: Apache-2.0 */
#include "io/host.h"

#include <errno.h>
#include <sys/auxv.h>
#include <sys/random.h>
#include <time.h>

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

/* Step and increment of a linear congruence modulo 2 to the 64th, whose top byte is taken. */
#define SPREAD_STEP      UINT64_C(6364136223846793005)
#define SPREAD_INCREMENT UINT64_C(1442695040888963407)
#define AUXILIARY_SIZE   16 /* bytes behind AT_RANDOM */

/* For a kernel that has no random numbers yet (early at boot), or no such call, or that is told to
 * forbid it: what it gave this program when it started, different for each call by the clock.
 * Enough for the one use there is, seeding hashes. */
static void weak_random(uint8_t *bytes, size_t count)
{
    const uint8_t *given = (const uint8_t *)getauxval(AT_RANDOM);
    uint64_t state = nri_host_now();
    for (size_t i = 0; i < count; i++) {
        state = state * SPREAD_STEP + SPREAD_INCREMENT;
        bytes[i] = (uint8_t)(state >> 56);
        if (given != NULL)
            bytes[i] ^= given[i % AUXILIARY_SIZE];
    }
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
        if (got <= 0) {
            weak_random(next, count);
            break;
        }
        next += got;
        count -= (size_t)got;
    }
    return 0;
}

static const struct nri_host system_host = {
    .now = host_now,
    .random = host_random,
};

const struct nri_host *nri_host_system(void)
{
    return &system_host;
}
