/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An arena: memory that goes all at once, with a limit. One a request: decoding, builders and the
 * reply live in it, and a reset keeps the first chunk, so that the steady state allocates nothing.
 */
#ifndef NRI_BASE_ARENA_H
#define NRI_BASE_ARENA_H

#include "base/alloc.h"

struct nri_arena_chunk;

struct nri_arena {
    struct nri_alloc alloc;
    struct nri_arena_chunk *first;   /* kept by a reset */
    struct nri_arena_chunk *current; /* where the next piece comes from */
    uint8_t *next, *end;             /* free room in `current` */
    size_t chunk_size; /* of the first chunk; later ones double up to 1 MiB, or fit a large piece */
    size_t taken;      /* bytes of all chunks */
    size_t limit;      /* `taken` never exceeds this */
    struct nri_arena_chunk *spare; /* of nri_arena_reserve(); NULL while nothing is set aside */
    int failure; /* 0, NRI_E_NOMEM or NRI_E_LIMIT: why the last allocation failed; cleared by a
                    reset */
};

/* No memory is taken until the first piece. `chunk_size` 0 means 4096. */
void nri_arena_init(struct nri_arena *arena, const struct nri_alloc *alloc, size_t chunk_size,
                    size_t limit);
/* Before the first piece: what comes will take so much, each piece rounded up to NRI_ARENA_ALIGN.
 * The first chunk is made for exactly that, within reason. */
void nri_arena_expect(struct nri_arena *arena, size_t bytes);
void nri_arena_reset(struct nri_arena *arena); /* everything goes but the first chunk */
void nri_arena_fini(struct nri_arena *arena);  /* everything goes; the arena may be used again */

/* Every piece starts and ends at a multiple of this. */
#define NRI_ARENA_ALIGN _Alignof(max_align_t)

/* For nri_arena_alloc() alone: `bytes` is 0, or the current chunk has no room. */
void *nri_arena_alloc_slow(struct nri_arena *arena, size_t bytes);

/* A piece of `bytes`, aligned for any type; NULL with arena->failure set. Inline, because decoding
 * does little else. */
static inline void *nri_arena_alloc(struct nri_arena *arena, size_t bytes)
{
    /* The room is a multiple of the alignment, so what fits still fits rounded up. 0 wraps around
     * and is slow. */
    size_t room = (size_t)(arena->end - arena->next);
    if (bytes - 1 >= room)
        return nri_arena_alloc_slow(arena, bytes);
    uint8_t *piece = arena->next;
    arena->next += (bytes + (NRI_ARENA_ALIGN - 1)) & ~(NRI_ARENA_ALIGN - 1);
    return piece;
}
void *nri_arena_zero(struct nri_arena *arena, size_t bytes);
/*
 * Makes sure that the next pieces cannot fail as long as they take no more than `bytes` together,
 * each rounded up to NRI_ARENA_ALIGN: for a change that is made whole or not at all. What is set
 * aside is used only where the arena has no other memory, so that a generous `bytes` costs nothing
 * that lasts. False: not, and arena->failure set. True: nri_arena_unreserve() must follow, before
 * a reset.
 */
bool nri_arena_reserve(struct nri_arena *arena, size_t bytes);
/* Gives back what was set aside and not used. */
void nri_arena_unreserve(struct nri_arena *arena);
/* count * size with overflow checked (an overflow is NRI_E_LIMIT). */
void *nri_arena_array(struct nri_arena *arena, size_t count, size_t size);

/* Texts carry their length in front (see base/text.h). The bytes are copied as they are, NULs
 * included; UTF-8 is checked by the caller. NULL with arena->failure set. */
char *nri_arena_text(struct nri_arena *arena, const char *text, size_t length);
/* The same for two pieces joined, such as "-" and a key. */
char *nri_arena_text2(struct nri_arena *arena, const char *a, size_t a_length, const char *b,
                      size_t b_length);

/* An allocator whose memory is the arena's (release does nothing); for base/map.h and yajl. `arena`
 * must outlive it. */
void nri_arena_allocator(struct nri_arena *arena, struct nri_alloc *alloc);

#endif
