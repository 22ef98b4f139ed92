/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "meter.h"
#include "print.h"

static const char *const count_names[METER_COUNTS] = {
    [METER_EVENTS] = "events", [METER_ERRORS] = "errors",   [METER_REFUSED] = "refused",
    [METER_LATE] = "late",     [METER_GUARDED] = "guarded",
};

static bool is_shown(const struct meter_row *row, bool all)
{
    return all || row->counts[METER_EVENTS] > 0 || (row->pending_known && row->pending > 0) ||
           (strcmp(row->event, METER_ALL) == 0);
}

static uint64_t whole(double value)
{
    return value >= 1.8e19 ? UINT64_MAX : value > 0 ? (uint64_t)value : 0;
}

/* ---- JSON ---- */

static void print_latency(struct print_json *json, const char *key, const struct meter_row *row,
                          double value)
{
    print_json_key(json, key);
    if (row->timed)
        nri_json_write_uint64(&json->writer, whole(value));
    else
        nri_json_write_null(&json->writer);
}

static void print_row(struct print_json *json, const struct meter_row *row)
{
    nri_json_begin_object(&json->writer);
    print_json_text(json, "source", row->source->name);
    print_json_text(json, "plugin", meter_plugin(row));
    print_json_text(json, "event", strcmp(row->event, METER_ALL) == 0 ? NULL : row->event);
    for (size_t i = 0; i < METER_COUNTS; i++) {
        print_json_key(json, count_names[i]);
        if (row->known[i])
            nri_json_write_uint64(&json->writer, row->counts[i]);
        else
            nri_json_write_null(&json->writer);
    }
    print_json_key(json, "pending");
    if (row->pending_known)
        nri_json_write_uint64(&json->writer, row->pending);
    else
        nri_json_write_null(&json->writer);
    /* Whole thousandths: the writer has no fractions. */
    print_json_key(json, "millievents_per_second");
    if (row->rate >= 0)
        nri_json_write_uint64(&json->writer, whole(row->rate * 1e3));
    else
        nri_json_write_null(&json->writer);
    print_latency(json, "mean_ns", row, row->mean);
    print_latency(json, "p50_ns", row, row->p50);
    print_latency(json, "p99_ns", row, row->p99);
    print_json_bool(json, "p99_is_more", row->timed && row->beyond);
    nri_json_end_object(&json->writer);
}

