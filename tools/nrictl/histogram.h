/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times, counted in buckets that are 1/32 of their value wide: percentiles of any number of them in
 * 16 KiB, at most some 3 % too high; the count, the sum and the largest are exact.
 */
#ifndef NRICTL_HISTOGRAM_H
#define NRICTL_HISTOGRAM_H

#include <stdint.h>

#define HISTOGRAM_PARTS   32 /* of each power of two */
#define HISTOGRAM_BUCKETS (60 * HISTOGRAM_PARTS)

struct histogram {
    uint64_t count, sum, largest;
    uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *histogram, uint64_t value);
/* The value that so many per mille (0 to 1000) are not above; 0 for none. */
uint64_t histogram_at(const struct histogram *histogram, unsigned per_mille);

#endif
