/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include <string.h>

/* The bytes of the sequence that a first byte begins; 0 when no sequence begins with it. */
static size_t sequence_length(uint8_t lead)
{
    if (lead < 0x80)
        return 1;
    if (lead < 0xC2) /* a continuation, or an overlong form of ASCII */
        return 0;
    if (lead < 0xE0)
        return 2;
    if (lead < 0xF0)
        return 3;
    return lead < 0xF5 ? 4 : 0;
}

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Unicode's table 3-7: after four of the first bytes the second has a narrower range than 80..BF.
 */
static bool second_fits(uint8_t lead, uint8_t second)
{
    switch (lead) {
    case 0xE0: /* below is overlong */
        return second >= 0xA0 && second <= 0xBF;
    case 0xED: /* above are surrogates */
        return second >= 0x80 && second <= 0x9F;
    case 0xF0: /* below is overlong */
        return second >= 0x90 && second <= 0xBF;
    case 0xF4: /* above is past U+10FFFF */
        return second >= 0x80 && second <= 0x8F;
    default:
        return is_continuation(second);
    }
}

/* The bytes of the well-formed sequence at `bytes`, of which `left` > 0 are there; 0 when there is
 * none. */
static size_t sequence_at(const uint8_t *bytes, size_t left)
{
    size_t count = sequence_length(bytes[0]);
    if (count <= 1)
        return count;
    if (count > left || !second_fits(bytes[0], bytes[1]))
        return 0;
    for (size_t i = 2; i < count; i++) {
        if (!is_continuation(bytes[i]))
            return 0;
    }
    return count;
}

bool nri_utf8_valid(const char *bytes, size_t length, size_t *bad)
{
    const uint8_t *next = (const uint8_t *)bytes;
    size_t at = 0;
    while (at < length) {
        uint64_t word;
        if (length - at >= sizeof word) {
            memcpy(&word, next + at, sizeof word);
            if ((word & UINT64_C(0x8080808080808080)) == 0) {
                at += sizeof word;
                continue;
            }
        }
        if (next[at] < 0x80) { /* the end of a text is shorter than a word */
            at++;
            continue;
        }
        const size_t count = sequence_at(next + at, length - at);
        if (count == 0) {
            if (bad != NULL)
                *bad = at;
            return false;
        }
        at += count;
    }
    return true;
}

size_t nri_utf8_cut(const char *bytes, size_t length)
{
    const uint8_t *all = (const uint8_t *)bytes;
    size_t at = length;
    /* The last first byte is among the last three, else whatever sequence it begins is complete. */
    for (int i = 0; i < 3 && at > 0; i++) {
        at--;
        if (!is_continuation(all[at]))
            return sequence_length(all[at]) > length - at ? at : length;
    }
    return length;
}

void nri_text_make_line(char *text, size_t length)
{
    uint8_t *bytes = (uint8_t *)text;
    for (size_t at = 0; at < length;) {
        size_t count = sequence_at(bytes + at, length - at);
        if (count == 0) {
            bytes[at++] = '?';
            continue;
        }
        if (count == 1 && (bytes[at] < 0x20 || bytes[at] == 0x7F))
            bytes[at] = ' ';
        else if (count == 2 && bytes[at] == 0xC2 && bytes[at + 1] < 0xA0) /* U+0080 to U+009F */
            memset(bytes + at, ' ', 2);
        at += count;
    }
}
