/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Happy path: an event is made in `piece`; when it is whole it is added to `out`, which is written
 * when it is large, or the last writing was long ago. Failure modes: no memory and a file that
 * cannot be written end all further writing, and trace_close() tells; beyond the limit events are
 * counted only.
 */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

#include "base/text.h"
#include "memory.h"

#define LARGE      65536
#define LONG_AGO   ((uint64_t)250 * 1000000) /* ns */
#define KEEP       65536
#define LANES_MOST 262144

struct trace {
    struct nrictl *ctl;
    char *path;
    int fd;
    uint64_t ids, flows, events, left_out;
    uint64_t size, most; /* bytes */
    uint64_t written_at;
    struct nri_buf piece, out;
    struct nri_json_writer writer;
    int code;  /* NRI_E_NOMEM, or NRI_E_IO with `error` */
    int error; /* errno */
};

/* ---- the file ---- */

static void write_out(struct trace *trace)
{
    const char *at = memory_text(&trace->out);
    size_t left = nri_buf_size(&trace->out);
    trace->written_at = uv_hrtime();
    while (left > 0 && trace->code == 0) {
        const ssize_t n = write(trace->fd, at, left);
        if (n < 0 && errno != EINTR) {
            trace->code = NRI_E_IO;
            trace->error = errno;
        } else if (n > 0) {
            at += n;
            left -= (size_t)n;
        }
    }
    nri_buf_reset(&trace->out, 2 * LARGE);
}

static void take_code(struct trace *trace, int code)
{
    if (trace->code == 0)
        trace->code = code;
}

static void put(struct trace *trace, const char *text, size_t length)
{
    take_code(trace, nri_buf_append(&trace->piece, text, length));
}

