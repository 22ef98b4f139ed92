/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/stats.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define PREFIX    "nri_runtime_"
#define LINE_SIZE 512
#define ID_SIZE   160u
#define OTHERS    "(others)" /* no plugin can be called so */

void nri_rt_stats_init(struct nri_rt_stats *stats, const struct nri_alloc *alloc)
{
    *stats = (struct nri_rt_stats){.alloc = *alloc};
}

void nri_rt_stats_fini(struct nri_rt_stats *stats)
{
    while (stats->plugins != NULL) {
        struct nri_rt_plugin_stats *plugin = stats->plugins;
        stats->plugins = plugin->next;
        nri_alloc_release(&stats->alloc, plugin);
    }
}

static struct nri_rt_plugin_stats *find(const struct nri_rt_stats *stats, const char *id)
{
    struct nri_rt_plugin_stats *plugin = stats->plugins;

    while (plugin != NULL && strcmp(plugin->id, id) != 0)
        plugin = plugin->next;
    return plugin;
}

static struct nri_rt_plugin_stats *add(struct nri_rt_stats *stats, const char *id)
{
    const size_t length = strlen(id);
    struct nri_rt_plugin_stats *plugin = nri_alloc_zero(&stats->alloc, sizeof *plugin + length + 1);

    if (plugin == NULL)
        return NULL;
    memcpy(plugin->id, id, length + 1);
    plugin->next = stats->plugins;
    stats->plugins = plugin;
    stats->count++;
    return plugin;
}

#define SYNCHRONIZE_ROW (NRI_RT_STATS_EVENTS - 1)

static size_t row_of(enum nri_event event)
{
    if (event == NRI_EVENT_SYNCHRONIZE)
        return SYNCHRONIZE_ROW;
    return event >= 1 && event <= NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT ? (size_t)event - 1
                                                                          : SIZE_MAX;
}

static enum nri_event event_of(size_t row)
{
    return row == SYNCHRONIZE_ROW ? NRI_EVENT_SYNCHRONIZE : (enum nri_event)(row + 1);
}

struct nri_rt_event_stats *nri_rt_stats_of(struct nri_rt_stats *stats, const char *id,
                                           enum nri_event event)
{
    const size_t index = row_of(event);

    if (index == SIZE_MAX)
        return NULL;
    if (strlen(id) >= ID_SIZE)
        id = OTHERS;
    struct nri_rt_plugin_stats *plugin = find(stats, id);
    if (plugin == NULL && stats->count >= NRI_RT_STATS_PLUGINS) {
        id = OTHERS;
        plugin = find(stats, id);
    }
    if (plugin == NULL)
        plugin = add(stats, id);
    return plugin == NULL ? NULL : &plugin->events[index];
}

void nri_rt_stats_count(struct nri_rt_stats *stats, const char *id, enum nri_event event, int code,
                        uint64_t nanoseconds)
{
    struct nri_rt_event_stats *row = nri_rt_stats_of(stats, id, event);
    size_t bucket = 0;

    if (row == NULL)
        return;
    row->invocations++;
    row->failures += code != 0 ? 1 : 0;
    while (bucket < NRI_STATS_BUCKETS && nanoseconds > nri_stats_bounds[bucket])
        bucket++;
    row->buckets[bucket]++;
    row->nanoseconds += nanoseconds;
}

void nri_rt_stats_updates(struct nri_rt_stats *stats, const char *id, enum nri_event event,
                          size_t updates, size_t evictions)
{
    struct nri_rt_event_stats *row =
        updates + evictions == 0 ? NULL : nri_rt_stats_of(stats, id, event);

    if (row == NULL)
        return;
    row->updates += updates;
    row->evictions += evictions;
}

/* ---- as text ---- */

/* The first failure stays, so that callers check once. */
struct writer {
    struct nri_buf *out;
    int code;
};

