/* SPDX-License-Identifier: Apache-2.0 */
/* The two things that both writers share: strings and line breaks. */
#include <string.h>

#include "base/text.h"
#include "json/document.h"

/* The character behind the backslash; 'u' for those that have no short form; 0 for what needs none.
 */
static char escape_of(uint8_t byte)
{
    switch (byte) {
    case '"':
    case '\\':
        return (char)byte;
    case '\b':
        return 'b';
    case '\f':
        return 'f';
    case '\n':
        return 'n';
    case '\r':
        return 'r';
    case '\t':
        return 't';
    default:
        return byte < 0x20 ? 'u' : '\0';
    }
}

static int put_escape(struct nri_buf *out, uint8_t byte, char escape)
{
    static const char hex[] = "0123456789abcdef";
    char text[6] = {'\\', escape, '0', '0', hex[byte >> 4], hex[byte & 15]};
    return nri_buf_append(out, text, escape == 'u' ? 6 : 2);
}

int nri_json_quote(struct nri_buf *out, const char *text, size_t length)
{
    if (!nri_utf8_valid(text, length, NULL))
        return NRI_E_UTF8;
    int rc = nri_buf_append(out, "\"", 1);
    size_t done = 0;
    for (size_t at = 0; rc == 0 && at < length; at++) {
        char escape = escape_of((uint8_t)text[at]);
        if (escape == '\0')
            continue;
        rc = nri_buf_append(out, text + done, at - done);
        if (rc == 0)
            rc = put_escape(out, (uint8_t)text[at], escape);
        done = at + 1;
    }
    if (rc == 0)
        rc = nri_buf_append(out, text + done, length - done);
    return rc == 0 ? nri_buf_append(out, "\"", 1) : rc;
}

int nri_json_break_line(struct nri_buf *out, unsigned indent, size_t depth)
{
    if (indent == 0)
        return 0;
    if (depth > (SIZE_MAX - 1) / indent)
        return NRI_E_LIMIT;
    size_t blanks = depth * indent;
    uint8_t *room;
    int rc = nri_buf_reserve(out, blanks + 1, &room);
    if (rc != 0)
        return rc;
    room[0] = '\n';
    memset(room + 1, ' ', blanks);
    nri_buf_commit(out, blanks + 1);
    return 0;
}
