/* SPDX-License-Identifier: Apache-2.0 */
#include "model/quote.h"

#include <stdio.h>
#include <string.h>

#include "base/text.h"

/* The UTF-8 character at the start of a text: its length, or 0 when there is none. */
static size_t character_length(const char *text)
{
    for (size_t length = 1; length <= 4; length++) {
        if (text[length - 1] == '\0')
            return 0;
        if (nri_utf8_valid(text, length, NULL))
            return length;
    }
    return 0;
}

/* Writes one character, or one escaped byte, to `out`; *used is how much of the text that was. */
static size_t write_one(char out[8], const char *text, size_t *used)
{
    unsigned char first = (unsigned char)text[0];
    size_t length = character_length(text);
    *used = length == 0 ? 1 : length;
    if (length == 0 || first < 0x20 || first == 0x7f)
        return (size_t)snprintf(out, 8, "\\x%02x", first);
    size_t escape = first == '"' || first == '\\';
    if (escape)
        out[0] = '\\';
    memcpy(out + escape, text, length);
    return escape + length;
}

const char *nri_quote(struct nri_quote *quote, const char *text)
{
    char *out = quote->text;
    size_t length = 1, used = 0;
    if (text == NULL)
        return "NULL";
    out[0] = '"';
    for (; *text != '\0'; text += used) {
        char piece[8];
        size_t count = write_one(piece, text, &used);
        if (length + count > 1 + NRI_QUOTE_LENGTH)
            break;
        memcpy(out + length, piece, count);
        length += count;
    }
    const char *end = *text == '\0' ? "\"" : "...\"";
    memcpy(out + length, end, strlen(end) + 1);
    return out;
}
