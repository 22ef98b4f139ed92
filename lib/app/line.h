/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One line of the log as it is written: bounded, without anything that could end it early, that a
 * terminal would obey, or that is no UTF-8.
 */
#ifndef NRI_APP_LINE_H
#define NRI_APP_LINE_H

#include <stddef.h>

/* What a pipe takes in one piece (PIPE_BUF on Linux), so that lines of several writers never mix.
 */
#define APP_LINE_SIZE 4096

struct app_line {
    char text[APP_LINE_SIZE];
    size_t length;
};

/* What is put as it is; what does not fit is left away. */
void app_line_put(struct app_line *line, const char *text);
/*
 * What somebody else wrote: control characters as \uNNNN, what is no UTF-8 as U+FFFD, and with
 * `json` quotes and backslashes escaped. At most `limit` bytes, the line never longer than `end`;
 * cut with "..." beyond.
 */
void app_line_put_text(struct app_line *line, const char *text, int json, size_t limit, size_t end);

#endif
