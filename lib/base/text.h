/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts with their length stored in front, and UTF-8.
 *
 * Every string in a decoded or built message is such a text, so that embedded NULs survive reading
 * and lengths cost nothing. The one exception is protobuf-c's shared empty string, which
 * lib/model's nri_text_length() knows.
 */
#ifndef NRI_BASE_TEXT_H
#define NRI_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The header in front of the bytes: uint32_t length, directly in front of the first byte, which is
 * 4-byte aligned or better. */
#define NRI_TEXT_HEADER sizeof(uint32_t)
/* The longest text: with header and NUL it fits both uint32_t and size_t, whatever their widths. */
#define NRI_TEXT_LARGEST (UINT32_MAX - 8)

/* The length of a text made by nri_arena_text(). */
static inline size_t nri_text_stored_length(const char *text)
{
    const uint32_t *header = (const uint32_t *)(const void *)text;
    return header[-1];
}

/* Whether bytes are well-formed UTF-8 (no surrogates, no overlong forms, at most U+10FFFF). NUL is
 * allowed. Fast for ASCII: eight bytes a step. On failure *bad (may be NULL) is the offset of the
 * first bad byte. */
bool nri_utf8_valid(const char *bytes, size_t length, size_t *bad);
/* The largest n <= length at which UTF-8 may be cut. */
size_t nri_utf8_cut(const char *bytes, size_t length);
/* Makes one line of well-formed UTF-8 of text for people, in place: control characters become
 * blanks, and bytes that are not UTF-8 question marks (a Go peer drops a whole message for one such
 * byte). */
void nri_text_make_line(char *text, size_t length);

#endif
