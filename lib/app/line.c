/* SPDX-License-Identifier: Apache-2.0 */
#include "line.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char cut[] = "...";
#define CUT_LENGTH  (sizeof cut - 1)
#define REPLACEMENT "\xef\xbf\xbd" /* U+FFFD */

void app_line_put(struct app_line *line, const char *text)
{
    const size_t length = strlen(text), room = sizeof line->text - line->length;
    const size_t taken = length < room ? length : room;
    memcpy(line->text + line->length, text, taken);
    line->length += taken;
}

/* The length of the UTF-8 character that a text begins with, and its number; 0 for none. */
static size_t character(const unsigned char *text, uint32_t *number)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least;
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        if ((text[0] & forms[i].mask) != forms[i].lead)
            continue;
        uint32_t value = (uint32_t)text[0] & ~(uint32_t)forms[i].mask;
        for (size_t at = 1; at <= i; at++) {
            if ((text[at] & 0xc0) != 0x80)
                return 0;
            value = value << 6 | (text[at] & 0x3fU);
        }
        if (value < forms[i].least || value > 0x10ffff || (value >= 0xd800 && value < 0xe000))
            return 0;
        *number = value;
        return i + 1;
    }
    return 0;
}

/* One character as it is written, in `out` of 12 bytes; returns how many bytes of text it was. */
static size_t escape(const char *text, int json, char out[12])
{
    uint32_t number = 0;
    const size_t length = character((const unsigned char *)text, &number);
    if (length == 0) {
        memcpy(out, REPLACEMENT, sizeof REPLACEMENT);
        return 1;
    }
    if (number < 0x20 || (number >= 0x7f && number < 0xa0))
        (void)snprintf(out, 12, "\\u%04x", (unsigned)number);
    else if (json && (number == '"' || number == '\\'))
        (void)snprintf(out, 12, "\\%c", (char)number);
    else {
        memcpy(out, text, length);
        out[length] = '\0';
    }
    return length;
}

void app_line_put_text(struct app_line *line, const char *text, int json, size_t limit, size_t end)
{
    const size_t begin = line->length;
    if (end > sizeof line->text)
        end = sizeof line->text;
    if (begin >= end)
        return;
    if (limit > end - begin)
        limit = end - begin;
    size_t fits = begin; /* up to where the mark of a cut has room behind it */
    while (*text != '\0') {
        char out[12];
        text += escape(text, json, out);
        if (line->length - begin + CUT_LENGTH <= limit)
            fits = line->length;
        if (line->length - begin + strlen(out) > limit) {
            line->length = fits;
            if (limit >= CUT_LENGTH)
                app_line_put(line, cut);
            return;
        }
        app_line_put(line, out);
    }
}
