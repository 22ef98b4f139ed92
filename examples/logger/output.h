/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines on standard output, for a program that must not wait: a runtime drops a plugin that keeps
 * it waiting, and containers must start whether or not somebody reads the log.
 */
#ifndef LOGGER_OUTPUT_H
#define LOGGER_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>

struct output {
    bool failing; /* the last line could not be written: the next one is not waited for */
    bool cut;     /* and the beginning of it was */
};

/*
 * Writes a line of `length` bytes and a newline, whole. 0, or an errno: ETIMEDOUT when the reader
 * of a pipe is behind by more than half a second, EINTR after a signal. SIGPIPE must be ignored.
 */
int output_line(struct output *output, const char *line, size_t length);

#endif
