/* SPDX-License-Identifier: Apache-2.0 */
#include "histogram.h"

#include <stddef.h>

#define PART_BITS 5 /* of HISTOGRAM_PARTS */

/* Below HISTOGRAM_PARTS each value has a bucket; above, each power of two has so many. */
static size_t bucket_of(uint64_t value)
{
    if (value < HISTOGRAM_PARTS)
        return (size_t)value;
    const unsigned power = 63u - (unsigned)__builtin_clzll(value);
    const unsigned shift = power - PART_BITS;
    return (size_t)(shift + 1) * HISTOGRAM_PARTS + (size_t)((value >> shift) - HISTOGRAM_PARTS);
}

/* The largest value of a bucket. */
static uint64_t end_of(size_t bucket)
{
    if (bucket < HISTOGRAM_PARTS)
        return bucket;
    const unsigned shift = (unsigned)(bucket / HISTOGRAM_PARTS) - 1;
    const uint64_t part = bucket % HISTOGRAM_PARTS + HISTOGRAM_PARTS;
    return ((part + 1) << shift) - 1;
}

void histogram_add(struct histogram *histogram, uint64_t value)
{
    const size_t bucket = bucket_of(value);
    histogram->buckets[bucket]++;
    histogram->count++;
    histogram->sum += value;
    if (value > histogram->largest)
        histogram->largest = value;
}

uint64_t histogram_at(const struct histogram *histogram, unsigned per_mille)
{
    /* Of so many values that one, counted from 1. */
    const uint64_t wanted = (histogram->count * per_mille + 999) / 1000;
    uint64_t seen = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += histogram->buckets[i];
        if (seen >= wanted && seen > 0)
            return end_of(i) < histogram->largest ? end_of(i) : histogram->largest;
    }
    return 0;
}
