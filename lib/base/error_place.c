/* SPDX-License-Identifier: Apache-2.0 */
/* Errors about a place in a text. Apart from error.c, which every plugin holds: only what reads
 * texts needs these. */
#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"

size_t nri_error_line(const nri_error *error)
{
    return error == NULL ? 0 : error->place.line;
}

size_t nri_error_column(const nri_error *error)
{
    return error == NULL ? 0 : error->place.column;
}

/* Nobody looks there. */
static uint32_t cut(size_t number)
{
    return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

int nri_error_set_at(struct nri_error *error, int code, const char *name, size_t line,
                     size_t column, const char *format, ...)
{
    char text[NRI_ERROR_TEXT_SIZE];
    va_list arguments;
    va_start(arguments, format);
    (void)nri_error_format(text, format, arguments);
    va_end(arguments);
    nri_error_set(error, code, "%s:%zu:%zu: %s", name, line, column, text);
    if (error != NULL)
        error->place = (struct nri_error_place){cut(line), cut(column)};
    return code;
}
