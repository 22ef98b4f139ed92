/* SPDX-License-Identifier: Apache-2.0 */
#include "meter_metrics.h"

#include <stdlib.h>
#include <string.h>

#include "openmetrics.h"

struct reading {
    struct meter *meter;
    struct meter_source *source;
    bool any; /* a metric of NRI's was there */
};

static const struct {
    const char *name;
    enum meter_count count;
} counters[] = {
    {"nri_plugin_requests_total", METER_EVENTS},  {"nri_plugin_errors_total", METER_ERRORS},
    {"nri_plugin_refused_total", METER_REFUSED},  {"nri_plugin_late_total", METER_LATE},
    {"nri_plugin_guarded_total", METER_GUARDED},  {"nri_runtime_invocations_total", METER_EVENTS},
    {"nri_runtime_failures_total", METER_ERRORS},
};

/* Nothing that is counted is negative, or larger than this. */
static double sane(double value)
{
    return value > 0 ? (value < 1e18 ? value : 1e18) : 0;
}

/* The rows that a sample counts for: its event's, and the sum of its plugin. */
struct rows {
    struct meter_row *row[2];
};

static bool find_rows(struct reading *reading, const struct openmetrics_sample *sample,
                      struct rows *rows)
{
    const char *event = openmetrics_label(sample, "event");
    const char *plugin = openmetrics_label(sample, "plugin");
    if (event == NULL)
        return false;
    plugin = plugin != NULL ? plugin : "";
    rows->row[0] = meter_row(reading->meter, reading->source, plugin, METER_ALL);
    rows->row[1] = meter_row(reading->meter, reading->source, plugin, event);
    reading->any = true;
    return rows->row[0] != NULL && rows->row[1] != NULL;
}

static void take_identity(struct reading *reading, const struct openmetrics_sample *sample)
{
    const char *plugin = openmetrics_label(sample, "plugin");
    const char *index = openmetrics_label(sample, "index");
    reading->any = true;
    if (plugin == NULL || plugin[0] == '\0')
        return;
    char *to = reading->source->identity;
    const size_t room = sizeof reading->source->identity;
    if (index != NULL && index[0] != '\0')
        (void)snprintf(to, room, "%s-%s", index, plugin);
    else
        (void)snprintf(to, room, "%s", plugin);
}

static void take_pending(struct reading *reading, const struct openmetrics_sample *sample)
{
    struct meter_row *row = meter_row(reading->meter, reading->source, "", METER_ALL);
    reading->any = true;
    if (row == NULL)
        return;
    row->pending = (uint64_t)sane(sample->value);
    row->pending_known = true;
}

/* "..._bucket", "..._sum" or "..._count" of one of the histograms. */
static void take_latency(struct reading *reading, const struct openmetrics_sample *sample,
                         const char *part)
{
    const char *le = openmetrics_label(sample, "le");
    char *end = NULL;
    struct rows rows;
    const bool bucket = strcmp(part, "bucket") == 0;
    if (!find_rows(reading, sample, &rows))
        return;
    const double limit = le != NULL ? strtod(le, &end) : 0;
    for (size_t i = 0; i < 2; i++) {
        if (bucket && le != NULL && *end == '\0' && limit > 0)
            meter_add_bucket(rows.row[i], limit, sane(sample->value));
        else if (strcmp(part, "sum") == 0)
            rows.row[i]->times.sum += sane(sample->value);
        else if (strcmp(part, "count") == 0)
            rows.row[i]->times.count += sane(sample->value);
    }
}

static void take_counter(struct reading *reading, const struct openmetrics_sample *sample,
                         enum meter_count count)
{
    struct rows rows;
    if (!find_rows(reading, sample, &rows))
        return;
    for (size_t i = 0; i < 2; i++)
        meter_add(rows.row[i], count, (uint64_t)sane(sample->value));
}

static int take(void *user, const struct openmetrics_sample *sample)
{
    static const char *const histograms[] = {"nri_plugin_reply_seconds_",
                                             "nri_runtime_latency_seconds_"};
    struct reading *reading = user;
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++) {
        if (strcmp(sample->name, counters[i].name) == 0)
            take_counter(reading, sample, counters[i].count);
    }
    for (size_t i = 0; i < sizeof histograms / sizeof *histograms; i++) {
        const size_t length = strlen(histograms[i]);
        if (strncmp(sample->name, histograms[i], length) == 0)
            take_latency(reading, sample, sample->name + length);
    }
    if (strcmp(sample->name, "nri_plugin_build_info") == 0)
        take_identity(reading, sample);
    else if (strcmp(sample->name, "nri_plugin_pending_requests") == 0)
        take_pending(reading, sample);
    else if (strcmp(sample->name, "nri_runtime_plugins") == 0)
        reading->any = true;
    return 0;
}

bool meter_read_metrics(struct meter *meter, struct meter_source *source, uint64_t time,
                        const char *text, size_t length)
{
    struct reading reading = {.meter = meter, .source = source};
    struct nri_error error = {0};
    meter_begin(meter, source, time, true);
    int code = openmetrics_read(text, length, take, &reading, &error);
    if (code == 0 && !reading.any)
        code = nri_error_set(&error, NRI_E_PROTOCOL, "there are no metrics of NRI");
    if (code != 0)
        meter_fail(meter, source, error.text);
    else
        meter_end(meter, source);
    return code == 0;
}
