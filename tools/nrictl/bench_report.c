/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The result as a table, the floor first and each plugin with its ratio to it, and as JSON.
 */
#include <inttypes.h>
#include <string.h>

#include "bench.h"
#include "print.h"

/* ---- text ---- */

/* 8.50 us, 12.3 us, 4.56 ms */
static void time_text(char text[32], uint64_t ns)
{
    if (ns < 10000)
        (void)snprintf(text, 32, "%.2f us", (double)ns / 1e3);
    else if (ns < 1000000)
        (void)snprintf(text, 32, "%.1f us", (double)ns / 1e3);
    else
        (void)snprintf(text, 32, "%.2f ms", (double)ns / 1e6);
}

static void size_text(char text[32], uint64_t bytes)
{
    (void)snprintf(text, 32, "%.2f MB", (double)bytes / 1e6);
}

static void rate_text(char text[32], uint64_t per_second)
{
    (void)snprintf(text, 32, "%" PRIu64 "/s", per_second);
}

struct row {
    const char *title;
    void (*put)(char text[32], uint64_t value);
};

static uint64_t per_call(uint64_t ns, uint64_t calls)
{
    return calls == 0 ? 0 : ns / calls;
}

uint64_t bench_per_second(const struct bench_speed *speed)
{
    return speed->wide_ns == 0
               ? 0
               : (uint64_t)((double)speed->wide_calls * 1e9 / (double)speed->wide_ns);
}

static void cells(struct print_table *table, const struct row *row, size_t count, uint64_t floor,
                  const uint64_t *values)
{
    char text[32];
    print_table_row(table);
    print_table_cell(table, 0, PRINT_PLAIN, "%s", row->title);
    if (floor > 0) {
        row->put(text, floor);
        print_table_cell(table, 1, PRINT_DIM, "%s", text);
    }
    for (size_t i = 0; i < count; i++) {
        row->put(text, values[i]);
        print_table_cell(table, 2 + 2 * i, PRINT_PLAIN, "%s", text);
        if (floor > 0)
            print_table_cell(table, 3 + 2 * i, PRINT_BOLD, "x%.2f",
                             (double)values[i] / (double)floor);
    }
}

static void speed_rows(struct bench *bench, struct print_table *table, enum bench_event event)
{
    const size_t count = bench->plugin_count;
    struct bench_speed *floor = &bench->floor[event];
    uint64_t middle[BENCH_PLUGINS], high[BENCH_PLUGINS], cpu[BENCH_PLUGINS], rate[BENCH_PLUGINS];
    char title[64];
    for (size_t i = 0; i < count; i++) {
        struct bench_speed *speed = &bench->plugins[i].speed[event];
        middle[i] = bench_at(&speed->trips, 500);
        high[i] = bench_at(&speed->trips, 990);
        cpu[i] = per_call(speed->cpu_ns, speed->cpu_calls);
        rate[i] = bench_per_second(speed);
    }
    (void)snprintf(title, sizeof title, "%s, median", bench_event_names[event]);
    cells(table, &(struct row){title, time_text}, count, bench_at(&floor->trips, 500), middle);
    cells(table, &(struct row){"  99 of 100 within", time_text}, count,
          bench_at(&floor->trips, 990), high);
    cells(table, &(struct row){"  its CPU time", time_text}, count,
          per_call(floor->cpu_ns, floor->cpu_calls), cpu);
    (void)snprintf(title, sizeof title, "  %" PRIu64 " under way (more is better)",
                   bench->outstanding);
    cells(table, &(struct row){title, rate_text}, count, bench_per_second(floor), rate);
}

static void process_rows(struct bench *bench, struct print_table *table)
{
    const size_t count = bench->plugin_count;
    uint64_t registered[BENCH_PLUGINS], synchronised[BENCH_PLUGINS], idle[BENCH_PLUGINS],
        peak[BENCH_PLUGINS];
    for (size_t i = 0; i < count; i++) {
        struct bench_plugin *plugin = &bench->plugins[i];
        registered[i] = bench_at(&plugin->registered, 500);
        synchronised[i] = bench_at(&plugin->synchronised, 500);
        idle[i] = plugin->idle.rss;
        peak[i] = plugin->loaded.peak;
    }
    const uint64_t start = bench_at(&bench->floor_start, 500);
    cells(table, &(struct row){"start to registered", time_text}, count, start, registered);
    cells(table, &(struct row){"start to synchronised", time_text}, count, start, synchronised);
    cells(table, &(struct row){"memory, idle", size_text}, count, bench->floor_rss, idle);
    cells(table, &(struct row){"memory, peak", size_text}, count, bench->floor_rss, peak);
}

/* What is measured all the same. */
static void tell_unwanted(const struct bench *bench)
{
    for (size_t i = 0; i < bench->plugin_count; i++) {
        const struct bench_plugin *plugin = &bench->plugins[i];
        for (unsigned event = 0; event < BENCH_EVENTS; event++) {
            if (bench_wants(plugin, event))
                continue;
            print_text(bench->ctl->out, plugin->title, strlen(plugin->title));
            (void)fprintf(bench->ctl->out,
                          " does not subscribe to %s: a runtime would not send it one.\n",
                          bench_event_names[event]);
        }
    }
}

