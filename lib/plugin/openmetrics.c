/* SPDX-License-Identifier: Apache-2.0 */
#include "plugin/openmetrics.h"

#include <nri/version.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "plugin/internal.h"

#define PREFIX    "nri_plugin_"
#define LINE_SIZE 1024

/* Each row's event, in the order of the rows. */
static const enum nri_event row_events[NRI_STATS_ROWS] = {
    NRI_EVENT_RUN_POD_SANDBOX,
    NRI_EVENT_STOP_POD_SANDBOX,
    NRI_EVENT_REMOVE_POD_SANDBOX,
    NRI_EVENT_CREATE_CONTAINER,
    NRI_EVENT_POST_CREATE_CONTAINER,
    NRI_EVENT_START_CONTAINER,
    NRI_EVENT_POST_START_CONTAINER,
    NRI_EVENT_UPDATE_CONTAINER,
    NRI_EVENT_POST_UPDATE_CONTAINER,
    NRI_EVENT_STOP_CONTAINER,
    NRI_EVENT_REMOVE_CONTAINER,
    NRI_EVENT_UPDATE_POD_SANDBOX,
    NRI_EVENT_POST_UPDATE_POD_SANDBOX,
    NRI_EVENT_VALIDATE_CONTAINER_ADJUSTMENT,
    NRI_EVENT_CONFIGURE,
    NRI_EVENT_SYNCHRONIZE,
    NRI_EVENT_SHUTDOWN,
};

struct family {
    const char *name, *unit, *help;
};

static const struct family event_families[NRI_STATS_COUNTERS] = {
    [NRI_COUNT_REQUESTS] = {"requests", "", "Requests that came from the runtime."},
    [NRI_COUNT_REPLIES] = {"replies", "", "Requests answered with success."},
    [NRI_COUNT_REFUSED] = {"refused", "", "Requests that the plugin refused."},
    [NRI_COUNT_ERRORS] = {"errors", "", "Requests that the library refused."},
    [NRI_COUNT_LATE] = {"late", "", "Answers of the plugin that came after the deadline."},
    [NRI_COUNT_GUARDED] = {"guarded", "",
                           "Requests that the deadline guard answered in the plugin's place."},
    [NRI_COUNT_BYPASSED] = {"bypassed", "", "Events answered unchanged while the bypass was on."},
    [NRI_COUNT_SLOW] = {"slow", "", "Answers that took more than the slow share of their time."},
};

static const struct family total_families[NRI_STATS_TOTALS] = {
    [NRI_COUNT_CONNECTIONS] = {"connections", "", "Connections to the runtime that stood."},
    [NRI_COUNT_DISCONNECTIONS] = {"disconnections", "", "Connections that ended."},
    [NRI_COUNT_FAILED_ATTEMPTS] = {"failed_attempts", "", "Attempts to connect that failed."},
    [NRI_COUNT_SYNCHRONIZATIONS] = {"synchronizations", "", "Synchronize, whole ones."},
    [NRI_COUNT_BYTES_IN] = {"received_bytes", "bytes", "Bytes read from the runtime."},
    [NRI_COUNT_BYTES_OUT] = {"sent_bytes", "bytes", "Bytes written to the runtime."},
    [NRI_COUNT_UPDATE_CALLS] = {"update_calls", "", "Calls of UpdateContainers."},
    [NRI_COUNT_UPDATE_ERRORS] = {"update_errors", "",
                                 "Calls of UpdateContainers that failed as a whole."},
    [NRI_COUNT_UPDATE_FAILURES] = {"update_failures", "", "Containers whose update failed."},
};

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

static void head(struct writer *writer, const struct family *family, const char *type)
{
    put(writer, "# TYPE " PREFIX "%s %s\n", family->name, type);
    if (family->unit[0] != '\0')
        put(writer, "# UNIT " PREFIX "%s %s\n", family->name, family->unit);
    put(writer, "# HELP " PREFIX "%s %s\n", family->name, family->help);
}

static void gauge(struct writer *writer, const char *name, const char *help, uint64_t value)
{
    const struct family family = {name, "", help};

    head(writer, &family, "gauge");
    put(writer, PREFIX "%s %" PRIu64 "\n", name, value);
}

/* A label's value: what the peer told may hold anything. Cut at a quarter of a line, between
 * characters: a collector refuses a whole text for half a one. */
static void escape(const char *text, char out[LINE_SIZE / 2])
{
    const size_t most = nri_utf8_cut(text, strnlen(text, LINE_SIZE / 4 - 1));
    size_t length = 0;

    for (size_t i = 0; i < most; i++) {
        if (text[i] == '"' || text[i] == '\\' || text[i] == '\n')
            out[length++] = '\\';
        out[length++] = text[i];
        if (text[i] == '\n')
            out[length - 1] = 'n';
    }
    out[length] = '\0';
}

static void label(struct writer *writer, const char *before, const char *name, const char *value)
{
    char escaped[LINE_SIZE / 2];

    escape(value, escaped);
    put(writer, "%s%s=\"%s\"", before, name, escaped);
}

