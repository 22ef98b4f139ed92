/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/stats.h"

#define US UINT64_C(1000)
#define MS (1000 * US)

const uint64_t nri_stats_bounds[NRI_STATS_BUCKETS] = {
    100 * US, 250 * US, 500 * US, 1 * MS,   2500 * US, 5 * MS,    10 * MS,
    25 * MS,  50 * MS,  100 * MS, 250 * MS, 500 * MS,  1000 * MS, 2000 * MS,
};

void nri_stats_time(struct nri_stats *stats, enum nri_event event, uint64_t ns)
{
    const size_t row = nri_stats_row_of(event);
    size_t bucket = 0;

    if (row == SIZE_MAX)
        return;
    while (bucket < NRI_STATS_BUCKETS && ns > nri_stats_bounds[bucket])
        bucket++;
    nri_stats_add(&stats->rows[row].buckets[bucket], 1);
    nri_stats_add(&stats->rows[row].nanoseconds, ns);
}
