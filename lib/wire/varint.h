/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Varints and fixed-width numbers of protobuf. Inline: they are most of what decoding and encoding
 * do.
 */
#ifndef NRI_WIRE_VARINT_H
#define NRI_WIRE_VARINT_H

#include <stddef.h>
#include <stdint.h>

#define NRI_VARINT_MAX 10 /* bytes of a 64-bit number */

/* By value, so that both stay in registers. `next` is NULL when the varint is cut short or longer
 * than 64 bits. */
struct nri_varint {
    const uint8_t *next; /* the position behind it */
    uint64_t value;
};

struct nri_varint nri_varint_read_long(const uint8_t *at, const uint8_t *end);

static inline struct nri_varint nri_varint_read(const uint8_t *at, const uint8_t *end)
{
    if (at < end && *at < 0x80) {
        return (struct nri_varint){at + 1, *at};
    }
    return nri_varint_read_long(at, end);
}

static inline size_t nri_varint_size(uint64_t value)
{
    size_t size = 1;
    while (value >= 0x80) {
        value >>= 7;
        size++;
    }
    return size;
}

/* Writes a varint; the position behind it. */
static inline uint8_t *nri_varint_write(uint8_t *at, uint64_t value)
{
    while (value >= 0x80) {
        *at++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *at = (uint8_t)value;
    return at + 1;
}

/* -1 is 1, 1 is 2: small numbers of either sign are short (sint32, sint64). */
static inline uint64_t nri_zigzag(int64_t value)
{
    return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

static inline int64_t nri_unzigzag(uint64_t value)
{
    return (int64_t)(value >> 1 ^ ((value & 1) != 0 ? UINT64_MAX : 0));
}

/* `size` bytes, 4 or 8, the least significant first. */
static inline uint64_t nri_fixed_read(const uint8_t *at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) {
        value |= (uint64_t)at[i] << 8 * i;
    }
    return value;
}

static inline void nri_fixed_write(uint8_t *at, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++) {
        at[i] = (uint8_t)(value >> 8 * i);
    }
}

#endif
