/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the runtime side counts, by plugin and event, over reconnections. Plugins choose their
 * names: after the first so many, all further ones are counted together.
 */
#ifndef NRI_RUNTIME_STATS_H
#define NRI_RUNTIME_STATS_H

#include "base/buf.h"
#include "plugin/stats.h"

#define NRI_RT_STATS_PLUGINS 256u /* with names of their own */
#define NRI_RT_STATS_EVENTS  15u  /* the 14 of NRI, and each part of a Synchronize */

struct nri_rt_event_stats {
    uint64_t invocations, failures, adjustments, updates, evictions, nanoseconds;
    uint64_t buckets[NRI_STATS_BUCKETS + 1]; /* not added up */
};

struct nri_rt_plugin_stats {
    struct nri_rt_plugin_stats *next;
    struct nri_rt_event_stats events[NRI_RT_STATS_EVENTS];
    char id[];
};

struct nri_rt_stats {
    struct nri_alloc alloc;
    struct nri_rt_plugin_stats *plugins;
    size_t count;
};

void nri_rt_stats_init(struct nri_rt_stats *stats, const struct nri_alloc *alloc);
void nri_rt_stats_fini(struct nri_rt_stats *stats);
/* The row of a plugin and an event (1 to 14, NRI_EVENT_SYNCHRONIZE); NULL without memory, and then
 * nothing is counted. */
struct nri_rt_event_stats *nri_rt_stats_of(struct nri_rt_stats *stats, const char *id,
                                           enum nri_event event);
/* A request came back after so long; `code` is its own, not that of what became of its reply. */
void nri_rt_stats_count(struct nri_rt_stats *stats, const char *id, enum nri_event event, int code,
                        uint64_t nanoseconds);
/* A reply asked for updates and evictions of containers. */
void nri_rt_stats_updates(struct nri_rt_stats *stats, const char *id, enum nri_event event,
                          size_t updates, size_t evictions);
/* Appends OpenMetrics text, with "# EOF". `active` is how many plugins are connected. */
int nri_rt_stats_write(const struct nri_rt_stats *stats, size_t active, struct nri_buf *out);

#endif
