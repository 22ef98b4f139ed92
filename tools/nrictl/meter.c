/* SPDX-License-Identifier: Apache-2.0 */
#include "meter.h"

#include <stdlib.h>
#include <string.h>

#include <nri/event.h>

#define SECOND 1e9

static void free_row(struct meter_row *row)
{
    free(row->plugin);
    free(row->event);
    free(row->exact);
    free(row);
}

void meter_fini(struct meter *meter)
{
    while (meter->rows != NULL) {
        struct meter_row *row = meter->rows;
        meter->rows = row->next;
        free_row(row);
    }
    for (size_t i = 0; i < meter->source_count; i++)
        free(meter->sources[i].why);
}

struct meter_source *meter_add_source(struct meter *meter, const char *name)
{
    if (meter->source_count == METER_MOST_SOURCES)
        return NULL;
    struct meter_source *source = &meter->sources[meter->source_count++];
    source->name = name;
    return source;
}

const char *meter_plugin(const struct meter_row *row)
{
    if (row->plugin[0] != '\0')
        return row->plugin;
    return row->source->identity[0] != '\0' ? row->source->identity : row->source->name;
}

/* ---- rows ---- */

/* NRI's order; the sum comes first, what is no event of NRI's last. */
static unsigned event_rank(const char *name)
{
    static const enum nri_event others[] = {NRI_EVENT_CONFIGURE, NRI_EVENT_SYNCHRONIZE,
                                            NRI_EVENT_SHUTDOWN};
    unsigned rank = 1;
    if (strcmp(name, METER_ALL) == 0)
        return 0;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++, rank++) {
        if (strcmp(name, nri_event_name(others[i])) == 0)
            return rank;
    }
    for (int event = 1; event <= NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT; event++, rank++) {
        if (strcmp(name, nri_event_name((enum nri_event)event)) == 0)
            return rank;
    }
    return rank;
}

static int compare(const struct meter_row *row, const struct meter_source *source,
                   const char *plugin, const char *event)
{
    if (row->source != source)
        return row->source < source ? -1 : 1;
    const int plugins = strcmp(row->plugin, plugin);
    if (plugins != 0)
        return plugins;
    const unsigned mine = event_rank(row->event), other = event_rank(event);
    return mine != other ? (mine < other ? -1 : 1) : strcmp(row->event, event);
}

/* Where it is, or belongs: a source that is not trusted may name all rows there can be, often. */
static bool find(const struct meter *meter, const struct meter_source *source, const char *plugin,
                 const char *event, size_t *place)
{
    size_t low = 0, high = meter->row_count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const int order = compare(meter->order[middle], source, plugin, event);
        if (order == 0) {
            *place = middle;
            return true;
        }
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *place = low;
    return false;
}

static void insert(struct meter *meter, struct meter_row *row, size_t place)
{
    struct meter_row **link = place == 0 ? &meter->rows : &meter->order[place - 1]->next;
    row->next = *link;
    *link = row;
    memmove(&meter->order[place + 1], &meter->order[place],
            (meter->row_count - place) * sizeof *meter->order);
    meter->order[place] = row;
    meter->row_count++;
}

struct meter_row *meter_row(struct meter *meter, struct meter_source *source, const char *plugin,
                            const char *event)
{
    size_t place;
    if (!find(meter, source, plugin, event, &place)) {
        meter->cut = meter->cut || meter->row_count == METER_MOST_ROWS;
        struct meter_row *row = meter->row_count == METER_MOST_ROWS ? NULL : calloc(1, sizeof *row);
        if (row == NULL)
            return NULL;
        row->source = source;
        row->plugin = strdup(plugin);
        row->event = strdup(event);
        if (row->plugin == NULL || row->event == NULL) {
            free_row(row);
            return NULL;
        }
        row->rate = -1;
        insert(meter, row, place);
    }
    meter->order[place]->seen = true;
    return meter->order[place];
}

void meter_add(struct meter_row *row, enum meter_count count, uint64_t value)
{
    row->counts[count] += value;
    row->known[count] = true;
}

void meter_add_bucket(struct meter_row *row, double end, double count)
{
    struct meter_times *times = &row->times;
    size_t at = 0;
    while (at < times->used && times->ends[at] < end)
        at++;
    if (at == times->used || times->ends[at] > end) {
        if (times->used == METER_MOST_BUCKETS)
            return;
        for (size_t i = times->used++; i > at; i--) {
            times->ends[i] = times->ends[i - 1];
            times->counts[i] = times->counts[i - 1];
        }
        times->ends[at] = end;
        times->counts[at] = 0;
    }
    times->counts[at] += count;
}

