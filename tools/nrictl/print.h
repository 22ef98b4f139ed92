/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results: JSON documents, coloured text, tables.
 */
#ifndef NRICTL_PRINT_H
#define NRICTL_PRINT_H

#include "nrictl.h"
#include "json/json.h"

/* ---- colours: nothing where ctl->colour is off ---- */

enum print_colour {
    PRINT_PLAIN,
    PRINT_RED,
    PRINT_GREEN,
    PRINT_YELLOW,
    PRINT_BLUE,
    PRINT_BOLD,
    PRINT_DIM
};

/* The sequence that switches to a colour, "" without colours. */
const char *print_colour(const struct nrictl *ctl, enum print_colour colour);
/*
 * Text of another party (a plugin, a file): what a terminal would obey is written as an escape, so
 * that a name cannot move the cursor or hide a line.
 */
void print_text(FILE *out, const char *text, size_t length);
void print_text_line(FILE *out, const char *text); /* with a line break */
/* A JSON document: the controls that JSON allows, DEL and C1, are written as its own escapes. */
void print_document(FILE *out, const char *text, size_t length);

/* ---- JSON ---- */

/* A writer with a growing buffer; print_json_end() writes it with a line break and frees it. */
struct print_json {
    struct nri_buf buf;
    struct nri_json_writer writer;
};
void print_json_begin(struct print_json *json, unsigned indent);
/* NRICTL_OK, or NRICTL_ENVIRONMENT after a message. */
int print_json_end(struct nrictl *ctl, struct print_json *json);
/* Members of the object that is open. */
void print_json_text(struct print_json *json, const char *key, const char *value); /* NULL: null */
void print_json_number(struct print_json *json, const char *key, uint64_t value);
void print_json_bool(struct print_json *json, const char *key, bool value);
void print_json_key(struct print_json *json, const char *key);
/* A whole document as the value that is due; its numbers have to be whole. */
void print_json_value(struct print_json *json, const struct nri_json *value);

/* ---- tables ---- */

#define PRINT_COLUMNS 16

/* Rows are kept until print_table_end(), which knows how wide each column is. */
struct print_table {
    size_t columns, rows, capacity;
    char **cells; /* rows times columns; owned */
    unsigned char *colours;
    bool right[PRINT_COLUMNS]; /* numbers stand at the right; to be set before the end */
    bool failed;               /* no memory: print_table_end() says so */
};
/* The first row: `titles` are `columns` texts. */
void print_table_begin(struct print_table *table, size_t columns, const char *const *titles);
void print_table_cell(struct print_table *table, size_t column, enum print_colour colour,
                      const char *format, ...) __attribute__((format(printf, 4, 5)));
void print_table_row(struct print_table *table); /* what cells follow are of a new row */
int print_table_end(struct nrictl *ctl, struct print_table *table); /* prints and frees */

#endif
