/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "load_inside.h"
#include "print.h"

/* ---- JSON ---- */

static void print_rows(struct print_json *json, const struct load *load, bool plugins)
{
    nri_json_begin_array(&json->writer);
    for (const struct load_row *at = load->rows; at != NULL; at = at->next) {
        if ((at->plugin[0] != '\0') != plugins)
            continue;
        nri_json_begin_object(&json->writer);
        if (plugins)
            print_json_text(json, "plugin", at->plugin);
        print_json_text(json, "event", nri_event_name(at->event));
        print_json_number(json, "count", at->times.count);
        print_json_number(json, "errors", at->errors);
        print_json_number(json, "p50_ns", histogram_at(&at->times, 500));
        print_json_number(json, "p90_ns", histogram_at(&at->times, 900));
        print_json_number(json, "p99_ns", histogram_at(&at->times, 990));
        print_json_number(json, "max_ns", at->times.largest);
        nri_json_end_object(&json->writer);
    }
    nri_json_end_array(&json->writer);
}

static int print_json(struct nrictl *ctl, const struct load *load)
{
    struct print_json json;
    print_json_begin(&json, 2);
    nri_json_begin_object(&json.writer);
    print_json_number(&json, "nanoseconds", load->nanoseconds);
    print_json_number(&json, "pods", load->pods);
    print_json_number(&json, "containers", load->containers);
    print_json_number(&json, "operations", load->operations);
    print_json_number(&json, "events", load->events);
    print_json_number(&json, "errors", load->errors);
    print_json_text(&json, "first_error", load->errors == 0 ? NULL : load->error);
    print_json_key(&json, "by_event");
    print_rows(&json, load, false);
    print_json_key(&json, "by_plugin");
    print_rows(&json, load, true);
    nri_json_end_object(&json.writer);
    return print_json_end(ctl, &json);
}

/* ---- text ---- */

static void put_time(struct print_table *table, size_t column, uint64_t nanoseconds)
{
    const double value = (double)nanoseconds;
    if (nanoseconds < 1000)
        print_table_cell(table, column, PRINT_PLAIN, "%" PRIu64 " ns", nanoseconds);
    else if (nanoseconds < 1000000)
        print_table_cell(table, column, PRINT_PLAIN, "%.1f us", value * 1e-3);
    else if (nanoseconds < 1000000000)
        print_table_cell(table, column, PRINT_PLAIN, "%.2f ms", value * 1e-6);
    else
        print_table_cell(table, column, PRINT_PLAIN, "%.2f s", value * 1e-9);
}

static void put_row(struct print_table *table, const struct load_row *row)
{
    print_table_row(table);
    print_table_cell(table, 0, PRINT_PLAIN, "%s", row->plugin[0] == '\0' ? "(all)" : row->plugin);
    print_table_cell(table, 1, PRINT_PLAIN, "%s", nri_event_name(row->event));
    print_table_cell(table, 2, PRINT_PLAIN, "%" PRIu64, row->times.count);
    print_table_cell(table, 3, row->errors == 0 ? PRINT_PLAIN : PRINT_RED, "%" PRIu64, row->errors);
    put_time(table, 4, histogram_at(&row->times, 500));
    put_time(table, 5, histogram_at(&row->times, 900));
    put_time(table, 6, histogram_at(&row->times, 990));
    put_time(table, 7, row->times.largest);
}

static int print_table(struct nrictl *ctl, const struct load *load)
{
    static const char *const titles[] = {"PLUGIN", "EVENT", "COUNT", "ERRORS",
                                         "P50",    "P90",   "P99",   "MAX"};
    struct print_table table;
    print_table_begin(&table, 8, titles);
    for (size_t i = 2; i < 8; i++)
        table.right[i] = true;
    for (int plugins = 0; plugins < 2; plugins++) {
        for (const struct load_row *at = load->rows; at != NULL; at = at->next) {
            if ((at->plugin[0] != '\0') == (plugins == 1))
                put_row(&table, at);
        }
    }
    return print_table_end(ctl, &table);
}

int load_print(struct nrictl *ctl, const struct load *load)
{
    const double seconds = (double)load->nanoseconds * 1e-9;
    if (ctl->json)
        return print_json(ctl, load);
    (void)fprintf(ctl->out,
                  "%" PRIu64 " pod sandboxes, %" PRIu64 " containers, %" PRIu64
                  " events in %.2f s: %.0f events a second, %" PRIu64 " errors\n",
                  load->pods, load->containers, load->events, seconds,
                  seconds > 0 ? (double)load->events / seconds : 0, load->errors);
    if (load->errors > 0) {
        (void)fputs("first error: ", ctl->out);
        print_text(ctl->out, load->error, strlen(load->error));
        (void)fputc('\n', ctl->out);
    }
    (void)fputc('\n', ctl->out);
    return print_table(ctl, load);
}