static void write_info(struct writer *writer, const struct nri_core *core)
{
    const struct family family = {"build", "", "The plugin, this libnri, and the runtime."};

    head(writer, &family, "info");
    label(writer, PREFIX "build_info{", "plugin", core->config.name);
    label(writer, ",", "index", core->config.index);
    label(writer, ",", "libnri", nri_version());
    label(writer, ",", "runtime", nri_core_runtime_name(core));
    label(writer, ",", "runtime_version", nri_core_runtime_version(core));
    label(writer, ",", "nri_version", nri_core_nri_version(core));
    put(writer, "} 1\n");
}

static void write_state(struct writer *writer, enum nri_plugin_state state)
{
    static const char *const names[] = {"idle", "connecting", "registering", "ready", "stopping"};
    const struct family family = {"state", "", "What the plugin is doing: one of these is 1."};

    head(writer, &family, "stateset");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        put(writer, PREFIX "state{" PREFIX "state=\"%s\"} %d\n", names[i], (size_t)state == i);
}

static void write_events(struct writer *writer, const struct nri_core *core)
{
    for (size_t i = 0; i < NRI_STATS_COUNTERS; i++) {
        head(writer, &event_families[i], "counter");
        for (size_t row = 0; row < NRI_STATS_ROWS; row++)
            put(writer, PREFIX "%s_total{event=\"%s\"} %" PRIu64 "\n", event_families[i].name,
                nri_event_name(row_events[row]),
                nri_core_count_event(core, row_events[row], (enum nri_event_counter)i));
    }
}

static void put_seconds(struct writer *writer, uint64_t ns)
{
    put(writer, "%" PRIu64 ".%09" PRIu64, ns / NRI_SEC, ns % NRI_SEC);
}

/* The shortest decimal, with a place behind the point at least. By hand, because printf() writes a
 * floating number's point as the program's locale has it. */
static void put_bound(struct writer *writer, uint64_t ns)
{
    char fraction[16];
    int length = snprintf(fraction, sizeof fraction, "%09" PRIu64, ns % NRI_SEC);

    while (length > 1 && fraction[length - 1] == '0')
        length--;
    put(writer, "%" PRIu64 ".%.*s", ns / NRI_SEC, length, fraction);
}

/* Read before it is written: what is counted meanwhile must not make the sum smaller than its
 * parts. */
static void write_histogram(struct writer *writer, const struct nri_stats_row *row,
                            const char *event)
{
    uint64_t count = 0;

    for (size_t i = 0; i <= NRI_STATS_BUCKETS; i++) {
        count += atomic_load_explicit(&row->buckets[i], memory_order_relaxed);
        put(writer, PREFIX "reply_seconds_bucket{event=\"%s\",le=\"", event);
        if (i < NRI_STATS_BUCKETS)
            put_bound(writer, nri_stats_bounds[i]);
        else
            put(writer, "+Inf");
        put(writer, "\"} %" PRIu64 "\n", count);
    }
    put(writer, PREFIX "reply_seconds_count{event=\"%s\"} %" PRIu64 "\n", event, count);
    put(writer, PREFIX "reply_seconds_sum{event=\"%s\"} ", event);
    put_seconds(writer, atomic_load_explicit(&row->nanoseconds, memory_order_relaxed));
    put(writer, "\n");
}

static void write_times(struct writer *writer, const struct nri_core *core)
{
    const struct family family = {"reply_seconds", "seconds",
                                  "From a request to the plugin's answer."};

    head(writer, &family, "histogram");
    for (size_t row = 0; row < NRI_STATS_ROWS; row++)
        write_histogram(writer, &core->stats.rows[row], nri_event_name(row_events[row]));
}

static void write_totals(struct writer *writer, const struct nri_core *core)
{
    for (size_t i = 0; i < NRI_STATS_TOTALS; i++) {
        head(writer, &total_families[i], "counter");
        put(writer, PREFIX "%s_total %" PRIu64 "\n", total_families[i].name,
            nri_core_count(core, (enum nri_plugin_counter)i));
    }
}

int nri_openmetrics_write(const struct nri_core *core, const struct nri_openmetrics_place *place,
                          struct nri_buf *out)
{
    struct writer writer = {out, 0};

    write_info(&writer, core);
    write_state(&writer, place->state);
    gauge(&writer, "synchronized", "1 once a Synchronize was answered on this connection.",
          nri_core_is_synchronized(core));
    gauge(&writer, "wedged", "1 while a handler runs for more than twice its request's time.",
          place->wedged);
    gauge(&writer, "bypass", "1 while the bypass is on.", nri_core_bypass(core));
    gauge(&writer, "pending_requests", "Requests without an answer.",
          atomic_load(&core->open_count));
    gauge(&writer, "queued_requests", "Requests that wait for the thread of handlers.",
          atomic_load(&core->queued));
    write_totals(&writer, core);
    write_events(&writer, core);
    write_times(&writer, core);
    put(&writer, "# EOF\n");
    return writer.code;
}
