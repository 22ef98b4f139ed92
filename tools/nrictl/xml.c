/* SPDX-License-Identifier: Apache-2.0 */
#include "xml.h"

#include <stdbool.h>
#include <string.h>

#include "base/text.h"

/* The length of the character that begins here, when XML 1.0 may hold it; 0: it may not. */
static size_t character(const unsigned char *at, size_t left)
{
    const size_t length = *at < 0x80 ? 1 : *at < 0xe0 ? 2 : *at < 0xf0 ? 3 : 4;
    if (length > left || !nri_utf8_valid((const char *)at, length, NULL))
        return 0;
    if (*at < 0x20 && *at != '\t' && *at != '\n' && *at != '\r')
        return 0;
    /* U+FFFE and U+FFFF. */
    return at[0] == 0xef && length == 3 && at[1] == 0xbf && at[2] >= 0xbe ? 0 : length;
}

static const char *entity(unsigned char byte, bool attribute)
{
    switch (byte) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\r':
        return "&#32;"; /* a reader would make a line break of it */
    case '\n':
    case '\t':
        return attribute ? "&#32;" : NULL;
    default:
        return NULL;
    }
}

static void put(FILE *out, const char *text, size_t left, bool attribute)
{
    const unsigned char *at = (const unsigned char *)text;
    while (left > 0) {
        const size_t length = character(at, left), step = length == 0 ? 1 : length;
        const char *escaped = entity(*at, attribute);
        if (length == 0)
            (void)fputs("\xef\xbf\xbd", out); /* the replacement character */
        else if (escaped != NULL)
            (void)fputs(escaped, out);
        else
            (void)fwrite(at, 1, length, out);
        at += step;
        left -= step;
    }
}

void xml_text(FILE *out, const char *text, size_t length)
{
    put(out, text, length, false);
}

void xml_attribute(FILE *out, const char *name, const char *value)
{
    (void)fprintf(out, " %s=\"", name);
    put(out, value, strlen(value), true);
    (void)fputc('"', out);
}
