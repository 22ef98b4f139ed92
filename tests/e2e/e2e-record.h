/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A record: one line of JSON that tells the test what happened in the plugin.
 */
#ifndef E2E_RECORD_H
#define E2E_RECORD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Begins a record; others wait until record_end(), so that the threads' records stay apart. */
void record_begin(FILE *out, const char *event);
void record_text(FILE *out, const char *key, const char *value);
void record_number(FILE *out, const char *key, int64_t value);
void record_flag(FILE *out, const char *key, bool value);
/* Opens a member that is a list or an object, whose contents follow by record_item() or
 * record_text(). */
void record_open(FILE *out, const char *key, char bracket);
void record_item(FILE *out, const char *value);
void record_close(FILE *out, char bracket);
void record_end(FILE *out);

#endif
