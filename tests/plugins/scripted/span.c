/* SPDX-License-Identifier: Apache-2.0 */
#include "span.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* The end of a string that begins at `at`: behind its closing quote. */
static size_t string_end(const char *text, size_t at)
{
    for (at++; text[at] != '"'; at++) {
        if (text[at] == '\\')
            at++;
    }
    return at + 1;
}

/* The document was parsed, so that brackets match and strings end. */
static size_t value_end(const char *text, size_t at)
{
    size_t depth = 0;
    do {
        const char c = text[at];
        if (c == '"') {
            at = string_end(text, at);
        } else {
            depth += c == '{' || c == '[';
            depth -= c == '}' || c == ']';
            at++;
        }
    } while (depth > 0);
    return at;
}

struct span span_of(const char *text, const nri_value *value)
{
    size_t at = 0;
    for (size_t line = 1; line < nri_value_line(value); line++)
        at += strcspn(text + at, "\n") + 1;
    at += nri_value_column(value) - 1;
    return (struct span){at, value_end(text, at)};
}

size_t span_of_key(const char *text, struct span value)
{
    size_t at = value.begin - 1;
    while (is_blank(text[at]) || text[at] == ':')
        at--;
    do
        at--;
    while (text[at] != '"');
    return at;
}

char *span_in_place(const char *text, struct span span)
{
    char *copy = malloc(span.end + 1);
    if (copy == NULL)
        return NULL;
    memcpy(copy, text, span.end);
    copy[span.end] = '\0';
    for (size_t i = 0; i < span.begin; i++) {
        if (copy[i] != '\n')
            copy[i] = ' ';
    }
    return copy;
}

char *span_copy(const char *text, struct span span)
{
    return strndup(text + span.begin, span.end - span.begin);
}