static int print_line(struct nrictl *ctl, const struct meter *meter, bool all)
{
    struct print_json json;
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    print_json_begin(&json, 0);
    nri_json_begin_object(&json.writer);
    print_json_number(&json, "time_ns", (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
    print_json_key(&json, "sources");
    nri_json_begin_array(&json.writer);
    for (size_t i = 0; i < meter->source_count; i++) {
        nri_json_begin_object(&json.writer);
        print_json_text(&json, "source", meter->sources[i].name);
        print_json_text(&json, "error", meter->sources[i].why);
        nri_json_end_object(&json.writer);
    }
    nri_json_end_array(&json.writer);
    print_json_key(&json, "rows");
    nri_json_begin_array(&json.writer);
    for (const struct meter_row *row = meter->rows; row != NULL; row = row->next) {
        if (is_shown(row, all))
            print_row(&json, row);
    }
    nri_json_end_array(&json.writer);
    nri_json_end_object(&json.writer);
    return print_json_end(ctl, &json);
}

/* ---- text ---- */

static void put_time(struct print_table *table, size_t column, const struct meter_row *row,
                     double value, bool more)
{
    const char *sign = more ? ">" : "";
    if (!row->timed)
        print_table_cell(table, column, PRINT_DIM, "-");
    else if (value < 1e3)
        print_table_cell(table, column, PRINT_PLAIN, "%s%.0f ns", sign, value);
    else if (value < 1e6)
        print_table_cell(table, column, PRINT_PLAIN, "%s%.1f us", sign, value * 1e-3);
    else if (value < 1e9)
        print_table_cell(table, column, PRINT_PLAIN, "%s%.2f ms", sign, value * 1e-6);
    else
        print_table_cell(table, column, PRINT_PLAIN, "%s%.2f s", sign, value * 1e-9);
}

static void put_count(struct print_table *table, size_t column, bool known, uint64_t value,
                      enum print_colour colour)
{
    if (known)
        print_table_cell(table, column, value > 0 ? colour : PRINT_PLAIN, "%" PRIu64, value);
    else
        print_table_cell(table, column, PRINT_DIM, "-");
}

static void put_row(struct print_table *table, const struct meter_row *row, bool sources)
{
    static const enum print_colour colours[METER_COUNTS] = {[METER_ERRORS] = PRINT_RED,
                                                            [METER_REFUSED] = PRINT_YELLOW,
                                                            [METER_LATE] = PRINT_RED,
                                                            [METER_GUARDED] = PRINT_RED};
    const bool sum = strcmp(row->event, METER_ALL) == 0;
    size_t at = 0;
    print_table_row(table);
    if (sources)
        print_table_cell(table, at++, PRINT_PLAIN, "%s", row->source->name);
    print_table_cell(table, at++, sum ? PRINT_BOLD : PRINT_PLAIN, "%s", meter_plugin(row));
    print_table_cell(table, at++, sum ? PRINT_BOLD : PRINT_PLAIN, "%s", row->event);
    put_count(table, at++, row->known[METER_EVENTS], row->counts[METER_EVENTS], PRINT_PLAIN);
    if (row->rate >= 0)
        print_table_cell(table, at++, PRINT_PLAIN, "%.1f", row->rate);
    else
        print_table_cell(table, at++, PRINT_DIM, "-");
    put_time(table, at++, row, row->mean, false);
    put_time(table, at++, row, row->p50, false);
    put_time(table, at++, row, row->p99, row->beyond);
    for (size_t i = METER_ERRORS; i < METER_COUNTS; i++)
        put_count(table, at++, row->known[i], row->counts[i], colours[i]);
    put_count(table, at, row->pending_known, row->pending, PRINT_BLUE);
}

static int print_rows(struct nrictl *ctl, const struct meter *meter, bool all)
{
    static const char *const titles[] = {"SOURCE", "PLUGIN",  "EVENT",  "EVENTS", "PER S",
                                         "MEAN",   "P50",     "P99",    "ERRORS", "REFUSED",
                                         "LATE",   "GUARDED", "PENDING"};
    const size_t count = sizeof titles / sizeof *titles;
    const bool sources = meter->source_count > 1;
    struct print_table table;
    print_table_begin(&table, sources ? count : count - 1, sources ? titles : titles + 1);
    for (size_t i = sources ? 3 : 2; i < table.columns; i++)
        table.right[i] = true;
    for (const struct meter_row *row = meter->rows; row != NULL; row = row->next) {
        if (is_shown(row, all))
            put_row(&table, row, sources);
    }
    return print_table_end(ctl, &table);
}

static void print_head(struct nrictl *ctl, const struct meter *meter)
{
    const time_t now = time(NULL);
    struct tm fields;
    char clock[32] = "";
    if (localtime_r(&now, &fields) != NULL)
        (void)strftime(clock, sizeof clock, "%Y-%m-%d %H:%M:%S", &fields);
    (void)fprintf(ctl->out, "%s%s%s\n", print_colour(ctl, PRINT_DIM), clock,
                  print_colour(ctl, PRINT_PLAIN));
    for (size_t i = 0; i < meter->source_count; i++) {
        const struct meter_source *source = &meter->sources[i];
        if (source->read)
            continue;
        (void)fputs(print_colour(ctl, PRINT_RED), ctl->out);
        print_text(ctl->out, source->name, strlen(source->name));
        (void)fputs(": ", ctl->out);
        if (source->why != NULL)
            print_text(ctl->out, source->why, strlen(source->why));
        else
            (void)fputs("not read yet", ctl->out);
        (void)fprintf(ctl->out, "%s\n", print_colour(ctl, PRINT_PLAIN));
    }
    if (meter->cut)
        (void)fprintf(ctl->out, "more than %d rows: those beyond are left out\n", METER_MOST_ROWS);
}

int meter_print(struct nrictl *ctl, const struct meter *meter, bool all)
{
    if (ctl->json)
        return print_line(ctl, meter, all);
    print_head(ctl, meter);
    return print_rows(ctl, meter, all);
}
