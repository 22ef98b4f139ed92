/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What `nrictl top` shows: counts and latencies by plugin and event, each since the reading before.
 *
 * A source is read again and again: meter_begin(), values, meter_end(). A row whose events went up
 * has the latencies of those; one where nothing happened keeps the last ones.
 */
#ifndef NRICTL_METER_H
#define NRICTL_METER_H

#include "histogram.h"
#include "nrictl.h"

#define METER_MOST_ROWS    4096
#define METER_MOST_SOURCES 64
#define METER_MOST_BUCKETS 64

#define METER_ALL          "(all)" /* the event of a plugin's sum */

enum meter_count {
    METER_EVENTS,
    METER_ERRORS,
    METER_REFUSED,
    METER_LATE,
    METER_GUARDED,
    METER_COUNTS
};

/* A histogram as metrics have it: how many took at most so many seconds. */
struct meter_times {
    size_t used;
    double ends[METER_MOST_BUCKETS], counts[METER_MOST_BUCKETS];
    double sum, count;
};

struct meter_row {
    struct meter_row *next;
    struct meter_source *source;
    char *plugin; /* "": the source's own */
    char *event;
    uint64_t counts[METER_COUNTS], before[METER_COUNTS];
    bool known[METER_COUNTS]; /* the source counts that at all */
    uint64_t pending;
    bool pending_known, seen;
    struct meter_times times, times_before; /* of metrics */
    struct histogram *exact;                /* since the reading before; NULL: of metrics */
    double rate;                            /* events a second; below 0: not known yet */
    bool timed;                             /* the next three are known; nanoseconds */
    double mean, p50, p99;
    bool beyond; /* p99 is more than the largest bucket's end, which it has */
};

struct meter_source {
    const char *name;
    char identity[160];         /* of the plugin whose metrics these are; "" */
    char *why;                  /* it cannot be read; NULL: it was */
    uint64_t time, time_before; /* ns; 0: never */
    bool read;
};

struct meter {
    struct meter_source sources[METER_MOST_SOURCES];
    size_t source_count;
    struct meter_row *rows;                   /* sorted by source, plugin, event */
    struct meter_row *order[METER_MOST_ROWS]; /* the same */
    size_t row_count;
    bool cut; /* there would have been more rows */
};

void meter_fini(struct meter *meter);
/* The name must live as long as the meter. NULL: there are too many. */
struct meter_source *meter_add_source(struct meter *meter, const char *name);

/* A reading begins, at a time in ns. With `again` all counts are told anew, else they go on. */
void meter_begin(struct meter *meter, struct meter_source *source, uint64_t time, bool again);
void meter_end(struct meter *meter, struct meter_source *source);
/* It could not be read: its rows go. */
void meter_fail(struct meter *meter, struct meter_source *source, const char *why);

/* Between these two. NULL: no memory, or too many rows. */
struct meter_row *meter_row(struct meter *meter, struct meter_source *source, const char *plugin,
                            const char *event);
void meter_add(struct meter_row *row, enum meter_count count, uint64_t value);
/* A bucket of a histogram; of the same end they add up. */
void meter_add_bucket(struct meter_row *row, double end, double count);
/* One time. False: no memory. */
bool meter_add_time(struct meter_row *row, uint64_t nanoseconds);

/* What a row is called. */
const char *meter_plugin(const struct meter_row *row);

/* meter_print.c. A table, or with ctl->json one line; `all`: rows without any event, too. */
int meter_print(struct nrictl *ctl, const struct meter *meter, bool all);

#endif
