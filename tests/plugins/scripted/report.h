/* SPDX-License-Identifier: Apache-2.0 */
/* The report: a file of JSON lines, each written at once, so that a reader never sees half of one
 * for longer than the write. Any thread. */
#ifndef SCRIPTED_REPORT_H
#define SCRIPTED_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct report {
    int fd; /* -1: no report is wanted */
};

/* One line in the making. What does not fit into memory is marked, and then nothing is written but
 * that. */
struct report_line {
    char *text;
    size_t length, room;
    bool failed;
    bool comma; /* one is due before the next member or element */
};

/* Opens (empties, makes) the file; NULL: no report. 0 or an errno. */
int report_open(struct report *report, const char *path);
void report_close(struct report *report);

/* Begins {"what": WHAT, "at_ms": the monotonic clock. */
void report_begin(struct report_line *line, const char *what);
void report_text(struct report_line *line, const char *key, const char *value);
void report_flag(struct report_line *line, const char *key, bool value);
void report_integer(struct report_line *line, const char *key, int64_t value);
/* Nanoseconds as milliseconds with three digits. */
void report_ms(struct report_line *line, const char *key, uint64_t nanoseconds);
/* A list of texts: open, element..., close. */
void report_open_list(struct report_line *line, const char *key);
void report_element(struct report_line *line, const char *value);
void report_close_list(struct report_line *line);
/* Ends the line, writes it, frees it. */
void report_end(struct report *report, struct report_line *line);

/* CLOCK_MONOTONIC in nanoseconds. */
uint64_t report_now(void);

#endif