static int report_text(struct bench *bench)
{
    struct print_table table;
    const char *titles[2 + 2 * BENCH_PLUGINS] = {"", "floor"};
    FILE *out = bench->ctl->out;
    const size_t columns = 2 + 2 * bench->plugin_count;
    for (size_t i = 0; i < bench->plugin_count; i++) {
        titles[2 + 2 * i] = bench->plugins[i].title;
        titles[3 + 2 * i] = "";
    }
    print_table_begin(&table, columns, titles);
    for (size_t i = 1; i < columns; i++)
        table.right[i] = true;
    for (unsigned i = 0; i < BENCH_EVENTS; i++)
        speed_rows(bench, &table, i);
    process_rows(bench, &table);
    const int code = print_table_end(bench->ctl, &table);
    (void)fprintf(out, "\n%" PRIu64 " turns of %" PRIu64 " calls, %" PRIu64 " starts, ",
                  bench->rounds, bench->calls, bench->starts);
    if (bench->cpu >= 0)
        (void)fprintf(out, "all on CPU %d", bench->cpu);
    else
        (void)fputs("on any CPU", out);
    (void)fprintf(out, ". A CreateContainer has %zu bytes, a StartContainer %zu.\n",
                  nri_buf_size(&bench->frames[BENCH_CREATE].bytes),
                  nri_buf_size(&bench->frames[BENCH_START].bytes));
    tell_unwanted(bench);
    return code;
}

/* ---- JSON ---- */

static void object(struct print_json *json, const char *key)
{
    print_json_key(json, key);
    nri_json_begin_object(&json->writer);
}

static void speed_json(struct bench *bench, struct print_json *json, enum bench_event event,
                       struct bench_speed *speed, const struct bench_plugin *plugin)
{
    object(json, bench_event_names[event]);
    if (plugin != NULL)
        print_json_bool(json, "subscribed", bench_wants(plugin, event));
    print_json_number(json, "request_bytes", nri_buf_size(&bench->frames[event].bytes));
    if (plugin != NULL)
        print_json_number(json, "reply_bytes", plugin->reply[event]);
    print_json_number(json, "round_trips", speed->trips.count);
    print_json_number(json, "min_ns", bench_at(&speed->trips, 0));
    print_json_number(json, "median_ns", bench_at(&speed->trips, 500));
    print_json_number(json, "p90_ns", bench_at(&speed->trips, 900));
    print_json_number(json, "p99_ns", bench_at(&speed->trips, 990));
    print_json_number(json, "max_ns", bench_at(&speed->trips, 1000));
    print_json_number(json, "cpu_ns", per_call(speed->cpu_ns, speed->cpu_calls));
    print_json_number(json, "calls_per_second", bench_per_second(speed));
    nri_json_end_object(&json->writer);
}

static void start_json(struct print_json *json, const char *key, struct bench_samples *samples)
{
    object(json, key);
    print_json_number(json, "starts", samples->count);
    print_json_number(json, "min_ns", bench_at(samples, 0));
    print_json_number(json, "median_ns", bench_at(samples, 500));
    print_json_number(json, "max_ns", bench_at(samples, 1000));
    nri_json_end_object(&json->writer);
}

static void plugin_json(struct bench *bench, struct print_json *json, struct bench_plugin *plugin)
{
    nri_json_begin_object(&json->writer);
    print_json_text(json, "plugin", plugin->title);
    print_json_key(json, "command");
    nri_json_begin_array(&json->writer);
    for (const char *const *word = plugin->of.argv; *word != NULL; word++)
        nri_json_write_string(&json->writer, *word, strlen(*word));
    nri_json_end_array(&json->writer);
    for (unsigned i = 0; i < BENCH_EVENTS; i++)
        speed_json(bench, json, i, &plugin->speed[i], plugin);
    start_json(json, "registered", &plugin->registered);
    start_json(json, "synchronised", &plugin->synchronised);
    print_json_number(json, "idle_rss_bytes", plugin->idle.rss);
    print_json_number(json, "loaded_rss_bytes", plugin->loaded.rss);
    print_json_number(json, "peak_rss_bytes", plugin->loaded.peak);
    nri_json_end_object(&json->writer);
}

static int report_json(struct bench *bench)
{
    struct print_json json;
    print_json_begin(&json, 2);
    nri_json_begin_object(&json.writer);
    print_json_number(&json, "rounds", bench->rounds);
    print_json_number(&json, "calls", bench->calls);
    print_json_number(&json, "outstanding", bench->outstanding);
    if (bench->cpu >= 0)
        print_json_number(&json, "cpu", (uint64_t)bench->cpu);
    object(&json, "floor");
    for (unsigned i = 0; i < BENCH_EVENTS; i++)
        speed_json(bench, &json, i, &bench->floor[i], NULL);
    start_json(&json, "start", &bench->floor_start);
    print_json_number(&json, "rss_bytes", bench->floor_rss);
    nri_json_end_object(&json.writer);
    print_json_key(&json, "plugins");
    nri_json_begin_array(&json.writer);
    for (size_t i = 0; i < bench->plugin_count; i++)
        plugin_json(bench, &json, &bench->plugins[i]);
    nri_json_end_array(&json.writer);
    nri_json_end_object(&json.writer);
    return print_json_end(bench->ctl, &json);
}

int bench_report(struct bench *bench)
{
    return bench->ctl->json ? report_json(bench) : report_text(bench);
}
