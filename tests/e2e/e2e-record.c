/* SPDX-License-Identifier: Apache-2.0 */
#include "e2e-record.h"

#include <pthread.h>
#include <time.h>

/* One record at a time. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Whether a comma is due: JSON wants one in front of each member but the first of a list or
 * object. */
static bool comma_due;

static void put_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (const unsigned char *byte = (const unsigned char *)text; *byte != 0; byte++) {
        if (*byte == '"' || *byte == '\\') {
            fprintf(out, "\\%c", *byte);
        } else if (*byte < 0x20) {
            fprintf(out, "\\u%04x", *byte);
        } else {
            fputc(*byte, out);
        }
    }
    fputc('"', out);
}

static void put_comma(FILE *out)
{
    if (comma_due) {
        fputs(", ", out);
    }
    comma_due = true;
}

static void put_key(FILE *out, const char *key)
{
    put_comma(out);
    put_string(out, key);
    fputs(": ", out);
}

void record_begin(FILE *out, const char *event)
{
    pthread_mutex_lock(&lock);
    fputc('{', out);
    comma_due = false;
    record_text(out, "event", event);
    struct timespec now;
    if (clock_gettime(CLOCK_MONOTONIC, &now) == 0) {
        record_number(out, "t", (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    }
}

void record_text(FILE *out, const char *key, const char *value)
{
    put_key(out, key);
    put_string(out, value);
}

void record_number(FILE *out, const char *key, int64_t value)
{
    put_key(out, key);
    fprintf(out, "%lld", (long long)value);
}

void record_flag(FILE *out, const char *key, bool value)
{
    put_key(out, key);
    fputs(value ? "true" : "false", out);
}

void record_open(FILE *out, const char *key, char bracket)
{
    put_key(out, key);
    fputc(bracket, out);
    comma_due = false;
}

void record_item(FILE *out, const char *value)
{
    put_comma(out);
    put_string(out, value);
}

void record_close(FILE *out, char bracket)
{
    fputc(bracket, out);
    comma_due = true;
}

void record_end(FILE *out)
{
    fputs("}\n", out);
    fflush(out);
    pthread_mutex_unlock(&lock);
}
