/* SPDX-License-Identifier: Apache-2.0 */
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

uint64_t report_now(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int report_open(struct report *report, const char *path)
{
    report->fd = -1;
    if (path == NULL)
        return 0;
    /* Appending: a line of one thread must not land in another's. */
    report->fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    return report->fd < 0 ? errno : 0;
}

void report_close(struct report *report)
{
    if (report->fd >= 0)
        (void)close(report->fd);
    report->fd = -1;
}

/* ---- a line ---- */

static void put(struct report_line *line, const char *text, size_t length)
{
    if (!line->failed && line->room - line->length < length) {
        const size_t room = 2 * (line->length + length) + 256;
        char *grown = realloc(line->text, room);
        line->failed = grown == NULL;
        if (grown != NULL) {
            line->text = grown;
            line->room = room;
        }
    }
    if (!line->failed) {
        memcpy(line->text + line->length, text, length);
        line->length += length;
    }
}

static void put_text(struct report_line *line, const char *text)
{
    put(line, text, strlen(text));
}

static void put_quoted(struct report_line *line, const char *text)
{
    put_text(line, "\"");
    for (; *text != '\0'; text++) {
        const unsigned char byte = (unsigned char)*text;
        char escaped[8];
        if (byte == '"' || byte == '\\')
            (void)snprintf(escaped, sizeof escaped, "\\%c", byte);
        else if (byte < 0x20)
            (void)snprintf(escaped, sizeof escaped, "\\u%04x", byte);
        else
            (void)snprintf(escaped, sizeof escaped, "%c", byte);
        put_text(line, escaped);
    }
    put_text(line, "\"");
}

static void put_comma(struct report_line *line)
{
    if (line->comma)
        put_text(line, ", ");
    line->comma = true;
}

static void put_key(struct report_line *line, const char *key)
{
    put_comma(line);
    put_quoted(line, key);
    put_text(line, ": ");
}

void report_begin(struct report_line *line, const char *what)
{
    *line = (struct report_line){0};
    put_text(line, "{");
    report_text(line, "what", what);
    report_ms(line, "at_ms", report_now());
}

void report_text(struct report_line *line, const char *key, const char *value)
{
    put_key(line, key);
    put_quoted(line, value);
}

void report_flag(struct report_line *line, const char *key, bool value)
{
    put_key(line, key);
    put_text(line, value ? "true" : "false");
}

void report_integer(struct report_line *line, const char *key, int64_t value)
{
    char text[32];
    put_key(line, key);
    (void)snprintf(text, sizeof text, "%" PRId64, value);
    put_text(line, text);
}

void report_ms(struct report_line *line, const char *key, uint64_t nanoseconds)
{
    char text[40];
    put_key(line, key);
    (void)snprintf(text, sizeof text, "%" PRIu64 ".%03u", nanoseconds / 1000000,
                   (unsigned)(nanoseconds / 1000 % 1000));
    put_text(line, text);
}

void report_open_list(struct report_line *line, const char *key)
{
    put_key(line, key);
    put_text(line, "[");
    line->comma = false;
}

void report_element(struct report_line *line, const char *value)
{
    put_comma(line);
    put_quoted(line, value);
}

void report_close_list(struct report_line *line)
{
    put_text(line, "]");
    line->comma = true;
}

void report_end(struct report *report, struct report_line *line)
{
    put_text(line, "}\n");
    const char *text = line->failed ? "{\"what\": \"no memory\"}\n" : line->text;
    size_t left = line->failed ? strlen(text) : line->length;
    while (report->fd >= 0 && left > 0) {
        const ssize_t count = write(report->fd, text, left);
        if (count < 0 && errno != EINTR)
            break; /* the reader is gone, or the disk is full: nobody is left to tell */
        if (count > 0) {
            text += count;
            left -= (size_t)count;
        }
    }
    free(line->text);
}