static void put_format(struct trace *trace, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void put_format(struct trace *trace, const char *format, ...)
{
    char text[160];
    va_list arguments;
    va_start(arguments, format);
    const int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    put(trace, text, length < 0 ? 0 : (size_t)length);
}

int trace_open(struct nrictl *ctl, struct trace **out, const char *path, uint64_t most_mib)
{
    struct trace *trace = calloc(1, sizeof *trace);
    char *copy = strdup(path);
    if (trace == NULL || copy == NULL) {
        free(trace);
        free(copy);
        return nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory");
    }
    trace->ctl = ctl;
    trace->path = copy;
    trace->most = most_mib << 20;
    trace->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (trace->fd < 0) {
        const int code =
            nrictl_fail(ctl,
                        errno == ENOENT || errno == ENOTDIR || errno == EISDIR ? NRICTL_USAGE
                                                                               : NRICTL_ENVIRONMENT,
                        "%s: %s", path, strerror(errno));
        free(copy);
        free(trace);
        return code;
    }
    memory_buf(&trace->piece, SIZE_MAX);
    memory_buf(&trace->out, SIZE_MAX);
    take_code(trace, nri_buf_append(&trace->out, "[", 1));
    write_out(trace);
    *out = trace;
    return NRICTL_OK;
}

int trace_close(struct trace *trace)
{
    int code = NRICTL_OK;
    if (trace == NULL)
        return code;
    struct nrictl *ctl = trace->ctl;
    take_code(trace, nri_buf_append(&trace->out, "\n]\n", 3));
    write_out(trace);
    if (close(trace->fd) != 0 && trace->code == 0) {
        trace->code = NRI_E_IO;
        trace->error = errno;
    }
    if (trace->code != 0)
        code = nrictl_fail(ctl, NRICTL_ENVIRONMENT, "%s: it is not whole: %s", trace->path,
                           trace->code == NRI_E_IO ? strerror(trace->error)
                                                   : nri_strerror(trace->code));
    else if (trace->left_out > 0)
        (void)nrictl_fail(ctl, 0,
                          "%s: %" PRIu64 " events are left out, which did not fit into %" PRIu64
                          " MiB; see --trace-size",
                          trace->path, trace->left_out, trace->most >> 20);
    nri_buf_fini(&trace->piece);
    nri_buf_fini(&trace->out);
    free(trace->path);
    free(trace);
    return code;
}

/* ---- pieces of an event ---- */

static void write_text(struct nri_json_writer *writer, const char *text, size_t length)
{
    if (nri_utf8_valid(text, length, NULL)) {
        nri_json_write_string(writer, text, length);
        return;
    }
    char clean[256];
    const size_t count = length < sizeof clean ? length : sizeof clean;
    for (size_t i = 0; i < count; i++)
        clean[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
    nri_json_write_string(writer, clean, count);
}

void trace_bytes(struct nri_json_writer *writer, const char *key, const char *text, size_t length)
{
    nri_json_write_key(writer, key, strlen(key));
    write_text(writer, text, length);
}

void trace_text(struct nri_json_writer *writer, const char *key, const char *text)
{
    trace_bytes(writer, key, text, strlen(text));
}

void trace_number(struct nri_json_writer *writer, const char *key, uint64_t number)
{
    nri_json_write_key(writer, key, strlen(key));
    nri_json_write_uint64(writer, number);
}

/* Microseconds with three digits behind the point: no nanosecond is lost. */
static void put_time(struct trace *trace, const char *key, uint64_t nanoseconds)
{
    put_format(trace, ",\"%s\":%" PRIu64 ".%03u", key, nanoseconds / 1000,
               (unsigned)(nanoseconds % 1000));
}

static void put_string(struct trace *trace, const char *key, const char *text)
{
    struct nri_json_writer writer;
    put_format(trace, ",\"%s\":", key);
    nri_json_writer_init(&writer, &trace->piece, 0);
    write_text(&writer, text, strlen(text));
    take_code(trace, nri_json_writer_end(&writer));
}

static void begin(struct trace *trace, const char *phase, uint64_t process, uint64_t thread)
{
    nri_buf_reset(&trace->piece, KEEP);
    put_format(trace, "%s\n{\"ph\":\"%s\",\"pid\":%" PRIu64 ",\"tid\":%" PRIu64,
               trace->events == 0 ? "" : ",", phase, process, thread);
}

static struct nri_json_writer *begin_args(struct trace *trace)
{
    put(trace, ",\"args\":", 8);
    nri_json_writer_init(&trace->writer, &trace->piece, 0);
    nri_json_begin_object(&trace->writer);
    return &trace->writer;
}

static void finish(struct trace *trace)
{
    put(trace, "}", 1);
    const size_t size = nri_buf_size(&trace->piece);
    if (trace->code != 0)
        return;
    if (trace->left_out > 0 || trace->size + size > trace->most) {
        trace->left_out++;
        return;
    }
    trace->size += size;
    trace->events++;
    take_code(trace, nri_buf_append(&trace->out, memory_text(&trace->piece), size));
    if (nri_buf_size(&trace->out) >= LARGE || uv_hrtime() - trace->written_at >= LONG_AGO)
        write_out(trace);
}

void trace_end(struct trace *trace)
{
    nri_json_end_object(&trace->writer);
    take_code(trace, nri_json_writer_end(&trace->writer));
    finish(trace);
}

/* ---- events ---- */

struct nri_json_writer *trace_slice(struct trace *trace, const struct trace_place *place,
                                    const char *category, const char *name)
{
    begin(trace, "X", place->process, place->thread);
    put_time(trace, "ts", place->begin);
    put_time(trace, "dur", place->end > place->begin ? place->end - place->begin : 0);
    put_string(trace, "cat", category);
    put_string(trace, "name", name);
    return begin_args(trace);
}

struct nri_json_writer *trace_instant(struct trace *trace, const struct trace_place *place,
                                      const char *category, const char *name)
{
    begin(trace, "i", place->process, place->thread);
    put_time(trace, "ts", place->begin);
    put(trace, ",\"s\":\"t\"", 8);
    put_string(trace, "cat", category);
    put_string(trace, "name", name);
    return begin_args(trace);
}

static void put_end_of_flow(struct trace *trace, const char *phase, const struct trace_place *place,
                            const char *name)
{
    begin(trace, phase, place->process, place->thread);
    put_time(trace, "ts", place->begin);
    put_format(trace, ",\"id\":%" PRIu64 "%s", trace->flows,
               phase[0] == 'f' ? ",\"bp\":\"e\"" : "");
    put_string(trace, "cat", "chain");
    put_string(trace, "name", name);
    finish(trace);
}

void trace_flow(struct trace *trace, const struct trace_place *from, const struct trace_place *to,
                const char *name)
{
    trace->flows++;
    put_end_of_flow(trace, "s", from, name);
    put_end_of_flow(trace, "f", to, name);
}

/* ---- rows ---- */

uint64_t trace_id(struct trace *trace)
{
    return ++trace->ids;
}

static void name_row(struct trace *trace, const char *what, uint64_t process, uint64_t thread,
                     const char *name)
{
    begin(trace, "M", process, thread);
    put_string(trace, "name", what);
    trace_text(begin_args(trace), "name", name);
    trace_end(trace);
}

static void sort_row(struct trace *trace, const char *what, uint64_t process, uint64_t thread,
                     uint64_t sort)
{
    begin(trace, "M", process, thread);
    put_string(trace, "name", what);
    trace_number(begin_args(trace), "sort_index", sort);
    trace_end(trace);
}

void trace_name_process(struct trace *trace, uint64_t process, const char *name, uint64_t sort)
{
    name_row(trace, "process_name", process, process, name);
    sort_row(trace, "process_sort_index", process, process, sort);
}

void trace_name_thread(struct trace *trace, uint64_t process, uint64_t thread, const char *name,
                       uint64_t sort)
{
    name_row(trace, "thread_name", process, thread, name);
    sort_row(trace, "thread_sort_index", process, thread, sort);
}

void trace_row_init(struct trace_row *row, uint64_t process, const char *name, uint64_t sort)
{
    *row = (struct trace_row){.process = process, .sort = sort};
    (void)snprintf(row->name, sizeof row->name, "%s", name);
}

void trace_row_fini(struct trace_row *row)
{
    free(row->lanes);
}

static void name_lane(struct trace *trace, const struct trace_row *row, size_t lane)
{
    char name[sizeof row->name + 32];
    (void)snprintf(name, sizeof name, lane == 0 ? "%s" : "%s (%zu)", row->name, lane + 1);
    trace_name_thread(trace, row->process, row->lanes[lane].thread, name, row->sort);
}

void trace_row_rename(struct trace *trace, struct trace_row *row, const char *name)
{
    (void)snprintf(row->name, sizeof row->name, "%s", name);
    for (size_t i = 0; i < row->count; i++)
        name_lane(trace, row, i);
}

static struct trace_lane *add_lane(struct trace *trace, struct trace_row *row)
{
    const bool full = (row->count & (row->count - 1)) == 0; /* 0, 1, 2, 4, ... have no room */
    struct trace_lane *lanes = row->lanes;
    if (full)
        lanes = row->count >= LANES_MOST
                    ? NULL
                    : reallocarray(lanes, row->count == 0 ? 1 : 2 * row->count, sizeof *lanes);
    if (lanes == NULL) {
        take_code(trace, NRI_E_NOMEM);
        return NULL;
    }
    row->lanes = lanes;
    row->lanes[row->count] = (struct trace_lane){.thread = trace_id(trace)};
    name_lane(trace, row, row->count);
    return &row->lanes[row->count++];
}

uint64_t trace_row_first(struct trace *trace, struct trace_row *row)
{
    const struct trace_lane *lane = row->count > 0 ? row->lanes : add_lane(trace, row);
    return lane == NULL ? 0 : lane->thread;
}

static bool is_free(const struct trace_row *row, const struct trace_lane *lane,
                    const struct trace_span *span)
{
    if (lane->last <= span->begin)
        return true;
    if (row->in_order || lane->forgotten > span->begin)
        return false;
    for (size_t i = 0; i < TRACE_REMEMBERED; i++) {
        if (lane->spans[i].begin < span->end && span->begin < lane->spans[i].end)
            return false;
    }
    return true;
}

static void occupy(struct trace_lane *lane, const struct trace_span *span)
{
    struct trace_span *kept = &lane->spans[lane->next];
    if (lane->forgotten < kept->end)
        lane->forgotten = kept->end;
    *kept = *span;
    lane->next = (lane->next + 1) % TRACE_REMEMBERED;
    if (lane->last < span->end)
        lane->last = span->end;
}

uint64_t trace_row_thread(struct trace *trace, struct trace_row *row, uint64_t begin_at,
                          uint64_t end_at)
{
    const struct trace_span span = {begin_at, end_at};
    struct trace_lane *lane = NULL;
    for (size_t i = 0; lane == NULL && i < row->count; i++) {
        if (is_free(row, &row->lanes[i], &span))
            lane = &row->lanes[i];
    }
    if (lane == NULL)
        lane = add_lane(trace, row);
    if (lane == NULL)
        return 0;
    occupy(lane, &span);
    return lane->thread;
}
