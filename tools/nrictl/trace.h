/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A timeline in the Chrome trace event format, which Perfetto opens: its array form, whose closing
 * bracket may be missing. Events are written as they end, so that nothing is kept, and a program
 * that is killed leaves a file that can be read: a line for each event, of which the last one may
 * be cut where SIGKILL came within a write().
 *
 * Processes and threads are rows of the timeline. Ids count over both, so that no reader takes one
 * for another. Times are nanoseconds since the trace's own beginning.
 */
#ifndef NRICTL_TRACE_H
#define NRICTL_TRACE_H

#include "nrictl.h"
#include "json/json.h"

#define TRACE_DEFAULT_MIB 1024
#define TRACE_MOST_MIB    1048576

struct trace;

/* What does not fit into `most_mib` is left out, counted, and told at the end. NRICTL_OK, or a code
 * after a message. */
int trace_open(struct nrictl *ctl, struct trace **out, const char *path, uint64_t most_mib);
/* Closes the array and the file, and frees. NRICTL_OK, or NRICTL_ENVIRONMENT after a message: it is
 * not whole. NULL is ignored. */
int trace_close(struct trace *trace);

/* ---- rows ---- */

uint64_t trace_id(struct trace *trace); /* for a process or a thread */
/* Names may be given again; the last one counts. `sort`: the smallest stands on top. */
void trace_name_process(struct trace *trace, uint64_t process, const char *name, uint64_t sort);
void trace_name_thread(struct trace *trace, uint64_t process, uint64_t thread, const char *name,
                       uint64_t sort);

/*
 * A row that becomes several where slices overlap, which the format does not have: each is put into
 * the first thread that is free at that time. Slices may come late, in another order than that of
 * their times; a thread remembers the last ones that it got.
 */
#define TRACE_REMEMBERED 16

struct trace_span {
    uint64_t begin, end;
};

struct trace_lane {
    uint64_t thread;
    uint64_t last;      /* the latest end */
    uint64_t forgotten; /* the latest end of what is not remembered */
    struct trace_span spans[TRACE_REMEMBERED];
    size_t next;
};

struct trace_row {
    uint64_t process, sort;
    bool in_order; /* slices come in the order of their ends: nothing has to be remembered */
    char name[168];
    struct trace_lane *lanes;
    size_t count;
};
void trace_row_init(struct trace_row *row, uint64_t process, const char *name, uint64_t sort);
void trace_row_fini(struct trace_row *row);
/* Another name, also of the threads that are there. */
void trace_row_rename(struct trace *trace, struct trace_row *row, const char *name);
/* The thread for a slice; 0: no memory, and the trace has failed. */
uint64_t trace_row_thread(struct trace *trace, struct trace_row *row, uint64_t begin, uint64_t end);
/* The first thread, which instants are put into; 0 as there. */
uint64_t trace_row_first(struct trace *trace, struct trace_row *row);

/* ---- events ---- */

struct trace_place {
    uint64_t process, thread;
    uint64_t begin, end; /* of an instant: `begin` */
};

/*
 * A slice, or an instant. Members of its `args` go into the writer that is returned, by
 * trace_text() and the like; trace_end() writes it.
 */
struct nri_json_writer *trace_slice(struct trace *trace, const struct trace_place *place,
                                    const char *category, const char *name);
struct nri_json_writer *trace_instant(struct trace *trace, const struct trace_place *place,
                                      const char *category, const char *name);
void trace_end(struct trace *trace);
/* An arrow between two slices that have been written. */
void trace_flow(struct trace *trace, const struct trace_place *from, const struct trace_place *to,
                const char *name);

/* Members; what is no UTF-8 of another party's gets a ? a byte. */
void trace_text(struct nri_json_writer *writer, const char *key, const char *text);
void trace_bytes(struct nri_json_writer *writer, const char *key, const char *text, size_t length);
void trace_number(struct nri_json_writer *writer, const char *key, uint64_t number);

#endif