bool meter_add_time(struct meter_row *row, uint64_t nanoseconds)
{
    if (row->exact == NULL)
        row->exact = calloc(1, sizeof *row->exact);
    if (row->exact != NULL)
        histogram_add(row->exact, nanoseconds);
    return row->exact != NULL;
}

/* ---- readings ---- */

void meter_begin(struct meter *meter, struct meter_source *source, uint64_t time, bool again)
{
    source->time_before = source->time;
    source->time = time;
    for (struct meter_row *row = meter->rows; row != NULL; row = row->next) {
        if (row->source != source)
            continue;
        memcpy(row->before, row->counts, sizeof row->before);
        row->seen = !again;
        if (!again)
            continue;
        memset(row->counts, 0, sizeof row->counts);
        row->pending = 0;
        row->times_before = row->times;
        memset(&row->times, 0, sizeof row->times);
    }
}

static void drop_rows(struct meter *meter, const struct meter_source *source, bool all)
{
    size_t kept = 0;
    for (struct meter_row **at = &meter->rows; *at != NULL;) {
        struct meter_row *row = *at;
        if (row->source == source && (all || !row->seen)) {
            *at = row->next;
            free_row(row);
        } else {
            meter->order[kept++] = row;
            at = &row->next;
        }
    }
    meter->row_count = kept;
}

/* What was counted up to bucket `at` since the reading before; everything after a restart. */
static double counted(const struct meter_row *row, size_t at, bool restarted)
{
    const struct meter_times *now = &row->times, *before = &row->times_before;
    const bool same = !restarted && at < before->used && before->ends[at] == now->ends[at];
    const double count = now->counts[at] - (same ? before->counts[at] : 0);
    return count < 0 ? 0 : count;
}

/* Where so many lie: within its bucket in proportion, as Prometheus does it. */
static double quantile(const struct meter_row *row, bool restarted, double share, bool *beyond)
{
    const struct meter_times *times = &row->times;
    const double wanted = share * counted(row, times->used - 1, restarted);
    double low = 0, below = 0;
    *beyond = false;
    for (size_t i = 0; i < times->used; i++) {
        const double count = counted(row, i, restarted), end = times->ends[i];
        if (count >= wanted && count > below) {
            *beyond = end > 1e12; /* the last bucket's is infinite */
            return *beyond ? low : low + (end - low) * (wanted - below) / (count - below);
        }
        below = count > below ? count : below;
        low = end > 1e12 ? low : end;
    }
    return low;
}

static void work_out_buckets(struct meter_row *row)
{
    const struct meter_times *now = &row->times, *before = &row->times_before;
    const bool restarted = now->count < before->count;
    const double count = now->count - (restarted ? 0 : before->count);
    bool beyond;
    if (now->used == 0 || !(count > 0))
        return;
    row->timed = true;
    row->mean = (now->sum - (restarted ? 0 : before->sum)) / count * SECOND;
    row->mean = row->mean > 0 ? row->mean : 0;
    row->p50 = quantile(row, restarted, 0.5, &beyond) * SECOND;
    row->p99 = quantile(row, restarted, 0.99, &row->beyond) * SECOND;
}

static void work_out_exact(struct meter_row *row)
{
    struct histogram *exact = row->exact;
    if (exact->count == 0)
        return;
    row->timed = true;
    row->mean = (double)exact->sum / (double)exact->count;
    row->p50 = (double)histogram_at(exact, 500);
    row->p99 = (double)histogram_at(exact, 990);
    memset(exact, 0, sizeof *exact);
}

void meter_end(struct meter *meter, struct meter_source *source)
{
    const double seconds = (double)(source->time - source->time_before) / SECOND;
    source->read = true;
    free(source->why);
    source->why = NULL;
    drop_rows(meter, source, false);
    for (struct meter_row *row = meter->rows; row != NULL; row = row->next) {
        if (row->source != source)
            continue;
        const uint64_t now = row->counts[METER_EVENTS], before = row->before[METER_EVENTS];
        if (source->time_before != 0 && seconds > 0)
            row->rate = (double)(now >= before ? now - before : now) / seconds;
        if (row->exact != NULL)
            work_out_exact(row);
        else
            work_out_buckets(row);
    }
}

void meter_fail(struct meter *meter, struct meter_source *source, const char *why)
{
    char *copy = strdup(why);
    drop_rows(meter, source, true);
    source->time = 0;
    source->read = false;
    free(source->why);
    source->why = copy;
}
