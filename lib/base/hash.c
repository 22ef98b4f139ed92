/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

struct sip {
    uint64_t v0, v1, v2, v3;
};

static uint64_t rotate(uint64_t x, unsigned bits)
{
    return x << bits | x >> (64 - bits);
}

/* This and what calls it inlined, which compilers would not do by themselves: a state cache hashes
 * every byte that a Synchronize tells. */
static inline __attribute__((always_inline)) void sip_round(struct sip *s)
{
    s->v0 += s->v1;
    s->v2 += s->v3;
    s->v1 = rotate(s->v1, 13) ^ s->v0;
    s->v3 = rotate(s->v3, 16) ^ s->v2;
    s->v0 = rotate(s->v0, 32);
    s->v2 += s->v1;
    s->v0 += s->v3;
    s->v1 = rotate(s->v1, 17) ^ s->v2;
    s->v3 = rotate(s->v3, 21) ^ s->v0;
    s->v2 = rotate(s->v2, 32);
}

static inline __attribute__((always_inline)) void sip_word(struct sip *s, uint64_t word)
{
    s->v3 ^= word;
    sip_round(s);
    sip_round(s);
    s->v0 ^= word;
}

/* Little-endian on every machine, so that the test vectors hold on every machine; compilers make
 * one load of it. */
static uint64_t load(const uint8_t *b)
{
    return (uint64_t)b[0] | (uint64_t)b[1] << 8 | (uint64_t)b[2] << 16 | (uint64_t)b[3] << 24 |
           (uint64_t)b[4] << 32 | (uint64_t)b[5] << 40 | (uint64_t)b[6] << 48 |
           (uint64_t)b[7] << 56;
}

/* The last bytes, fewer than eight, and the length. */
static uint64_t load_end(const uint8_t *bytes, size_t count, size_t length)
{
    uint64_t word = (uint64_t)length << 56;
    while (count-- > 0)
        word |= (uint64_t)bytes[count] << (8 * count);
    return word;
}

uint64_t nri_hash(const uint64_t seed[2], const void *bytes, size_t length)
{
    struct sip s = {
        .v0 = seed[0] ^ UINT64_C(0x736f6d6570736575),
        .v1 = seed[1] ^ UINT64_C(0x646f72616e646f6d),
        .v2 = seed[0] ^ UINT64_C(0x6c7967656e657261),
        .v3 = seed[1] ^ UINT64_C(0x7465646279746573),
    };
    const uint8_t *next = bytes;
    size_t left = length;
    for (; left >= 8; left -= 8, next += 8)
        sip_word(&s, load(next));
    sip_word(&s, load_end(next, left, length));
    s.v2 ^= 0xff;
    for (int i = 0; i < 4; i++)
        sip_round(&s);
    return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}