static void put(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void put(struct writer *writer, const char *format, ...)
{
    char line[LINE_SIZE];
    va_list arguments;

    va_start(arguments, format);
    const int length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (writer->code == 0)
        writer->code = length < 0 || (size_t)length >= sizeof line
                           ? NRI_E_LIMIT
                           : nri_buf_append(writer->out, line, (size_t)length);
}

/* Names of plugins have nothing that a label would have to escape. */
static void put_labels(struct writer *writer, const struct nri_rt_plugin_stats *plugin,
                       size_t event)
{
    put(writer, "plugin=\"%s\",event=\"%s\"", plugin->id, nri_event_name(event_of(event)));
}

/* Seconds without a locale's decimal point. */
static void put_seconds(struct writer *writer, uint64_t nanoseconds)
{
    put(writer, "%" PRIu64 ".%09" PRIu64, nanoseconds / UINT64_C(1000000000),
        nanoseconds % UINT64_C(1000000000));
}

static void put_counter(struct writer *writer, const struct nri_rt_stats *stats, const char *name,
                        const char *help, size_t offset)
{
    put(writer, "# TYPE " PREFIX "%s counter\n# HELP " PREFIX "%s %s\n", name, name, help);
    for (const struct nri_rt_plugin_stats *plugin = stats->plugins; plugin != NULL;
         plugin = plugin->next) {
        for (size_t event = 0; event < NRI_RT_STATS_EVENTS; event++) {
            uint64_t value;
            if (plugin->events[event].invocations == 0)
                continue;
            memcpy(&value, (const char *)&plugin->events[event] + offset, sizeof value);
            put(writer, PREFIX "%s_total{", name);
            put_labels(writer, plugin, event);
            put(writer, "} %" PRIu64 "\n", value);
        }
    }
}

static void put_histogram(struct writer *writer, const struct nri_rt_plugin_stats *plugin,
                          size_t event)
{
    const struct nri_rt_event_stats *row = &plugin->events[event];
    uint64_t count = 0;

    for (size_t i = 0; i <= NRI_STATS_BUCKETS; i++) {
        count += row->buckets[i];
        put(writer, PREFIX "latency_seconds_bucket{");
        put_labels(writer, plugin, event);
        put(writer, ",le=\"");
        if (i < NRI_STATS_BUCKETS)
            put_seconds(writer, nri_stats_bounds[i]);
        else
            put(writer, "+Inf");
        put(writer, "\"} %" PRIu64 "\n", count);
    }
    put(writer, PREFIX "latency_seconds_sum{");
    put_labels(writer, plugin, event);
    put(writer, "} ");
    put_seconds(writer, row->nanoseconds);
    put(writer, "\n" PREFIX "latency_seconds_count{");
    put_labels(writer, plugin, event);
    put(writer, "} %" PRIu64 "\n", count);
}

int nri_rt_stats_write(const struct nri_rt_stats *stats, size_t active, struct nri_buf *out)
{
    struct writer writer = {out, 0};

    put_counter(&writer, stats, "invocations", "Requests to plugins.",
                offsetof(struct nri_rt_event_stats, invocations));
    put_counter(&writer, stats, "failures", "Requests that plugins refused or did not answer.",
                offsetof(struct nri_rt_event_stats, failures));
    put_counter(&writer, stats, "adjustments", "Things that plugins set, replaced or removed.",
                offsetof(struct nri_rt_event_stats, adjustments));
    put_counter(&writer, stats, "updates", "Updates of containers in replies of plugins.",
                offsetof(struct nri_rt_event_stats, updates));
    put_counter(&writer, stats, "evictions", "Evictions of containers in replies of plugins.",
                offsetof(struct nri_rt_event_stats, evictions));
    put(&writer, "# TYPE " PREFIX "latency_seconds histogram\n# UNIT " PREFIX
                 "latency_seconds seconds\n# HELP " PREFIX
                 "latency_seconds From a request to its answer.\n");
    for (const struct nri_rt_plugin_stats *plugin = stats->plugins; plugin != NULL;
         plugin = plugin->next) {
        for (size_t event = 0; event < NRI_RT_STATS_EVENTS; event++) {
            if (plugin->events[event].invocations > 0)
                put_histogram(&writer, plugin, event);
        }
    }
    put(&writer,
        "# TYPE " PREFIX "plugins gauge\n# HELP " PREFIX
        "plugins Plugins that are connected.\n" PREFIX "plugins %zu\n# EOF\n",
        active);
    return writer.code;
}
