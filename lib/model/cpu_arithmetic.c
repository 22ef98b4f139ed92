/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From CPUs to cgroup values and back, as kubelet and the OCI runtimes count: CPU shares are the
 * unit of cgroup v1 and of NRI, weights that of cgroup v2.
 */
#include <nri/quantity.h>

#define MILLI           1000u
#define SHARES_PER_CPU  1024u
#define SHARES_SMALLEST 2u
#define SHARES_LARGEST  262144u
#define WEIGHT_LARGEST  10000u
#define SHARES_STEPS    (SHARES_LARGEST - SHARES_SMALLEST)
#define WEIGHT_STEPS    (WEIGHT_LARGEST - 1)
#define PERIOD_DEFAULT  100000u
#define QUOTA_SMALLEST  1000
#define QUOTA_NO_LIMIT  (-1)

/* a * b in two halves: b is small, so the upper half has room for the carry. */
static void multiply(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low)
{
    const uint64_t half = UINT32_MAX;
    uint64_t low_low = (a & half) * (b & half), high_low = (a >> 32) * (b & half);
    uint64_t low_high = (a & half) * (b >> 32), high_high = (a >> 32) * (b >> 32);
    uint64_t middle = (low_low >> 32) + (high_low & half) + (low_high & half);
    *low = middle << 32 | (low_low & half);
    *high = high_high + (high_low >> 32) + (low_high >> 32) + (middle >> 32);
}

/* a * b / c without loss in between, rounded down; UINT64_MAX when it is over 64 bits. */
static uint64_t multiply_divide(uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t high, low, quotient = 0;
    multiply(a, b, &high, &low);
    if (high >= c)
        return UINT64_MAX;
    /* Bit by bit: `high` is the remainder so far, below c, and may lose its top bit when it is
     * doubled. */
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t lost = high >> 63;
        high = high << 1 | (low >> bit & 1);
        if (lost != 0 || high >= c) {
            high -= c;
            quotient |= UINT64_C(1) << bit;
        }
    }
    return quotient;
}

static uint64_t limit(uint64_t value, uint64_t smallest, uint64_t largest)
{
    if (value < smallest)
        return smallest;
    return value > largest ? largest : value;
}

uint64_t nri_cpu_milli_to_shares(uint64_t milli)
{
    return limit(multiply_divide(milli, SHARES_PER_CPU, MILLI), SHARES_SMALLEST, SHARES_LARGEST);
}

uint64_t nri_cpu_shares_to_milli(uint64_t shares)
{
    uint64_t milli = multiply_divide(shares, MILLI, SHARES_PER_CPU);
    return milli + (shares * MILLI % SHARES_PER_CPU != 0 ? 1 : 0); /* 1024 divides 2^64 */
}

int64_t nri_cpu_milli_to_quota(uint64_t milli, uint64_t period)
{
    if (milli == 0)
        return QUOTA_NO_LIMIT;
    uint64_t quota = multiply_divide(milli, period != 0 ? period : PERIOD_DEFAULT, MILLI);
    return (int64_t)limit(quota, QUOTA_SMALLEST, INT64_MAX);
}

uint64_t nri_cpu_quota_to_milli(int64_t quota, uint64_t period)
{
    if (quota < 1)
        return 0;
    return multiply_divide((uint64_t)quota, MILLI, period != 0 ? period : PERIOD_DEFAULT);
}

uint64_t nri_cpu_shares_to_weight(uint64_t shares)
{
    if (shares == 0)
        return 0;
    uint64_t steps = limit(shares, SHARES_SMALLEST, SHARES_LARGEST) - SHARES_SMALLEST;
    return 1 + steps * WEIGHT_STEPS / SHARES_STEPS;
}

uint64_t nri_cpu_weight_to_shares(uint64_t weight)
{
    if (weight == 0)
        return 0;
    uint64_t steps = limit(weight, 1, WEIGHT_LARGEST) - 1;
    return SHARES_SMALLEST + (steps * SHARES_STEPS + WEIGHT_STEPS - 1) / WEIGHT_STEPS;
}
