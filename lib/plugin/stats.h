/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a plugin counts. Each value is written on one thread and read on any, so that a counter is a
 * load and a store, never an atomic addition. What costs an event something is inline.
 */
#ifndef NRI_PLUGIN_STATS_H
#define NRI_PLUGIN_STATS_H

#include <stdatomic.h>

#include <nri/metrics.h>

#define NRI_STATS_ROWS     17 /* the 14 events, Configure, Synchronize, Shutdown */
#define NRI_STATS_COUNTERS (NRI_COUNT_SLOW + 1)
#define NRI_STATS_TOTALS   (NRI_COUNT_UPDATE_FAILURES + 1)
#define NRI_STATS_BUCKETS  14

struct nri_stats_row {
    _Atomic uint64_t counters[NRI_STATS_COUNTERS];
    _Atomic uint64_t
        buckets[NRI_STATS_BUCKETS + 1]; /* by time from request to reply; not added up */
    _Atomic uint64_t nanoseconds;
};

struct nri_stats {
    struct nri_stats_row rows[NRI_STATS_ROWS];
    _Atomic uint64_t totals[NRI_STATS_TOTALS];
};

/* The upper bound of each bucket, in ns. */
extern const uint64_t nri_stats_bounds[NRI_STATS_BUCKETS];

/* The row of an event; SIZE_MAX for one that has none. */
static inline size_t nri_stats_row_of(enum nri_event event)
{
    if (event <= NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT)
        return (size_t)event - 1; /* SIZE_MAX for NRI_EVENT_UNKNOWN */
    if (event == NRI_EVENT_CONFIGURE)
        return 14;
    if (event == NRI_EVENT_SYNCHRONIZE || event == NRI_EVENT_SYNCHRONIZE_PART)
        return 15;
    return event == NRI_EVENT_SHUTDOWN ? 16 : SIZE_MAX;
}

/* On the one thread that writes the value. */
static inline void nri_stats_add(_Atomic uint64_t *value, uint64_t more)
{
    atomic_store_explicit(value, atomic_load_explicit(value, memory_order_relaxed) + more,
                          memory_order_relaxed);
}

static inline void nri_stats_count(struct nri_stats *stats, enum nri_event event,
                                   enum nri_event_counter counter)
{
    const size_t row = nri_stats_row_of(event);
    if (row != SIZE_MAX)
        nri_stats_add(&stats->rows[row].counters[counter], 1);
}

/* A reply went out after `ns`. */
void nri_stats_time(struct nri_stats *stats, enum nri_event event, uint64_t ns);

#endif
