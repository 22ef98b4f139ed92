/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Making a text of base/text.h from bytes that may not be UTF-8: copying and looking at the bytes
 * is one step for ASCII, which nearly all texts are.
 */
#ifndef NRI_WIRE_TEXT_H
#define NRI_WIRE_TEXT_H

#include <string.h>

#include "base/arena.h"
#include "base/text.h"

#define NRI_HIGH_BITS UINT64_C(0x8080808080808080)

static inline uint64_t nri_ascii_word(char *to, const uint8_t *from)
{
    uint64_t word;
    memcpy(&word, from, sizeof word);
    memcpy(to, &word, sizeof word);
    return word;
}

/* Copies and returns bits of NRI_HIGH_BITS when any byte is not ASCII. Ends overlap: it takes no
 * loop to get them right. */
static inline uint64_t nri_ascii_copy(char *to, const uint8_t *from, size_t size)
{
    const size_t word = sizeof(uint64_t);
    uint64_t seen = 0;
    uint32_t half;
    if (size >= word) {
        for (; size > 2 * word; size -= 2 * word) {
            seen |= nri_ascii_word(to + size - word, from + size - word);
            seen |= nri_ascii_word(to + size - 2 * word, from + size - 2 * word);
        }
        if (size > word) {
            seen |= nri_ascii_word(to + size - word, from + size - word);
        }
        return (seen | nri_ascii_word(to, from)) & NRI_HIGH_BITS;
    }
    if (size >= sizeof half) {
        memcpy(&half, from, sizeof half);
        memcpy(to, &half, sizeof half);
        seen = half;
        memcpy(&half, from + size - sizeof half, sizeof half);
        memcpy(to + size - sizeof half, &half, sizeof half);
        return (seen | half) & NRI_HIGH_BITS;
    }
    for (size_t i = 0; i < size; i++) {
        to[i] = (char)from[i];
        seen |= from[i];
    }
    return seen & NRI_HIGH_BITS;
}

/* A text of `size` bytes (1 to UINT32_MAX); NULL with arena->failure set. Bits in *high: see
 * whether it is UTF-8. */
static inline char *nri_text_copy(struct nri_arena *arena, const uint8_t *from, size_t size,
                                  uint64_t *high)
{
    _Static_assert(NRI_TEXT_HEADER == sizeof(uint32_t), "the length in front is a uint32_t");
    uint32_t *header = nri_arena_alloc(arena, sizeof *header + size + 1);
    if (header == NULL) {
        return NULL;
    }
    char *text = (char *)(header + 1);
    *header = (uint32_t)size;
    *high = nri_ascii_copy(text, from, size);
    text[size] = '\0';
    return text;
}

#endif
