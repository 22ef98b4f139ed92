/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables for people: columns as wide as their widest cell.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"

static bool grow(struct print_table *table)
{
    if (table->rows < table->capacity)
        return true;
    const size_t capacity = table->capacity == 0 ? 16 : 2 * table->capacity;
    const size_t cells = capacity * table->columns;
    char **texts = reallocarray(table->cells, cells, sizeof *texts);
    if (texts == NULL)
        return false;
    table->cells = texts;
    unsigned char *colours = reallocarray(table->colours, cells, sizeof *colours);
    if (colours == NULL)
        return false;
    table->colours = colours;
    table->capacity = capacity;
    return true;
}

void print_table_row(struct print_table *table)
{
    if (table->failed || !grow(table)) {
        table->failed = true;
        return;
    }
    const size_t at = table->rows++ * table->columns;
    for (size_t i = 0; i < table->columns; i++) {
        table->cells[at + i] = NULL;
        table->colours[at + i] = PRINT_PLAIN;
    }
}

void print_table_cell(struct print_table *table, size_t column, enum print_colour colour,
                      const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    if (table->failed || table->rows == 0 || column >= table->columns)
        return;
    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) {
        text = NULL;
        table->failed = true;
    }
    va_end(arguments);
    const size_t at = (table->rows - 1) * table->columns + column;
    free(table->cells[at]);
    table->cells[at] = text;
    table->colours[at] = (unsigned char)colour;
}

void print_table_begin(struct print_table *table, size_t columns, const char *const *titles)
{
    memset(table, 0, sizeof *table);
    table->columns = columns < PRINT_COLUMNS ? columns : PRINT_COLUMNS;
    print_table_row(table);
    for (size_t i = 0; i < table->columns; i++)
        print_table_cell(table, i, PRINT_BOLD, "%s", titles[i]);
}

/* Characters, not bytes: what a terminal shows of UTF-8, wide characters left out. */
static size_t width(const char *text)
{
    size_t count = 0;
    for (; *text != '\0'; text++) {
        if (((unsigned char)*text & 0xc0) != 0x80)
            count++;
    }
    return count;
}

static void print_cell(struct nrictl *ctl, const struct print_table *table, size_t at, size_t wide)
{
    const size_t column = at % table->columns;
    const char *text = table->cells[at] != NULL ? table->cells[at] : "";
    const enum print_colour colour = table->colours[at];
    const int blanks = (int)(wide - width(text));
    const bool last = column + 1 == table->columns;
    if (table->right[column])
        (void)fprintf(ctl->out, "%*s", blanks, "");
    if (colour != PRINT_PLAIN)
        (void)fputs(print_colour(ctl, colour), ctl->out);
    print_text(ctl->out, text, strlen(text));
    if (colour != PRINT_PLAIN)
        (void)fputs(print_colour(ctl, PRINT_PLAIN), ctl->out);
    if (!table->right[column] && !last)
        (void)fprintf(ctl->out, "%*s", blanks, "");
    (void)fputs(last ? "\n" : "  ", ctl->out);
}

int print_table_end(struct nrictl *ctl, struct print_table *table)
{
    size_t wide[PRINT_COLUMNS] = {0};
    const size_t cells = table->rows * table->columns;
    for (size_t i = 0; i < cells; i++) {
        const size_t own = table->cells[i] != NULL ? width(table->cells[i]) : 0;
        if (own > wide[i % table->columns])
            wide[i % table->columns] = own;
    }
    for (size_t i = 0; i < cells && !table->failed; i++)
        print_cell(ctl, table, i, wide[i % table->columns]);
    for (size_t i = 0; i < cells; i++)
        free(table->cells[i]);
    free(table->cells);
    free(table->colours);
    return table->failed ? nrictl_fail(ctl, NRICTL_ENVIRONMENT, "no memory for a table")
                         : NRICTL_OK;
}
